"""Whether raters who are flagged are bad, and bad ones are flagged. Run: python tests/benchmarks/raters_to_act_on.py

Simulated crowds of 50, 150 and 500 raters, a tenth of them bad in one of four ways: guessing by the shares of the
classes, naming one class only, taking each class for another, or 0.15 below the mean of the others. By setting: the
share of those flagged whose accuracy is in fact acceptable, with its Monte Carlo error, beside the stated one; the
share of each kind that is flagged for low accuracy or, of those who name one class, for either; the same of honest
raters; and coverage of the 95% intervals of accuracy.

Of those who guess between two classes few can be found at such sizes. Were the truth, the pool and the share of
guessers known, 0.02 of them would be flagged in the first setting (20 annotations each) and 0.64 in the second. A test
of whether annotations depend on the case (a mixture of honest, guessing and reversed raters, true classes by the
others) found none of them in either setting, and with 60 and 100 annotations each 0 and 0.10 where the accuracy finds
0.25 and 0.50; so there is no flag of that kind beside the accuracy.

Crowds with gold, given as ANSWERS GOLD paths, are judged without gold: of the raters with 30 annotations or more on
gold cases, how many whose 95% interval of accuracy by gold lies below the threshold are flagged, and how many of those
whose interval lies above it. Aimed at: 0.8 or more, and 0.05 or less, over all crowds together. The threshold is what
the model calls acceptable, and beside it the same rule on gold's own scale.

Run: python tests/benchmarks/raters_to_act_on.py [--quick] [ANSWERS GOLD]...
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.ingest.companion_files import SideFiles, with_side_files
from core.ingest.formats.tables import open_table
from core.ingest.read_files import read
from core.models.dawid_skene import DawidSkene
from core.models.em_model import EmModel
from core.models.one_coin import OneCoin
from core.models.tap import TAP
from core.raters.accuracy_threshold import gold_rates, judge_accuracy
from core.raters.leave_one_rater_out import panel_of
from core.raters.one_class import one_class

KINDS = ("guessing", "one class", "reversed", "slightly below")
Q = 0.05
JUDGE = DawidSkene("empirical")  # as the page judges


@dataclass(frozen=True)
class Setting:
    """Honest raters from Beta(*pool); mistakes of each fall over the other classes in ways of their own."""

    per_rater: int
    per_case: int
    n_classes: int
    pool: tuple[float, float]

    @property
    def title(self) -> str:
        """In words."""
        return f"{self.per_rater} annotations each, {self.per_case} a case, {self.n_classes} classes, Beta{self.pool}"


SETTINGS = (
    Setting(20, 5, 2, (16, 4)),
    Setting(40, 3, 2, (80, 20)),
    Setting(40, 5, 4, (80, 20)),
    Setting(100, 5, 4, (16, 4)),
    Setting(20, 3, 4, (40, 15)),
    Setting(60, 4, 8, (20, 10)),
)


def simulate(setting: Setting, n_raters: int, seed: int) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """One crowd, the accuracy of each rater, and which kind they are: -1 for the honest."""
    rng = np.random.default_rng([seed, n_raters, SETTINGS.index(setting)])
    n_classes = setting.n_classes
    prevalence = np.array([0.7, 0.3]) if n_classes == 2 else np.full(n_classes, 1 / n_classes)
    n_cases = n_raters * setting.per_rater // setting.per_case
    truth = rng.choice(n_classes, n_cases, p=prevalence)
    accuracy = rng.beta(*setting.pool, n_raters)
    kind = np.full(n_raters, -1)
    kind[: n_raters // 10] = np.arange(n_raters // 10) % len(KINDS)
    theta = np.empty((n_raters, n_classes, n_classes))
    for j in range(n_raters):
        diagonal = accuracy[j] if kind[j] < 0 else setting.pool[0] / sum(setting.pool) - 0.15
        for k in range(n_classes):
            theta[j, k] = np.insert(rng.dirichlet(np.ones(n_classes - 1)) * (1 - diagonal), k, diagonal)
        if kind[j] == 0:
            theta[j] = prevalence
        elif kind[j] == 1:
            theta[j] = 0.02 / (n_classes - 1)
            theta[j, :, rng.integers(n_classes)] = 0.98
        elif kind[j] == 2:
            theta[j] = 0.1 / (n_classes - 1)
            theta[j, np.arange(n_classes), (np.arange(n_classes) + 1) % n_classes] = 0.9
    rater = rng.random((n_cases, n_raters)).argsort(axis=1)[:, : setting.per_case].ravel()
    case = np.repeat(np.arange(n_cases), setting.per_case)
    steps = theta.cumsum(axis=2)[rater, truth[case]]
    answer = (rng.random((case.size, 1)) > steps[:, :-1]).sum(axis=1)
    names = [[str(i) for i in range(n)] for n in (n_cases, n_raters, n_classes)]
    return (
        Dataset.from_classes("simulated", *names, case, rater, answer),
        np.einsum("k,jkk->j", prevalence, theta),
        kind,
    )


def crowds(quick: bool) -> None:
    """False discoveries and power by setting."""
    print(f"simulated crowds, stated false discovery rate {Q}")
    print("raters  false (MC error)  guessing  one class  reversed  below  honest  covered  seconds  setting")
    overall = []
    for n_raters, n_sets in ((50, 40), (150, 20), (500, 8)):
        for setting in SETTINGS:
            started, shares, covered = time.perf_counter(), [], []
            caught = np.zeros((len(KINDS) + 1, 2))
            for seed in range(n_sets // 4 if quick else n_sets):
                dataset, true, kind = simulate(setting, n_raters, seed)
                panel = panel_of(dataset, JUDGE.fit(dataset))
                found, single = judge_accuracy(panel, q=Q), one_class(dataset)
                low = found.flagged
                either = low.copy()
                either[single.found(Q)] = True
                false = (low & (true >= found.acceptable)).sum() if found.acceptable else 0
                shares.append(false / max(low.sum(), 1))
                covered.append(np.mean((found.accuracy.low <= true) & (true <= found.accuracy.high)))
                for place in range(-1, len(KINDS)):
                    of = kind == place
                    caught[place] += ((either if place == 1 else low) & of).sum(), of.sum()
            power = caught[:, 0] / caught[:, 1]
            error = np.std(shares) / np.sqrt(len(shares))
            overall += shares
            print(
                f"{n_raters:6d}  {np.mean(shares):.3f} ({error:.3f})     {power[0]:8.2f}  {power[1]:9.2f}  "
                f"{power[2]:8.2f}  {power[3]:5.2f}  {power[4]:6.3f}  {np.mean(covered):7.3f}  "
                f"{time.perf_counter() - started:7.1f}  {setting.title}",
                flush=True,
            )
    error = np.std(overall) / np.sqrt(len(overall))
    print(f"all settings: {np.mean(overall):.3f} ({error:.3f}); aimed at {1.2 * Q:.3f} or less\n")


def crowd(answers: str, gold: str) -> Dataset:
    """A crowd with the gold that is known of it."""
    raw = open_table(Path(gold).read_bytes())
    case, known = (raw.table[raw.columns[place]].to_pylist() for place in (0, 1))
    dataset = read(answers).dataset.as_classes()[0]
    return with_side_files(dataset, SideFiles(gold=dict(zip(case, known, strict=True))))[0]


def against_gold(paths: list[tuple[str, str]]) -> None:
    """Flags made without gold against gold, by model."""
    models: dict[str, EmModel] = {
        "empirical Bayes": DawidSkene("empirical"),
        "dawid-skene, pooled": DawidSkene("pooled"),
        "one coin, pooled": OneCoin("pooled"),
        "t-a-p, pooled": TAP("pooled"),
    }
    print("crowds with gold: flagged of those below, and of those above, the threshold of the model (of gold)")
    for name, model in models.items():
        total = np.zeros((2, 2, 2), int)
        for answers, gold_path in paths:
            dataset = crowd(answers, gold_path)
            panel = panel_of(dataset, model.fit(dataset))
            found, gold, by_gold = (
                judge_accuracy(panel, judged_by="model"),
                gold_rates(dataset),
                judge_accuracy(panel, judged_by="gold"),
            )
            flagged = found.flagged.copy()
            flagged[one_class(dataset).found(Q)] = True
            own = np.average(gold.value[gold.n > 0], weights=gold.n[gold.n > 0])
            threshold = max(own - 0.1, (own + by_gold.blind) / 2)
            counts = np.zeros((2, 2, 2), int)
            for scale, bound in enumerate((found.acceptable, threshold)):
                for side, of in enumerate((gold.high < bound, gold.low > bound)):
                    counts[scale, side] = (found.flagged & of & (gold.n >= 30)).sum(), (of & (gold.n >= 30)).sum()
            total += counts
            print(
                f"  {name:20s} {Path(answers).stem:14s} acceptable {found.acceptable:.3f} ({threshold:.3f}), "
                f"{found.n_flagged:3d} low, {int(flagged.sum()):3d} low or one class; {_line(counts)}"
            )
        print(f"  {name:20s} {'all':14s} {_line(total)}\n", flush=True)


def _line(counts: np.ndarray) -> str:
    parts = []
    for side, word in enumerate(("below", "above")):
        model, gold = (f"{counts[scale, side, 0]}/{counts[scale, side, 1]}" for scale in (0, 1))
        parts.append(f"{word} {model} ({gold})")
    return ", ".join(parts)


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--quick"]
    if len(given) % 2:
        sys.exit("Give a file of annotations and a file of gold for each crowd.")
    if given:
        against_gold(list(zip(given[::2], given[1::2], strict=True)))
    else:
        crowds("--quick" in sys.argv[1:])
