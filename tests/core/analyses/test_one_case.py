"""What is said and drawn of one case, read against the numbers that went in."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.analyses.blocks import Figure
from core.analyses.cases import case
from core.certainty.regions import draws_region
from core.certainty.risk import RiskResult
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.plausibility.protocol import CaseDraws
from core.reducers.risk import level_masses

HEIGHT = np.sqrt(3) / 2


def title(figure):
    return figure.layout.title.text.replace("<br>", " ")


def means_at_corners(figure):
    """Mean share by the name that stands at each corner, from where the cross lies."""
    (cross,) = [trace for trace in figure.data if trace.hovertemplate and "mean</extra>" in trace.hovertemplate]
    x, y = float(cross.x[0]), float(cross.y[0])
    top = y / HEIGHT
    right = x - top / 2
    at = {(0.0, False): 1 - top - right, (1.0, False): right, (0.5, True): top}
    return {note.text: at[note.x, note.y > 0] for note in figure.layout.annotations}


SHARES = np.array([[0.7, 0.2, 0.1], [0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2]])
MANY = np.tile(SHARES, (25, 1))  # enough draws to tell the classes apart


def test_a_triangle_of_classes_has_each_mean_at_the_corner_of_its_name():
    drawn = triangle(["acne", "mole", "wart"], 0.8 * MANY, 0.2)
    found = means_at_corners(drawn["simplex"])
    assert found == pytest.approx({"acne": 0.5, "mole": 0.275, "wart": 0.225})
    assert title(drawn["simplex"]) == "acne leads among these three classes"  # renormalised: no share of draws
    for top, said in (
        ("wart", "wart is the leading class"),
        ("burn", "acne leads among these three classes"),
    ):
        drawn = triangle(["acne", "mole", "wart"], 0.8 * MANY, 0.2, top)  # as the worklist calls it
        assert title(drawn["simplex"]) == said
    drawn = triangle(["acne", "mole", "wart"], 0.8 * MANY, 0.2, "acne", alone=False)
    assert title(drawn["simplex"]) == "No class clearly leads", "as the worklist says: acne or others"


def test_classes_that_draws_do_not_tell_apart_are_a_near_tie_whichever_of_them_the_worklist_names():
    tied = np.repeat([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]], [52, 48], axis=0)
    near = "Near tie: acne, mole"
    for top, said in ((None, near), ("mole", near), ("burn", near), ("wart", "wart is the leading")):
        drawn = triangle(["acne", "mole", "wart"], 0.8 * tied, 0.2, top)
        assert title(drawn["simplex"]).startswith(said)
    three = np.repeat([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]], [34, 33, 33], axis=0)
    drawn = triangle(["acne", "mole", "wart"], 0.8 * three, 0.2, "wart")
    assert title(drawn["simplex"]) == "The three classes are nearly tied"


def test_what_leads_in_all_draws_is_said_without_a_number():
    drawn = triangle(["acne", "mole", "wart"], SHARES[[0, 1, 3]][:, [2, 0, 1]], 0.0)
    assert title(drawn["simplex"]) == "mole leads in nearly all draws"


def case_draws(codes, share, rest=None, n_rest=0):
    """Draws of a case on which these classes were named."""
    rest = np.zeros(len(share)) if rest is None else rest
    order = np.argsort(codes)
    share = share[:, order]
    top = np.argsort(-share, axis=1)[:, :1].astype(np.int32)
    return CaseDraws(codes[order].astype(np.int32), share, rest, top, n_rest, 1.0, float(len(share)), 1)


def simplex(view, draws, leading=(-1,)):
    found = one(draws, leading=leading)
    return drawn_of(case.triangle_of(found, view, case.corners_of(found, view)))


def triangle(names, corners, outside, top=None, alone=True):
    return drawn_of(case._triangle(names, corners, outside, draws_region, top, alone))


def one(draws, quantiles=None, leading=(-1,), point=None, risk=None):
    """What is known of a case, with the classes that lead it."""
    mean = np.append(draws.share.mean(axis=0), draws.rest.mean())
    certainty = SimpleNamespace(leading=lambda case: leading)
    return case.OneCase(draws, quantiles or SimpleNamespace(mean=mean), certainty, risk, point or {}, 3)


def drawn_of(blocks):
    """Figures by their keys."""
    return {block.key: block.draw(LIGHT) for block in blocks if isinstance(block, Figure)}


class Three:
    """A dataset of three classes, as far as it is read."""

    classes = ("acne", "mole", "wart")
    n_classes = 3
    ordinal = False


def test_the_three_likeliest_classes_are_corners_the_likeliest_on_top():
    draws = case_draws(np.array([1, 0, 2]), SHARES)
    drawn = simplex(Three, draws)
    assert means_at_corners(drawn["simplex"]) == pytest.approx({"mole": 0.5, "acne": 0.275, "wart": 0.225})
    highest = max(drawn["simplex"].layout.annotations, key=lambda note: note.y)
    assert highest.text == "mole" and title(drawn["simplex"]) == "mole leads in 75% of draws"


def test_ordered_classes_stand_in_their_order_the_middle_one_on_top_and_lines_from_the_lowest():
    class Graded(Three):
        ordinal = True

    draws = case_draws(np.array([0, 1, 2]), SHARES)
    drawn = simplex(Graded, draws)
    assert means_at_corners(drawn["simplex"]) == pytest.approx({"acne": 0.5, "mole": 0.275, "wart": 0.225})
    left, right, top = sorted(drawn["simplex"].layout.annotations, key=lambda note: (note.y > 0.5, note.x))
    assert (left.text, right.text, top.text) == ("acne", "wart", "mole")
    scrambled = np.array([2, 0, 1])
    assert case._in_order(Graded, draws, scrambled) == [0, 1, 2]
    assert case._in_order(Three, draws, scrambled) == [2, 0, 1]


def test_the_class_that_the_worklist_names_is_a_corner_where_draws_put_three_others_before_it():
    class Four:
        classes = ("acne", "burn", "mole", "wart")
        ordinal = False

    share = np.tile([[0.31, 0.27, 0.22, 0.2], [0.27, 0.31, 0.2, 0.22]], (50, 1))
    draws = case_draws(np.arange(4), share)
    for top, corners in ((-1, {"acne", "burn", "mole"}), (3, {"wart", "acne", "burn"})):
        drawn = simplex(Four, draws, (top, -1))
        assert top < 0 or title(drawn["simplex"]) == "No class clearly leads"
        assert set(means_at_corners(drawn["simplex"])) == corners


def test_two_named_classes_have_all_others_together_as_the_third_corner():
    draws = case_draws(np.array([2, 0]), SHARES[:, :2], SHARES[:, 2], n_rest=1)
    drawn = simplex(Three, draws)
    found = {name.replace("<br>", " "): mean for name, mean in means_at_corners(drawn["simplex"]).items()}
    assert found == pytest.approx({"wart": 0.5, "acne": 0.275, "any other class": 0.225})


def test_two_classes_in_all_are_an_interval_of_the_likelier_one():
    share = np.linspace(0.95, 0.55, 101)
    draws = case_draws(np.array([1, 0]), np.column_stack([share, 1 - share]))
    drawn = simplex(Three, draws)
    figure = drawn["simplex"]
    low, high = np.quantile(share, [0.025, 0.975])
    assert title(figure) == f"mole: {low:.0%} to {high:.0%} plausible" == "mole: 56% to 94% plausible"
    assert figure.data[2].x[0] == pytest.approx(0.75) and figure.layout.xaxis.tickformat == "0.0%"


@pytest.mark.parametrize(
    ("n_likely", "said"),
    [(0, "No class clearly leads"), (1, "Only one class is plausible"), (2, "2 classes are plausible")],
)
def test_bars_have_the_numbers_of_their_own_class_and_the_title_counts_those_beyond_a_fifth(n_likely, said):
    draws = case_draws(np.array([1, 0, 2]), 0.9 * SHARES, np.full(4, 0.1), n_rest=4)
    low, high = np.array([0.1, 0.3, 0.05]), np.array([0.21, 0.7, 0.2])
    high[high.argsort()[::-1][n_likely:]] = 0.2
    mean = draws.share.mean(axis=0)
    quantiles = SimpleNamespace(mean=np.append(mean, 0.1), quantile=[np.append(x, 0.1) for x in (low, mean, high)])
    point = {0: 0.3, 1: 0.45, 2: 0.15}
    found = one(draws, quantiles, point=point)
    figure = drawn_of(case.bars(found, Three))["bars"]
    bar, dots, line, tick = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["mole", "acne", "wart", "4 other classes together"]
    assert bar.x == pytest.approx([0.45, 0.3, 0.15, 0.1])
    assert tick.x == pytest.approx([0.45, 0.2475, 0.2025, 0.1])
    ends = [low[1], high[1], None, low[0], high[0], None, low[2], high[2], None, 0.1, 0.1, None]
    assert [x if x is None else round(x, 9) for x in line.x] == ends
    assert list(dots.x) == pytest.approx([*0.9 * SHARES[:, 0], *0.9 * SHARES[:, 1], *0.9 * SHARES[:, 2], *[0.1] * 4])
    assert list(dots.marker.color[::4]) == [*map(found.colours(Three, LIGHT).get, (1, 0, 2)), LIGHT.rest]
    assert title(figure) == said


@pytest.mark.parametrize(("n_rest", "said"), [(1, "2 classes are plausible"), (2, "At least one class is plausible")])
def test_one_class_is_not_said_to_be_alone_where_those_without_a_line_may_be_as_plausible(n_rest, said):
    """As of three classes where one annotation names one of them."""
    share = np.linspace(0.1, 0.9, 101)
    draws = case_draws(np.array([1]), share[:, None], 1 - share, n_rest=n_rest)
    ends = [np.array([at, 1 - at]) for at in np.quantile(share, [0.025, 0.5, 0.975])]
    quantiles = SimpleNamespace(mean=ends[1], quantile=ends)
    figure = drawn_of(case.bars(one(draws, quantiles, point={1: 1.0}), Three))["bars"]
    assert title(figure) == said


@pytest.mark.parametrize(("n_rest", "last"), [(4, "5 other classes together"), (0, "the other class")])
def test_classes_without_a_bar_of_their_own_are_counted_among_the_others(monkeypatch, n_rest, last):
    monkeypatch.setattr(case, "MOST_LINES", 2)
    draws = case_draws(np.array([1, 0, 2]), 0.9 * SHARES, np.full(4, 0.1 if n_rest else 0.0), n_rest=n_rest)
    mean = draws.share.mean(axis=0)
    quantiles = SimpleNamespace(mean=np.append(mean, 0.1), quantile=[np.append(mean, 0.1)] * 3)
    found = one(draws, quantiles, point={0: 0.3, 1: 0.45, 2: 0.15})
    figure = drawn_of(case.bars(found, Three))["bars"]
    assert list(figure.layout.yaxis.ticktext) == ["mole", "acne", last]
    assert figure.data[0].x == pytest.approx([0.45, 0.3, 0.25])
    beyond = int(mean.argmin())
    assert figure.data[3].x[-1] == pytest.approx(mean[beyond] + (0.1 if n_rest else 0))


def test_a_triangle_of_risk_has_each_mean_at_the_corner_of_its_level_and_names_the_likeliest():
    skin = load_sample("skin")
    levels = skin.class_risk
    codes = np.array([np.flatnonzero(levels == level)[0] for level in (2, 0, 1)])
    draws = case_draws(codes, SHARES)
    expected, _ = level_masses(draws, levels)
    risk = RiskResult(*(np.array([x]) for x in (0.9, 0.1, 0.64, 0.02, 2, 1.1)), np.array([[0.2, 0.3, 0.5]]))
    drawn = drawn_of([case.risk_triangle(one(draws, risk=risk), skin)])
    found = means_at_corners(drawn["risk"])
    assert found == pytest.approx(dict(zip(("low", "medium", "high"), expected.mean(axis=0), strict=True)))
    assert found == pytest.approx({"high": 0.5, "low": 0.275, "medium": 0.225})
    assert title(drawn["risk"]) == "Most likely risk: high (64% of draws)"
