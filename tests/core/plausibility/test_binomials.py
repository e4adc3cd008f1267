"""Binomial draws have their distribution: by inversion, and where the mean is halved first."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from core.plausibility._kernels import binomial_draw, dirichlet_draws

N_DRAWS = 50_000


@pytest.mark.parametrize(
    ("n", "p"), [(2, 0.5), (2, 1e-12), (5, 0.7), (60, 0.5), (61, 0.5), (400, 0.9), (400, 0.08), (1000, 0.35)]
)
def test_binomial_draws_have_their_distribution(n, p):
    """Chi-squared over values expected at least five times, those below and above them joined; seed fixed, at 0.001."""
    dirichlet_draws(np.uint32(11), np.ones(1), 1.0, 0, 1, 1)  # sets the seed
    drawn = np.array([binomial_draw(n, p) for _ in range(N_DRAWS)])
    assert drawn.min() >= 0 and drawn.max() <= n
    expected = N_DRAWS * binom.pmf(np.arange(n + 1), n, p)
    kept = np.flatnonzero(expected >= 5)
    places = np.clip(drawn, kept[0], kept[-1]) - kept[0]
    of_kept = expected[kept]
    of_kept[0] += expected[: kept[0]].sum()
    of_kept[-1] += expected[kept[-1] + 1 :].sum()
    if len(kept) == 1:
        assert (drawn == kept[0]).all()
    else:
        assert chisquare(np.bincount(places, minlength=len(kept)), of_kept).pvalue > 0.001
