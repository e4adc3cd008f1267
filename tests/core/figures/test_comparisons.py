"""The figure of P(A above B): cells, empty where unknown, and names that are shown letter for letter."""

import numpy as np
import pytest

from core.figures.comparisons import above_heatmap
from core.figures.theme import DARK, LIGHT
from core.text import plotly

ABOVE = np.array([[np.nan, 0.999, 0.62], [0.001, np.nan, np.nan], [0.38, np.nan, np.nan]])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_cells_show_percentages_and_stay_empty_where_the_order_is_unknown(theme):
    (cells,) = above_heatmap(["<b>a</b>", "b", "c"], ABOVE, theme, "title").data
    assert [list(row) for row in cells.text] == [["", ">99", "62"], ["<1", "", ""], ["38", "", ""]]
    assert cells.customdata[0][1] == f"P({plotly('<b>a</b>')} above b): over 99%"
    np.testing.assert_array_equal(cells.z, ABOVE)


def test_many_items_have_a_scale_in_place_of_numbers():
    (cells,) = above_heatmap([f"item {place}" for place in range(20)], np.full((20, 20), 0.5), LIGHT, "title").data
    assert cells.text is None and cells.showscale
