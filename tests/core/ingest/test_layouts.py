"""Tables that are neither long nor wide, and rankings written in other ways than by ranks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ingest.build_dataset import build_dataset
from core.ingest.column_mapping import Mapping
from core.ingest.formats.tables import open_table
from core.ingest.read_files import complete_mapping, read
from tests.core.ingest.as_read import answers, reasons


def dense_counts(dataset) -> np.ndarray:
    table = np.zeros((dataset.n_cases, dataset.n_classes), int)
    np.add.at(table, (dataset.case_of_annotation, dataset.answer), 1)
    return table


FLEISS = "case,depressed,neurotic,other\n1,0,4,2\n2,6,0,0\n3,0,1,5\n"


def test_a_table_of_counts_is_recognised_by_its_equal_sums():
    reading = read(FLEISS.encode())
    assert reading.report.mapping.layout == "counts"
    assert dense_counts(reading.dataset).tolist() == [[0, 4, 2], [6, 0, 0], [0, 1, 5]]
    assert not reading.dataset.raters_identified
    assert reading.report.n_kept == 3


def test_counts_with_other_sums_can_be_declared():
    content = b"case,a,b\n1,3,1\n2,0,2\n3,,0\n"
    assert read(content, rater="none", layout="wide").report.mapping.layout == "wide"
    reading = read(content, layout="counts")
    assert dense_counts(reading.dataset).tolist() == [[3, 1], [0, 2]]
    assert reasons(reading) == [(4, "nobody annotated")]


@pytest.mark.parametrize("rows", [b"1,1,1,0\n2,0,1,1\n3,1,0,1\n", b"1,2,0,1\n2,0,2,1\n3,1,1,1\n"])
def test_a_few_ratings_with_equal_sums_are_not_taken_for_counts(rows):
    assert read(b"case,r1,r2,r3\n" + rows).report.mapping.layout == "wide"


def test_wide_scores_are_not_taken_for_counts():
    assert read(b"case,r1,r2,r3\n1,5,4,5\n2,1,0,2\n3,3,3,3\n").report.mapping.layout == "wide"


@pytest.mark.parametrize("cell", ["-1", "1.5", "x", "inf"])
def test_a_cell_that_is_no_count_is_named(cell):
    with pytest.raises(InputError, match="is not a count") as caught:
        build_dataset(
            open_table(f"case,a,b\n1,2,1\n2,{cell},1\n".encode()),
            Mapping("counts", case="case", across=("a", "b")),
            "d",
        )
    assert caught.value.line == 3


def test_counts_beyond_reason_are_refused():
    with pytest.raises(InputError, match="the limit is"):
        read(b"case,a,b\n1,1000000000000,1\n2,1,1\n", layout="counts")
    with pytest.raises(InputError, match="100,002 annotations on one case"):
        read(b"case,a,b\n1,100001,1\n2,1,1\n", layout="counts")


def test_a_contingency_table_is_recognised_by_its_names():
    reading = read(b"reader 1,yes,no\nyes,2,1\nno,0,3\n")
    assert reading.report.mapping.layout == "contingency"
    pairs = [answer for _, _, answer in answers(reading.dataset)]
    assert (
        sorted(zip(pairs[0::2], pairs[1::2], strict=True))
        == [("no", "no")] * 3 + [("yes", "no")] + [("yes", "yes")] * 2
    )
    assert reading.dataset.raters == ("columns", "rows")
    assert reading.dataset.n_cases == 6


def test_sums_at_the_edge_of_a_contingency_table_are_left_out():
    reading = read(b",yes,no,total\nyes,2,1,3\nno,0,3,3\ntotal,2,4,6\n")
    assert reading.dataset.n_cases == 6
    assert reasons(reading) == [(4, "the class of this row is not among the column names")]


def test_rows_of_a_contingency_table_are_the_rater_called_rows():
    found = answers(read(b"x,a,b\na,0,1\nb,0,0\n").dataset)
    assert {(rater, answer) for _, rater, answer in found} == {("rows", "a"), ("columns", "b")}


def test_grouped_patterns_become_cases():
    reading = read(b"ann,bob,carl,count\n0,0,1,2\n1,1,1,1\n0,1,,3\n1,0,0,0\n")
    assert reading.report.mapping.layout == "patterns"
    dataset = reading.dataset
    assert (dataset.n_cases, dataset.n_annotations) == (6, 2 * 3 + 3 + 3 * 2)
    assert reasons(reading) == [(5, "no case has these annotations")]
    by_rater = {rater: [a for _, r, a in answers(dataset) if r == rater] for rater in dataset.raters}
    assert by_rater == {"ann": ["0", "0", "1", "0", "0", "0"], "bob": ["0", "0", "1", "1", "1", "1"], "carl": ["1"] * 3}


def test_a_running_number_of_patterns_is_no_rater():
    assert read(b"id,d1,d2,count\n1,0,1,3\n2,1,1,2\n").report.mapping.raters == ("d1", "d2")


WIDE = "case,Anna,Bob\nc1,x,y\nc2,,x\nc3,y,\n"
TURNED = "rater,c1,c2,c3\nAnna,x,,y\nBob,y,x,\n"


def test_a_transposed_table_gives_the_same_dataset():
    wide, turned = read(WIDE.encode()), read(TURNED.encode(), layout="transposed")
    assert turned.dataset.digest == wide.dataset.digest
    assert turned.report.n_kept == 2
    assert read(TURNED.encode()).report.mapping.layout == "transposed"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_wide_table_turned_over_is_the_same_dataset(data):
    cell = st.sampled_from(["x", "y", "10", "2", "", "NA"])
    n_cases, n_raters = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 4))
    cells = data.draw(
        st.lists(st.lists(cell, min_size=n_raters, max_size=n_raters), min_size=n_cases, max_size=n_cases)
    )
    if not any(text in ("x", "y", "10", "2") for row in cells for text in row):
        return
    raters = [f"r{place}" for place in range(n_raters)]
    wide = "\n".join([",".join(["case", *raters]), *(",".join([f"c{i}", *row]) for i, row in enumerate(cells))])
    columns = list(zip(*cells, strict=True))
    names = [f"c{i}" for i in range(n_cases)]
    turned = "\n".join(
        [",".join(["rater", *names]), *(",".join([r, *c]) for r, c in zip(raters, columns, strict=True))]
    )
    one = read(wide.encode(), layout="wide", kind="class").dataset
    other = read(turned.encode(), layout="transposed", kind="class").dataset
    assert one.digest == other.digest


SURE = (
    "case,rater,class,confidence\n1,ann,x,0.9\n1,ann,y,0.5\n1,ann,z,0.5\n1,ann,w,0\n1,bob,y,1\n1,bob,x,-1\n1,bob,z,?\n"
)


def test_confidences_order_classes_and_zero_is_not_ranked():
    reading = read(SURE.encode())
    assert reading.report.mapping.confidence == "confidence"
    assert answers(reading.dataset) == [("1", "ann", [["x"], ["y", "z"]]), ("1", "bob", [["y"]])]
    assert reasons(reading) == [
        (5, "not ranked: the confidence is 0"),
        (7, "the confidence is below 0"),
        (8, "the confidence is not a number"),
    ]


def test_a_confidence_beside_one_class_each_is_no_ranking():
    assert read(b"case,rater,class,confidence\n1,ann,x,0.9\n1,bob,y,0.5\n").dataset.kind == "class"


ORDERED = "case,rater,diagnosis\n1,ann,A > B = C > D\n1,bob,B\n2,ann,D>A\n2,bob,A > > B\n2,eve,A > A = B\n"


def test_ordered_strings_are_rankings():
    reading = read(ORDERED.encode(), separators=(">", "="))
    assert answers(reading.dataset) == [
        ("1", "ann", [["A"], ["B", "C"], ["D"]]),
        ("1", "bob", [["B"]]),
        ("2", "ann", [["D"], ["A"]]),
        ("2", "eve", [["A"], ["B"]]),
    ]
    assert reasons(reading) == [(5, "a class is missing before or after '>' or '='")]


def test_ordered_strings_are_recognised_and_their_signs_shown():
    content = b"case,ann,bob\n1,A > B = C > D,B > A\n2,D > A,B\n"
    reading = read(content)
    assert reading.report.mapping.separators == (">", "=")
    assert "'>'" in reading.report.mapping.why["separators"]
    assert reading.dataset.kind == "ranking"
    assert read(content, kind="class").dataset.classes == ("A > B = C > D", "B", "B > A", "D > A")


def test_other_signs_can_be_given():
    dataset = read(b"case,ann,bob\n1,A; B/C,B; A\n", separators=(";", "/")).dataset
    assert answers(dataset) == [("1", "ann", [["A"], ["B", "C"]]), ("1", "bob", [["B"], ["A"]])]
    with pytest.raises(InputError, match="empty or identical"):
        read(b"case,ann,bob\n1,A; B/C,B; A\n", separators=(";", ";"))


def test_two_rankings_of_one_rater_on_one_case_stay_apart():
    reading = read(b"case,rater,class\n1,ann,A > B\n1,ann,B > A\n", separators=(">", "="))
    assert [answer for *_, answer in answers(reading.dataset)] == [[["A"], ["B"]], [["B"], ["A"]]]
    assert reading.report.n_repeats == 1


def test_names_that_hold_a_sign_without_any_order_stay_classes():
    assert read(b"case,rater,class\n1,ann,size > 3\n1,bob,size > 5\n2,ann,none\n").dataset.kind == "class"


def test_gold_in_a_column_is_no_rater_and_known_class():
    reading = read(b"case,truth,Anna,Bob\n1,x,x,y\n2,y,y,y\n3,q,x,x\n")
    assert reading.dataset.raters == ("Anna", "Bob")
    assert reading.dataset.gold.tolist() == [0, 1, -1]
    assert any("'q'" in warning for warning in reading.report.warnings)
    assert read(b"case,rater,label,gold_label\n1,a,x,x\n1,b,y,x\n2,a,y,\n").dataset.gold.tolist() == [0, -1]


def test_two_known_classes_of_one_case_are_told():
    reading = read(b"case,rater,label,gold\n1,a,x,x\n1,b,y,y\n")
    assert reading.dataset.gold.tolist() == [0]
    assert any("more than one gold class" in warning for warning in reading.report.warnings)


def test_a_layout_that_is_said_takes_the_likeliest_columns():
    raw = open_table(b"id,a,b,n\n1,x,y,3\n2,y,y,1\n")
    assert complete_mapping(raw, layout="patterns").count == "n"
    assert complete_mapping(raw, layout="wide").raters == ("a", "b", "n")
    assert complete_mapping(raw, layout="transposed").across == ("a", "b", "n")
    assert complete_mapping(open_table(b"k,a,b\na,1,0\nb,0,1\n"), layout="contingency").across == ("a", "b")
