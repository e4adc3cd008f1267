"""The slider of γ: the same marks on every page that has one, each with its sentence; why it opens where it does."""

from dataclasses import replace

import pytest

from core.certainty.default_reliability import DefaultReliability, ReliabilityAnchor
from core.methods import method_named
from pages.shared.kit import reliability_slider
from tests.pages.opened import kept, opened, words

pytestmark = pytest.mark.usefixtures("known")

CROWD = "\n".join(
    ["case,rater,class,gold"]
    + [f"{case},r{rater},{'xyz'[(case + (case * rater % 5 == 1)) % 3]},{'xyz'[case % 3]}" for case in range(120)
       for rater in range(4)]
)  # fmt: skip
RANKINGS = "\n".join(
    ["case,rater,rank,class"]
    + [f"{case},r{r},{rank},{'xyzw'[(case + rank + (case * r % 7 == 1)) % 4]}" for case in range(20) for r in range(3)
       for rank in (1, 2)]
)  # fmt: skip


def said(app):
    """Words, and what stands in our own HTML."""
    return words(app) + "\n".join(str(each.proto.body) for each in app.get("html"))


def test_counts_with_gold_open_where_gold_says_on_every_page_with_the_marks_of_beta_and_gold():
    data = kept(CROWD)
    opened_at = {}
    for page in ("cases", "reliability", "report"):
        app = opened(page, data)
        text = said(app)
        for name in ("gold", "β", "published"):
            assert f"</span> {name} " in text, (page, name)
        assert "has the smallest log loss of certainty on the 120 cases with gold" in text
        if page != "reliability":
            opened_at[page] = app.slider(key="reliability").value
    assert opened_at["cases"] == opened_at["report"]


def test_rankings_have_the_mark_of_held_out_readers_without_a_visit_to_reliability():
    app = opened("cases", kept(RANKINGS))
    for _ in range(100):
        if "</span> readers " in said(app):
            break
        app.run()
    text = said(app)
    assert "</span> readers " in text and "best predicts one more rater" in text
    assert app.slider(key="reliability").value == 3.0 and "(default). Without gold, γ cannot be calibrated" in text


def test_signs_stand_where_their_reliability_is_on_the_slider_and_their_words_are_text():
    scale = method_named("plausibility", "plackett-luce").reliability
    marks = (
        ReliabilityAnchor("gold", scale.low, 0.2, 2.0, 'a "<b>" sentence'),
        ReliabilityAnchor("published", scale.high * 2, None, None, "p"),
    )
    strip = reliability_slider._strip(marks, scale)
    assert 'style="left:0.00%"' in strip and 'style="left:100.00%"' in strip
    assert "<b>&quot;" not in strip and "&lt;b&gt;" in strip
    legend = reliability_slider._legend(marks)
    ended = ReliabilityAnchor("readers", 1.0, 0.36, 1_000.0, "", (False, True))
    assert "</span> readers 1.00 (0.36 or more)</span>" in reliability_slider._legend((ended,))
    assert "</span> gold 0.10 (0.20 to 2.00)</span>" in legend and "<b>&quot;" not in legend


def test_the_sweep_holds_the_reliability_at_which_pages_open():
    data = kept(CROWD)
    at = opened("cases", data).slider(key="reliability").value
    app = opened("reliability", data)
    table = next(each.value for each in app.dataframe if "below 0.9" in each.value)
    assert at in table["reliability"].tolist() and {1.0, 10.0} <= set(table["reliability"])


def test_what_the_slider_has_no_step_for_is_said():
    found = DefaultReliability(0.13, "gold", "Why.", (), None, "")
    assert reliability_slider._words(found, 0.1) == "Why. Pages open next to it, at γ = 0.10."
    assert reliability_slider._words(replace(found, reliability=9.43), 9.4) == "Why."
