"""Highest-density regions hold the share that they name."""

import numpy as np
import pytest
from scipy.stats import dirichlet

from core.certainty.regions import dirichlet_region, draws_region

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
