"""The weight families against hand calculation, and the refusal of matrices that are no weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agreement.weights import WEIGHT_FAMILIES, checked_weights, resolve_weights, weight_matrix
from core.errors import InputError, LimitError

PAIRS = (0, 0, 1), (1, 2, 2)


@pytest.mark.parametrize(
    ("family", "labels", "expected"),
    [
        ("identity", None, (0, 0, 0)),
        ("linear", None, (0.5, 0, 0.5)),
        ("quadratic", None, (0.75, 0, 0.75)),
        ("ordinal", None, (2 / 3, 0, 2 / 3)),
        ("radical", None, (1 - 0.5**0.5, 0, 1 - 0.5**0.5)),
        ("bipolar", None, (2 / 3, 0, 2 / 3)),
        ("circular", None, (0, 0, 0)),
        ("ratio", None, (5 / 9, 0, 0.84)),
        ("ratio", (0, 1, 2), (0, 0, 8 / 9)),
        ("linear", (0, 1, 4), (0.75, 0, 0.25)),
        ("ordinal", (0, 1, 4), (2 / 3, 0, 2 / 3)),
    ],
)
def test_weights_of_three_classes_are_what_hand_calculation_gives(family, labels, expected):
    assert weight_matrix(family, 3, labels)[PAIRS] == pytest.approx(expected, abs=1e-12)


def test_circular_weights_bring_the_ends_of_the_scale_together():
    """Of four classes on a circle neighbours are half apart: sin²(π/4) / sin²(π/2)."""
    assert weight_matrix("circular", 4)[0] == pytest.approx((1, 0.5, 0, 0.5), abs=1e-12)


def test_bipolar_weights_punish_a_step_at_the_ends_more_than_one_in_the_middle():
    """Labels 1 to 4: d²/[(x + y − 2)(8 − x − y)] is 1/5 at the ends, 1/9 in the middle and 1 for the whole scale."""
    found = weight_matrix("bipolar", 4)
    assert (found[0, 1], found[1, 2], found[0, 3]) == pytest.approx((4 / 5, 8 / 9, 0), abs=1e-12)


@given(
    st.sampled_from(WEIGHT_FAMILIES),
    st.lists(st.floats(0, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=7, unique=True),
)
def test_every_family_gives_weights_that_would_be_accepted_as_ones_own(family, labels):
    found = weight_matrix(family, len(labels), labels)
    assert (checked_weights(found, len(labels)) == found).all()


@pytest.mark.parametrize("family", WEIGHT_FAMILIES)
def test_reordering_classes_with_their_labels_reorders_the_weights(family):
    labels, order = np.array([1, 2, 5, 9.5]), [2, 0, 3, 1]
    plain = weight_matrix(family, 4, labels)
    assert weight_matrix(family, 4, labels[order]) == pytest.approx(plain[np.ix_(order, order)], abs=1e-15)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((1, 2), "2 labels for 3 classes"),
        ((1, 2, 2), "same label"),
        ((1, 2, np.nan), "finite"),
        ((1, 2, np.inf), "finite"),
        ((1, 2, "x"), "not numbers"),
    ],
)
def test_labels_that_are_no_scale_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        weight_matrix("linear", 3, labels)


def test_a_negative_label_is_refused_for_ratios_alone():
    with pytest.raises(InputError, match="-1: it is negative"):
        weight_matrix("ratio", 3, (-1, 1, 2))
    assert weight_matrix("linear", 3, (-1, 1, 2))[0, 2] == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0, 1]], r"\(2, 2\)"),
        ([[1, 0, 0], [0, 1, 0.5], [0, 0.4, 1]], "not symmetric"),
        ([[1, 0, 0], [0, 0.9, 0], [0, 0, 1]], "diagonal"),
        ([[1, 0, 2], [0, 1, 0], [2, 0, 1]], "between 0 and 1"),
        ([[1, 0, -0.1], [0, 1, 0], [-0.1, 0, 1]], "between 0 and 1"),
        ([[1, 0, np.nan], [0, 1, 0], [np.nan, 0, 1]], "between 0 and 1"),
        ([["a", 0, 0], [0, 1, 0], [0, 0, 1]], "not a table of numbers"),
    ],
)
def test_a_matrix_that_is_no_weights_is_refused_with_the_reason(matrix, message):
    with pytest.raises(InputError, match=message):
        checked_weights(matrix, 3)


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="'cubic'"):
        weight_matrix("cubic", 3)


def test_identity_of_any_number_of_classes_needs_no_matrix_and_other_weights_have_a_limit():
    for weights in (None, "identity"):
        assert resolve_weights(weights, 1_000_000) == ("identity", None)
    with pytest.raises(LimitError, match="Use identity"):
        resolve_weights("linear", 1_000_000)
