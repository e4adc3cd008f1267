"""Columns of whole numbers: classes with counts, raters with grades, or a question to the user."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.ingest.counts_or_raters import weigh
from core.ingest.formats.detect import open_source
from core.ingest.guess_mapping import mapping_as
from core.ingest.read_files import build_question, read
from core.ingest.row_in_words import row_in_words

CIFAR = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PEOPLE = ("ann", "bob", "cid", "dee", "eve", "flo", "gus", "hal", "ina", "jon")


def table(numbers, columns, first="image") -> bytes:
    rows = [",".join(map(str, (f"i{place}", *row))) for place, row in enumerate(np.asarray(numbers).tolist())]
    return "\n".join([",".join((first, *columns)), *rows]).encode()


def counts(rng, n_rows: int, n_classes: int, low: int, high: int, flat: float) -> np.ndarray:
    share = rng.dirichlet(np.full(n_classes, flat), n_rows)
    return np.array([rng.multinomial(rng.integers(low, high + 1), row) for row in share])


def grades(rng, n_rows: int, n_raters: int, n_classes: int, noise: float) -> np.ndarray:
    truth = rng.integers(0, n_classes, (n_rows, 1))
    guessed = rng.integers(0, n_classes, (n_rows, n_raters))
    return np.where(rng.random(guessed.shape) < noise, guessed, truth)


def read_as(numbers, columns) -> tuple[str, bool]:
    """The layout that a table is read as, and whether nothing is asked."""
    mapping = open_source([("t.csv", table(numbers, columns))]).questions[0].mapping
    return mapping.layout, not mapping.instead


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(3, 300), st.integers(2, 10), st.integers(2, 50), st.floats(0.05, 3.0))
def test_counts_of_any_sums_are_never_taken_for_raters_without_a_question(seed, n_rows, n_classes, most, flat):
    """Also where cases have nearly twice as many annotations as others; single annotations are another table."""
    numbers = counts(np.random.default_rng(seed), n_rows, n_classes, most // 2 + 1, most, flat)
    layout, sure = read_as(numbers, CIFAR[:n_classes])
    assert layout == "counts" or not sure or numbers.max() < 2


@settings(max_examples=40, deadline=None)
@example(352, 3, 3, 3, 0.25)  # three rows that add up alike by chance
@given(seeds, st.integers(3, 300), st.integers(2, 10), st.integers(2, 11), st.floats(0.0, 1.0))
def test_grades_are_never_taken_for_counts_without_a_question(seed, n_rows, n_raters, n_classes, noise):
    numbers = grades(np.random.default_rng(seed), n_rows, n_raters, n_classes, noise)
    layout, sure = read_as(numbers, PEOPLE[:n_raters])
    assert layout == "wide" or not sure


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(30, 300), st.integers(3, 10), st.integers(2, 5), st.floats(0.0, 0.35))
def test_grades_of_raters_who_agree_are_not_asked_about(seed, n_rows, n_raters, n_classes, noise):
    numbers = grades(np.random.default_rng(seed), n_rows, n_raters, n_classes, noise)
    assert read_as(numbers, PEOPLE[:n_raters]) == ("wide", True)


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(1, 300), st.integers(2, 10), st.integers(2, 5), st.floats(0.0, 1.0))
def test_grades_in_columns_that_are_called_as_raters_are_not_asked_about(seed, n_rows, n_raters, n_classes, noise):
    numbers = grades(np.random.default_rng(seed), n_rows, n_raters, n_classes, noise)
    for stem in ("r", "rater_", "reader ", "A"):
        assert read_as(numbers, [f"{stem}{place}" for place in range(1, n_raters + 1)])[0] == "wide"


@pytest.mark.parametrize("numbers", [[[1, 0, 0], [1, 0, 1]], [[2, 1, 1, 2], [3, 0, 3, 3], [3, 2, 2, 2]]])
def test_a_few_rows_of_three_or_more_numbered_raters_are_no_comparisons(numbers):
    columns = [f"r{place}" for place in range(1, len(numbers[0]) + 1)]
    assert read_as(np.array(numbers), columns)[0] == "wide"


@pytest.mark.parametrize(("n_rows", "columns", "flat"), [(20, CIFAR, 0.1), (30, CIFAR[:3], 2.0), (200, CIFAR[:3], 2.0)])
def test_counts_with_few_rows_or_few_zeros_are_recognised(n_rows, columns, flat):
    numbers = counts(np.random.default_rng(5), n_rows, len(columns), 47, 63, flat)
    assert read_as(numbers, columns) == ("counts", True)
    assert read(table(numbers, columns)).dataset.n_annotations == numbers.sum()


DOUBTFUL = [[3, 1, 1], [0, 2, 2], [1, 0, 3], [2, 2, 1]]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (("ann", "bob", "cid"), ("counts", False)),
        (("r1", "r2", "r3"), ("wide", True)),
        (("benign", "malignant", "unsure"), ("counts", True)),
        (("n_benign", "n_mild", "n_bad"), ("counts", True)),
        (("class 0", "class 1", "class 2"), ("counts", True)),
    ],
)
def test_four_rows_are_read_by_the_names_of_their_columns_or_asked_about(columns, found):
    assert read_as(DOUBTFUL, columns) == found


def test_names_that_return_as_gold_or_in_predictions_are_classes():
    columns = ("ann", "bob", "cid")
    beside = b"image,ann,bob,cid\n" + b"".join(b"i%d,0.5,0.3,0.2\n" % place for place in range(4))
    for other in (("net.csv", beside), ("gold.csv", b"image,gold\ni0,ann\ni1,bob\ni2,cid\n")):
        source = open_source([("t.csv", table(DOUBTFUL, columns)), other])
        (question,) = source.questions
        assert (question.mapping.layout, question.mapping.instead) == ("counts", ())
        assert build_question(source, question, "t").dataset.classes == columns


def test_a_column_of_sums_makes_the_others_counts_and_is_no_class():
    reading = read(b"case,x,y,total\n1,3,1,4\n2,0,5,5\n3,2,0,2\n")
    assert (reading.dataset.classes, reading.dataset.n_annotations) == (("x", "y"), 11)


@pytest.mark.parametrize("column", ["text", "place"])
def test_texts_of_cases_next_to_counts_and_their_sum_are_no_class_and_hide_none(column):
    rows = "".join(
        f"t{case},{'ab'[case % 2] if column == 'place' else f'text {case}'},{case},,2,{case + 2}\n"
        for case in range(12)
    )
    reading = read(f"tweet,{column},sunny,cloudy,rainy,Total\n{rows}".encode())
    assert (reading.dataset.classes, reading.dataset.n_annotations) == (("rainy", "sunny"), 90)


def test_zeros_beside_blanks_are_grades():
    assert not weigh(np.array([[0, 4], [3, 0], [2, 3]]), np.array([[0, 0], [0, 1], [0, 0]], bool), PEOPLE[:2]).counts


def test_a_table_in_doubt_is_read_with_a_warning_that_goes_with_the_choice():
    content = table(DOUBTFUL, PEOPLE[:3])
    (warning,) = (one for one in read(content).report.warnings if "whole numbers" in one)
    assert "“ann”" in warning and "--format counts" in warning and "--format wide" in warning
    for layout, n_raters in (("wide", 3), ("counts", 5)):
        reading = read(content, format=layout)
        assert reading.dataset.n_raters == n_raters
        assert not [one for one in reading.report.warnings if "whole numbers" in one]


@pytest.mark.parametrize(
    ("content", "layout", "said"),
    [
        (table(DOUBTFUL, PEOPLE[:3]), "wide", "Case “i0”: rater “ann” annotated it as “3”, rater “bob” annotated it"),
        (table(DOUBTFUL, PEOPLE[:3]), "counts", "Case “i0” has 5 annotations: 3 for the class “ann”, 1 for the"),
        (b"case,rater,class\n1,,x\n2,ann,y\n", "long", "Rater “ann” annotated case “2” as “y”."),
        (b"rater,c1,c2\nann,x,\n", "transposed", "Rater “ann” annotated case “c1” as “x”."),
        (
            b"by,yes,no\nyes,0,2\nno,1,4\n",
            "contingency",
            "2 cases are “yes” according to the rater in the rows and “no” according",
        ),
        (b"r1,r2,count\n0,1,7\n1,1,2\n", "patterns", "7 cases were annotated as “0” by rater “r1” and as"),
        (b"case,rater,a,b\n1,ann,1,0\n", "labels", "Rater “ann” gave case “1” “a”."),
        (b"case,rater,a,b\n1,ann,,1\n2,bob,1,0\n", "labels", "Rater “bob” gave case “2” “a”."),  # the first is left out
        (b"case,rater,a,b\n1,ann,,1\n2,bob,1,\n", "labels", "Rater “ann” gave case “1” “b”."),
    ],
)
def test_one_row_is_said_in_words(content, layout, said):
    reading = open_source([("t.csv", content)], format=layout)
    raw = reading.questions[0].raw
    assert row_in_words(raw, mapping_as(raw, layout)).startswith(said)


@pytest.mark.parametrize(
    ("content", "layout", "said"),
    [
        (b"case,r1,r2,r3,r4,r5,r6\n99,99,1,2,1,99,2\n", "wide", "annotated it as “1”, and 1 more."),
        (b"rater,c1,c2\nann,99,1\n", "transposed", "Rater “ann” annotated case “c2” as “1”."),
        (b"r1,r2,count\n99,1,7\n", "patterns", "7 cases were annotated as “1” by rater “r2”."),
        (b"case,rater,class\n1,ann,99\n2,ann,1\n", "long", "Rater “ann” annotated case “2” as “1”."),
    ],
)
def test_a_code_for_a_missing_annotation_is_no_annotation_in_one_row(content, layout, said):
    raw = open_source([("t.csv", content)], format=layout).questions[0].raw
    assert row_in_words(raw, mapping_as(raw, layout), {"99"}).endswith(said)
    assert "“99”" in row_in_words(raw, mapping_as(raw, layout))
