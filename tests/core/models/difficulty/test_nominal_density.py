"""The posteriors of GLAD and nominal difficulty: density by a second derivation, draws, and what a sampled fit says."""

import numpy as np
import pytest
from scipy.special import expit

from core.annotations.dataset import Dataset
from core.errors import InputError, LimitError, NotApplicableError
from core.models.catalogue import fit_request, request
from core.models.difficulty.nodes import difficulty_rule
from core.models.difficulty.nominal import NominalDifficulty
from core.models.difficulty.nominal_density import NominalDensity, pseudo_mistakes
from core.models.difficulty.nominal_summary import summarise
from core.models.nuts.densities import density_from
from tests.core.models.calibration import nominal, p_uniform, ranks
from tests.core.models.difficulty.test_nominal import crowd
from tests.core.models.rows import random_rows

MODELS = pytest.mark.parametrize("even", [True, False], ids=["GLAD", "nominal"])
SHORT = {"n_draws": 200, "n_tune": 250, "n_chains": 2}


@pytest.fixture
def tiny(build):
    """Gaps, a rater who repeats, cases with the same annotations."""
    rows = random_rows(1, n_cases=12, n_raters=3, n_classes=4)
    return build([*rows, (12, 0, 1), (12, 1, 1), (13, 1, 1), (13, 0, 1)], 4)


def log_posterior(density, u):
    """By the definition, a sum over true classes and nodes of every case; complex numbers pass through."""
    dataset, n, n_raters = density.dataset, density.n_classes, density.n_raters
    node, weight = difficulty_rule(15)
    own, (centre, log_variance, place) = u[:n_raters], u[n_raters : n_raters + 3]
    ability = own if density.even else np.exp(own)
    share = 1 / (1 + np.exp(-place))
    spread = 3 * share
    value = -((centre - (1 if density.even else 0)) ** 2) / 2 - log_variance - np.exp(-log_variance)
    value += -(spread**2) / 2 + np.log(share * (1 - share))
    value -= ((own - centre) ** 2 / np.exp(log_variance) + log_variance).sum() / 2
    pi, wrong = np.full(n, 1 / n), np.full((n, n), 1 / (n - 1)) * (1 - np.eye(n))
    if not density.even:
        x = density.basis @ u[n_raters + 3 : n_raters + 2 + n]
        pi, wrong = np.exp(x) / np.exp(x).sum(), np.zeros((n, n), u.dtype)
        value += 2 * np.log(pi).sum()
        rows = u[n_raters + 2 + n :].reshape(n, n - 2)
        for z in range(n):
            others = np.delete(np.arange(n), z)
            x = density.inner @ rows[z]
            wrong[z, others] = np.exp(x) / np.exp(x).sum()
            value += ((pseudo_mistakes(dataset)[z, others] + 1) * np.log(wrong[z, others])).sum()
    for case in range(dataset.n_cases):
        joint = pi[:, None] * weight
        for a in range(dataset.case_ptr[case], dataset.case_ptr[case + 1]):
            right = 1 / (1 + np.exp(-ability[dataset.rater[a]] * np.exp(spread * node)))
            given = dataset.answer[a]
            joint = joint * np.array([right if z == given else (1 - right) * wrong[z, given] for z in range(n)])
        value = value + np.log(joint.sum())
    return value


@MODELS
@pytest.mark.parametrize("seed", range(3))
def test_the_density_and_its_gradient_are_those_of_a_second_derivation(seed, even, tiny):
    """Differences of the density between two places; the slope by complex steps and by finite differences."""
    density = NominalDensity(tiny, even)
    rng = np.random.default_rng(seed)
    here, there = rng.standard_normal((2, density.ndim))
    here[density.n_raters + 2] = there[density.n_raters + 2] = -1.2  # wider spreads overflow in the second derivation
    there[density.n_raters + 2] -= 0.5
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


@MODELS
def test_far_out_the_density_is_finite_or_minus_infinity_and_its_gradient_is_finite(even, tiny):
    density = NominalDensity(tiny, even)
    for size in (10.0, 100.0, 1000.0):
        for sign in (1, -1):
            value, gradient = density.value_and_gradient(np.full(density.ndim, sign * size))
            assert not np.isnan(value) and np.isfinite(gradient).all()


@MODELS
def test_the_child_makes_the_same_density(even, tiny):
    density = NominalDensity(tiny, even)
    again = density_from(density.name, *density.job())
    place = np.linspace(-1, 1, density.ndim)
    assert again.value_and_gradient(place)[0] == density.value_and_gradient(place)[0]
    assert (again.simulate(place, 3) == density.simulate(place, 3)).all()


@MODELS
def test_truth_and_difficulty_of_a_case_are_sums_over_classes_and_nodes(even, tiny):
    """One draw: class probabilities by the rule's nodes, difficulty by a fine grid of the normal."""
    density = NominalDensity(tiny, even)
    draw = 0.4 * np.random.default_rng(3).standard_normal((1, density.ndim))
    spread, ability = density.spread(draw)[0], density.ability(draw)[0]
    pi, wrong = (np.exp(part[0]) for part in density.logs(draw))
    posterior = np.concatenate([part for part, _ in density.posteriors(draw)], axis=1)[0]
    value, share = density.difficulties(draw)
    x = np.linspace(-6, 6, 2001)
    for case in range(tiny.n_cases):
        joint = pi[:, None] * np.exp(-(x**2) / 2)
        for a in range(tiny.case_ptr[case], tiny.case_ptr[case + 1]):
            right, given = expit(ability[tiny.rater[a]] * np.exp(spread * x)), tiny.answer[a]
            joint *= np.array([right if z == given else (1 - right) * wrong[z, given] for z in range(4)])
        pattern = density.patterns.pattern_of_case[case]
        assert posterior[pattern] == pytest.approx(joint.sum(axis=1) / joint.sum(), abs=2e-3)  # 15 nodes
        of_node = joint.sum(axis=0) / joint.sum()
        assert share[pattern] @ value == pytest.approx(of_node @ (spread * x), abs=1e-3)
        assert share[pattern] @ value**2 == pytest.approx(of_node @ (spread * x) ** 2, abs=1e-3)


@MODELS
def test_simulated_annotations_have_the_shares_that_the_parameters_say(even, build):
    """Of 40,000 annotations on cases of their own: right by quadrature, mistakes by their row."""
    n = 40_000
    dataset = build([(case, 0, 0) for case in range(n)], 3)
    density = NominalDensity(dataset, even)
    place = np.zeros(density.ndim)
    place[0], place[3] = (1.2 if even else 0.2), -0.5
    if not even:
        place[4:] = [0.5, -0.3, 0.8, -0.6, 0.2]
    draw = place[None]
    right = density.right(draw)[0, 0]
    pi, log_w = np.exp(density.logs(draw)[0][0]), density.logs(draw)[1][0]
    wrong = np.where(np.eye(3, dtype=bool), 0, np.exp(log_w))
    expected = pi * right + (1 - right) * pi @ wrong
    shares = np.bincount(density.simulate(place, 1), minlength=3) / n
    assert shares == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(n))


@pytest.fixture(scope="module")
def sampled():
    rows, truth, hard, _ = crowd(150, 6, 4, 5, 1.0)
    names = ([f"{kind} {i}" for i in range(n)] for kind, n in (("case", 150), ("rater", 6), ("class", 4)))
    dataset = Dataset.from_classes("crowd", *names, *np.array(rows).T)
    fits = {
        even: fit_request(request("glad" if even else "nominal-difficulty", "nuts", **SHORT, seed=1), dataset)
        for even in (True, False)
    }
    return dataset, truth, hard, fits


@MODELS
def test_a_sampled_fit_has_checks_and_leave_one_out_and_is_near_the_mode(sampled, even):
    dataset, truth, hard, fits = sampled
    found, bayes = fits[even].fit, fits[even].bayes
    mode = NominalDifficulty(even).fit(dataset)
    assert found.method == "nuts" and found.model == mode.model
    assert bayes.diagnostics.rhat_max < 1.1 and bayes.diagnostics.n_divergent <= 8
    assert [check.kind for check in bayes.checks] == ["raters", "votes"] and bayes.loo.n_cases == 150
    assert np.abs(found.class_probability - mode.class_probability).mean() < 0.03
    assert found.class_probability.sum(axis=1) == pytest.approx(1) and found.confusion.sum(axis=2) == pytest.approx(1)
    assert (found.class_probability.argmax(axis=1) == truth).mean() > 0.8
    effect = found.effects[0]
    assert effect.name == "difficulty" and np.corrcoef(effect.mean, hard)[0, 1] > 0.4
    assert 0.85 < ((effect.spread.low <= hard) & (hard <= effect.spread.high)).mean() <= 1
    accuracy = found.uncertainty.accuracy
    assert (accuracy.low < found.accuracy()).all() and (found.accuracy() < accuracy.high).all()
    assert pytest.approx(np.array([found.accuracy()] * 4)) == np.diagonal(found.confusion, axis1=1, axis2=2).T
    assert bayes.quantities["difficulty_spread"].mean == pytest.approx(found.parameters["spread"][0])
    assert found.parameters["spread_low"][0] < 1.0 < found.parameters["spread_high"][0]


def test_what_chains_do_not_have_is_refused(build, monkeypatch):
    dataset = build(random_rows(1, n_cases=12, n_raters=3, n_classes=4), 4)
    for asked in ({"beta": 0.5}, {"doubt": 0.1}, {"use_gold": True}):
        with pytest.raises(InputError, match="does not support β"):
            fit_request(request("glad", "nuts", **asked), dataset)
    with pytest.raises(NotApplicableError, match="two classes"):
        NominalDifficulty().sample(build([(0, 0, 0), (0, 1, 0)], 1))
    seeded = request("glad", "map", seed=3, n_draws=10, beta=0.5)
    assert fit_request(seeded, dataset).fit.beta == 0.5
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "1000")
    with pytest.raises(LimitError, match="draws"):
        NominalDifficulty().sample(dataset)


@MODELS
def test_a_case_without_annotations_has_the_prevalence(even, build):
    """It stands in the fit, and moves nothing."""
    dataset = build([*random_rows(1, n_cases=12, n_raters=3, n_classes=3), (14, 0, 1), (14, 1, 1)], 3)
    density = NominalDensity(dataset, even)
    found = summarise(
        "nominal-difficulty", density, 0.3 * np.random.default_rng(4).standard_normal((30, density.ndim)), "nuts", 0.95
    )
    assert (np.diff(dataset.case_ptr)[12:] == [0, 0, 2]).all()
    expected = [1 / 3] * 3 if even else found.prevalence
    assert found.class_probability[13] == pytest.approx(expected)
    assert "The class probabilities of 2 cases without annotations equal the prevalence." in found.notes


def test_over_how_many_of_the_draws_class_probabilities_are_averaged_is_said(tiny):
    density = NominalDensity(tiny, True)
    draws = 0.3 * np.random.default_rng(4).standard_normal((1200, density.ndim))
    notes = summarise("glad", density, draws, "nuts", 0.95).notes
    assert notes == ("Class probabilities of cases are averages over 400 of 1,200 draws.",)
    assert summarise("glad", density, draws[:400], "nuts", 0.95).notes == ()


def test_prevalence_where_classes_count_as_equal_is_that_of_the_annotated_cases(build):
    """A case that nobody annotated says nothing of it: its classes are equally probable by GLAD."""
    rows = [(case, rater, 0 if case % 6 else 1 + rater % 2) for case in range(60) for rater in range(3)]
    dataset = build([*rows, (90, 0, 1)], 3)
    silent = np.diff(dataset.case_ptr) == 0
    density = NominalDensity(dataset, True)
    draws = 0.1 * np.random.default_rng(4).standard_normal((30, density.ndim))
    draws[:, : dataset.n_raters] += 2
    found = summarise("glad", density, draws, "nuts", 0.95)
    assert silent.sum() == 30
    assert found.prevalence == pytest.approx(found.class_probability[~silent].mean(axis=0))
    assert found.prevalence[0] > 0.7


@MODELS
def test_ranks_of_the_truth_are_uniform_in_a_small_study(even):
    """4 fits find a gross fault; tests/benchmarks/calibration_nuts.py has the long version."""
    found, divergent = ranks(nominal(even), 4, seed=3, n_draws=100, n_tune=150)
    assert divergent < 0.05
    assert min(p_uniform(rank) for rank in found.values()) > 1e-4


def test_classes_of_two_leave_no_mistake_to_choose(build):
    """The nominal model has then no coordinate of mistakes."""
    density = NominalDensity(build(random_rows(1, n_cases=12, n_raters=3, n_classes=2), 2), False)
    assert density.ndim == 3 + 3 + 1
    value, gradient = density.value_and_gradient(np.full(density.ndim, 0.2))
    assert np.isfinite(value) and (gradient != 0).all()
    assert density.logs(np.zeros((1, density.ndim)))[1][0].tolist() == [[0, 0], [0, 0]]
