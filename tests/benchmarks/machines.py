"""How often the intervals of machines hold the truth, and how often shared errors are found, planted or not.

``python -m tests.benchmarks.machines [rho|readers|shared] [worlds]`` prints the tables. Worlds are drawn from models in
which the truth is known: ρ and k* of a world are those of very many cases of the same people.

- rho: people of unlike accuracy and a machine; coverage of the intervals of ρ, of ρ of each person, and of the
  difference of two machines, by the number of cases.
- readers: coverage of the interval of k*, agreement and squared distance, by the number of cases.
- shared: share of datasets with any pair flagged where raters are independent, and of planted copiers found; the same
  for machines, which take no part in the fit.
"""

import sys
from functools import cache

import numpy as np

from core.annotations.dataset import Dataset
from core.machines.alternative_test import alternative_test
from core.machines.equivalent_readers import equivalent_readers
from core.raters.shared_errors import shared_errors

N_CLASSES = 4
PEOPLE = (0.8, 0.75, 0.7, 0.65, 0.8)
MACHINES = (0.75, 0.6)
MANY = 400_000  # an error of 0.0006 in ρ; 60,000 leave 0.002, which is seen at 500 cases


def classes(rng, n_cases, accuracies, present=1.0, hard=0.3):
    """Raters of these accuracies on cases of which a share is hard (accuracies are then half as far above chance)."""
    truth = rng.integers(0, N_CLASSES, n_cases)
    ease = np.where(rng.random(n_cases) < hard, 0.4, 1.0)
    chance = 1 / N_CLASSES
    right = chance + ease[:, None] * (np.array(accuracies) - chance)
    wrong = (truth[:, None] + rng.integers(1, N_CLASSES, right.shape)) % N_CLASSES
    said = np.where(rng.random(right.shape) < right, truth[:, None], wrong)
    here = rng.random(right.shape) < present
    here[:, len(PEOPLE) :] = True
    return said, here


def dataset_of(said, here, names, kind="class"):
    """A matrix of annotations as a dataset."""
    case, rater = np.nonzero(here)
    cases = [f"c{n}" for n in range(len(said))]
    if kind == "score":
        return Dataset.from_scores("made", cases, names, case, rater, said[case, rater])
    listed = [f"k{n}" for n in range(N_CLASSES)]
    return Dataset.from_classes("made", cases, names, listed, case, rater, said[case, rater])


NAMES = [f"p{n}" for n in range(len(PEOPLE))] + [f"m{n}" for n in range(len(MACHINES))]


@cache
def true_rho(present):
    """ρ of both machines, of each person, and their difference, in very many cases."""
    said, here = classes(np.random.default_rng(0), MANY, (*PEOPLE, *MACHINES), present)
    return alternative_test(dataset_of(said, here, NAMES), NAMES[len(PEOPLE) :], n_resamples=100, plan=False)


def coverage_of_rho(worlds, sizes=(50, 100, 200, 500), present=0.8):
    """Rows of (cases, coverage of ρ, of a person's ρ, of a difference)."""
    true = true_rho(present)
    rows = []
    for n_cases in sizes:
        held = np.zeros(3)
        asked = np.zeros(3)
        for world in range(worlds):
            said, here = classes(np.random.default_rng([n_cases, world]), n_cases, (*PEOPLE, *MACHINES), present)
            data = dataset_of(said, here, NAMES)
            found = alternative_test(data, NAMES[len(PEOPLE) :], n_resamples=500, plan=False, seed=world)
            for one, right in zip(found.machines, true.machines, strict=True):
                if len(one.raters) < len(PEOPLE):
                    continue
                held[0] += one.rho_low <= right.rho <= one.rho_high
                asked[0] += 1
                pairs = zip(one.raters, right.raters, strict=True)
                held[1] += sum(mine.rho_low <= its.rho <= mine.rho_high for mine, its in pairs)
                asked[1] += len(one.raters)
            (one,), (right,) = found.differences, true.differences
            if one.difference is not None:
                held[2] += one.low <= right.difference <= one.high
                asked[2] += 1
        rows.append((n_cases, *(held / np.maximum(asked, 1)), int(asked[0])))
    return rows


def scores(rng, n_cases, sd=1.0):
    """Five people with an error of 1 about the truth, and machines of 0.8 and 1.2."""
    truth = rng.normal(0, 1.5, n_cases)
    spread = np.r_[np.full(len(PEOPLE), sd), 0.8, 1.2]
    return truth[:, None] + spread * rng.normal(size=(n_cases, spread.size))


@cache
def true_worth(kind, machine):
    """k* in very many cases."""
    return worth_of(kind, machine, np.random.default_rng(1), MANY, 100).k


def worth_of(kind, machine, rng, n_cases, n_resamples=500, seed=0):
    """The worth of a machine in one world."""
    if kind == "squared":
        said = scores(rng, n_cases)
        data = dataset_of(said, np.ones(said.shape, bool), NAMES, "score")
    else:
        said, here = classes(rng, n_cases, (*PEOPLE, *MACHINES))
        data = dataset_of(said, here, NAMES)
    return equivalent_readers(data, machine, tuple(NAMES[: len(PEOPLE)]), n_resamples=n_resamples, seed=seed)


def coverage_of_readers(worlds, sizes=(100, 200, 500)):
    """Rows of (score, machine, true k*, cases, coverage)."""
    rows = []
    for kind in ("agreement", "squared"):
        for machine in NAMES[len(PEOPLE) :]:
            true = true_worth(kind, machine)
            for n_cases in sizes:
                held = 0
                for world in range(worlds):
                    found = worth_of(kind, machine, np.random.default_rng([7, n_cases, world]), n_cases, seed=world)
                    held += found.k_low <= true <= found.k_high
                rows.append((kind, machine, true, n_cases, held / worlds))
    return rows


def found_copiers(worlds, sizes=(100, 200, 500), shares=(0.0, 0.3, 0.5, 0.7)):
    """Rows of (who, cases, share copied, planted pair found, any other pair flagged)."""
    rows = []
    for who, (source, copier) in {"people": (0, 4), "machines": (5, 6)}.items():
        for n_cases in sizes:
            for share in shares:
                planted = others = 0
                for world in range(worlds):
                    rng = np.random.default_rng([11, n_cases, world])
                    said, here = classes(rng, n_cases, (*PEOPLE, 0.75, 0.75), present=0.9, hard=0.0)
                    copies = rng.random(n_cases) < share
                    said[copies, copier] = said[copies, source]
                    data = dataset_of(said, here, NAMES)
                    found = shared_errors(data, machines=("m0", "m1"), n_replicates=100, seed=world)
                    pairs = found.pairs()
                    planted += (source, copier) in pairs
                    others += any(pair != (source, copier) for pair in pairs)
                rows.append((who, n_cases, share, planted / worlds, others / worlds))
    return rows


def main():
    what = sys.argv[1:2] or ["rho", "readers", "shared"]
    worlds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    if "rho" in what:
        print("cases  ρ      each ρ_j  difference  (intervals of ρ)")
        for n, *held, asked in coverage_of_rho(worlds):
            print(f"{n:5}  " + "  ".join(f"{one:.3f}" for one in held) + f"  ({asked})", flush=True)
    if "readers" in what:
        print("score      machine  k*     cases  coverage")
        for kind, machine, true, n, held in coverage_of_readers(worlds):
            print(f"{kind:10} {machine:7} {true:6.2f} {n:6}  {held:.3f}", flush=True)
    if "shared" in what:
        print("who       cases  copied  found  others flagged")
        for who, n, share, planted, others in found_copiers(worlds):
            print(f"{who:9} {n:5}  {share:.1f}     {planted:.3f}  {others:.3f}", flush=True)


if __name__ == "__main__":
    main()
