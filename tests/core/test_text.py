"""Text from a file is shown letter for letter: markdown, plotly, HTML, spreadsheets."""

import html
import re

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.tables import to_csv, to_csv_text
from core.text import (
    LONGEST_SHOWN,
    as_name,
    exact,
    html_text,
    listed,
    markdown,
    number,
    percent,
    percent_range,
    percent_with_interval,
    plotly,
    plural,
    shorten,
    significant,
    spreadsheet,
    typed,
    with_interval,
    without_controls,
)

NASTY = [
    "<b>x</b>",
    "![](http://x/y.png)",
    "[a](javascript:alert(1))",
    "**bold** _it_ ~~no~~",
    "`code`",
    "$x^2$",
    ":red[text]",
    ":material/delete:",
    ":smile:",
    "# title",
    "- item",
    "1. item",
    "| a | b |",
    "www.example.org",
    "me@example.org",
    "a -> b",
]


def shown(escaped: str) -> str:
    """What markdown leaves of a text in which every special character is escaped."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", escaped).replace("\u2060", "")


@pytest.mark.parametrize("text", NASTY)
def test_markdown_shows_the_text_itself(text):
    assert shown(markdown(text)) == text


@settings(max_examples=60, deadline=None)
@given(st.text())
def test_no_special_character_stands_bare_in_markdown(text):
    """Every character that markdown gives a meaning to has a backslash before it."""
    rest = re.sub(r"\\[!-/:-@\[-`{-~]", "", markdown(text))
    assert not set(rest) & set("\\`*_{}[]()#+-.!|~<>$:^=\"'&")
    assert not re.search(r"[\x00-\x1f]", rest)


@pytest.mark.parametrize(("text", "pair"), [("a->b", r"\-\>"), (":smile:", r"\:s"), ("www.x.org", r"www\.")])
def test_pairs_that_are_replaced_after_escapes_are_broken_up(text, pair):
    assert pair not in markdown(text)
    assert "\u2060" in markdown(text)


def test_text_of_many_lines_becomes_one():
    for escape in (markdown, plotly, html_text):
        assert escape("a\r\n\x00b\u2028c") == "a b c"


def test_a_template_gets_no_control_characters_but_its_lines():
    assert without_controls("a\x00\x1bb\tc\r\nd\u2029e<") == "a b\tc\r\nd e<"


@pytest.mark.parametrize("text", NASTY)
def test_plotly_shows_tags_as_letters(text):
    assert "<" not in plotly(text)
    assert html.unescape(plotly(text)) == text


def test_plotly_gets_no_template():
    assert "%{" not in plotly("%{customdata[0]}")
    assert html.unescape(plotly("%{x}")) == "%{x}"


@settings(max_examples=50, deadline=None)
@given(st.text("<>&\"'ab/=", max_size=20))
def test_html_text_cannot_leave_its_element_or_attribute(text):
    escaped = html_text(text)
    assert not set(escaped) & set("<>\"'")
    assert html.unescape(escaped) == text


@pytest.mark.parametrize("value", ["=cmd()", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"])
def test_a_cell_that_a_spreadsheet_would_run_begins_with_an_apostrophe(value):
    assert spreadsheet(value) == "'" + value


@pytest.mark.parametrize(
    "unseen", ["", " ", "\u00a0", "\u200b", "\ufeff", "\u2060", "\u3000", " \u00ad\u200d\ufe0f ", "\u3164\u2800"]
)
@pytest.mark.parametrize("leader", "=+-@＝＋－＠﹦﹢﹣﹫")
def test_a_formula_after_letters_that_are_not_seen_or_of_full_width_is_marked(unseen, leader):
    cell = f"{unseen}{leader}HYPERLINK(1)"
    assert spreadsheet(cell) == "'" + cell
    assert to_csv_text(pd.DataFrame({"x": [cell]})).splitlines()[1].lstrip('"').startswith("'")


@pytest.mark.parametrize("cell", ["\u00a0x=1", " ", "\u200b", "１＋１", "x", "–"])
def test_a_cell_that_begins_with_no_formula_stays(cell):
    assert spreadsheet(cell) is cell


def test_a_name_of_more_than_500_characters_is_cut_on_screen_with_its_length():
    long, longest = "a" * 10_000, "a" * LONGEST_SHOWN
    assert plotly(long) == f"{longest}… (10,000 characters)"
    assert markdown(long) == f"{longest}… \\(10,000 characters\\)"
    assert plotly(longest) == markdown(longest) == longest
    note = "word " * 2_000
    assert markdown(note) == note.strip(), "a note is no name"
    assert html_text(long) == long


@pytest.mark.parametrize("value", ["x=1", "", "'=1", 5, -1.5, None, True])
def test_other_cells_stay_as_they_are(value):
    assert spreadsheet(value) is value


def test_a_table_for_spreadsheets_keeps_numbers_and_disarms_text():
    table = pd.DataFrame({"=x": ["=cmd()", "é"], "n": [-1.5, 2.0]})
    content = to_csv(table)
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.decode("utf-8-sig") == "'=x,n\r\n'=cmd(),-1.5\r\né,2.0\r\n"


def test_a_table_may_have_two_columns_of_one_name():
    table = pd.DataFrame([["a", "=1"]], columns=["case", "case"])
    assert to_csv(table).decode("utf-8-sig") == "case,case\r\na,'=1\r\n"


def test_an_empty_table_is_its_header():
    assert to_csv(pd.DataFrame({"a": [], "b": []})).decode("utf-8-sig") == "a,b\r\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("2", "“2”"),
        ("-1.5", "“-1.5”"),
        ("1,000", "“1,000”"),
        ("50%", "“50%”"),
        ("grade 2", "grade 2"),
        ("", ""),
        ("2b", "2b"),
    ],
)
def test_a_name_that_is_a_number_is_told_from_one(name, text):
    assert as_name(name) == text


def test_long_text_is_cut_with_an_ellipsis():
    assert shorten("x" * 40) == "x" * 40
    assert shorten("x" * 41) == "x" * 39 + "…"
    assert shorten("word another", 6) == "word…"


def test_counts_agree_with_their_nouns():
    assert plural(1, "case") == "1 case"
    assert plural(0, "case") == "0 cases"
    assert plural(2000, "class", "classes") == "2,000 classes"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e9, "1,000,000,000"),
        (12345.0, "12,345"),
        (1, "1"),
        (-2000.0, "-2,000"),
        (0.0, "0"),
        (0.001, "0.001"),
        (-0.5, "-0.5"),
        (None, "–"),
        (2.5, "2.5"),
        (1e70, "1e+70"),
    ],
)
def test_settings_are_told_in_full_with_separators(value, text):
    assert exact(value) == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (number(0.844), "0.84"),
        (number(-0.004), "0.00"),
        (number(-0.25, 1), "−0.2"),
        (number(1234.5), "1,234.50"),
        (number(10.07, 1), "10.1"),
        (number(0.844), "0.84"),
        (number(float("nan")), "–"),
        (percent(0.564), "56%"),
        (percent(0.0004, 1), "under 0.1%"),
        (percent(0.9996, 1), "over 99.9%"),
        (percent(0.9951), "over 99%"),
        (percent(0.0049), "under 1%"),
        (percent(0.9949), "99%"),
        (percent(1), "100%"),
        (percent(0), "0%"),
        (percent(0.9996, 2, rounded=True), "99.96%"),
        (percent(0.999999, rounded=True), "100%"),
        (percent(None), "–"),
        (percent_with_interval(0.564, 0.52, 0.59), "56% (52% to 59%)"),
        (percent_with_interval(0.001, 0.0002, 0.004), "under 1%"),
        (percent_with_interval(0.002, 0.0004, 0.02), "under 1% (under 1% to 2%)"),
        (percent_with_interval(0.999, 0.99, 1.0), "over 99% (99% to 100%)"),
        (percent_range(0.0002, 0.004), "under 1%"),
        (percent_range(0.0002, 0.04), "under 1% to 4%"),
        (percent_with_interval(0.564, None, None), "56%"),
        (with_interval(0.564, 0.52, 0.59), "0.56 (0.52 to 0.59)"),
        (with_interval(1.0, 1.0, 1.0), "1.00 (no interval)"),
        (with_interval(-0.04, -0.21, 0.0), "−0.04 (−0.21 to 0.00)"),
        (significant(0.03124), "0.0312"),
        (significant(0.03124, 2), "0.031"),
        (significant(12345.6), "12,300"),
        (significant(999.6), "1,000"),
        (significant(0.0000012), "1.2e-06"),
        (typed(0.5), "0.5"),
        (typed(3.0), "3"),
    ],
)
def test_numbers_have_one_style(said, text):
    assert said == text


def test_names_are_listed_with_and_before_the_last():
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]
