"""What pages hand to their figures and say in titles made of numbers, read against the numbers they had."""

from dataclasses import replace
from html import escape, unescape

import numpy as np
import pytest

from core.analyses.raters import planning
from core.figures.theme import LIGHT, figure_of
from core.ingest.samples import load_sample
from core.raters.planning import Forecast, Goal
from pages.shared.kit import blocks, widgets

HEIGHT = np.sqrt(3) / 2


@pytest.fixture
def drawn(monkeypatch):
    """Figures by their keys."""
    found = {}
    monkeypatch.setattr(widgets, "plot", lambda figure, key, alt, **_: found.update({key: figure}))
    return found


def title(figure):
    return figure.layout.title.text.replace("<br>", " ")


@pytest.mark.parametrize("title", ["", "Least accurate: &lt;img src=x&gt;, 0.6", "<img src=x> & co"])
def test_a_title_is_text_of_the_page_letter_for_letter_and_stays_in_the_figure(monkeypatch, title):
    said, shown = [], []
    monkeypatch.setattr(widgets.presentation, "on", lambda: False)
    monkeypatch.setattr(widgets.st, "html", said.append)
    monkeypatch.setattr(widgets.st, "plotly_chart", lambda figure, **_: shown.append(figure))
    widgets.plot(figure_of(LIGHT, title=title), "key", "alt")
    letters = unescape(title)
    assert said == [f'<div class="figure-title">{escape(letters)}</div>'] * bool(title)
    assert shown[0].to_dict()["layout"]["title"]["text"] == title


def forecast(**changed):
    found = Forecast(
        goal=Goal("agreement", 0.1), policy="fewest", extra=np.array([0, 100, 200]), value=np.array([0.3, 0.2, 0.15]),
        low=np.array([0.25, 0.1, 0.05]), high=np.array([0.32, 0.28, 0.22]), now=0.3, needed=150, needed_low=90,
        needed_high=1180, share_met=0.8, first_cases=(), by_rater=np.array([0.0, 70.5, 129.5]), level=0.95, n_worlds=20,
        seed=0, notes=(),
    )  # fmt: skip
    return replace(found, **changed)


def planned(**changed) -> planning.PlannedAnnotations:
    return planning.PlannedAnnotations(forecast(**changed), ("ann", "bob", "cem"), None)


def test_a_forecast_leaves_with_both_ends_and_each_rater_with_their_own_share(drawn, left):
    blocks.show(planning.present(planned(), load_sample("knees"), None))
    frame, who = left["plan_table"], left["plan_raters_table"]
    assert frame.to_dict("list") == {
        "annotations added": [0, 100, 200],
        "median": [0.3, 0.2, 0.15],
        "low": [0.25, 0.1, 0.05],
        "high": [0.32, 0.28, 0.22],
    }
    assert who.to_dict("list") == {"rater": ["bob", "cem"], "further annotations": [70.5, 129.5]}
    assert title(drawn["plan"]) == "About 150 more annotations needed (90 to 1,180)"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"needed": None, "needed_low": None, "needed_high": None},
            "The target is not reached with 200 more annotations",
        ),
        ({"needed_high": None}, "About 150 more annotations needed (90 to more than planned)"),
        ({"needed": 1, "needed_low": None}, "About 1 more annotation needed (– to 1,180)"),
    ],
)
def test_a_target_that_is_not_met_is_not_said_to_be(drawn, left, changed, said):
    blocks.show(planning.present(planned(**changed), load_sample("knees"), None))
    assert title(drawn["plan"]) == said
