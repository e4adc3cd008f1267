"""Several questions of one upload: opened together, switched between on every page, and compared."""

import io

import openpyxl
import pytest
from streamlit.testing.v1 import AppTest

from core import belongings, changes, library
from core.agreement.applicable_coefficients import coefficients_for
from core.ingest.read_files import read
from core.report.build import SECTIONS
from core.text import number
from pages.shared.cache import datasets as cached
from tests.core.ingest.test_several_questions import CLASSES, three_questions
from tests.pages.opened import at, at_rest, done
from tests.pages.test_upload import dropped, texts, use, widget


@pytest.fixture
def brought() -> AppTest:
    """An upload of three questions in use."""
    return use(dropped(("breast.csv", three_questions())))


def switch(app: AppTest):
    return widget(app, "selectbox", "question_in_use")


def digest(question: str) -> str:
    return read(three_questions(), question=question).dataset.digest


def test_all_questions_are_opened_by_one_click(brought):
    assert brought.session_state["data"] == digest("birads")
    assert cached.questions(digest("birads")) == {name: digest(name) for name in CLASSES}
    assert cached.registry().get(digest("density")).dataset.name == "breast · density"


def test_the_button_says_what_all_questions_hold_together():
    app = dropped(("breast.csv", three_questions()))
    assert app.button(key="use").label == "Use 3 questions, 180 annotations"
    widget(app, "toggle", "all_questions").set_value(False).run()
    assert done(app).button(key="use").label == "Use 60 annotations"
    assert not cached.questions(use(app).session_state["data"]) or app.session_state["data"] == digest("birads")


def test_opening_questions_together_is_recorded_once_for_each(brought):
    use(dropped(("breast.csv", three_questions())))
    for name in CLASSES:
        told = [one.what for one in changes.recorded_changes(digest(name))]
        assert told.count("open questions together") == 1, name


@pytest.mark.parametrize("page", ["agreement", "raters", "cases", "models", "report", "reliability", "review"])
def test_the_switch_is_on_every_page(page, brought):
    app = at(page, digest("density")).run()
    assert switch(app).value == "density" and list(switch(app).options) == list(CLASSES)


def test_the_switch_changes_the_data_and_the_address(brought):
    app = at("home", digest("birads")).run()
    switch(app).set_value("finding").run()
    assert app.session_state["data"] == digest("finding")
    assert app.query_params["data"] == digest("finding")
    assert switch(app).value == "finding"


def test_home_lists_each_question_with_its_agreement_and_opens_it_by_one_click(brought):
    app = at("home", digest("birads")).run()
    for name in CLASSES:
        quoted = coefficients_for(read(three_questions(), question=name).dataset).quoted
        assert app.button(key=f"question-{digest(name)}").label == f"{name} **{number(quoted.value)}**"
    app.button(key=f"question-{digest('finding')}").click().run()
    assert not app.exception and app.session_state["data"] == digest("finding")


@pytest.mark.usefixtures("brought")
def test_an_audience_sees_no_list_of_questions_whose_buttons_are_hidden():
    for address in ({}, {"presenting": "1"}):
        app = at("home", digest("birads"), **address).run()
        assert ("Questions in this upload" in texts(app)) == (not address)


def test_data_with_one_question_have_no_switch():
    app = at("home", "caries").run()
    assert not [one for one in app.selectbox if (one.key or "").startswith("question_in")]
    assert not [one for one in app.button if (one.key or "").startswith("question-")]


def test_the_questions_are_compared_on_agreement(brought):
    app = at("agreement", digest("density")).run()
    app.button(key="compare_questions").click().run()
    done(app)
    assert "This upload has 3 questions." in texts(app)
    (table,) = [one.value for one in app.dataframe if "n_flagged" in one.value.columns]
    assert list(table["question"]) == list(CLASSES)


def test_a_code_in_any_question_is_asked_about_once_and_left_out_of_all():
    app = dropped(("breast.csv", three_questions("-9")))
    assert not [button for button in app.button if button.key == "use"]
    widget(app, "radio", "codes").set_value(True).run()
    assert done(app).button(key="use").label == "Use 3 questions, 179 annotations"


def test_all_questions_are_saved_and_known_to_each_other_from_then_on(brought):
    cached.keep(cached.registry().get(digest("birads")))
    assert all(library.is_kept(digest(name)) for name in CLASSES)
    assert belongings.questions_of(digest("finding")) == {name: digest(name) for name in CLASSES}
    cached.forget(digest("density"))
    cached.registry().remove(digest("density"))
    assert list(cached.questions(digest("finding"))) == ["birads", "finding"]


def test_a_report_has_all_questions_if_they_are_wanted(brought):
    app = at_rest(at("report", digest("density")).run())
    for box in app.checkbox:
        if box.key.removeprefix("report_section-") in set(SECTIONS) - {"agreement"}:
            box.uncheck()
    app.run()
    widget(at_rest(app), "toggle", "report_questions").set_value(True).run()
    app = at_rest(app)
    assert [f"{name}: Do the raters agree?" in texts(app) for name in CLASSES] == [True] * 3


def test_the_preview_names_the_questions_of_other_columns():
    app = dropped(("breast.csv", three_questions()))
    (card,) = [one for one in app.selectbox if (one.key or "").startswith("role-") and one.label == "density"]
    assert "In “density”" in card.options and card.value == ""


def test_the_first_sheet_that_is_understood_is_proposed():
    """A workbook may begin with a sheet of notes."""
    book = openpyxl.Workbook()
    book.active.title = "Notes"
    book.active.append(["Ratings of May", ""])
    book.active.append(["Contact", "quality team"])
    sheet = book.create_sheet("Ratings")
    for row in (["case", "ann", "bob"], *([f"c{case}", "xy"[case % 2], "x"] for case in range(6))):
        sheet.append(row)
    book.save(content := io.BytesIO())
    app = dropped(("ratings.xlsx", content.getvalue()))
    assert app.selectbox(key="question").value == "Ratings"
    assert app.button(key="use").label == "Use 12 annotations"
