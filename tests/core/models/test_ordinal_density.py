"""The posterior of the ordinal model: its density by a second derivation, its draws, and what a sampled fit says."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.ordering import with_class_order
from core.errors import InputError, NotApplicableError
from core.models.catalogue import em_model, fit_request, request
from core.models.nuts.densities import density_from
from core.models.ordinal import Ordinal, severity_sentence
from core.models.ordinal_density import MEAN, NAMES, SD, OrdinalDensity
from tests.benchmarks.ordinal_recovery import coverage
from tests.core.models.calibration import ordinal, p_uniform, ranks
from tests.core.models.rows import random_rows
from tests.core.models.test_ordinal import panel

SHORT = {"n_draws": 200, "n_tune": 200, "n_chains": 2}


def ordered(dataset):
    return with_class_order(dataset, dataset.classes)


@pytest.fixture
def tiny(build):
    return ordered(build(random_rows(1, n_cases=12, n_raters=3, n_classes=4), 4))


def log_posterior(density, u):
    """By the definition, a sum over the true classes of every case; complex numbers pass through."""
    dataset, n = density.dataset, density.n_classes
    x = density.basis @ u[: n - 1]
    pi = np.exp(x) / np.exp(x).sum()
    own = MEAN + SD * u[n - 1 :].reshape(-1, 3)
    value = 2 * np.log(pi).sum() - (u[n - 1 :] ** 2).sum() / 2
    k = np.arange(n)
    tables = []
    for severity, log_spread, logit in own:
        near = np.exp(-((k[None, :] - k[:, None] - severity) ** 2) / (2 * np.exp(2 * log_spread)))
        slip = 1 / (1 + np.exp(-logit))
        tables.append((1 - slip) * near / near.sum(axis=1, keepdims=True) + slip * density.guess)
    for case in range(dataset.n_cases):
        of_case = pi.copy()
        for a in dataset.annotations_of(case):
            of_case = of_case * tables[dataset.rater[a]][:, dataset.answer[a]]
        value = value + np.log(of_case.sum())
    return value


@pytest.mark.parametrize("seed", range(3))
def test_the_density_and_its_gradient_are_those_of_a_second_derivation(seed, tiny):
    """Differences of the density between two places; the slope by complex steps, which lose no digits."""
    density = OrdinalDensity(tiny)
    rng = np.random.default_rng(seed)
    here, there = rng.standard_normal((2, density.ndim))
    value, gradient = density.value_and_gradient(here)
    apart = (log_posterior(density, here) - log_posterior(density, there)).real
    assert value - density.value_and_gradient(there)[0] == pytest.approx(apart, abs=1e-9)
    slope = [log_posterior(density, here + 1e-30j * unit).imag / 1e-30 for unit in np.eye(density.ndim)]
    assert gradient == pytest.approx(np.array(slope), abs=1e-9)
    differences = [
        (density.value_and_gradient(here + step)[0] - density.value_and_gradient(here - step)[0]) / 2e-5
        for step in 1e-5 * np.eye(density.ndim)
    ]
    assert gradient == pytest.approx(np.array(differences), abs=1e-5)


def test_far_out_the_density_is_finite_or_minus_infinity_and_its_gradient_is_finite(tiny):
    density = OrdinalDensity(tiny)
    for size in (10.0, 100.0, 1000.0):
        for sign in (1, -1):
            value, gradient = density.value_and_gradient(np.full(density.ndim, sign * size))
            assert not np.isnan(value) and np.isfinite(gradient).all()


def test_the_child_makes_the_same_density(tiny):
    density = OrdinalDensity(tiny)
    again = density_from(density.name, *density.job())
    place = np.linspace(-1, 1, density.ndim)
    assert again.value_and_gradient(place)[0] == density.value_and_gradient(place)[0]
    assert (again.simulate(place, 3) == density.simulate(place, 3)).all()


@pytest.fixture(scope="module")
def sampled():
    rows, own, truth = panel(150, 6, 4, 3, severe=0.9)
    names = ([f"{kind} {i}" for i in range(n)] for kind, n in (("case", 150), ("rater", 6), ("class", 4)))
    dataset = ordered(Dataset.from_classes("panel", *names, *np.array(rows).T))
    return dataset, own, truth, fit_request(request("ordinal", "nuts", **SHORT, seed=1), dataset)


def test_a_sampled_fit_has_raters_checks_and_leave_one_out_and_is_near_the_mode(sampled):
    dataset, own, _, fitted = sampled
    found, bayes, mode = fitted.fit, fitted.bayes, Ordinal().fit(dataset)
    assert found.method == "nuts" and bayes.diagnostics.rhat_max < 1.05 and bayes.diagnostics.n_divergent <= 2
    assert [check.kind for check in bayes.checks] == ["raters", "votes"] and bayes.loo.n_cases == 150
    for name in ("severity", "spread", "slip"):
        low, at, high = (found.parameters[f"{name}{end}"] for end in ("_low", "", "_high"))
        assert (low < at).all() and (at < high).all()
        assert bayes.quantities[name].mean == pytest.approx(at)
    inside = (found.parameters["severity_low"] < own[:, 0]) & (own[:, 0] < found.parameters["severity_high"])
    assert inside.sum() >= 5
    assert np.abs(found.class_probability - mode.class_probability).mean() < 0.05
    assert found.parameters["severity_low"][0] > 0
    furthest = found.raters[int(np.abs(found.parameters["severity"]).argmax())]
    assert f"(false discovery rate 0.05): {furthest} rates" in severity_sentence(found)
    for name in NAMES:  # of the mode, by a short chain on the same posterior
        for end in ("low", "high"):
            assert mode.parameters[f"{name}_{end}"] == pytest.approx(found.parameters[f"{name}_{end}"], abs=0.25)
    assert found.uncertainty.method == "posterior"


def test_what_chains_do_not_have_is_refused_and_what_belongs_to_them_does_not_disturb_the_mode(build):
    dataset = ordered(build(random_rows(1, n_cases=12, n_raters=3, n_classes=4), 4))
    for asked in ({"beta": 0.5}, {"doubt": 0.1}, {"temper_prevalence": True}, {"use_gold": True}):
        with pytest.raises(InputError, match="does not support β"):
            fit_request(request("ordinal", "nuts", **asked), dataset)
    with pytest.raises(NotApplicableError, match="order"):
        Ordinal().sample(replace(dataset, ordinal=False))
    seeded = request("ordinal", "em", seed=3, n_draws=10, beta=0.5)
    assert em_model(seeded) == Ordinal(beta=0.5)
    assert fit_request(seeded, dataset).fit.beta == 0.5


def test_intervals_of_a_small_study_hold_most_of_what_panels_were_made_with():
    """2 panels, 12 intervals a kind; tests/benchmarks/ordinal_recovery.py has the long version."""
    found = coverage(2, n_draws=120, n_tune=150)
    assert set(found) == {f"{name}, NUTS" for name in (*NAMES, "prevalence")} | {f"{name}, mode" for name in NAMES}
    assert min(share for share, _ in found.values()) > 0.6 and min(width for _, width in found.values()) > 0


def test_ranks_of_the_truth_are_uniform_in_a_small_study():
    """8 fits find a gross fault; tests/benchmarks/calibration_nuts.py has the long version."""
    found, divergent = ranks(ordinal, 8, seed=3, n_draws=100, n_tune=150)
    assert divergent < 0.01
    assert min(p_uniform(rank) for rank in found.values()) > 1e-4
