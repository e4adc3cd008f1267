"""The slider of γ: the same marks on every page that has one, each with its sentence; why it opens where it does."""

import re
from dataclasses import replace

import pytest

from core.certainty.default_reliability import DefaultReliability, ReliabilityAnchor
from core.methods import method_named, methods
from core.plausibility.protocol import PlausibilityMethod
from pages.shared.kit import reliability_slider
from tests.pages.opened import at, kept, opened, settle, words

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


def test_counts_open_at_one_with_the_learned_prior_on_every_page_with_the_marks_of_beta_and_gold():
    data = kept(CROWD)
    for page in ("cases", "reliability", "report"):
        app = opened(page, data)
        text = said(app)
        for name in ("gold", "β", "published"):
            assert f"</span> {name} " in text, (page, name)
        assert "each annotation counts once" in text and "learned from 120 cases" in text
        if page != "reliability":
            assert app.slider(key="reliability").value == 1


def test_an_address_with_a_reliability_from_before_opens_with_the_published_prior_and_says_so():
    data = kept(CROWD)
    before = "This γ was chosen with the published prior (α = 1), and the same prior is used here."
    app = settle(at("cases", data, model="dirichlet", reliability="2").run())
    assert app.slider(key="reliability").value == 2 and before in words(app)
    assert app.session_state["prior"] == "1" and "--alpha 1.0 --reliability 2" in commands(app)
    app = settle(app.button(key="learn_prior").click().run())
    assert app.slider(key="reliability").value == 1 and before not in words(app)
    assert app.session_state["prior"] == "learned" and "--learned-prior --reliability 1" in commands(app)
    app = settle(at("cases", data, model="dirichlet", prior="learned", reliability="2").run())
    assert before not in words(app) and "--learned-prior --reliability 2" in commands(app)


def test_another_prior_is_one_choice_away_and_counts_on_every_page():
    data = kept(CROWD)
    app = opened("cases", data)
    learned = certainties(app)
    app = settle(app.radio(key="prior_kind").set_value("own").run())
    assert app.session_state["prior"] == "1" and app.number_input(key="dirichlet-alpha").value == 1
    app = settle(app.slider(key="reliability").set_value(1.0).run())
    assert certainties(app) != learned and "This γ was chosen" not in words(app)
    app = settle(app.number_input(key="dirichlet-alpha").set_value(2.5).run())
    assert app.session_state["prior"] == "2.5" and "--alpha 2.5 --reliability 1" in commands(app)
    in_words = app.title[0].value.split(" at ")[0]
    home = settle(app.switch_page("pages/home.py").run())
    assert in_words.casefold() in home.title[0].value.casefold()


def commands(app):
    """The commands that give the numbers of a page again."""
    return "\n".join(each.value for each in app.code)


def certainties(app):
    """Of the worklist."""
    return app.dataframe[0].value["certainty"].tolist()


def test_rankings_have_the_mark_of_held_out_readers_without_a_visit_to_reliability():
    app = opened("cases", kept(RANKINGS))
    for _ in range(100):
        if "</span> estimated from raters " in said(app):
            break
        app.run()
    text = said(app)
    assert "</span> estimated from raters " in text and "annotations are predicted best at γ" in text
    assert app.slider(key="reliability").value == 3.0 and "(default). It can be calibrated only with gold" in text


def test_signs_stand_where_their_reliability_is_on_the_slider_and_their_words_are_text():
    scale = method_named(PlausibilityMethod, "plackett-luce").reliability
    marks = (
        ReliabilityAnchor("gold", scale.low, 0.2, 2.0, 'a "<b>" sentence'),
        ReliabilityAnchor("published", scale.high * 2, None, None, "p"),
    )
    strip = reliability_slider._strip(marks, scale)
    assert 'style="left:0.00%;top:0rem"' in strip and 'style="left:100.00%;top:0rem"' in strip
    same = reliability_slider._strip((marks[0], replace(marks[0], name="readers")), scale)
    assert re.findall(r"left:0.00%;top:([\d.]+)rem", same) == ["0", "0.6"]
    assert "<b>&quot;" not in strip and "&lt;b&gt;" in strip
    legend = reliability_slider._legend(marks)
    ended = ReliabilityAnchor("readers", 1.0, 0.36, 1_000.0, "", (False, True))
    assert "</span> estimated from raters 1.00 (0.36 or more)</span>" in reliability_slider._legend((ended,))
    assert "</span> gold 0.10 (0.20 to 2.00)</span>" in legend and "<b>&quot;" not in legend


def test_the_sweep_holds_the_reliability_at_which_pages_open():
    data = kept(CROWD)
    at = opened("cases", data).slider(key="reliability").value
    app = opened("reliability", data)
    table = next(each.value for each in app.dataframe if "below 0.9" in each.value)
    assert at in table["reliability"].tolist() and {1.0, 10.0} <= set(table["reliability"])


def test_what_the_slider_has_no_step_for_is_said():
    found = DefaultReliability(0.13, "gold", "Why.", (), None, "")
    assert reliability_slider._words(found, 0.1) == "Why. The default is the nearest step on the slider, γ = 0.10."
    assert reliability_slider._words(replace(found, reliability=9.43), 9.4) == "Why."


def test_defaults_and_tenths_can_be_set_on_each_slider():
    """γ is opened rounded to a tenth; a slider counts its steps from its low end."""
    for method in methods(PlausibilityMethod).values():
        scale = method.reliability
        for value in (scale.default, min(max(0.9, scale.low), scale.high)):
            steps = (value - scale.low) / reliability_slider._STEP
            assert steps == pytest.approx(round(steps), abs=1e-9), (method.name, value)
