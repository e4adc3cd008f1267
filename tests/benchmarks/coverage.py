"""How often nominal 95% intervals of agreement hold the truth. Run: python tests/benchmarks/coverage.py [data sets].

Simulated data of known agreement: 20, 50 or 200 cases, 2 to 5 annotations each. The truths are exact; a line for each
setting says how far 400,000 cases are from them, in standard errors. Of SPA (Wilson) and of chance-corrected SPA at
least 93% are asked for; an undetermined interval counts as holding the truth, and its share stands beside it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.agreement.bootstrap import bootstrap
from core.agreement.coefficients import fleiss_kappa, gwet_ac
from core.agreement.intervals import Coefficient
from core.agreement.linearised import mostly_of_others
from core.agreement.probability import _disagreements, _fieller, spa, spa_corrected
from core.agreement.tables import from_count_table
from core.annotations.counts import ClassCounts

N_DATA, N_BOOTSTRAPPED, BOUND = 2000, 200, 0.93
N_CASES, SIZES = (20, 50, 200), ("2", "3", "4", "5", "2-5")
EDGES = (0, 1, 2, 3, 5, 8, 12, 16, 20, 40, 201)
COLUMNS = ("SPA", "beyond chance", "Fieller alone", "Fleiss", "Gwet", "α resampled")


@dataclass(frozen=True)
class Setting:
    """How annotations come about, and what two annotations on a case then agree in.

    ``draw`` makes counts (n_cases, n_classes) from a generator and the numbers of annotations; ``agreement`` is the
    probability that two annotations of a case agree, and ``share`` that of each class among all annotations.
    """

    name: str
    draw: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    agreement: float
    share: np.ndarray

    @property
    def beyond_chance(self) -> float:
        """Limit of chance-corrected SPA, Fleiss' kappa and alpha."""
        return 1 - (1 - self.agreement) / (1 - float(self.share @ self.share))

    @property
    def gwet(self) -> float:
        """Limit of AC1."""
        chance = float(self.share @ (1 - self.share)) / (len(self.share) - 1)
        return (self.agreement - chance) / (1 - chance)


def multinomials(rng: np.random.Generator, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Independent annotations on each case from its own shares, (n_cases, n_classes)."""
    return rng.multinomial(n, p)


def heterogeneous() -> Setting:
    """Three classes; every case has class shares of its own, from a Dirichlet distribution."""
    a = np.array([1.0, 0.6, 0.4])
    agreement = float((a * (a + 1)).sum() / (a.sum() * (a.sum() + 1)))
    return Setting(
        "3 classes, uneven cases", lambda rng, n: multinomials(rng, n, rng.dirichlet(a, n.size)), agreement, a / a.sum()
    )


def skewed(wrong: float) -> Setting:
    """Two classes, one true of 5% of cases, and raters who are wrong on either as often."""
    right = 1 - wrong
    answer = np.array([[right, wrong], [wrong, right]])
    prevalence = np.array([0.95, 0.05])

    def draw(rng: np.random.Generator, n: np.ndarray) -> np.ndarray:
        return multinomials(rng, n, answer[(rng.random(n.size) < prevalence[1]).astype(int)])

    return Setting(f"95 : 5, {wrong:.0%} wrong", draw, right**2 + wrong**2, prevalence @ answer)


def pool() -> Setting:
    """Six raters of unequal accuracy, three classes; each case goes to some of them, who do not annotate twice."""
    accuracy, prevalence = np.array([0.95, 0.9, 0.85, 0.75, 0.65, 0.5]), np.array([0.5, 0.3, 0.2])
    answer = np.where(np.eye(3), accuracy[:, None, None], (1 - accuracy[:, None, None]) / 2)
    both = np.einsum("zk,gzk,hzk->gh", prevalence[:, None] * np.ones(3), answer, answer)
    agreement = float((both.sum() - np.trace(both)) / 30)

    def draw(rng: np.random.Generator, n: np.ndarray) -> np.ndarray:
        truth = rng.choice(3, n.size, p=prevalence)
        place = np.argsort(np.argsort(rng.random((n.size, 6)), axis=1), axis=1)
        right = rng.random((n.size, 6)) < accuracy
        said = np.where(right, truth[:, None], (truth[:, None] + 1 + (rng.random((n.size, 6)) < 0.5)) % 3)
        asked = place < n[:, None]
        return np.stack([((said == k) & asked).sum(axis=1) for k in range(3)], axis=1)

    return Setting("6 unequal raters", draw, agreement, np.einsum("z,gzk->k", prevalence, answer) / 6)


def sizes(rng: np.random.Generator, n_cases: int, how: str) -> np.ndarray:
    """Annotations of each case."""
    return rng.integers(2, 6, n_cases) if how == "2-5" else np.full(n_cases, int(how))


def fieller(counts: ClassCounts) -> tuple[float, float] | None:
    """Fieller's interval without a further case; None where it is undetermined or a point."""
    if len(np.unique(counts.class_code)) < 2:
        return None
    low, high = _fieller(_disagreements(counts, "annotations_m1"), 0.95)
    return None if low is None or high - low < 1e-10 else (low, min(1.0, high))


def ends(found: Coefficient) -> tuple[float, float] | None:
    """Both ends, None where there are none."""
    return None if found.ci_low is None else (found.ci_low, found.ci_high)


def intervals(counts: ClassCounts, resampled: bool) -> list[tuple[float, float] | None]:
    """In the order of `COLUMNS`."""
    found = [ends(spa(counts)), ends(spa_corrected(counts)), fieller(counts)]
    found += [ends(fleiss_kappa(counts)), ends(gwet_ac(counts))]
    if resampled:
        found.append(ends(bootstrap(counts, names=["krippendorff_alpha"]).coefficients[0]))
    return found


def study(setting: Setting, n_cases: int, how: str, n_data: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every data set and column: held (NaN if not computed), undetermined, width; and cases of other classes."""
    truth = [setting.agreement, *[setting.beyond_chance] * 3, setting.gwet, setting.beyond_chance]
    rng = np.random.default_rng([n_cases, SIZES.index(how), len(setting.name)])
    held, width = np.full((2, n_data, len(COLUMNS)), np.nan)
    others = np.empty(n_data, int)
    for number in range(n_data):
        table = setting.draw(rng, sizes(rng, n_cases, how))
        counts = from_count_table(table)
        _, others[number] = mostly_of_others(counts)
        for column, interval in enumerate(intervals(counts, number < N_BOOTSTRAPPED)):
            held[number, column] = interval is None or interval[0] <= truth[column] <= interval[1]
            width[number, column] = np.nan if interval is None else interval[1] - interval[0]
    return held, width, others


def main(n_data: int = N_DATA) -> None:
    """Print coverage and median width of every setting, then coverage by how many cases are of rarer classes."""
    print(f"coverage of 95% intervals, {n_data:,} data sets a row ({N_BOOTSTRAPPED} for α resampled); u: undetermined")
    print(f"Monte Carlo error {np.sqrt(0.95 * 0.05 / n_data):.4f} ({np.sqrt(0.95 * 0.05 / N_BOOTSTRAPPED):.3f})\n")
    print(f"{'':<26}{'cases':>5}{'each':>5}", *(f"{name:>20}" for name in COLUMNS))
    every, short = [], []
    for setting in (heterogeneous(), skewed(0.02), skewed(0.1), pool()):
        check(setting)
        for n_cases in N_CASES:
            for how in SIZES:
                held, width, others = study(setting, n_cases, how, n_data)
                every.append((held, width, others))
                coverage, open_ = np.nanmean(held, axis=0), np.isnan(width[:, :5]).mean(axis=0)
                open_ = np.append(open_, np.isnan(width[:N_BOOTSTRAPPED, 5]).mean())
                wide = [np.nanmedian(column) if not np.isnan(column).all() else np.nan for column in width.T]
                cells = zip(coverage, open_, wide, strict=True)
                print(
                    f"{setting.name:<26}{n_cases:>5}{how:>5}",
                    *(f"{c:>7.3f}{f' u{u:.2f}' if u else '':>6} w{w:.2f}" for c, u, w in cells),
                    flush=True,
                )
                short += [(setting.name, n_cases, how, COLUMNS[i]) for i in (0, 1) if coverage[i] < BOUND]
    print(f"\nrows of SPA and chance-corrected SPA below {BOUND:.0%}: {short or 'none'}")
    by_others(every)


def by_others(every: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> None:
    """Coverage of determined intervals, by how many cases are mostly of other classes than the commonest."""
    held, width, others = (np.concatenate(parts) for parts in zip(*every, strict=True))
    print("\nof determined intervals, by the number of cases that are mostly of other classes than the commonest")
    print(f"{'cases':>9}{'data sets':>10}", *(f"{name:>14}" for name in COLUMNS))
    for low, high in pairwise(EDGES):
        these = (others >= low) & (others < high)
        shares = [held[these & ~np.isnan(width[:, i]), i] for i in range(len(COLUMNS))]
        cells = (f"{one.mean() if one.size else np.nan:>14.3f}" for one in shares)
        print(f"{f'{low}-{high - 1}':>9}{these.sum():>10,}", *cells)


def check(setting: Setting) -> None:
    """How far large data are from the exact truth."""
    rng = np.random.default_rng(7)
    counts = from_count_table(setting.draw(rng, sizes(rng, 400_000, "2-5")))
    truths = setting.agreement, setting.beyond_chance, setting.beyond_chance, setting.gwet
    found = spa(counts), spa_corrected(counts), fleiss_kappa(counts), gwet_ac(counts)
    away = [f"{(one.value - truth) / one.se:+.1f}" for one, truth in zip(found, truths, strict=True)]
    shares = " ".join(f"{share:.3f}" for share in setting.share)
    print(
        f"\n{setting.name}: annotations {shares}, agreement {setting.agreement:.4f}, beyond chance "
        f"{setting.beyond_chance:.4f}, AC1 {setting.gwet:.4f}; 400,000 cases are off by {' '.join(away)} SE"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
