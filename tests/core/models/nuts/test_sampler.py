import numpy as np
import pytest

from core.models.nuts import sampler
from core.models.nuts.mixing import ess_bulk
from core.models.nuts.sampler import sample, sample_many
from core.runtime.processes import run_workers
from tests.core.models.nuts.toy import Toy, normal


@pytest.fixture(scope="module")
def chains():
    (toy,) = normal(1)
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampler, "run_workers", run_workers)
        patch.setattr(sampler, "MAX_CHILDREN", 2)
        patch.setattr("os.cpu_count", lambda: 2)
        found = sample(toy, n_draws=400, n_tune=300, seed=3, progress=lambda share, words: told.append((share, words)))
    return toy, found, told


def test_draws_have_the_mean_and_spread_of_a_normal_posterior(chains):
    toy, found, _ = chains
    n_effective = ess_bulk(found.draws)
    z = (found.flat().mean(axis=0) - toy.mean) / (toy.sd / np.sqrt(n_effective))
    assert np.abs(z).max() < 4
    # The standard error of a normal's log sd is 1 / √(2 n); antithetic chains know means better than spreads.
    log_ratio = np.log(found.flat().std(axis=0) / toy.sd)
    assert np.abs(log_ratio).max() < 4 / np.sqrt(2 * min(n_effective.min(), 400))


def test_chains_have_their_shapes_and_differ_from_each_other(chains):
    _, found, _ = chains
    assert found.draws.shape == (4, 400, 3) and found.divergent.shape == (4, 400)
    assert found.divergent.sum() == 0
    assert len(np.unique(found.draws[:, 0, 0])) == 4
    assert found.cpu_seconds > 0 and found.seconds > 0


def test_progress_rises_to_the_whole_and_says_what_is_done(chains):
    _, _, told = chains
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] == 1
    assert told[0][1] == "Starting the sampler" and told[-1][1] == "2,800 of 2,800 draws"


def test_draws_depend_on_the_seed_and_not_on_the_children(chains):
    """Two children drew the one, this process the other."""
    toy, found, _ = chains
    again = sample(toy, n_draws=400, n_tune=300, seed=3)
    np.testing.assert_array_equal(again.draws, found.draws)
    other = sample(toy, n_draws=400, n_tune=300, n_chains=1, seed=4)
    assert not (other.draws[0] == found.draws[0]).any()


def test_many_posteriors_in_two_shares_are_each_their_own(monkeypatch):
    monkeypatch.setattr(sampler, "MAX_CHILDREN", 2)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    toys = normal(5)
    found = sample_many(toys, n_draws=300, n_tune=200, n_chains=2, seeds=range(5))
    for toy, chains in zip(toys, found, strict=True):
        assert chains.draws.shape == (2, 300, 3)
        z = (chains.flat().mean(axis=0) - toy.mean) / (toy.sd / np.sqrt(ess_bulk(chains.draws)))
        assert np.abs(z).max() < 4.5
    alone = sample(toys[3], n_draws=300, n_tune=200, n_chains=2, seed=3)
    np.testing.assert_array_equal(alone.draws, found[3].draws)


def test_nothing_to_sample_is_no_work():
    assert sample_many([], n_draws=10, n_tune=10, seeds=[]) == []
    chains = sample(Toy(np.empty(0), np.empty(0)), n_draws=7, n_chains=2)
    assert chains.draws.shape == (2, 7, 0) and not chains.divergent.any()


def test_a_start_without_slope_is_moved_aside():
    """The sampler cannot begin where the gradient is exactly 0, as at the mode of a symmetric posterior."""
    toy = Toy(np.zeros(2), np.ones(2))
    chains = sample(toy, n_draws=200, n_tune=200, n_chains=1, start=np.zeros((1, 2)))
    assert np.isfinite(chains.draws).all() and np.ptp(chains.draws) > 1


def test_a_posterior_with_an_edge_is_sampled_inside():
    toy = Toy(np.full(2, 2.5), np.full(2, 0.3), "bounded")
    chains = sample(toy, n_draws=300, n_tune=300, n_chains=2, start=np.full((2, 2), 2.0))
    assert np.abs(chains.draws).max() < 3
    assert chains.divergent.sum() > 0
