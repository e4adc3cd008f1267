"""Worth how many readers: closed forms against enumeration over panels, and what the number must be by its meaning."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.machines.equivalent_readers import best_pseudo, equivalence, equivalent_readers
from tests.core.machines.conftest import simulated


def panels(dataset, people, k, score):
    """Mean over cases, panels of k and one more reader, by enumeration."""
    each = []
    for case in range(dataset.n_cases):
        mine = [a for a in dataset.annotations_of(case) if dataset.raters[dataset.rater[a]] in people]
        values = [score(chosen, r) for r in mine for chosen in itertools.combinations([a for a in mine if a != r], k)]
        each.append(np.mean(values))
    return np.mean(each)


@pytest.fixture(scope="module")
def small():
    return simulated(1, [0.7, 0.6, 0.5, 0.8, 0.6], [0.7], n_cases=25, n_classes=3, present=1.0)


def test_agreement_of_the_plurality_is_what_enumeration_gives(small):
    people = small.raters[:5]

    def plural(chosen, reader):
        votes = np.bincount(small.answer[list(chosen)], minlength=3)
        top = np.flatnonzero(votes == votes.max())
        return (small.answer[reader] in top) / top.size

    found = equivalent_readers(small, "m0", people, k_max=4, n_resamples=100)
    for k in range(1, 5):
        assert found.panel[k] == pytest.approx(panels(small, people, k, plural))
    of_people = small.answer[small.rater < 5]
    assert found.panel[0] == pytest.approx(np.bincount(of_people).max() / of_people.size)
    mine = dict(zip(small.case_of_annotation[small.rater == 5], small.answer[small.rater == 5], strict=True))
    agree = [mine[c] == y for c, y in zip(small.case_of_annotation, small.answer, strict=True)]
    assert found.value == pytest.approx(np.array(agree)[small.rater < 5].mean())


@pytest.mark.parametrize(("n_cases", "has"), [(9, False), (10, True)])
def test_panels_of_fewer_than_ten_cases_leave_without_intervals(n_cases, has):
    data = simulated(1, [0.7, 0.6, 0.5], [0.7], n_cases=n_cases, n_classes=3, present=1.0)
    table = equivalent_readers(data, "m0", data.raters[:3], n_resamples=100).to_frame()
    assert np.isfinite(table[["low", "high"]].to_numpy()).all() == has
    assert has or table[["low", "high"]].isna().all(axis=None)


def test_the_log_score_is_what_enumeration_gives_and_does_not_fall(small):
    people = small.raters[:5]
    pseudo = 0.8

    def log(chosen, reader):
        votes = np.bincount(small.answer[list(chosen)], minlength=3)
        return np.log((pseudo + votes[small.answer[reader]]) / (3 * pseudo + len(chosen)))

    given = np.full((25, 3), 1 / 3)
    found = equivalent_readers(
        small, "m0", people, score="log", probability=given, pseudo=pseudo, k_max=4, n_resamples=100
    )
    for k in range(1, 5):
        assert found.panel[k] == pytest.approx(panels(small, people, k, log))
    assert found.value == pytest.approx(np.log(1 / 3))
    assert (np.diff(found.panel[1:]) >= 0).all()
    assert (found.k, found.k_low) == (-np.inf, -np.inf) and found.words().startswith("less than 0 (")
    assert replace(found, n_cases=9).words() == "less than 0 (no interval)"


def test_scores_are_what_enumeration_gives(small):
    value = np.random.default_rng(4).normal(small.answer, 1)
    rows = (small.case_of_annotation, small.rater, value)
    data = Dataset.from_scores("s", small.cases, small.raters, *rows)
    people = data.raters[:5]
    found = equivalent_readers(data, "m0", people, k_max=4, n_resamples=100)
    for k in range(1, 5):
        expected = panels(data, people, k, lambda chosen, r: -((data.score[list(chosen)].mean() - data.score[r]) ** 2))
        assert found.panel[k] == pytest.approx(expected)
    assert found.score == "squared"


def test_nobody_foretells_scores_by_the_mean_of_all_annotations_however_many_a_case_has():
    value = np.array([0.0, 2.0, 10.0, 11.0, 12.0, 13.0, 14.0, 5.0, 9.0])
    case, rater = np.array([0, 0, 1, 1, 1, 1, 1, 0, 1]), np.array([0, 1, 0, 1, 2, 3, 4, 5, 5])
    data = Dataset.from_scores("s", ["few", "many"], [*"abcde", "m"], case, rater, value)
    found = equivalent_readers(data, "m", tuple("abcde"), k_max=1, n_resamples=100)
    people = value[rater < 5]
    missed = (people - people.mean()) ** 2
    assert found.panel[0] == pytest.approx(
        -(missed[case[rater < 5] == 0].mean() + missed[case[rater < 5] == 1].mean()) / 2
    )


def test_a_machine_that_is_one_more_reader_is_worth_one(six):
    data = simulated(9, [0.75] * 7, [0.75, 1.0, 0.2], n_cases=800, present=1.0)
    people = data.raters[:7]
    like, knows, bad = (equivalent_readers(data, name, people, n_resamples=400) for name in ("m0", "m1", "m2"))
    assert like.k_low < 1 < like.k_high and like.k == pytest.approx(1, abs=0.2)
    assert knows.k == np.inf or knows.k > 4
    assert bad.k < 0.1
    assert knows.k_max == 6


def test_gold_probabilities_are_worth_more_than_any_panel_of_one_class():
    cases = [str(n) for n in range(40)]
    case, rater = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
    data = Dataset.from_classes("u", cases, list("abcm"), ["x", "y"], case, rater, case % 2)
    sure = np.eye(2)[np.arange(40) % 2]
    assert equivalent_readers(data, "m", ("a", "b", "c"), score="log", probability=sure, n_resamples=100).value == 0.0
    agree = equivalent_readers(data, "m", ("a", "b", "c"), n_resamples=100)
    assert (agree.value, agree.k) == (1.0, 1.0)


def test_the_largest_panel_is_what_three_cases_of_four_have_beside_the_reader_who_is_foretold():
    """Of 12 cases with 3, 5 and 9 people each a third: 2 beside the one left out, not the 4 of the median case."""
    people = np.repeat([3, 5, 9], 4)
    case = np.repeat(np.arange(12), people + 1)
    rater = np.concatenate([np.r_[np.arange(n), 9] for n in people])
    data = Dataset.from_classes("u", list(map(str, range(12))), list("abcdefghim"), ["x", "y"], case, rater, case % 2)
    assert equivalent_readers(data, "m", tuple("abcdefghi"), n_resamples=100).k_max == 2


@pytest.mark.parametrize(
    ("panel", "value", "k"),
    [
        ([0.2, 0.6, 0.6, 0.8], 0.4, 0.5),
        ([0.2, 0.6, 0.6, 0.8], 0.6, 1.0),
        ([0.2, 0.6, 0.6, 0.8], 0.7, 2.5),
        ([0.2, 0.6, 0.6, 0.8], 0.9, np.inf),
        ([0.2, 0.6, 0.6, 0.8], 0.1, -np.inf),
        ([0.2, 0.6, 0.6, 0.8], 0.2, 0.0),
        ([0.2, 0.6, 0.5, 0.7], 0.55, 0.875),
    ],
)
def test_readers_are_linear_between_whole_numbers_and_the_least_that_fit(panel, value, k):
    assert equivalence(np.array(panel), value) == pytest.approx(k)


def test_what_cannot_be_said_is_refused(small):
    with pytest.raises(NotApplicableError, match="a probability for every class"):
        equivalent_readers(small, "m0", small.raters[:5], score="log")
    with pytest.raises(NotApplicableError, match="Could not compute the score"):
        equivalent_readers(small, "m0", small.raters[:5], score="squared")
    with pytest.raises(NotApplicableError, match="two people"):
        equivalent_readers(small, "m0", ("p0",))
    with pytest.raises(InputError, match="got 31"):
        equivalent_readers(small, "m0", small.raters[:5], k_max=31)
    with pytest.raises(NotApplicableError, match="more than 7 people"):
        equivalent_readers(small, "m0", small.raters[:5], k_max=7)


def test_the_log_score_takes_the_trust_at_which_people_foretell_each_other_best(six):
    people = six.raters[:6]
    given = np.full((six.n_cases, 4), 0.25)
    own = equivalent_readers(six, "m0", people, score="log", probability=given, n_resamples=100)
    at = best_pseudo(six, people)
    scores = []
    for pseudo in (at / 2, at, 2 * at):
        found = equivalent_readers(six, "m0", people, score="log", probability=given, pseudo=pseudo, n_resamples=100)
        scores.append(found.panel[-1])
        assert (own.panel[-1] == found.panel[-1]) == (pseudo == at)
    assert max(scores) == scores[1] and 0.01 < at < 2
    assert own.value == pytest.approx(np.log(0.25)) and own.k == -np.inf


def test_a_machine_that_is_sure_where_it_is_wrong_is_worth_less_by_its_probabilities_than_by_agreement(six):
    people = six.raters[:6]
    said = np.zeros((six.n_cases, 4))
    of = six.rater == six.raters.index("m0")
    said[six.case_of_annotation[of], six.answer[of]] = 1.0
    sure, meek = (share * said + (1 - share) / 4 for share in (0.999, 0.75))
    by = [equivalent_readers(six, "m0", people, score="log", probability=p, n_resamples=100).k for p in (sure, meek)]
    assert by[0] == -np.inf and by[1] >= 1
