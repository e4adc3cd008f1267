"""Numbers of raters stand in the row of their rater, with both ends."""

import numpy as np
import pytest

from core.agreement.intervals import Coefficient, undefined
from core.raters.rates import entropy_of, rates_of


def test_each_rater_has_their_own_share_ends_and_cases_and_what_is_undefined_is_unknown():
    each = (
        Coefficient("percent", "identity", 0.7, 0.1, 0.55, 0.75, 11, 31),
        undefined("percent", "identity", "no pair", 3, 4),
        Coefficient("percent", "identity", 0.2, None, None, None, 1, 2),
        Coefficient("percent", "identity", 0.4, 0.1, 0.15, 0.5, 7, 20),
    )
    found = rates_of(each, 4)
    np.testing.assert_array_equal(found.value, [0.7, np.nan, 0.2, 0.4])
    np.testing.assert_array_equal(found.low, [0.55, np.nan, np.nan, 0.15])
    np.testing.assert_array_equal(found.high, [0.75, np.nan, np.nan, 0.5])
    assert found.n.tolist() == [11, 3, 1, 7]


def test_bits_of_the_classes_are_those_of_each_raters_own_shares(build):
    """Rater 0 uses two classes evenly, rater 1 one alone, rater 2 three as 2 : 1 : 1, rater 3 none."""
    rater = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2])
    answer = np.array([0, 2, 1, 1, 1, 0, 0, 1, 2])
    data = build([(case, r, a) for case, (r, a) in enumerate(zip(rater, answer, strict=True))], 3, n_raters=4)
    found = entropy_of(rater, answer, data)
    assert found[:3] == pytest.approx([1, 0, 1.5]) and np.isnan(found[3])
