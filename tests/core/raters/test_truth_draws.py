"""Accuracy of raters over drawn truths: expectation written out, coverage, and where nothing can be said."""

import numpy as np
import pytest
from scipy import stats

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import renamed_raters
from core.errors import NotApplicableError
from core.models.average import LEAST_DOUBT, average_models, member_posteriors
from core.models.choose import choose
from core.raters.truth_draws import accuracy_draws, pool_of, prevalence_interval, uncertainty_of
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
    assert f"{found.total:,.0f} (" in found.sentence and "of 1,500" in found.sentence


def test_only_annotations_of_the_cases_asked_for_are_judged(build):
    dataset = build(panel(2)[0], 2)
    cases = np.arange(0, 300, 3)
    found = accuracy_draws(averaged_of(dataset), dataset, cases=cases, n_draws=50)
    judged = np.isin(dataset.case_of_annotation, cases)
    assert found.n.tolist() == np.bincount(dataset.rater[judged], minlength=dataset.n_raters).tolist()
    assert found.to_frame().rater.tolist() == list(dataset.raters)


@pytest.mark.parametrize(("n_classes", "per_case"), [(2, 3), (2, 5), (3, 3), (3, 5)])
def test_intervals_of_independent_raters_hold_their_realised_accuracy(n_classes, per_case, build):
    inside, ratio = [], []
    for seed in range(3):
        rows, truth = panel(seed, n_classes=n_classes, per_case=per_case)
        dataset = build(rows, n_classes)
        found = accuracy_draws(averaged_of(dataset), dataset)
        right = np.bincount(dataset.rater, dataset.answer == truth[dataset.case_of_annotation], dataset.n_raters)
        accuracy = right / found.n
        inside += ((accuracy >= found.low) & (accuracy <= found.high)).tolist()
        ratio.append(found.total / (found.n - right).sum())
    assert np.mean(inside) >= 0.93
    assert np.mean(ratio) == pytest.approx(1, abs=0.12)


def test_chance_and_accuracy_are_means_over_draws_under_the_pool_of_each(build):
    dataset = build(panel(3)[0], 2)
    found = accuracy_draws(averaged_of(dataset), dataset, n_draws=4000)
    a, b = found.right + found.pool[:, :1], found.n - found.right + found.pool[:, 1:]
    assert found.mean == pytest.approx((a / (a + b)).mean(axis=0), abs=0.005)
    assert found.chance_at_least(0.8) == pytest.approx(stats.beta(a, b).sf(0.8).mean(axis=0))
    own = np.linspace(0.6, 0.9, dataset.n_raters)
    each = [found.chance_at_least(bound)[rater] for rater, bound in enumerate(own.tolist())]
    assert found.chance_at_least(own) == pytest.approx(each)


@pytest.mark.parametrize("prevalence", [(0.5, 0.5), (0.85, 0.15)])
def test_prevalence_lies_in_its_interval_and_cases_are_sampled(prevalence, build):
    inside = []
    for seed in range(4):
        confusion = np.tile(np.array([[0.9, 0.1], [0.15, 0.85]]), (8, 1, 1))
        dataset = build(simulated(seed, 250, confusion, prevalence, 5)[0], 2)
        averaged = averaged_of(dataset)
        spread = prevalence_interval(averaged, dataset)
        low, high = spread.low, spread.high
        assert (low < averaged.fit.prevalence).all() and (averaged.fit.prevalence < high).all()
        assert (high - low)[1] > 2 * 1.9 * np.sqrt(prevalence[0] * prevalence[1] / 250)  # if the truth were known
        inside.append(low[1] <= prevalence[1] <= high[1])
    assert np.mean(inside) >= 0.75


def test_intervals_of_an_average_hold_its_own_numbers_and_those_of_the_raters(build):
    inside, width = [], []
    for seed in range(3):
        accuracy = np.random.default_rng(seed).uniform(0.65, 0.95, 10)
        confusion = np.array([[[p, 1 - p], [1 - p, p]] for p in accuracy])
        dataset = build(simulated(seed, 300, confusion, np.full(2, 0.5), 5)[0], 2)
        averaged = averaged_of(dataset)
        found, fit = uncertainty_of(averaged, dataset), averaged.fit
        assert ((found.accuracy.low <= fit.accuracy()) & (fit.accuracy() <= found.accuracy.high)).all()
        assert ((found.confusion.low <= fit.confusion) & (fit.confusion <= found.confusion.high)).all()
        assert np.array_equal(found.prevalence.low, prevalence_interval(averaged, dataset).low)
        inside += ((found.accuracy.low <= accuracy) & (accuracy <= found.accuracy.high)).tolist()
        width.append(np.mean(found.accuracy.high - found.accuracy.low))
    assert np.mean(inside) >= 0.9
    assert np.mean(width) > 2 * 1.96 * np.sqrt(0.8 * 0.2 / 150), "wider than if the truth were known"


def test_intervals_do_not_depend_on_the_order_of_raters_and_classes(build):
    dataset = build(panel(3, n_raters=6, n_classes=3)[0], 3)
    raters, classes = np.random.default_rng(0).permutation(6), np.array([2, 0, 1])
    other = Dataset.from_classes(
        "test",
        dataset.cases,
        np.array(dataset.raters)[raters],
        np.array(dataset.classes)[classes],
        dataset.case_of_annotation,
        np.argsort(raters)[dataset.rater],
        np.argsort(classes)[dataset.answer],
    )
    found, again = (uncertainty_of(averaged_of(each), each) for each in (dataset, other))
    assert again.accuracy.low == pytest.approx(found.accuracy.low[raters])
    assert again.confusion.high == pytest.approx(found.confusion.high[np.ix_(raters, classes, classes)])


def test_draws_do_not_depend_on_the_names_of_raters(build):
    """Pages compute without names, and the report and the command with them."""
    dataset = build(panel(3, n_raters=6, n_classes=3)[0], 3)
    other = renamed_raters(dataset, [f"r{name}" for name in (3, 1, 5, 0, 2, 4)])
    for each in (other, dataset.coded):
        draws, again = (accuracy_draws(averaged_of(one), one, n_draws=30) for one in (dataset, each))
        assert (again.low == draws.low).all() and (again.high == draws.high).all()
        found, same = (uncertainty_of(averaged_of(one), one) for one in (dataset, each))
        assert (same.confusion.low == found.confusion.low).all()


def test_a_vote_without_rater_models_has_no_intervals(build):
    dataset = build(rules(1, 0.5, 0.0)[0], 2)
    averaged = averaged_of(dataset)
    assert not averaged.members and uncertainty_of(averaged, dataset) is None


@pytest.mark.parametrize("size", [4.0, 15.0, 60.0])
def test_pool_of_a_draw_finds_mean_and_size_of_a_beta_distribution(size):
    rng = np.random.default_rng(0)
    n = rng.integers(20, 80, 3000)
    right = rng.binomial(n, rng.beta(0.8 * size, 0.2 * size, 3000))
    correct, wrong = pool_of(right, n)
    assert correct / (correct + wrong) == pytest.approx(0.8, abs=0.01)
    assert correct + wrong == pytest.approx(size, rel=0.25)  # three standard errors at 60
    few = sum(pool_of(np.array([8, 9, 7]), np.array([10, 10, 10])))
    assert 5 < few < 60  # three raters alone do not say how alike raters are


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
