"""Leave-one-annotation-out: against effects drawn one by one, by brute force, and against the published table."""

import numpy as np
import pytest
from scipy import stats

from core import load_sample
from core.errors import InputError
from core.models.difficulty.model import DifficultyModel
from core.models.difficulty.names import TAGS
from core.models.difficulty.paper_score import annotation_blocks, paper_score
from core.models.loo import as_in_paper
from tests.core.models.difficulty.reference import density_of, importance_draws, logistic, parameters, small_data

# Table 2 of Han, Adıgüzel & Carpenter, caries.
WITHOUT_EFFECTS = {"ABCDE": -9604.56, "ABCD": -8797.51, "ABCE": -9594.45, "ABC": -8749.87}
WITH_EFFECTS = {"ABD": -8211.18, "AB": -8699.01, "AC": -8743.94, "BC": -8721.09}


def effect_grid(on):
    """β, δ, λ and the weight of each point of an equidistant grid, much finer than that of the density."""
    beta = np.linspace(-9, 9, 140) if on.difficulty else np.zeros(1)
    log_delta = 0.25 * np.linspace(-7, 7, 24) if on.discrimination else np.zeros(1)
    guess = (np.arange(60) + 0.5) / 60 if on.guessing else np.zeros(1)
    grid = [part.ravel() for part in np.meshgrid(beta, log_delta, guess, indexing="ij")]
    weight = stats.norm.pdf(grid[0]) * stats.norm.pdf(grid[1] / 0.25)
    weight = weight * grid[2] * (1 - grid[2]) if on.guessing else weight
    return grid[0], np.exp(grid[1]), grid[2], weight


def answers_at(grid, prevalence, alpha, raters, answers):
    """Posterior of the grid points given the annotations of a case, and p of each annotation at each point.

    ``prevalence[draw]`` and ``alpha[draw, rater, z]``; points run along the last axis.
    """
    beta, delta, guess, weight = grid
    each = np.empty((2, len(raters), len(prevalence), beta.size))
    for z in (0, 1):
        for place, (rater, answer) in enumerate(zip(raters, answers, strict=True)):
            right = guess + (1 - guess) * logistic(delta * (alpha[:, rater, z, None] - beta))
            each[z, place] = right if answer == z else 1 - right
    positive = np.asarray(prevalence)[:, None]
    share = weight * (positive * each[1].prod(axis=0) + (1 - positive) * each[0].prod(axis=0))
    return share / share.sum(axis=1, keepdims=True), positive * each[1] + (1 - positive) * each[0]


def cases_of(data):
    for case in range(data.n_cases):
        own = slice(data.case_ptr[case], data.case_ptr[case + 1])
        yield data.rater[own], data.answer[own]


def all_parameters(density, draws):
    return [np.array(part) for part in zip(*(parameters(density, theta) for theta in draws), strict=True)]


@pytest.mark.parametrize("tag", TAGS)
def test_the_density_of_an_answer_is_averaged_over_the_effects_by_brute_force(tag):
    """For every model: the same values, each as often, as a loop over cases with a fine grid of effects."""
    data = small_data()
    density = density_of(data, tag)
    draws = np.random.default_rng(7).normal(0.7, 0.5, (3, density.ndim))
    drawn, expected = all_parameters(density, draws), []
    for raters, answers in cases_of(data):
        share, p = answers_at(effect_grid(density.on), *drawn, raters, answers)
        expected += [-np.log((share / each).sum(axis=1)) for each in p]
    expected = np.transpose(expected)
    blocks = list(annotation_blocks(density, draws))
    found = np.concatenate([np.repeat(log_p, count, axis=1) for log_p, count in blocks], axis=1)
    assert found.shape == (3, data.n_annotations)
    # columns stand in another order: each draw has the same values, sorted
    assert np.sort(found, axis=1) == pytest.approx(np.sort(expected, axis=1), abs=2e-4)
    assert found.sum(axis=1) == pytest.approx(expected.sum(axis=1), abs=1e-3)


def test_the_score_is_the_one_of_effects_drawn_from_their_posterior():
    """One draw of β for each draw of the parameters, again and again: within four errors of the mean of ten."""
    data = small_data(seed=4)
    density = density_of(data, "AB")
    draws = np.random.default_rng(3).normal(1.0, 0.4, (2_000, density.ndim))
    drawn, grid, columns = all_parameters(density, draws), effect_grid(density.on), [[] for _ in range(10)]
    rng, rows = np.random.default_rng(8), np.arange(len(draws))
    for raters, answers in cases_of(data):
        share, p = answers_at(grid, *drawn, raters, answers)
        for kept in columns:
            beta = (share.cumsum(axis=1) < rng.random((len(draws), 1))).sum(axis=1)
            kept += [np.log(each[rows, beta]) for each in p]
    scores = [as_in_paper([(np.transpose(kept), np.ones(data.n_annotations, int))]).elpd for kept in columns]
    found = paper_score(density, draws)
    assert found.n_annotations == data.n_annotations
    assert found.elpd == pytest.approx(np.mean(scores), abs=4 * np.std(scores, ddof=1) / np.sqrt(10) + 0.01)


def caries_score(tag):
    """Score of draws about the mode made into draws of the posterior, and its Monte Carlo error from these draws.

    Of first order the score is the mean over draws of the log probability of all annotations.
    """
    density = DifficultyModel(tag, as_published=True).density(load_sample("caries"))
    rng = np.random.default_rng(5)
    draws, weight = importance_draws(density, 4_000, 2)
    draws = draws[rng.choice(len(draws), 4_000, p=weight)]
    total = sum(log_p @ count for log_p, count in annotation_blocks(density, draws))
    return paper_score(density, draws), total.std() * np.sqrt(max((weight**2).sum(), 1 / 4_000))


@pytest.mark.parametrize("tag", WITHOUT_EFFECTS)
def test_caries_has_the_published_score_without_case_effects(tag):
    """Within four errors of the difference; the authors had 4,000 draws."""
    score, error = caries_score(tag)
    assert score.n_annotations == 19_345 and score.n_high_k == 0
    assert error < 0.6
    assert score.elpd == pytest.approx(WITHOUT_EFFECTS[tag], abs=4 * np.sqrt(2) * error)


@pytest.mark.parametrize("tag", WITH_EFFECTS)
def test_caries_has_the_published_score_with_case_effects(tag):
    """The authors drew the effects too and smoothed their weights: with 4,000 draws that is lower by up to 3."""
    score, error = caries_score(tag)
    assert score.n_annotations == 19_345 and score.n_high_k == 0
    assert -4 * error < score.elpd - WITH_EFFECTS[tag] < 3 + 4 * error


def test_blocks_do_not_change_the_score(monkeypatch):
    from core.models.difficulty import paper_score as module

    data = small_data(seed=1, n_cases=40)
    density = density_of(data, "A")
    draws = np.random.default_rng(2).normal(1.0, 0.3, (120, density.ndim))
    whole = paper_score(density, draws)
    monkeypatch.setattr(module, "_CELLS_A_BLOCK", 500)
    assert len(list(annotation_blocks(density, draws))) > 10
    parts = paper_score(density, draws)
    assert (parts.elpd, parts.se) == pytest.approx((whole.elpd, whole.se), abs=1e-9)


def test_without_case_effects_answers_stand_once_for_each_rater_and_answer():
    density = density_of(small_data(), "ABC")
    ((log_p, count),) = annotation_blocks(density, np.zeros((100, density.ndim)))
    assert log_p.shape[1] <= 2 * 4 and count.sum() == density.dataset.n_annotations


def test_chains_have_a_score_and_the_mode_has_none():
    data = small_data()
    model = DifficultyModel("AB")
    assert model.fit(data).paper is None
    found = model.fit(data, method="nuts", n_draws=60, n_tune=60, n_chains=2, seed=1)
    assert found.paper.n_annotations == data.n_annotations
    assert (
        found.paper.elpd > found.loo.elpd
    )  # a case's annotations hang together: one by one they are easier to predict
    with pytest.raises(InputError, match="99 draws"):
        paper_score(model.density(data), found.draws[:99])
