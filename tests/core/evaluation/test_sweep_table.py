"""A sweep over reliabilities is certainty at each of them."""

import numpy as np
import pytest

from core.certainty.top_sets import annotation_certainty
from core.chunks import CancelToken
from core.errors import Cancelled, InputError
from core.evaluation.sweep_table import reliability_sweep
from core.plausibility.dirichlet import DirichletCounts


@pytest.fixture
def dataset(build):
    rng = np.random.default_rng(0)
    return build([(case, rater, int(rng.integers(4))) for case in range(20) for rater in range(3)], 4)


def test_every_column_is_the_certainty_at_its_reliability(dataset):
    model = DirichletCounts(0.5)
    sweep = reliability_sweep(model, dataset, [3, 0.5, 1.0], n_draws=80, seed=6)
    assert sweep.reliabilities == (3.0, 0.5, 1.0)
    for reliability, found in zip(sweep.reliabilities, sweep.certainty, strict=True):
        single = annotation_certainty(model, dataset, reliability=reliability, n_draws=80, seed=6)
        assert (found.certainty == single.certainty).all()
        assert (found.top_set == single.top_set).all()
        assert (found.se == single.se).all()
    assert sweep.mean(2).tolist() == [found.mean(2) for found in sweep.certainty]


def test_mean_certainty_is_nan_where_there_are_too_few_classes(build):
    sweep = reliability_sweep(DirichletCounts(), build([(0, 0, 0), (0, 1, 1)], 2), [1.0, 2.0], n_draws=10)
    assert np.isnan(sweep.mean(3)).all()
    assert np.isfinite(sweep.mean(2)).all()


def test_progress_runs_once_over_all_reliabilities(dataset):
    seen = []
    reliability_sweep(DirichletCounts(), dataset, [1.0, 2.0], n_draws=10, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1 and 0.5 in seen


def test_a_sweep_can_be_cancelled_between_reliabilities(dataset):
    token, seen = CancelToken(), []

    def progress(share):
        seen.append(share)
        token.cancel()

    with pytest.raises(Cancelled):
        reliability_sweep(DirichletCounts(), dataset, [1.0, 2.0], n_draws=10, token=token, progress=progress)
    assert seen == [0.5]


def test_a_reliability_that_is_not_positive_is_refused(dataset):
    with pytest.raises(InputError, match="reliability γ is 0"):
        reliability_sweep(DirichletCounts(), dataset, [1.0, 0], n_draws=10)
