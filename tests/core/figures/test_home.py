import numpy as np
import pytest

from core.agreement.intervals import Coefficient, undefined
from core.figures import home as figures
from core.figures.theme import DARK, LIGHT


def coefficient(name, value):
    return Coefficient(name, "identity", value, 0.1, value - 0.1, value + 0.1, 10, 30)


def test_a_few_coefficients_stand_once_each_in_a_set_order_and_undefined_ones_do_not():
    names = ("gwet_ac", "percent", "fleiss_kappa", "percent", "brennan_prediger", "krippendorff_alpha")
    table = [coefficient(name, 0.1 * place + 0.2) for place, name in enumerate(names)]
    figure = figures.agreement([*table, undefined("icc_2", "identity", "no")], LIGHT)
    assert figure.data[0].x == pytest.approx((0.3, 0.7, 0.2, 0.4))
    assert figures.agreement([undefined("percent", "identity", "no")], LIGHT) is None


def test_bars_of_certainty_count_every_case_and_part_at_the_bound():
    certainty = np.array([0.2, 0.88, 0.9, 0.91, 1.0])
    uncertain, certain = figures.certainties(certainty, 0.9, DARK).data
    assert (sum(uncertain.y), sum(certain.y)) == (2, 3)


def test_shares_have_their_intervals_and_markup_in_names_stays_text():
    names = ["<b>x</b>", *"abcdefghij"]
    value = np.linspace(0.1, 0.9, 11)
    figure = figures.with_intervals(names, value, value - 0.05, value + 0.02, LIGHT, "share", [True] + [False] * 10)
    plain, marked = figure.data
    assert len(plain.x) + len(marked.x) == figures.MOST_LINES
    assert marked.error_x.array == pytest.approx([0.02]) and marked.error_x.arrayminus == pytest.approx([0.05])
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert figure.layout.height == figures.HEIGHT
