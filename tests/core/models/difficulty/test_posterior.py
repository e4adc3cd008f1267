"""The posterior as a whole: against brute force, against published means, and calibrated."""

import numpy as np
import pytest
from scipy import stats

from core import load_sample
from core.models.difficulty.density import DifficultyDensity, Specification
from core.models.difficulty.mode import at_its_mode, vote_accuracy
from core.models.difficulty.model import DifficultyModel
from core.models.difficulty.names import TAGS
from tests.core.models.difficulty.full_density import FullDifficultyDensity
from tests.core.models.difficulty.reference import (
    case_likelihood,
    density_of,
    importance_draws,
    logistic,
    parameters,
    simulate_prior,
    small_data,
)


@pytest.fixture(scope="module")
def caries():
    return load_sample("caries")


def weighted(values, weight):
    mean = weight @ values
    return mean, np.sqrt(weight @ (values - mean) ** 2), 1 / (weight**2).sum()


@pytest.mark.parametrize("cooperative", [True, False])
def test_the_posterior_of_alike_raters_is_that_of_a_grid(cooperative):
    """ABCE on a grid of its three coordinates, against π and α on a grid in their own units, cut at the border."""
    data = small_data(seed=3)
    p, spec, sens = np.meshgrid(
        (np.arange(90) + 0.5) / 90, np.linspace(-8, 12, 101), np.linspace(-9, 11, 101), indexing="ij"
    )
    log_p = np.log(p * (1 - p)) + stats.norm.logpdf(spec, 2, 2) + stats.norm.logpdf(sens, 1, 2)
    positive = np.bincount(data.case_of_annotation, data.answer, data.n_cases)
    for n, k in zip(np.diff(data.case_ptr), positive, strict=True):
        yes = k * np.log(logistic(sens)) + (n - k) * np.log(logistic(-sens))
        no = (n - k) * np.log(logistic(spec)) + k * np.log(logistic(-spec))
        log_p += np.logaddexp(np.log(p) + yes, np.log1p(-p) + no)
    mass = np.exp(log_p - log_p.max())
    if cooperative:
        mass *= (np.sign(np.round(spec + sens, 9)) + 1) / 2  # half of a cell that lies on the border

    density = density_of(data, "ABCE", cooperative)
    third = np.linspace(-14, 18, 90) if cooperative else np.linspace(-9, 11, 90)
    points = np.stack(
        [axis.ravel() for axis in np.meshgrid(np.linspace(-8, 8, 60), np.linspace(-8, 12, 90), third)], axis=1
    )
    weight = np.array([density.value_and_gradient(point)[0] for point in points])
    weight = np.exp(weight - weight.max())
    found = density.quantities(points)
    for name, grid in (("prevalence", p), ("alpha_spec", spec), ("alpha_sens", sens)):
        for power in (1, 2):
            exact = (mass * grid**power).sum() / mass.sum()
            assert weight @ found[name].ravel() ** power / weight.sum() == pytest.approx(exact, rel=0.003, abs=0.003)


def test_the_mode_without_effects_is_next_to_maximum_likelihood(caries):
    """Dawid-Skene on caries by maximum likelihood: π 0.19607, log-likelihood -7465.385."""
    fit = DifficultyModel("ABC").fit(caries).fit
    assert fit.prevalence[1] == pytest.approx(0.19607, abs=0.001)
    assert fit.log_likelihood == pytest.approx(-7465.385, abs=0.05)
    assert (
        pytest.approx(np.array([[0.989, 0.898, 0.986, 0.968, 0.695], [0.403, 0.713, 0.598, 0.489, 0.915]]), abs=0.005)
        == np.diagonal(fit.confusion, axis1=1, axis2=2).T
    )


@pytest.mark.parametrize(("tag", "published"), [("ABC", 0.1957), ("AB", 0.2059), ("A", 0.2005), ("ABCD", 0.0777)])
def test_prevalence_of_caries_is_the_published_one(caries, tag, published):
    """Posterior means of the authors' own runs, by importance sampling about the mode."""
    density = DifficultyModel(tag).density(caries)
    draws, weight = importance_draws(density, 12_000, 2)
    mean, sd, size = weighted(density.quantities(draws)["prevalence"], weight)
    assert size > 1000
    assert mean == pytest.approx(published, abs=0.0015)
    assert sd / np.sqrt(size) < 0.0005


@pytest.mark.parametrize("tag", TAGS)
def test_the_grid_is_fine_enough_at_the_mode(caries, tag):
    """Twice the nodes in every direction move no pattern by more than 4e-6: each of the three doublings by 1e-6."""
    density = at_its_mode(DifficultyDensity(caries, Specification(tag)))
    counts = density.node_counts
    finer = DifficultyDensity(
        caries,
        density.specification,
        type(counts)(
            *(2 * count if count > 1 else 1 for count in (counts.difficulty, counts.discrimination, counts.guessing))
        ),
    )
    mode = density.mode[None]
    assert density.log_likelihood(mode) == pytest.approx(finer.log_likelihood(mode), abs=4e-6)
    assert density.arrived and np.abs(density.value_and_gradient(density.mode)[1]).max(initial=0) < 0.5


def test_sampling_the_effects_gives_the_collapsed_density():
    """The full density, averaged over effects drawn from their prior, is the collapsed one, for any parameters."""
    density = density_of(small_data(seed=5, n_cases=4), "Full")
    full = FullDifficultyDensity(density)
    rng = np.random.default_rng(11)
    theta = rng.normal(0.5, 0.5, density.ndim)
    n_cases, values = 4, []
    for _ in range(8_000):
        normal = rng.standard_normal((2, n_cases))
        guess = rng.beta(2, 2, n_cases)
        point = np.concatenate((theta, normal.ravel(), np.log(guess / (1 - guess))))
        log_prior = stats.norm.logpdf(normal).sum() + np.log(6 * guess**2 * (1 - guess) ** 2).sum()
        values.append(full.value_and_gradient(point)[0] - log_prior)
    values = np.exp(np.array(values) - density.value_and_gradient(theta)[0])
    assert values.mean() == pytest.approx(1.0, abs=4 * values.std() / np.sqrt(len(values)))
    assert values.std() / np.sqrt(len(values)) < 0.03


@pytest.mark.parametrize("tag", ["ABC", "AB"])
def test_posteriors_are_calibrated_under_the_prior(tag):
    """The place of the true parameter in the posterior is uniform over data made from the prior."""
    rng = np.random.default_rng(0)
    case = np.repeat(np.arange(40), 4)
    names = [[str(number) for number in range(size)] for size in (40, 4)]
    from core.annotations.dataset import Dataset

    design = Dataset.from_classes("design", *names, ["no", "yes"], case, np.tile(np.arange(4), 40), 0 * case)
    places = []
    for replication in range(120):
        prevalence, alpha, data = simulate_prior(tag, int(rng.integers(2**31)), design)
        density = DifficultyModel(tag).density(data)
        draws, weight = importance_draws(density, 2000, replication, df=3)
        found = density.quantities(draws)
        truth = (prevalence, alpha[0, 0], alpha[3, 1], alpha[1].sum())
        drawn = (
            found["prevalence"],
            found["alpha_spec"][:, 0],
            found["alpha_sens"][:, 3],
            found["alpha_spec"][:, 1] + found["alpha_sens"][:, 1],
        )
        places.append([weight[values < value].sum() for values, value in zip(drawn, truth, strict=True)])
    for place in np.array(places).T:
        assert stats.kstest(place, "uniform").pvalue > 0.001


def test_the_vote_judges_raters_by_the_shares_of_positive_answers():
    data = small_data()
    share, right = vote_accuracy(density_of(data, "ABC"))
    expected = np.array([[0.75, 0.75]])  # nobody has seen the last rater: the pseudo-answers alone
    assert right[-1:] == pytest.approx(expected)
    size = np.diff(data.case_ptr)
    shares = [data.answer[a:b].mean() for a, b in zip(data.case_ptr[:-1], data.case_ptr[1:], strict=True) if b > a]
    assert share == pytest.approx(np.mean(shares)) and (size == 0).sum() == 1
    own = data.rater == 1
    truth = np.repeat(shares, size[size > 0])[own]
    assert right[1, 1] == pytest.approx((truth[data.answer[own] == 1].sum() + 3) / (truth.sum() + 4))


def test_parameters_of_the_reference_are_those_of_the_density():
    for tag in ("Full", "BCD", "ABCE"):
        density = density_of(small_data(), tag)
        theta = np.random.default_rng(1).normal(size=density.ndim)
        prevalence, alpha = parameters(density, theta)
        found = density.quantities(theta[None])
        assert found["prevalence"][0] == pytest.approx(prevalence)
        assert found.get("alpha_sens", found.get("alpha"))[0] == pytest.approx(alpha[: density.n_alpha, 1])
    assert case_likelihood(0.3, np.zeros((1, 2)), [0, 0], [1, 0], density.on) == pytest.approx(0.25)
