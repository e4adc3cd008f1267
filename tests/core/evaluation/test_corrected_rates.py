"""Corrected rates: printed values, coverage, and what is said where labels are few or the machine is no help."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError, NotApplicableError
from core.evaluation.corrected_rates import (
    best_probabilities,
    class_rate,
    combined,
    drawn_labels,
    ppi_rate,
    rogan_gladen_rate,
    sampled_rate,
)
from tests.benchmarks.corrected_rates import study, world


def test_the_printed_values_of_rogan_gladen():
    found = rogan_gladen_rate(0.4, 1000, 0.7, 200, 0.9, 200)
    assert (found.estimate, found.ci_low, found.ci_high) == pytest.approx((0.16667, 0.05635, 0.26273), abs=5e-6)


def test_the_printed_values_of_known_selection_probabilities():
    labels, machine = np.array([0, 1, np.nan, np.nan]), np.array([0.1, 0.9, 0.5, 0.5])
    found = sampled_rate(labels, np.isfinite(labels), machine, np.full(4, 0.8), careful=False)
    assert (found.estimate, found.ci_low, found.ci_high) == pytest.approx((0.548, 0.138, 0.958), abs=5e-4)
    assert found.weight == pytest.approx(1.256, abs=5e-4)


def test_a_machine_that_is_off_by_a_constant_is_corrected_exactly():
    labels = np.random.default_rng(0).normal(size=50)
    found = ppi_rate(labels, labels + 2, np.full(70, 2.0), weight=1.0)
    assert found.estimate == pytest.approx(0, abs=1e-12) and found.machine_rate > 1


def test_ppi_is_its_formula_with_the_weight_of_least_variance():
    rng = np.random.default_rng(1)
    y, f = world(150, 0.4, rng)
    _, rest = world(600, 0.4, rng)
    f, rest = 1.5 * f, 1.5 * rest  # a score on another scale
    found = ppi_rate(y, f, rest)
    lam = np.cov(y, f)[0, 1] / ((1 + 150 / 600) * np.concatenate([f, rest]).var(ddof=1))
    assert 0 < lam < 1 and found.weight == pytest.approx(lam)
    assert found.estimate == pytest.approx(lam * rest.mean() + (y - lam * f).mean())
    se = np.sqrt((lam * rest).var(ddof=1) / 600 + (y - lam * f).var(ddof=1) / 150)
    assert found.se == pytest.approx(se)
    assert (found.ci_low, found.ci_high) == pytest.approx(
        (found.estimate - 1.959964 * se, found.estimate + 1.959964 * se)
    )
    for other in (lam - 0.1, lam + 0.1):
        assert ppi_rate(y, f, rest, weight=other).se > found.se * 0.999
    useless = ppi_rate(y, rng.random(150), rng.random(600))
    assert useless.weight < 0.35  # three of its standard errors
    assert ppi_rate(y, 1 - f, 1 - rest).weight == 0  # never below 0


def test_below_a_hundred_labels_the_interval_is_students_t():
    rng = np.random.default_rng(2)
    y, f = world(40, 0.5, rng)
    found = ppi_rate(y, f, f, weight=0.0)
    assert found.method == "humans" and found.estimate == pytest.approx(y.mean())
    assert found.ci_high - found.estimate == pytest.approx(2.0226909 * y.std(ddof=1) / np.sqrt(40))
    assert "Student's t" in " ".join(found.notes)


def test_intervals_hold_the_truth_where_the_machine_alone_never_does():
    """A tenth of the study among the benchmarks: nominal within 2 points and three of its standard errors."""
    for name, (share, _) in study(200, 200).items():
        if name == "machine alone":
            assert share < 0.05
        else:
            assert abs(share - 0.95) < 0.02 + 3 * np.sqrt(0.95 * 0.05 / 200)


def test_a_hundred_labels_without_an_error_do_not_give_an_interval_of_nothing():
    y = np.ones(30)
    for found in (ppi_rate(y, y, np.ones(300)), ppi_rate(y, y, np.ones(300), weight=0.0)):
        assert found.estimate == 1 and 0.75 < found.ci_low < 0.95
        assert any("errors that do not appear in the sample" in note for note in found.notes)
    xi = np.arange(300) < 30
    found = sampled_rate(np.ones(300), xi, np.ones(300), np.full(300, 0.1))
    assert found.ci_low < 0.95
    rng = np.random.default_rng(0)
    many, machine = world(200, 0.5, rng)
    assert not any("not seen" in note for note in ppi_rate(many, machine, machine).notes)


def test_a_machine_that_tells_nothing_apart_is_refused_by_rogan_gladen():
    with pytest.raises(NotApplicableError, match="well enough"):
        rogan_gladen_rate(0.4, 1000, 0.5, 100, 0.55, 100)
    with pytest.raises(InputError):
        rogan_gladen_rate(0.4, 1000, 0.9, 0, 0.9, 10)


def test_uncertain_labels_widen_the_interval_by_what_draws_differ():
    assert combined([0.2, 0.4], [0.1, 0.1]) == pytest.approx((0.3, np.sqrt(0.01 + 1.5 * 0.02)))
    rng = np.random.default_rng(3)
    y, f = world(60, 0.4, rng)
    sure = ppi_rate(y, f, f)
    unsure = ppi_rate(np.clip(y + rng.normal(0, 0.4, (50, 60)), 0, 1), f, f)
    assert unsure.se > sure.se


def test_draws_of_labels_keep_the_mean_and_narrow_with_trust():
    rng = np.random.default_rng(4)
    n = np.full(400, 3)
    named = rng.binomial(3, 0.2, 400)
    weak, strong = drawn_labels(named, n, 1.0, n_draws=200), drawn_labels(named, n, 20.0, n_draws=200)
    assert weak.mean() == pytest.approx(named.mean() / 3, abs=0.01)
    assert weak[:, named == 1].std(axis=0).mean() > 2 * strong[:, named == 1].std(axis=0).mean()
    assert np.isnan(drawn_labels(np.array([0, 2]), np.array([0, 2]), 1.0)[:, 0]).all()


@given(st.integers(1, 60), st.floats(0.05, 1.0), st.integers(0, 1000))
def test_probabilities_spend_the_budget_and_none_exceeds_one(n, share, seed):
    variance = np.random.default_rng(seed).random(n) ** 4 * (np.random.default_rng(seed + 1).random(n) < 0.7)
    budget = max(1.0, share * n)
    p = best_probabilities(variance, budget, 0.1)
    assert p.sum() == pytest.approx(budget) and p.max() <= 1 + 1e-12 and p.min() >= 0.1 * budget / n - 1e-12
    free = p < p.max() - 1e-9
    assert (np.argsort(p[free], kind="stable") == np.argsort(variance[free], kind="stable")).all() or len(set(p)) < n


def test_a_rate_of_a_class_says_what_it_rests_on_and_stays_within_0_and_1():
    rng = np.random.default_rng(5)
    truth, machine = world(500, 0.1, rng)
    labels = np.where(np.arange(500) < 120, truth, np.nan)
    machine[-10:] = np.nan
    found = class_rate(labels, machine)
    assert (found.n_labelled, found.n) == (120, 490)
    assert found.notes[0] == "The estimate is valid if the labelled cases are a simple random sample of all cases."
    assert "10 cases without a label from the AI rater were left out." in found.notes
    rogan = class_rate(labels, machine, "rogan-gladen")
    assert rogan.n == 370 and "The rate is for the 370 cases without labels." in rogan.notes
    humans = class_rate(np.where(np.isnan(labels), np.nan, 0.0), machine, "humans")
    assert humans.ci_low == 0 and 0 < humans.ci_high < 0.1 and humans.weight == 0
    with pytest.raises(InputError, match="probabilities"):
        class_rate(labels, machine, "sampled")
    with pytest.raises(NotApplicableError, match="no correction is needed"):
        class_rate(truth, machine, "rogan-gladen")
    with pytest.raises(InputError, match="2 labelled cases; got 1"):
        class_rate(np.where(np.arange(500) == 3, truth, np.nan), machine)
