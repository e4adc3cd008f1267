"""Certainty against truth: losses by hand, exact certainties against draws, recovery of the γ that data come from."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.certainty.calibration import LEAST_DOUBT, binary_log_loss, expected_calibration_error, reliability_bins
from core.certainty.top_sets import annotation_certainty
from core.certainty.truth_curve import truth_curve
from core.errors import InputError, NotApplicableError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from tests.core.models.test_ordinal import panel


def world(build, n_cases, n_raters, n_classes, seed, copies=1, alpha=1.0):
    """λ ~ Dirichlet(α), the truth is its largest class, and annotations are drawn from it, each ``copies`` times."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(n_classes, alpha), n_cases)
    rows = [
        (case, rater * copies + copy, answer)
        for case in range(n_cases)
        for rater, answer in enumerate(rng.choice(n_classes, n_raters, p=share[case]))
        for copy in range(copies)
    ]
    return replace(build(rows, n_classes), gold=share.argmax(axis=1).astype(np.int32))


@pytest.mark.parametrize(("copies", "gamma"), [(1, 1.0), (2, 0.5), (4, 0.25)])
def test_the_best_reliability_is_that_which_the_data_come_from(build, copies, gamma):
    """Of c copies of each annotation one is information: γ = 1/c is right, and its certainty comes true."""
    curve = truth_curve(world(build, 1500, 5, 3, 4, copies), DirichletCounts())
    assert curve.low < gamma < curve.high
    place = curve.place_of(gamma)
    se = curve.right_by_case[place].std() / np.sqrt(1500)
    assert curve.certainty[place] == pytest.approx(curve.right[place], abs=4 * se)
    assert curve.ece[place] < 0.05 < curve.ece[curve.place_of(16 * gamma)]
    assert curve.log_loss_low[place] < curve.log_loss[place] < curve.log_loss_high[place]


def test_doubt_of_two_classes_is_a_beta_tail(build):
    data = replace(
        build([(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 1), (1, 1, 1), (2, 0, 0)], 2),
        gold=np.array([1, 1, -1], np.int32),
    )
    curve = truth_curve(data, DirichletCounts(0.5), [2.0])
    exact = [
        stats.beta.cdf(0.5, 4.5, 2.5),
        stats.beta.cdf(0.5, 4.5, 0.5),
    ]
    assert curve.doubt[0] == pytest.approx(exact, abs=2e-4)
    assert curve.right_by_case[0].tolist() == [0, 1]
    assert curve.case.tolist() == [0, 1]
    assert curve.log_loss[0] == pytest.approx(-(np.log(exact[0]) + np.log(1 - exact[1])) / 2, abs=1e-3)
    assert curve.cross_validated is None and curve.fold_best == ()


def test_equal_counts_share_the_first_place(build):
    """One annotation each: right in half of the draws, certain in half of them, and a loss of ln 2."""
    data = replace(build([(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1)], 3), gold=np.array([1, 2], np.int32))
    curve = truth_curve(data, DirichletCounts(1e-3), [20.0])
    assert curve.right_by_case[0].tolist() == [0.5, 0]
    assert curve.doubt[0] == pytest.approx([0.5, 0.5], abs=1e-3)
    assert binary_log_loss(curve.doubt, curve.right_by_case)[0] == pytest.approx(np.log(2), abs=2e-3)


@pytest.mark.parametrize("model", [DirichletCounts(0.7), PrIRN(epsilon=0.3)])
def test_exact_doubts_are_those_of_draws(build, model):
    data = world(build, 40, 6, 4, 2)
    gamma = 1.3 if isinstance(model, DirichletCounts) else 6.0
    curve = truth_curve(data, model, [gamma])
    drawn = annotation_certainty(model, data, reliability=gamma, n_draws=20_000, max_top=1)
    assert curve.exact
    error = np.sqrt(0.25 / 20_000)
    assert np.abs(1 - curve.doubt[0] - drawn.certainty[:, 0]).max() < 4.5 * error
    clear = drawn.certainty[:, 0] > 0.6
    assert (curve.right_by_case[0][clear] == (drawn.top_class() == data.gold)[clear]).all()


def test_plackett_luce_is_judged_by_its_own_draws(rank):
    cases = [[[[0], [1]], [[0]], [[2]]], [[[1]], [[3], [1]]], [[[2]]], [[[0, 1]], [[1]]]]
    data = rank(cases, 5, gold=np.array([0, 3, -1, 4], np.int32))
    model = PlackettLuce(n_burn=100)
    curve = truth_curve(data, model, [1.0, 4.0], n_draws=400, seed=5)
    assert not curve.exact and curve.case.tolist() == [0, 1, 3]
    for gamma in (1.0, 4.0):
        drawn = annotation_certainty(model, data, reliability=gamma, n_draws=400, max_top=1, seed=5)
        place = curve.place_of(gamma)
        assert 1 - curve.doubt[place] == pytest.approx(drawn.certainty[[0, 1, 3], 0])
        assert curve.right_by_case[place].tolist() == (drawn.top_class() == data.gold)[[0, 1, 3]].tolist()


def test_the_grid_is_refined_about_its_best(build):
    data = world(build, 300, 5, 3, 1)
    curve = truth_curve(data, DirichletCounts(), [0.1, 1.0, 10.0])
    assert len(curve.reliability) == 3 + 8
    assert curve.log_loss.min() == curve.log_loss[curve.reliability == curve.best][0]
    assert curve.log_loss.min() <= curve.log_loss[curve.place_of(1.0)]


def test_each_fold_is_judged_at_the_best_of_the_others(build):
    """Chosen on a case's own fold the loss could only be lower, and at one γ for all it is that of the choice."""
    data = world(build, 103, 5, 3, 7)
    curve = truth_curve(data, DirichletCounts())
    assert len(curve.fold_best) == 5
    assert curve.log_loss.min() <= curve.cross_validated <= curve.log_loss.min() + 0.05
    one = truth_curve(data, DirichletCounts(), [1.0])
    assert one.cross_validated == pytest.approx(one.log_loss[0]) and one.fold_best == (1.0,) * 5


def test_folds_and_intervals_follow_the_case_and_not_its_place(build):
    data = world(build, 60, 4, 3, 3)
    turned = data.select(cases=data.cases)
    one, two = (truth_curve(part, DirichletCounts(), seed=9) for part in (data, turned))
    assert one.cross_validated == two.cross_validated and (one.ece_low == two.ece_low).all()
    other = truth_curve(data, DirichletCounts(), seed=10)
    assert not np.array_equal(one.ece_low, other.ece_low)


def test_losses_have_a_floor():
    doubt, right = np.array([0.0, 1e-9, 0.2]), np.array([1.0, 0.0, 1.0])
    assert binary_log_loss(doubt, right) == pytest.approx([-np.log(0.999), -np.log(1e-3), -np.log(0.8)])
    assert binary_log_loss(doubt, right, 1e-6)[1] == pytest.approx(-np.log(1e-6))


def test_the_calibration_error_by_hand():
    """Bins (0.5, 0.6] and (0.9, 1]: 0.5·|0.58 − 0.5| + 0.5·|0.95 − 1| = 0.065."""
    certainty, right = np.array([0.56, 0.6, 0.92, 0.98]), np.array([0.0, 1.0, 1.0, 1.0])
    assert expected_calibration_error(certainty, right) == pytest.approx(0.5 * 0.08 + 0.5 * 0.05)
    bins = reliability_bins(certainty, right)
    assert [(b.low, b.high, b.n, b.certainty, b.right) for b in bins] == [
        (0.5, 0.6, 2, pytest.approx(0.58), 0.5),
        (0.9, 1.0, 2, pytest.approx(0.95), 1.0),
    ]
    for one in bins:
        assert one.right_low <= one.right <= one.right_high
    assert bins[1].right_low == pytest.approx(2 / (2 + 1.959964**2))


def test_the_diagram_counts_every_case(build):
    data = world(build, 80, 4, 3, 6)
    curve = truth_curve(data, DirichletCounts())
    bins = curve.diagram(curve.best)
    assert sum(b.n for b in bins) == 80
    gap = sum(b.n * abs(b.right - b.certainty) for b in bins) / 80
    assert gap == pytest.approx(curve.ece[curve.place_of(curve.best)])


def test_without_gold_there_is_no_curve(build):
    data = build([(0, 0, 0), (0, 1, 1), (1, 0, 0)], 2)
    with pytest.raises(NotApplicableError, match="0 cases have both a gold class"):
        truth_curve(data, DirichletCounts())
    with pytest.raises(NotApplicableError, match="1 case has both a gold class"):
        truth_curve(replace(data, gold=np.array([0, -1], np.int32)), DirichletCounts())


def test_sides_of_a_threshold_have_no_gold(score):
    data = score([(0, 0, 1.0), (0, 1, 2.0), (1, 0, 3.0)])
    with pytest.raises(NotApplicableError, match="splits scores at a threshold"):
        truth_curve(data, GaussianScores(0.0, 0.0, 1.0, 2.0, 1.0))


@pytest.mark.parametrize("gammas", [[], [0.0], [np.nan]])
def test_reliabilities_that_are_none_are_refused(build, gammas):
    with pytest.raises(InputError):
        truth_curve(world(build, 5, 3, 2, 0), DirichletCounts(), gammas)


def test_of_ordered_classes_the_least_log_loss_is_that_of_the_true_class(build):
    """Where prevalence alone names the top class, its certainty is low and comes true, and says nothing of a case."""
    rows, _, truth = panel(300, 6, 3, 8, severe=1.5)
    data = replace(build(rows, 4), ordinal=True, gold=truth.astype(np.int32))
    model = OrdinalTruth()
    fitted = replace(model, fitted=model.fit(data))
    curve = truth_curve(data, model)
    assert curve.scored == "the true class" and truth_curve(data, DirichletCounts()).scored == "certainty"
    for place, gamma in enumerate(curve.reliability):
        chance = fitted.probability(data, float(gamma))[curve.case, data.gold[curve.case]]
        assert curve.log_loss[place] == pytest.approx(-np.log(np.maximum(chance, LEAST_DOUBT)).mean())
    assert curve.best == curve.reliability[curve.log_loss.argmin()]
    assert curve.right[curve.place_of(curve.best)] > curve.right[0] + 0.1  # annotations count at the best
