"""What pages hand to their figures and say in titles made of numbers, read against the numbers they had."""

from dataclasses import replace
from html import escape, unescape
from types import SimpleNamespace

import numpy as np
import pytest

from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.figures.theme import LIGHT, figure_of
from core.models.loo import PsisLoo
from core.models.majority import MajorityVote
from core.raters.planning import Forecast, Goal
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
    monkeypatch.setattr(widgets, "plot", lambda figure, key, alt, **_: found.update({key: figure}))
    return found


def title(figure):
    return figure.layout.title.text.replace("<br>", " ")


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
