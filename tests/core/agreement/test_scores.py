"""Intraclass correlations against published tables, and what scores with gaps, repeats and nothing to compare give."""

from dataclasses import replace

import numpy as np
import pytest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.scores import intraclass, score_table, two_way_anova
from core.analyses.agreement.coefficients import _groups
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from tests.core.agreement.examples import dataset_of, scores_of

# Shrout & Fleiss (1979), table 2: 6 targets by 4 judges.
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
# Their table 4, and the bounds that the R package psych prints for it.
PUBLISHED = {
    "icc_1": (0.166, -0.133, 0.72),
    "icc_2": (0.290, 0.019, 0.76),
    "icc_3": (0.715, 0.342, 0.95),
    "icc_1k": (0.443, -0.884, 0.91),
    "icc_2k": (0.620, 0.071, 0.93),
    "icc_3k": (0.909, 0.676, 0.99),
}


def scored(rows):
    """A dataset from rows of (case, rater, score)."""
    case, rater, score = zip(*rows, strict=True)
    names = [f"c{i}" for i in range(max(case) + 1)], [f"r{j}" for j in range(max(rater) + 1)]
    return Dataset.from_scores("test", *names, np.array(case), np.array(rater), np.array(score, float))


def rows_of(table):
    """Rows of the cells of a table of cases by raters that are not NaN."""
    return [(i, j, x) for i, row in enumerate(table) for j, x in enumerate(row) if not np.isnan(x)]


def with_gaps(seed, n_cases=40, n_raters=5, gaps=0.3):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n_cases, 1)) + rng.normal(size=n_raters) * 0.5 + rng.normal(size=(n_cases, n_raters)) * 0.7
    table[rng.random(table.shape) < gaps] = np.nan
    table[:, 0] = np.where(np.isnan(table).all(axis=1), 0.0, table[:, 0])
    return table


def by_name(found, method="ANOVA"):
    return {one.name: one for one in found if one.weights.startswith(method)}


def test_the_table_of_shrout_and_fleiss_has_its_published_correlations_and_intervals():
    found = intraclass(scored(rows_of(SHROUT_FLEISS)))
    assert [one.name for one in found] == ["icc_1", "icc_1k", "icc_2", "icc_2k", "icc_3", "icc_3k"]
    for one in found:
        value, low, high = PUBLISHED[one.name]
        assert one.value == pytest.approx(value, abs=6e-4)
        assert one.ci_low == pytest.approx(low, abs=6e-4)
        assert one.ci_high == pytest.approx(high, abs=6e-3)
        assert (one.n_cases, one.n_annotations) == (6, 24)
        assert one.weights == "ANOVA, 4 raters" + (", mean of 4" if one.name.endswith("k") else "")


def test_correlations_of_cases_that_all_raters_scored_are_no_group_if_there_are_none():
    every = rows_of(SHROUT_FLEISS)
    gaps = [(i, j, x) for i, j, x in every if (j <= 2 if i % 2 else j >= 2)]
    words = "cases that all raters scored"
    for rows, said in ((every, [f"ICC of 6 {words}"]), (gaps, [])):
        headings = [group.heading for group in _groups(coefficients_for(scored(rows)))]
        assert [one for one in headings if words in one] == said


def test_cases_with_the_same_number_of_scores_are_not_said_to_be_scored_by_all():
    pairs = [(i, j, x) for i, j, x in rows_of(SHROUT_FLEISS) if j in (i % 3, i % 3 + 1)]
    headings = [group.heading for group in _groups(coefficients_for(scored(pairs)))]
    assert [one for one in headings if "same number" in one] == ["ICC of 6 cases with the same number of scores"]


def test_scores_list_correlations_then_alpha_and_ratio_only_of_what_is_not_negative():
    found = score_table(scored(rows_of(SHROUT_FLEISS)))
    assert [one.weights for one in found[6:]] == ["interval metric", "ordinal metric", "ratio metric"]
    below = score_table(scored(rows_of(SHROUT_FLEISS - 5)))
    assert [one.weights for one in below[6:]] == ["interval metric", "ordinal metric"]
    assert [one.value for one in below[:6]] == pytest.approx([one.value for one in found[:6]], abs=1e-12)


def test_what_else_is_wrong_with_scores_is_not_swallowed(monkeypatch):
    def broken(*_):
        raise InputError("Something else is wrong.")

    monkeypatch.setattr("core.agreement.scores.krippendorff_alpha", broken)
    with pytest.raises(InputError, match="Something else"):
        score_table(scored(rows_of(SHROUT_FLEISS - 5)))


def test_more_values_than_the_ratio_metric_can_take_are_said():
    rng = np.random.default_rng(0)
    found = score_table(scores_of(rng.uniform(1, 2, (10_001, 2)).tolist()))[-1]
    assert found.value is None and "Round the values" in found.note


def test_with_gaps_complete_cases_and_all_cases_stand_side_by_side():
    table = with_gaps(1)
    complete = ~np.isnan(table).any(axis=1)
    found = intraclass(scored(rows_of(table)))
    alone = intraclass(scored(rows_of(table[complete])))
    assert [one.value for one in found[:6]] == pytest.approx([one.value for one in alone], abs=1e-12)
    assert [one.ci_low for one in found[:6]] == pytest.approx([one.ci_low for one in alone], abs=1e-9)
    rest = by_name(found, "REML")
    assert set(rest) == set(PUBLISHED)
    for one in rest.values():
        assert (one.n_cases, one.n_annotations) == (40, (~np.isnan(table)).sum())
        assert one.ci_low < one.value < one.ci_high
    assert rest["icc_2"].weights == "REML, profile interval, 5 raters"
    k = int(np.median((~np.isnan(table)).sum(axis=1)))
    assert rest["icc_3k"].weights.endswith(f"mean of {k}")
    assert rest["icc_3k"].value == pytest.approx(k * rest["icc_3"].value / (1 + (k - 1) * rest["icc_3"].value))


def test_every_case_by_other_raters_has_the_one_way_analysis_and_no_two_way_of_complete_cases():
    rows = [(case, 3 * case + j, float(x)) for case, row in enumerate(SHROUT_FLEISS[:, :3]) for j, x in enumerate(row)]
    found = intraclass(scored(rows))
    expected = by_name(intraclass(scored(rows_of(SHROUT_FLEISS[:, :3]))))["icc_1"]
    assert by_name(found)["icc_1"].value == pytest.approx(expected.value, abs=1e-12)
    assert by_name(found)["icc_1"].weights == "ANOVA, 3 scores per case"
    assert by_name(found)["icc_2"].value is None and "every rater" in by_name(found)["icc_2"].note
    assert "no rater scored two cases" in by_name(found, "REML")["icc_3"].note


def test_anonymous_scores_have_the_one_way_correlation_only():
    found = intraclass(replace(scored(rows_of(SHROUT_FLEISS)), raters_identified=False))
    named = by_name(found)
    assert named["icc_1"].value == pytest.approx(0.1657, abs=1e-4)
    assert "anonymous" in named["icc_2"].note and "anonymous" in named["icc_3"].note
    assert by_name(found, "REML") == {}
    gaps = intraclass(replace(scored(rows_of(with_gaps(2))), raters_identified=False))
    assert set(by_name(gaps, "REML")) == {"icc_1", "icc_1k"}


def test_repeated_scores_of_a_rater_are_joined_into_their_mean():
    rows = rows_of(SHROUT_FLEISS)
    twice = [(0, 0, 8.0), (0, 0, 10.0), *[row for row in rows if row[:2] != (0, 0)]]
    plain, found = intraclass(scored(rows)), intraclass(scored(twice))
    assert [one.value for one in found] == pytest.approx([one.value for one in plain], abs=1e-12)
    assert all("1 repeated score by the same rater" in one.note for one in found)


@pytest.mark.parametrize("seed", range(3))
def test_names_order_and_scale_do_not_matter(seed):
    table = with_gaps(seed)
    rng = np.random.default_rng(seed)
    other = 1e6 + 3e-3 * table[rng.permutation(40)][:, rng.permutation(5)]
    one, two = (intraclass(scored(rows_of(some))) for some in (table, other))
    assert [c.value for c in two] == pytest.approx([c.value for c in one], abs=1e-4)
    assert [c.ci_high for c in two] == pytest.approx([c.ci_high for c in one], abs=1e-3)


def test_wrong_by_a_constant_is_perfect_consistency_without_an_interval_and_imperfect_agreement():
    found = by_name(intraclass(scored(rows_of(np.arange(8.0)[:, None] + [0, 1, 5]))))
    assert found["icc_3"].value == pytest.approx(1)
    assert found["icc_3"].ci_low is None and "no interval" in found["icc_3"].note
    assert 0 < found["icc_2"].value < 1


@pytest.mark.parametrize(
    "rows",
    [
        [(i, j, 4.0) for i in range(5) for j in range(3)],
        [(i, j, 4.0) for i in range(5) for j in range(3) if i != j],
    ],
)
def test_scores_that_are_all_the_same_are_undefined(rows):
    for one in score_table(scored(rows)):
        assert one.value is None and one.note.startswith("undefined")


def test_scores_of_a_case_that_never_differ_are_1_without_an_interval():
    rows = [(i, j, float(i)) for i in range(6) for j in range(4) if (i, j) != (0, 0)]
    for one in intraclass(scored(rows)):
        assert one.value == pytest.approx(1, abs=1e-6) and one.ci_low is None and "no interval" in one.note


def test_cases_of_one_mean_have_a_negative_correlation_of_one_and_none_of_the_mean():
    found = by_name(intraclass(scored(rows_of(np.array([[1.0, 2, 3], [3, 1, 2], [2, 3, 1]])))))
    assert found["icc_1"].value == pytest.approx(-0.5) and found["icc_1k"].value is None


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(0, 0, 1.0), (1, 0, 2.0), (2, 0, 4.0)], "no case has two annotations"),
        ([(0, 0, 1.0), (0, 1, 2.0)], "fewer than two cases"),
        ([(0, 0, 1.0), (1, 1, 2.0)], "no case has two annotations"),
    ],
)
def test_one_rater_or_one_case_is_undefined_with_the_reason(rows, why):
    found = by_name(intraclass(scored(rows)))
    assert found["icc_2"].value is None and why in found["icc_2"].note


def test_classes_are_refused():
    with pytest.raises(NotApplicableError, match="classes"):
        intraclass(dataset_of([[(0, 1), (1, 1)]], 2))


def test_a_single_case_gives_no_correlation_at_all():
    found = intraclass(scored([(0, 0, 1.0), (0, 1, 2.0), (0, 2, 2.5)]))
    assert all(one.value is None for one in found)
    assert "there is only one case" in by_name(found, "REML")["icc_1"].note


@pytest.mark.parametrize("seed", range(20))
def test_intervals_hold_their_own_estimate_also_below_0(seed):
    """Cases that vary less than chance: subtracting mean squares would leave no degrees of freedom."""
    table = np.random.default_rng(seed).integers(1, 4, (4, 3)).astype(float)
    table -= 0.9 * table.mean(axis=1, keepdims=True)
    for one in intraclass(scored(rows_of(table))):
        if one.ci_low is not None:
            assert one.ci_low < one.value < one.ci_high <= 1


def textbook(table, level=0.95):
    """ICC(A,1) with its interval and degrees of freedom, as printed in McGraw & Wong (1996), tables 4 and 7."""
    from scipy.stats import f

    n, k = table.shape
    rows, columns, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    msr, msc = k * ((rows - mean) ** 2).sum() / (n - 1), n * ((columns - mean) ** 2).sum() / (k - 1)
    mse = ((table - rows[:, None] - columns + mean) ** 2).sum() / ((n - 1) * (k - 1))
    icc = (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))
    a, b = k * icc / (n * (1 - icc)), 1 + k * icc * (n - 1) / (n * (1 - icc))
    v = (a * msc + b * mse) ** 2 / ((a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1)))
    low, high = f.ppf((1 + level) / 2, n - 1, v), f.ppf((1 + level) / 2, v, n - 1)
    rest = k * msc + (k * n - k - n) * mse
    return icc, n * (msr - low * mse) / (low * rest + n * msr), n * (high * msr - mse) / (rest + n * high * msr), v


@pytest.mark.parametrize("shape", [(6, 4), (10, 3), (30, 5)])
def test_intervals_of_a_negative_icc_2_are_the_textbooks(shape):
    """Cases that do not differ, raters that do: also where the estimate is below 0."""
    rng, n_negative = np.random.default_rng(3), 0
    for _ in range(40):
        table = rng.normal(0, 1, shape[1]) + rng.normal(size=shape)
        value, low, high, df = textbook(table)
        found = by_name(intraclass(scored(rows_of(table))))["icc_2"]
        assert found.value == pytest.approx(value, abs=1e-9)
        n_negative += value < 0
        if low < value < high and df > 0.01:
            assert (found.ci_low, found.ci_high) == pytest.approx((low, high), abs=1e-7)
    assert n_negative > 10


def test_where_the_textbooks_interval_does_not_hold_its_estimate_the_degrees_of_freedom_are_those_of_0():
    """Raters differ so that a·MSC + b·MSE of McGraw & Wong is about 0: no degree of freedom is left."""
    rng, n_odd = np.random.default_rng(5), 0
    for _ in range(3000):
        table = 2 * rng.normal(size=3) + rng.normal(size=(4, 3))
        value, low, high, _ = textbook(table)
        if value < 0 and not low < value < high:
            n_odd += 1
            found = by_name(intraclass(scored(rows_of(table))))["icc_2"]
            assert found.ci_low < value < found.ci_high
    assert n_odd > 0


def test_analysis_of_variance_covers_what_is_true_as_often_as_it_says():
    """600 tables of 12 cases by 10 raters as different as the cases: 0.95 give or take 4 · √(0.95 · 0.05/600)."""
    rng = np.random.default_rng(7)
    truth = {"icc_2": 1 / 3, "icc_3": 1 / 2}
    held = dict.fromkeys(truth, 0)
    for _ in range(600):
        table = rng.normal(size=(12, 1)) + rng.normal(size=10) + rng.normal(size=(12, 10))
        for one in two_way_anova(table, 0.95, "", tuple(truth))[::2]:
            held[one.name] += one.ci_low <= truth[one.name] <= one.ci_high
    for name, times in held.items():
        assert times / 600 == pytest.approx(0.95, abs=0.036), name


def test_few_raters_are_remarked_on_where_the_interval_of_absolute_agreement_is_too_narrow():
    named = by_name(intraclass(scored(rows_of(SHROUT_FLEISS))))
    assert {name for name, one in named.items() if "few raters" in one.note} == {"icc_2", "icc_2k"}
    many = by_name(intraclass(scored(rows_of(with_gaps(0, n_raters=6, gaps=0.0)))))
    assert not any("few raters" in one.note for one in many.values())
