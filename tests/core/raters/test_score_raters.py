"""Severity and spread of raters of scores: the system written out whole, planted raters, and what cannot be told."""

import csv
import json

import numpy as np
import pytest
from scipy.special import kolmogorov, polygamma
from scipy.stats import t

from core.__main__ import main
from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import InputError, LimitError, NotApplicableError
from core.ingest.read_files import read
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.raters import score_raters as module
from core.raters.score_drift import _change, _chart, score_drifts
from core.raters.score_gold import score_gold
from core.raters.score_raters import score_raters


def crowd(seed, n_cases, n_raters, n_each, omega=0.5):
    """Scores by raters of known severity and spread, which are given back: severities less their mean."""
    rng = np.random.default_rng(seed)
    spread = 0.8 * np.sqrt(8 / rng.chisquare(8, n_raters))
    severity = rng.normal(0, omega, n_raters)
    case = np.repeat(np.arange(n_cases), n_each)
    rater = np.concatenate([rng.choice(n_raters, n_each, replace=False) for _ in range(n_cases)])
    score = rng.normal(5, 1.5, n_cases)[case] + severity[rater] + rng.normal(0, spread[rater])
    names = ["s", [str(i) for i in range(n_cases)], [f"r{j}" for j in range(n_raters)]]
    return Dataset.from_scores(*names, case, rater, score), severity - severity.mean(), spread


def test_severities_are_those_of_the_whole_normal_system_at_the_variances_found():
    """Generalised least squares with the covariance of all scores written out, raters as random effects."""
    data, _, _ = crowd(1, 30, 5, 3)
    fit = module._Fit(module._table(data))
    for _ in range(300):
        fit.step()
    sigma2, tau2, omega2, m = fit.sigma2.copy(), fit.tau2, fit.omega2, fit.m
    table = fit.table
    fit.step()  # severities at these variances
    of_case, of_rater = np.eye(30)[table.case], np.eye(5)[table.rater]
    whole = tau2 * of_case @ of_case.T + omega2 * of_rater @ of_rater.T + np.diag(sigma2[table.rater])
    inverse = np.linalg.inv(whole)
    delta = omega2 * of_rater.T @ inverse @ (table.score - m)
    covariance = omega2 * np.eye(5) - omega2**2 * of_rater.T @ inverse @ of_rater
    assert fit.delta == pytest.approx(delta, abs=1e-9)
    assert fit.covariance == pytest.approx(covariance, abs=1e-9)


@pytest.mark.parametrize("n_cases", [6, 9])
def test_where_raters_hardly_err_cases_vary_as_their_means_do_with_one_degree_of_freedom_less(n_cases):
    rng = np.random.default_rng(n_cases)
    true, severity = rng.normal(5, 2, n_cases), np.array([0.0, 0.5, -0.2, -0.3])
    case, rater = (axis.ravel() for axis in np.indices((n_cases, 4)))
    score = true[case] + severity[rater] + rng.normal(0, 1e-3, case.size)
    found = score_raters(Dataset.from_scores("s", [str(n) for n in range(n_cases)], list("wxyz"), case, rater, score))
    assert found.between_cases == pytest.approx(true.std(ddof=1), rel=0.02)
    assert found.severity == pytest.approx(severity, abs=0.02) and found.mean == pytest.approx(true.mean(), abs=0.02)


def test_the_planted_raters_of_the_sample_are_found_and_nobody_else():
    found = score_raters(load_sample("essays"))
    name = dict(zip(found.raters, range(9), strict=True))
    assert found.converged
    assert {rater for rater, clear in zip(found.raters, found.severe, strict=True) if clear} == {"Ben", "Cleo"}
    assert {rater for rater, clear in zip(found.raters, found.erratic, strict=True) if clear} == {"Eve"}
    for rater, planted in (("Ben", -0.92), ("Cleo", 0.68)):  # less the mean of all, 0.02; within three standard errors
        apart = abs(found.severity[name[rater]] - planted)
        assert apart < 1.5 * (found.severity_high - found.severity)[name[rater]]
    words = found.words()
    assert words.startswith(f"Ben's scores are {-found.severity[name['Ben']]:.2f} points (")
    assert ") lower than the average rater's" in words
    assert f"Eve's scores vary more than those of the other raters: spread {found.spread[name['Eve']]:.2f}" in words


def test_intervals_hold_planted_severities_and_spreads():
    """About 95 of 100: 40 crowds of 8 raters, within three standard errors of a share."""
    held = []
    for seed in range(40):
        data, severity, spread = crowd(seed, 80, 8, 3)
        found = score_raters(data)
        held.append((found.severity_low <= severity) & (severity <= found.severity_high))
        held.append((found.spread_low <= spread) & (spread <= found.spread_high))
    for each in (np.array(held[::2]), np.array(held[1::2])):
        assert each.mean() == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / each.size))


def test_alike_raters_are_not_told_apart_in_words():
    data, *_ = crowd(5, 60, 6, 3, omega=0.0)
    rng = np.random.default_rng(0)
    score = rng.normal(5, 1.5, 60)[data.case_of_annotation] + rng.normal(0, 1, 180)
    alike = Dataset.from_scores("s", data.cases, data.raters, data.case_of_annotation, data.rater, score)
    found = score_raters(alike)
    assert not found.severe.any() and not found.erratic.any()
    assert found.words().startswith("No rater clearly scores higher, lower or less consistently")


def test_other_units_and_names_change_nothing_but_units_and_names():
    data, *_ = crowd(2, 40, 4, 2)
    more = Dataset.from_scores("s", data.cases, [f"x{r}" for r in data.raters], data.case_of_annotation, data.rater,
                               100 * data.score - 7)  # fmt: skip
    one, other = score_raters(data), score_raters(more)
    for name in ("severity", "severity_low", "spread", "spread_high"):
        assert getattr(other, name) == pytest.approx(100 * getattr(one, name), rel=1e-6)
    assert other.mean == pytest.approx(100 * one.mean - 7)


def test_a_rater_who_shares_no_case_has_no_severity():
    rng = np.random.default_rng(0)
    case, rater = np.append(np.repeat(np.arange(20), 3), 20), np.append(np.tile([0, 1, 2], 20), 3)
    score = rng.normal(5, 2, 21)[case] + rng.normal(0, 1, 61)
    found = score_raters(Dataset.from_scores("s", [str(i) for i in range(21)], list("wxyz"), case, rater, score))
    assert np.isnan(found.severity[3]) and found.n.tolist() == [20, 20, 20, 1]
    assert np.isfinite(found.severity[:3]).all() and found.severity[:3].sum() == pytest.approx(0)


def test_what_tells_nothing_of_raters_is_refused(monkeypatch):
    cases, raters = list("ab"), list("xy")
    with pytest.raises(NotApplicableError, match="no case was scored by two raters"):
        score_raters(Dataset.from_scores("s", cases, raters, [0, 1], [0, 1], [1.0, 2.0]))
    with pytest.raises(InputError, match="all scores are the same"):
        score_raters(Dataset.from_scores("s", cases, raters, [0, 0, 1, 1], [0, 1, 0, 1], [1.0] * 4))
    with pytest.raises(NotApplicableError, match="the raters agree on the score of every case"):
        score_raters(Dataset.from_scores("s", cases, raters, [0, 0, 1, 1], [0, 1, 0, 1], [1.0, 1.0, 2.0, 2.0]))
    with pytest.raises(NotApplicableError, match="neither scores nor ordered classes"):
        score_raters(load_sample("anaesthesia"))
    monkeypatch.setattr(module, "MOST_RATERS", 3)
    with pytest.raises(LimitError, match="these data have 4"):
        score_raters(crowd(1, 10, 4, 2)[0])


def test_a_rater_whose_scale_runs_the_other_way_is_told_as_that():
    data, *_ = crowd(3, 60, 5, 3)
    mine = data.rater == 2
    score = np.where(mine, 10 - data.score, data.score)
    turned = Dataset.from_scores("s", data.cases, ["a", "b", "Dr. Q", "d", "e"], data.case_of_annotation, data.rater,
                                 score)  # fmt: skip
    found = score_raters(turned)
    assert found.against.tolist() == [False, False, True, False, False]
    assert found.with_others_high[2] < 0 and (found.with_others_low[[0, 1, 3, 4]] > 0).all()
    low, value, high = (getattr(found, f"with_others{end}")[2] for end in ("_low", "", "_high"))
    assert np.arctanh([low, high]) == pytest.approx(
        np.arctanh(value) + np.array([-1.959964, 1.959964]) / np.sqrt(found.n[2] - 3)
    )
    said = found.sentences()[0]
    assert said.startswith(
        "Dr. Q seems to reverse the scale: their scores fall as the others' rise, with a correlation of −0."
    )
    assert not score_raters(data).against.any()


def test_of_two_raters_whose_scores_run_apart_neither_is_said_to_be_the_one():
    case = np.repeat(np.arange(12), 2)
    score = np.where(np.arange(24) % 2, 12 - case, case) + np.random.default_rng(1).normal(0, 1, 24)
    names = [str(i) for i in range(12)]
    found = score_raters(Dataset.from_scores("s", names, list("xy"), case, np.tile([0, 1], 12), score))
    assert found.against.all() and "it is unclear which. For example, " in found.words()
    few = case < 9
    found = score_raters(Dataset.from_scores("s", names, list("xy"), case[few], np.tile([0, 1], 9), score[few]))
    assert np.isnan(found.with_others).all() and not found.against.any()


def test_raters_who_say_nothing_of_the_case_seldom_seem_to_run_against_the_others():
    """At most 5 of 100 crowds have one, within three standard errors."""
    seen = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        case, rater = np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40)
        score = rng.normal(5, 1, 160) + np.where(rater == 0, 0, rng.normal(0, 1, 40)[case])
        names = [str(i) for i in range(40)]
        seen += score_raters(Dataset.from_scores("s", names, list("wxyz"), case, rater, score)).against.any()
    assert seen / 60 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


@pytest.mark.parametrize("value", [1e-8, 1e-3, 1.0, 1e3, 1e8, 1e12])
def test_the_inverse_of_trigamma_is_taken_over_all_its_range(value):
    assert polygamma(1, module._inverse_trigamma(value)) == pytest.approx(value, rel=1e-7)


def test_where_variances_cannot_be_told_apart_they_are_known_with_hardly_any_freedom():
    """Two raters share all cases, which vary without bound: only the sum of their variances is seen."""
    case, rater = (axis.ravel() for axis in np.indices((6, 2)))
    score = np.random.default_rng(1).normal(size=12)
    fit = module._Fit(module._table(Dataset.from_scores("s", list("123456"), ["a", "b"], case, rater, score)))
    fit.tau2 = np.inf
    weight = 1 / fit.sigma2[fit.table.rater]
    assert fit._told(np.bincount(fit.table.case, weight), weight).tolist() == [1e-3, 1e-3]


def test_clear_is_what_intervals_shared_among_all_raters_leave_out():
    """With 5% over eight raters: two-sided about 0, one-sided above the median of all spreads and below 0."""
    rng = np.random.default_rng(4)
    spread, severity = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 9.0]), np.array([0, 0, 0, 0, 0.25, 1.0, 0, 0])
    truth = rng.normal(5, 2, 70)
    sign = np.where(np.arange(8) == 3, -0.15, 1.0)  # one who runs the other way
    score = 5 + sign * (truth[:, None] - 5) + severity + rng.normal(0, 1, (70, 8)) * spread
    case, rater = np.divmod(np.arange(560), 8)
    data = Dataset.from_scores("s", [str(i) for i in range(70)], list("abcdefgh"), case, rater, score.ravel())
    two, one = score_raters(data, level=1 - 0.05 / 8), score_raters(data, level=1 - 2 * 0.05 / 8)
    median = np.median(two.spread)
    for found in (two, one):
        assert found.severe.tolist() == ((two.severity_low > 0) | (two.severity_high < 0)).tolist()
        assert found.erratic.tolist() == (one.spread_low > median).tolist()
        assert found.against.tolist() == (one.with_others_high < 0).tolist()
    assert median < one.spread_low[6] < np.mean(two.spread) and two.erratic[[6, 7]].all()
    assert two.severe[5] and not two.severe[0] and not two.erratic[0]


def test_a_correlation_of_one_has_no_interval_and_one_that_is_turned_round_is_flagged_all_the_same():
    """Four raters who give the same up to their level, and one who gives the opposite."""
    level, (case, rater) = np.arange(30) * 7 % 30, (axis.ravel() for axis in np.indices((30, 5)))
    score = np.where(rater < 4, 10.0 + level[case] + rater, 60.0 - level[case])
    names = ["s", [str(k) for k in range(30)], list("abcde")]
    found = score_raters(Dataset.from_scores(*names, case, rater, score))
    assert found.with_others[4] == pytest.approx(-1) and found.against.tolist() == [False] * 4 + [True]
    assert np.isnan(found.with_others_low[4]) and np.isnan(found.with_others_high[4])
    assert "−1.00 (no interval)" in found.words()


# Score drift: Severity over time: the differences by hand, planted changes, stable raters, and what cannot be
# followed.


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
    assert said.startswith(f"r0 has scored {moved[0]:.2f} points higher since about 2023-11-1")
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
    with pytest.raises(NotApplicableError, match="no dates"):
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


# Score gold: Bias and error of raters of scores against known scores, by hand, on the sample and on the command line.


TRUTH = SAMPLE_FOLDER / "essays" / "truth.csv"


def test_bias_and_error_are_those_by_hand():
    """Three scores of one rater and one of another on gold cases; a third has none, a known case nobody scored."""
    text = "case,rater,score\n1,a,3\n2,a,5\n3,a,2.5\n1,b,4\n4,b,9\n4,c,9\n"
    found = score_gold(read(text.encode(), kind="score").dataset, {"1": 2.0, "2": 5.5, "3": 1.0, "7": 3.0})
    off = np.array([1, -0.5, 1.5])
    assert found.n.tolist() == [3, 1, 0]
    reach = t.ppf(0.975, 2) / np.sqrt(3)
    assert found.bias[0] == pytest.approx(off.mean()) and found.error[0] == pytest.approx(1.0)
    assert [found.bias_low[0], found.bias_high[0]] == pytest.approx(
        [off.mean() - reach * off.std(ddof=1), off.mean() + reach * off.std(ddof=1)]
    )
    assert found.error_low[0] == 0 and found.error_high[0] == pytest.approx(1 + reach * 0.5)
    assert (found.bias[1], found.error[1]) == (2, 2) and np.isnan([found.bias_low[1], found.bias[2]]).all()


def test_who_is_named_is_surely_off_and_not_farthest_off_by_chance():
    rows = [f"{case},a,{5.6 + (case % 2) / 50}" for case in range(12)] + ["0,b,4", "1,b,9"]
    data = read(("case,rater,score\n" + "\n".join(rows) + "\n").encode(), kind="score").dataset
    found = score_gold(data, {str(case): 5.0 for case in range(12)})
    assert abs(found.bias[1]) > found.bias[0] and found.bias_low[1] < 0 < found.bias_high[1]
    assert found.words().startswith("a scores 0.61 points higher than gold (0.60 to 0.62; n = 12 scores)")


def test_what_has_no_known_score_is_refused():
    essays = load_sample("essays")
    with pytest.raises(NotApplicableError, match="no case has both a score and a gold score"):
        score_gold(essays, {"nobody": 1.0})
    with pytest.raises(InputError, match="not a finite number"):
        score_gold(essays, {essays.cases[0]: float("nan")})
    with pytest.raises(NotApplicableError, match=r"these annotations are .*, not scores|are anonymous"):
        score_gold(load_sample("anaesthesia"), {"1": 1.0})


def test_the_command_tells_severity_as_the_page_does_and_bias_against_gold(capsys, tmp_path):
    """The severe rater is below the truth, too; without gold nothing is said of it."""
    assert main(["raters", "essays", "--gold", str(TRUTH)]) == 0
    told = json.loads(capsys.readouterr().out)
    essays = load_sample("essays")
    found = score_raters(essays)
    with TRUTH.open(encoding="utf-8", newline="") as file:
        gold = {row["case"]: float(row["score"]) for row in csv.DictReader(file)}
    against = score_gold(essays, gold)
    first = next(row for row in told["raters"] if row["rater"] == "Ben")
    place = found.raters.index("Ben")
    assert first["severe"] and told["words"].endswith(f" {found.words()}.")
    for name in ("severity", "severity_low", "spread_high"):
        assert first[name] == pytest.approx(getattr(found, name)[place], abs=1e-12)
    for name in ("bias", "bias_high", "error", "error_low"):
        assert first["gold"][name] == pytest.approx(getattr(against, name)[place], abs=1e-12)
    assert first["gold"]["n"] == found.n[place] and first["gold"]["bias_high"] < 0
    some = dict(list(gold.items())[:60])
    (tmp_path / "some.csv").write_text("case,score\n" + "".join(f"{case},{score}\n" for case, score in some.items()))
    assert main(["raters", "essays", "--gold", str(tmp_path / "some.csv")]) == 0
    n = {row["rater"]: row["gold"]["n"] for row in json.loads(capsys.readouterr().out)["raters"]}
    assert n == dict(zip(essays.raters, score_gold(essays, some).n.tolist(), strict=True)) and n["Ben"] < found.n[place]
    assert main(["raters", "essays"]) == 0
    assert "gold" not in json.loads(capsys.readouterr().out)["raters"][0]
    assert main(["raters", "essays", "--acceptable", "1.7"]) != 0
    assert "acceptable accuracy or correlation is 1.7" in capsys.readouterr().err
    (tmp_path / "gold.csv").write_text("case,score\nessay-001,good\n")
    assert main(["raters", "essays", "--gold", str(tmp_path / "gold.csv")]) != 0
    assert "row 1 contains 'good', which is not a score" in capsys.readouterr().err
    assert main(["raters", "essays", "--threshold", "6"]) == 0
    assert "acceptable" in json.loads(capsys.readouterr().out)
