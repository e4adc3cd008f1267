"""Tables of counts give what the raw annotations give."""

import numpy as np
import pytest

from core.agreement.coefficients import agreement_table
from core.agreement.cohen_conger import cohen_kappa
from core.agreement.krippendorff import METRICS, krippendorff_alpha
from core.agreement.specific import specific_agreement
from core.agreement.tables import from_contingency, from_count_table
from core.annotations.counts import class_counts
from core.errors import InputError
from tests.core.agreement.examples import answers_of, dataset_of, random_panel


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", ["identity", "quadratic"])
def test_a_table_of_cases_by_classes_gives_every_coefficient_of_the_annotations(seed, weights):
    """Cases without any annotation are rows of zeros."""
    panel = random_panel(seed, gaps=0.7)
    raw = class_counts(dataset_of(panel, 4))
    table = from_count_table([[answers.count(k) for k in range(4)] for answers in answers_of(panel)])
    assert [] in panel
    assert agreement_table(raw, weights=weights) == agreement_table(table, weights=weights)
    for metric in METRICS:
        assert krippendorff_alpha(raw, metric=metric) == krippendorff_alpha(table, metric=metric)
    assert specific_agreement(raw) == specific_agreement(table)


@pytest.mark.parametrize("seed", range(4))
def test_a_contingency_table_gives_every_coefficient_of_its_two_raters(seed):
    panel = random_panel(seed, n_raters=2, gaps=0)
    raw = dataset_of(panel, 4)
    table = np.zeros((4, 4), int)
    for (_, a), (_, b) in panel:
        table[a, b] += 1
    made = from_contingency(table)
    plain = agreement_table(class_counts(raw), dataset=raw, weights="linear")
    other = agreement_table(class_counts(made), dataset=made, weights="linear")
    assert [one.name for one in other][3:5] == ["cohen_kappa", "scott_pi"]
    for one, two in zip(plain, other, strict=True):
        assert (one.name, one.weights, one.n_cases, one.note) == (two.name, two.weights, two.n_cases, two.note)
        for field in ("value", "se", "ci_low", "ci_high"):
            assert getattr(one, field) == pytest.approx(getattr(two, field), abs=1e-12)


def test_rows_and_columns_of_a_contingency_table_may_change_places():
    table = np.array([[5, 2, 0], [1, 7, 3], [0, 0, 4]])
    one, two = cohen_kappa(from_contingency(table)), cohen_kappa(from_contingency(table.T))
    assert (one.value, one.se) == pytest.approx((two.value, two.se), abs=1e-12)


def test_a_contingency_table_names_its_raters_and_classes():
    found = from_contingency([[1, 2], [0, 3]], classes=("no", "yes"), raters=("Ann", "Bea"))
    assert (found.raters, found.classes, found.n_cases) == (("Ann", "Bea"), ("no", "yes"), 6)
    assert found.answer.reshape(-1, 2).tolist() == [[0, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 1]]


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], np.zeros((0, 3))])
def test_empty_tables_have_no_coefficient_and_say_why(table):
    for found in agreement_table(from_count_table(table)):
        assert found.value is None and "no case has two annotations" in found.note


@pytest.mark.parametrize("build", [from_count_table, from_contingency])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2], [3, -4]], "Could not read the table: row 2, column 2 contains -4"),
        ([[1, 2.5], [3, 4]], "Could not read the table: row 1, column 2 contains 2.5"),
        ([[1, np.nan], [3, 4]], "row 1, column 2"),
        ([[1, np.inf], [3, 4]], "row 1, column 2"),
        ([1, 2], "not two-dimensional"),
        ([["a", 1], [2, 3]], "not a number"),
    ],
)
def test_what_is_no_table_of_counts_is_refused_with_its_place(build, table, message):
    with pytest.raises(InputError, match=message):
        build(table)


def test_a_contingency_table_must_be_square_and_its_names_must_fit():
    with pytest.raises(InputError, match="2 rows and 3 columns"):
        from_contingency([[1, 2, 3], [4, 5, 6]])
    for classes in (("a",), ("a", "a")):
        with pytest.raises(InputError, match="different names"):
            from_contingency([[1, 2], [3, 4]], classes=classes)
    with pytest.raises(InputError, match="two raters need two different names"):
        from_contingency([[1, 2], [3, 4]], raters=("a", "a"))
