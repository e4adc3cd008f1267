"""Draws around IRN weights against exact moments, draws of every class, and published cases."""

import csv
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import core
from core.annotations.dataset import Dataset
from core.certainty.top_sets import annotation_certainty
from core.errors import InputError, NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.prirn import PrIRN

N = 20_000
N_CONDITIONS = 419
PREDICTIONS = Path(core.__file__).parents[1] / "sample_data" / "dermatology" / "predictions.csv"


def ranked(cases, n_classes, rater_names=None):
    """A dataset from one list of rankings per case, each a list of blocks; one rater per ranking."""
    rows = [(case, rater, blocks) for case, answers in enumerate(cases) for rater, blocks in enumerate(answers)]
    entries = [[(k, rank) for rank, block in enumerate(blocks) for k in block] for _, _, blocks in rows]
    flat = [entry for one in entries for entry in one]
    n_raters = max((rater for _, rater, _ in rows), default=0) + 1
    return Dataset.from_rankings(
        "test",
        [f"case {i}" for i in range(len(cases))],
        rater_names or [f"rater {i}" for i in range(n_raters)],
        [f"class {k}" for k in range(n_classes)],
        np.array([case for case, _, _ in rows], np.int32),
        np.array([rater for _, rater, _ in rows], np.int32),
        np.cumsum([0, *map(len, entries)]),
        np.array([k for k, _ in flat], np.int32),
        np.array([rank for _, rank in flat], np.float64),
    )


CASES = [
    [[[0], [1, 2]], [[1], [3]], [[0, 3]]],
    [[[4]]],
    [],
    [[[2], [1], [0]], [[2, 4]]],
]


def drawn(model, dataset, case=0, *, reliability=30.0, n_draws=N, seed=1):
    ((_, draws),) = model.draws(
        dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(case, case + 1)
    )
    return draws


def same(one, other):
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("classes", "share", "rest", "top"))


@pytest.fixture(scope="module")
def conditions():
    """The three printed cases with the published number of conditions; those that nobody named there matter too."""
    dataset = core.load_sample("dermatology")
    predicted = defaultdict(set)
    with PREDICTIONS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            predicted[row["case"], row["classifier"]].add(row["class"])
    unnamed = sorted(set.union(*predicted.values()) - set(dataset.classes))
    fillers = [f"condition {k}" for k in range(N_CONDITIONS - len(dataset.classes) - len(unnamed))]
    return replace(dataset, classes=(*dataset.classes, *unnamed, *fillers)), predicted


@pytest.mark.parametrize(
    ("case", "classifier", "long_run", "printed"),
    [
        ("case one", "A", 0.533, 0.52),
        ("case one", "B", 0.982, 0.99),
        ("case two", "A", 0.399, 0.41),
        ("case two", "D", 0.601, 0.61),
        ("case three", "A", 0.393, 0.40),
        ("case three", "B", 0.589, 0.62),
    ],
)
def test_printed_cases_have_the_published_probability_of_the_classifiers_sets(
    case, classifier, long_run, printed, conditions
):
    """γ = 30, ε = 0.01, ties full; a class that nobody named is any one of them with equal probability."""
    dataset, predicted = conditions
    assert dataset.n_classes == N_CONDITIONS
    draws = drawn(PrIRN(ties="full"), dataset, dataset.case_index(case))
    chosen = {dataset.classes.index(name) for name in predicted[case, classifier]}
    inside = np.append(
        [float(code in chosen) for code in draws.classes.tolist()],
        len(chosen - set(draws.classes.tolist())) / draws.n_rest,
    )[draws.top[:, 0]]
    rounding = 0.0005
    assert abs(inside.mean() - long_run) < 4.5 * inside.std() / np.sqrt(N) + rounding
    assert abs(inside.mean() - printed) < 0.04


@pytest.mark.parametrize("ties", ["split", "full"])
@pytest.mark.parametrize("epsilon", [0.01, 0.4])
def test_shares_have_the_moments_and_beta_marginals_of_the_dirichlet(epsilon, ties):
    model, dataset = PrIRN(epsilon, ties), ranked(CASES, 9)
    for case in (0, 1, 3):
        draws = drawn(model, dataset, case)
        named, shape, n_rest = model.shapes(dataset, case, 30.0)
        total = shape.sum() + n_rest * epsilon
        assert total == pytest.approx(30 + 9 * epsilon, rel=1e-12)
        assert draws.classes.tolist() == named.tolist() and draws.n_rest == n_rest
        for place in range(len(named)):
            others = draws.rest + np.delete(draws.share, place, axis=1).sum(axis=1)  # exact where the share rounds to 1
            marginal = stats.beta(total - shape[place], shape[place])
            assert abs(others.mean() - marginal.mean()) < 4.5 * marginal.std() / np.sqrt(N)
            assert stats.kstest(others, marginal.cdf).pvalue > 1e-4
        rest = stats.beta(n_rest * epsilon, total - n_rest * epsilon)
        assert abs(draws.rest.mean() - rest.mean()) < 4.5 * rest.std() / np.sqrt(N)
        assert draws.share.sum(axis=1) + draws.rest == pytest.approx(np.ones(N), abs=1e-12)
        assert draws.n_draws == N and draws.ess == N


def test_shapes_are_reliability_times_normalised_irn_plus_epsilon():
    named, shape, n_rest = PrIRN(0.25).shapes(ranked(CASES, 9), 0, 10.0)
    weight = np.array([1 + 1 / 2, 1 / 4 + 1, 1 / 4, 1 / 2 + 1 / 2])
    assert named.tolist() == [0, 1, 2, 3] and n_rest == 5
    assert shape == pytest.approx(10 * weight / weight.sum() + 0.25, rel=1e-14)
    _, full, _ = PrIRN(0.25, "full").shapes(ranked(CASES, 9), 0, 10.0)
    weight = np.array([1 + 1, 1 / 2 + 1, 1 / 2, 1 / 2 + 1])
    assert full == pytest.approx(10 * weight / weight.sum() + 0.25, rel=1e-14)


@pytest.mark.parametrize(("epsilon", "reliability"), [(0.01, 1.0), (0.05, 0.5), (0.3, 3.0), (1.0, 2.0)])
@pytest.mark.parametrize("case", [0, 1, 2])
def test_the_first_three_are_those_of_draws_of_every_class(case, epsilon, reliability):
    """Which named class, or a never-named one, takes each place; against draws in logs, where nothing underflows."""
    n_classes = 25
    model, dataset = PrIRN(epsilon), ranked(CASES, n_classes)
    draws = drawn(model, dataset, case, reliability=reliability)
    named, shape, n_rest = model.shapes(dataset, case, reliability)
    every = np.append(shape, np.full(n_rest, epsilon))
    rng = np.random.default_rng(5)
    logs = np.log(rng.gamma(every + 1, size=(N, n_classes))) + np.log(1 - rng.random((N, n_classes))) / every
    theirs = np.minimum(np.argsort(-logs, axis=1)[:, :3], len(named))
    for events in (
        [table == k for table in (draws.top, theirs) for k in range(len(named) + 1)],
        [np.sort(table, axis=1) == len(named) for table in (draws.top, theirs)],  # how many of the first three
    ):
        half = len(events) // 2
        for ours, other in zip(events[:half], events[half:], strict=True):
            share = (ours.mean(axis=0) + other.mean(axis=0)) / 2
            error = np.sqrt(2 * share * (1 - share) / N)
            assert (np.abs(ours.mean(axis=0) - other.mean(axis=0)) <= 4.5 * error).all()


def test_a_case_without_annotations_is_drawn_from_the_prior():
    draws = drawn(PrIRN(0.5), ranked(CASES, 6), 2)
    assert draws.share.shape == (N, 0) and draws.n_rest == 6
    assert (draws.rest == 1).all() and draws.rest_shape == 0.5
    assert (draws.top == 0).all()  # never-named, as are all


def test_the_smallest_pseudo_count_gives_finite_shares_that_sum_to_1():
    for case in range(4):
        draws = drawn(PrIRN(1e-9), ranked(CASES, 400), case, reliability=1e-3, n_draws=500)
        for array in (draws.share, draws.rest):
            assert np.isfinite(array).all() and (array >= 0).all()
        assert draws.share.sum(axis=1) + draws.rest == pytest.approx(np.ones(500), abs=1e-12)


def test_a_high_reliability_draws_the_irn_itself():
    dataset, model = ranked(CASES, 9), PrIRN()
    point = model.point(dataset)
    for case in (0, 1, 3):
        expected = point.normalised[point.ptr[case] : point.ptr[case + 1]]
        draws = drawn(model, dataset, case, reliability=1e9, n_draws=200)
        assert draws.share == pytest.approx(np.tile(expected, (200, 1)), abs=5e-4)
    for ours, theirs in zip(model.point_shares(dataset), (point.ptr, point.class_code, point.normalised), strict=True):
        assert (ours == theirs).all()
    assert point.ties == "split" and PrIRN(ties="full").point(dataset).ties == "full"


def test_single_classes_have_the_shapes_of_counts_at_the_reliability_per_rater(build):
    dataset = build([(0, 0, 1), (0, 1, 1), (0, 2, 3), (1, 0, 0)], 5)
    for case, raters in ((0, 3), (1, 1)):
        ours, theirs = PrIRN(0.2).shapes(dataset, case, 12.0), DirichletCounts(0.2).shapes(dataset, case, 12.0 / raters)
        assert ours[0].tolist() == theirs[0].tolist() and ours[2] == theirs[2]
        assert ours[1] == pytest.approx(theirs[1], rel=1e-14)


def test_draws_share_no_randomness_with_those_of_counts(build):
    dataset = build([(0, 0, 1), (0, 1, 3)], 5)
    ours = drawn(PrIRN(0.5), dataset, reliability=2.0, n_draws=50)
    theirs = drawn(DirichletCounts(0.5), dataset, reliability=1.0, n_draws=50)
    assert PrIRN(0.5).shapes(dataset, 0, 2.0)[1].tolist() == DirichletCounts(0.5).shapes(dataset, 0, 1.0)[1].tolist()
    assert not (ours.share == theirs.share).any()


def test_a_case_is_drawn_alike_whatever_chunk_cases_and_raters_are_there():
    rng = np.random.default_rng(0)
    cases = [[[[int(k)] for k in rng.permutation(7)[:3]] for _ in range(4)] for _ in range(10)]
    dataset = ranked(cases, 12)
    ask = {"reliability": 10.0, "n_draws": 40, "seed": 9}
    every = dict(PrIRN().draws(dataset, **ask))
    for part in (range(4, 7), range(1, 10, 3), range(8, 2, -2), range(0)):
        found = dict(PrIRN().draws(dataset, **ask, cases=part))
        assert list(found) == list(part)
        assert all(same(found[case], every[case]) for case in part)
    others = (
        ranked([answers[::-1] for answers in cases], 12, ["d", "c", "b", "a"]),
        dataset.select(cases=["case 5"]),
    )
    for other in others:
        place = other.case_index("case 5")
        assert same(dict(PrIRN().draws(other, **ask))[place], every[5])
    assert not (every[4].rest == every[5].rest).any()
    assert not same(drawn(PrIRN(), dataset, 5, seed=8, n_draws=40), drawn(PrIRN(), dataset, 5, n_draws=40, seed=9))


def test_renamed_classes_have_the_same_shapes_in_their_new_places():
    names = [3, 0, 4, 1, 2]
    renamed = [[[[names[k] for k in block] for block in blocks] for blocks in answers] for answers in CASES]
    for case in range(4):
        code, shape, _ = PrIRN().shapes(ranked(CASES, 5), case, 30.0)
        other, other_shape, _ = PrIRN().shapes(ranked(renamed, 5), case, 30.0)
        moved = dict(zip(other.tolist(), other_shape, strict=True))
        assert [moved[names[k]] for k in code] == list(shape)


def test_raters_who_agree_are_certain_and_raters_who_differ_are_not():
    """Certainty of the first class; of two classes with equal weights it is one half."""
    dataset = ranked([[[[0]]] * 3, [[[0]], [[1]]]], 50)
    result = annotation_certainty(PrIRN(), dataset, reliability=30.0, n_draws=N, max_top=1)
    assert result.certainty[0, 0] > 0.999 and result.top_class()[0] == 0
    assert abs(result.certainty[1, 0] - 0.5) < 4.5 * 0.5 / np.sqrt(N)


def test_settings_are_what_changes_the_draws():
    assert PrIRN().settings() == {"epsilon": 0.01, "ties": "split", "depth": 3}
    assert PrIRN.name == "prirn" and PrIRN.default_reliability == 30
    assert drawn(PrIRN(depth=5), ranked(CASES, 20), n_draws=3).top.shape == (3, 5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epsilon": 0.0}, "pseudo-count ε"),
        ({"epsilon": np.nan}, "pseudo-count ε"),
        ({"epsilon": 1e10}, "pseudo-count ε"),
        ({"ties": "none"}, "'split' or 'full'"),
        ({"depth": 0}, "depth"),
    ],
)
def test_parameters_out_of_their_range_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        PrIRN(**wrong)


@pytest.mark.parametrize("reliability", [0.0, -1.0, np.nan, np.inf, 1e12])
def test_a_reliability_outside_its_range_is_refused(reliability):
    with pytest.raises(InputError, match="reliability γ"):
        drawn(PrIRN(), ranked(CASES, 9), reliability=reliability)


def test_no_draws_and_scores_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        drawn(PrIRN(), ranked(CASES, 9), n_draws=0)
    scores = Dataset.from_scores("test", ["a"], ["x"], np.zeros(1, int), np.zeros(1, int), np.ones(1))
    with pytest.raises(NotApplicableError, match="scores"):
        drawn(PrIRN(), scores)
