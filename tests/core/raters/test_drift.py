from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta

from core.annotations.dataset import MISSING_TIME
from core.errors import InputError, NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters._chart_kernels import WARM_UP, change_points, chart_of, shuffled_highest
from core.raters.accuracy_windows import POINTS, windows_of
from core.raters.drift import _tail, change_point, drift_chances, drift_of
from core.raters.leave_one_rater_out import panel_of
from core.text import percent
from tests.core.raters.raters_simulated import rebuilt, simulated

DAY = 86_400


@pytest.fixture(scope="module")
def stable():
    data, _ = simulated(20, np.linspace(0.6, 0.9, 60), n_cases=1200, per_case=4)
    return panel_of(data, DawidSkene("none").fit(data))


def day(drift, place):
    return np.datetime64(drift.time_of(place), "s").astype("datetime64[D]")


@pytest.mark.parametrize("kind", ["cusum", "ewma"])
def test_the_drifting_rater_of_skin_is_found_near_the_true_date_and_nobody_else(skin, skin_table, kind):
    """R04 drifts from 2024-11-11: the interval holds the date, and the estimate is within a month of it."""
    drifts = [drift_of(skin_table.panel, rater, kind=kind) for rater in range(skin.n_raters)]
    assert [drift.rater for drift in drifts if drift.alarm is not None] == ["R04"]
    found, true = drifts[3], np.datetime64("2024-11-11")
    assert abs(day(found, found.change) - true) <= np.timedelta64(31, "D")
    assert day(found, found.change_low) <= true <= day(found, found.change_high)
    assert found.before > 0.75 and found.after < 0.5
    assert found.p < 0.001 and found.windows.accuracy[0] > found.windows.high[-1]


def test_accuracy_in_a_window_is_that_of_an_even_prior():
    """Annotations known to be right or wrong have a beta posterior; the unknown ones between them are left out."""
    right = np.array([1.0] * 9 + [0.0] + [9.0] * 3 + [1.0] * 3 + [0.0] * 9)
    rows = np.array([*range(10), *range(13, 25)])
    panel = SimpleNamespace(right=right, wrong=1 - right, time=1000 + DAY * np.arange(25))
    found = windows_of(panel, rows, 2, 0.9)
    assert found.n.tolist() == [11, 11] and found.start.tolist() == [1000, 1000 + 14 * DAY]
    assert found.stop.tolist() == [1000 + 13 * DAY, 1000 + 24 * DAY]
    for window, (n_right, n_wrong) in enumerate(((10, 1), (2, 9))):
        exact = beta(n_right + 1, n_wrong + 1)
        assert found.accuracy[window] == pytest.approx(exact.mean(), abs=0.002)
        assert found.low[window] == pytest.approx(exact.ppf(0.05), abs=0.006)
        assert found.high[window] == pytest.approx(exact.ppf(0.95), abs=0.006)


def test_charts_are_what_a_slow_count_says():
    rng = np.random.default_rng(1)
    right, wrong = rng.random(30), rng.random(30)
    soft, accuracy, fall = rng.random(30), 0.7, 0.5
    order, chart = rng.permutation(30), np.empty(30)
    s, e, decay, known = 0.0, 0.0, 1.0, WARM_UP * accuracy
    cusum, ewma = [], []
    for t, n in enumerate(order):
        a = known / (WARM_UP + t)
        b = fall * a / (1 - a + fall * a)
        s = max(0, s + np.log((b * right[n] + (1 - b) * wrong[n]) / (a * right[n] + (1 - a) * wrong[n])))
        e, decay = 0.9 * e + 0.1 * (a - soft[n]), decay * 0.81
        cusum.append(s)
        ewma.append(e / np.sqrt(0.1 * (1 - decay) / 1.9))
        known += soft[n]
    assert chart_of(right, wrong, soft, order, accuracy, fall, 0.0, chart) == pytest.approx(max(cusum))
    np.testing.assert_allclose(chart, cusum)
    chart_of(right, wrong, soft, order, accuracy, fall, 0.1, chart)
    np.testing.assert_allclose(chart, ewma)


@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_every_order_of_the_annotations_is_drawn_as_often_as_another(weight):
    """All six of three annotations: each in a sixth of 6,000 draws, within four standard errors, 0.02."""
    right, wrong, soft = np.array([0.9, 0.3, 0.2]), np.array([0.1, 0.5, 0.8]), np.array([0.9, 0.4, 0.2])
    highest, chart = np.empty(6000), np.empty(3)
    args = right, wrong, soft, 0.7, 0.5, weight
    assert shuffled_highest(5, *args, np.inf, 1, highest) == 6000
    value, count = np.unique(highest, return_counts=True)
    tops = [chart_of(*args[:3], np.array(order), *args[3:], chart) for order in permutations(range(3))]
    expected, alike = np.unique(tops, return_counts=True)
    assert len(expected) > 3 and value == pytest.approx(expected)
    np.testing.assert_allclose(count / 6000, alike / 6, atol=0.02)


@pytest.mark.parametrize("kind", ["cusum", "ewma"])
def test_stable_raters_raise_alarms_as_often_as_stated(stable, kind):
    """At 0.1: 60 raters, three standard errors are 7; at 0.5 within 12."""
    drifts = [drift_of(stable, rater, kind=kind, false_alarm=0.1, n_orders=199) for rater in range(60)]
    assert sum(drift.alarm is not None for drift in drifts) <= 13
    assert abs(sum(drift.p <= 0.5 for drift in drifts) - 30) <= 12


def test_chances_of_all_raters_are_those_of_their_charts(stable):
    """Sequential random orders and a fixed number of them agree within their Monte Carlo error."""
    chances = drift_chances(stable)
    each = np.array([drift_of(stable, rater, n_orders=999).p for rater in range(60)])
    # The sequential chance rests on 10 hits: a relative error of about 1/√10.
    assert (np.abs(chances - each) <= 4 * each / np.sqrt(10) + 0.01).all()
    np.testing.assert_array_equal(chances, drift_chances(stable))


def test_a_chance_beyond_all_orders_is_that_of_the_tail_beyond_their_highest_tenth():
    """Highest points from an exponential distribution of mean 2: the chance of as high a chart is e^(-height/2)."""
    highest = -2 * np.log((np.random.default_rng(5).permutation(2000) + 0.5) / 2000)
    start = np.quantile(highest, 0.9)
    for reached in highest.max() + np.array([0.5, 4.0]):
        found = _tail(highest, 2000, reached)
        assert found == pytest.approx(0.1 * np.exp(-(reached - start) / (highest[highest > start] - start).mean()))
        assert np.log(found) == pytest.approx(-reached / 2, abs=0.1)
    tenth = np.sort(highest)[-10]
    assert _tail(highest, 2000, tenth) == pytest.approx(11 / 2001)  # ten are as high: they are counted
    assert _tail(np.array([3.0, 1.0, 2.0, 9.0]), 3, 2.0) == pytest.approx(2 / 3)  # of the orders that were drawn


@pytest.mark.parametrize("fall", [0.35, 0.5])
def test_a_fall_is_found_after_it_came(fall):
    """Three raters of ten fall; 200 annotations each; a fall this deep is nearly always found."""
    found, n = 0, 0
    for seed in range(3):
        since = {0: 300, 1: 400, 2: 500}
        change = {rater: (case, 0.88 - fall) for rater, case in since.items()}
        data, _ = simulated(30 + seed, [0.88] * 10, n_cases=700, per_case=4, change=change)
        panel = panel_of(data, DawidSkene("none").fit(data))
        for rater, case in since.items():
            drift = drift_of(panel, rater)
            n += 1
            if drift.alarm is not None and drift.time[drift.alarm] >= 1_700_000_000 + 3600 * case:
                found += 1
                assert abs((drift.time_of(drift.change) - 1_700_000_000) / 3600 - case) < 150
    assert found >= n - 1


def test_the_change_point_posterior_is_what_a_slow_sum_says():
    rng = np.random.default_rng(2)
    right, wrong = rng.random(12), rng.random(12)
    log_prior = np.full(POINTS.size, -np.log(POINTS.size))
    each = POINTS * right[:, None] + (1 - POINTS) * wrong[:, None]
    expected = [np.log(each[:t].prod(axis=0).mean()) + np.log(each[t:].prod(axis=0).mean()) for t in range(1, 12)]
    np.testing.assert_allclose(change_points(right, wrong, POINTS, log_prior), expected, rtol=1e-9)


def test_the_change_is_counted_in_answers_before_it():
    """300 right annotations, then 200 wrong ones: less than one chance in forty that it came earlier, or later."""
    right = np.repeat([1.0, 0.0], [300, 200])
    assert change_point(right, 1 - right) == (300, 300, 300)
    assert change_point(right[:310], 1 - right[:310])[0] == 300
    assert change_point(1 - right[290:], right[290:])[0] == 10


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_the_reported_change_and_its_ends_are_quantiles_of_a_slow_sum(level):
    rng = np.random.default_rng(6)
    right = np.concatenate([rng.uniform(0.5, 1, 12), rng.uniform(0, 0.6, 9)])
    each = POINTS * right[:, None] + (1 - POINTS) * (1 - right)[:, None]
    mass = np.array([each[:t].prod(axis=0).mean() * each[t:].prod(axis=0).mean() for t in range(1, 21)])
    reached = np.cumsum(mass / mass.sum())
    expected = [next(t for t in range(1, 21) if reached[t - 1] >= q) for q in (0.5, (1 - level) / 2, (1 + level) / 2)]
    assert list(change_point(right, 1 - right, level)) == expected
    assert expected[1] < expected[0] < expected[2]


def test_what_is_reported_of_a_change_is_split_at_it_and_dated_by_the_first_answer_after_it(skin, skin_table):
    panel, rater = skin_table.panel, skin.raters.index("R04")
    found = drift_of(panel, rater)
    right, wrong = panel.right[found.annotation], panel.wrong[found.annotation]
    assert (found.change, found.change_low, found.change_high) == change_point(right, wrong)
    for part, value in ((slice(found.change), found.before), (slice(found.change, None), found.after)):
        likelihood = (POINTS * right[part, None] + (1 - POINTS) * wrong[part, None]).prod(axis=0)
        assert value == pytest.approx(likelihood @ POINTS / likelihood.sum())
    assert found.time_of(found.change) == found.time[found.change] == skin.time[found.annotation][found.change]
    assert found.time_of(len(found.time)) == found.time[-1] and found.time_of(None) is None
    assert found.chart[found.alarm] > found.limit and (found.chart[: found.alarm] <= found.limit * (1 + 1e-9)).all()
    (words,) = [flag.words for flag in skin_table.flags_of(rater) if flag.rule == "drift"]
    assert f"before about {day(found, found.change)}," in words
    assert (
        words.startswith(f"Correct in {percent(found.before)} of annotations")
        and f", and in {percent(found.after)} since then." in words
    )


def test_intervals_of_the_change_hold_it():
    """Truth known, a place drawn evenly as the prior says: 95% of 150, within three standard errors."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(150):
        n, at = 80, int(rng.integers(1, 80))
        before, after = rng.random(2)
        right = (rng.random(n) < np.where(np.arange(n) < at, before, after)).astype(float)
        _, low, high = change_point(right, 1 - right)
        held += low <= at <= high
    assert held / 150 > 0.95 - 3 * np.sqrt(0.95 * 0.05 / 150)


def test_a_rater_does_not_raise_the_alarm_for_others(stable):
    """When one falls, charts of the others stay under limits of one in a thousand."""
    data, _ = simulated(40, [0.85] * 8, n_cases=600, per_case=4, change={0: (300, 0.3)})
    panel = panel_of(data, DawidSkene("none").fit(data))
    chances = drift_chances(panel)
    assert chances[0] < 1e-4 and (chances[1:] > 1e-3).all()


def test_answers_without_a_time_are_left_out_and_counted():
    data, _ = simulated(41, [0.8] * 4, n_cases=60)
    time = data.time.copy()
    rows = np.flatnonzero(data.rater == 1)[:5]
    time[rows] = MISSING_TIME
    data = rebuilt(data, data.answer, time)
    drift = drift_of(panel_of(data, MajorityVote().fit(data)), 1)
    assert drift.n_undated == 5
    assert (drift.time != MISSING_TIME).all() and (np.diff(drift.time) >= 0).all()
    assert drift.windows.n.sum() == drift.time.size


def test_what_cannot_be_charted_says_why():
    data, _ = simulated(42, [0.8] * 4, n_cases=60, times=False)
    panel = panel_of(data, MajorityVote().fit(data))
    with pytest.raises(NotApplicableError, match="no dates"):
        drift_of(panel, 0)
    assert np.isnan(drift_chances(panel)).all()
    few, _ = simulated(43, [0.8] * 10, n_cases=12, per_case=3)
    with pytest.raises(NotApplicableError, match="10 are needed"):
        drift_of(panel_of(few, MajorityVote().fit(few)), 0)
    for wrong in ({"kind": "shewhart"}, {"false_alarm": 0.9}, {"n_windows": 0}):
        with pytest.raises(InputError):
            drift_of(panel, 0, **wrong)


def test_a_rater_who_is_always_right_has_a_flat_chart():
    data, truth = simulated(44, [0.999] * 5, n_cases=100)
    data = rebuilt(data, truth[data.case_of_annotation])
    drift = drift_of(panel_of(data, MajorityVote().fit(data)), 0)
    assert drift.alarm is None and drift.p > 0.5
