"""Partitions on disk give the numbers of the data in memory."""

import numpy as np
import pandas as pd
import pytest

from core import read
from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.coefficients import agreement_table
from core.annotations.counts import class_counts
from core.errors import NotApplicableError
from core.evaluation.sweep_table import reliability_sweep
from core.models.dawid_skene import DawidSkene
from core.models.one_coin import OneCoin
from core.models.ordinal import Ordinal
from core.models.tap import TAP
from core.partitioned.agreement import partitioned_agreement
from core.partitioned.build import partitioned, patterns_of
from core.partitioned.certainty import MeanCertainty, certainties
from core.partitioned.fits import class_probabilities, fit_partitioned
from core.partitioned.scatter import rows_of
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.executors import LocalExecutor, add_results, branches_of, reduction_steps

N_CASES, N_RATERS = 400, 12


@pytest.fixture(scope="module")
def table():
    """Annotations in any order, with blanks, missing entries, a repeat, and classes and raters that drop out."""
    rng = np.random.default_rng(3)
    case = np.repeat(np.arange(N_CASES), rng.integers(1, 6, N_CASES))
    rater = rng.integers(0, N_RATERS, case.size)
    truth = rng.integers(0, 4, N_CASES)
    answer = np.where(rng.uniform(size=case.size) < 0.7, truth[case], rng.integers(0, 4, case.size))
    rows = pd.DataFrame(
        {
            "case": [f"c{code}" + " " * (row % 2) for row, code in enumerate(case)],
            "rater": [f"r{code}" for code in rater],
            "class": [["benign", "mole", "other", "spot"][code] for code in answer],
        }
    )
    rows.loc[5:9, "class"] = ["", "n/a", None, "NA", "  "]
    rows.loc[20, "rater"] = None
    rows.loc[30, ["case", "rater", "class"]] = [" ", "r1", "mole"]
    more = [["c1", "only one", "n/a"], ["c2", None, "never kept"], ["alone", "r0", ""], ["c3", "r0", "mole"]]
    rows = pd.concat([rows, pd.DataFrame([*more, more[-1]], columns=rows.columns)])
    return rows.sample(frac=1, random_state=1, ignore_index=True)


@pytest.fixture(scope="module")
def whole(table, tmp_path_factory):
    """The folder of the table in two parts, and what reading it at once gives."""
    folder = tmp_path_factory.mktemp("parquet")
    table.iloc[:700].to_parquet(folder / "a.parquet", index=False)
    table.iloc[700:].to_parquet(folder / "b.parquet", index=False)
    return folder, read(folder)


@pytest.fixture(scope="module")
def data(whole, tmp_path_factory):
    return partitioned(rows_of(whole[0]), tmp_path_factory.mktemp("partitions"), n_partitions=7)


def test_partitions_hold_what_the_file_holds_and_every_dropped_row_is_told(whole, data):
    dataset, report = whole[1].dataset, whole[1].report
    assert len(data.partitions) == 8 and sum(part.n_cases > 0 for part in data.partitions) == 8
    assert (data.raters, data.classes) == (dataset.raters, dataset.classes)
    assert (data.n_cases, data.n_annotations) == (dataset.n_cases, dataset.n_annotations)
    assert data.report.dropped == report.dropped and data.n_dropped == len(report.dropped) == 10
    assert (data.report.n_rows, data.report.n_kept) == (report.n_rows, report.n_kept)
    assert data.report.missing == report.missing
    assert (data.report.n_repeats, data.report.warnings) == (report.n_repeats, report.warnings)
    assert np.array_equal(data.annotations_of_raters, dataset.annotations_of_raters)
    assert np.array_equal(data.annotations_of_classes, dataset.annotations_of_classes)
    assert np.array_equal(data.cases_by_size, dataset.cases_by_size)
    seen = set()
    for part in data.datasets():
        for place, name in enumerate(part.cases):
            at = dataset.cases.index(name)
            here, there = (slice(*one.case_ptr[where : where + 2]) for one, where in ((part, place), (dataset, at)))
            assert np.array_equal(part.rater[here], dataset.rater[there])
            assert np.array_equal(part.answer[here], dataset.answer[there])
        seen |= set(part.cases)
    assert seen == set(dataset.cases)


def test_rows_of_a_last_partition_without_any_that_can_be_used_are_told_with_their_reasons(tmp_path):
    full = pd.DataFrame(
        [(f"c{n}", rater, "xy"[n % 2]) for n in range(40) for rater in "ab"], columns=["case", "rater", "class"]
    )
    full.to_parquet(tmp_path / "full.parquet", index=False)
    (tmp_path / "first").mkdir()
    *_, last = partitioned(rows_of(tmp_path / "full.parquet"), tmp_path / "first", n_partitions=2).datasets()
    of_last = full["case"].isin(last.cases)
    rows = full.index[of_last]
    full.loc[rows, "class"] = "n/a"
    full.loc[rows[0], "class"] = ""
    full.loc[rows[1], ["rater", "class"]] = [None, "x"]
    full.loc[rows[2], "rater"] = None
    full.loc[len(full)] = [None, None, "n/a"]
    full.to_parquet(tmp_path / "gaps.parquet", index=False)
    (tmp_path / "second").mkdir()
    data = partitioned(rows_of(tmp_path / "gaps.parquet"), tmp_path / "second", n_partitions=2)
    assert [part.n_cases for part in data.partitions] == [40 - len(last.cases), 0]
    found, whole = data.report, read(tmp_path / "gaps.parquet").report
    assert data.n_dropped == rows.size + 1 and found.missing == whole.missing == {"n/a": rows.size - 1, "": 1}
    reasons = {one.line: one.reason for one in found.dropped}
    expected = dict.fromkeys(rows + 1, "no annotation ('n/a')")
    expected |= {rows[0] + 1: "no annotation", rows[1] + 1: "no rater", rows[2] + 1: "no rater", 81: "no case"}
    assert reasons == expected
    assert found.dropped == whole.dropped


def test_a_coefficient_of_patterns_is_that_of_cases(whole):
    counts = class_counts(whole[1].dataset)
    patterns = patterns_of(counts)
    assert patterns.n_cases < counts.n_cases == patterns.times.sum()
    for weights in (None, "quadratic"):
        how = {"weights": weights, "spa_weightings": ("annotations_m1", "inv_var_class", "flat")}
        for one, other in zip(agreement_table(patterns, **how), agreement_table(counts, **how), strict=True):
            assert_same(one, other)


def assert_same(one, other):
    """Two coefficients of one name, to 1e-9."""
    for name in one.__slots__:
        here, there = getattr(one, name), getattr(other, name)
        assert here == (pytest.approx(there, rel=1e-9, abs=1e-12) if isinstance(there, float) else there), name


@pytest.mark.parametrize("n_raters", [2, N_RATERS])
def test_agreement_is_that_of_the_data_in_memory(whole, data, table, n_raters, tmp_path):
    dataset = whole[1].dataset
    if n_raters == 2:
        few = table[table.rater.isin(["r0", "r1"])].drop_duplicates(["case", "rater"])
        few.to_parquet(tmp_path / "two.parquet", index=False)
        dataset = read(tmp_path / "two.parquet").dataset
        data = partitioned(rows_of(tmp_path / "two.parquet"), tmp_path, n_partitions=4)
    found, expected = partitioned_agreement(data), coefficients_for(dataset)
    assert [one.name for one in found.coefficients] == [one.name for one in expected.coefficients]
    assert found.left_out == expected.left_out
    for one, other in zip(found.coefficients, expected.coefficients, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize(
    "model", [DawidSkene(), DawidSkene("empirical", beta=0.7, doubt=0.05), OneCoin("none"), TAP()], ids=repr
)
def test_a_fit_is_that_of_the_data_in_memory(whole, data, model):
    dataset = whole[1].dataset
    found, expected = fit_partitioned(model, data), model.fit(dataset)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=1e-9)
    assert len(found.objective) == len(expected.objective)
    assert found.settings == expected.settings and found.notes == expected.notes
    np.testing.assert_allclose(found.prevalence, expected.prevalence, atol=1e-9)
    np.testing.assert_allclose(found.confusion, expected.confusion, atol=1e-9)
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-9, atol=1e-9)
    assert np.array_equal(found.n_annotations, expected.n_annotations)
    by_name = {
        name: row for names, part in class_probabilities(found, data) for name, row in zip(names, part, strict=True)
    }
    assert len(by_name) == dataset.n_cases
    given = np.array([by_name[name] for name in dataset.cases])
    np.testing.assert_allclose(given, expected.class_probability, atol=1e-9)


def test_certainties_are_those_of_the_data_in_memory_to_the_bit(whole, data):
    dataset, model = whole[1].dataset, DirichletCounts()
    expected = reliability_sweep(model, dataset, [1.0, 3.0], n_draws=50, max_top=2, seed=4).certainty
    place = {name: at for at, name in enumerate(dataset.cases)}
    means = [MeanCertainty.of_none(2) for _ in expected]
    for results in certainties(model, data, [1.0, 3.0], n_draws=50, max_top=2, seed=4):
        for mean, one, other in zip(means, results, expected, strict=True):
            at = [place[name] for name in one.cases]
            assert np.array_equal(one.certainty, other.certainty[at])
            mean.add(one)
    for mean, other in zip(means, expected, strict=True):
        assert mean.mean() == pytest.approx(other.mean(), rel=1e-12)
        assert mean.mean_se(2) == pytest.approx(other.mean_se(2), rel=1e-12)
        assert mean.below[0.9] == other.n_below(0.9) > 0


def test_what_needs_all_cases_at_once_is_refused_with_the_reason(data, tmp_path):
    with pytest.raises(NotApplicableError, match="with partitioned data"):
        fit_partitioned(Ordinal(), data)
    with pytest.raises(NotApplicableError, match="repeat an earlier one"):
        fit_partitioned(DawidSkene(repeats="first"), data)
    with pytest.raises(NotApplicableError, match="all annotations in memory"):
        _ = data.case_ptr  # a property
    (tmp_path / "a.csv").write_text("case,rater,class\n1,a,x\n")
    with pytest.raises(NotApplicableError, match="is not a Parquet file"):
        rows_of(tmp_path / "a.csv")
    pd.DataFrame({"case": ["1", "2"], "rater": ["a", "b"], "score": [0.5, 1.0]}).to_parquet(tmp_path / "s.parquet")
    with pytest.raises(NotApplicableError, match="scores"):
        partitioned(rows_of(tmp_path / "s.parquet"), tmp_path)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 8, 13])
def test_sums_are_added_in_one_order_whoever_adds_them(n):
    values = [(0.1 * 3.0**k, np.array([1e16, 1.0 / (k + 1)])) for k in range(n)]
    total, array = LocalExecutor().total(_itself, [(value, each.copy()) for value, each in values])
    results = [(value, each.copy()) for value, each in values]
    for left, right in reduction_steps(n):
        results[left] = add_results(results[left], results[right])
    assert total == results[0][0] and np.array_equal(array, results[0][1])


@pytest.mark.parametrize("n", range(1, 40))
def test_sums_of_parts_are_the_sum_of_all_to_the_bit(n):
    values = [(np.float64(0.1 * 3.0**k),) for k in np.random.default_rng(n).permutation(n)]
    (total,) = LocalExecutor().total(_itself, values)
    for least in (1, 2, 3, 4, 8):
        parts = [LocalExecutor().total(_itself, values[part]) for part in branches_of(n, least)]
        assert len(parts) >= min(n, least)
        assert LocalExecutor().total(_itself, parts) == (total,)


def _itself(item):
    return item
