"""Simulation-based calibration: the true share has a uniform rank among the draws."""

import numpy as np
import pytest

from core.plausibility.plackett_luce.gibbs import PlackettLuce
from tests.benchmarks import sampler_calibration
from tests.benchmarks.sampler_calibration import DESIGNS, calibrate

N_REPLICATIONS = 1_500
FALSE_ALARM = 1e-5  # of each p-value; 30 of them and 7 z raise one once in 3,000 seeds


@pytest.mark.parametrize("name", DESIGNS)
def test_true_shares_have_uniform_ranks_among_the_draws(name):
    """And the class that is truly first is never-named as often as the draws say."""
    p_values, z = calibrate(DESIGNS[name], N_REPLICATIONS)
    assert (p_values > FALSE_ALARM).all()
    assert abs(z) < 4.4


def test_draws_that_trust_the_raters_too_much_fail_the_same_check(monkeypatch):
    """Every annotation counted three times leaves ranks at both ends."""

    class Trusting(PlackettLuce):
        def draws(self, dataset, *, reliability, **rest):
            return super().draws(dataset, reliability=3 * reliability, **rest)

    monkeypatch.setattr(sampler_calibration, "PlackettLuce", Trusting)
    p_values, _ = calibrate(DESIGNS["ties and unranked"], N_REPLICATIONS)
    assert (p_values < FALSE_ALARM).any()


@pytest.mark.parametrize("name", ["ties, all named", "two never named"])
def test_data_to_calibrate_with_are_what_the_design_says(name):
    """Tied classes stand in one block in any order of theirs; exactly the first classes are named."""
    design = DESIGNS[name]
    _, orders = sampler_calibration.simulate(design, 50, np.random.default_rng(0))
    dataset = sampler_calibration.as_dataset(design, orders)
    for case in range(50):
        rankings = [dataset.blocks_of(annotation) for annotation in dataset.annotations_of(case)]
        assert [tuple(map(len, blocks)) for blocks in rankings] == list(design.sizes)
        assert {k for blocks in rankings for block in blocks for k in block} == set(range(design.n_named))
        for blocks, order in zip(rankings, orders, strict=True):
            assert [k for block in blocks for k in sorted(block)] == [k for block in blocks for k in block]
            assert set(blocks[0]) == set(order[case, : len(blocks[0])].tolist())
