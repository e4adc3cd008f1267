import numpy as np
import pytest
from scipy.stats import dirichlet, norm

from core.agreement.coefficients import fleiss_kappa
from core.errors import NotApplicableError
from core.models.bayesian_dawid_skene import BayesianDawidSkene
from core.models.confusion_density import contrasts
from core.models.dawid_skene import DawidSkene
from core.models.hierarchical import HierarchicalDawidSkene
from core.models.joint import kappa_check, pair_table
from core.models.nuts.densities import density_from
from core.models.patterns import collapse
from core.models.tap import TAP
from tests.core.models.confusion_examples import answers_of_cases, case_probabilities, log_likelihood, softmax
from tests.core.models.rows import random_rows, simulated

MODELS = [
    BayesianDawidSkene(),
    BayesianDawidSkene(1.3, 4.0, 0.7),
    HierarchicalDawidSkene(),
    HierarchicalDawidSkene(cooperative=False),
]
IDS = ["dawid-skene", "dawid-skene, other priors", "hierarchical", "hierarchical, names free"]


@pytest.fixture(params=[2, 3, 4])
def dataset(request, build):
    """Gaps, repeated annotations, a case and a rater without annotations, a class that nobody used, equal patterns."""
    n_classes = request.param
    rng = np.random.default_rng(n_classes)
    rows = [(case, rater, int(rng.integers(n_classes - (n_classes > 2)))) for case in range(12) for rater in range(3)]
    rows = [row for row in rows if rng.uniform() < 0.8] + [(3, 0, 0), (3, 0, 0), (3, 0, 1), (13, 1, 1)]
    rows += [(case, rater, 0) for case in (14, 15, 16) for rater in (2, 0)]
    return build(rows, n_classes, n_cases=17, n_raters=4)


def points(density, count=3):
    return np.random.default_rng(8).normal(scale=1.2, size=(count, density.ndim))


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_gradients_are_those_of_central_differences(model, dataset):
    density = model.density(dataset)
    for theta in points(density):
        _, gradient = density.value_and_gradient(theta)
        step = 1e-5
        for d, unit in enumerate(np.eye(density.ndim)):
            up = density.value_and_gradient(theta + step * unit)[0]
            down = density.value_and_gradient(theta - step * unit)[0]
            assert gradient[d] == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=2e-6)


def reference_dirichlet(density, dataset, theta):
    """Log likelihood, Dirichlet densities, and the Jacobian by differences of the map to the first K - 1 of a row."""
    n = dataset.n_classes
    rows = softmax(theta.reshape(-1, n - 1) @ contrasts(n).T)
    value = log_likelihood(dataset, rows[0], rows[1:].reshape(-1, n, n))
    priors = [density.prevalence_prior, *np.tile(density.row_prior, (dataset.n_raters, 1))]
    for free, row, prior in zip(theta.reshape(-1, n - 1), rows, priors, strict=True):
        value += dirichlet.logpdf(row / row.sum(), prior)
        step = 1e-6 * np.eye(n - 1)
        sides = [softmax((free + sign * step) @ contrasts(n).T)[:, :-1] for sign in (1, -1)]
        value += np.linalg.slogdet((sides[0] - sides[1]) / 2e-6)[1]
    return value


def reference_hierarchical(density, dataset, theta):
    """Log likelihood, normals, half-normals, Jacobians of ln τ and of the cut μ, Dirichlet of the prevalence."""
    n = dataset.n_classes
    free, mu, log_tau, eps = np.split(theta, np.cumsum([n - 1, n * n, n * n]))
    mu, tau, eps = mu.reshape(n, n), np.exp(log_tau).reshape(n, n), eps.reshape(-1, n, n)
    jacobian = 0.0
    if density.cooperative:
        right, off = np.diagonal(mu)[:, None], ~np.eye(n, dtype=bool)
        jacobian = -np.log1p(np.exp(-mu[off])).sum()
        mu = np.where(off, right - np.log1p(np.exp(mu)), mu)
    prevalence = softmax(free @ contrasts(n).T)
    value = jacobian + log_likelihood(dataset, prevalence, softmax(mu + tau * eps))
    value += norm.logpdf(mu, 2 * np.eye(n), 1.5).sum() + norm.logpdf(eps).sum()
    value += (norm.logpdf(tau) + np.log(2) + log_tau.reshape(n, n)).sum()
    return value + dirichlet.logpdf(prevalence, np.full(n, 2.0)) + np.log(prevalence).sum()


@pytest.mark.parametrize(
    ("model", "reference"),
    [*zip(MODELS, 2 * [reference_dirichlet] + 2 * [reference_hierarchical], strict=True)],
    ids=IDS,
)
def test_the_density_is_likelihood_times_priors_times_jacobian(model, reference, dataset):
    """Up to one constant: differences between points are compared."""
    density = model.density(dataset)
    thetas = points(density, 4)
    ours = np.array([density.value_and_gradient(theta)[0] for theta in thetas])
    theirs = np.array([reference(density, dataset, theta) for theta in thetas])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_patterns_tell_the_probability_of_every_case(model, dataset):
    density = model.density(dataset)
    draws = points(density)
    place = density.patterns.pattern_of_case
    found = density.log_likelihood(draws)
    posterior = np.concatenate([part for part, _ in density.posteriors(draws)], axis=1)
    drawn = density.quantities(draws)
    for d in range(len(draws)):
        joint = case_probabilities(dataset, drawn["prevalence"][d], drawn["confusion"][d])
        np.testing.assert_allclose(found[d, place], np.log(joint.sum(axis=1)), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(posterior[d, place], joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


def test_cases_share_a_pattern_when_they_have_the_same_answers(dataset):
    patterns = collapse(dataset.case_ptr, dataset.rater, dataset.answer, dataset.n_classes)
    keys = [tuple(sorted(answers)) for answers in answers_of_cases(dataset)]
    together = np.array([[a == b for a in keys] for b in keys])
    np.testing.assert_array_equal(patterns.pattern_of_case[:, None] == patterns.pattern_of_case[None], together)
    np.testing.assert_array_equal(np.bincount(patterns.pattern_of_case), patterns.count)
    assert patterns.cell.size == sum(len(key) for key in set(keys))


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_the_child_gets_the_same_density(model, dataset):
    density = model.density(dataset)
    theta = points(density, 1)[0]
    again = density_from(density.name, *density.job())
    value, gradient = again.value_and_gradient(theta)
    assert value == density.value_and_gradient(theta)[0]
    np.testing.assert_array_equal(gradient, density.value_and_gradient(theta)[1])


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@pytest.mark.parametrize("size", [1e4, 1e307, np.inf, np.nan])
def test_far_out_the_density_is_minus_infinity_or_right_and_never_raises(model, dataset, size):
    density = model.density(dataset)
    value, gradient = density.value_and_gradient(size * points(density, 1)[0])
    assert np.isfinite(gradient).all()
    assert np.isfinite(value) or (value == -np.inf and not gradient.any())


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_replicates_have_the_frequencies_of_the_model(model, build):
    """Annotations of one rater on 40,000 cases: P(annotation) = Σ_k π_k θ_k, within five standard errors."""
    n_cases = 40_000
    dataset = build([(i, 0, i % 3) for i in range(n_cases)], 3)
    density = model.density(dataset)
    theta = points(density, 1)[0]
    drawn = density.quantities(theta[None])
    expected = drawn["prevalence"][0] @ drawn["confusion"][0, 0]
    found = np.bincount(density.simulate(theta, seed=1), minlength=3) / n_cases
    assert np.abs(found - expected).max() < 5 * np.sqrt(0.25 / n_cases)
    np.testing.assert_array_equal(density.simulate(theta, seed=1), density.simulate(theta, seed=1))
    assert (density.simulate(theta, seed=1) != density.simulate(theta, seed=2)).any()


def test_answers_of_one_case_share_its_truth(build):
    """With perfect raters all annotations on a case are the same."""
    dataset = build([(i, j, i % 2) for i in range(200) for j in range(3)], 2)
    density = BayesianDawidSkene().density(dataset)
    theta = density.vote_start(np.log([0.5, 0.5]), np.tile(np.log([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]]), (3, 1, 1)))
    made = density.simulate(theta, seed=3).reshape(200, 3)
    assert (made == made[:, :1]).all() and 60 < made[:, 0].sum() < 140


def test_contrasts_are_orthonormal_and_sum_to_nothing():
    for n in (2, 3, 7):
        basis = contrasts(n)
        np.testing.assert_allclose(basis.T @ basis, np.eye(n - 1), atol=1e-12)
        np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)


# Joint: Kappa against accuracy, and tables of a fit beside the counted ones.


def unbiased(seed, n_classes, a, n_cases, build):
    """Five raters per case whose guesses are distributed like the truth."""
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.full(n_classes, 3.0))
    truth = rng.choice(n_classes, n_cases, p=t)
    knows = rng.random((n_cases, 5)) < a
    answer = np.where(knows, truth[:, None], rng.choice(n_classes, (n_cases, 5), p=t))
    case, rater = np.indices(answer.shape)
    return build(list(zip(case.ravel(), rater.ravel(), answer.ravel(), strict=True)), n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_kappa_of_unbiased_raters_is_the_square_of_their_accuracy(n_classes, a, build):
    """Eubanks, Kappa Zoo, chapter 9, section 2; four standard deviations of kappa at 20,000 cases."""
    dataset = unbiased(n_classes, n_classes, a, 20_000, build)
    assert fleiss_kappa(dataset).value == pytest.approx(a * a, abs=0.016)


@pytest.mark.parametrize("seed", range(3))
def test_the_expected_kappa_of_common_raters_is_the_closed_form(seed, build):
    fit = TAP("none", raters="common").fit(dataset := build(random_rows(seed), 3))
    a, p, t = fit.parameters["a"][0], fit.parameters["p"][0], fit.parameters["t"]
    c = a * t + (1 - a) * p
    check = kappa_check(dataset, fit)
    assert check.expected == pytest.approx(a * a * (1 - t @ t) / (1 - c @ c), abs=1e-9)
    assert check.a_squared == pytest.approx(a * a, abs=1e-9)
    assert check.observed == fleiss_kappa(dataset).value
    pairs = pair_table(dataset, fit)
    assert pairs.expected == pytest.approx(np.outer(c, c) + a * a * (np.diag(t) - np.outer(t, t)), abs=1e-12)


def test_a_fit_of_its_own_model_meets_kappa(build):
    """20,000 cases, biased raters: what is expected lies within the interval of what is observed."""
    t, p = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.2, 0.7])
    confusion = np.repeat((0.6 * np.eye(3) + 0.4 * p)[None], 5, axis=0)
    dataset = build(simulated(3, 8000, confusion, t, 5)[0], 3)
    check = kappa_check(dataset, TAP(raters="common").fit(dataset))
    assert check.low - 0.005 < check.expected < check.high + 0.005
    assert abs(check.a_squared - check.observed) > 0.03  # biased raters: kappa is not a²


def test_tables_against_counting_pair_by_pair(build):
    rows = random_rows(4, n_cases=12)
    dataset = build(rows, 3, 12, 4)
    fit = DawidSkene("none").fit(dataset)
    observed, expected, n_cases = np.zeros((3, 3)), np.zeros((3, 3)), 0
    for case in range(12):
        mine = [(rater, answer) for c, rater, answer in rows if c == case]
        pairs = [(one, two) for i, one in enumerate(mine) for j, two in enumerate(mine) if i != j]
        n_cases += bool(pairs)
        for (r, k), (s, m) in pairs:
            observed[k, m] += 1 / len(pairs)
            for true in range(3):
                expected += fit.prevalence[true] * np.outer(fit.confusion[r, true], fit.confusion[s, true]) / len(pairs)
    table = pair_table(dataset, fit)
    assert table.n_cases == n_cases
    assert table.observed == pytest.approx(observed / n_cases, abs=1e-12)
    assert table.expected == pytest.approx(expected / n_cases, abs=1e-12)


def test_without_pairs_or_accuracies_there_is_nothing_to_compare(build):
    dataset = build(random_rows(1), 3)
    fit = DawidSkene("none").fit(dataset)
    with pytest.raises(NotApplicableError, match="dawid-skene"):
        kappa_check(dataset, fit)
    with pytest.raises(NotApplicableError, match="pairs cannot be compared"):
        pair_table(build([(0, 0, 0), (1, 1, 0)], 3), fit)
