"""Class probabilities against known truth: our models, the one that opens, and crowd-kit's.

Run: python tests/benchmarks/truth_inference.py [--peers PYTHON] [--limit S] [--only NAME;…] [ANSWERS.csv GOLD.csv] …
     python tests/benchmarks/truth_inference.py [--peers PYTHON] [--limit S] [--only NAME;…] --folder FOLDER
Without pairs of files: `skin` and generated crowds. With --folder: the table of crowds in the README. PYTHON is that of
an environment with tests/benchmarks/requirements.txt; without it only our models are run. A method of crowd-kit is
stopped after S CPU seconds, and the table says so. No method is given the gold.

Bars: what opens has a lower log loss than every method of crowd-kit; its accuracy is not below the best of them by more
than two paired standard errors over cases; of the cases at 0.99 or more at least 0.95 are right. `skin`: log loss at
most 0.90, and of cases whose two annotations differ the mean top probability between 0.40 and 0.65.
"""

import argparse
import csv
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset, load_sample, read
from core.models.average import average_models
from core.models.catalogue import fit_request, request
from core.models.choose import choose
from core.models.comparison import FLOOR, top_shares
from core.models.gold import gold_cases
from core.models.majority import MajorityVote
from core.models.smoothed_vote import SmoothedVote
from core.raters.truth_draws import accuracy_draws

ROOT = Path(__file__).resolve().parents[2]
PEERS = "majority", "dawid-skene", "one-coin", "glad", "mace"  # methods of crowd-kit in `truth_peers.py`
LIMIT = 300  # CPU seconds per method of crowd-kit
# What `generated` takes.
GENERATED = {
    "independent": {"n": 800, "raters": 60, "classes": 2, "per": (10, 10), "accuracy": (0.6, 0.9)},
    "three a case": {
        "n": 2000,
        "raters": 100,
        "classes": 2,
        "per": (3, 3),
        "accuracy": (0.7, 0.95),
        "prevalence": (0.88, 0.12),
    },
    "ten classes": {"n": 700, "raters": 44, "classes": 10, "per": (5, 5), "accuracy": (0.3, 0.9)},
    "spammers": {"n": 800, "raters": 160, "classes": 2, "per": (10, 10), "accuracy": (0.7, 0.95), "spam": 0.3},
    "sparse": {"n": 3000, "raters": 300, "classes": 4, "per": (2, 6), "accuracy": (0.4, 0.8), "spam": 0.3},
    "misled": {"n": 500, "raters": 60, "classes": 2, "per": (10, 10), "accuracy": (0.6, 0.9), "misled": 0.3},
    "misled, 39 a case": {"n": 108, "raters": 39, "classes": 2, "per": (39, 39), "accuracy": (0.6, 0.9), "misled": 0.4},
    "misled, 5 classes": {"n": 2000, "raters": 150, "classes": 5, "per": (5, 5), "accuracy": (0.5, 0.9), "misled": 0.4},
    "difficult": {"n": 800, "raters": 100, "classes": 2, "per": (10, 10), "accuracy": (0.6, 0.9), "difficulty": 1.5},
    "difficult, 4 classes": {
        "n": 800,
        "raters": 100,
        "classes": 4,
        "per": (8, 8),
        "accuracy": (0.6, 0.9),
        "difficulty": 1.5,
    },
    "three raters": {"n": 800, "raters": 3, "classes": 2, "per": (3, 3), "accuracy": (0.65, 0.9), "even": True},
    "five raters": {"n": 1200, "raters": 5, "classes": 4, "per": (5, 5), "accuracy": (0.5, 0.85), "even": True},
    "30 cases": {"n": 30, "raters": 3, "classes": 4, "per": (3, 3), "accuracy": (0.6, 0.9), "even": True},
    "mostly once": {"n": 2000, "raters": 30, "classes": 3, "per": (2, 4), "accuracy": (0.5, 0.9), "once": 0.7},
    "rare class": {
        "n": 1500,
        "raters": 60,
        "classes": 2,
        "per": (3, 5),
        "accuracy": (0.7, 0.95),
        "prevalence": (0.95, 0.05),
        "misled": 0.1,
        "spam": 0.1,
    },
    "50 classes": {"n": 1200, "raters": 60, "classes": 50, "per": (5, 5), "accuracy": (0.4, 0.9)},
    "ordered": {"n": 800, "raters": 60, "classes": 5, "per": (5, 5), "accuracy": (0.4, 0.8), "ordered": True},
    "20 a case": {"n": 300, "raters": 60, "classes": 5, "per": (20, 20), "accuracy": (0.4, 0.8)},
    "noisy, 4 classes": {
        "n": 3000,
        "raters": 300,
        "classes": 4,
        "per": (3, 6),
        "accuracy": (0.3, 0.7),
        "prevalence": (0.3, 0.45, 0.15, 0.1),
        "misled": 0.5,
        "spam": 0.1,
    },
    "families": {"n": 800, "raters": 40, "classes": 3, "per": (6, 6), "accuracy": (0.55, 0.85), "families": 6},
    "three families": {
        "n": 600,
        "raters": 12,
        "classes": 2,
        "per": (8, 8),
        "accuracy": (0.6, 0.85),
        "families": 3,
        "even": True,
    },
}
_COPIED = 0.6
_STOPPED = "stopped after {:.0f} CPU s"


def generated(
    n, raters, classes, per, accuracy, *, prevalence=None, spam=0.0, misled=0.0, difficulty=0.0, once=0.0,
    ordered=False, families=0, even=False, seed=1,
) -> Dataset:  # fmt: skip
    """A crowd with known truth, raters unequally busy.

    Parameters
    ----------
    spam : float
        Share of raters whose annotations do not depend on the case.
    misled : float
        Share of cases that look like another class to some of their raters, from none to all: mistakes are shared.
    difficulty : float
        Standard deviation over cases of what is taken from the log odds of being right.
    once : float
        Share of cases with one annotation.
    ordered : bool
        Mistakes name near classes, and each rater leans to one side.
    families : int
        Groups of raters, who repeat what the first of theirs said of the case three times in five.
    even : bool
        Raters equally busy.
    """
    rng = np.random.default_rng(seed)
    share = np.full(classes, 1 / classes) if prevalence is None else np.array(prevalence)
    truth = rng.choice(classes, size=n, p=share)
    usual = rng.dirichlet(np.full(classes, 0.7), size=classes) + 1e-3
    if ordered:
        usual = np.exp(-1.2 * np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))))
    usual[np.arange(classes), np.arange(classes)] = 0.0
    usual /= usual.sum(axis=1, keepdims=True)
    theta = np.empty((raters, classes, classes))
    for rater in range(raters):
        if rng.random() < spam:
            theta[rater] = rng.dirichlet(np.full(classes, 0.5))
            continue
        right = rng.uniform(*accuracy)
        leans = np.exp(rng.normal(0.0, 0.5) * np.arange(classes)) if ordered else np.ones(classes)
        for k in range(classes):
            row = usual[k] * leans
            theta[rater, k] = (1 - right) * (row / row.sum())
            theta[rater, k, k] = right
    other = np.array([rng.choice(classes, p=usual[k]) for k in truth])
    fooled = np.where(rng.random(n) < misled, rng.random(n), 0.0)
    hard = rng.normal(0.0, difficulty, n) if difficulty else np.zeros(n)
    busy = np.ones(raters) if even else rng.pareto(1.2, raters) + 0.2
    busy /= busy.sum()
    family = rng.integers(families, size=raters) if families else np.arange(raters)
    rows = []
    for case in range(n):
        size = 1 if once and rng.random() < once else rng.integers(per[0], per[1] + 1)
        said: dict[int, int] = {}
        for rater in rng.choice(raters, size=size, replace=False, p=busy):
            seen = other[case] if rng.random() < fooled[case] else truth[case]
            p = theta[rater, seen].copy()
            if hard[case] and 0 < p[seen] < 1:
                right = 1 / (1 + (1 - p[seen]) / p[seen] * np.exp(hard[case]))
                p *= (1 - right) / (1 - p[seen])
                p[seen] = right
            answer = rng.choice(classes, p=p / p.sum())
            first = said.setdefault(family[rater], answer)
            if families and rng.random() < _COPIED:
                answer = first
            rows.append((case, rater, answer))
    codes = np.array(rows).T
    names = ([f"{kind}{i}" for i in range(count)] for kind, count in (("c", n), ("r", raters), ("k", classes)))
    return replace(Dataset.from_classes("generated", *names, *codes), gold=truth.astype(np.int32))


def with_truth(dataset: Dataset, path: Path) -> Dataset:
    """Gold from a table: case, class."""
    with path.open(encoding="utf-8-sig", newline="") as lines:
        known = dict(row[:2] for row in list(csv.reader(lines))[1:])
    code = {name: place for place, name in enumerate(dataset.classes)}
    missing = {name for name in known.values() if name not in code}
    if missing:
        raise SystemExit(f"{path}: classes {sorted(missing)} are of no annotation; declare them in the annotations.")
    gold = np.array([code[known[case]] if case in known else -1 for case in dataset.cases], np.int32)
    return replace(dataset, gold=gold)


def scores(probability: np.ndarray, dataset: Dataset) -> tuple[dict, np.ndarray]:
    """Measures of class probabilities, and whether each gold case is right."""
    cases = gold_cases(dataset)
    p, truth = probability[cases], dataset.gold[cases]
    places, top = np.arange(cases.size), p.max(axis=1)
    right = top_shares(p)[places, truth]
    bins = np.minimum((top * 10).astype(int), 9)
    certain = top >= 0.99
    return {
        "accuracy": right.mean(),
        "log loss": -np.log(np.maximum(p[places, truth], FLOOR)).mean(),
        "Brier": ((p - np.eye(p.shape[1])[truth]) ** 2).sum(axis=1).mean(),
        "ECE": np.abs(np.bincount(bins, right - top, 10)).sum() / cases.size,
        "n99": int(certain.sum()),
        "right99": right[certain].mean() if certain.any() else np.nan,
    }, right


def ours(dataset: Dataset):
    """Probabilities of every model as it opens and, of the former default, at maximum likelihood; what opens; CPU s."""
    began = time.process_time()
    choice = choose(dataset)
    seconds = time.process_time() - began
    found = {each.candidate.name: (each.fit.class_probability, np.nan) for each in choice.standings if each.fit}
    for name, asked in {
        "dawid-skene, ML": request("dawid-skene", "em", smoothing="none"),
        "dawid-skene, diagonal": request("dawid-skene", "em", smoothing="diagonal"),
    }.items():
        began = time.process_time()
        found[name] = fit_request(asked, dataset).fit.class_probability, time.process_time() - began
    return found, choice, seconds


def peers(dataset: Dataset, python: str, limit: int) -> dict:
    """Probabilities and CPU seconds of crowd-kit's methods; None and the limit if a method was stopped."""
    found: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        columns = {"case": dataset.case_of_annotation, "rater": dataset.rater, "answer": dataset.answer}
        np.savez(source, **columns, n_classes=dataset.n_classes)
        for name in PEERS:
            command = [python, str(ROOT / "tests/benchmarks/truth_peers.py"), name, str(limit), source, target]
            ended = subprocess.run(command).returncode
            if ended == -signal.SIGXCPU:
                found[name] = None, float(limit)
            elif ended:
                raise SystemExit(f"crowd-kit {name} failed with status {ended}.")
            else:
                with np.load(target) as result:
                    found[name] = result["probability"], float(result["seconds"])
    return found


def compare(name: str, dataset: Dataset, rivals: Callable[[Dataset], dict]) -> bool:
    """Print the table of one crowd; whether its bars hold."""
    print(
        f"\n{name}: {dataset.n_cases:,} cases, {dataset.n_raters:,} raters, {dataset.n_classes} classes, "
        f"{dataset.n_annotations:,} annotations, {gold_cases(dataset).size:,} gold"
    )
    mine, choice, seconds = ours(dataset)
    print(
        f"  {choice.reason} (β held-out {choice.best.held.beta if choice.best.held else 1}, shown {choice.best.beta})"
    )
    print(f"  {'':34s}accuracy log loss  Brier    ECE   n99 right   CPU s")
    theirs = rivals(dataset)
    tables = {label: scores(p, dataset) for label, (p, _) in mine.items()}
    tables |= {f"crowd-kit {label}": scores(p, dataset) for label, (p, _) in theirs.items() if p is not None}
    spent = {label: s for label, (_, s) in mine.items()} | {f"crowd-kit {label}": s for label, (_, s) in theirs.items()}
    spent[choice.chosen] = seconds
    for label, (row, _) in tables.items():
        mark = "* " if label == choice.chosen else "  "
        print(
            f"  {mark}{label:32s}{row['accuracy']:8.3f} {row['log loss']:8.3f} {row['Brier']:6.3f} {row['ECE']:6.3f} "
            f"{row['n99']:5d} {row['right99']:5.3f} {spent[label]:7.1f}"
        )
    for label in (label for label in spent if label not in tables):
        print(f"    {label} {_STOPPED.format(spent[label])}")
    return bars(name, dataset, choice, tables, mine[choice.chosen][0])


def bars(name: str, dataset: Dataset, choice, tables: dict, probability: np.ndarray) -> bool:
    """Print which bars hold."""
    row, right = tables[choice.chosen]
    rivals = {label: found for label, found in tables.items() if label.startswith("crowd-kit")}
    held = {"at 0.99: 0.95 right": not row["n99"] or row["right99"] >= 0.95}
    if rivals:
        held["log loss below all"] = row["log loss"] < min(other["log loss"] for other, _ in rivals.values())
        best = max(rivals, key=lambda label: rivals[label][0]["accuracy"])
        apart = right - rivals[best][1]
        error = apart.std(ddof=1) / np.sqrt(apart.size)
        print(f"  accuracy less that of {best}: {apart.mean():+.4f}, paired SE {error:.4f}")
        held["accuracy within 2 SE"] = apart.mean() >= -2 * error
    if name == "skin":
        two = np.flatnonzero(np.diff(dataset.case_ptr) == 2)
        two = two[dataset.answer[dataset.case_ptr[two]] != dataset.answer[dataset.case_ptr[two] + 1]]
        middle = probability[two].max(axis=1).mean()
        held["log loss at most 0.90"] = row["log loss"] <= 0.9
        held[f"{two.size} cases 1 : 1 between 0.40 and 0.65 ({middle:.3f})"] = 0.4 <= middle <= 0.65
    print("  " + "; ".join(f"{bar}: {'yes' if holds else 'NO'}" for bar, holds in held.items()))
    return all(held.values())


def measured(probability: np.ndarray, dataset: Dataset) -> dict:
    """What the table of a folder shows of class probabilities."""
    row, right = scores(probability, dataset)
    certain = probability[gold_cases(dataset)].max(axis=1) >= 0.95
    return row | {"n95": int(certain.sum()), "right95": right[certain].mean() if certain.any() else np.nan}


def judged_raters(averaged, dataset: Dataset) -> dict:
    """Which raters with 30 gold annotations have them inside their interval; expected over actual wrong ones."""
    found = accuracy_draws(averaged, dataset, cases=gold_cases(dataset))
    known = dataset.gold[dataset.case_of_annotation] >= 0
    right = dataset.answer == dataset.gold[dataset.case_of_annotation]
    n_right = np.bincount(dataset.rater[known], right[known], dataset.n_raters)
    some = found.n >= 30
    accuracy = n_right[some] / found.n[some]
    inside = (accuracy >= found.low[some]) & (accuracy <= found.high[some])
    return {"inside": inside, "wrong": found.total / (found.n.sum() - n_right.sum())}


def tabulate(name: str, dataset: Dataset, rivals: Callable[[Dataset], dict]) -> dict:
    """Print the rows of one crowd; what the goals are about."""
    began = time.process_time()
    choice = choose(dataset)
    chosen = time.process_time()
    averaged = average_models(choice, dataset)
    done = time.process_time()
    rows = {
        "majority": (MajorityVote().fit(dataset).class_probability, np.nan),
        "smoothed vote": (SmoothedVote().fit(dataset).class_probability, np.nan),
        f"before: {choice.best.candidate.title}": (choice.best.fit.class_probability, chosen - began),
        "after: average": (averaged.fit.class_probability, done - began),
    }
    rows |= {f"crowd-kit {label}": found for label, found in rivals(dataset).items()}
    found = {label: measured(p, dataset) for label, (p, _) in rows.items() if p is not None}
    for label, row in found.items():
        seconds = rows[label][1]
        numbers = [f"{row[key]:.3f}" for key in ("accuracy", "log loss", "Brier")]
        certain = "" if np.isnan(row["right95"]) else f"{row['right95']:.3f} of {row['n95']:,}"
        cost = "" if np.isnan(seconds) else f"{seconds:.1f}"
        print(f"| {name} | {label} | {' | '.join(numbers)} | {certain} | {cost} |", flush=True)
    for label in (label for label in rows if label not in found):
        print(f"| {name} | {label} | | | | {_STOPPED.format(rows[label][1])} | |", flush=True)
    others = [row["accuracy"] for label, row in found.items() if label == "majority" or label.startswith("crowd-kit")]
    judged = judged_raters(averaged, dataset) if averaged.members else {"inside": np.empty(0, bool), "wrong": np.nan}
    before = next(row for label, row in found.items() if label.startswith("before"))
    return {"name": name, "before": before, "after": found["after: average"], "rival": max(others)} | judged


def goals(found: list[dict]) -> bool:
    """Print which goals of a folder of crowds hold."""
    loss = {when: np.mean([one[when]["log loss"] for one in found]) for when in ("before", "after")}
    n95 = {when: sum(one[when]["n95"] for one in found) for when in ("before", "after")}
    behind = {one["name"]: one["rival"] - one["after"]["accuracy"] for one in found}
    sure = [one for one in found if one["after"]["n95"]]
    low = [
        one["name"] for one in sure
        if one["after"]["right95"] < 0.93 - np.sqrt(0.93 * 0.07 / one["after"]["n95"])
    ]  # fmt: skip
    inside = np.concatenate([one["inside"] for one in found])
    apart = [one["name"] for one in found if not abs(one["wrong"] - 1) <= 0.15]
    for one in found:
        share = f"{one['inside'].mean():.3f} of {one['inside'].size}" if one["inside"].size else "none"
        print(f"{one['name']}: raters inside {share}; expected over actual wrong annotations {one['wrong']:.2f}")
    held = {
        f"mean log loss {loss['after']:.4f} at most 0.47 (before {loss['before']:.4f})": loss["after"] <= 0.47,
        f"accuracy at most {max(behind.values()):.3f} below the best other": max(behind.values()) <= 0.02,
        f"at 0.95 as right as they say, but for {low}": not low,
        f"cases at 0.95: {n95['after']:,}, half of {n95['before']:,} at least": 2 * n95["after"] >= n95["before"],
        f"raters inside {inside.mean() if inside.size else np.nan:.3f}": not inside.size or inside.mean() >= 0.88,
        "no crowd of 30 raters below 0.85": all(
            one["inside"].mean() >= 0.85 for one in found if one["inside"].size >= 30
        ),
        f"wrong annotations within 15%, but for {apart}": len(apart) <= 1 and all(one["wrong"] < 1.35 for one in found),
    }
    for goal, holds in held.items():
        print(f"{'yes' if holds else 'NO ':3s} {goal}")
    return all(held.values())


def of_folder(folder: Path, only: list[str], rivals: Callable[[Dataset], dict]) -> bool:
    """The table and the goals of all crowds of a folder, and of skin."""
    crowds = {}
    for gold in sorted(folder.glob("*_gold.csv")):
        answers = gold.with_name(gold.name.replace("_gold", ""))
        if answers.exists():
            crowds[answers.stem] = lambda answers=answers, gold=gold: with_truth(read(answers).dataset, gold)
    crowds["skin"] = skin
    print("| crowd | method | accuracy | log loss | Brier | correct at 0.95 and above | CPU s |\n|" + "---|" * 7)
    return goals([tabulate(name, make(), rivals) for name, make in crowds.items() if not only or name in only])


def main() -> int:
    """Every crowd that was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--limit", type=int, default=LIMIT, help="CPU seconds per method of crowd-kit")
    parser.add_argument("--only", help="of the generated crowds and skin, by name", default="")
    parser.add_argument("--folder", type=Path, help="crowds as NAME.csv and NAME_gold.csv, in one table")
    options = parser.parse_args()

    def rivals(dataset: Dataset) -> dict:
        return peers(dataset, options.peers, options.limit) if options.peers else {}

    if options.folder:
        return 0 if of_folder(options.folder, list(filter(None, options.only.split(";"))), rivals) else 1
    if len(options.files) % 2:
        raise SystemExit("Give pairs of files: annotations, gold.")
    crowds = {}
    for answers, gold in zip(options.files[::2], options.files[1::2], strict=True):
        crowds[answers.stem] = lambda answers=answers, gold=gold: with_truth(read(answers).dataset, gold)
    if not crowds or options.only:
        only = options.only.split(";") if options.only else ["skin", *GENERATED]
        for name in only:
            crowds[name] = skin if name == "skin" else lambda name=name: generated(**GENERATED[name])
    held = {name: compare(name, make(), rivals) for name, make in crowds.items()}
    print(f"\nAll bars hold on {sum(held.values())} of {len(held)} crowds.")
    return 0 if all(held.values()) else 1


def skin() -> Dataset:
    """The sample's first choices, with the truth of its generator."""
    dataset, _ = load_sample("skin").as_classes()
    return with_truth(dataset, ROOT / "sample_data" / "skin" / "truth.csv")


if __name__ == "__main__":
    sys.exit(main())
