"""What one more opinion is said to change, and what it changes. Run: python tests/benchmarks/next_opinion.py [parts].

``calibration``: C1 of every case of ``skin`` against the certainty after an annotation drawn from the plausibilities
and added to the data, each model fitted again; slope of the realised on the expected, which should lie between 0.8 and
1.2. Beside it the same with the panel's own last annotation, held back, which no model knows. ``ordering``: annotations
of ``skin`` are uncovered one at a time, in the order in which they were made within a case; how many it takes to come
half and three quarters of the way from one annotation a case to all, when the next case is chosen by the largest gain,
by the largest rise C1 − C0, by the lowest certainty, or at random. The way is that of mean certainty, and then that of
the share of cases whose most plausible class is the true one, which for ``skin`` is known.
"""

import csv
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset, DirichletCounts, PlackettLuce, PrIRN, annotation_certainty, load_sample
from core.annotations.dataset import keep_only
from core.certainty.next_opinion import next_opinion
from core.ingest.samples import SAMPLE_FOLDER

N_ANSWERS = 8  # drawn for each case
N_DRAWS = 4000
N_RANDOM = 200
N_TIES = 20  # orders of cases that a rule does not tell apart
MODELS = (
    ("Dirichlet counts", DirichletCounts(), (1.0, 3.0)),
    ("PrIRN", PrIRN(), (10.0, 30.0)),
    ("Plackett-Luce", PlackettLuce(), (1.0, 3.0)),
)


def taken(dataset: Dataset, name: str) -> Dataset:
    """The data as a model takes them."""
    return dataset.as_classes()[0] if name == "Dirichlet counts" else dataset


def with_answers(dataset: Dataset, answers: np.ndarray) -> Dataset:
    """One more rater, who names one class on every case."""
    cases = np.arange(dataset.n_cases)
    names = (dataset.name, dataset.cases, (*dataset.raters, "next"), dataset.classes)
    case = np.append(dataset.case_of_annotation, cases)
    rater = np.append(dataset.rater, np.full(len(cases), dataset.n_raters))
    if dataset.kind == "class":
        return Dataset.from_classes(*names, case, rater, np.append(dataset.answer, answers))
    return Dataset.from_rankings(
        *names,
        case,
        rater,
        np.append(dataset.entry_ptr, dataset.entry_ptr[-1] + 1 + cases),
        np.append(dataset.entry_class, answers),
        np.append(dataset.entry_block, np.zeros(len(cases))),
    )


def drawn_answers(model, dataset: Dataset, reliability: float, rng: np.random.Generator) -> np.ndarray:
    """Annotations of the next rater, k ~ E[θ], shape (N_ANSWERS, n_cases)."""
    answers = np.empty((N_ANSWERS, dataset.n_cases), np.int32)
    for case, draws in model.draws(dataset, reliability=reliability, n_draws=N_DRAWS, seed=7):
        mean = np.full(dataset.n_classes, draws.rest.mean() / max(draws.n_rest, 1))
        mean[draws.classes] = draws.share.mean(axis=0)
        answers[:, case] = rng.choice(dataset.n_classes, size=N_ANSWERS, p=mean / mean.sum())
    return answers


def certainty(model, dataset: Dataset, reliability: float, seed: int) -> np.ndarray:
    """Certainty of the top-1 class of every case."""
    found = annotation_certainty(model, dataset, reliability=reliability, n_draws=N_DRAWS, max_top=1, seed=seed)
    return found.certainty[:, 0]


def slope_of(expected: np.ndarray, realised: np.ndarray) -> tuple[float, float]:
    """Slope of the realised on the expected, and its standard error by the jackknife over cases."""
    x, y = expected - expected.mean(), realised - realised.mean()
    slope = (x @ y) / (x @ x)
    influence = x * (y - slope * x) / (x @ x)
    return float(slope), float(np.sqrt((influence**2).sum()))


def calibration() -> None:
    """Expected against realised certainty."""
    skin, rng = load_sample("skin"), np.random.default_rng(0)
    print(f"{'model':<18}{'γ':>4}{'C0':>7}{'C1':>7}{'realised':>10}{'slope':>8}{'± SE':>7}   own: slope, C1, realised")
    for name, model, reliabilities in MODELS:
        dataset = taken(skin, name)
        for reliability in reliabilities:
            found = next_opinion(model, dataset, reliability=reliability, n_draws=1000)
            answers = drawn_answers(model, dataset, reliability, rng)
            again = [certainty(model, with_answers(dataset, a), reliability, s) for s, a in enumerate(answers)]
            realised = np.mean(again, axis=0)
            slope, error = slope_of(found.after, realised)
            own = own_next(model, dataset, reliability)
            print(
                f"{name:<18}{reliability:>4g}{found.now.mean():>7.3f}{found.after.mean():>7.3f}{realised.mean():>10.3f}"
                f"{slope:>8.3f}{error:>7.3f}   {own[0]:.3f}, {own[1]:.3f}, {own[2]:.3f}"
            )


def own_next(model, dataset: Dataset, reliability: float) -> tuple[float, float, float]:
    """Slope, mean C1 and mean realised certainty when the last annotation of each case is held back and then shown."""
    several = np.diff(dataset.case_ptr) > 1
    dataset = dataset.select(cases=[dataset.cases[case] for case in np.flatnonzero(several)])
    held = first_annotations(dataset, np.diff(dataset.case_ptr) - 1)
    expected = next_opinion(model, held, reliability=reliability, n_draws=1000).after
    realised = certainty(model, dataset, reliability, 1)
    return slope_of(expected, realised)[0], float(expected.mean()), float(realised.mean())


def first_annotations(dataset: Dataset, n: np.ndarray) -> Dataset:
    """The first n annotations of each case, at least one."""
    place = np.arange(dataset.n_annotations) - dataset.case_ptr[dataset.case_of_annotation]
    return keep_only(dataset, place < np.maximum(n, 1)[dataset.case_of_annotation])


def ordering() -> None:
    """Annotations needed for the same mean certainty, and for as many right classes, by the rule for the next case."""
    skin = load_sample("skin")
    truth = dict(csv.reader((SAMPLE_FOLDER / "skin" / "truth.csv").open(encoding="utf-8", newline="")))
    for name, model, reliabilities in MODELS:
        dataset = taken(skin, name)
        dataset = dataset.select(cases=[dataset.cases[case] for case in np.flatnonzero(np.diff(dataset.case_ptr))])
        counts = np.diff(dataset.case_ptr)
        code = np.array([dataset.classes.index(truth[case_id]) for case_id in dataset.cases])
        for reliability in reliabilities:
            sure, top, gain, rise = tables(model, dataset, counts, reliability)
            rules = {"gain": -gain, "C1 − C0": -rise, "certainty": sure, "random": None}
            print(f"{name}, γ = {reliability:g}, {(counts - 1).sum()} annotations after the first")
            for what, values in (("mean certainty", sure), ("right classes", (top == code).astype(float))):
                first, last = values[0].mean(), values[counts - 1, np.arange(len(counts))].mean()
                print(f"  {what:<15} {first:.3f} to {last:.3f}: ", end="")
                if last <= first + 0.01:
                    print("does not rise")
                    continue
                goals = (first + (last - first) / 2, first + (last - first) * 3 / 4)
                told = []
                for rule, score in rules.items():
                    orders = N_RANDOM if score is None else N_TIES
                    n = np.array(
                        [needed(score, values, counts, goals, np.random.default_rng(r)) for r in range(orders)]
                    )
                    low, high = np.quantile(n, (0.025, 0.975), axis=0)
                    half, most = n.mean(axis=0)
                    told.append(
                        f"{rule} {half:.0f} ({low[0]:.0f}-{high[0]:.0f}), {most:.0f} ({low[1]:.0f}-{high[1]:.0f})"
                    )
                print("; ".join(told))


def tables(model, dataset: Dataset, counts: np.ndarray, reliability: float) -> tuple[np.ndarray, ...]:
    """Certainty, top-1 class, gain and rise after the first 1, 2, ... annotations: each of shape (most, n_cases)."""
    shape = (counts.max(), len(counts))
    sure, gain, rise = np.empty(shape), np.empty(shape), np.empty(shape)
    top = np.empty(shape, np.int64)
    for place in range(counts.max()):
        part = first_annotations(dataset, np.minimum(counts, place + 1))
        found = next_opinion(model, part, reliability=reliability, n_draws=N_DRAWS, seed=place)
        fresh = annotation_certainty(model, part, reliability=reliability, n_draws=N_DRAWS, max_top=1, seed=100 + place)
        sure[place] = found.now if np.isinf(found.ess).all() else fresh.certainty[:, 0]
        top[place], gain[place], rise[place] = fresh.top_class(), found.gain, found.after - found.now
    return sure, top, gain, rise


def needed(score, values, counts, goals, rng) -> list[int]:
    """Annotations after the first ones until the mean of ``values`` reaches each goal.

    The case of lowest ``score`` is next, equal ones at random; any case at random where there is no score.
    """
    seen = np.ones(len(counts), np.int64)
    order = None if score is None else np.round(score, 6) + 1e-9 * rng.random(values.shape)
    total = values[0].sum()
    path = [total]
    while (left := np.flatnonzero(seen < counts)).size:
        case = rng.choice(left) if order is None else left[order[seen[left] - 1, left].argmin()]
        total += values[seen[case], case] - values[seen[case] - 1, case]
        seen[case] += 1
        path.append(total)
    path = np.array(path) / len(counts)
    return [int(np.argmax(path >= goal)) for goal in goals]


PARTS = {"calibration": calibration, "ordering": ordering}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        started = time.process_time()
        PARTS[part]()
        print(f"{part}: {time.process_time() - started:.0f} CPU s")
