import warnings

import numpy as np
import pytest

from core.models.nuts.mixing import ess_bulk, ess_tail, r_hat


@pytest.fixture(scope="module", params=[(4, 500), (2, 301), (3, 60)])
def draws(request):
    """White noise, a random walk, slow and antithetic chains, one chain elsewhere, heavy tails, ties, another scale."""
    n_chains, n_draws = request.param
    rng = np.random.default_rng(n_draws)
    x = rng.normal(size=(n_chains, n_draws, 8))
    x[..., 1] = x[..., 1].cumsum(axis=1)
    for t in range(1, n_draws):
        x[:, t, 2] += 0.9 * x[:, t - 1, 2]
        x[:, t, 3] -= 0.5 * x[:, t - 1, 3]
    x[0, :, 4] += 1
    x[..., 5] = np.exp(3 * x[..., 5])
    x[..., 6] = np.round(x[..., 6])
    x[0, :, 7] *= 5
    return x


@pytest.mark.parametrize(("ours", "method"), [(r_hat, None), (ess_bulk, "bulk"), (ess_tail, "tail")])
def test_numbers_are_those_of_arviz(draws, ours, method):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\s*ArviZ is undergoing a major refactor", category=FutureWarning)
        import arviz

    for quantity, value in enumerate(ours(draws)):
        one = draws[..., quantity]
        theirs = arviz.rhat(one) if method is None else arviz.ess(one, method=method)
        assert value == pytest.approx(theirs, rel=1e-9)


def test_independent_draws_are_worth_themselves_and_stuck_chains_nothing():
    rng = np.random.default_rng(1)
    good = rng.normal(size=(4, 2000, 50))
    assert (r_hat(good) < 1.01).all()
    # The estimate has a relative standard error of a few per cent at this length.
    assert np.abs(ess_bulk(good) / 8000 - 1).max() < 0.35
    stuck = good + 3 * np.arange(4)[:, None, None]
    assert (r_hat(stuck) > 1.5).all() and (ess_bulk(stuck) < 20).all()
