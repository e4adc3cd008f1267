"""Certainty of given sets against the draws themselves."""

import numpy as np
import pytest

from core.certainty.top_sets import set_certainty
from core.errors import InputError
from core.plausibility.dirichlet import DirichletCounts


@pytest.fixture
def draws(build):
    """A case with classes 0 (three times), 1 (twice) and 2 (once) of five."""
    dataset = build([(0, rater, answer) for rater, answer in enumerate([0, 0, 0, 1, 1, 2])], 5)
    ((_, found),) = DirichletCounts().draws(dataset, reliability=1.0, n_draws=4000, seed=1)
    return found


@pytest.mark.parametrize("codes", [[0], [1], [0, 1], [1, 2], [0, 1, 2]])
def test_a_set_of_named_classes_is_counted_in_the_draws(codes, draws):
    """Places are class codes here, since the named classes are 0, 1, 2."""
    places = np.sort(draws.top[:, : len(codes)], axis=1)
    found = set_certainty(draws, codes)
    assert found.is_top == pytest.approx(np.mean((places == sorted(codes)).all(axis=1)), abs=1e-12)
    assert found.holds_top1 == pytest.approx(np.isin(draws.top[:, 0], codes).mean(), abs=1e-12)
    assert found.is_top_se == pytest.approx(np.sqrt(found.is_top * (1 - found.is_top) / draws.ess), rel=1e-6)
    p = found.holds_top1
    assert found.holds_top1_se == pytest.approx(np.sqrt(p * (1 - p) / draws.ess), rel=1e-6)


def test_a_never_named_class_has_its_share_of_the_draws(draws):
    """Two of five classes are never named: each is first in half of the draws in which one of them is."""
    first = np.mean(draws.top[:, 0] == 3)
    found = set_certainty(draws, [4])
    assert found.is_top == pytest.approx(first / 2, abs=1e-12)
    assert set_certainty(draws, [3, 4]).holds_top1 == pytest.approx(first, abs=1e-12)


def test_the_order_of_the_set_changes_nothing(draws):
    assert set_certainty(draws, [0, 1, 2]) == set_certainty(draws, [2, 0, 1])


@pytest.mark.parametrize(("codes", "words"), [([], "empty"), ([1, 1], "twice"), ([0, 1, 2, 3], "it has 4 classes")])
def test_sets_that_cannot_be_told_are_refused(codes, words, draws):
    with pytest.raises(InputError, match=words):
        set_certainty(draws, codes)
