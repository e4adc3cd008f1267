"""Intervals in the cells of a table stand where their numbers are, on one axis."""

import re
from base64 import b64decode

import numpy as np

from core.figures.cells import WIDTH, intervals
from core.figures.theme import LIGHT

VALUE, LOW, HIGH = np.array([0.5, 1.0, np.nan]), np.array([0.4, 0.9, np.nan]), np.array([0.75, 1.0, np.nan])


def drawn(address):
    return b64decode(address.removeprefix("data:image/svg+xml;base64,")).decode()


def test_ends_and_points_stand_on_one_axis_that_ends_at_one():
    wide, narrow, unknown = intervals(VALUE, LOW, HIGH, LIGHT)
    assert unknown is None
    (left, right) = map(float, re.search(r'd="M([\d.]+) 14.5H([\d.]+)M', drawn(wide)).groups())
    x = float(re.search(r'cx="([\d.]+)"', drawn(wide)).group(1))
    assert left == 6 and abs((x - left) / (right - left) - (0.5 - 0.4) / (0.75 - 0.4)) < 0.01
    assert float(re.search(r'cx="([\d.]+)"', drawn(narrow)).group(1)) == WIDTH - 6


def test_what_is_flagged_is_a_cross_in_another_colour_and_the_mark_is_dashed():
    plain, flagged, _ = intervals(VALUE, LOW, HIGH, LIGHT, mark=0.7, flagged=np.array([False, True, False]))
    assert "<circle" in drawn(plain) and LIGHT.mean not in drawn(plain)
    assert "<circle" not in drawn(flagged) and LIGHT.mean in drawn(flagged)
    assert "stroke-dasharray" in drawn(plain) and "stroke-dasharray" not in drawn(intervals(VALUE, LOW, HIGH, LIGHT)[0])


def test_differences_stand_on_an_axis_between_their_own_ends_with_zero_among_them():
    (one,) = intervals(np.array([-0.05]), np.array([-0.1]), np.array([0.1]), LIGHT, mark=0.0, most=None)
    (zero,) = re.findall(r'd="M([\d.]+) 1V', drawn(one))
    left, right = map(float, re.search(r'd="M([\d.]+) 14.5H([\d.]+)M', drawn(one)).groups())
    assert left == 6 and right == WIDTH - 6 and float(zero) == WIDTH / 2
    assert float(re.search(r'cx="([\d.]+)"', drawn(one)).group(1)) == 6 + (WIDTH - 12) / 4


def test_no_end_of_a_difference_runs_out_of_the_axis():
    value, low, high = np.array([0.13, -0.33, 0.0]), np.array([0.07, -0.42, 0.0]), np.array([0.24, -0.21, 0.0])
    for one in intervals(value, low, high, LIGHT, mark=0.0, most=None):
        left, right = map(float, re.search(r'd="M([\d.-]+) 14.5H([\d.-]+)M', drawn(one)).groups())
        assert 6 <= left <= right <= WIDTH - 6
    widest = [drawn(one) for one in intervals(value[:2], low[:2], high[:2], LIGHT, most=None)]
    # From −0.5 to 0.3: both ends lie within, a tenth of a unit as wide everywhere.
    ends = [float(x) for one in widest for x in re.search(r'd="M([\d.]+) 14.5H([\d.]+)M', one).groups()]
    assert np.allclose(ends, 6 + (WIDTH - 12) * (np.array([0.07, 0.24, -0.42, -0.21]) + 0.5) / 0.8, atol=0.06)


def test_a_value_without_an_interval_is_an_open_point_and_no_interval_without_width():
    value, low, high = np.array([0.5, 0.5]), np.array([0.4, np.nan]), np.array([0.6, np.nan])
    known, without = (drawn(one) for one in intervals(value, low, high, LIGHT))
    assert f'fill="{LIGHT.accent}"' in known and f'fill="{LIGHT.accent}"' not in without
    assert re.search(r'<circle[^>]*fill="none"', without) and "v6M" not in without


def test_values_that_are_all_at_the_end_of_the_axis_stand_there_on_an_axis_of_a_tenth():
    for least, x in ((1.0, WIDTH - 6), (0.95, 6 + (WIDTH - 12) / 2)):
        one, *_ = intervals(np.array([least, 1.0]), np.array([least, 1.0]), np.array([1.0, 1.0]), LIGHT)
        assert float(re.search(r'cx="([\d.]+)"', drawn(one)).group(1)) == x
