"""Accuracy of raters over drawn truths: expectation written out, coverage, and where nothing can be said."""

import numpy as np
import pytest
from scipy import stats

from core.errors import NotApplicableError
from core.models.average import LEAST_DOUBT, average_models, member_posteriors
from core.models.choose import choose
from core.raters.truth_draws import accuracy_draws
from tests.core.models.rows import rules, simulated


def panel(seed, n_cases=300, n_raters=10, per_case=5, n_classes=2):
    accuracy = np.random.default_rng(seed).uniform(0.65, 0.95, n_raters)
    confusion = np.stack([
        np.full((n_classes, n_classes), (1 - p) / (n_classes - 1)) + np.eye(n_classes) * (p - (1 - p) / (n_classes - 1))
        for p in accuracy
    ])  # fmt: skip
    return simulated(seed, n_cases, confusion, np.full(n_classes, 1 / n_classes), per_case)


def averaged_of(dataset):
    return average_models(choose(dataset, difficulty=False), dataset)


def test_expected_wrong_annotations_are_one_less_the_probability_of_each(build):
    dataset = build(panel(1)[0], 2)
    averaged = averaged_of(dataset)
    total = sum(each.weight for each in averaged.members)
    mean = sum(
        member.weight / total * weight * p
        for member in averaged.members
        for weight, p in member_posteriors(member, dataset, doubt=LEAST_DOUBT)
    )
    wrong = 1 - mean[dataset.case_of_annotation, dataset.answer]
    found = accuracy_draws(averaged, dataset, n_draws=2000)
    expected = np.bincount(dataset.rater, wrong, dataset.n_raters)
    error = (found.wrong_high - found.wrong_low) / 4 / np.sqrt(2000)
    assert np.abs(found.wrong - expected).max() < 5 * error.max()
    assert found.total == pytest.approx(expected.sum(), rel=0.02)
    assert found.total_low < found.total < found.total_high
    assert (found.low < found.mean).all() and (found.mean < found.high).all()
    assert f"{found.total:,.0f} of 1,500 annotations" in found.sentence


def test_only_annotations_of_the_cases_asked_for_are_judged(build):
    dataset = build(panel(2)[0], 2)
    cases = np.arange(0, 300, 3)
    found = accuracy_draws(averaged_of(dataset), dataset, cases=cases, n_draws=50)
    judged = np.isin(dataset.case_of_annotation, cases)
    assert found.n.tolist() == np.bincount(dataset.rater[judged], minlength=dataset.n_raters).tolist()
    assert found.to_frame().rater.tolist() == list(dataset.raters)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_of_independent_raters_hold_their_realised_accuracy(n_classes, build):
    inside, ratio = [], []
    for seed in range(3):
        rows, truth = panel(seed, n_classes=n_classes)
        dataset = build(rows, n_classes)
        found = accuracy_draws(averaged_of(dataset), dataset)
        right = np.bincount(dataset.rater, dataset.answer == truth[dataset.case_of_annotation], dataset.n_raters)
        accuracy = right / found.n
        inside += ((accuracy >= found.low) & (accuracy <= found.high)).tolist()
        ratio.append(found.total / (found.n - right).sum())
    assert np.mean(inside) >= 0.93
    assert np.mean(ratio) == pytest.approx(1, abs=0.15)


def test_intervals_are_wider_than_with_known_truth(build):
    rows, truth = panel(4)
    dataset = build(rows, 2)
    found = accuracy_draws(averaged_of(dataset), dataset)
    right = np.bincount(dataset.rater, dataset.answer == truth[dataset.case_of_annotation], dataset.n_raters)
    low, high = stats.beta(right + 0.5, found.n - right + 0.5).interval(0.95)
    assert (found.high - found.low).mean() > 1.05 * (high - low).mean()


def test_nobody_is_judged_where_each_rater_gives_one_class(build):
    dataset = build(rules(1, 0.5, 0.0)[0], 2)
    with pytest.raises(NotApplicableError, match="Cannot determine rater accuracy"):
        accuracy_draws(averaged_of(dataset), dataset)
