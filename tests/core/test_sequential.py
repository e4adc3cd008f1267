"""Intervals that hold at every look."""

import math

import numpy as np
import pytest

from core.sequential import betting_interval, level_of_look


def by_loops(values, level):
    """The hedged capital process of Waudby-Smith & Ramdas, candidate by candidate and value by value."""
    alpha, kept = 1 - level, []
    for m in np.linspace(0, 1, 1_001):
        up = down = 1.0
        total, squares, before, alive = 0.5, 0.25, 0.25, True
        for t, x in enumerate(values, 1):
            bet = math.sqrt(2 * math.log(2 / alpha) / (before * t * math.log(t + 1)))
            up *= 1 + min(bet, 0.5 / m if m else math.inf) * (x - m)
            down *= 1 - min(bet, 0.5 / (1 - m) if m < 1 else math.inf) * (x - m)
            total += x
            squares += (x - total / (t + 1)) ** 2
            before = squares / (t + 1)
            alive &= max(up, down) / 2 < 1 / alpha
        if alive:
            kept.append(m)
    return max(kept[0] - 0.001, 0), min(kept[-1] + 0.001, 1)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_betting_interval_is_that_of_loops(share):
    values = (np.random.default_rng(1).random(60) < share).astype(float)
    assert betting_interval(values, 0.9) == pytest.approx(by_loops(values, 0.9))


def test_betting_interval_holds_at_all_lengths_together():
    """Of sequences at most 5% ever exclude their mean, looked at after every value."""
    rng, missed = np.random.default_rng(2), 0
    for _ in range(200):
        low, high = betting_interval((rng.random(300) < 0.3).astype(float), 0.95)
        missed += not low <= 0.3 <= high
    assert missed / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_betting_interval_narrows_with_the_values():
    values = np.random.default_rng(3).random(4_000)
    widths = [np.diff(betting_interval(values[:n]))[0] for n in (50, 500, 4_000)]
    assert widths[0] > 2 * widths[1] > 4 * widths[2] and widths[2] < 0.06


def test_betting_interval_at_one_length_is_narrower_and_holds_there():
    rng, missed, narrower = np.random.default_rng(4), 0, 0
    for _ in range(200):
        values = (rng.random(200) < 0.3).astype(float)
        low, high = betting_interval(values, at_all_lengths=False)
        missed += not low <= 0.3 <= high
        narrower += high - low < np.diff(betting_interval(values))[0]
    assert missed / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200) and narrower > 190


def test_levels_of_all_looks_together_have_the_error_of_one():
    assert sum(1 - level_of_look(0.95, look) for look in range(1, 200_000)) == pytest.approx(0.05, abs=1e-6)
