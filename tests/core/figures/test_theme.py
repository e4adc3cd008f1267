"""The look that figures share: colours of classes, and letters for a screen that is seen from afar."""

import plotly.graph_objects as go
import pytest

from core.figures.theme import DARK, LIGHT, blank, class_colours, enlarge, legend_below, with_opacity


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
def test_colours_of_classes_and_of_risk_are_told_apart(theme):
    assert len(set(theme.classes)) == len(theme.classes) == 8 and len(set(theme.risk)) == 3
    assert theme.mean not in (theme.accent, theme.ink, theme.rest)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_an_empty_figure_has_its_title_height_and_ink(theme):
    figure = blank(theme, "title", 300)
    assert figure.layout.title.text == "title" and figure.layout.height == 300
    assert figure.layout.font.color == figure.layout.title.font.color == theme.ink
    assert blank(theme).layout.margin.t < figure.layout.margin.t  # no room for a title that is not there
    assert legend_below(figure).layout.margin.b == 64


def test_a_larger_figure_has_all_letters_marks_and_its_height_larger_by_as_much_and_the_same_numbers():
    figure = blank(LIGHT, "title", 300)
    figure.add_scatter(x=[1, 2], y=[3, 4], marker={"size": 10}, textfont={"size": 12})
    figure.add_scatter(x=[1, 2], y=[5, 6], marker={"size": [4, 8]})
    figure.add_annotation(text="note", font={"size": 14})
    figure.add_trace(go.Scatterternary(a=[1], b=[2], c=[3]))
    figure.update_layout(ternary={"aaxis": {"tickfont": {"size": 9}}})
    top = figure.layout.margin.t
    large = enlarge(figure, 1.5)
    layout = large.layout
    assert (layout.height, layout.margin.t) == (450, 1.5 * top)
    assert (layout.font.size, layout.title.font.size, layout.legend.font.size) == (19.5, 22.5, 18)
    assert (layout.xaxis.tickfont.size, layout.yaxis.title.font.size) == (18, 18)
    assert layout.annotations[0].font.size == 21 and layout.ternary.aaxis.tickfont.size == 13.5
    assert large.data[0].marker.size == 15 and large.data[0].textfont.size == 18
    assert list(large.data[1].marker.size) == [4, 8]  # sizes that say something stay
    assert list(large.data[0].x) == [1, 2] and list(large.data[0].y) == [3, 4]
