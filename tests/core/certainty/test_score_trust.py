"""Plausible scores against quadrature of prior times likelihood, and what the trust does to them."""

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.stats import dirichlet, t

from core.annotations.dataset import Dataset
from core.certainty.regions import dirichlet_region, draws_region
from core.certainty.score_trust import plausible_score, score_digits, score_trust, scores_in_words
from core.errors import InputError, NotApplicableError
from core.ingest.samples import load_sample
from core.plausibility.gaussian import GaussianScores
from core.plausibility.gaussian_prior import fit_prior

PRIOR = (4.0, 0.7, 2.5, 3.0)
SCORES = [[1.0, 2.5, 2.5, 6.0], [5.0], [3.0, 3.0]]
_CASE = np.repeat(np.arange(3), [len(one) for one in SCORES])
DATA = Dataset.from_scores(
    "s", ["a", "b", "c"], list("wxyz"), _CASE, np.array([3, 0, 1, 2, 0, 1, 2]), np.concatenate(SCORES)
)


def by_quadrature(scores, reliability, x):
    """Density of μ at ``x``: prior times likelihood to the power γ, summed over ln σ²."""
    m0, k0, a0, b0 = PRIOR
    log_variance = np.linspace(-6, 9, 151)[:, None]
    variance = np.exp(log_variance)
    log_p = -(a0 + 1) * log_variance - b0 / variance + log_variance  # the last term: d σ² = σ² d ln σ²
    log_p = log_p - log_variance / 2 - k0 * (x - m0) ** 2 / (2 * variance)
    for score in scores:
        log_p = log_p + reliability * (-log_variance / 2 - (score - x) ** 2 / (2 * variance))
    p = simpson(np.exp(log_p - log_p.max()), x=log_variance[:, 0], axis=0)
    return p / simpson(p, x=x)


@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("case", range(3))
def test_density_interval_and_side_are_those_of_prior_times_likelihood(case, reliability):
    x = np.linspace(-40, 50, 3601)
    wanted = by_quadrature(SCORES[case], reliability, x)
    found = plausible_score(DATA, GaussianScores(3.2, *PRIOR), case, reliability)
    assert np.interp(found.x, x, wanted) == pytest.approx(found.density, abs=2e-3 * found.density.max())
    inside = np.linspace(found.low, found.high, 2001)
    assert simpson(np.interp(inside, x, wanted), x=inside) == pytest.approx(0.95, abs=2e-4)
    assert (x * wanted).sum() / wanted.sum() == pytest.approx(found.m, abs=2e-3)
    beyond = np.linspace(3.2, 50, 8001)
    assert simpson(np.interp(beyond, x, wanted), x=beyond) == pytest.approx(found.above, abs=5e-4)


def test_a_case_has_its_scores_in_order_with_who_gave_them():
    found = plausible_score(DATA, GaussianScores(None, *PRIOR), 0, 1.0)
    assert found.score.tolist() == [1.0, 2.5, 2.5, 6.0] and found.rater == ("z", "w", "x", "y")
    assert found.above is None and found.threshold is None
    assert found.x.min() <= 1.0 and found.x.max() >= 6.0
    assert (np.diff(found.x) > 0).all()


def test_more_trust_narrows_intervals_and_one_case_is_what_it_is_among_all():
    model = GaussianScores(3.2, *PRIOR)
    found = score_trust(DATA, model, [10, 0.5, 1, 1])
    assert found.reliability.tolist() == [0.5, 1.0, 10.0] and found.m.shape == (3, 3)
    assert (np.diff(found.width[:, 0]) < 0).all()
    alone = score_trust(DATA, model, [0.5, 1, 10], range(1, 2))
    for name in ("m", "low", "high", "above", "certainty"):
        assert np.array_equal(getattr(alone, name)[:, 0], getattr(found, name)[:, 1])
    one = plausible_score(DATA, model, 2, 10.0)
    assert (one.m, one.low, one.high, one.above) == tuple(
        getattr(found, name)[2, 2] for name in ("m", "low", "high", "above")
    )


def test_widths_in_the_table_are_mean_and_median_of_the_students_t_of_every_case():
    """By the closed form, case for case; cases of one to five scores have widths whose means of any kind differ."""
    rng = np.random.default_rng(2)
    own = [rng.normal(4, 1.5, n) for n in (1, 2, 3, 4, 5)]
    case = np.repeat(np.arange(5), range(1, 6))
    rater = np.concatenate([np.arange(n) for n in range(1, 6)])
    data = Dataset.from_scores("s", list("abcde"), list("vwxyz"), case, rater, np.concatenate(own))
    m0, k0, a0, b0 = PRIOR

    def width(score, reliability):
        n = reliability * score.size
        between = k0 * n * (score.mean() - m0) ** 2 / (2 * (k0 + n))
        b = b0 + reliability * score.size * score.var() / 2 + between
        return 2 * t.isf(0.025, 2 * a0 + n) * np.sqrt(b / ((a0 + n / 2) * (k0 + n)))

    table = score_trust(data, GaussianScores(None, *PRIOR), [1.0, 3.0]).to_frame().set_index("reliability")
    for reliability in (1.0, 3.0):
        widths = sorted(width(score, reliability) for score in own)
        assert table.at[reliability, "width_mean"] == pytest.approx(sum(widths) / 5)
        assert table.at[reliability, "width_median"] == pytest.approx(widths[2])


def test_without_a_threshold_there_is_no_side_and_no_draw_of_two_classes():
    model = GaussianScores(None, *PRIOR)
    found = score_trust(DATA, model, [1.0])
    assert found.above is None
    for refused in (lambda: found.certainty, lambda: model.posterior(DATA).certainty, lambda: model.classes):
        with pytest.raises(InputError, match="threshold"):
            refused()
    with pytest.raises(InputError, match="threshold"):
        next(model.draws(DATA, reliability=1.0, n_draws=3, seed=0))


def test_what_is_no_score_and_no_reliability_is_refused():
    model = GaussianScores(None, *PRIOR)
    with pytest.raises(InputError, match="Could not compute certainty: no reliability γ was given"):
        score_trust(DATA, model, [])
    with pytest.raises(NotApplicableError):
        plausible_score(load_sample("anaesthesia"), model, 0, 1.0)


def test_on_the_sample_intervals_hold_the_true_scores_about_as_often_as_they_say():
    """Essays on which raters differ more than on others, and raters who differ, are no part of the model."""
    import csv

    from core.ingest.samples import SAMPLE_FOLDER

    dataset = load_sample("essays")
    with (SAMPLE_FOLDER / "essays" / "truth.csv").open(encoding="utf-8", newline="") as file:
        truth = {row["case"]: float(row["score"]) for row in csv.DictReader(file)}
    true = np.array([truth[case] for case in dataset.cases])
    found = score_trust(dataset, fit_prior(dataset).model(), [1.0])
    held = ((found.low[0] <= true) & (true <= found.high[0])).mean()
    assert 0.9 <= held <= 0.99


@pytest.mark.parametrize(("width", "digits"), [(0.83, 2), (1.7, 1), (12.0, 0), (0.0004, 5), (3e6, 0), (0.0, 2)])
def test_a_score_is_written_with_two_digits_of_its_interval(width, digits):
    assert score_digits(width) == digits


def test_scores_of_a_case_are_said_in_a_sentence():
    assert scores_in_words(DATA, 0) == "4 scores, from 1 to 6; median 2.5."
    assert scores_in_words(DATA, 1) == "1 score, of 5."
    assert scores_in_words(DATA, 2) == "2 scores, all of them 3."


# Regions: Highest-density regions hold the share that they name.


N_DRAWS, N_FRESH = 4000, 20_000


def inside(points, outlines):
    """Even-odd rule over all outlines, in the first two coordinates."""
    x, y = points[:, 0], points[:, 1]
    held = np.zeros(len(points), bool)
    for outline in outlines:
        corners = outline[:, :2]
        for (x1, y1), (x2, y2) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if y1 != y2:
                crosses = (y1 > y) != (y2 > y)
                held ^= crosses & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return held


def draw(shape, n, seed):
    """Draws moved off the very edge, where inside and outside cannot be told apart."""
    points = np.maximum(np.random.default_rng(seed).dirichlet(shape, n), 1e-7)
    return points / points.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "shape",
    [
        (4, 3, 2),
        (2, 2, 1),
        (3, 1, 1),
        (11, 1, 1),
        (101, 1, 1),
        (50, 50, 1),
        (701, 301, 101),
        (7001, 3001, 1001),
        (5001, 5001, 1),
        (70001, 30001, 10001),
        (0.3, 0.3, 0.3),
        (20.5, 10.5, 0.5),
    ],
    ids=str,
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_region_holds_its_share_of_fresh_draws(shape, level):
    """4.5 binomial errors of the threshold and of the fresh draws, and 0.01 for straight lines on a lattice."""
    shape = np.array(shape, float)
    region = dirichlet_region(shape, draw(shape, N_DRAWS, 1), level)
    share = inside(draw(shape, N_FRESH, 2), region.outlines).mean()
    error = np.sqrt(level * (1 - level) * (1 / N_DRAWS + 1 / N_FRESH))
    assert abs(share - level) < 4.5 * error + 0.01
    assert region.level == level


def test_the_region_holds_points_of_higher_density_than_what_lies_outside():
    shape = np.array([5.0, 3.0, 2.0])
    region = dirichlet_region(shape, draw(shape, N_DRAWS, 1))
    fresh = draw(shape, N_FRESH, 3)
    density = (np.log(fresh) * (shape - 1)).sum(axis=1)
    held = inside(fresh, region.outlines)
    # As many of the densest points as the region holds: it must hold nearly those.
    densest = density > np.sort(density)[np.count_nonzero(~held) - 1]
    assert (held != densest).mean() < 0.01


def test_a_flat_posterior_has_the_whole_triangle_for_its_region():
    region = dirichlet_region(np.ones(3), draw(np.ones(3), 1000, 1))
    assert inside(draw(np.ones(3), 1000, 2), region.outlines).all()


@pytest.mark.parametrize("shape", [(4, 3, 2), (0.3, 0.3, 0.3), (900, 500, 100), (1e5, 1, 1)], ids=str)
def test_outlines_are_closed_lines_within_the_triangle(shape):
    region = dirichlet_region(np.array(shape, float), draw(shape, 1000, 1))
    assert region.outlines
    for outline in region.outlines:
        assert outline.sum(axis=1) == pytest.approx(np.ones(len(outline)), abs=1e-12)
        assert (outline > -1e-9).all()
        assert (outline[0] == outline[-1]).all()


def test_relabelling_the_corners_turns_the_region_with_them():
    shape, order = np.array([6.0, 3.0, 1.0]), [2, 0, 1]
    corners, fresh = draw(shape, N_DRAWS, 1), draw(shape, N_FRESH, 2)
    plain = inside(fresh, dirichlet_region(shape, corners).outlines)
    turned = inside(fresh[:, order], dirichlet_region(shape[order], corners[:, order]).outlines)
    assert (plain != turned).mean() < 0.01


def test_a_single_draw_still_has_a_region():
    assert dirichlet_region(np.array([2.0, 2.0, 2.0]), np.array([[0.3, 0.3, 0.4]])).outlines


def test_the_outline_of_draws_runs_where_their_kernel_density_meets_its_lower_quantile():
    """f(x) = mean of Dir(x; s / b + 1) by scipy, b = sd / 2 · N^(-1/3), a draw's own kernel left out at the draw."""
    draws = np.random.default_rng(3).dirichlet([9.0, 4.0, 6.0], 80)
    bandwidth = 0.5 * np.sqrt(draws.var(axis=0).mean()) * len(draws) ** (-1 / 3)

    def log_density(point, others):
        return np.log(np.mean([dirichlet.pdf(point, other / bandwidth + 1) for other in others]))

    at_draws = [log_density(x, np.delete(draws, i, axis=0)) for i, x in enumerate(draws)]
    threshold = np.quantile(at_draws, 0.05)
    (outline, *_) = draws_region(draws).outlines
    found = [log_density(point / point.sum(), draws) for point in outline if point.min() > 1e-3]
    assert len(found) > 20 and found == pytest.approx([threshold] * len(found), abs=0.15)
