"""The t-a-p model: its exact step, its published relation to kappa, and what its data cannot tell."""

import numpy as np
import pytest

from core.ingest.samples import load_sample
from core.models.dawid_skene import DawidSkene
from core.models.design import design
from core.models.em import climb, no_prior
from core.models.precision import precision_of
from core.models.stopping import StoppingRule
from core.models.tap import TAP, Guessers
from tests.benchmarks.truth_inference import GENERATED, generated
from tests.core.models.rows import simulated


def objective(counts, a, p):
    """Σ counts · ln θ with axes annotated, true."""
    theta = (1 - a) * p[:, None] + a * np.eye(len(p))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(counts > 0, counts * np.log(theta), 0).sum())


def best_by_search(counts):
    """The maximum over a grid of accuracies, each with the best p found by bisection of its multiplier."""
    right, wrong = np.diag(counts), counts.sum(axis=1) - np.diag(counts)
    best = -np.inf, 0.0
    for a in np.linspace(0, 1, 501)[:-1]:
        # Given a: D/(a + u) + O/u falls in u, and u sums to 1 - a.
        low, high = 1e-9, 1e9
        for _ in range(80):
            middle = np.sqrt(low * high)
            b = middle * a - right - wrong
            u = (-b + np.sqrt(b * b + 4 * middle * a * wrong)) / (2 * middle)
            low, high = (middle, high) if u.sum() > 1 - a else (low, middle)
        found = objective(counts, a, u / u.sum())
        best = max(best, (found, a))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_step_is_the_maximum_that_a_search_finds(seed):
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    counts = rng.gamma(0.7, 5, (n_classes, n_classes)) + rng.uniform(0, 25) * np.eye(n_classes)
    if seed % 3 == 2:
        counts[rng.integers(n_classes)] = 0  # a class that the rater never gave
    theta, parameters = Guessers(False).maximise(counts[None])
    value, a = best_by_search(counts)
    mine = objective(counts, parameters["a"][0], parameters["p"][0])
    assert mine >= value - 1e-9 * abs(value)
    assert parameters["a"][0] == pytest.approx(a, abs=3e-3)
    assert theta[0].sum(axis=0) == pytest.approx(np.ones(n_classes), abs=1e-12)


def test_the_bounds_of_the_step():
    """Without mistakes accuracy is 1 and the guesses stay; those that do not depend on the truth have accuracy 0."""
    _, perfect = Guessers(False).maximise(np.diag([3.0, 2.0, 0.0])[None])
    assert (perfect["a"][0], perfect["p"][0].tolist()) == (1.0, [1 / 3] * 3)
    _, random = Guessers(False).maximise(np.outer([0.5, 0.3, 0.2], [10.0, 10.0, 20.0])[None])
    assert random["a"][0] == pytest.approx(0, abs=1e-6)
    assert random["p"][0] == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    _, contrary = Guessers(False).maximise((np.ones((3, 3)) - np.eye(3))[None])
    assert contrary["a"][0] == 0.0
    _, none = Guessers(False).maximise(np.zeros((1, 3, 3)))
    assert (none["a"][0], none["p"][0].tolist()) == (0.0, [1 / 3] * 3)


class Moments(Guessers):
    """The step as it is printed: a from the trace, p from the columns off the diagonal."""

    def maximise(self, counts):
        counts = counts.sum(axis=0, keepdims=True)
        share = counts[0].T / counts.sum()  # true, annotated
        t = share.sum(axis=1)
        off = share.sum(axis=0) - np.diag(share)
        a = np.trace(share) - (t / (1 - t) * off).sum()
        p = off / ((1 - t) * (1 - a))
        theta = (1 - a) * p[:, None] + a * np.eye(len(p))
        return theta[None], {"a": np.array([a]), "p": p[None]}


def test_the_printed_step_lowers_the_likelihood_at_times_and_the_exact_one_never(build):
    falls = 0
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        t, p, a = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3)), rng.uniform(0.2, 0.8)
        rows, _ = simulated([seed, 1], 40, np.repeat((a * np.eye(3) + (1 - a) * p)[None], 4, axis=0), t, 4)
        data = design("t-a-p", build(rows, 3)).as_one_rater()
        moments, exact = (
            climb(data, family, no_prior(3), data.start, StoppingRule(60, -1.0)).objective
            for family in (Moments(True), Guessers(True))
        )
        falls += np.diff(moments).min() < -1e-4
        assert np.diff(exact).min() > -1e-8
    assert falls > 0


def test_the_printed_step_can_leave_the_range_of_an_accuracy():
    contrary = np.array([[1.0, 9.0], [9.0, 1.0]])[None]
    assert Moments(True).maximise(contrary)[1]["a"][0] < 0
    assert Guessers(True).maximise(contrary)[1]["a"][0] == 0


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_matrices_of_simulated_raters_are_recovered(n_classes, a, build):
    """1,500 cases × 5 raters: within five standard errors of the observed information."""
    t = np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2)
    confusion = np.repeat((a * np.eye(n_classes) + (1 - a) * t[::-1])[None], 5, axis=0)
    rows, _ = simulated(n_classes, 1500, confusion, t, 5)
    model, dataset = TAP(raters="common"), build(rows, n_classes)
    fit = model.fit(dataset)
    found = precision_of(model, dataset, fit, n_replicates=20)
    assert fit.converged
    assert (np.abs(fit.confusion - confusion) < 5 * found.confusion.sd).all()
    assert (np.abs(fit.prevalence - t) < 5 * found.prevalence.sd).all()
    assert found.confusion.sd.max() < 0.25


def test_raters_who_are_alike_have_the_same_parameters_of_their_own(build):
    confusion = np.repeat((0.7 * np.eye(3) + 0.1)[None], 4, axis=0)
    fit = TAP("none").fit(build(simulated(5, 6000, confusion, (0.5, 0.3, 0.2), 4)[0], 3))
    assert fit.parameters["a"] == pytest.approx([0.7] * 4, abs=0.04)  # 5 SD of 0.0075
    assert fit.parameters["p"].shape == (4, 3)
    assert (fit.parameters["t"] == fit.prevalence).all()


def test_for_two_classes_it_is_dawid_skene_of_raters_better_than_chance():
    """ā p and a stand for both error rates: the same likelihood where sens + spec > 1 for all."""
    caries = load_sample("caries")
    tap, full = TAP("none").fit(caries), DawidSkene("none").fit(caries)
    assert tap.log_likelihood == pytest.approx(full.log_likelihood, abs=1e-4)
    assert tap.confusion == pytest.approx(full.confusion, abs=1e-3)


def test_a_spammer_gets_accuracy_0_and_is_told(build):
    confusion = np.full((5, 3, 3), 0.05) + 0.85 * np.eye(3)
    confusion[4] = [0.1, 0.8, 0.1]
    fit = TAP("none").fit(build(simulated(7, 800, confusion, (0.5, 0.3, 0.2), 5)[0], 3))
    assert fit.parameters["a"][4] < 0.06 and fit.parameters["a"][:4].min() > 0.8
    assert fit.parameters["p"][4] == pytest.approx([0.1, 0.8, 0.1], abs=0.07)


def test_where_nobody_guessed_a_class_one_annotation_of_it_does_not_rule_out_the_others():
    """30 cases by three raters; without the annotation more the truth of five has a probability below 1e-7."""
    data = generated(**GENERATED["30 cases"], seed=9)
    fit = TAP().fit(data)
    pool = TAP(raters="common").fit(data).parameters["p"]
    assert pool.min() < 1e-12 and fit.parameters["p"].min() > 1e-4
    assert fit.class_probability[np.arange(30), data.gold].min() > 1e-5
