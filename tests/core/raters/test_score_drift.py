"""Severity over time: the differences by hand, planted changes, stable raters, and what cannot be followed."""

import numpy as np
import pytest
from scipy.special import kolmogorov

from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import NotApplicableError
from core.ingest.samples import load_sample
from core.raters.score_drift import _change, _chart, score_drifts
from core.raters.score_raters import score_raters

START, HOUR = 1_700_000_000, 3600


def followed(seed, shift=0.0, trend=0.0, n_cases=150):
    """Six raters, three a case, one case an hour; the first scores ``shift`` higher after 60% of the cases."""
    rng = np.random.default_rng(seed)
    case = np.repeat(np.arange(n_cases), 3)
    rater = np.concatenate([rng.choice(6, 3, replace=False) for _ in range(n_cases)])
    true = rng.normal(5, 1.5, n_cases) + trend * np.arange(n_cases) / n_cases
    score = true[case] + rng.normal(0, 0.5, 6)[rater] + rng.normal(0, rng.uniform(0.5, 1.2, 6)[rater])
    score += shift * ((rater == 0) & (case >= 0.6 * n_cases))
    names = ["s", [str(i) for i in range(n_cases)], [f"r{j}" for j in range(6)]]
    return Dataset.from_scores(*names, case, rater, score, time=START + case * HOUR)


def drifts(data, **options):
    return score_drifts(data, score_raters(data), **options)


def test_a_difference_is_the_score_less_the_others_of_the_case_by_their_precision_and_severity():
    data = followed(1, n_cases=40)
    raters, found = score_raters(data), drifts(data)
    spread = np.maximum(raters.spread, raters.median_spread / 4)
    for rater, one in enumerate(found.each):
        assert (np.diff(one.time) > 0).all() and (data.rater[one.annotation] == rater).all()
        for row, above in zip(one.annotation, one.above, strict=True):
            mates = np.flatnonzero((data.case_of_annotation == data.case_of_annotation[row]) & (data.rater != rater))
            who = data.rater[mates]
            others = np.average(data.score[mates] - raters.severity[who], weights=spread[who] ** -2.0)
            assert above == pytest.approx(data.score[row] - others)
        assert one.p == pytest.approx(kolmogorov(np.abs(one.chart).max())) and one.chart[-1] == pytest.approx(0)


def test_a_chart_standardises_each_difference_by_its_rater_and_by_the_mean_of_its_others():
    """The variance of a score less a weighted mean of others: its own, and theirs by the squares of their weights."""
    data = followed(4, n_cases=40)
    raters = score_raters(data)
    variance = np.maximum(raters.spread, raters.median_spread / 4) ** 2
    for rater, one in enumerate(drifts(data).each):
        of_difference = []
        for case in data.case_of_annotation[one.annotation]:
            who = data.rater[(data.case_of_annotation == case) & (data.rater != rater)]
            weight = (1 / variance[who]) / (1 / variance[who]).sum()
            of_difference.append(variance[rater] + (weight**2 * variance[who]).sum())
        assert max(of_difference) > 1.05 * min(of_difference)
        level = np.average(one.above, weights=1 / np.array(of_difference))
        standard = (one.above - level) / np.sqrt(of_difference)
        sums = np.cumsum(standard - standard.mean()) / (standard.std() * np.sqrt(standard.size))
        assert one.chart == pytest.approx(sums, abs=1e-9)


def test_a_planted_change_is_found_with_its_moment_and_size_and_named_in_a_sentence():
    found = [drifts(followed(seed, shift=1.5)) for seed in range(12)]
    assert all(one.alarm[0] for one in found)
    held = [one.each[0].time[[one.each[0].change_low, one.each[0].change_high]] for one in found]
    assert sum(low - 5 * HOUR <= START + 90 * HOUR <= high + 5 * HOUR for low, high in held) >= 10
    moved = np.array([one.each[0].after[0] - one.each[0].before[0] for one in found])
    assert abs(moved.mean() - 1.5) < 4.5 * moved.std() / np.sqrt(len(moved))
    said = found[0].words(0)
    assert said.startswith(f"r0 scores {moved[0]:.2f} higher since about 2023-11-1")
    down = drifts(followed(0, shift=-1.5))
    assert "lower since" in down.words(0) and down.to_frame()["since"][0] == down.day(0)


@pytest.mark.parametrize("seed", range(4))
def test_the_moment_of_a_change_and_its_interval_are_those_of_both_means_summed_out(seed):
    """Twelve values, a change after three, near the end where the number of values on each side counts most."""
    rng = np.random.default_rng(seed)
    variance = rng.uniform(0.5, 2.0, 12)
    above = rng.normal(0, np.sqrt(variance)) + 1.2 * (np.arange(12) >= 3)
    sides = [(slice(0, place), slice(place, None)) for place in range(1, 12)]
    best = [sum(((above[s] - np.average(above[s], weights=1 / variance[s])) ** 2 / variance[s]).sum() for s in both)
            for both in sides]  # fmt: skip
    scale = min(best) / 10
    mean = np.linspace(-12, 12, 6001)[:, None]

    def summed_out(part):
        return np.exp(-((above[part] - mean) ** 2 / variance[part]).sum(axis=1) / (2 * scale)).sum()

    mass = np.array([summed_out(first) * summed_out(second) for first, second in sides])
    reached = np.cumsum(mass / mass.sum())
    expected = [int(np.searchsorted(reached, share)) + 1 for share in (0.5, 0.025, 0.975)]
    assert list(_change(above, variance, 0.95)[:3]) == expected


def test_stable_raters_seldom_have_an_alarm_even_where_cases_become_better():
    """At most 5% of crowds: of 60 crowds 3 on average at most, and 8 or more with a probability of 1%."""
    for trend in (0.0, 6.0):
        found = [drifts(followed(seed, trend=trend)) for seed in range(60)]
        assert sum(one.alarm.any() for one in found) <= 7
        p = np.concatenate([one.p for one in found])
        assert 0.005 < (p < 0.05).mean() < 0.09
    assert all(one.words(2) == "r2 shows no change in severity" for one in found if not one.alarm[2])


def test_what_cannot_be_followed_is_said_or_left_out():
    data = followed(3)
    with pytest.raises(NotApplicableError, match="no times"):
        drifts(load_sample("essays"))
    time = np.where(data.rater == 1, MISSING_TIME, data.time)
    names = ["s", data.cases, data.raters]
    found = drifts(Dataset.from_scores(*names, data.case_of_annotation, data.rater, data.score, time=time))
    assert found.each[1] is None and np.isnan(found.p[1]) and not found.alarm[1]
    assert found.n_undated == (data.rater == 1).sum() and "too few dated scores" in found.words(1)


def test_an_interval_of_a_stretch_has_its_scores_and_moments():
    one = drifts(followed(4)).each[2]
    assert one.windows[:, 5].sum() == len(one.time) and (one.windows[:, 5] >= 10).all()
    first = int(one.windows[0, 5])
    assert one.windows[0, 0] == pytest.approx(one.above[:first].mean())
    assert one.windows[0, 3:5].tolist() == [one.time[0], one.time[first - 1]]
    assert (one.windows[:, 1] < one.windows[:, 0]).all() and (one.windows[:, 0] < one.windows[:, 2]).all()


def test_scores_that_are_always_as_far_above_the_others_chart_a_rater_who_is_surely_stable():
    chart, chance = _chart(np.full(5, 0.75), np.array([1.0, 2.0, 1.0, 4.0, 1.0]))
    assert (chart.tolist(), chance) == ([0.0] * 5, 1.0)
