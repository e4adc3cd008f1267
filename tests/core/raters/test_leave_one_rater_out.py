import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters.leave_one_rater_out import FLOOR, panel_of, spread_of
from tests.core.raters.raters_simulated import simulated


def slow(data, panel):
    """right, wrong, and expected annotations of each rater, one annotation at a time."""
    n, n_classes = data.n_annotations, data.n_classes
    thetas, prevalences = [], []
    for point in panel.folds.points:
        table = np.exp(point.log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
        thetas.append((1 - FLOOR) * table + FLOOR / n_classes)
        prevalences.append((1 - FLOOR) * np.exp(point.log_prevalence) + FLOOR / n_classes)
    right, wrong, tables = np.empty(n), np.empty(n), np.zeros((data.n_raters, n_classes, n_classes))
    for case in range(data.n_cases):
        for a in data.annotations_of(case):
            theta, p = thetas[panel.folds.fold[a]], prevalences[panel.folds.fold[a]].copy()
            for b in data.annotations_of(case):
                if data.rater[b] != data.rater[a]:
                    p *= theta[data.rater[b], :, data.answer[b]]
            p /= p.sum()
            right[a] = p[data.answer[a]]
            wrong[a] = p @ panel.spread[:, data.answer[a]]
            if panel.judged[a]:
                tables[data.rater[a], :, data.answer[a]] += p
    return right, wrong, tables


def test_answers_are_judged_by_the_others_as_a_slow_count_says():
    data, _ = simulated(1, [0.8, 0.7, 0.9, 0.6, 0.75], n_cases=60, per_case=3)
    case = np.append(data.case_of_annotation, [0, 0])  # the first rater of case 0 annotates it twice more
    rater, answer = np.append(data.rater, [data.rater[0]] * 2), np.append(data.answer, [1, 2])
    data = Dataset.from_classes("x", data.cases, data.raters, data.classes, case, rater, answer)
    panel = panel_of(data, DawidSkene("pooled").fit(data))
    assert len(panel.folds.points) == 5
    right, wrong, tables = slow(data, panel)
    np.testing.assert_allclose(panel.right, right, atol=1e-12)
    np.testing.assert_allclose(panel.wrong, wrong, atol=1e-12)
    np.testing.assert_allclose(panel.pool, tables.sum(axis=0), atol=1e-9)
    for j in range(data.n_raters):
        np.testing.assert_allclose(panel.expected_answers(j), tables[j], atol=1e-10)


def test_a_rater_does_not_vouch_for_themselves():
    """Whatever a rater gives, the panel's class of their case stays the same."""
    data, _ = simulated(2, [0.8] * 6, n_cases=80, per_case=3)
    fit = MajorityVote().fit(data)
    before = panel_of(data, fit)
    answer = data.answer.copy()
    own = data.rater == 2
    answer[own] = (answer[own] + 1) % data.n_classes
    other = Dataset.from_classes(
        "x", data.cases, data.raters, data.classes, data.case_of_annotation, data.rater, answer
    )
    after = panel_of(other, fit)
    assert (before.top[own] == after.top[own]).all()
    np.testing.assert_allclose(before.sure[own], after.sure[own], atol=1e-12)


def test_nobody_is_judged_on_a_case_that_they_answered_alone():
    data = Dataset.from_classes("x", ["a", "b"], ["r", "s"], ["k", "l"], [0, 0, 1], [0, 1, 0], [0, 0, 1])
    panel = panel_of(data, MajorityVote().fit(data))
    assert panel.judged.tolist() == [True, True, False]


def test_known_classes_judge_where_the_fit_held_them_fixed():
    data = Dataset.from_classes(
        "x", ["a", "b"], ["r", "s"], ["k", "l"], [0, 0, 1], [0, 1, 0], [0, 0, 1], gold=np.array([1, 1], np.int32)
    )
    panel = panel_of(data, DawidSkene("diagonal", use_gold=True).fit(data))
    assert panel.judged.all()
    assert panel.right.tolist() == [0, 0, 1]


def test_mistakes_fall_as_they_were_seen_and_never_on_the_class_itself():
    spread = spread_of(np.array([[90.0, 9, 1], [5, 90, 5], [0, 0, 0]]))
    np.testing.assert_allclose(spread.sum(axis=1), 1)
    assert (np.diag(spread) == 0).all()
    assert spread[0, 1] > 0.6 > spread[0, 2]


def test_fits_of_other_data_and_answers_that_are_no_classes_are_refused():
    data, _ = simulated(3, [0.8] * 3, n_cases=20, per_case=2)
    other, _ = simulated(3, [0.8] * 4, n_cases=20, per_case=2)
    with pytest.raises(InputError, match="Fit the model to these data"):
        panel_of(data, MajorityVote().fit(other))
    scores = Dataset.from_scores("x", ["a"], ["r"], [0], [0], [0.5])
    with pytest.raises(NotApplicableError, match="first choices"):
        panel_of(scores, MajorityVote().fit(data))
