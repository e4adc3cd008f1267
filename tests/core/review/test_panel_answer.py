"""What the panel says is no coin toss."""

import numpy as np
import pytest

from core.review.opinions import UNDETERMINED
from core.review.panel_answer import panel_opinion


def draws(*leads: int) -> np.ndarray:
    """Draws in which each class leads so often."""
    return np.repeat(np.eye(len(leads)), leads, axis=0)


@pytest.mark.parametrize(
    ("leads", "said"),
    [
        ((900, 100, 0), "a"),
        ((390, 380, 230), "a = b"),
        ((380, 390, 230), "a = b"),
        ((334, 333, 333), "a = b = c"),
        ((450, 350, 200), "a"),
        ((0, 0, 1000), "c"),
    ],
)
def test_a_lead_within_two_standard_errors_is_a_tie(leads, said):
    """Of 1000 draws, .39 against .38 is a tie and .45 against .35 is not (error .028)."""
    assert panel_opinion(draws(*leads), "abc", 1000.0).words() == said


def test_fewer_effective_draws_tell_less():
    """The same shares, worth a tenth of the draws."""
    assert panel_opinion(draws(450, 350, 200), "abc", 100.0).words() == "a = b"


def test_where_no_class_was_named_nothing_is_said():
    """Without classes it cannot be determined."""
    assert panel_opinion(np.empty((1000, 0)), (), 1000.0) == UNDETERMINED
