"""Gaussian scores against worked numbers, integration of prior times likelihood, and Student's distributions."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import dblquad, simpson
from scipy.optimize import minimize

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.plausibility.gaussian import GaussianScores, score_statistics
from core.plausibility.gaussian_prior import BOUNDS, fit_prior, log_marginal
from core.reducers.protocol import reduce_draws
from core.reducers.sets import TopSets

N = 20_000
EXAMPLE = [1.0, 0.0, -1.0, 2.0, 1.0]
PRIOR = (0.3, 0.5, 2.0, 1.5)
MODEL = GaussianScores(0.0, *PRIOR)


def scored(cases):
    """A dataset from one list of scores per case, one rater for each."""
    rows = [(case, rater, score) for case, given in enumerate(cases) for rater, score in enumerate(given)]
    case, rater, score = (np.array(column) for column in zip(*rows, strict=True))
    return Dataset.from_scores(
        "test",
        [f"case {i}" for i in range(len(cases))],
        [f"rater {i}" for i in range(rater.max() + 1)],
        case,
        rater,
        score,
    )


def simulated(seed, m0, k0, a0, b0, n_cases=6000, most=9):
    rng = np.random.default_rng(seed)
    variance = b0 / rng.gamma(a0, size=n_cases)
    mean = rng.normal(m0, np.sqrt(variance / k0))
    n = rng.integers(0, most + 1, n_cases)
    case = np.repeat(np.arange(n_cases), n)
    score = rng.normal(mean[case], np.sqrt(variance[case]))
    rater = np.arange(len(case)) % 50
    return Dataset.from_scores(
        "test", [str(i) for i in range(n_cases)], [str(i) for i in range(50)], case, rater, score
    )


def drawn(model, dataset, case=0, *, reliability=1.0, n_draws=N, seed=1):
    ((_, draws),) = model.draws(
        dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(case, case + 1)
    )
    return draws


def by_integration(scores, threshold, prior, reliability):
    """P(μ ≤ t) and P(y ≤ t) from prior times likelihood to the power γ, over μ and ln σ²."""
    m0, k0, a0, b0 = prior
    log_variance = np.linspace(-7, 12, 401)[:, None]
    variance = np.exp(log_variance)
    parts = []
    for mu in (np.linspace(threshold - 25, threshold, 2001), np.linspace(threshold, threshold + 25, 2001)):
        log_density = stats.norm.logpdf(mu, m0, np.sqrt(variance / k0)) + log_variance
        log_density += stats.invgamma.logpdf(variance, a0, scale=b0)
        for score in scores:
            log_density += reliability * stats.norm.logpdf(score, mu, np.sqrt(variance))
        share = stats.norm.cdf((threshold - mu) / np.sqrt(variance))
        parts += [
            simpson(simpson(np.exp(log_density) * values, mu, axis=1), log_variance[:, 0]) for values in (1.0, share)
        ]
    total = parts[0] + parts[2]
    return parts[0] / total, (parts[1] + parts[3]) / total


def test_the_worked_example_has_its_certainty_and_its_predictive_share():
    posterior = MODEL.posterior(scored([EXAMPLE]))
    assert posterior.at_most[0] == pytest.approx(0.0970, abs=5e-5)
    assert posterior.predictive[0] == pytest.approx(0.2977, abs=5e-5)
    assert posterior.certainty[0] == pytest.approx(1 - posterior.at_most[0], rel=1e-14)


@pytest.mark.parametrize(
    ("scores", "threshold", "prior", "reliability"),
    [
        (EXAMPLE, 0.0, PRIOR, 1.0),
        (EXAMPLE, 0.0, PRIOR, 1.7),
        ([0.5], 0.2, (0.0, 1.0, 3.0, 2.0), 1.0),
        ([0.5], 0.2, (0.0, 1.0, 3.0, 2.0), 0.4),
        ([0.5], 0.2, (0.0, 1.0, 3.0, 2.0), 2.5),
        ([4.0, 6.5, 5.5], 5.0, (4.5, 2.0, 2.5, 1.0), 0.4),
        ([4.0, 4.0, 4.0], 4.0, (4.5, 2.0, 2.5, 1.0), 1.0),
        ([4.0, 6.0, 4.0, 6.0], 5.0, (4.5, 2.0, 2.5, 1.0), 2.5),
    ],
)
def test_the_posterior_is_prior_times_likelihood_to_the_power_of_the_reliability(scores, threshold, prior, reliability):
    posterior = GaussianScores(threshold, *prior).posterior(scored([scores]), reliability)
    at_most, predictive = by_integration(scores, threshold, prior, reliability)
    assert posterior.at_most[0] == pytest.approx(at_most, abs=5e-6)
    assert posterior.predictive[0] == pytest.approx(predictive, abs=5e-6)


@pytest.mark.parametrize(
    ("scores", "reliability"), [([0.5], 0.4), ([0.5], 1.0), ([4.0, 4.0, 4.0], 1.0), (EXAMPLE, 0.4), (EXAMPLE, 2.5)]
)
def test_density_and_interval_of_the_mean_score_are_prior_times_likelihood_integrated_over_the_variance(
    scores, reliability
):
    m0, k0, a0, b0 = PRIOR
    posterior = MODEL.posterior(scored([scores]), reliability)
    mu = np.linspace(-40, 40, 4001)
    log_variance = np.linspace(-8, 14, 441)[:, None]
    sd = np.exp(log_variance / 2)
    log_density = stats.norm.logpdf(mu, m0, sd / np.sqrt(k0)) + log_variance
    log_density += stats.invgamma.logpdf(sd**2, a0, scale=b0)
    for score in scores:
        log_density += reliability * stats.norm.logpdf(score, mu, sd)
    density = simpson(np.exp(log_density), log_variance[:, 0], axis=0)
    density /= simpson(density, mu)
    assert posterior.density(0, mu) == pytest.approx(density, rel=1e-3, abs=1e-5)
    (low,), (high,) = posterior.interval()
    for ends, held in (((-40, low), 0.025), ((low, high), 0.95), ((high, 40), 0.025)):
        within = np.linspace(*ends, 2001)
        assert simpson(np.interp(within, mu, density), within) == pytest.approx(held, abs=2e-4)


def test_a_whole_reliability_counts_every_score_so_often():
    thrice, once = MODEL.posterior(scored([EXAMPLE]), 3.0), MODEL.posterior(scored([EXAMPLE * 3]))
    for name in ("m", "k", "a", "b", "at_most", "predictive"):
        assert getattr(thrice, name) == pytest.approx(getattr(once, name), rel=1e-13)


def test_with_more_raters_certainty_tends_to_1_and_the_predictive_share_does_not():
    """It tends to the share of scores at most the threshold under the normal distribution of the case."""
    posterior = MODEL.posterior(scored([EXAMPLE]), 1e6)
    assert posterior.certainty[0] == pytest.approx(1, abs=1e-12)
    expected = stats.norm.cdf(-np.mean(EXAMPLE) / np.std(EXAMPLE))
    assert posterior.predictive[0] == pytest.approx(expected, abs=1e-5)


def test_a_case_without_scores_has_the_prior():
    m0, k0, a0, b0 = PRIOR
    dataset = Dataset.from_scores("test", ["a", "b"], ["x"], np.array([1]), np.array([0]), np.array([2.0]))
    posterior = MODEL.posterior(dataset)
    expected = stats.t.cdf(-m0 / np.sqrt(b0 / (a0 * k0)), 2 * a0)
    assert (posterior.m[0], posterior.k[0], posterior.a[0], posterior.b[0]) == pytest.approx(PRIOR)
    assert posterior.at_most[0] == pytest.approx(expected, rel=1e-12)
    assert abs(drawn(MODEL, dataset).share[:, 0].mean() - posterior.predictive[0]) < 4.5 * 0.5 / np.sqrt(N)


@pytest.mark.parametrize("reliability", [0.4, 1.0, 5.0])
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 0.9])
def test_draws_have_the_closed_forms_of_certainty_and_predictive_share(threshold, reliability):
    """λ of the first class is above ½ where μ ≤ t, and its mean is the predictive share."""
    model, dataset = GaussianScores(threshold, *PRIOR), scored([EXAMPLE])
    posterior = model.posterior(dataset, reliability)
    draws = drawn(model, dataset, reliability=reliability)
    p = posterior.at_most[0]
    first = (draws.share[:, 0] < draws.share[:, 1]).astype(int)
    assert abs(np.mean(first == 0) - p) < 4.5 * np.sqrt(p * (1 - p) / N)
    assert abs(draws.share[:, 0].mean() - posterior.predictive[0]) < 4.5 * draws.share[:, 0].std() / np.sqrt(N)
    assert draws.share.sum(axis=1) == pytest.approx(np.ones(N), abs=1e-14)
    assert draws.classes.tolist() == [0, 1] and draws.n_rest == 0 and draws.ess == N
    assert not draws.rest.any()
    assert (draws.top == np.column_stack([first, 1 - first, np.full(N, -1)])).all()


def test_draws_follow_the_distribution_of_the_standardised_threshold():
    """P(Φ((t − μ)/σ) ≤ u) by integration over σ² alone: given it, (t − μ)/σ is normal."""
    model, dataset = GaussianScores(0.4, *PRIOR), scored([EXAMPLE])
    posterior = model.posterior(dataset)
    m, k, a, b = (float(getattr(posterior, name)[0]) for name in "mkab")
    grid = stats.gamma.ppf((np.arange(4000) + 0.5) / 4000, a, scale=1 / b)  # 1/σ² at equal probabilities
    draws = drawn(model, dataset).share[:, 0]

    def distribution(u):
        return np.array(
            [stats.norm.cdf((stats.norm.ppf(v) - (0.4 - m) * np.sqrt(grid)) * np.sqrt(k)).mean() for v in u]
        )

    assert stats.kstest(draws[:4000], distribution).pvalue > 1e-4


def test_certainty_from_draws_is_the_closed_form(build):
    dataset = scored([EXAMPLE, [3.0, 2.5, 4.0], [-1.0], [0.1, -0.1, 0.3, 0.2]])
    (state,) = reduce_draws(MODEL, dataset, [TopSets()], reliability=2.0, n_draws=N, seed=4)
    exact = MODEL.posterior(dataset, 2.0).certainty
    assert (np.abs(state.frequency[:, 0] - exact) < 4.5 * np.sqrt(exact * (1 - exact) / N)).all()
    assert state.members[:, 0, 0].tolist() == [1, 1, 0, 1]
    assert MODEL.classes == dataset.as_classes(0.0)[0].classes


def test_point_shares_are_the_predictive_shares_of_both_classes():
    dataset = scored([EXAMPLE, [3.0, 2.5]])
    ptr, codes, shares = MODEL.point_shares(dataset)
    assert ptr.tolist() == [0, 2, 4] and codes.tolist() == [0, 1, 0, 1]
    assert shares[::2] == pytest.approx(MODEL.posterior(dataset).predictive)
    assert shares[::2] + shares[1::2] == pytest.approx(np.ones(2), abs=1e-15)


def test_a_case_is_drawn_alike_whatever_chunk_cases_and_raters_are_there():
    rng = np.random.default_rng(0)
    cases = [rng.normal(size=rng.integers(1, 6)).tolist() for _ in range(10)]
    dataset = scored(cases)
    ask = {"reliability": 1.5, "n_draws": 30, "seed": 9}
    every = dict(MODEL.draws(dataset, **ask))
    for part in (range(4, 7), range(1, 10, 3), range(8, 2, -2), range(0)):
        found = dict(MODEL.draws(dataset, **ask, cases=part))
        assert list(found) == list(part)
        assert all((found[case].share == every[case].share).all() for case in part)
    alone = dict(MODEL.draws(dataset.select(cases=["case 5"]), **ask))
    assert (alone[0].share == every[5].share).all()
    assert not (every[4].share == every[5].share).any()
    assert not (drawn(MODEL, dataset, 5, seed=8).share == drawn(MODEL, dataset, 5, seed=9).share).any()
    whole, part = MODEL.posterior(dataset, 2.0), MODEL.posterior(dataset, 2.0, range(3, 6))
    assert (part.certainty == whole.certainty[3:6]).all()


def test_the_order_of_raters_does_not_matter():
    ours, theirs = MODEL.posterior(scored([EXAMPLE])), MODEL.posterior(scored([EXAMPLE[::-1]]))
    assert ours.certainty == pytest.approx(theirs.certainty, rel=1e-13)


@pytest.mark.parametrize(("a0", "b0"), [(1e-9, 1e-9), (1e-9, 1e9), (1e9, 1e-9)])
def test_extreme_priors_give_finite_shares_that_sum_to_1(a0, b0):
    model = GaussianScores(0.0, 0.3, 1e-9, a0, b0)
    dataset = Dataset.from_scores("test", ["a", "b"], ["x"], np.array([1]), np.array([0]), np.array([2.0]))
    for case in (0, 1):
        draws = drawn(model, dataset, case, n_draws=500)
        assert np.isfinite(draws.share).all()
        assert draws.share.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-12)


def test_statistics_of_a_case_are_its_number_mean_and_squares():
    cases = [EXAMPLE, [3.0], [2.0, 4.0]]
    statistics = score_statistics(scored(cases))
    assert statistics.n.tolist() == [5, 1, 2]
    assert statistics.mean == pytest.approx([np.mean(case) for case in cases])
    assert statistics.squares == pytest.approx([np.var(case) * len(case) for case in cases])


def test_the_marginal_likelihood_of_a_case_is_a_multivariate_student_density():
    """Location m0, shape b0/a0 (I + 11ᵀ/κ0), 2 a0 degrees of freedom."""
    m0, k0, a0, b0 = PRIOR
    cases = [EXAMPLE, [3.0], [2.0, 2.0]]
    expected = sum(
        stats.multivariate_t.logpdf(case, np.full(len(case), m0), b0 / a0 * (np.eye(len(case)) + 1 / k0), df=2 * a0)
        for case in cases
    )
    assert log_marginal(score_statistics(scored(cases)), *PRIOR)[0] == pytest.approx(expected, rel=1e-12)


def test_the_marginal_likelihood_of_two_scores_is_the_integral_over_mean_and_variance():
    m0, k0, a0, b0 = PRIOR

    def density(mu, log_variance):
        variance = np.exp(log_variance)
        return (
            stats.norm.pdf(mu, m0, np.sqrt(variance / k0))
            * stats.invgamma.pdf(variance, a0, scale=b0)
            * variance
            * stats.norm.pdf(1.0, mu, np.sqrt(variance))
            * stats.norm.pdf(-0.5, mu, np.sqrt(variance))
        )

    exact, _ = dblquad(density, -5, 9, -15, 15, epsabs=1e-7)
    found, _ = log_marginal(score_statistics(scored([[1.0, -0.5]])), *PRIOR)
    assert np.exp(found) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("place", [(0.3, -0.7, 0.7, 0.4), (-1.0, 2.0, -2.0, -3.0), (2.0, -3.0, 3.0, 1.0)])
def test_the_gradient_of_the_marginal_likelihood_is_that_of_central_differences(place):
    statistics = score_statistics(simulated(0, 1.0, 0.7, 3.0, 2.0, n_cases=60))

    def value(at):
        return log_marginal(statistics, at[0], *np.exp(at[1:]))

    _, gradient = value(np.array(place))
    for i, step in enumerate(np.eye(4) * 1e-5):
        slope = (value(place + step)[0] - value(place - step)[0]) / 2e-5
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("prior", [(1.0, 0.7, 3.0, 2.0), (-40.0, 5.0, 1.2, 300.0), (0.002, 0.1, 8.0, 1e-4)], ids=str)
def test_empirical_bayes_finds_the_prior_that_scores_were_simulated_from(prior):
    """Within 15%, and the mean within 4.5 of its standard errors; the fit is at least as likely as the truth."""
    dataset = simulated(1, *prior)
    fit = fit_prior(dataset)
    statistics = score_statistics(dataset)
    assert fit.converged and fit.at_bounds == ()
    assert np.array([fit.k0, fit.a0, fit.b0]) == pytest.approx(prior[1:], rel=0.15)
    n_cases = int((statistics.n > 0).sum())
    spread = np.sqrt(stats.invgamma.mean(prior[2], scale=prior[3]) * (1 / prior[1] + 1))  # of a case's mean, at most
    assert abs(fit.m0 - prior[0]) < 4.5 * spread / np.sqrt(n_cases)
    assert fit.log_likelihood > log_marginal(statistics, *prior)[0]
    assert fit.log_likelihood == pytest.approx(log_marginal(statistics, fit.m0, fit.k0, fit.a0, fit.b0)[0], rel=1e-10)
    assert (fit.n_cases, fit.n_scores) == (n_cases, dataset.n_annotations)


@pytest.mark.parametrize(("spread", "alike"), [(0.0, True), (0.1, True), (0.35, False), (2.0, False)])
def test_scores_that_tell_no_cases_apart_are_told_as_that(spread, alike):
    """Noise of sd 1 and four scores a case; their intervals are narrow for being drawn to one mean."""
    rng = np.random.default_rng(3)
    score = 5 + rng.normal(0, spread, (300, 1)) + rng.normal(0, 1, (300, 4))
    fit = fit_prior(scored(score.tolist()))
    assert bool(fit.alike()) == alike == (fit.k0 > 36)
    if alike:
        assert f"close to the overall mean, {fit.m0:.2f}, and its interval is narrow" in fit.alike()


@pytest.mark.parametrize("seed", range(8))
def test_empirical_bayes_never_ends_below_its_start(seed):
    """On small and awkward data: few cases, whole-numbered scores, many of them equal."""
    rng = np.random.default_rng(seed)
    n_cases = int(rng.integers(2, 30))
    cases = [np.round(rng.normal(2 * rng.normal(), 0.8, rng.integers(1, 6))).tolist() for _ in range(n_cases)]
    fit = fit_prior(scored([[0.0, 1.0], *cases]))
    assert fit.log_likelihood >= fit.start_log_likelihood
    assert np.isfinite([fit.m0, fit.k0, fit.a0, fit.b0, fit.log_likelihood]).all()


def test_empirical_bayes_is_as_likely_as_what_a_search_without_gradients_finds():
    dataset = simulated(3, 0.5, 0.4, 2.0, 1.0, n_cases=150)
    statistics = score_statistics(dataset)
    other = minimize(
        lambda at: -log_marginal(statistics, at[0], *np.exp(at[1:]))[0],
        np.zeros(4),
        method="Nelder-Mead",
        options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-7, "fatol": 1e-9},
    )
    assert fit_prior(dataset).log_likelihood == pytest.approx(-other.fun, abs=1e-5)


def test_empirical_bayes_follows_the_units_of_the_scores():
    dataset = simulated(4, 0.5, 0.4, 2.0, 1.0, n_cases=400)
    moved = Dataset.from_scores(
        "test",
        dataset.cases,
        dataset.raters,
        dataset.case_of_annotation,
        dataset.rater,
        1e5 * dataset.score + 7e5,
    )
    ours, theirs = fit_prior(dataset), fit_prior(moved)
    assert theirs.m0 == pytest.approx(7e5 + 1e5 * ours.m0, rel=1e-4)
    assert (theirs.k0, theirs.a0, theirs.b0) == pytest.approx((ours.k0, ours.a0, 1e10 * ours.b0), rel=1e-3)
    p, q = ours.model(0.2).posterior(dataset), theirs.model(7e5 + 1e5 * 0.2).posterior(moved)
    assert p.certainty == pytest.approx(q.certainty, abs=1e-4)


def test_a_prior_that_runs_to_its_bounds_says_so():
    """Unanimous cases: the likelihood grows without end as κ0 and b0 go to 0."""
    fit = fit_prior(scored([[float(score)] * 4 for score in (1, 2, 3, 4, 5, 5, 3)]))
    assert {"k0", "b0"} <= set(fit.at_bounds)
    assert fit.k0 == pytest.approx(BOUNDS["k0"][0])
    assert fit.undetermined().startswith(
        "The data do not determine k₀ and b₀: their values are at the limits of the search. "
    )


@pytest.mark.parametrize(
    ("cases", "message"),
    [([[1.0], [2.0]], "no case has two scores"), ([[0.1, 0.1, 0.1], [0.1] * 7], "all scores are equal")],
)
def test_scores_that_determine_no_prior_are_refused(cases, message):
    with pytest.raises(InputError, match=message):
        fit_prior(scored(cases))


def test_settings_are_what_changes_the_draws():
    assert MODEL.settings() == {"threshold": 0.0, "m0": 0.3, "k0": 0.5, "a0": 2.0, "b0": 1.5}
    assert GaussianScores.name == "gaussian" and GaussianScores.default_reliability == 1
    for depth in (1, 2, 5):
        assert drawn(GaussianScores(0.0, *PRIOR, depth), scored([EXAMPLE]), n_draws=2).top.shape == (2, depth)
    with pytest.raises(InputError, match="depth"):
        GaussianScores(0.0, *PRIOR, depth=0)


@pytest.mark.parametrize("field", ["threshold", "m0", "k0", "a0", "b0"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_parameters_that_are_no_numbers_are_refused(field, value):
    given = {"threshold": 0.0, "m0": 0.0, "k0": 1.0, "a0": 1.0, "b0": 1.0, field: value}
    with pytest.raises(InputError, match=field.replace("k0", "κ0")):
        GaussianScores(**given)


@pytest.mark.parametrize("field", ["k0", "a0", "b0"])
def test_prior_strengths_of_0_or_less_are_refused(field):
    for value in (0.0, -1.0):
        given = {"threshold": 0.0, "m0": 0.0, "k0": 1.0, "a0": 1.0, "b0": 1.0, field: value}
        with pytest.raises(InputError, match="must be"):
            GaussianScores(**given)


@pytest.mark.parametrize("reliability", [0.0, -1.0, np.nan, np.inf, 1e12])
def test_a_reliability_outside_its_range_is_refused(reliability):
    with pytest.raises(InputError, match="reliability γ"):
        drawn(MODEL, scored([EXAMPLE]), reliability=reliability)
    with pytest.raises(InputError, match="reliability γ"):
        MODEL.posterior(scored([EXAMPLE]), reliability)


def test_no_draws_other_answers_and_broken_runs_of_cases_are_refused(build):
    with pytest.raises(InputError, match="at least 1"):
        drawn(MODEL, scored([EXAMPLE]), n_draws=0)
    with pytest.raises(NotApplicableError, match="these annotations are single classes"):
        drawn(MODEL, build([(0, 0, 0)], 2))
    with pytest.raises(ValueError, match="steps of 2"):
        MODEL.posterior(scored([EXAMPLE, EXAMPLE]), cases=range(0, 2, 2))
