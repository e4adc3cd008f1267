"""CSV and its like: dialects, bad input, and the account of every row."""

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ingest.formats import delimited
from core.ingest.read_files import read

HEADER = "case,rater,class\n"
SMALL = HEADER + "1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n"


def text_of(reading) -> list[tuple[str, str, str]]:
    """Case, rater and class of every annotation."""
    dataset = reading.dataset
    return [
        (dataset.cases[case], dataset.raters[rater], dataset.classes[answer])
        for case, rater, answer in zip(dataset.case_of_annotation, dataset.rater, dataset.answer, strict=True)
    ]


def refusal(content: str | bytes, **options) -> InputError:
    with pytest.raises(InputError) as caught:
        read(content.encode() if isinstance(content, str) else content, **options)
    return caught.value


@pytest.mark.parametrize("content", [b"", b" \n\t\r\n ", b"\xef\xbb\xbf", b"\xff\xfe", "\ufeff \n".encode("utf-16-be")])
def test_a_file_without_text_is_called_empty(content):
    assert "it is empty" in refusal(content).message


@pytest.mark.parametrize("content", [HEADER, HEADER.strip(), "# made by a tool\n" + HEADER])
def test_a_header_alone_is_refused(content):
    assert "a header but no rows" in refusal(content).message


def test_a_file_of_comments_is_refused():
    assert "only comments" in refusal("# one\n# two\n").message


@pytest.mark.parametrize("content", ["case\n1\n2\n", "case rater class\n1 a x\n2 b y\n"])
def test_one_column_is_refused_and_named(content):
    error = refusal(content)
    assert "Could not read the table: only one column was found" in error.message
    assert "case" in error.message
    assert "semicolon" in error.remedy


def test_markup_is_recognised_for_what_it_is():
    assert "web page" in refusal("<html>\n<body>\n<p>hello</p>\n</body>\n</html>\n").message


def test_a_header_that_names_a_column_twice_is_refused_with_the_places():
    error = refusal("# note\ncase,rater,case ,class\n1,a,1,x\n")
    assert "'case' 2 times (columns 1 and 3)" in error.message
    assert error.line == 2


def test_a_header_of_another_length_is_refused():
    error = refusal("case,rater\n1,a,x,q\n1,b,y,q\n2,b,y,q\n")
    assert "2 names, but most rows have 4 fields" in error.message
    assert error.line == 1


def rows_with(place: int, row: str, *more: tuple[int, str]) -> str:
    rows = [f"{number},r{number % 7},c{number % 3}" for number in range(200_000)]
    for where, text in ((place, row), *more):
        rows[where] = text
    return HEADER + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    "more",
    [
        (),
        ((150_000, '150000,r1,c1"'),),
        ((150_000, '150000,r1,"c1"'),),
        ((150_000, '"150000",r1,c1'),),
        ((150_000, '150000,"",c1'),),
        ((150_000, '150000,"r,1",c1'),),
    ],
    ids=["never closed", "closed by a stray quote", "last field", "first field", "empty field", "delimiter inside"],
)
def test_a_quote_left_open_in_the_middle_of_a_large_file_names_its_line(more):
    error = refusal(rows_with(100_000, '100000,r1,"c1', *more))
    assert error.line == 100_002
    assert "quotation mark" in error.message
    assert "Close the quotation mark" in error.remedy
    assert ("150,002" in error.message) == (bool(more) and '""' not in more[0][1])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_quote_left_open_to_the_end_names_no_line_beyond_it(end):
    error = refusal(f'case,rater,class{end}1,"r1,a{end}2,r2,b{end}')
    assert error.line == 2 and "is never closed" in error.message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_quote_that_another_closes_by_accident_is_open_on_the_line_of_that(end):
    rows = [f"{number},r1,a" for number in range(20)]
    rows[4], rows[9] = '4,r1,"a', '9,"r,1",a'
    error = refusal(end.join(["case,rater,class", *rows, ""]))
    assert error.line == 6 and "is still open on line 11" in error.message


def test_a_quote_left_open_where_every_field_is_quoted_names_its_line():
    rows = [f'"{number}","r{number % 7}","c{number % 3}"' for number in range(1000)]
    rows[500] = '"500","r1","c1'
    error = refusal(HEADER + "\n".join(rows) + "\n")
    assert error.line == 502
    assert "503" in error.message


def test_long_text_over_many_lines_stays_one_answer():
    """Prose inside quotes is no sign of a quote left open, even with a comma here and there."""
    prose = "\n".join(["dark, round", "firm", "no itch, no pain, no fever", "seen before"] * 5)
    reading = read(f'{HEADER}1,ann,"{prose}"\n1,bob,y\n2,bob,y\n'.encode())
    assert reading.dataset.classes == (prose, "y")


@pytest.mark.parametrize(("delimiter", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")])
def test_every_delimiter_is_found_and_told(delimiter, name):
    reading = read(SMALL.replace(",", delimiter).encode())
    assert text_of(reading) == text_of(read(SMALL.encode()))
    assert f"The delimiter is a {name}." in reading.report.notes


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_rows_and_lines(end):
    content = "# note\n\n" + SMALL + "3,ann\n"
    reading = read(content.replace("\n", end).encode())
    assert text_of(reading) == text_of(read(SMALL.encode()))
    assert reading.report.dropped == ((8, "2 fields instead of 3"),)


def test_quotes_hold_delimiters_line_ends_and_doubled_quotes():
    reading = read(b'case,rater,class\n1,"Doe, Ann","says ""no"""\n1,bob,"two\r\nlines"\n2,bob,"x"\n')
    assert text_of(reading) == [
        ("1", "Doe, Ann", 'says "no"'),
        ("1", "bob", "two\r\nlines"),
        ("2", "bob", "x"),
    ]


def test_lines_are_physical_where_fields_hold_line_ends():
    reading = read(b'case,rater,class\n1,ann,"a\nb\nc"\n1,bob\n2,bob,"a\nb\nc"\n3,bob,x,y\n')
    assert [drop.line for drop in reading.report.dropped] == [5, 9]


def test_single_quotes_are_a_dialect_only_where_all_rows_use_them():
    quoted = read(b"'case','rater','class'\n'1','ann','x, y'\n'1','bob','y'\n'2','bob','x'\n")
    assert quoted.dataset.classes == ("x", "x, y", "y")
    apostrophes = read(b"case,rater,class\n1,ann,it's\n1,bob,'tis\n2,bob,y\n")
    assert apostrophes.dataset.classes == ("'tis", "it's", "y")


def test_a_quote_inside_a_field_is_a_letter():
    assert read(b'case,rater,class\n1,ann,5" wide\n1,bob,x\n').dataset.classes == ('5" wide', "x")


def test_text_after_a_closing_quote_drops_that_row_with_its_reason():
    reading = read(b'case,rater,class\n1,ann,"x" y\n1,bob,z\n2,ann,z\n')
    assert reading.report.dropped == ((2, "text after a closing quote"),)
    assert reading.report.n_kept == 2


def test_rows_of_too_few_or_too_many_fields_are_dropped_with_their_lines():
    reading = read(b"case,rater,class\n1,ann\n1,bob,z\n\n2,ann,z,q\n2,bob,z\n")
    assert reading.report.dropped == (
        (2, "2 fields instead of 3"),
        (5, "4 fields instead of 3"),
    )
    assert reading.report.n_rows == 4


def test_comments_are_passed_over_and_counted():
    reading = read(("# a study\n#by, two people\n" + SMALL + "# it's \"done\n3,ann,x\n").encode())
    assert reading.report.n_rows == reading.report.n_kept == 5
    assert "3 comment lines (#) were left out." in reading.report.notes


def test_a_comment_above_the_header_may_have_as_many_fields_as_the_table():
    reading = read(("# made, by, us\n" + SMALL).encode())
    assert text_of(reading) == text_of(read(SMALL.encode()))


def test_a_header_may_begin_with_a_hash():
    assert text_of(read(("#" + SMALL).encode())) == text_of(read(SMALL.encode()))


def test_a_case_id_may_begin_with_a_hash():
    reading = read(b'case,rater,class\n#1,ann,"x, y"\n#1,bob,"two\nlines"\n#2,ann,z\n# a remark\n')
    assert text_of(reading) == [("#1", "ann", "x, y"), ("#1", "bob", "two\nlines"), ("#2", "ann", "z")]
    said = "3 rows starting with # were read as data, because they have as many fields as the table has columns."
    assert said in reading.report.notes


def test_a_title_above_the_header_is_passed_over():
    for title in ("My study", "My study, 2020"):
        reading = read(f"{title}\n\n{SMALL}".encode())
        assert text_of(reading) == text_of(read(SMALL.encode()))
        assert "1 line above the header was left out." in reading.report.notes


def test_the_line_that_excel_writes_about_its_delimiter_is_no_row():
    reading = read(("sep=;\n" + SMALL.replace(",", ";")).encode())
    assert text_of(reading) == text_of(read(SMALL.encode()))
    assert reading.report.n_rows == 4


def test_a_header_that_comes_again_is_no_answer():
    reading = read((SMALL + HEADER + "3,ann,x\n").encode())
    assert reading.report.dropped == ((6, "a repeated header"),)
    assert reading.dataset.classes == ("x", "y")


def test_row_names_have_no_name_in_the_header():
    reading = read(b'"case","rater","class"\n"1","p1","ann","x"\n"2","p1","bob","y"\n')
    assert text_of(reading) == [("p1", "ann", "x"), ("p1", "bob", "y")]


def test_a_delimiter_at_the_end_of_every_row_makes_no_row_names():
    reading = read(b"case,rater,class\np1,ann,x,\np2,bob,y,\n")
    assert text_of(reading) == [("p1", "ann", "x"), ("p2", "bob", "y")]


def test_columns_without_names_are_numbered_and_no_row_is_lost():
    reading = read(b"1,ann,x\n1,bob,y\n2,ann,x\n", case="column 1", rater="column 2", answer="column 3")
    assert reading.report.n_kept == 3
    assert any("numbered" in note for note in reading.report.notes)


def test_raters_called_doctor_are_no_header():
    content = b"p1,doctor 1,yes\np1,doctor 2,no\np2,doctor 1,yes\n"
    assert read(content, case="column 1", rater="column 2", answer="column 3").report.n_rows == 3


def test_whether_there_is_a_header_can_be_said():
    assert (
        read(SMALL.encode(), has_header=False, case="column 1", rater="column 2", answer="column 3").report.n_rows == 5
    )
    assert read(b"a,b,c\na,b,d\ne,b,d\n", has_header=True, case="a", rater="b", answer="c").report.n_rows == 2


def test_labels_that_mean_something_elsewhere_survive_as_text():
    labels = ["<b>x</b>", "![](http://x/y.png)", "=cmd()", "$a$", "%{x}", "-1+1", "@SUM(A1)"]
    rows = "".join(f"{case},{rater},{label}\n" for case, label in enumerate(labels) for rater in ("ann", "bob"))
    assert set(read((HEADER + rows).encode()).dataset.classes) == set(labels)


def test_a_decimal_comma_is_understood_where_semicolons_set_fields_apart():
    reading = read(b"case;rater;score\n1;a;1,5\n1;b;2\n2;a;-3,25\n2;b;0,5\n")
    assert reading.dataset.kind == "score"
    np.testing.assert_array_equal(reading.dataset.score, [1.5, 2.0, -3.25, 0.5])
    assert any("decimal commas" in warning for warning in reading.report.warnings)


def test_a_comma_in_a_quoted_answer_is_no_decimal_comma():
    assert read(b'case,rater,class\n1,a,"1,5"\n1,b,"2,5"\n').dataset.classes == ("1,5", "2,5")


def test_a_tab_before_a_quote_in_a_cell_does_not_make_a_file_one_of_tabs():
    report = read(b'case;rater;class\n1;a;\t\n1;;;";\t"\n1\n1\n1\n' + b"1;;\n" * 5 + b"1;x;x\n", kind="class").report
    assert (report.n_rows, report.n_kept) == (11, 1)


def test_where_a_quote_never_closes_the_delimiter_is_that_of_the_lines_behind_it():
    error = refusal('case;rater;class\n1;r1;"a\n' + "".join(f"{number};r2;1,5\n" for number in range(50)))
    assert error.line == 2 and "is never closed" in error.message


CELL = st.one_of(
    st.sampled_from(["", " ", "NA", "n/a", ".", "nan", "NULL", "x", "y", "#", "a b", "ü", '"', "q\nr", ",", ";", "|"]),
    st.text("abz,;|\t\"'\n #é", max_size=6),
)
# The first cell keeps a row from being blank, and from being taken for a comment.
ROW = st.tuples(st.text("case1", min_size=1, max_size=3), st.lists(CELL, max_size=4)).map(lambda row: [row[0], *row[1]])
EVEN_ROW = st.tuples(st.text("case1", min_size=1, max_size=3), CELL, CELL).map(list)


def test_commas_in_most_cells_of_a_file_of_semicolons_stay_in_their_cells():
    """More lines have one comma than two semicolons, but the header would not fit, or a quote would never close."""
    rows = ["1;;"] * 3 + ["1;;,"] * 6 + ['1;x;",\n,"'] + ["1;;;,"] * 4
    report = read("\n".join(["case;rater;class", *rows, ""]).encode(), kind="class").report
    assert (report.n_rows, report.n_kept) == (14, 1)
    rows = ["1;;"] * 3 + ["1;x;,"] * 6 + ["1;;;,"] * 6
    report = read("\n".join(["case;rater;class", *rows, ""]).encode(), kind="class").report
    assert (report.n_rows, report.n_kept) == (15, 6)


@settings(max_examples=60, deadline=None)
@example(
    even=[["1", "", "\t"], *[["1", "", ""]] * 5, ["1", "x", "x"]],
    ragged=[*[(1, ["1"])] * 3, (1, ["1", "", "", ";\t"])],
    blank=[],
    delimiter=";",
    end="\n",
    quoting=csv.QUOTE_MINIMAL,
)
@given(
    even=st.lists(EVEN_ROW, min_size=6, max_size=20),
    ragged=st.lists(st.tuples(st.integers(0, 20), ROW), max_size=4),
    blank=st.lists(st.integers(0, 20), max_size=3),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_rows_kept_and_dropped_are_the_rows_of_the_file(even, ragged, blank, delimiter, end, quoting):
    """Counted by the standard library too, whatever is missing, ragged, or in quotes."""
    rows = [["case", "rater", "class"], *even]
    for place, row in ragged:
        rows.insert(1 + place % len(rows), row)
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=quoting)
    for number, row in enumerate(rows):
        writer.writerow([cell.replace("\n", end) for cell in row])  # the writer quotes only its own line end
        if number in blank:
            file.write(end)
    text = file.getvalue()
    counted = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row][1:]
    missing = {"", "na", "n/a", ".", "nan", "null"}
    whole = [row for row in counted if len(row) == 3]
    usable = [row for row in whole if not any(cell.strip(" \t\r\n").lower() in missing for cell in row)]
    # A cell of letters that never repeat is still a class, so the annotations' kind is said.
    options = {"kind": "class", "has_header": True}
    again = sum(row == ["case", "rater", "class"] for row in usable)
    if len(usable) == again:
        assert refusal(text, **options).message
        return
    report = read(text.encode(), **options).report
    assert report.n_rows == len(counted)
    assert report.n_kept == len(usable) - again
    assert len(report.dropped) == len(counted) - len(usable) + again
    assert all(1 < drop.line <= text.replace("\r\n", "\n").replace("\r", "\n").count("\n") for drop in report.dropped)


_LINE = st.text(st.sampled_from("ab#, \t"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(_LINE, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans())
def test_lines_without_quotes_are_the_records_of_the_full_scan(lines, end, ends, quoted):
    """Blank ones, comments, ragged ones, with and without an end of the last; quotes in the header or nowhere."""
    head = '"case, or so",rater' + end if quoted else ""
    content = (head + end.join(lines) + (end if ends else "")).encode()
    data = np.frombuffer(content, np.uint8)
    found, plain = delimited._records(content, data, delimited.Dialect(",", '"'))
    whole = delimited._scan(data, delimited.Dialect(",", '"'))
    assert plain
    for name in ("first", "last", "line", "fields", "flags"):
        assert getattr(found, name).tolist() == getattr(whole, name).tolist(), name


@pytest.mark.parametrize("content", ["a,b\r1,2\r", 'a,b\n1,"2\n"', 'a,b\n1,2\n3,"4\n5"\n6,7\r'])
def test_a_lone_carriage_return_and_quotes_over_lines_are_scanned_in_full(content):
    data = np.frombuffer(content.encode(), np.uint8)
    assert not delimited._records(content.encode(), data, delimited.Dialect(",", '"'))[1]


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_large_table_is_read_as_a_small_one(quote, monkeypatch):
    """As dictionaries, with the header again, blank lines, ragged ones and missing annotations in between."""
    rows = [f"{case},{rater},{quote}{'xyz'[case % 3]}{quote}" for case in range(40) for rater in "abc"]
    rows[7:7] = ["case,rater,class", "", "# a comment", "1,2", "5,a,n/a", "6,,x"]
    content = (HEADER + "\n".join(rows) + "\n").encode()
    small = read(content)
    monkeypatch.setattr(delimited, "_LARGE", 0)
    large = read(content)
    assert text_of(large) == text_of(small)
    assert large.report == small.report
    assert {one.reason for one in large.report.dropped} >= {"a repeated header", "no rater", "no annotation ('n/a')"}
