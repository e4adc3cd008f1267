"""AI as a rater: who is a machine is asked and kept, what is said is so, and machines count nowhere else."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.belongings import add_predictions, machines_of, mark_machines
from core.library import keep
from core.machines.alternative_test import alternative_test, people_in_its_place
from core.machines.equivalent_readers import equivalent_readers
from core.machines.marks import Machine
from core.machines.rates import machine_rates, people_labels
from core.machines.sentences import verdict
from core.review.opinions import Opinion
from core.review.random_sample import random_sample
from core.review.reviewer_session import Desk
from core.review.sessions import Queued
from core.review.store import ReviewStore, close_stores
from core.text import percent_with_interval, with_interval
from pages.shared.cache.datasets import open_dataset
from tests.core.machines.conftest import simulated
from tests.pages.opened import APP, kept, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


@pytest.fixture(scope="module")
def made():
    return simulated(3, [0.85, 0.8, 0.8, 0.85], [0.85, 0.4], n_cases=150, n_classes=3, present=1.0)


@pytest.fixture
def address(made):
    keep(made)
    mark_machines(made.digest, [Machine("m0", "M", "1"), Machine("m1", "M", "2")])
    return made.digest


def test_where_nobody_is_left_to_compare_with_the_page_says_whose_annotations_are_missing():
    for people, missing in (
        ((), "every rater is marked as an AI rater"),
        (("a",), "only one rater is a person"),
    ):
        rows = [f"{c},{r},{'xy'[c % 2]}" for c in range(4) for r in (*people, "gpt-4", "gpt-5")]
        data = kept("\n".join(["case,rater,class", *rows]))
        mark_machines(data, [Machine("gpt-4"), Machine("gpt-5")])
        said = words(opened("ai_rater", data))
        assert missing in said and "Open a file that also contains people's annotations of these cases." in said


def test_a_machine_that_is_silent_on_some_cases_is_said_to_be():
    rows = [f"{c},{r},{'xy'[c % 2]}" for c in range(40) for r in ("a", "b", "gpt-4") if r != "gpt-4" or c < 32]
    data = kept("\n".join(["case,rater,class", *rows]))
    mark_machines(data, [Machine("gpt-4")])
    said = words(opened("ai_rater", data))
    assert (
        "8 of 40 cases with annotations by at least two people were left out because gpt-4 did not annotate them. "
        "If those cases are hard, ρ is "
        "too high." in said
    )


def test_two_cases_have_no_interval_on_any_tab():
    rows = [f"{c},{r},{'xy'[c % 2]}" for c in range(2) for r in ("a", "b", "d", "gpt-4")]
    data = kept("\n".join(["case,rater,class", *rows]))
    mark_machines(data, [Machine("gpt-4")])
    app = opened("ai_rater", data)
    app.session_state["ai_tabs"] = "Disagreements"
    assert table(settle(app.run()), "advantage of raters")[["95% from", "to"]].isna().all(axis=None)
    app.session_state["ai_tabs"] = "Equivalent raters"
    assert table(settle(app.run()), "compared by")[["95% from", "to"]].to_numpy().tolist() == [["–", "–"]]


def test_machines_are_marked_by_a_press_and_kept():
    rows = [f"{c},{r},{'xy'[(c + (r == 'b')) % 2]}" for c in range(4) for r in ("a", "b", "gpt-4", "gpt-5")]
    data = kept("\n".join(["case,rater,class", *rows]))
    app = opened("ai_rater", data)
    assert "No AI raters yet" in words(app)
    app = settle(next(b for b in app.button if b.label == "Mark them").click().run())
    assert machines_of(data) == (Machine("gpt-4", "GPT", "4"), Machine("gpt-5", "GPT", "5"))
    assert app.title[0].value.startswith("Too few cases to determine whether an AI rater")
    app = settle(next(b for b in app.text_input if b.key == "machine_pattern").set_value("B*").run())
    settle(next(b for b in app.button if b.key == "mark_matching").click().run())
    assert [one.name for one in machines_of(data)] == ["gpt-4", "gpt-5", "b"]


def table(app, column):
    return next(frame.value for frame in app.dataframe if column in frame.value)


def test_the_title_is_the_verdict_and_the_table_has_a_row_a_machine(address, made):
    app = opened("ai_rater", address)
    found = alternative_test(made, ["m0", "m1"])
    assert app.title[0].value == verdict(found)
    assert "replace a rater" in app.title[0].value
    rows = table(app, "may replace a rater")
    people = made.raters[:4]
    assert rows["machine"].tolist() == ["m0", "m1"] and rows["may replace a rater"].tolist() == ["yes", "no"]
    assert rows["holds against"].tolist() == [f"{one.n_rejected} of 4" for one in found.machines]
    assert rows["advantage ρ"].tolist() == [with_interval(m.rho, m.rho_low, m.rho_high) for m in found.machines]
    assert rows["worth in raters"].tolist() == [equivalent_readers(made, m, people).words() for m in ("m0", "m1")]
    assert [one.pass_share for one in found.machines] == [0.9995, 0]
    assert rows["passes in resamples"].tolist() == ["99%", "0%"], "100% is for all of them"
    assert rows["cases"].tolist() == [150, 150] and rows["cases to pass"].iloc[1] == "no number of cases is enough"
    passing = [one for one in people_in_its_place(made, people=people) if one.passes]
    assert f"{len(passing)} of 4 raters would pass the same test" in words(app)


def test_every_tab_has_its_numbers_and_differing_cases_go_to_review(address, made):
    app = opened("ai_rater", address)
    for tab, column in {
        "Against each rater": "passes from ε",
        "Disagreements": "advantage of raters",
        "Equivalent raters": "compared by",
    }.items():
        app.session_state["ai_tabs"] = tab
        assert table(settle(app.run()), column)["machine"].unique().tolist() == ["m0", "m1"]
    for tab, said in {
        "Against each rater": "Each rater in turn takes the place of the AI rater",
        "Versions": "M: agreement with people fell by",
        "Errors": "Who shares errors?",
        "Disagreements": "The panel is confident about",
    }.items():
        app.session_state["ai_tabs"] = tab
        assert said in words(settle(app.run()))
    app = settle(next(b for b in app.button if b.key == "review_differing").click().run())
    data, title, cases = app.session_state["review_proposed"]
    assert (data, title) == (address, "m0 differs") and set(cases) <= set(made.cases)
    assert app.session_state["review_seen"] == {(made.digest, case_id) for case_id in cases}  # with the panel's class


def test_which_panels_are_decided_is_provisional_while_the_trust_is_chosen_and_no_longer(address, monkeypatch):
    app = opened("ai_rater", address)
    app.session_state["ai_tabs"] = "Disagreements"
    assert "Provisional" not in words(settle(app.run())), "all is chosen"
    monkeypatch.setattr("pages.shared.ai_rater.computed.may_move", lambda *_: True)
    assert "Provisional: γ is still being chosen from the data" in words(settle(app.run()))


def test_predictions_of_a_marked_machine_are_its_probabilities_and_no_further_machine(address, made):
    rows = [f"{made.cases[made.case_of_annotation[a]]},{made.classes[made.answer[a]]},0.9997"
            for a in range(made.n_annotations) if made.raters[made.rater[a]] == "m0"]  # fmt: skip
    add_predictions(address, "m0", "\n".join(["case,class,score", *rows]).encode())
    app = opened("ai_rater", address)
    shown = table(app, "may replace a rater")
    assert shown["machine"].tolist() == ["m0", "m1"]
    assert shown["by its probabilities"].tolist() == ["less than 0", "–"]
    first = next(list(one.proto.column_order) for one in app.dataframe if "may replace a rater" in one.value)
    assert first.index("cases") < first.index("worth in raters"), "a number cut off reads as another one"
    add_predictions(address, "other", "\n".join(["case,class,score", *rows]).encode())
    shown = table(opened("ai_rater", address), "may replace a rater")
    assert shown["machine"].tolist() == ["m0", "other", "m1"], "classifiers have the colours of other pages"


def test_answers_in_a_file_of_their_own_are_a_machine_though_one_is_no_class_of_the_data(made):
    people = made.select(raters=made.raters[:4])
    keep(people)
    own = made.rater == made.raters.index("m0")
    said = dict(zip(made.case_of_annotation[own].tolist(), made.answer[own].tolist(), strict=True))
    told = {made.cases[case]: made.classes[code] for case, code in said.items()}
    table_of = "\n".join(["case,label", *(f"{case},{name}" for case, name in told.items())])
    for name, content in (
        ("gpt", table_of),
        ("odd", table_of.replace(f"c0,{told['c0']}\n", "c0,refused\n")),
        ("log", json.dumps({"eval": {"model": "lab/one"}, "samples": [
            {"id": case, "scores": {"s": {"value": 1, "answer": given}}} for case, given in told.items()]})),
    ):  # fmt: skip
        add_predictions(people.digest, name, content.encode())
    app = opened("ai_rater", people.digest)
    rows = table(app, "may replace a rater").set_index("machine")
    (alone,) = alternative_test(made.select(raters=made.raters[:5]), ["m0"]).machines
    expected = with_interval(alone.rho, alone.rho_low, alone.rho_high)
    assert rows.index.tolist() == ["gpt", "lab/one", "odd"] and rows["cases"].tolist() == [150] * 3
    assert rows["advantage ρ"].tolist()[:2] == [expected] * 2 and rows["advantage ρ"].iloc[2] != expected
    assert "by its probabilities" not in rows  # one class a case says nothing of the others


def test_machines_count_nowhere_else_unless_they_are_asked_for(address):
    assert "600 annotations" in words(opened("agreement", address))
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = address
    app = settle(app.run())
    assert "2 AI raters left out" in words(app)
    assert "150 cases · 4 raters · 2 AI raters · 900 annotations" in [entry.value for entry in app.caption]
    app = settle(next(b for b in app.button if b.key == "count_machines").click().run())
    assert "2 AI raters included as raters" in words(app)
    app = settle(app.switch_page("pages/agreement.py").run())
    assert "900 annotations" in words(app)


def test_two_cases_unanimity_and_one_annotation_a_case_are_said_as_they_are():
    two = kept("case,rater,class\n" + "".join(f"{c},{r},x\n" for c in (1, 2) for r in ("a", "b", "gpt")), "two")
    single = kept("case,rater,class\n" + "".join(f"{c},{'ab'[c % 2]},x\n{c},gpt,y\n" for c in range(40)), "single")
    for data in (two, single):
        mark_machines(data, [Machine("gpt")])
        app = opened("ai_rater", data)
        assert app.title[0].value == "Too few cases to determine whether “gpt” can replace a rater"


def test_two_raters_and_one_class_claim_no_more_than_they_can():
    rows = [f"{c},{r},{'xy'[(c * k) % 7 < 3]}" for c in range(40) for k, r in enumerate(("a", "b", "gpt"), 1)]
    two = kept("\n".join(["case,rater,class", *rows]), "pair")
    one = kept("case,rater,class\n" + "".join(f"{c},{r},x\n" for c in range(40) for r in ("a", "b", "gpt")), "one")
    for data, tab, said in (
        (two, "Against each rater", "the test needs at least three raters"),
        (two, "Errors", "this needs at least three people"),
        (one, "Errors", "Every case is labelled, so the AI rater is not used"),
    ):
        mark_machines(data, [Machine("gpt")])
        app = opened("ai_rater", data)
        app.session_state["ai_tabs"] = tab
        assert said in words(settle(app.run()))
    assert "random guesses would pass this test" in app.title[0].value
    assert table(app, "may replace a rater")["may replace a rater"].tolist() == ["like guessing"]
    app = settle(next(b for b in app.button if b.key == "draw_sample").click().run())
    assert (app.session_state["queue"], app.session_state["go_to"]) == ("sample", "review")


def test_rates_among_all_cases_say_what_the_labels_are_and_come_from_the_sample_of_a_review():
    rows = [f"{c},{r},{'xy'[c % 4 == 0]}" for c in range(12) for r in ("a", "b")]
    rows += [f"{c},gpt,{'xy'[c % 3 == 0]}" for c in range(60)]
    data = kept("\n".join(["case,rater,class", *rows]), "rates")
    mark_machines(data, [Machine("gpt")])
    whole = open_dataset(data).dataset
    app = opened("ai_rater", data)
    app.session_state["ai_tabs"] = "Errors"
    app = settle(app.run())
    found = machine_rates(whole, "gpt", people_labels(whole, ("a", "b")))
    shown = table(app, "corrected")
    assert shown["rate of"].tolist() == ["agreement with a person", "x", "y"]
    assert shown["corrected"].tolist() == [
        percent_with_interval(one.corrected.estimate, one.corrected.ci_low, one.corrected.ci_high)
        for one in found.rates
    ]
    assert "12 of 60 cases that the AI rater labelled also have a label from people" in words(app)
    assert "People make errors" in words(app)
    assert "these rates apply only to hard cases" in words(app) and "came from a queue" not in words(app)
    desk = Desk(ReviewStore(), whole, "Reader")
    (hard,) = desk.start("Lowest certainty first", [Queued("59", "certainty 0.5")]).cases
    desk.send(desk.draft(hard.case_id, "opinion", opinion=Opinion.of_class("y")), seen=0, token="hard")
    app = settle(app.run())
    assert "came from a queue, not from a random sample, so" in words(app) and "apply to these cases" not in words(app)
    sample = random_sample(whole, 50, 1)
    session = desk.start(sample.name, sample.batch(whole, 60))
    for one in session.cases[:20]:
        desk.send(desk.draft(one.case_id, "opinion", opinion=Opinion.of_class("x")), seen=0, token=one.case_id)
    app = settle(app.run())
    app = settle(next(box for box in app.segmented_control if box.key == "rates_source").set_value("sample").run())
    assert (
        "20 of the reviewed cases came from a random sample and are used to estimate rates among all cases. The others "
        "(1 from queues) are not used." in words(app)
    )
    assert table(app, "corrected")["rate of"].tolist()[0] == "being right"
    assert "20 of 60 cases that the AI rater labelled also have a label in the random sample" in words(app)
    assert "in the sample have not been reviewed yet. The sample is in random order" in words(app)
    close_stores()


def test_a_machine_whose_leads_are_unknown_is_named_with_the_reason():
    rows = [f"{c},{r},{'xy'[(c + (r == 'b')) % 3 == 0]}" for c in range(40) for r in ("a", "b", "c", "gpt-4")]
    rows += [f"{c},gpt-5,x" for c in range(40, 60)]
    data = kept("\n".join(["case,rater,class", *rows]), "apart")
    mark_machines(data, [Machine("gpt-4"), Machine("gpt-5")])
    app = opened("ai_rater", data)
    app.session_state["ai_tabs"] = "Disagreements"
    said = words(settle(app.run()))
    assert "gpt-5 is not shown: " in said and "gpt-4 is not shown" not in said


def test_anonymous_annotations_are_no_dead_end():
    app = opened("ai_rater", "dermatology")
    assert "anonymous" in app.info[0].value and "Reliability" in app.info[0].value
    assert [link.proto.page for link in app.get("page_link")][-1] == "reliability"


def test_the_line_on_first_choices_counts_those_of_raters_without_the_classifiers():
    assert "of 1,690 rankings. 187 rankings with a tied first choice were left out" in words(opened("ai_rater", "skin"))
