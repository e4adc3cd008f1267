"""Names that fit their figure."""

import pytest

from core.figures.labels import (
    NOT_CONVERGED,
    model_name,
    raters_side_by_side,
    row_height,
    short_names,
    slant,
    wrapped_names,
)
from core.text import plotly


@pytest.mark.parametrize(
    "names",
    [
        [f"Professor Doctor Somebody von Long {place}" for place in range(4)],
        [f"A rather long name with number {place} of the list" for place in range(25)],
        [f"{place} is where these long names begin to differ" for place in range(12)],
        ["R01", "R02"],
    ],
)
def test_names_that_differ_still_differ_when_they_are_cut(names):
    short = short_names(names, 18)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 18


def test_short_names_are_left_alone_and_equal_ones_stay_equal():
    assert short_names(["a", "b", "a"], 18) == ["a", "b", "a"]
    assert short_names(["x" * 30] * 2, 10) == [short_names(["x" * 30] * 2, 10)[0]] * 2


def test_a_model_that_has_not_converged_says_so_in_a_line_of_its_own():
    assert model_name("Difficulty AB") == "Difficulty AB"
    assert model_name(f"Difficulty AB{NOT_CONVERGED}") == "Difficulty AB<br>not converged"
    assert model_name("<b>" + NOT_CONVERGED) == "&lt;b&gt;<br>not converged"


def test_tick_labels_slant_where_they_would_overlap():
    assert slant(["1", "2", "3"]) == 0
    assert slant(["a long name"] * 5) == -45
    assert slant([plotly("<<<<")] * 5) == 0  # as shown, not as written


def test_rows_of_models_have_room_for_a_second_line_where_one_has_it():
    assert row_height(["A", f"B{NOT_CONVERGED}"]) > row_height(["A", "B"])


def test_raters_side_by_side_are_named_in_order_or_counted():
    named = raters_side_by_side(["b", "a"], 2, ", sorted")
    assert (named["tickvals"], named["ticktext"], named["range"]) == ([0, 1], ["b", "a"], [-0.7, 1.7])
    assert "title" not in named
    counted = raters_side_by_side(None, 1200, ", sorted")
    assert (counted["title"], counted["showticklabels"], counted["range"]) == (
        "1,200 raters, sorted",
        False,
        [-0.7, 1199.7],
    )
    assert "ticktext" not in counted


def test_long_names_take_two_lines_and_are_escaped():
    names = ["Tomosynthesis minus Mammography", "a < b", "x" * 60]
    assert wrapped_names(names, 26)[:2] == ["Tomosynthesis minus<br>Mammography", "a &lt; b"]
    assert wrapped_names(names, 26)[2] == short_names(names, 26)[2]
