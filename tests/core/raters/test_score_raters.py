"""Severity and spread of raters of scores: the system written out whole, planted raters, and what cannot be told."""

import numpy as np
import pytest
from scipy.special import polygamma

from core.annotations.dataset import Dataset
from core.errors import InputError, LimitError, NotApplicableError
from core.ingest.samples import load_sample
from core.raters import score_raters as module
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
    assert words.startswith(f"Ben scores {-found.severity[name['Ben']]:.2f} lower than the average rater")
    assert f"Eve's scores vary more than the others': spread {found.spread[name['Eve']]:.2f}" in words


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
    with pytest.raises(NotApplicableError, match="no case has scores by two raters"):
        score_raters(Dataset.from_scores("s", cases, raters, [0, 1], [0, 1], [1.0, 2.0]))
    with pytest.raises(InputError, match="all scores are equal"):
        score_raters(Dataset.from_scores("s", cases, raters, [0, 0, 1, 1], [0, 1, 0, 1], [1.0] * 4))
    with pytest.raises(NotApplicableError, match="within each case, all scores are equal"):
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
    assert said.startswith("Dr. Q's scores fall as those of the others rise (correlation -0.")
    assert said.endswith("as if the scale were reversed")
    assert not score_raters(data).against.any()


def test_of_two_raters_whose_scores_run_apart_neither_is_said_to_be_the_one():
    case = np.repeat(np.arange(12), 2)
    score = np.where(np.arange(24) % 2, 12 - case, case) + np.random.default_rng(1).normal(0, 1, 24)
    names = [str(i) for i in range(12)]
    found = score_raters(Dataset.from_scores("s", names, list("xy"), case, np.tile([0, 1], 12), score))
    assert found.against.all() and "it is unclear which ones" in found.words()
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
    assert "-1.00 (no interval)" in found.words()
