"""Fits beside each other and beside gold classes, against counting by hand."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.models.comparison import FLOOR, against_gold, compare_fits, most_moved, vote_changes
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.models.one_coin import OneCoin
from tests.core.models.rows import random_rows, simulated

Z95 = 1.959963984540054


def test_fits_are_compared_case_by_case_and_cases_without_answers_are_left_out(build):
    dataset = build(random_rows(1, n_classes=2), 3, 30, 4)
    fits = [MajorityVote().fit(dataset), DawidSkene("none").fit(dataset), OneCoin("none").fit(dataset)]
    found = compare_fits(dataset, fits)
    rated = [case for case in range(30) if len(dataset.annotations_of(case))]
    assert found.n_cases == len(rated) < 30
    for i, one in enumerate(fits):
        for j, other in enumerate(fits):
            distance, same = [], []
            for case in rated:
                p, q = one.class_probability[case], other.class_probability[case]
                distance.append(np.maximum(p - q, 0).sum())
                tops = [{k for k in range(3) if each[k] >= each.max() - 1e-9} for each in (p, q)]
                same.append(len(tops[0] & tops[1]) / (len(tops[0]) * len(tops[1])))
            assert found.distance[i, j] == pytest.approx(np.mean(distance), abs=1e-12)
            if i != j:
                assert found.same_top[i, j] == pytest.approx(np.mean(same), abs=1e-12)
    assert (np.diag(found.same_top) == 1).all()


def test_fits_of_other_data_are_refused(build):
    dataset = build(random_rows(1), 3)
    with pytest.raises(InputError, match="different cases"):
        compare_fits(dataset, [MajorityVote().fit(build(random_rows(2, n_cases=30), 3))])


def test_the_class_that_a_model_moves_most_comes_first_and_of_those_that_tie_the_commonest(build):
    vote = replace(MajorityVote().fit(build(random_rows(1), 3)), prevalence=np.array([0.2, 0.5, 0.3]))
    moved = replace(vote, prevalence=np.array([0.3, 0.4 + 1e-9, 0.3 - 1e-9]))
    assert most_moved(moved, vote).tolist() == [1, 0, 2]
    assert most_moved(replace(vote, prevalence=np.array([0.25, 0.45, 0.3 + 1e-12])), vote).tolist() == [1, 0, 2]
    assert most_moved(vote, vote).tolist() == [1, 2, 0]


def judged(build, of_class=None):
    """Four known cases of six; the fit's probabilities are set by hand."""
    rows = [(case, rater, 0) for case in range(6) for rater in range(2)]
    dataset = replace(build(rows, 2), gold=np.array([0, 1, 1, 0, -1, -1], np.int32))
    probability = np.array([[0.95, 0.05], [0.32, 0.68], [1, 0], [0.5, 0.5], [0, 1], [0, 1]])
    fit = replace(MajorityVote().fit(dataset), class_probability=probability)
    return against_gold(dataset, fit, of_class=of_class)


def test_scores_against_known_classes_are_those_by_hand(build):
    found = judged(build)
    assert (found.n_cases, found.accuracy, found.n_floored) == (4, (1 + 1 + 0 + 0.5) / 4, 1)
    assert (found.low, found.high) == pytest.approx(wilson(0.625, 4, Z95))
    assert found.log_loss == pytest.approx(-np.log([0.95, 0.68, FLOOR, 0.5]).mean())
    assert found.calibration.n.tolist() == [1, 1, 2]
    assert found.calibration.mean == pytest.approx([0.5, 0.68, 0.975])
    assert found.calibration.share == pytest.approx([0.5, 1, 0.5])
    assert (found.calibration.low[2], found.calibration.high[2]) == pytest.approx(wilson(0.5, 2, Z95))


def test_the_probability_of_one_class_is_calibrated_on_request(build):
    found = judged(build, of_class=1).calibration
    assert found.n.tolist() == [2, 1, 1]  # 0.05 and 0, 0.5, 0.68
    assert found.share == pytest.approx([0.5, 0, 1])


def test_a_fit_of_the_right_model_is_calibrated_and_majority_vote_is_not(build):
    """Probability and share agree within Wilson's 95% interval in most bins; a vote share of all is no certainty."""
    confusion = np.full((5, 3, 3), 0.2) + 0.4 * np.eye(3)
    rows, truth = simulated(1, 4000, confusion, (0.5, 0.3, 0.2), 3)
    dataset = replace(build(rows, 3), gold=truth.astype(np.int32))
    fit, vote = OneCoin("none").fit(dataset), MajorityVote().fit(dataset)
    by_model, by_vote = against_gold(dataset, fit), against_gold(dataset, vote)
    for found, least, most in ((by_model.calibration, 0.75, 1), (by_vote.calibration, 0, 0.5)):
        held = (found.low <= found.mean) & (found.mean <= found.high)
        assert least <= held[found.n >= 20].mean() <= most
    assert by_model.log_loss < by_vote.log_loss
    assert by_model.accuracy >= by_vote.accuracy


def test_known_classes_that_were_used_or_are_not_there_judge_nothing(build):
    dataset = build(random_rows(1), 3)
    with pytest.raises(NotApplicableError, match="has a gold class"):
        against_gold(dataset, MajorityVote().fit(dataset))
    known = replace(dataset, gold=np.zeros(dataset.n_cases, np.int32))
    with pytest.raises(NotApplicableError, match="used the gold classes"):
        against_gold(known, DawidSkene("none", use_gold=True).fit(known))


def test_a_tie_counts_as_decided_from_a_probability_of_nine_tenths_on():
    """Four ties of two raters, of probabilities 0.95, 0.9, 0.85 and 0.5, and a majority that changes."""
    answers = [("xy", 0.95), ("xy", 0.9), ("xy", 0.85), ("xy", 0.5), ("xx", 0.3)]
    case = np.repeat(np.arange(5), 2)
    answer = np.array(["xy".index(one) for named, _ in answers for one in named])
    data = Dataset.from_classes("ties", list("abcde"), list("pq"), list("xy"), case, np.tile([0, 1], 5), answer)
    vote = MajorityVote().fit(data)
    chance = np.array([probability for _, probability in answers])
    fit = replace(vote, class_probability=np.column_stack([chance, 1 - chance]))
    found = vote_changes(fit, vote, np.ones(5, bool))
    assert (found.n_changed, found.n_decided, found.n_tied, found.n_cases) == (1, 2, 4, 5)
    assert found.words == "Weighting the raters overrules the majority in 1 of 5 cases and breaks 2 of 4 ties"
    of_two = vote_changes(fit, vote, np.array([True, False, True, True, False]))
    assert (of_two.n_changed, of_two.n_decided, of_two.n_tied, of_two.n_cases) == (0, 1, 3, 3)
