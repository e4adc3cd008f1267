"""Posteriors of data from the prior hold the truth as often as they say; the long version is among the benchmarks."""

import numpy as np

from tests.core.models.calibration import BINS, RANKED, dawid_skene, p_uniform, ranks

N_FITS = 10 * BINS


def test_ranks_of_the_truth_are_uniform():
    """For five numbers; p above 0.001 / 10 each, so that one of two thousand seeds fails a right sampler."""
    found, divergent = ranks(dawid_skene, N_FITS, seed=20, n_draws=100, n_tune=100)
    assert divergent < 0.02
    for what, rank in found.items():
        assert p_uniform(rank) > 0.001 / 10, f"{what}: {np.bincount(rank, minlength=RANKED + 1)}"


def test_wrong_posteriors_would_be_noticed():
    """Too narrow, too wide, and half a standard deviation aside."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(N_FITS, 1))
    for centre, width in ((0, 0.5), (0, 2.0), (0.7, 1.0)):
        rank = (centre + width * rng.normal(size=(N_FITS, RANKED)) < truth).sum(axis=1)
        assert p_uniform(rank) < 0.001 / 10
    assert p_uniform((rng.normal(size=(N_FITS, RANKED)) < truth).sum(axis=1)) > 0.001
