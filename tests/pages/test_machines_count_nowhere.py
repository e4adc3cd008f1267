"""Marked machines rank no worklist, enter no number of a review, and are marked in data that are made of these."""

import pytest
from streamlit.testing.v1 import AppTest

from core.belongings import machines_of, mark_machines
from core.machines.marks import Machine
from core.review.store import ReviewStore, close_stores
from tests.pages.opened import kept, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")

# People are split on "torn" and of one mind on "clear"; with the machines it would be the other way round. "one" has
# one person and two machines, "none" machines alone.
ANNOTATIONS = {
    "clear": {"a": "x", "b": "x", "c": "x", "m1": "y", "m2": "y", "m3": "y"},
    "torn": {"a": "x", "b": "y", "m1": "x", "m2": "x", "m3": "x"},
    "one": {"a": "x", "m1": "x", "m2": "x"},
    "none": {"m1": "x", "m2": "y"},
    **{f"more {n}": dict.fromkeys("abc", "xy"[n % 2]) for n in range(6)},
}
MACHINES = tuple(Machine(name, "M") for name in ("m1", "m2", "m3"))


@pytest.fixture(autouse=True)
def closed():
    yield
    close_stores()


@pytest.fixture
def data():
    rows = [f"{case},{rater},{said}" for case, given in ANNOTATIONS.items() for rater, said in given.items()]
    address = kept("\n".join(["case,rater,class", *rows]))
    mark_machines(address, MACHINES)
    return address


def signed(data) -> AppTest:
    return settle(opened("review", data).text_input(key="reviewer_field").set_value("Reader").run())


def press(app, label) -> AppTest:
    return settle(next(button for button in app.button if button.label.startswith(label)).click().run())


def listed(app, data, queue) -> list[str]:
    """The cases of a session of that queue, in their order."""
    app = settle(next(box for box in app.selectbox if box.key == "queue").set_value(queue).run())
    press(app, "Start with")
    return [one.case_id for one in max(ReviewStore().sessions_of_others(data, ""), key=lambda one: one.at).cases]


def test_the_first_screen_of_a_review_counts_only_cases_of_people(data):
    app = opened("review", data)
    told = [caption.value for caption in app.caption]
    assert "0 more started" in told and any(one.startswith("of 9 cases (certainty below") for one in told)
    assert len(ANNOTATIONS) == 10 and not any("of 10 cases" in one for one in told)


@pytest.mark.parametrize(
    ("queue", "first", "last"),
    [("certainty", "torn", "one"), ("split", "torn", "torn"), ("single", "one", "one")],  # one annotation comes last
)
def test_worklists_are_ranked_by_people_alone(data, queue, first, last):
    cases = listed(signed(data), data, queue)
    assert (cases[0], cases[-1]) == (first, last)
    assert "none" not in cases and (queue != "single" or cases == ["one"])


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (("vote", ""), ", for how often the leading class is correct"),
        (("machine", "m1"), ", for how often m1 is correct"),
        (("class", "x"), ", for the share of x"),
    ],
)
def test_a_sample_is_of_all_cases_also_of_those_that_machines_alone_have_annotated(data, target, words):
    app = signed(data)
    app = settle(next(box for box in app.selectbox if box.key == "queue").set_value("sample").run())
    app = settle(app.selectbox(key="sample_target").set_value(target).run())
    app = settle(app.number_input(key="sample_budget").set_value(len(ANNOTATIONS)).run())
    press(app, "Start with")
    (session,) = ReviewStore().sessions_of_others(data, "")
    assert {one.case_id for one in session.cases} == set(ANNOTATIONS)
    assert session.title.endswith(words)


def test_the_panel_of_a_review_is_of_people_and_machines_stand_apart(data):
    app = press(signed(data), "Start with")
    assert "torn" in words(app)
    app = press(press(app, "y"), "Record my opinion")
    assert "**Annotations by AI raters** (not counted here)" in words(app)
    (review,) = ReviewStore().cases(data).values()
    panel = next(event for event in review.events if event.kind == "reveal").panel
    assert review.case_id == "torn" and not panel.decided  # with the machines it would be x


def test_a_dataset_grown_by_decisions_has_the_same_machines(data):
    app = press(press(press(signed(data), "Start with"), "y"), "Record my opinion")
    app = press(press(app, "Keep my opinion"), "Leave")
    app.session_state["review_tabs"] = "Export"
    app = settle(app.run())
    app = settle(next(box for box in app.toggle if box.key == "adjudication_closed").set_value(True).run())
    grown = press(app, "Create dataset").session_state["data"]
    assert grown != data and machines_of(grown) == MACHINES


def test_machines_that_a_file_tells_of_can_all_be_unmarked():
    address = "0" * 32
    assert machines_of(address, MACHINES) == MACHINES
    mark_machines(address, ())
    assert machines_of(address, MACHINES) == ()


def test_scores_of_machines_rank_no_worklist_and_enter_no_panel_of_scores():
    rows = [f"{case},{rater},{case + off}" for case in range(8) for rater, off in (("a", -0.5), ("b", 0.5))]
    rows += [f"{case},m1,{case + (40 if case == 3 else 9)}" for case in range(8)] + ["8,m1,4"]
    data = kept("\n".join(["case,rater,score", *rows]))
    mark_machines(data, MACHINES[:1])
    app = press(signed(data), "Start with")
    (session,) = ReviewStore().sessions_of_others(data, "")
    cases = [one.case_id for one in session.cases]
    assert "8" not in cases and cases[0] != "3"
    app = settle(next(box for box in app.number_input if box.key.startswith("score-")).set_value(0.0).run())
    app = press(app, "Record my opinion")
    assert "**Annotations by AI raters** (not counted here)" in words(app)
    (review,) = ReviewStore().cases(data).values()
    panel = next(event for event in review.events if event.kind == "reveal").panel
    assert panel.score == pytest.approx(float(review.case_id), abs=0.6)
