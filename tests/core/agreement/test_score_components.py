"""Variance components of scores against the restricted likelihood written out with whole covariance matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import chi2

from core.agreement import score_components
from core.agreement.krippendorff import alpha_as_scale_and_names, krippendorff_alpha
from core.agreement.score_components import expit, henderson, least, one_way_reml, two_way
from core.agreement.scores import two_way_anova
from core.annotations.ordering import with_class_order
from core.ingest.read_files import read


def simulated(seed, n_cases, n_raters, spread=(1.0, 0.5, 0.8), gaps=0.3):
    """Scores of normal cases, raters and errors, each cell missing by chance, and no case or rater without one."""
    rng = np.random.default_rng(seed)
    shape = n_cases, n_raters
    table = rng.normal(size=(n_cases, 1)) * spread[0] + rng.normal(size=n_raters) * spread[1]
    table = table + rng.normal(size=shape) * spread[2]
    keep = rng.random(shape) >= gaps
    keep[np.arange(n_cases), np.arange(n_cases) % n_raters] = True
    keep[np.arange(n_raters) % n_cases, np.arange(n_raters)] = True
    case, rater = (code.astype(np.int32) for code in np.nonzero(keep))
    return case, rater, table[keep] - table[keep].mean()


def slow_criterion(logs, effects, y):
    """−2 restricted log likelihood, σ_e² profiled out, by the whole matrix of covariances."""
    covariance = np.eye(y.size)
    for log, codes in zip(logs, effects, strict=True):
        covariance += np.exp(log) * (codes[:, None] == codes)
    inverse, ones = np.linalg.inv(covariance), np.ones(y.size)
    information = ones @ inverse @ ones
    rest = y - ones @ inverse @ y / information
    square = rest @ inverse @ rest
    return (y.size - 1) * np.log(square) + np.linalg.slogdet(covariance)[1] + np.log(information)


@pytest.mark.parametrize(("n_cases", "n_raters"), [(25, 6), (6, 25), (12, 12)])
def test_the_criterion_is_that_of_whole_matrices_whichever_of_cases_and_raters_are_more(n_cases, n_raters):
    case, rater, y = simulated(1, n_cases, n_raters)
    crossed = score_components._crossed(case, rater, y)
    points = [(0.0, 0.0), (1.0, -2.0), (-8.0, 3.0), (2.5, 2.5)]
    fast = np.array([crossed.criterion(*point) for point in points])
    slow = np.array([slow_criterion(point, (case, rater), y) for point in points])
    np.testing.assert_allclose(fast - fast[0], slow - slow[0], atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_estimates_and_ends_are_those_of_the_likelihood(seed):
    """At each end the best likelihood with that ICC is χ²₁(0.95)/2 = 1.92 below the best of all."""
    case, rater, y = simulated(seed, 14, 5)
    found = two_way(case, rater, y, 0.95)
    assert found.method == "REML, profile interval"
    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    best = minimize(slow_criterion, (0, -1), ((case, rater), y), "Nelder-Mead", options=options)
    a, b = np.exp(best.x)
    assert found.absolute[0] == pytest.approx(a / (a + b + 1), abs=1e-4)
    assert found.consistent[0] == pytest.approx(a / (a + 1), abs=1e-4)
    for ends, absolute in ((found.absolute, True), (found.consistent, False)):
        for end in ends[1:]:
            ratio = np.log(max(end, 1e-9) / (1 - end))

            def at(x, ratio=ratio, absolute=absolute):
                return slow_criterion((ratio + absolute * np.log1p(np.exp(x)), x), (case, rater), y)

            below = minimize_scalar(at, bounds=(-14, 4), method="bounded").fun
            if end > 0:
                assert below - best.fun == pytest.approx(chi2.ppf(0.95, 1), abs=5e-3)
            else:
                assert below - best.fun < chi2.ppf(0.95, 1)


def test_complete_tables_give_the_analysis_of_variance():
    case, rater, y = simulated(4, 30, 5, gaps=0.0)
    absolute, _, consistent, _ = two_way_anova(y.reshape(30, 5), 0.95, "", ("absolute", "consistent"))
    found = two_way(case, rater, y, 0.95)
    assert found.absolute[0] == pytest.approx(absolute.value, abs=1e-5)
    assert found.consistent[0] == pytest.approx(consistent.value, abs=1e-5)
    cases, raters, error = henderson(case, rater, y)
    assert cases / (cases + raters + error) == pytest.approx(absolute.value, abs=1e-12)
    assert cases / (cases + error) == pytest.approx(consistent.value, abs=1e-12)


def test_moments_are_right_on_average():
    """400 data sets; the mean of each component within four of its standard errors."""
    found = np.array([henderson(*simulated(seed, 20, 8, (1.0, 0.7, 0.5), 0.5)) for seed in range(400)])
    # Centring each data set is no part of the model, and takes nothing from differences of scores.
    error = found.std(axis=0) / np.sqrt(400)
    assert (np.abs(found.mean(axis=0) - (1.0, 0.49, 0.25)) < 4 * error).all()


@pytest.mark.parametrize("most", [5, 60])
def test_intervals_hold_the_truth_as_often_as_they_say(most, monkeypatch):
    """150 panels of 8 raters, delta method and profile: 0.95 less 4 · √(0.95 · 0.05/150), 0.071, at the least."""
    monkeypatch.setattr(score_components, "MOST_FOR_PROFILE", most)
    held = np.zeros(2)
    for seed in range(150):
        found = two_way(*simulated(1000 + seed, 20, 8, gaps=0.4), 0.95)
        for place, (ends, truth) in enumerate(((found.absolute, 1 / 1.89), (found.consistent, 1 / 1.64))):
            held[place] += ends[1] <= truth <= ends[2]
    assert (held / 150 > 0.879).all(), held


@pytest.mark.parametrize("seed", range(3))
def test_ends_by_the_delta_method_are_those_of_the_curvature_in_cases_and_raters_together(seed, monkeypatch):
    """That of a cubic laid through the likelihood of whole matrices around its best, its mixed part included."""
    monkeypatch.setattr(score_components, "MOST_FOR_PROFILE", 1)
    case, rater, y = simulated(seed, 14, 5)
    found = two_way(case, rater, y, 0.95)
    assert found.method == "REML, delta-method interval"
    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}
    best = minimize(slow_criterion, (0, -1), ((case, rater), y), "Nelder-Mead", options=options).x
    a, b = 0.1 * (np.indices((5, 5)).reshape(2, -1) - 2)
    around = [slow_criterion(best + step, (case, rater), y) for step in zip(a, b, strict=True)]
    terms = np.column_stack([a**2 / 2, a * b, b**2 / 2, np.ones(25), a, b, a**3, a**2 * b, a * b**2, b**3])
    cases, both, raters = np.linalg.lstsq(terms, around, rcond=None)[0][:3]
    covariance = 2 * np.linalg.inv([[cases, both], [both, raters]])
    for (value, low, high), slope in ((found.absolute, [1, -expit(best[1])]), (found.consistent, [1, 0])):
        half, logit = 1.959964 * np.sqrt(slope @ covariance @ slope), np.log(value / (1 - value))
        assert (low, high) == pytest.approx((expit(logit - half), expit(logit + half)), abs=1e-3)


def test_too_much_for_likelihood_gives_moments_without_an_interval(monkeypatch):
    case, rater, y = simulated(5, 40, 6)
    likelihood = two_way(case, rater, y, 0.95)
    monkeypatch.setattr(score_components, "MOST_INNER", 5)
    found = two_way(case, rater, y, 0.95)
    assert found.method == "Henderson" and found.absolute[1:] == (None, None)
    assert found.absolute[0] == pytest.approx(likelihood.absolute[0], abs=0.1)


def test_raters_who_do_not_differ_are_at_the_bound_and_the_two_correlations_are_one():
    case, rater, y = simulated(6, 40, 5, (1.0, 0.0, 1.0), 0.2)
    y = y - (np.bincount(rater, y) / np.bincount(rater))[rater]
    found = two_way(case, rater, y, 0.95)
    assert found.absolute[0] == pytest.approx(found.consistent[0], abs=1e-6)
    assert found.absolute[1] < found.absolute[0] < found.absolute[2]


def test_cases_that_do_not_differ_are_at_the_bound_of_0():
    case, rater, y = simulated(7, 40, 5, (0.0, 1.0, 1.0), 0.2)
    y = y - (np.bincount(case, y) / np.bincount(case))[case]
    found = two_way(case, rater, y, 0.95)
    assert found.absolute[0] == found.absolute[1] == found.consistent[0] == found.consistent[1] == 0
    assert 0 < found.absolute[2] < 0.2


@pytest.mark.parametrize("seed", range(3))
def test_one_way_estimates_and_ends_are_those_of_the_likelihood(seed):
    case, _, y = simulated(seed, 16, 5, (1.0, 0.0, 1.0), 0.5)
    n = np.bincount(case).astype(float)
    value, low, high = one_way_reml(n, np.bincount(case, y), float(y @ y), 0.9)
    at = [slow_criterion((np.log(x / (1 - x)),), (case,), y) for x in (value, low, high)]
    assert at[1] - at[0] == pytest.approx(chi2.ppf(0.9, 1), abs=1e-3)
    assert at[2] - at[0] == pytest.approx(chi2.ppf(0.9, 1), abs=1e-3)
    best = least(lambda logit: slow_criterion((logit,), (case,), y), -8, 8)
    assert value == pytest.approx(expit(best), abs=1e-5)


# Scale or names: Both alphas of the question whether classes are a scale.


ORDER = ("none", "mild", "severe")
ROWS = "abc", "aab", "bcc", "ccc", "abb"
NAMES = {"a": "none", "b": "mild", "c": "severe"}


def dataset(rows=ROWS, more=""):
    lines = [f"{case},r{place},{NAMES[letter]}" for case, row in enumerate(rows) for place, letter in enumerate(row)]
    return read("\n".join(["case,rater,class", *lines, *more.split()]).encode(), question=None).dataset


def test_both_alphas_are_those_of_the_ordered_and_the_unordered_data():
    data = dataset()
    scale, names = alpha_as_scale_and_names(data, ORDER)
    assert scale.value == pytest.approx(krippendorff_alpha(with_class_order(data, ORDER), metric="ordinal").value)
    assert names.value == pytest.approx(krippendorff_alpha(data).value)
    assert scale.value != pytest.approx(names.value)


def test_annotations_of_other_classes_do_not_count():
    found = alpha_as_scale_and_names(dataset(more="0,r3,unsure 9,r0,unsure"), ORDER)
    assert [one.value for one in found] == pytest.approx(
        [one.value for one in alpha_as_scale_and_names(dataset(), ORDER)]
    )


def test_alphas_are_undefined_with_a_reason_if_no_case_has_two():
    found = alpha_as_scale_and_names(dataset(("a", "b", "c")), ORDER)
    assert [one.value for one in found] == [None, None] and all(one.note for one in found)
