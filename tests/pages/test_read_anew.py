"""The question whether what an earlier version kept of a file is brought over, on the pages that open the file."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from core import belongings, library, read
from core.changes import recorded_changes
from core.ingest import saved_mappings
from core.ingest.formats.detect import open_source
from core.library import present_digest
from core.review import store as reviews
from core.settings import current_settings
from pages.shared.cache import datasets as cached
from tests.core.earlier_home import DIGESTS, TOLD, put_in
from tests.pages.opened import at, done, opened, settle

SIGNED = DIGESTS["signed.csv"]


@pytest.fixture(autouse=True)
def earlier_home(home):
    """The home folder of the earlier version; its store is closed in the end."""
    put_in(home)
    yield
    reviews.close_stores()


def brought(name: str, content: str | None = None) -> AppTest:
    """Home after the file was opened on the Upload page, which AppTest draws without the frame that asks."""
    app = at("upload").run()
    app.file_uploader[0].set_value([(name, (content or TOLD["inputs"][name]).encode(), "")]).run()
    app = done(app)
    if codes := [one for one in app.radio if one.key.startswith("codes-")]:
        app = done(codes[0].set_value(True).run())
    return opened("home", done(app.button(key="use").click().run()).session_state["data"])


def asked(app: AppTest) -> list[str]:
    words = [one.value.replace("\\", "") for one in app.markdown]
    return [
        one
        for one in words
        if "**Reuse work that you saved with an older version of Plurality?** Found" in one
        or "**Update this dataset" in one
    ]


def test_a_file_is_asked_about_once_and_everything_is_brought_over():
    app = brought("signed.csv")
    (said,) = asked(app)
    assert "9 review steps" in said
    now = app.session_state["data"]
    app = settle(app.button(key="bring_over").click().run())
    assert asked(app) == []
    assert (present_digest(SIGNED), reviews.n_reviews(now)) == (now, 10)
    assert [(one.what, one.details) for one in recorded_changes(now)][-1] == ("bring over", (SIGNED,))
    assert asked(brought("signed.csv")) == []


@pytest.mark.parametrize("n_others", [0, 2])
def test_what_other_questions_of_the_file_do_not_get_is_stated(n_others):
    now = brought("signed.csv").session_state["data"]
    others = {f"q{place}": DIGESTS[name] for place, name in enumerate(["excel.csv", "signed.csv"][:n_others])}
    belongings.set_questions(now, {"signed": now} | others)
    captions = [one.value for one in opened("home", now).caption]
    assert any("For the other 2 questions in the file" in one for one in captions) == (n_others == 2)
    assert any("other" in one and "in the file, mark AI raters" in one for one in captions) == (n_others > 0)


def test_nothing_is_lost_or_asked_again_if_the_answer_is_to_keep_it_separate():
    before = {path: path.read_bytes() for path in kept_files()}
    app = brought("signed.csv")
    app = settle(app.button(key="leave_apart").click().run())
    assert asked(app) == []
    assert asked(brought("signed.csv")) == []
    assert {path: path.read_bytes() for path in kept_files()} == before
    assert (library.is_kept(SIGNED), reviews.n_reviews(SIGNED)) == (True, 9)


@pytest.mark.parametrize("page", ["home", "agreement"])
def test_every_page_asks_of_a_kept_dataset_whose_classes_are_out_of_order_and_opens_it_in_order(page):
    app = at(page, SIGNED).run()  # in which AppTest draws the frame, and in no later one
    (said,) = asked(app)
    assert "Saved order of the classes: 0 < 1 < 2 < -1 < -2. Current order: -2 < -1 < 0 < 1 < 2." in said
    app = settle(app.button(key="bring_over").click().run())
    now = app.session_state["data"]
    assert library.reopen(now).classes == ("-2", "-1", "0", "1", "2")
    assert asked(app) == []
    again = settle(at("home", data=SIGNED).run())  # the address of before
    assert again.session_state["data"] == now


def test_a_kept_dataset_is_kept_as_saved_if_that_is_the_answer():
    app = opened("home", SIGNED)
    app = settle(app.button(key="leave_apart").click().run())
    assert asked(app) == []
    assert asked(at("agreement", SIGNED).run()) == []
    assert library.reopen(SIGNED).classes == ("0", "1", "2", "-1", "-2")


def test_a_kept_dataset_with_a_token_for_missing_as_a_class_is_asked_about():
    (said,) = asked(opened("home", DIGESTS["excel.csv"]))
    assert "3 annotations (#N/A, NaT) now count as missing." in said


def test_a_tab_with_the_earlier_data_goes_on_with_the_present_ones():
    tab, other = opened("home", SIGNED), opened("home", SIGNED)
    now = settle(other.button(key="bring_over").click().run()).session_state["data"]
    tab = settle(tab.run())
    assert tab.session_state["data"] == now
    assert not tab.error


def test_nothing_is_asked_of_a_file_under_which_nothing_is_kept():
    assert asked(brought("new.csv", "case,a,b\n1,-1,1\n2,0,-2\n3,2,2\n4,-1,-1\n")) == []


def test_the_order_of_ordered_classes_is_stated_in_the_sidebar_and_in_exports():
    classes = ["none", "mild", "moderate", "severe"]
    reading = read(TOLD["inputs"]["words.csv"].encode(), classes=classes, ordinal=True)
    library.keep(reading.dataset)
    said = [one.value.replace("\\", "") for one in opened("home", reading.dataset.digest).sidebar.caption]
    assert "Order, low to high: none < mild < moderate < severe" in said
    for page in ("agreement", "cases"):
        code = [one.value for one in opened(page, reading.dataset.digest).code if one.value.startswith("{")]
        assert [json.loads(text)["order"] for text in code] == [classes]


def test_a_saved_choice_of_an_alphabetical_scale_is_offered_in_the_order_of_the_scale():
    source = open_source([("words.csv", TOLD["inputs"]["words.csv"].encode())])
    (question,) = source.questions
    classes = ("mild", "moderate", "none", "severe")  # as the earlier version saved them
    saved_mappings.remember(source, question, saved_mappings.Choices(question.mapping, classes=classes, ordinal=True))
    app = at("upload").run()
    app.file_uploader[0].set_value([("words.csv", TOLD["inputs"]["words.csv"].encode(), "")]).run()
    app = done(app)
    (again,) = [one for one in app.toggle if one.key.startswith("as_last_time-")]
    app = done(again.set_value(True).run())
    digest = done(app.button(key="use").click().run()).session_state["data"]
    dataset = cached.registry().get(digest).dataset
    assert (dataset.classes, dataset.ordinal) == (("none", "mild", "moderate", "severe"), True)
    assert len(asked(opened("home", digest))) == 1


def kept_files() -> list:
    home = current_settings().home
    return sorted(
        path for folder in ("datasets", "belongings") for path in (home / folder).rglob("*") if path.is_file()
    )
