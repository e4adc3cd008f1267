"""Coefficients of resamples, from weights on distinct count vectors, against the ordinary functions on literal ones."""

import numpy as np
import pytest

from core.agreement.bootstrap_sample import BootstrapSample, CoefficientOptions, chosen
from core.agreement.coefficient_methods import formulas
from core.agreement.coefficients import SPA_WEIGHTINGS, agreement_table
from core.agreement.resampling import pool_of, vector_numbers
from core.annotations.counts import class_counts
from tests.core.agreement.examples import answers_of, counts_of, dataset_of, random_cases, random_panel

CUSTOM = np.array([[1, 0.6, 0.1, 0], [0.6, 1, 0.3, 0.2], [0.1, 0.3, 1, 0.9], [0, 0.2, 0.9, 1]])
ASKED = [
    CoefficientOptions(SPA_WEIGHTINGS),
    CoefficientOptions(weights="linear"),
    CoefficientOptions(weights="ordinal", labels=(1, 5, 2, 9)),
    CoefficientOptions(weights=CUSTOM),
    *[CoefficientOptions(metric=metric) for metric in ("nominal", "ordinal", "interval", "ratio")],
    CoefficientOptions(metric="ordinal", labels=(3, 1, 4, 2)),
    CoefficientOptions(metric="interval", labels=(0, 10, 11, -3)),
    CoefficientOptions(metric="ratio", labels=(0, 10, 1, 3), weights="quadratic"),
]
NAMES = ["all weightings", "linear", "ordinal weights", "custom", "nominal", "ordinal", "interval", "ratio"]
NAMES += ["ordinal of labels", "interval of labels", "ratio of labels"]


def values_on(side, pool, times):
    """What the statistics of a side give where each case is drawn so many times; ``times`` by resample."""
    weight = times[:, pool.order].T
    on_vectors = np.add.reduceat(weight, pool.start[:-1], axis=0).astype(np.int32)
    return side.in_order([one(on_vectors, weight.astype(np.uint8)).T for one in side.statistics])


def side_of(data, counts, how, names=None):
    pool = pool_of(vector_numbers(counts))
    return BootstrapSample(data, counts, chosen(data, names), how, pool, np.arange(counts.n_cases)), pool


def repeated(cases, times):
    return [case for case, copies in zip(cases, times, strict=True) for _ in range(copies)]


def check(rows, labels, make_table, cases, times):
    """Every coefficient on every resample is what the ordinary function says, or neither is defined."""
    assert len(labels) == len(set(labels))
    for row, copies in zip(rows, times, strict=True):
        table = {(one.name, one.weights): one for one in make_table(repeated(cases, copies))}
        for label, value in zip(labels, row, strict=True):
            if label not in table or table[label].value is None:
                assert np.isnan(value), label
            else:
                assert value == pytest.approx(table[label].value, abs=1e-11), label


def draws(rng, n_cases, n_resamples=6, sizes=(None, 2, 3)):
    """How often each case is drawn; some resamples are of two or three cases only, which leaves much undefined."""
    return np.array(
        [
            np.bincount(rng.integers(0, n_cases, sizes[i % len(sizes)] or n_cases), minlength=n_cases)
            for i in range(n_resamples)
        ]
    )


@pytest.mark.parametrize("how", ASKED, ids=NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_values_of_counts_are_those_of_the_resampled_cases(seed, how):
    cases = [case for case in random_cases(seed) if case]
    counts = counts_of(cases, 4)
    side, pool = side_of(counts, counts, how)
    times = draws(np.random.default_rng(seed), len(cases), 9)

    def table(again):
        return agreement_table(
            counts_of(again, 4),
            spa_weightings=how.spa_weightings,
            weights=how.weights,
            labels=how.labels,
            metric=how.metric,
        )

    check(values_on(side, pool, times), side.labels, table, cases, times)
    assert [name for name, _ in side.labels] == [one.name for one in table(cases)]


@pytest.mark.parametrize("how", ASKED[:5], ids=NAMES[:5])
@pytest.mark.parametrize("n_raters", [2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_values_of_raters_are_those_of_the_resampled_cases(seed, n_raters, how):
    panel = [case for case in random_panel(seed, n_raters=n_raters) if case]
    dataset = dataset_of(panel, 4, n_raters)
    counts = class_counts(dataset)
    side, pool = side_of(dataset, counts, how)
    times = draws(np.random.default_rng(seed), len(panel), 9, (None, None, 4))

    def table(again):
        data = dataset_of(again, 4, n_raters)
        return agreement_table(
            class_counts(data),
            spa_weightings=how.spa_weightings,
            weights=how.weights,
            labels=how.labels,
            metric=how.metric,
            dataset=data,
        )

    rows = values_on(side, pool, times)
    own = {"cohen_kappa", "scott_pi"} if n_raters == 2 else {"conger_kappa"}
    assert own == {name for name, _ in side.labels} & {"cohen_kappa", "scott_pi", "conger_kappa"}
    used = [len({rater for case in repeated(panel, copies) for rater, _ in case}) for copies in times]
    enough = [number == 2 if n_raters == 2 else number > 2 for number in used]
    assert sum(enough) >= 6
    check(rows[enough], side.labels, table, panel, times[enough])


def test_values_on_the_data_themselves_are_those_of_the_table():
    panel = random_panel(7)
    dataset = dataset_of(panel, 4, 5)
    side, _ = side_of(dataset, class_counts(dataset), CoefficientOptions(SPA_WEIGHTINGS))
    table = agreement_table(class_counts(dataset), spa_weightings=SPA_WEIGHTINGS, dataset=dataset)
    assert side.labels == [(one.name, one.weights) for one in table]
    assert side.observed == pytest.approx([one.value for one in table], abs=1e-12)


def test_full_agreement_is_exactly_1_for_every_coefficient():
    panel = [[(rater, case % 3) for rater in range(2 + case % 3)] for case in range(9)]
    dataset = dataset_of(panel, 3)
    for how in (
        CoefficientOptions(SPA_WEIGHTINGS),
        CoefficientOptions(weights="linear"),
        CoefficientOptions(metric="ordinal"),
    ):
        side, _ = side_of(dataset, class_counts(dataset), how)
        assert (side.observed == 1).all()


def test_raters_who_repeat_themselves_leave_cohen_and_scott_undefined_and_conger_not():
    panel = [[(0, 0), (0, 0), (1, 1)], [(0, 1), (1, 1)], [(0, 0), (1, 0)]]
    side, pool = side_of(dataset_of(panel, 2), class_counts(dataset_of(panel, 2)), CoefficientOptions())
    of = dict(zip([name for name, _ in side.labels], side.observed, strict=True))
    assert np.isnan(of["cohen_kappa"]) and np.isnan(of["scott_pi"])
    assert np.isfinite(of["fleiss_kappa"])
    assert np.isnan(values_on(side, pool, np.array([[1, 1, 1]]))[0, side.labels.index(("scott_pi", "identity"))])
    said = side.why_undefined()
    assert set(said) == {("cohen_kappa", "identity"), ("scott_pi", "identity")}
    assert all("annotated the same case more than once" in one.note for one in said.values())


def test_cases_without_answers_count_for_nothing():
    cases = random_cases(4)
    assert [] in cases
    counts, full = counts_of(cases, 4), counts_of([case for case in cases if case], 4)
    assert side_of(counts, counts, CoefficientOptions())[0].observed == pytest.approx(
        side_of(full, full, CoefficientOptions())[0].observed
    )
    assert side_of(counts, counts, CoefficientOptions())[1].n_cases == full.n_cases


def test_every_coefficient_has_a_place_in_the_order():
    panel = random_panel(1)
    for n_raters in (2, 5):
        data = dataset_of([[(r, k) for r, k in case if r < n_raters] for case in panel], 4, n_raters)
        table = agreement_table(class_counts(data), spa_weightings=SPA_WEIGHTINGS[:1], dataset=data)
        assert [one.name for one in table] == chosen(data, None)
        assert set(chosen(data, None)) < set(formulas())
    assert chosen(counts_of(answers_of(panel), 4), ["gwet_ac", "percent"]) == ["percent", "gwet_ac"]
