"""Annotation certainty of whole datasets."""

from math import comb

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult, annotation_certainty, certainty_of, most_plausible
from core.evaluation.sweep_table import reliability_sweep
from core.plausibility.dirichlet import DirichletCounts
from core.reducers.protocol import reduce_draws
from core.reducers.sets import TopSets


def random_rows(seed, n_cases=25, n_classes=5):
    rng = np.random.default_rng(seed)
    rows = [(case, rater, int(rng.integers(n_classes))) for case in range(n_cases) for rater in range(4)]
    return [row for row in rows if rng.random() < 0.7]


def certainty(dataset, **more):
    more = {"reliability": 2.0, "n_draws": 200, **more}
    return annotation_certainty(DirichletCounts(), dataset, **more)


def test_certainty_is_a_probability_that_a_case_with_many_equal_votes_brings_near_1(build):
    rows = [(0, rater, 2) for rater in range(30)] + [(1, 0, 1), (1, 1, 2)]
    found = certainty(build(rows, 4))
    assert found.certainty[0, 0] == 1
    assert found.top_class().tolist()[0] == 2
    assert found.certainty[1, 0] < 0.7
    assert ((found.certainty > 0) & (found.certainty <= 1)).all()


def test_a_case_without_annotations_has_the_certainty_of_guessing_and_no_monte_carlo_error(build):
    """Every set of j of 12 classes is as likely as any other: 1 / C(12, j)."""
    found = certainty(build([(0, 0, 1), (0, 1, 2)], 12, n_cases=2))
    assert found.certainty[1] == pytest.approx([1 / comb(12, j) for j in (1, 2, 3)])
    assert found.se[1] == pytest.approx([0, 0, 0], abs=1e-12)
    assert found.never_named[1].tolist() == [1, 1, 1]
    assert (found.top_set[1] == -1).all()


def test_with_fewer_classes_than_j_there_is_no_certainty_and_no_mean(build):
    found = certainty(build([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 2))
    assert np.isnan(found.certainty[:, 2]).all() and np.isnan(found.se[:, 2]).all()
    assert found.mean(3) is None and found.mean_se(3) is None
    assert found.certainty[:, 1].tolist() == [1, 1]
    assert found.mean(1) == pytest.approx(found.certainty[:, 0].mean())


def test_a_single_class_is_certain(build):
    found = certainty(build([(0, 0, 0), (1, 0, 0)], 1))
    assert found.certainty[:, 0].tolist() == [1, 1]
    assert found.mean(1) == 1 and found.mean(2) is None


@pytest.mark.parametrize(
    ("votes", "n_classes"), [((2, 1), 3), ((1,), 12), ((1, 1, 1), 6)], ids=["named", "one of twelve", "tied"]
)
def test_the_reported_error_is_the_spread_over_seeds(votes, n_classes, build):
    """300 seeds: a standard deviation is known to 1/√600; the maximum over tied sets spreads less than one set."""
    answers = [code for code, count in enumerate(votes) for _ in range(count)]
    dataset = build([(0, rater, answer) for rater, answer in enumerate(answers)], n_classes)
    runs = [certainty(dataset, seed=seed, reliability=1.0) for seed in range(300)]
    for top in (1, 2):
        values = np.array([run.certainty[0, top - 1] for run in runs])
        reported = np.sqrt(np.mean([run.se[0, top - 1] ** 2 for run in runs]))
        assert values.std() < reported * (1 + 4.5 / np.sqrt(600)) + 1e-12
        if votes == (2, 1) and top == 1:
            assert values.std() > reported * (1 - 4.5 / np.sqrt(600))


def test_an_error_of_a_set_with_never_named_classes_is_divided_by_their_number(build):
    """One vote, α = 9e-3 · 1000: a never-named class is first in nearly every draw, so the error is that of f / T."""
    dataset = build([(0, 0, 0)], 12)
    (state,) = reduce_draws(DirichletCounts(1e3), dataset, [TopSets(1)], reliability=1e-3, n_draws=500, seed=0)
    found = certainty_of(state, dataset.cases, dataset.classes)
    frequency = found.certainty[0, 0] * (11 if found.top_class()[0] == -1 else 1)
    ways = 11 if found.top_class()[0] == -1 else 1
    assert found.se[0, 0] == pytest.approx(np.sqrt(frequency * (1 - frequency) / 500) / ways, rel=1e-9)


def test_the_error_of_the_mean_is_that_of_independent_cases(build):
    found = certainty(build(random_rows(1), 5))
    assert found.mean_se(2) == pytest.approx(np.sqrt((found.se[:, 1] ** 2).sum()) / len(found.cases))


def test_the_certainty_of_a_case_stays_when_other_cases_go(build):
    dataset = build(random_rows(2), 5)
    every = certainty(dataset)
    some = certainty(dataset.select(cases=[f"case {i}" for i in range(5, 15)]))
    place = [every.cases.index(case) for case in some.cases]
    assert (some.certainty == every.certainty[place]).all()
    assert (some.top_set == every.top_set[place]).all()


def test_renaming_the_raters_changes_nothing(build):
    rows = random_rows(3)
    plain = certainty(build(rows, 5))
    other = certainty(build([(case, 3 - rater, answer) for case, rater, answer in rows], 5))
    assert (plain.certainty == other.certainty).all()


def test_cases_below_a_level_are_counted(build):
    found = certainty(build(random_rows(4), 5))
    assert found.n_below(0.8) == sum(value < 0.8 for value in found.certainty[:, 0].tolist())
    assert found.n_below(0.8, top=2) == sum(value < 0.8 for value in found.certainty[:, 1].tolist())
    assert 0 < found.n_below(0.8) <= len(found.cases)


def test_trust_in_agreeing_raters_makes_a_case_more_certain(build):
    dataset = build([(0, rater, 0) for rater in range(3)], 5)
    rising = [certainty(dataset, reliability=gamma, n_draws=4000).mean() for gamma in (0.3, 1.0, 3.0)]
    assert rising == sorted(rising) and rising[2] - rising[0] > 0.1


def test_certainty_by_counts_is_exact_and_equal_for_equal_counts():
    """Equal counts in any order of classes stand on one side of any bound; 2 against 1 of three classes by draws."""
    answers = [[0, 0, 1], [1, 2, 2], [2, 0, 0], [0, 1, 2]]
    data = Dataset.from_classes(
        "x",
        list("abcd"),
        list("rst"),
        list("klm"),
        np.repeat(np.arange(4), 3),
        np.tile(np.arange(3), 4),
        np.array(answers).ravel(),
    )
    found = annotation_certainty(DirichletCounts(), data, reliability=1.0, n_draws=50)
    one = found.certainty[:, 0]
    assert one[0] == one[1] == one[2] > one[3] == pytest.approx(1 / 3, abs=1e-4)
    assert found.top_class().tolist() == [0, 2, 0, 0] and (found.se[:, 0] == 0).all()
    drawn = np.random.default_rng(0).dirichlet([3, 2, 1], 200_000).argmax(axis=1)
    assert one[0] == pytest.approx((drawn == 0).mean(), abs=5 * np.sqrt(0.25 / 200_000))
    assert found.never_named[0, 0] == pytest.approx((drawn == 2).mean(), abs=5 * np.sqrt(0.25 / 200_000))
    swept = reliability_sweep(DirichletCounts(), data, (1.0,), n_draws=50).certainty[0]
    np.testing.assert_array_equal(swept.certainty[:, 0], one)


def certain(certainty, se, top_set):
    """Two or three places of one case, as draws would have given them."""
    places = len(certainty)
    members = np.full((1, places, places), -1, np.int32)
    for j, codes in enumerate(top_set):
        members[0, j, : len(codes)] = codes
    values, errors = np.array([certainty]), np.array([se])
    return CertaintyResult(("c",), ("x", "y", "z"), values, errors, members, np.zeros_like(values))


@pytest.mark.parametrize(
    ("certainty", "se", "top_set", "leading"),
    [
        ([0.6, 0.9], [0.01, 0.01], [[1], [0, 1]], (1,)),  # beyond one half: nothing can be level with it
        ([0.51, 0.9], [0.016, 0.01], [[1], [0, 1]], (1, 0)),  # within the error of one half
        ([0.5, 1.0], [0.0, 0.0], [[0], [0, 1]], (0, 1)),  # an exact tie of two
        ([0.19, 0.3], [0.01, 0.01], [[1], [0, 1]], (1, -1)),  # nor do two of them stand out
        ([0.4, 0.6], [0.01, 0.01], [[1], [0, 2]], (1, -1)),  # the likeliest two are without it
        ([0.4], [0.01], [[2]], (2, -1)),
        ([0.4, 0.6], [0.01, 0.01], [[-1], [-1, 2]], (-1, 2)),
    ],
)
def test_a_class_is_called_the_most_plausible_alone_only_where_no_other_can_be_level_with_it(
    certainty, se, top_set, leading
):
    assert certain(certainty, se, top_set).leading(0) == leading


def test_most_plausible_names_several_cases_as_it_names_each_alone():
    names, top = ("first", "second", "third"), np.array([[[1, -1], [0, 1]], [[-1, -1], [0, 1]], [[0, -1], [2, 0]]])
    result = CertaintyResult(
        ("a", "b", "c"), names, np.array([[0.9, 1], [0.4, 0.9], [0.5, 1]]), np.zeros((3, 2)), top, np.zeros(3)
    )
    words = ["first or third", "no leading class", "second", "first or third"]
    assert most_plausible(result, [2, 1, 0, 2], names) == words
    assert [most_plausible(result, [case], names)[0] for case in (2, 1, 0, 2)] == words
    assert most_plausible(result, [2], ("not x", "x", "x")) == ["even"]
