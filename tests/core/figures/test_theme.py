"""The look that figures share: colours of classes, and letters for a screen that is seen from afar."""

import json
import re
from html import unescape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import plotly.io as pio
import pytest

from core import figures
from core.figures.theme import (
    AXIS_WIDTH,
    DARK,
    LIGHT,
    TITLE_WIDTH,
    bar,
    class_colours,
    drawn_once,
    enlarge,
    figure_of,
    filled_band,
    in_lines,
    level,
    scatter,
    title_in_lines,
    unchecked,
    upright,
    upright_band,
    with_opacity,
)
from core.text import plotly

LONG = "Least accurate under Hierarchical Dawid-Skene: a rater of a rather long name, 0.78 (0.62 to 0.88)"


def test_a_colour_with_opacity_keeps_its_three_parts_in_order():
    assert with_opacity("#0A7FE5", 0.25) == "rgba(10,127,229,0.25)"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_class_has_the_colour_of_its_place_in_a_short_list_wherever_it_stands(theme):
    assert class_colours([3, 0, -1], 8, theme) == {3: theme.classes[3], 0: theme.classes[0]}


def test_of_a_long_list_those_shown_are_coloured_in_order_and_the_ninth_has_none():
    codes = [40, -1, 7, 12, 3, 9, 22, 31, 5, 17, 2]
    found = class_colours(codes, 9, LIGHT)
    assert found == dict(zip([40, 7, 12, 3, 9, 22, 31, 5], LIGHT.classes, strict=True))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_ordered_classes_have_the_colours_of_a_ramp_from_end_to_end(theme):
    found = class_colours([4, -1, 0, 2], 5, theme, ordinal=True)
    assert found == dict(zip((0, 2, 4), theme.ordered, strict=True))
    many = class_colours(list(range(11)), 11, theme, ordinal=True)
    red = [int(many[code][1:3], 16) for code in range(11)]
    steps = np.diff(red)
    assert len(set(many.values())) == 11 and ((steps[:5] < 0).all() or (steps[5:] > 0).all())


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_colours_of_classes_and_of_risk_are_told_apart(theme):
    assert len(set(theme.classes)) == len(theme.classes) == 8 and len(set(theme.risk)) == 3
    assert theme.mean not in (theme.accent, theme.ink, theme.rest)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_an_empty_figure_has_its_title_height_and_ink(theme):
    figure = figure_of(theme, title="title", height=300)
    style = figure.layout.template.layout
    assert figure.layout.title.text == "title" and figure.layout.height == 300
    assert style.font.color == style.title.font.color == theme.ink
    assert style.margin.t < figure.layout.margin.t and figure_of(theme).layout.margin.t is None  # no title, no room
    assert figure_of(theme, legend_below=True).layout.margin.b == 64


@pytest.mark.parametrize("text", [LONG, "short", plotly(LONG.replace("a", "<b>")), "a " * 200])
def test_lines_of_a_title_fit_and_lose_nothing(text):
    lines = in_lines(text)
    assert max(len(unescape(line)) for line in lines) <= TITLE_WIDTH
    assert " ".join(lines) == " ".join(text.split())


def test_escaped_letters_count_once():
    """Twenty letters that are written as four each stay in one line."""
    assert in_lines("&lt;" * 20) == ["&lt;" * 20]


def test_a_word_too_long_has_a_line_of_its_own():
    assert in_lines("a " + "x" * 60 + " b") == ["a", "x" * 60, "b"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_title_of_more_lines_takes_its_room_from_nothing_else(theme):
    """The plot keeps its height: the figure of a report grows by as much as the margin; a page breaks titles itself."""
    one, three = (figure_of(theme, (), title, 300).to_plotly_json() for title in ("short", LONG))
    assert three["layout"]["title"]["text"] == LONG and three["layout"]["height"] == 300
    for spec in (one, three):
        title_in_lines(spec)
    assert one["layout"]["title"]["text"] == "short" and one["layout"]["height"] == 300
    assert three["layout"]["title"]["text"].count("<br>") == len(in_lines(LONG)) - 1 >= 1
    room = [spec["layout"]["height"] - spec["layout"]["margin"]["t"] for spec in (one, three)]
    assert room[0] == room[1] and three["layout"]["height"] > 300


def test_a_long_title_below_an_axis_is_broken_and_the_legend_keeps_clear_of_it():
    axis = {"title": plotly(LONG), "range": [0, 1]}
    found = figure_of(LIGHT, height=300, xaxis=axis, yaxis={"title": LONG}, legend_below=True).layout
    lines = found.xaxis.title.text.split("<br>")
    assert max(map(len, lines)) <= AXIS_WIDTH and " ".join(lines) == LONG == found.yaxis.title.text
    short = figure_of(LIGHT, height=300, xaxis={"title": "share"}, legend_below=True).layout
    assert short.xaxis.title.text == "share" and short.height == 300
    assert found.height - short.height == found.margin.b - short.margin.b == 16 * (len(lines) - 1) > 0
    assert axis == {"title": LONG, "range": [0, 1]}  # what was given is left alone


def test_the_two_themes_have_templates_of_their_own_in_which_every_axis_and_letter_is_theirs():
    light, dark = (figure_of(theme).layout.template.layout for theme in (LIGHT, DARK))
    for style, theme in ((light, LIGHT), (dark, DARK)):
        assert style.xaxis.gridcolor == style.yaxis.gridcolor == theme.grid
        assert style.xaxis.tickfont.color == style.yaxis.title.font.color == style.legend.font.color == theme.quiet
        assert style.colorway == theme.classes and style.hoverlabel.bgcolor == theme.paper
        assert style.paper_bgcolor == style.plot_bgcolor == "rgba(0,0,0,0)"


def test_no_figure_is_changed_after_its_construction():
    """A change of a layout costs as much as making the whole figure: half of a page's time went there."""
    changes = re.compile(
        r"\.(update_\w+|add_(?:trace|scatter|bar|heatmap|shape|annotation|[hv]line|[hv]rect)s?|for_each_\w+)\("
    )
    modules = sorted(Path(figures.__path__[0]).glob("*.py"))
    found = {module.name: changes.findall(module.read_text(encoding="utf-8")) for module in modules}
    assert len(found) > 10 and not {name: calls for name, calls in found.items() if calls}


def test_shapes_span_the_whole_figure_at_their_place():
    line = {"color": LIGHT.mean, "width": 2}
    lying, standing = level(0.3, line), upright(0.7, line)
    assert (lying["y0"], lying["y1"], lying["xref"], lying["x0"], lying["x1"]) == (0.3, 0.3, "x domain", 0, 1)
    assert (standing["x0"], standing["x1"], standing["yref"], standing["y0"], standing["y1"]) == (
        0.7,
        0.7,
        "y domain",
        0,
        1,
    )
    band = upright_band(1, 2, "red")
    assert (band["x0"], band["x1"], band["yref"], band["line"]) == (1, 2, "y domain", {"width": 0})
    assert len(figure_of(LIGHT, shapes=[lying, standing, band]).layout.shapes) == 3


def test_a_filled_band_goes_along_its_upper_end_and_back_along_the_lower_without_a_mark_of_its_own():
    band = filled_band([1, 2, 4], [0.1, 0.2, 0.4], [0.5, 0.6, 0.8], "red")
    assert (band["x"], band["y"]) == ([1, 2, 4, 4, 2, 1], [0.5, 0.6, 0.8, 0.4, 0.2, 0.1])
    assert (band["mode"], band["fill"], band["line"], band["showlegend"]) == ("lines", "toself", {"width": 0}, False)
    assert filled_band([1], [0], [1], "red", name="band", showlegend=True)["showlegend"] is True


def test_a_larger_figure_has_all_letters_marks_and_its_height_larger_by_as_much_and_the_same_numbers():
    data = [
        scatter(x=[1, 2], y=[3, 4], marker={"size": 10}, textfont={"size": 12}),
        scatter(x=[1, 2], y=[5, 6], marker={"size": [4, 8]}),
    ]
    notes = [{"text": "note", "font": {"size": 14}}]
    figure = figure_of(LIGHT, data, "title", 300, annotations=notes, yaxis={"tickfont": {"size": 13}})
    top = figure.layout.margin.t
    large = enlarge(figure, 1.5)
    layout, style = large.layout, large.layout.template.layout
    assert (layout.height, layout.margin.t) == (450, 1.5 * top)
    assert (style.font.size, style.title.font.size, style.legend.font.size) == (19.5, 22.5, 18)
    assert (style.xaxis.tickfont.size, style.yaxis.title.font.size) == (18, 18)
    assert layout.annotations[0].font.size == 21 and layout.yaxis.tickfont.size == 19.5
    assert large.data[0].marker.size == 15 and large.data[0].textfont.size == 18
    assert list(large.data[1].marker.size) == [4, 8]  # sizes that say something stay
    assert list(large.data[0].x) == [1, 2] and list(large.data[0].y) == [3, 4]
    assert figure_of(LIGHT).layout.template.layout.font.size == 13  # the template of all others stays as it is


def test_a_figure_that_is_drawn_once_has_the_common_look_in_itself_and_what_is_its_own_over_it():
    own = {"yaxis": {"title": {"text": "share"}, "gridcolor": "red"}, "xaxis2": {"range": [0, 1]}, "hovermode": False}
    data = [scatter(x=[1], y=[2]), scatter(x=[1], y=[2], xaxis="x2", yaxis="y3"), bar(x=[1], marker={"color": "red"})]
    figure = figure_of(DARK, data, "title", 300, **own)
    spec, style = drawn_once(figure).to_dict(), figure.to_dict()["layout"]["template"]
    layout, common = spec["layout"], style["layout"]
    assert "template" not in layout and layout["font"] == common["font"] and layout["height"] == 300
    assert layout["title"] == common["title"] | {"text": "title"} and layout["hovermode"] is False
    assert layout["margin"] == common["margin"] | {"t": 44}
    assert {name for name in layout if "axis" in name} == {"xaxis", "xaxis2", "yaxis", "yaxis3"}
    assert layout["xaxis"] == layout["yaxis3"] == common["xaxis"]
    assert layout["xaxis2"] == common["xaxis"] | {"range": [0, 1]}
    title = {"title": common["yaxis"]["title"] | {"text": "share"}}
    assert layout["yaxis"] == common["yaxis"] | title | {"gridcolor": "red"}
    assert spec["data"][0] == data[0]
    assert spec["data"][2]["marker"] == style["data"]["bar"][0]["marker"] | {"color": "red"}
    assert figure.layout.template.layout.font.color == DARK.ink  # the figure itself stays as it was


def test_a_figure_without_traces_has_its_axes():
    assert {"xaxis", "yaxis"} <= drawn_once(figure_of(LIGHT)).to_dict()["layout"].keys()


def test_the_same_data_say_that_they_are_the_same_and_any_others_that_they_are_not():
    made = [
        {"x": np.arange(4.0), "y": [1, 2, 3, 4], "marker": {"color": ["red", "blue", "red", "red"]}},
        {"x": np.arange(4.0) + 1e-9, "y": [1, 2, 3, 4], "marker": {"color": ["red", "blue", "red", "red"]}},
        {"x": np.arange(4.0), "y": [1, 2, 3, None], "marker": {"color": ["red", "blue", "red", "red"]}},
        {"x": np.arange(4.0), "y": [1, 2, 3, 4], "marker": {"color": ["red", "blue", "red", "blue"]}},
        {"x": np.array(["a", "b", "c", "d"], object), "y": np.arange(8)[::2], "customdata": np.ones((4, 2))[:, ::2]},
    ]
    figures = [[drawn_once(figure_of(LIGHT, [scatter(**one)])).to_dict() for _ in "ab"] for one in made]
    revisions = [[one["layout"]["datarevision"] for one in twice] for twice in figures]
    assert all(one == again for one, again in revisions) and len({one for one, _ in revisions}) == len(made)


def test_arrays_are_sent_as_numbers_and_not_as_bytes():
    """A browser makes new arrays of bytes whenever it gets them, and takes them for others."""
    x = np.array([0.5, np.nan, 2], np.float32)
    figure = drawn_once(figure_of(LIGHT, [scatter(x=x, y=np.arange(3), customdata=np.ones((3, 2)))]))
    (trace,) = json.loads(pio.to_json(figure.to_dict(), validate=False))["data"]  # as Streamlit does
    assert (trace["x"], trace["y"], trace["customdata"]) == ([0.5, None, 2.0], [0, 1, 2], [[1.0, 1.0]] * 3)


def test_a_larger_figure_is_whole_pixels_high():
    assert enlarge(figure_of(LIGHT, height=266), 1.4).layout.height == 372


def test_pointers_say_a_number_without_the_zeros_behind_it():
    """For plotly, "g" is six digits whatever they are: γ 1.00000."""
    for path in Path(figures.__file__).parent.glob("*.py"):
        assert not re.search(r"%\{+[^}]*:(\.\d+)?g\}", path.read_text(encoding="utf-8")), path


def test_only_the_theme_uses_private_parts_of_plotly():
    """Look at `PlainFigure` and `unchecked` when the version differs."""
    assert version("plotly") == "7.1.0"
    private = re.compile(r"_validate\b|_initialize_layout_template|\.(_data|_layout)(_obj)?\b")
    folders = (Path(figures.__file__).parent, Path(figures.__file__).parents[2] / "pages")
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert [path.name for path in paths if private.search(path.read_text(encoding="utf-8"))] == ["theme.py"]
    figure = unchecked([{"type": "scatter", "x": [1], "y": [2]}], {"title": {"text": "A"}})
    assert figure.to_dict() == {"data": [{"type": "scatter", "x": [1], "y": [2]}], "layout": {"title": {"text": "A"}}}
