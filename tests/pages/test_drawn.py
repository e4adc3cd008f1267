"""What pages hand to their figures and say in titles made of numbers, read against the numbers they had."""

from dataclasses import replace
from html import escape, unescape
from types import SimpleNamespace

import numpy as np
import pytest

from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.certainty.regions import draws_region
from core.certainty.risk import RiskResult
from core.figures.theme import LIGHT, figure_of
from core.ingest.samples import load_sample
from core.models.loo import PsisLoo
from core.models.majority import MajorityVote
from core.plausibility.protocol import CaseDraws
from core.raters.planning import Forecast, Goal
from core.reducers.risk import level_masses
from pages.shared.cases import one_case
from pages.shared.kit import widgets
from pages.shared.models import checks as models_checks
from pages.shared.models import compare as models_compare
from pages.shared.models import parts as models_parts
from pages.shared.raters import plan as raters_plan
from tests.core.figures.fits import fit
from tests.core.figures.test_checks import check

HEIGHT = np.sqrt(3) / 2


@pytest.fixture
def drawn(monkeypatch):
    """Figures by their keys."""
    found = {}
    monkeypatch.setattr(one_case.cached, "region", lambda dataset, corners: draws_region(corners))
    monkeypatch.setattr(widgets, "plot", lambda figure, key, alt, **_: found.update({key: figure}))
    return found


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


@pytest.mark.parametrize("title", ["", "Least accurate: &lt;img src=x&gt;, .6", "<img src=x> & co"])
def test_a_title_is_text_of_the_page_letter_for_letter_and_stays_in_the_figure(monkeypatch, title):
    said, shown = [], []
    monkeypatch.setattr(widgets.presentation, "on", lambda: False)
    monkeypatch.setattr(widgets.st, "html", said.append)
    monkeypatch.setattr(widgets.st, "plotly_chart", lambda figure, **_: shown.append(figure))
    widgets.plot(figure_of(LIGHT, title=title), "key", "alt")
    letters = unescape(title)
    assert said == [f'<div class="figure-title">{escape(letters)}</div>'] * bool(title)
    assert shown[0].layout.title.text == title


SHARES = np.array([[0.7, 0.2, 0.1], [0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.5, 0.3, 0.2]])
MANY = np.tile(SHARES, (25, 1))  # enough draws to tell the classes apart


def test_a_triangle_of_classes_has_each_mean_at_the_corner_of_its_name(drawn):
    one_case._triangle(Three, ["acne", "mole", "wart"], 0.8 * MANY, 0.2, LIGHT)
    found = means_at_corners(drawn["simplex"])
    assert found == pytest.approx({"acne": 0.5, "mole": 0.275, "wart": 0.225})
    assert title(drawn["simplex"]) == "acne is the most plausible of these three"  # renormalised: no share of draws
    for top, said in (
        ("wart", "wart is the most plausible class"),
        ("burn", "acne is the most plausible of these three"),
    ):
        one_case._triangle(Three, ["acne", "mole", "wart"], 0.8 * MANY, 0.2, LIGHT, top)  # as the worklist calls it
        assert title(drawn["simplex"]) == said
    one_case._triangle(Three, ["acne", "mole", "wart"], 0.8 * MANY, 0.2, LIGHT, "acne", alone=False)
    assert title(drawn["simplex"]) == "No class surely comes first", "as the worklist says: acne or others"


def test_classes_that_draws_do_not_tell_apart_are_a_near_tie_whichever_of_them_the_worklist_names(drawn):
    tied = np.repeat([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]], [52, 48], axis=0)
    near = "Near tie: acne, mole"
    for top, said in ((None, near), ("mole", near), ("burn", near), ("wart", "wart is the most")):
        one_case._triangle(Three, ["acne", "mole", "wart"], 0.8 * tied, 0.2, LIGHT, top)
        assert title(drawn["simplex"]).startswith(said)
    three = np.repeat([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.1, 0.3, 0.6]], [34, 33, 33], axis=0)
    one_case._triangle(Three, ["acne", "mole", "wart"], 0.8 * three, 0.2, LIGHT, "wart")
    assert title(drawn["simplex"]) == "Near tie of all three"


def test_what_leads_in_all_draws_is_said_without_a_number(drawn):
    one_case._triangle(Three, ["acne", "mole", "wart"], SHARES[[0, 1, 3]][:, [2, 0, 1]], 0.0, LIGHT)
    assert title(drawn["simplex"]) == "mole leads in nearly all draws"


def case_draws(codes, share, rest=None, n_rest=0):
    """Draws of a case on which these classes were named."""
    rest = np.zeros(len(share)) if rest is None else rest
    order = np.argsort(codes)
    share = share[:, order]
    top = np.argsort(-share, axis=1)[:, :1].astype(np.int32)
    return CaseDraws(codes[order].astype(np.int32), share, rest, top, n_rest, 1.0, float(len(share)), 1)


def by_mean(draws):
    return np.argsort(-draws.share.mean(axis=0), kind="stable")


class Three:
    """A dataset of three classes, as far as the page reads it."""

    digest = "digest"
    classes = ("acne", "mole", "wart")
    ordinal = False


def test_the_three_likeliest_classes_are_corners_the_likeliest_on_top(drawn):
    draws = case_draws(np.array([1, 0, 2]), SHARES)
    one_case._simplex(Three, 4, draws, by_mean(draws), LIGHT)
    assert means_at_corners(drawn["simplex"]) == pytest.approx({"mole": 0.5, "acne": 0.275, "wart": 0.225})
    highest = max(drawn["simplex"].layout.annotations, key=lambda note: note.y)
    assert highest.text == "mole" and title(drawn["simplex"]) == "mole leads in 75% of draws"


def test_ordered_classes_stand_in_their_order_the_middle_one_on_top_and_lines_from_the_lowest(drawn):
    class Graded(Three):
        ordinal = True

    draws = case_draws(np.array([0, 1, 2]), SHARES)
    one_case._simplex(Graded, 4, draws, by_mean(draws), LIGHT)
    assert means_at_corners(drawn["simplex"]) == pytest.approx({"acne": 0.5, "mole": 0.275, "wart": 0.225})
    left, right, top = sorted(drawn["simplex"].layout.annotations, key=lambda note: (note.y > 0.5, note.x))
    assert (left.text, right.text, top.text) == ("acne", "wart", "mole")
    scrambled = np.array([2, 0, 1])
    assert one_case._in_order(Graded, draws, scrambled) == [0, 1, 2]
    assert one_case._in_order(Three, draws, scrambled) == [2, 0, 1]


def test_the_class_that_the_worklist_names_is_a_corner_where_draws_put_three_others_before_it(drawn):
    class Four:
        digest = "digest"
        classes = ("acne", "burn", "mole", "wart")
        ordinal = False

    share = np.tile([[0.31, 0.27, 0.22, 0.2], [0.27, 0.31, 0.2, 0.22]], (50, 1))
    draws = case_draws(np.arange(4), share)
    for top, corners in ((-1, {"acne", "burn", "mole"}), (3, {"wart", "acne", "burn"})):
        one_case._simplex(Four, 4, draws, by_mean(draws), LIGHT, (top, -1))
        assert top < 0 or title(drawn["simplex"]) == "No class surely comes first"
        assert set(means_at_corners(drawn["simplex"])) == corners


def test_two_named_classes_have_all_others_together_as_the_third_corner(drawn):
    draws = case_draws(np.array([2, 0]), SHARES[:, :2], SHARES[:, 2], n_rest=1)
    one_case._simplex(Three, 4, draws, by_mean(draws), LIGHT)
    found = {name.replace("<br>", " "): mean for name, mean in means_at_corners(drawn["simplex"]).items()}
    assert found == pytest.approx({"wart": 0.5, "acne": 0.275, "any other class": 0.225})


def test_two_classes_in_all_are_an_interval_of_the_likelier_one(drawn):
    share = np.linspace(0.95, 0.55, 101)
    draws = case_draws(np.array([1, 0]), np.column_stack([share, 1 - share]))
    one_case._simplex(Three, 4, draws, by_mean(draws), LIGHT)
    figure = drawn["simplex"]
    low, high = np.quantile(share, [0.025, 0.975])
    assert title(figure) == f"mole: {low:.0%} to {high:.0%} plausible" == "mole: 56% to 94% plausible"
    assert figure.data[2].x[0] == pytest.approx(0.75) and figure.layout.xaxis.ticktext[-1] == "1<br>all mole"
    assert figure.layout.xaxis.ticktext[0] == "0<br>all acne"


@pytest.mark.parametrize(
    ("n_likely", "said"),
    [(0, "No class stands out"), (1, "One class stays plausible"), (2, "2 classes stay plausible")],
)
def test_bars_have_the_numbers_of_their_own_class_and_the_title_counts_those_beyond_a_fifth(drawn, n_likely, said):
    draws = case_draws(np.array([1, 0, 2]), 0.9 * SHARES, np.full(4, 0.1), n_rest=4)
    order = by_mean(draws)
    low, high = np.array([0.1, 0.3, 0.05]), np.array([0.21, 0.7, 0.2])
    high[high.argsort()[::-1][n_likely:]] = 0.2
    mean = draws.share.mean(axis=0)
    quantiles = SimpleNamespace(mean=np.append(mean, 0.1), quantile=[np.append(x, 0.1) for x in (low, mean, high)])
    point = {0: 0.3, 1: 0.45, 2: 0.15}
    one_case._bars(Three, draws, quantiles, point, order, {0: "#000001", 1: "#000002", 2: "#000003"}, LIGHT)
    figure = drawn["bars"]
    bar, dots, line, tick = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["mole", "acne", "wart", "4 other classes together"]
    assert bar.x == pytest.approx([0.45, 0.3, 0.15, 0.1])
    assert tick.x == pytest.approx([0.45, 0.2475, 0.2025, 0.1])
    ends = [low[1], high[1], None, low[0], high[0], None, low[2], high[2], None, 0.1, 0.1, None]
    assert [x if x is None else round(x, 9) for x in line.x] == ends
    assert list(dots.x) == pytest.approx([*0.9 * SHARES[:, 0], *0.9 * SHARES[:, 1], *0.9 * SHARES[:, 2], *[0.1] * 4])
    assert list(dots.marker.color[::4]) == ["#000002", "#000001", "#000003", LIGHT.rest]
    assert title(figure) == said


@pytest.mark.parametrize(
    ("n_rest", "said"), [(1, "2 classes stay plausible"), (2, "At least one class stays plausible")]
)
def test_one_class_is_not_said_to_be_alone_where_those_without_a_line_may_be_as_plausible(drawn, n_rest, said):
    """As of three classes where one annotation names one of them."""
    share = np.linspace(0.1, 0.9, 101)
    draws = case_draws(np.array([1]), share[:, None], 1 - share, n_rest=n_rest)
    ends = [np.array([at]) for at in np.quantile(share, [0.025, 0.5, 0.975])]
    quantiles = SimpleNamespace(mean=ends[1], quantile=ends)
    one_case._bars(Three, draws, quantiles, {1: 1.0}, np.array([0]), {}, LIGHT)
    assert title(drawn["bars"]) == said


@pytest.mark.parametrize(("scale", "shown"), [(1.0, True), (1e-5, False)])
def test_an_effect_that_tells_no_case_apart_is_said_and_not_drawn(monkeypatch, drawn, scale, shown):
    said = []
    monkeypatch.setattr(models_parts.st, "caption", said.append)
    n = 4
    effect = SimpleNamespace(name="difficulty", mean=scale * np.linspace(-1, 1, n), spread=None)
    monkeypatch.setattr(models_parts.rater_figures, "effect_against_probability", lambda *_: "figure")
    of = SimpleNamespace(fit=SimpleNamespace(effects=(effect,)), dataset=SimpleNamespace(case_ptr=np.arange(n + 1)))
    models_parts._effects(of, "GLAD", LIGHT)
    assert list(drawn) == ["effect-difficulty"] * shown
    assert said == ["By GLAD no case differs from another in difficulty, to two digits."] * (not shown)


@pytest.mark.parametrize(("n_rest", "last"), [(4, "5 other classes together"), (0, "the other class")])
def test_classes_without_a_bar_of_their_own_are_counted_among_the_others(monkeypatch, drawn, n_rest, last):
    monkeypatch.setattr(one_case, "MOST_LINES", 2)
    draws = case_draws(np.array([1, 0, 2]), 0.9 * SHARES, np.full(4, 0.1 if n_rest else 0.0), n_rest=n_rest)
    mean = draws.share.mean(axis=0)
    quantiles = SimpleNamespace(mean=np.append(mean, 0.1), quantile=[np.append(mean, 0.1)] * 3)
    one_case._bars(Three, draws, quantiles, {0: 0.3, 1: 0.45, 2: 0.15}, by_mean(draws), {}, LIGHT)
    figure = drawn["bars"]
    assert list(figure.layout.yaxis.ticktext) == ["mole", "acne", last]
    assert figure.data[0].x == pytest.approx([0.45, 0.3, 0.25])
    beyond = int(mean.argmin())
    assert figure.data[3].x[-1] == pytest.approx(mean[beyond] + (0.1 if n_rest else 0))


def test_a_triangle_of_risk_has_each_mean_at_the_corner_of_its_level_and_names_the_likeliest(drawn):
    skin = load_sample("skin")
    levels = skin.class_risk
    codes = np.array([np.flatnonzero(levels == level)[0] for level in (2, 0, 1)])
    draws = case_draws(codes, SHARES)
    expected, _ = level_masses(draws, levels)
    risk = RiskResult(*(np.array([x]) for x in (0.9, 0.1, 0.64, 0.02, 2, 1.1)), np.array([[0.2, 0.3, 0.5]]))
    one_case._risk_triangle(skin, draws, risk, LIGHT)
    found = means_at_corners(drawn["risk"])
    assert found == pytest.approx(dict(zip(("low", "medium", "high"), expected.mean(axis=0), strict=True)))
    assert found == pytest.approx({"high": 0.5, "low": 0.275, "medium": 0.225})
    assert title(drawn["risk"]) == "Risk: most likely high (64% of draws)"


def forecast(**changed):
    found = Forecast(
        goal=Goal("agreement", 0.1), policy="fewest", extra=np.array([0, 100, 200]), value=np.array([0.3, 0.2, 0.15]),
        low=np.array([0.25, 0.1, 0.05]), high=np.array([0.32, 0.28, 0.22]), now=0.3, needed=150, needed_low=90,
        needed_high=1180, share_met=0.8, first_cases=(), by_rater=np.array([0.0, 70.5, 129.5]), level=0.95, n_worlds=20,
        seed=0, notes=(),
    )  # fmt: skip
    return replace(found, **changed)


class View:
    """What the page reads of a dataset."""

    raters = ("ann", "bob", "cem")


def test_a_forecast_leaves_with_both_ends_and_each_rater_with_their_own_share(drawn, left):
    raters_plan._result(View, forecast(), LIGHT)
    frame, who = left["plan_table"], left["plan_raters_table"]
    assert frame.to_dict("list") == {
        "annotations added": [0, 100, 200],
        "median": [0.3, 0.2, 0.15],
        "low": [0.25, 0.1, 0.05],
        "high": [0.32, 0.28, 0.22],
    }
    assert who.to_dict("list") == {"rater": ["bob", "cem"], "further annotations": [70.5, 129.5]}
    assert title(drawn["plan"]) == "About 150 annotations more (90 to 1,180)"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"needed": None, "needed_low": None, "needed_high": None}, "Within 200 annotations the target is not met"),
        ({"needed_high": None}, "About 150 annotations more (90 to more than planned)"),
        ({"needed": 1, "needed_low": None}, "About 1 annotation more (– to 1,180)"),
    ],
)
def test_a_target_that_is_not_met_is_not_said_to_be(drawn, left, changed, said):
    raters_plan._result(View, forecast(**changed), LIGHT)
    assert title(drawn["plan"]) == said


@pytest.mark.usefixtures("shown")
def test_models_against_known_classes_leave_with_their_own_accuracy_and_loss(drawn, left):
    rows = [(case, rater, (case + (case * rater % 5 == 1)) % 3) for case in range(30) for rater in range(4)]
    case, rater, answer = (np.array(column) for column in zip(*rows, strict=True))
    names = ([f"{kind} {i}" for i in range(n)] for kind, n in (("case", 30), ("rater", 4), ("class", 3)))
    data = Dataset.from_classes("made", *names, case, rater, answer)
    gold = np.where(np.arange(30) < 20, np.arange(30) % 3, -1).astype(np.int32)
    gold[:3] = [1, 2, 0]  # three cases that everybody gets wrong
    data = replace(data, gold=gold)
    rng = np.random.default_rng(0)
    fits = {}
    for name, sure in (("Majority vote", 2), ("Dawid-Skene", 6)):
        probability = rng.dirichlet([sure, 1, 1], 30)
        probability = np.take_along_axis(probability, (np.arange(3) - np.arange(30)[:, None]) % 3, axis=1)
        fits[name] = replace(MajorityVote().fit(data), class_probability=probability)
    shown = SimpleNamespace(title="Dawid-Skene", dataset=data, fit=fits["Dawid-Skene"])
    models_compare._gold(shown, fits, LIGHT)
    frame = left["gold_download"].set_index("model")
    assert list(frame.index) == list(fits)
    for name, model in fits.items():
        known = model.class_probability[:20]
        right = known.argmax(axis=1) == gold[:20]
        row = frame.loc[name]
        assert (row["accuracy"], row["cases"]) == (pytest.approx(right.mean()), 20)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(wilson(right.mean(), 20, 1.959963984540054))
        assert row["log-loss"] == pytest.approx(-np.log(known[np.arange(20), gold[:20]]).mean())
    assert frame["accuracy"].nunique() == 2
    _, curve, bars = drawn["calibration"].data
    top = fits["Dawid-Skene"].class_probability[:20].max(axis=1)
    assert sum(bars.y) == 20 and np.dot(bars.x, bars.y) == pytest.approx(top.sum())
    assert np.dot(curve.y, bars.y) == pytest.approx(20 * frame.loc["Dawid-Skene", "accuracy"])
    assert title(drawn["calibration"]) == "How sure Dawid-Skene is, and how often it is right"


def loo(pointwise, high):
    """Five cases of two patterns."""
    pointwise, pattern = np.array(pointwise), np.array([0, 0, 1, 0, 1])
    elpd = float(pointwise[pattern].sum())
    return PsisLoo(
        elpd, 1.25 + high, 2.5 + high, pointwise, np.zeros(2), np.array([3, 2]), 5, high, 0.7,
        100, pattern,
    )  # fmt: skip


def model(name, pointwise, high=0, votes=None, raters=None):
    checks = [
        replace(check("votes", [50, 30], [45, 10], [55, 35], [100, 100]), fails=votes),
        replace(check("raters", [5, 6], [1, 2], [9, 9], [12, 12]), fails=raters),
    ]
    bayes = SimpleNamespace(checks=checks, loo=loo(pointwise, high), diagnostics=None)
    return SimpleNamespace(title=name, fit=fit(), bayes=bayes, dataset=SimpleNamespace(digest="d", content_digest="d"))


def test_models_by_how_they_predict_leave_with_their_own_numbers(drawn, left):
    worse, better = model("worse", [-2.0, -1.5], 3), model("better", [-1.0, -1.25])
    models_checks.checks([worse, better], worse, LIGHT)
    frame = left["loo_table"].set_index("name")
    assert list(frame.index) == ["better", "worse"]
    assert list(frame.loc["better", ["elpd", "se", "difference", "p_loo"]]) == [-5.5, 1.25, 0, 2.5]
    assert list(frame.loc["worse", ["elpd", "se", "difference", "p_loo"]]) == [-9, 4.25, -3.5, 5.5]
    gaps = np.array([-1, -1, -0.25, -1, -0.25])
    assert frame.loc["worse", "difference_se"] == pytest.approx(np.sqrt(5) * gaps.std(ddof=1))
    assert list(frame["n_high_k"]) == [0, 3] and list(frame["n_cases"]) == [5, 5]
    assert title(drawn["loo"]) == "better predicts the annotations of a new case best"
    assert list(drawn["loo"].data[0].x) == [0, -3.5]


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (True, False, "one cannot reproduce the votes; two can"),
        (True, True, "one and two cannot reproduce the votes"),
        (False, False, "one and two can reproduce the votes"),
        (None, False, "two can reproduce the votes; 1 undecided"),
        (None, None, "Too few replicates to tell whether the votes are reproduced"),
    ],
)
def test_the_title_says_of_each_model_whether_it_can_make_such_votes(drawn, left, first, second, said):
    models = [model("one", [-1.0, -1.0], votes=first), model("two", [-2.0, -2.0], votes=second)]
    models_checks.checks(models, models[0], LIGHT)
    assert title(drawn["vote_bands"]) == said


@pytest.mark.parametrize(
    ("fails", "said"),
    [(True, "fails"), (False, "passes"), (None, "has too few replicates for")],
)
def test_the_title_of_raters_says_whether_the_model_in_detail_passes(drawn, left, fails, said):
    models = [model("one", [-1.0, -1.0], raters=fails), model("two", [-2.0, -2.0], raters=fails is not True)]
    models_checks.checks(models, models[0], LIGHT)
    assert title(drawn["rater_bands"]) == f"one {said} the check of raters"
