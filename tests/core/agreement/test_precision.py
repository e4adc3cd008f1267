"""The variance curve against enumeration of all annotations and against simulated collection."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement._kernels import power_sums
from core.agreement.intervals import wilson
from core.agreement.precision import agreement_moments, case_variance, precision_curve
from core.agreement.probability import SPA_WEIGHTINGS, agreement_variance, spa
from core.annotations.counts import ClassCounts
from core.errors import NotApplicableError
from tests.core.agreement.examples import counts_of, random_cases

KINDS = np.array([[0.7, 0.2, 0.1], [0.34, 0.33, 0.33], [0.0, 0.05, 0.95]])  # of cases, equally frequent


def outcomes(n, p):
    """Counts and probability of every sequence of n annotations."""
    for answers in product(range(len(p)), repeat=n):
        yield answers, np.prod(p[list(answers)])


def dense(table):
    """ClassCounts of a table of cases by classes, zeros kept."""
    size, n_classes = table.shape
    ptr = np.arange(size + 1, dtype=np.int64) * n_classes
    return ClassCounts(ptr, np.tile(np.arange(n_classes, dtype=np.int32), size), table.ravel(), n_classes)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_power_sums_of_a_case_are_right_on_average_over_all_its_answers(n):
    p = KINDS[0]
    answers, chance = zip(*outcomes(n, p), strict=True)
    counts = counts_of(answers, 3)
    found = power_sums(counts.ptr, counts.count)[1] @ np.array(chance)
    s2, s3 = (p**2).sum(), (p**3).sum()
    for value, truth, least in zip(found, (s2, s3, s2**2), (2, 3, 4), strict=True):
        assert value == pytest.approx(truth, abs=1e-12) if n >= least else np.isnan(value)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_variance_of_a_case_is_that_of_all_kinds_of_cases_and_all_answers(n):
    s2, s3 = (KINDS**2).sum(axis=1), (KINDS**3).sum(axis=1)
    pa = s2.mean()
    mean, square = 0.0, 0.0
    for p in KINDS:
        for answers, chance in outcomes(n, p):
            agreement = sum(a == b for i, a in enumerate(answers) for b in answers[:i]) / (n * (n - 1) / 2)
            mean += chance * agreement / len(KINDS)
            square += chance * agreement**2 / len(KINDS)
    assert mean == pytest.approx(pa, abs=1e-12)
    found = case_variance(n, pa - pa**2, s3.mean() - pa**2, (s2**2).mean() - pa**2)
    assert found == pytest.approx(square - mean**2, abs=1e-12)


@pytest.mark.parametrize(("weighting", "weight_of"), [("flat", lambda n: 1), ("annotations_m1", lambda n: n - 1)])
def test_moments_weigh_a_case_by_its_triples_and_quadruples_beyond_the_first(weighting, weight_of):
    """By hand: S3 by n - 2, S2² by n - 3, each over distinct annotations of a case, PA² over pairs of cases."""
    rng = np.random.default_rng(8)
    cases = [rng.choice(3, n, p=KINDS[rng.integers(3)]) for n in rng.integers(2, 8, 150)]
    pairs, triples, quadruples = [], [], []
    for case in cases:
        n = len(case)
        alike = [a == b for a, b in permutations(case, 2)]
        pairs.append((np.mean(alike), n))
        if n >= 3:
            triples.append((np.mean([a == b == c for a, b, c in permutations(case, 3)]), n - 2))
        if n >= 4:
            quadruples.append((np.mean([a == b and c == d for a, b, c, d in permutations(case, 4)]), n - 3))
    found = agreement_moments(counts_of(cases, 3), weighting)
    s2, weight = np.array([(value, weight_of(n)) for value, n in pairs]).T
    agreement = np.average(s2, weights=weight)
    apart = np.outer(weight, weight) * (1 - np.eye(len(s2)))
    square = s2 @ apart @ s2 / apart.sum()
    c1, c0 = (
        np.average(np.array(values)[:, 0], weights=np.array(values)[:, 1]) - square for values in (triples, quadruples)
    )
    assert 0 < c0 < c1 < (agreement - square + c0) / 2  # no bound is met
    assert (found.agreement, found.v2, found.c1, found.c0) == pytest.approx((agreement, agreement - square, c1, c0))
    assert found.n_cases == tuple(sum(len(case) >= k for case in cases) for k in (2, 3, 4))


def test_cases_that_are_all_of_one_kind_have_the_closed_form_of_independent_answers():
    p = KINDS[0]
    s2, s3 = (p**2).sum(), (p**3).sum()
    for n in range(2, 8):
        found = case_variance(n, s2 - s2**2, s3 - s2**2, 0.0)
        assert found == pytest.approx(agreement_variance(n, p), abs=1e-14)


def collected(rng, sizes):
    kinds = rng.integers(len(KINDS), size=len(sizes))
    table = np.zeros((len(sizes), 3), np.int64)
    for kind, p in enumerate(KINDS):
        table[kinds == kind] = rng.multinomial(sizes[kinds == kind], p)
    return kinds, table


def more(rng, kinds, table, extra):
    """Each annotation on a case with the fewest, drawn at random among those."""
    table = table.copy()
    sizes = table.sum(axis=1)
    for _ in range(extra):
        case = rng.choice(np.flatnonzero(sizes == sizes.min()))
        table[case] += rng.multinomial(1, KINDS[kinds[case]])
        sizes[case] += 1
    return table


def test_the_curve_foretells_how_agreement_varies_when_annotations_are_added():
    """1,500 collections of 60 cases; a variance of so many has a relative error of √(2/1500), 3.7%: 4 of these."""
    rng = np.random.default_rng(5)
    sizes = np.array([1] * 10 + [2] * 20 + [3] * 15 + [5] * 15)
    foretold, found = [], []
    for _ in range(1500):
        kinds, table = collected(rng, sizes)
        curve = precision_curve(dense(table), (0, 30), "present_cases")
        foretold.append([point.se**2 for point in curve.points])
        found.append([spa(dense(table)).value, spa(dense(more(rng, kinds, table, 30))).value])
    ratio = np.mean(foretold, axis=0) / np.var(found, axis=0)
    assert (np.abs(ratio - 1) < 0.15).all(), ratio


def test_new_cases_of_a_size_foretell_how_agreement_varies_with_them():
    rng = np.random.default_rng(6)
    foretold, found = [], []
    for _ in range(1500):
        _, table = collected(rng, np.array([2] * 20 + [4] * 20))
        foretold.append(precision_curve(dense(table), (90,), per_case=3).points[0].se ** 2)
        found.append(spa(dense(np.vstack([table, collected(rng, np.full(30, 3))[1]]))).value)
    assert np.mean(foretold) / np.var(found) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("weighting", SPA_WEIGHTINGS)
def test_now_the_curve_agrees_with_the_jackknife_error_of_many_cases(weighting):
    """The two estimate the same variance; over 4,000 cases each is within some percent of it."""
    table = collected(np.random.default_rng(1), np.random.default_rng(2).integers(1, 7, 4000))[1]
    now = precision_curve(dense(table), (0,), weighting=weighting).points[0]
    counted = spa(dense(table), weighting)
    assert now.se == pytest.approx(counted.se, rel=0.05)
    assert now.width == pytest.approx(counted.ci_high - counted.ci_low, rel=0.05)
    assert (now.n_cases, now.n_annotations) == (counted.n_cases, counted.n_annotations)


def test_as_many_cases_again_halve_the_variance():
    curve = precision_curve(dense(np.repeat(np.array([[2, 1], [3, 0], [2, 2], [1, 0]]), 25, axis=0)), (0, 275))
    now, later = curve.points
    assert later.se == pytest.approx(now.se / np.sqrt(2), rel=1e-12)
    assert (now.n_cases, later.n_cases) == (75, 150)


def test_annotations_go_to_the_cases_that_have_the_fewest():
    counts = counts_of([[0], [0, 1], [0, 1, 1], [1] * 6], 2)
    points = precision_curve(counts, (0, 1, 3, 6, 8, 9), "present_cases").points
    assert [point.n_cases for point in points] == [3, 4, 4, 4, 4, 4]
    assert [point.n_annotations for point in points] == [11, 13, 15, 18, 20, 21]
    by_hand = precision_curve(counts_of([[0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 0], [1] * 6], 2), (0,)).points[0]
    assert (points[3].n_cases, points[3].n_annotations) == (by_hand.n_cases, by_hand.n_annotations)


def test_more_annotations_on_present_cases_leave_what_cases_differ_by():
    """With endless annotations of all cases the standard error is √(c0 / cases)."""
    table = collected(np.random.default_rng(3), np.full(200, 4))[1]
    curve = precision_curve(dense(table), (0, 1000, 10_000_000), "present_cases")
    assert curve.points[0].se > curve.points[1].se > curve.points[2].se
    assert curve.points[2].se == pytest.approx(np.sqrt(curve.moments.c0 / 200), rel=1e-3)


def test_two_annotations_a_case_tell_the_error_now_and_a_range_of_what_more_would_give():
    table = collected(np.random.default_rng(4), np.full(100, 2))[1]
    now, later = precision_curve(dense(table), (0, 100), "present_cases").points
    assert now.se == now.se_range[0] == pytest.approx(now.se_range[1], rel=1e-12)
    assert later.se is None and later.width is None
    v2 = agreement_moments(dense(table)).v2
    assert later.se_range == pytest.approx((np.sqrt(v2 / 3 / 100), np.sqrt(v2 / 100)), rel=1e-12)
    note = precision_curve(dense(table), (0, 100), "present_cases").note
    assert "no case has three annotations" in note


def test_the_range_of_three_annotations_a_case_holds_the_truth_that_four_would_tell():
    table = collected(np.random.default_rng(7), np.full(3000, 4))[1]
    full = precision_curve(dense(table), (6000,), "present_cases").points[0]
    thinned = table.copy()
    for row in thinned:
        row[np.random.default_rng(int(row @ [1, 10, 100])).choice(3, p=row / row.sum())] -= 1
    part = precision_curve(dense(thinned), (9000,), "present_cases").points[0]
    assert part.se is None
    assert part.se_range[0] < full.se < part.se_range[1]


def test_unanimous_cases_have_no_error_and_the_width_of_wilson():
    curve = precision_curve(counts_of([[0, 0, 0, 0], [1, 1, 1, 1]] * 10, 2), (0,))
    low, high = wilson(1.0, 20, student.ppf(0.975, 19))
    assert curve.points[0].se == 0
    assert curve.points[0].width == pytest.approx(high - low, abs=1e-12)


def test_names_of_classes_and_order_of_cases_do_not_matter():
    cases = random_cases(3, n_cases=80)
    renamed = [[3 - answer for answer in case] for case in cases[::-1]]
    for how in ("new_cases", "present_cases"):
        plain, other = (precision_curve(counts_of(some, 4), (0, 50), how) for some in (cases, renamed))
        assert [p.se for p in plain.points] == pytest.approx([p.se for p in other.points], rel=1e-12)


def test_a_single_usable_case_is_not_enough_and_what_is_meaningless_is_refused():
    with pytest.raises(NotApplicableError, match="two cases"):
        precision_curve(counts_of([[0, 1], [1]], 2))
    counts = counts_of(random_cases(0), 4)
    for wrong in ({"how": "magic"}, {"extra": (-1,)}, {"per_case": 1}):
        with pytest.raises(ValueError, match=r"how|extra"):
            precision_curve(counts, **wrong)
