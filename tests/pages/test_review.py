"""The Review page on odd data, without a browser."""

import json
import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import read
from core.analyses.models.scores import judge_models
from core.belongings import drafts_of, link_of
from core.certainty.score_trust import score_digits
from core.command_line import main
from core.ingest.case_facts import CaseFacts
from core.library import keep
from core.plausibility.gaussian_prior import fit_prior
from core.raters.ask_next import raters_for
from core.review import decisions as core_decisions
from core.review.adjudicated import with_reviews
from core.review.events import Draft
from core.review.opinions import UNDETERMINED, Opinion
from core.review.panel_answer import panel_score
from core.review.store import ReviewStore, close_stores
from core.text import markdown, number
from pages.shared.cache.datasets import open_dataset
from pages.shared.review import case as review_case
from pages.shared.review import moves as review_moves
from pages.shared.review import presses
from pages.shared.review.opinion import keys_of
from tests.core.raters.raters_simulated import simulated
from tests.odd_data import ODD_DATA
from tests.pages.opened import at, settle
from tests.pages.test_pages import assert_sound, open_page

pytestmark = pytest.mark.usefixtures("known")


@pytest.fixture(autouse=True)
def closed():
    """Lets go of the store of each test's own home folder."""
    yield
    close_stores()


def kept(name: str, content: bytes | None = None):
    """A dataset that is kept on the disk."""
    dataset = read(content or ODD_DATA[name].encode(), name=name).dataset
    keep(dataset)
    return dataset


def signed(data: str, name: str = "Ada") -> AppTest:
    """The start page of a reviewer."""
    app = open_page("review", data)
    app = settle(app.text_input(key="reviewer_field").set_value(name).run())
    assert_sound(app)
    return app


def press(app: AppTest, label: str) -> AppTest:
    """Press the button of that label, and see that the page stands."""
    next(button for button in app.button if button.label.startswith(label)).click().run()
    assert_sound(app)
    return app


def words(app: AppTest) -> str:
    """All text on the page."""
    return "\n".join(entry.value for entry in [*app.markdown, *app.caption])


def through_one_case(app: AppTest, label: str) -> AppTest:
    """Start, choose, record and keep."""
    for step in ("Start with", label, "Record my opinion", "Keep my opinion"):
        press(app, step)
    return app


def score_field(app: AppTest):
    """The field of one's own score."""
    return next(box for box in app.number_input if box.key and box.key.startswith("score-"))


def test_a_draft_is_there_after_a_reload_for_the_same_name_until_it_is_recorded():
    """Without sign-in; a class alone is a draft, too."""
    dataset = kept("late", _SPLIT)
    first = press(press(signed(dataset.digest), "Start with"), "y")
    app = press(signed(dataset.digest), "Continue")
    assert case_of(app) == case_of(first) and "Your opinion: **y**" in words(app)
    next(box for box in app.selectbox if box.key.startswith("reason-own-")).set_value("rater_error").run()
    app = press(signed(dataset.digest), "Continue")
    assert next(box for box in app.selectbox if box.key.startswith("reason-own-")).value == "rater_error"
    assert "You have not chosen anything yet" in words(press(signed(dataset.digest, "Bo"), "Start with"))
    assert drafts_of(dataset.digest, "Ada") and not drafts_of(dataset.digest, "Bo")
    press(app, "Record my opinion")
    assert not drafts_of(dataset.digest, "Ada")


def test_the_decision_and_its_button_are_drawn_before_the_figures(monkeypatch):
    """Whoever has decided does not wait for them; a heading is drawn once, so that no other flashes up."""
    app = signed(kept("two classes").digest)
    for step in ("Start with", "x", "Record my opinion"):
        press(app, step)
    drawn, button, title, plausible = [], st.button, st.title, review_case._plausible
    monkeypatch.setattr(st, "button", lambda label, **options: drawn.append(label) or button(label, **options))
    monkeypatch.setattr(st, "title", lambda words, **options: drawn.append(words) or title(words, **options))
    monkeypatch.setattr(review_case, "_plausible", lambda *given: drawn.append("figures") or plausible(*given))
    app.run()
    assert_sound(app)
    assert drawn.index("Keep my opinion") < drawn.index("figures")
    assert [words for words in drawn if words.startswith(("Case ", "Which "))] == [app.title[0].value]


def test_cases_with_gold_are_left_out_of_a_queue_and_counted_unless_they_are_included():
    def rows(gold):
        return [f"{case},{rater},{'xy'[rater == 'b']},{gold(case)}" for case in range(6) for rater in "ab"]

    def start(gold):
        return signed(kept("gold", "\n".join(["case,rater,class,gold", *rows(gold)]).encode()).digest)

    app = start(lambda case: "x" if case < 2 else "")
    assert "4 cases in this queue. 2 cases with gold were left out" in words(app)
    assert "Start with 4 cases" in [button.label for button in app.button]
    app.toggle(key="filter_gold").set_value(True).run()
    assert "6 cases in this queue. The reason" in words(app)
    everywhere = start(lambda case: "x")  # a queue without them would be empty
    assert "6 cases in this queue. The reason" in words(everywhere)
    assert "filter_gold" not in [toggle.key for toggle in everywhere.toggle]


def test_a_score_is_typed_blind_then_compared_with_the_panels_and_decided_by_arbitration():
    """Nothing of the panel is on the page before; a score outside of what a colleague would give is for arbitration."""
    dataset = kept("scores")
    app = press(signed(dataset.digest), "Start with")
    assert score_field(app).value is None and "panel's score" not in words(app)
    settle(press(app, "Record my opinion"))
    assert "Enter a score first" in words(app) or "none was given" in "".join(e.value for e in app.error)
    score_field(app).set_value(400.0).run()
    assert "400 is outside the range of the raters' scores" in words(app)
    press(app, "Record my opinion")
    said = words(app).replace("\\", "")
    assert "Your opinion: **400**" in said and "You disagree" in said
    assert "**. With 95% probability, one more rater's score would be" in said
    press(app, "Keep my opinion")
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert [event.kind for event in review.events] == ["opinion", "reveal", "keep"]
    assert review.reads[0].opinion == Opinion.of_score(400.0) and review.state == "arbitration"
    panel = review.reads[0].panel
    digits = score_digits(panel.within[1] - panel.within[0])  # as many of all three, and no more than they are worth
    shown, *ends = (number(value, digits) for value in (panel.score, *panel.within))
    ends = " to ".join(ends)
    assert f"score is **{shown}**. With 95% probability, one more rater's score would be {ends}." in said
    model = fit_prior(dataset).model()
    assert panel == panel_score(model, dataset, dataset.case_index(review.case_id), reliability=1.0)


def test_a_score_that_a_colleague_might_have_given_closes_the_case_and_becomes_a_further_rater():
    dataset = kept("scores")
    app = press(signed(dataset.digest), "Start with")
    score_field(app).set_value(2.5).run()
    assert "is outside the range of the raters' scores" not in words(app)
    press(app, "Record my opinion")
    assert "You agree" in words(app)
    press(app, "Keep my opinion")
    reviews = ReviewStore().cases(dataset.digest)
    ((case_id, review),) = reviews.items()
    assert review.state == "closed"
    grown = with_reviews(dataset, reviews, closed=True).dataset
    case = grown.annotations_of(grown.case_index(case_id))
    assert grown.raters[-1] == "Adjudication" and 2.5 in grown.score[case.start : case.stop].tolist()
    press(app, "Leave")
    app.session_state["review_tabs"] = "What reviews show"
    settle(app.run())
    assert "counts as one more annotation, the mean width of the 95% intervals for 1 case is" in words(app)


@pytest.mark.parametrize(("sample", "how"), [("essays", "Enter a score"), ("street", "Set or clear labels")])
def test_how_a_review_goes_is_said_for_scores_and_for_sets(sample, how):
    assert f"You first read each case blind.** {how}" in words(open_page("review", sample))


def test_the_first_screen_says_what_waits_before_anybody_has_written_a_name():
    """How many cases are uncertain, wait for a second person, and are settled; and how a review goes."""
    dataset = kept("two cases")
    app = settle(open_page("review", dataset.digest))
    assert {card.label: card.value for card in app.metric} == {
        "Uncertain cases": "–", "Awaiting another reviewer": "0", "Settled": "0"
    }  # fmt: skip
    assert "each case blind.** Choose a class:gray[ (keys 1 to 9)], and record your opinion:gray[ (Ctrl" in words(app)
    through_one_case(signed(dataset.digest), "x")
    app = open_page("review", dataset.digest)
    (review,) = ReviewStore().cases(dataset.digest).values()
    shown = {card.label: card.value for card in app.metric}
    assert shown["Awaiting another reviewer"] == f"{int(review.state == 'arbitration')}"
    assert shown["Settled"] == f"{int(review.state == 'closed')}" and review.state in ("arbitration", "closed")


def test_without_data_a_file_is_asked_for():
    """The page opens without a dataset."""
    app = at("review").run()
    assert app.title[0].value == "No data open yet"


@pytest.mark.parametrize("name", [name for name in ODD_DATA if "scores" not in name and name != "markup"])
def test_odd_data_can_be_reviewed(name):
    """One class, one rater, one case, only ties: a case is read, revealed and kept."""
    dataset = kept(name)
    app = through_one_case(signed(dataset.digest), dataset.classes[0])
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert [event.kind for event in review.events] == ["opinion", "reveal", "keep"]
    assert not app.error


def test_anonymous_raters_are_offered_in_no_filter():
    """Where names carry no identity, neither a rater nor a pair can be asked for, and reviewing goes on."""
    app = signed("dermatology")
    assert not any(box.key in ("filter_rater", "filter_pair") for box in [*app.selectbox, *app.multiselect])
    press(app, "Start with")
    press(app, "Cannot be determined")
    press(app, "Record my opinion")
    assert "The model cannot decide between" in words(app)


def test_what_raters_were_shown_stands_over_a_blind_read():
    """The text of the case comes before one's own opinion, and the line that there is none is gone."""
    dataset = kept("with texts", b"case,rater,class\nt1,a,x\nt1,b,y\nt2,a,x\n")
    keep(dataset, CaseFacts(dict.fromkeys(dataset.cases, "an itching <b>lesion</b>")))
    app = press(signed(dataset.digest), "Start with")
    assert any("an itching &lt;b&gt;lesion" in entry.proto.body for entry in app.get("html"))
    assert "No text or image for this case. Open it in your own viewer" not in words(app)


def test_names_are_text_and_blanks_do_not_tell_reviewers_apart():
    """A name is shown letter for letter, and outer and double blanks are dropped."""
    app = signed(kept("two classes").digest, "  Dr  <b>Ada</b> ")
    assert app.session_state["reviewer"] == "Dr <b>Ada</b>"
    assert r"\<b\>Ada\<\/b\>" in words(app) or r"\<b\>Ada\</b\>" in words(app)


def tab(app: AppTest, name: str) -> AppTest:
    """Open a tab of the start page."""
    app.session_state["review_tabs"] = name
    app.run()
    assert_sound(app)
    return app


def test_figures_and_files_after_a_review():
    """What reviews show and have bought, and a new dataset with the decision as a further rater."""
    dataset = kept("two classes")
    app = press(through_one_case(signed(dataset.digest), dataset.classes[0]), "Leave")
    tab(app, "What reviews show")
    assert any(metric.value == "1 of 2" for metric in app.metric)
    assert re.search(r"counts as one more annotation, the mean certainty of 1 case is \d+% instead of", words(app))
    people = next(table.value for table in app.dataframe if "reviewer" in table.value)
    assert people[["reviewer", "reads", "of them blind"]].values.tolist() == [["Ada", 1, 1]]
    tab(app, "Export")
    assert any(heading.value == "Decisions as an additional rater" for heading in app.subheader)
    names = [block.proto.popover.label for block in app.get("popover")]
    assert "State and result of cases with reviews" in names, names
    (command,) = (block.value for block in app.code if " verify " in block.value)
    assert main(shlex.split(command)[3:]) == 0, "the printed hash is that of the trail"


def test_a_queue_yields_no_rate_without_a_warning_and_a_sample_keeps_its_chances():
    """Two cases of which both are drawn; what a queue brought is called a queue's until a sample holds it."""
    dataset = kept("two classes")
    app = press(through_one_case(signed(dataset.digest), dataset.classes[0]), "Leave")
    tab(app, "What reviews show")
    assert "The reviewed case came from a queue" in words(app) and "apply only to this case" in words(app)
    tab(app, "Review")
    app.selectbox(key="queue").set_value("sample").run()
    assert_sound(app)
    app.number_input(key="sample_budget").set_value(2).run()
    assert "Drawn at random from 2 cases. Plurality records each case's chance of being drawn." in words(app)
    assert not any(box.key == "filter_class" for box in app.selectbox)
    assert app.selectbox(key="sample_target").options == [
        "Any rate (all cases are equally likely to be drawn)", "How often the leading class is correct",
        *(f"The share of {name}" for name in dataset.classes),
    ]  # fmt: skip
    press(app, "Start with 2 cases")
    (session, *_) = ReviewStore().sessions(dataset.digest, "Ada")
    assert session.title == "Random sample: about 2 of 2 cases, seed 0"
    assert [queued.why for queued in session.cases] == ["drawn with probability 1 by seed 0"] * 2
    press(app, "Leave")
    tab(app, "What reviews show")
    assert "1 reviewed case is from a random sample" in words(app), words(app)
    assert "1 case in the sample has not been reviewed yet." in words(app).replace("\\", "")


def test_decisions_become_a_further_rater_of_a_new_dataset():
    """The case that was closed by agreement gets one annotation more; the dataset that was reviewed stays."""
    dataset = kept("agreed", b"case,rater,class\n1,a,x\n1,b,x\n1,c,x\n")
    app = press(through_one_case(signed(dataset.digest), "x"), "Leave")
    tab(app, "Export")
    assert app.button(key="grow").disabled
    assert "0 cases decided by arbitration, 1 closed without arbitration." in words(app)
    app.toggle(key="adjudication_closed").set_value(True).run()
    press(app, "Create dataset")
    grown = open_dataset(app.session_state["data"]).dataset
    assert grown.digest != dataset.digest
    assert app.session_state["case"] == "1"  # the decided case, on which the page of the new data opens
    assert grown.raters == ("a", "b", "c", "Adjudication")
    assert grown.n_annotations == dataset.n_annotations + 1


def test_reviews_of_a_sample_can_be_erased():
    """After saying how many steps there are; then nothing is left of them."""
    app = press(through_one_case(signed("anaesthesia"), "Cannot be determined"), "Leave")
    tab(app, "Export")
    assert "This permanently deletes 3 review steps on 1 case and all review sessions" in words(app)
    press(app, "Delete all reviews of these data")
    assert app.info[0].value == "No reviews yet. Review a case to export results."


def test_who_has_seen_a_case_on_the_cases_page_reads_it_open():
    """It is said on both pages, and stands in the record; the worklist and the case then show the review."""
    dataset = kept("looked", b"case,rater,class\n1,a,x\n1,b,y\n1,c,x\n")
    app = signed(dataset.digest)
    app.switch_page("pages/cases.py").run()
    assert_sound(app)
    assert "will be recorded as open, not blind" in words(app)
    app.switch_page("pages/review.py").run()
    press(app, "Start with")
    assert "seen annotations of this case on another page" in app.info[0].value
    for step in ("x", "Record my opinion", "Keep my opinion"):
        press(app, step)
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert [read.visible for read in review.reads] == ["open"]
    app.switch_page("pages/cases.py").run()
    assert_sound(app)
    assert "Ada: **x** (open)" in words(app)
    assert "recorded as open, not blind" not in words(app)


def test_a_reviewed_case_does_not_come_again_to_its_reviewer_but_to_another():
    """The queue leaves out what one has read oneself; a closed case is left out for all."""
    dataset = kept("split", b"case,rater,class\n1,a,x\n1,b,y\n1,c,x\n2,a,x\n2,b,x\n2,c,y\n")
    app = press(signed(dataset.digest), "Start with 2")
    press(press(app, "y"), "Record my opinion")
    press(app, "Leave")
    assert any(button.label == "Start with 1 case" for button in app.button)
    press(app, "Switch reviewer")
    app.text_input(key="reviewer_field").set_value("Bo").run()
    assert any(button.label == "Start with 2 cases" for button in app.button)


_SPLIT = (
    b"case,rater,class\n1,a,x\n1,b,x\n1,c,x\n1,d,x\n1,e,x\n1,f,x\n2,a,y\n2,b,y\n2,c,y\n2,d,y\n2,e,x\n3,a,x\n3,b,y\n"
)


def case_of(app: AppTest) -> str:
    """The case on screen."""
    return app.title[0].value.removeprefix("Case ")


def test_three_people_in_three_sessions_finish_an_arbitration():
    """The third opens on the opinions and decides; nobody's list has lost the case before that."""
    dataset = kept("dispute", b"case,rater,class\n" + b"\n".join(b"1,%c,x" % name for name in b"abcdef"))
    ada, bo, cleo = (signed(dataset.digest, name) for name in ("Ada", "Bo", "Cleo"))
    press(ada, "Start with")
    for step in ("Cannot be determined", "Record my opinion", "Keep my opinion", "Another session"):
        press(ada, step)
    assert "You have given an opinion on 1 case in arbitration" in words(ada)
    for blind in ("Review it blind first", "x", "Record my opinion"):
        press(bo.run(), blind)
    assert "**Ada**: cannot be determined (blind)" in words(bo)
    assert "party" not in words(bo)  # who was asked to decide is none
    press(press(bo, "x"), "Leave")
    assert "You have given an opinion on 1 case in arbitration" in words(bo)
    press(cleo.run(), "Decide")
    assert "Outcome of the arbitration" in words(cleo) and "**Ada**" in words(cleo)
    press(press(cleo, "x"), "End the arbitration")
    assert cleo.title[0].value == "Session complete"
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert review.state == "adjudicated" and review.adjudication.reviewer == "Cleo"
    for app in (ada, bo, press(cleo, "Another session")):
        assert "in arbitration" not in words(app.run())


def test_two_people_who_start_the_same_queue_begin_with_different_cases():
    """Also where both had the start page open before either began."""
    dataset = kept("queue", _SPLIT)
    ada, bo = signed(dataset.digest), signed(dataset.digest, "Bo")
    assert case_of(press(ada, "Start with 3")) != case_of(press(bo, "Start with 3"))


def test_a_case_that_another_window_has_finished_stays_on_screen_as_it_is_now():
    """The next case does not come without a step here, and the end of a session says how its cases stand."""
    dataset = kept("windows", _SPLIT)
    one, other = (signed(dataset.digest) for _ in range(2))
    first = case_of(press(one, "Start with 3"))
    assert case_of(press(other.run(), "Continue")) == first
    for step in ("x", "Record my opinion", "Keep my opinion"):
        press(one, step)
    assert case_of(one) != first == case_of(other.run())
    assert "You have not chosen anything yet" not in words(other) and "**You**: x (blind)" in words(other)
    for _ in range(2):
        for step in ("x", "Record my opinion", "Keep my opinion"):
            press(one, step)
    assert "Every case in this session is done: 2 closed, 1 in arbitration." in words(one)
    press(one, "Export")
    assert one.session_state["review_tabs"] == "Export"


def test_a_press_for_a_case_that_has_left_the_screen_is_refused_aloud():
    """Its button stood in the browser still: the case in hand stays as it is, and so does the one that was meant."""
    dataset = kept("late", _SPLIT)
    app = press(signed(dataset.digest), "Start with 3")
    first = case_of(app)
    late = next(button for button in app.button if button.label == "x")
    press(app, "Skip")
    second = case_of(app)
    late.click().run()
    app.run()
    assert [
        f"A key press for case {first} was ignored, because that case is no longer on screen" in error.value
        for error in app.error
    ] == [True]
    assert case_of(app) == second and "You have not chosen anything yet" in words(app)


def test_of_more_than_ten_classes_the_first_are_offered_blind_and_those_named_to_the_arbiter():
    """Blind, the ten buttons tell nothing of the case; a class that has no key there has none in arbitration."""
    names = [f"class {letter}" for letter in "abcdefghijklm"]
    rows = [f"{case},{rater},{names[case % 12]}" for case in range(24) for rater in "pqr"]
    rows += [f"odd,{rater},{names[12]}" for rater in "pqrstuvw"]
    dataset = kept("many classes", "\n".join(["case,rater,class", *rows]).encode())
    app = signed(dataset.digest)
    app.selectbox(key="filter_class").set_value(names[12]).run()
    press(app, "Start with 1")
    offered = [button.label for button in app.button if button.label.startswith("class ")]
    assert offered == names[:10]
    for step in (offered[0], "Record my opinion", "Keep my opinion", "Another session"):
        press(app, step)
    press(app, "Switch reviewer")
    app.text_input(key="reviewer_field").set_value("Bo").run()
    press(app, "Decide")
    keys = {button.label: button.proto.shortcut for button in app.button if button.label.startswith("class ")}
    assert keys == {offered[0]: "1", names[12]: ""}


_BETWEEN = b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n2,b,y\n3,a,z\n3,b,z\n3,c,z\n3,d,z\n"


def test_a_second_person_is_the_default_for_a_class_outside_the_plausible_set():
    """Who is asked is offered on the next case; nothing is closed."""
    dataset = kept("between", _BETWEEN)
    app = press(signed(dataset.digest), "Start with 3")
    for step in ("z", "Record my opinion"):
        press(app, step)
    said = (
        ":material/group_add: **z** is not in the panel's plausible set (x and y). Ask a second reviewer, or explain "
        "why you decide alone."
    )
    assert said in words(app)
    assert not any(button.label == "Keep my opinion" for button in app.button)
    whom(app).set_value("Bo").run()
    press(app, "Request a second opinion")
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert (review.state, review.asked) == ("second_opinion", (("Bo", "blind"),))
    for step in ("z", "Record my opinion"):
        press(app, step)
    assert whom(app).value == "Bo"


def test_a_second_reviewer_outside_the_plausible_set_is_not_told_to_decide_alone():
    dataset = kept("between", _BETWEEN + b"4,a,w\n4,b,w\n4,c,w\n4,d,w\n")
    ada, bo = signed(dataset.digest), signed(dataset.digest, "Bo")
    for step in ("Start with 4", "z", "Record my opinion"):
        press(ada, step)
    whom(ada).set_value("Bo").run()
    press(ada, "Request a second opinion")
    for step in ("Give opinion", "w", "Record my opinion"):
        press(bo.run(), step)
    told = words(bo)
    assert "Ask a second reviewer" not in told and "alone" not in told
    assert "and no other reviewer shares your opinion. Ask another reviewer, or explain why you keep it." in told
    press(bo, "Keep it")
    assert bo.text_area[0].placeholder == "Reason for keeping your opinion"
    bo.text_area[0].set_value("blurred").run()
    press(bo, "Keep my opinion")
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert review.state == "arbitration"


def test_raters_who_can_be_asked_are_offered_by_their_expected_gain():
    """Not those who have annotated the case; a press enters the name."""
    data, _ = simulated(5, [0.95, 0.9, 0.6, 0.5, 0.4], n_cases=60, per_case=2, n_classes=3, times=False)
    keep(data)
    app = press(signed(data.digest), "Start with")
    for step in ("k0", "Record my opinion"):
        press(app, step)
    if not any(box.label == "Whom to ask" for box in app.text_input):
        press(app, "Ask for a second opinion")
    case = data.case_index(case_of(app))
    (offered,) = (group for group in app.pills if group.label == "Largest expected gain first")
    averaged = judge_models(data).averaged
    assert offered.options == raters_for(data, averaged.fit, case)[:8] and len(offered.options) == 3
    offered.select(offered.options[0]).run()
    assert whom(app).value == offered.options[0]


def test_a_score_outside_of_one_readers_interval_needs_a_second_person():
    dataset = kept(
        "one reader",
        b"case,rater,score\n1,a,2\n2,a,3\n2,b,3.5\n3,a,7\n3,b,6.5\n4,a,5\n4,b,5.5\n",
    )
    app = press(signed(dataset.digest), "Start with")
    assert case_of(app) == "1"
    score_field(app).set_value(400.0).run()
    press(app, "Record my opinion")
    told = words(app).replace("\\", "")
    found = re.search(
        r"\*\*400\*\* is not in the panel's plausible set \((\S+) to (\S+)\)\. Ask a second reviewer", told
    )
    low, high = (float(end.replace("−", "-").replace(",", "")) for end in found.groups())
    assert low < 2 < high < 400
    assert not any(button.label == "Keep my opinion" for button in app.button)


def test_a_label_that_nobody_named_on_the_case_needs_a_second_person():
    lines = b"".join(b"1,%c,%b\n" % pair for pair in zip(b"abcd", (b"x;y", b"x;z", b"y;z", b"x"), strict=True))
    dataset = kept("labels", b"case,rater,labels\n" + lines + b"2,a,w;x\n2,b,w\n2,c,w;y\n2,d,z\n2,e,y\n")
    app = press(signed(dataset.digest), "Start with 2")
    assert case_of(app) == "1"
    for step in ("x", "w", "Record my opinion"):
        press(app, step)
    told = words(app).replace("\\", "")
    assert "**w + x** is not in the panel's plausible set (x, y and z). Ask a second reviewer" in told
    press(app, "Change it")
    press(app, "w")
    app.text_area[0].set_value("a slip").run()
    press(press(app, "Change my opinion"), "Leave")
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert (review.state, review.closed_unsupported) == ("closed", False)


def whom(app: AppTest):
    """The field for who is asked for a second opinion."""
    return next(box for box in app.text_input if box.label == "Whom to ask")


def test_who_decides_alone_outside_the_plausible_set_writes_why():
    """Neither the key nor an empty note closes the case; then "What reviews show" says on what it rests."""
    dataset = kept("between", _BETWEEN)
    app = press(signed(dataset.digest), "Start with 3")
    for step in ("z", "Record my opinion", "Decide alone"):
        press(app, step)
    assert "Write a note first" in words(app)
    press(app, "Keep my opinion")
    assert "write a note" in app.error[0].value
    assert [review.state for review in ReviewStore().cases(dataset.digest).values()] == ["read"]
    app.text_area[0].set_value("seen on the scan").run()
    assert "Your opinion decides and closes the case, although" in words(app)
    press(press(app, "Keep my opinion"), "Leave")
    (review,) = ReviewStore().cases(dataset.digest).values()
    assert (review.state, review.events[-1].kind, review.events[-1].note) == ("closed", "keep", "seen on the scan")
    tab(app, "What reviews show")
    shown = words(app)
    assert "1 case is settled: 1 by one reviewer. A single reviewer's opinion is not the truth." in shown
    assert "In 1 of 1 case closed by one reviewer, the opinion is outside the panel's plausible set." in shown
    assert "not that it is true" in shown and "bought" not in shown and "rises" not in shown


def test_the_time_on_a_case_goes_on_where_it_is_opened_again(monkeypatch):
    """Five seconds, another case, the list, and one second more; nobody is said to have been too quick."""
    now = [100.0]
    monkeypatch.setattr(review_moves, "time", SimpleNamespace(monotonic=lambda: now[0]))
    dataset = kept("opened again", _BETWEEN)
    app = press(signed(dataset.digest), "Start with 3")
    first = case_of(app)
    for seconds, step in ((5, "Next"), (60, "All cases"), (1000, f"Open {first}"), (1, "x"), (0, "Record my opinion")):
        now[0] += seconds
        press(app, step)
    (opinion, _) = ReviewStore().trail(dataset.digest, first)
    assert opinion.seconds == 6 and "seconds, too soon to have read the case" not in words(app)
    now[0] += 7
    press(app, "Keep my opinion")
    assert ReviewStore().trail(dataset.digest, first)[-1].seconds == 7
    second = case_of(app)
    for step in ("y", "Record my opinion"):
        press(app, step)
    expected = 60 if second != first else 0
    assert ReviewStore().trail(dataset.digest, second)[0].seconds == expected


@pytest.mark.parametrize(("limit", "quick"), [(1e6, True), (0.0, False)])
def test_a_decision_in_less_time_than_a_case_can_be_read_in_is_pointed_out_and_goes_on(monkeypatch, limit, quick):
    """Beside the panel, on the next case, among decisions and in what reviews show, with the share."""
    monkeypatch.setattr(core_decisions, "QUICK", limit)
    dataset = kept("quick", _BETWEEN)
    app = press(signed(dataset.digest), "Start with 3")
    for step in ("x", "Record my opinion"):
        press(app, step)
    told = re.search(r"You gave your opinion after \d+\.\d seconds, too soon to have read the case\.", words(app))
    assert bool(told) == quick
    press(app, "Keep my opinion")
    assert "seconds, too soon to have read the case" not in words(app)
    press(app, "Leave")
    share = "1 of 1 timed decision (100%) took less than" if quick else "0 of 1 timed decision took less than"
    tab(app, "Decisions")
    assert share in words(app)
    assert next(table.value for table in app.dataframe if "decision" in table.value)["seconds"].notna().all()
    tab(app, "What reviews show")
    people = next(table.value for table in app.dataframe if "reviewer" in table.value)
    assert share in words(app) and people["under 2 s"].tolist() == ["1 of 1" if quick else "0 of 1"]


def test_ones_decisions_are_found_by_person_and_state_and_undone():
    """Of others nothing is shown on cases that are unread, so that a blind read stays possible."""
    dataset = kept("found again", _SPLIT)
    app = press(signed(dataset.digest), "Start with 3")
    first = case_of(app)
    for step in ("x", "Record my opinion", "Keep my opinion", "y", "Record my opinion", "Leave"):
        press(app, step)
    tab(app, "Decisions")

    def listed() -> list[list[str]]:
        tables = [table.value for table in app.dataframe if "decision" in table.value]
        return [row for table in tables for row in table[["case", "decision", "by"]].values.tolist()]

    assert len(listed()) == 2 and listed()[1] == [first, "x", "Ada"]
    app.multiselect(key="decisions_states").set_value(["read"]).run()
    assert [row[1] for row in listed()] == ["y"]
    days = app.date_input(key="decisions_days")
    today = datetime.now(UTC).date()
    for since, n in ((today - timedelta(days=1), 1), (today + timedelta(days=2), 0)):  # a first day alone filters too
        days.set_value((since,)).run()
        assert len(listed()) == n and f"From {since.isoformat()} onwards. The last day is optional." in words(app)
    days.set_value((today - timedelta(days=1), today + timedelta(days=1))).run()
    assert len(listed()) == 1 and "The last day is optional" not in words(app)
    bo = tab(signed(dataset.digest, "Bo"), "Decisions")
    for who in (None, "Ada"):  # everybody's at first, as Bo has none
        assert bo.selectbox(key="decisions_by").value == who
        assert not any("decision" in table.value for table in bo.dataframe)
        assert "2 decisions by other reviewers are hidden" in words(bo)
        assert "No decision matches" not in words(bo)
        bo.selectbox(key="decisions_by").set_value("Ada").run()
    bo.toggle(key="decisions_all").set_value(True).run()
    assert len(next(table.value for table in bo.dataframe if "decision" in table.value)) == 2


def test_why_a_case_is_here_says_at_which_trust_that_was():
    """γ is moved after the session began: the numbers of the queue and those of the page are told apart."""
    dataset = kept("moved trust", _SPLIT)
    app = signed(dataset.digest)
    app.session_state["reliability"] = 2.0
    for step in ("Start with 3", "x", "Record my opinion"):
        press(app.run() if step.startswith("Start") else app, step)
    said = by_trust(app)
    assert re.search(
        r"γ = 2, as chosen on the Cases page\. Why this case was queued: certainty \d+%.* \(.+, γ = 2\)\.$", said
    )
    app.session_state["reliability"] = 0.5
    app.run()
    assert by_trust(app).endswith("γ = 0.5, as chosen on the Cases page."), "a number at another γ would contradict it"
    app.session_state["reliability"] = None
    app.run()
    assert "as chosen" not in by_trust(app)


def by_trust(app: AppTest) -> str:
    """By which model and trust the case is judged, and why it is there."""
    return next(line.value for line in app.caption if line.value.startswith("Model: ")).replace("\\", "")


def test_undo_stays_with_the_case_whose_row_was_chosen(monkeypatch):
    """The list is shorter by that decision; the row in its place is another case, whose step must stay."""
    rows = b"\n".join(b"%d,%c,x" % (case, name) for case in (1, 2) for name in b"abcdef")
    monkeypatch.setattr(presses, "_LOOK", 0.0)  # seconds in which one step is not taken twice
    dataset = kept("undone where chosen", b"case,rater,class\n" + rows + b"\n1,g,y\n")
    ada = press(signed(dataset.digest), "Start with 2")
    for step in ("y", "Record my opinion", "Keep my opinion") * 2:
        press(ada, step)
    app = press(signed(dataset.digest, "Bo"), "Decide")
    for step in (*("x", "End the arbitration") * 2, "Another session"):
        press(app, step)
    draw, chosen = st.dataframe, {}

    def with_the_first_row_chosen(frame, **options):
        """As the browser does: what is chosen belongs to the key."""
        if "on_select" not in options:
            return draw(frame, **options)
        chosen.setdefault(options["key"], [] if chosen else [0])
        draw(frame, **{name: value for name, value in options.items() if name not in ("on_select", "selection_mode")})
        return SimpleNamespace(selection=SimpleNamespace(rows=chosen[options["key"]]))

    monkeypatch.setattr(st, "dataframe", with_the_first_row_chosen)
    tab(app, "Decisions")
    latest = next(table.value for table in app.dataframe if "decision" in table.value)["case"].tolist()[0]
    heading = f"Case {latest}"
    assert heading in [one.value for one in app.subheader]
    history = next(table for table in app.dataframe if "step" in table.value)
    wide = json.loads(history.proto.columns)
    for name in ("step", "before", "after", "panel's result"):  # nothing of them is cut
        assert wide[name]["width"] >= 7 * history.value[name].str.len().max()
    press(app, "Undo my last step")
    assert [one.value for one in app.subheader if one.value.startswith("Case ")] == [heading]


def test_raters_are_grouped_by_what_they_said():
    """Thirty-nine raters are three lines, what most said first; beyond a few, names unfold; a name stays text."""
    said = ["x"] * 20 + ["y"] * 16 + ["z"] * 3
    rows = "\n".join(f"1,R{place:02},{name}" for place, name in enumerate(said[:-1]))
    dataset = kept("grouped", f"case,rater,class\n{rows}\n1,<b>Z</b>,z\n".encode())
    app = signed(dataset.digest)
    for step in ("Start with", "x", "Record my opinion"):
        press(app, step)
    (lines,) = [entry.proto.body for entry in app.get("html") if 'class="chips"' in entry.proto.body]
    shown = [re.sub(r"<[^>]+>", " ", line).split() for line in lines.split('<div class="chips">')[1:]]
    assert [line[:2] for line in shown] == [["20", "x"], ["16", "y"], ["3", "z"]]
    assert shown[0][2:7] == ["R00,", "R01", "and", "18", "more"] and shown[0][-1] == "R19"
    assert "R36, R37, &lt;b&gt;Z&lt;/b&gt;" in lines and "<details" not in lines.split('<div class="chips">')[3]


def test_a_case_that_is_kept_elsewhere_has_a_link_there():
    """Typed once for the dataset; what is no address is said and kept nowhere."""
    dataset = kept("elsewhere", b"case,rater,class\na/b ?1,p,x\na/b ?1,q,y\n")
    app = press(signed(dataset.digest), "Start with")
    field = next(box for box in app.text_input if box.key.startswith("case_link"))
    field.set_value("javascript:alert({case})").run()
    assert "it is not a web address" in app.error[0].value and link_of(dataset.digest) == ""
    field.set_value("https://viewer.example/case/{case}?x=1").run()
    (button,) = app.get("link_button")
    assert button.proto.url == "https://viewer.example/case/a%2Fb%20%3F1?x=1"
    assert not app.error and "Open it in your own viewer" not in words(app)


@pytest.mark.parametrize("answers", [b"a/b,p,x\na/b,q,y\nc,p,x\nc,q,x\n", b"a/b,p,1.5\na/b,q,2.25\nc,p,7\nc,q,7.5\n"])
def test_the_link_to_a_case_is_on_the_cases_page_too_where_it_can_be_said_as_well(answers):
    dataset = kept("linked cases", b"case,rater,answer\n" + answers)
    app = settle(open_page("cases", dataset.digest))
    assert not app.get("link_button")
    field = next(box for box in app.text_input if box.key.startswith("case_link"))
    settle(field.set_value("https://viewer.example/case/{case}").run())
    (button,) = app.get("link_button")
    assert button.proto.url.removeprefix("https://viewer.example/case/") in ("a%2Fb", "c")
    assert len([box for box in app.text_input if box.key.startswith("case_link")]) == 1
    review = press(signed(dataset.digest), "Start with")
    assert [one.proto.url[:28] for one in review.get("link_button")] == ["https://viewer.example/case/"]


def test_the_key_of_a_class_is_the_digit_in_its_name():
    """On classes named 0 and 1 the key 1 never means 0; others take what is free."""
    assert keys_of(("0", "1")) == ["0", "1"]
    assert keys_of(("grade 2", "grade 1", "unsure")) == ["2", "1", "3"]
    assert keys_of(("a", "b", "2")) == ["1", "3", "2"]
    assert keys_of(("x1", "y1", "T12")) == ["1", "2", "3"]


_SETS = (
    b"case,rater,labels\n" + b"\n".join(b"1,%c,x;y" % name for name in b"abcdefghijkl") + b"\n2,a,z\n2,b,x;z\n2,c,y\n"
)


def test_labels_of_a_set_are_toggled_and_compared_with_the_panels_set():
    """A blind read of two labels, a third pressed twice; the panel's set; the set as a further rater's annotation."""
    dataset = kept("labels", _SETS)
    app = press(signed(dataset.digest), "Start with 2")
    press(press(app, "z"), "Record my opinion")  # the least certain case comes first
    assert "The panel is undecided." in words(app)
    press(app, "Keep my opinion")
    for label in ("x", "y", "z", "z"):
        press(app, label)
    assert "Your opinion: **x + y**" in words(app)
    press(app, "Record my opinion")
    assert f"The panel's labels are **{markdown('x + y')}**. You agree." in words(app)
    assert "All labels" in words(app)
    press(app, "Keep my opinion")
    reviews = ReviewStore().cases(dataset.digest)
    assert reviews["1"].events[0].opinion == Opinion.of_labels(["x", "y"])
    grown = with_reviews(dataset, reviews, closed=True).dataset
    assert (grown.kind, grown.n_annotations) == ("set", dataset.n_annotations + 2)
    assert "x; y" in grown.select(raters=["Adjudication"]).long_columns(range(2))["labels"]


def test_none_of_these_and_other_labels_exclude_each_other_and_an_even_label_is_no_no():
    """By click and by the search; a label of half of the raters is even, and a set of little probability is said so."""
    lines = b"".join(
        b"1,%c,%b\n" % (who, said) for who, said in zip(b"abcd", (b"x;y", b"x;z", b"y;z", b"w"), strict=True)
    )
    dataset = kept("labels", b"case,rater,labels\n" + lines + b"2,a,none of these\n2,b,none of these\n2,c,x\n")
    app = press(signed(dataset.digest), "Start with 2")
    for label in ("x", "y", "none of these"):
        press(app, label)
    assert f"Your opinion: **{markdown('none of these')}**" in words(app)
    press(app, "x")
    assert "Your opinion: **x**" in words(app)
    press(app, "Record my opinion")
    applies = dict(app.dataframe[0].value[["label", "applies"]].to_numpy())
    assert applies == {"x": "even", "y": "even", "z": "even", "w": "no", "none of these": "no"}
    assert "no set clearly leads; “x”, “y” and “z” are as likely to apply as not" in words(app)


def test_a_dispute_over_sets_ends_with_a_set():
    """Who disagrees with a decided panel can send the case to arbitration, which another ends."""
    dataset = kept("labels", _SETS)
    ada, bo = signed(dataset.digest), signed(dataset.digest, "Bo")
    press(ada, "Start with 2")
    for step in ("z", "Record my opinion", "Keep my opinion", "x", "Record my opinion"):
        press(ada, step)
    assert "You disagree." in words(ada)
    press(ada, "Keep my opinion")
    press(bo.run(), "Decide")
    for step in ("x", "y", "End the arbitration"):
        press(bo, step)
    review = ReviewStore().cases(dataset.digest)["1"]
    assert review.state == "adjudicated" and review.adjudication.opinion == Opinion.of_labels(["x", "y"])


def test_an_error_goes_as_soon_as_a_class_is_chosen_and_the_bar_says_what_the_button_does():
    app = press(press(signed(kept("two classes").digest), "Start with"), "Record my opinion")
    assert "none was given" in app.error[0].value
    press(app, "x")
    assert not app.error
    assert "Record your opinion to see the panel's annotations." in words(app).replace("\\", "")


def test_a_change_asks_beforehand_for_a_reason_under_the_name_of_its_list():
    app = press(signed(kept("between", _BETWEEN).digest), "Start with 3")
    for step in ("x", "Record my opinion", "Change it", "y"):
        press(app, step)

    def reason():
        return next(box for box in app.selectbox if box.label == "Reason for the change")

    assert reason().value is None
    asked = "First choose a reason for the change, or write a note"
    assert asked in words(app)
    press(app, "Change my opinion")
    assert "the reason for the change is missing" in app.error[0].value
    reason().set_value("unclear_image").run()
    assert not app.error and asked not in words(app)
    press(app, "z")  # outside the plausible set, where a reason is not enough
    assert "First write a note" in words(app)


@pytest.mark.parametrize(
    ("way", "chosen", "form", "said"),
    [("Decide alone", (), "alone", "keep"), ("Change it", ("x",), "change", "change")],
)
def test_what_was_written_is_there_again_after_undo(way, chosen, form, said):
    dataset = kept("between", _BETWEEN)
    app = press(signed(dataset.digest), "Start with 3")
    first = case_of(app)
    for step in ("z", "Record my opinion", way, *chosen):
        press(app, step)
    app.text_area[0].set_value("seen on the scan").run()
    press(press(app, "Keep my opinion" if said == "keep" else "Change my opinion"), f"Undo {first}")
    assert case_of(app) == first
    (note,) = app.text_area
    assert note.key.startswith(f"note-{form}-") and note.value == "seen on the scan"
    if chosen:
        assert "Your opinion: **x**" in words(app).splitlines()
    press(app, "Keep my opinion" if said == "keep" else "Change my opinion")
    last = ReviewStore().trail(dataset.digest, first)[-1]
    assert (last.kind, last.note) == (said, "seen on the scan")


@pytest.mark.parametrize(
    ("name", "named", "unnamed"),
    [
        ("two classes", ["Choose a class"], ["Find a class", "tie the last two"]),
        ("scores", ["Enter a score"], ["Choose a class", "Find a class", "tie the last two"]),
        ("many classes", ["Choose a class", "Find a class", "tie the last two"], []),
    ],
)
def test_the_list_of_keys_names_only_fields_that_the_data_have(name, named, unnamed):
    many = "\n".join(["case,rater,class", *(f"{place},a,k{place}" for place in range(11))]).encode()
    app = press(signed(kept(name, many if name == "many classes" else None).digest), "Start with")
    (keys,) = (entry.value for entry in app.markdown if "**Esc**" in entry.value)
    assert all(said in keys for said in named) and not any(said in keys for said in unnamed)


def test_what_the_panel_is_undecided_between_stands_in_the_order_of_the_classes():
    own, panel = Opinion.of_class("high"), Opinion.of_ranking([["low", "high", "fair"]])
    said = review_case._panel(own, panel, ("low", "fair", "high", "top"))
    assert said == "The model cannot decide between **low**, **fair** and **high**."
    assert review_case._panel(own, UNDETERMINED, ("low", "fair")) == "The panel is undecided."
    # The set shown is the one that opinions are judged by, also if the tie has fewer classes.
    panel = replace(Opinion.of_ranking([["low", "fair"]]), plausible=("high", "low", "fair"))
    assert not own.is_outside(panel)
    assert review_case._panel(own, panel, ("low", "fair", "high", "top")) == said
    one = replace(UNDETERMINED, plausible=("low",))
    assert review_case._panel(own, one, ("low",)) == "The panel is undecided. Plausible: **low**."
    said = review_case._panel(Opinion.of_labels(["low"]), panel, ("low", "fair", "high"), "set")
    assert said == "The panel is undecided. Plausible: **low**, **fair** and **high**."


def test_a_case_that_is_reopened_is_left_again_and_its_step_is_ready_only_with_a_reason():
    dataset = kept("labels", _SETS)
    app = press(signed(dataset.digest), "Start with 2")
    for step in ("z", "Record my opinion", "Keep my opinion"):
        press(app, step)
    assert "1 of 2 cases done · 1 left" in app.get("progress")[0].proto.text
    press(press(app, "Previous"), "Reopen the case")  # the choice, then the step at the bottom
    step = next(each for each in app.button if each.key.startswith("send-reopen"))
    assert step.proto.type == "secondary" and "First choose a reason for reopening, or write a note" in words(app)
    step.click().run()
    assert any("the reason for reopening is missing" in error.value for error in app.error)
    note = next(area for area in (*app.text_area, *app.text_input) if "reopen" in (area.key or ""))
    note.set_value("look again").run()
    step = next(each for each in app.button if each.key.startswith("send-reopen"))
    assert step.proto.type == "primary"
    step.click().run()
    assert "0 of 2 cases done · 2 left" in app.get("progress")[0].proto.text


def test_a_session_has_no_case_that_a_colleague_settled_after_the_page_was_drawn():
    dataset = kept("labels", _SETS)
    app = signed(dataset.digest)
    button = next(each for each in app.button if each.label.startswith("Start with 2"))
    store, panel = ReviewStore(), Opinion.of_labels(["x", "y"])
    steps = ({"kind": "opinion", "opinion": panel}, {"kind": "reveal", "panel": panel}, {"kind": "keep"})
    for seen, step in enumerate(steps):
        store.record(Draft(dataset=dataset.digest, case_id="1", reviewer="Bo", **step), seen=seen, token=f"t{seen}")
    button.click().run()
    assert "0 of 1 cases done · 1 left" in app.get("progress")[0].proto.text
