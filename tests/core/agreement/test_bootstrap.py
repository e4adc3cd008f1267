"""The bootstrap over cases: published and closed values, agreement with other errors, and data that say nothing."""

import numpy as np
import pytest
from scipy.stats import binom, chisquare

from core.agreement import resampling
from core.agreement._bootstrap_kernels import binomial, distinct_vectors, draw_resamples
from core.agreement.bootstrap import bootstrap
from core.agreement.coefficients import SPA_WEIGHTINGS, agreement_table
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.resampling import Pool, pick, pool_of, resample, vector_numbers
from core.annotations.counts import class_counts
from core.errors import Cancelled, InputError, NotApplicableError
from core.runtime.chunks import CancelToken
from tests.core.agreement.examples import (
    COUNTS_OF_FLEISS,
    FLEISS,
    GWET,
    counts_of,
    dataset_of,
    random_cases,
    random_panel,
)


def test_nominal_alpha_of_gwets_twelve_units_has_the_known_interval_and_the_known_share_at_1():
    """About (0.42, 1), 3% of resamples exactly 1, and the remark that the cases are few.

    With 20,000 replicates the end of the interval has an error of about 0.004 and the share one of 0.0012.
    """
    found = bootstrap(counts_of(GWET, 5), n_replicates=20_000, names=["krippendorff_alpha"])
    (alpha,) = found.coefficients
    assert alpha.value == pytest.approx(0.743421, abs=1e-6)
    assert alpha.ci_low == pytest.approx(0.42, abs=0.02)
    assert alpha.ci_high == 1
    # Resamples of 12 cases without the 3 that disagree: (9/12)^12 = 0.0317.
    assert found.n_at_1[0] / 20_000 == pytest.approx(0.75**12, abs=4 * 0.0012)
    assert "few cases" in alpha.note and f"{found.n_at_1[0]:,} of 20,000 resamples have the value 1" in alpha.note


def test_replicates_stand_for_the_interval_and_the_error():
    found = bootstrap(counts_of(FLEISS, 5), level=0.8, spa_weightings=SPA_WEIGHTINGS[:2])
    assert found.replicates.shape == (1000, 8) and not found.replicates.flags.writeable
    place = found.position("fleiss_kappa")
    fleiss, mine = found.coefficients[place], found.replicates[:, place]
    assert fleiss.se == pytest.approx(mine.std(ddof=1))
    assert (fleiss.ci_low, fleiss.ci_high) == pytest.approx(tuple(np.quantile(mine, [0.1, 0.9])))
    assert (fleiss.n_cases, fleiss.n_annotations) == (len(COUNTS_OF_FLEISS.split()), 180)
    assert found.position("spa", "flat") == found.position("spa") + 1
    with pytest.raises(ValueError, match="conger_kappa"):
        found.position("conger_kappa")


@pytest.mark.parametrize("metric", [None, "ordinal", "interval", "ratio"])
def test_errors_agree_with_the_analytic_ones_on_larger_data(metric):
    """The bootstrap's own error is 1/√(2 · 4000) of the SE, 1.1%; both estimate it to order 1/n.

    The analytic error of ordinal alpha takes the metric as given.
    """
    panel = random_panel(11, n_cases=500)
    dataset = dataset_of(panel, 4, 5)
    how = {"spa_weightings": SPA_WEIGHTINGS, "metric": metric}
    found = bootstrap(dataset, n_replicates=4000, **how)
    table = agreement_table(class_counts(dataset), dataset=dataset, **how)
    for one, other in zip(found.coefficients, table, strict=True):
        assert (one.name, one.weights, one.n_cases) == (other.name, other.weights, other.n_cases)
        assert one.value == pytest.approx(other.value, abs=1e-12)
        assert one.se == pytest.approx(other.se, rel=0.045 if metric != "ordinal" else 0.07), one.name
        assert (one.ci_low, one.ci_high) == pytest.approx((other.ci_low, other.ci_high), abs=0.35 * other.se)


def test_the_interval_narrows_like_one_over_the_square_root_of_the_cases():
    """Nine copies of 120 cases: a third of the width; its error by 4,000 replicates is about 3%."""
    cases = random_cases(3, n_cases=120)
    once, nine = (bootstrap(counts_of(cases * times, 4), n_replicates=4000) for times in (1, 9))
    for one, more in zip(once.coefficients, nine.coefficients, strict=True):
        assert (more.ci_high - more.ci_low) / (one.ci_high - one.ci_low) == pytest.approx(1 / 3, rel=0.1)
        assert more.se / one.se == pytest.approx(1 / 3, rel=0.07)


def test_a_replicate_is_the_same_whatever_else_is_computed_and_however_the_work_is_cut(monkeypatch):
    dataset = dataset_of(random_panel(3, n_cases=60), 4, 5)
    whole = bootstrap(dataset, n_replicates=150)
    assert "conger_kappa" in {one.name for one in whole.coefficients}
    some = bootstrap(class_counts(dataset), n_replicates=150, names=["krippendorff_alpha", "spa"])
    assert [one.name for one in some.coefficients] == ["spa", "krippendorff_alpha"]
    for name in ("spa", "krippendorff_alpha"):
        assert (some.replicates[:, some.position(name)] == whole.replicates[:, whole.position(name)]).all()
    monkeypatch.setattr(resampling, "_CELLS", 1)
    cut = bootstrap(dataset, n_replicates=101)
    assert (cut.replicates == whole.replicates[:101]).all()
    assert not (bootstrap(dataset, n_replicates=101, seed=1).replicates == cut.replicates).all()


def test_two_raters_get_cohen_and_scott_and_more_get_conger_and_counts_neither():
    panel = [case for case in random_panel(2, n_raters=2, gaps=0.1) if case]
    of_two = bootstrap(dataset_of(panel, 4, 2), n_replicates=50)
    assert [one.name for one in of_two.coefficients][3:5] == ["cohen_kappa", "scott_pi"]
    assert (of_two.replicates[:, 4] == of_two.replicates[:, 5]).all()  # Scott and Fleiss
    assert not (of_two.replicates[:, 3] == of_two.replicates[:, 4]).all()
    with pytest.raises(NotApplicableError, match="more than two"):
        bootstrap(dataset_of(panel, 4, 2), names=["conger_kappa"])
    with pytest.raises(NotApplicableError, match="exactly two"):
        bootstrap(counts_of(GWET, 5), names=["percent", "cohen_kappa"])
    with pytest.raises(ValueError, match="'kappa'"):
        bootstrap(counts_of(GWET, 5), names=["kappa"])


def test_one_class_only_is_undefined_with_the_reason_and_percent_agreement_shows_no_error():
    found = bootstrap(counts_of([[1, 1], [1, 1, 1]], 3), n_replicates=40)
    of = {one.name: one for one in found.coefficients}
    for name in ("fleiss_kappa", "krippendorff_alpha", "spa_corrected"):
        assert of[name].value is None and "raw agreement is 1" in of[name].note
        assert found.n_undefined[found.position(name)] == 40
    assert of["percent"].value == 1 and of["percent"].ci_low is None
    assert "the value is the same in every resample" in of["percent"].note


def test_without_a_pair_of_annotations_all_is_undefined():
    for cases in ([[0], [1], [2]], [[], []]):
        for one in bootstrap(counts_of(cases, 3), n_replicates=10).coefficients:
            assert one.value is None and "no case has two annotations" in one.note


def test_resamples_without_a_value_are_counted_and_too_many_leave_the_interval_undetermined():
    """One of 30 cases carries the second class: (29/30)^30 = 0.36 of resamples lack it. Of five in 40: 0.005."""
    rare = [[0, 0]] * 29 + [[0, 1]]
    found = bootstrap(counts_of(rare, 2))
    fleiss = found.coefficients[found.position("fleiss_kappa")]
    lost = int(found.n_undefined[found.position("fleiss_kappa")])
    assert lost / 1000 == pytest.approx((29 / 30) ** 30, abs=0.05)
    assert fleiss.value is not None and fleiss.ci_low is None
    assert fleiss.note == f"no interval: the value is undefined in {lost} of 1,000 resamples"
    more = bootstrap(counts_of([[0, 0]] * 35 + [[0, 1], [1, 1], [1, 1], [0, 1], [1, 1]], 2))
    place = more.position("fleiss_kappa")
    assert 0 < more.n_undefined[place] < 50
    assert more.coefficients[place].ci_low is not None
    assert f"undefined in {more.n_undefined[place]} of 1,000 resamples" in more.coefficients[place].note
    assert "3 of 40 cases" in more.coefficients[place].note


def test_one_case_has_a_value_and_no_interval():
    (percent,) = bootstrap(counts_of([[0, 1, 1]], 2), names=["percent"], n_replicates=10).coefficients
    assert percent.value == pytest.approx(1 / 3) and percent.se is None and "only one case" in percent.note


def test_it_can_be_cancelled_and_tells_its_progress(monkeypatch):
    monkeypatch.setattr(resampling, "_CELLS", 1)
    token, told = CancelToken(), []
    bootstrap(counts_of(GWET, 5), n_replicates=20, progress=told.append)
    assert told[-1] == 1
    token.cancel()
    with pytest.raises(Cancelled):
        bootstrap(counts_of(GWET, 5), token=token)


def test_what_cannot_be_asked_for_is_refused():
    counts = counts_of(GWET, 5)
    for wrong in ({"metric": "cubic"}, {"spa_weightings": ["heavy"]}):
        with pytest.raises(ValueError, match=r"cubic|heavy"):
            bootstrap(counts, **wrong)
    with pytest.raises(InputError, match=r"n_replicates is 1\. It must be at least 2"):
        bootstrap(counts, n_replicates=1)
    with pytest.raises(InputError, match="negative"):
        bootstrap(counts, metric="ratio", labels=(-1, 2, 3, 4, 5))


def test_weights_are_those_of_the_ordinary_functions():
    counts = counts_of(GWET, 5)
    found = bootstrap(counts, weights="quadratic", names=["gwet_ac", "krippendorff_alpha"])
    assert found.coefficients[0].value == pytest.approx(0.914, abs=5e-4)
    assert found.coefficients[1].weights == krippendorff_alpha(counts, weights="quadratic").weights


# Bootstrap resampling: Resamples: what is drawn, how often, and that it depends on nothing but the seed.


class Weights:
    """The weights themselves, as a statistic."""

    def __init__(self, n_vectors, n_cases=0):
        self.needs_cases = n_cases > 0
        self.n_values = self.n_sums = n_vectors + n_cases

    def __call__(self, vector_weight, case_weight):
        return np.concatenate([vector_weight, case_weight] if self.needs_cases else [vector_weight])


def pool_with(sizes):
    start = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return Pool(np.arange(start[-1]), start)


def test_cases_of_equal_counts_and_no_others_share_a_number():
    cases = random_cases(0, n_cases=300, n_classes=3, most=4)
    counts = counts_of(cases, 3)
    number, first = distinct_vectors(counts.ptr, counts.class_code, counts.count)
    as_table = [tuple(case.count(k) for k in range(3)) for case in cases]
    assert len(first) == len(set(as_table))
    assert [as_table[i] for i in first[number]] == as_table
    assert list(first) == sorted(as_table.index(vector) for vector in set(as_table))


def test_a_pool_sorts_cases_by_vector_and_leaves_out_those_without_answers():
    counts = counts_of([[0, 1], [], [1, 1], [1, 0], [], [2]], 3)
    pool = pool_of(vector_numbers(counts))
    assert pool.n_cases == 4
    groups = [set(pool.order[a:b]) for a, b in zip(pool.start[:-1], pool.start[1:], strict=True)]
    assert sorted(map(sorted, groups)) == [[0, 3], [2], [5]]
    assert pool_of(np.full(3, -1)).n_cases == 0


def test_picked_rows_hold_their_entries_and_a_negative_row_holds_none():
    ptr = np.array([0, 2, 2, 5])
    picked, entries = pick(ptr, np.array([2, -1, 0, 1, 2]))
    assert picked.tolist() == [0, 3, 3, 5, 5, 8]
    assert entries.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]


@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (60, 0.01), (19, 0.5), (40, 0.5), (300, 0.07), (200_000, 0.002)])
def test_binomials_have_their_distribution(n, p):
    """Chi-squared of 100,000 draws over values expected at least five times, seed fixed, at 0.001."""
    draw_resamples(np.array([5], np.uint32), np.array([0, 1]), np.zeros(0, int), False, *empty(1, 0))  # sets the seed
    drawn = np.array([binomial(n, p) for _ in range(100_000)])
    values = np.arange(drawn.max() + 1)
    expected = 1e5 * binom.pmf(values, n, p)
    kept = expected >= 5
    seen = np.append(np.bincount(drawn)[kept], np.count_nonzero(~kept[drawn]))
    expected = np.append(expected[kept], 1e5 - expected[kept].sum())
    if expected[-1] < 1:
        seen, expected = seen[:-1], expected[:-1] * seen[:-1].sum() / expected[:-1].sum()
    assert chisquare(seen, expected).pvalue > 0.001


def empty(n_vectors, n_cases):
    return np.zeros((n_vectors, 1), np.int32), np.zeros((n_cases, 1), np.uint8)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4], [1, 500, 2, 97]], ids=["case by case", "by binomials"])
def test_weights_are_multinomial_over_vectors_and_cases(sizes):
    """Sum, mean and covariance of 20,000 resamples; the tolerance is 4.5 standard errors of each."""
    pool, n = pool_with(sizes), sum(sizes)
    assert (n < 8 * len(sizes)) == (sizes[1] == 2)
    (found,) = resample(pool, [Weights(len(sizes), n)], 20_000, 3, "test")
    vectors, cases = found[:, : len(sizes)], found[:, len(sizes) :]
    assert (cases.sum(axis=1) == n).all()
    assert (np.add.reduceat(cases, pool.start[:-1], axis=1) == vectors).all()
    p = np.array(sizes) / n
    assert (np.abs(vectors.mean(axis=0) - n * p) < 4.5 * np.sqrt(n * p * (1 - p) / 20_000)).all()
    away = vectors - n * p
    products = away[:, :, None] * away[:, None, :]
    exact = n * (np.diag(p) - np.outer(p, p))
    assert (np.abs(products.mean(axis=0) - exact) < 4.5 * products.std(axis=0) / np.sqrt(20_000) + 1e-9).all()
    one = 1 - 1 / n
    assert np.abs(cases.mean() - 1) < 1e-12
    assert np.abs(cases.var(axis=0) - one).max() < 4.5 * np.sqrt(3 / 20_000)
    assert np.abs(cases.mean(axis=0) - 1).max() < 4.5 * np.sqrt(one / 20_000)


@pytest.mark.parametrize("sizes", [[1, 2, 3, 4], [1, 500, 2, 97]])
def test_weights_of_vectors_are_the_same_whether_or_not_cases_are_asked_for(sizes):
    pool = pool_with(sizes)
    (alone,) = resample(pool, [Weights(4)], 50, 3, "test")
    (both,) = resample(pool, [Weights(4, pool.n_cases)], 50, 3, "test")
    assert (both[:, :4] == alone).all()


@pytest.mark.parametrize("cells", [1, 40, 10_000])
def test_a_replicate_depends_on_its_number_and_the_seed_alone(monkeypatch, cells):
    pool = pool_with([3, 300, 20])
    (whole,) = resample(pool, [Weights(3)], 101, 3, "test")
    monkeypatch.setattr(resampling, "_CELLS", cells)
    (cut,) = resample(pool, [Weights(3)], 45, 3, "test")
    assert (cut == whole[:45]).all()
    for seed, stream in ((4, "test"), (3, "other")):
        assert not (resample(pool, [Weights(3)], 45, seed, stream)[0] == cut).all()
    assert len(np.unique(whole, axis=0)) > 60


def test_progress_is_told_and_a_cancelled_run_stops(monkeypatch):
    monkeypatch.setattr(resampling, "_CELLS", 1)
    told, token = [], CancelToken()
    resample(pool_with([5, 5]), [Weights(2)], 10, 0, "test", token, told.append)
    assert told[-1] == 1 and told == sorted(told) and len(told) == 5

    def stop(share):
        if share > 0.3:
            token.cancel()

    with pytest.raises(Cancelled):
        resample(pool_with([5, 5]), [Weights(2)], 1000, 0, "test", token, stop)
