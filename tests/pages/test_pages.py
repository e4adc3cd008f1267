"""Every page on every kind of data, without a browser."""

import re
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.belongings import add_predictions
from core.ingest.samples import SAMPLES
from core.runtime.result_cache import ResultStore
from pages.shared.cache import streamlit_private
from tests.golden.screens import file_of, shown
from tests.odd_data import ODD_DATA
from tests.pages.addresses import PAGES, UNRECORDED
from tests.pages.opened import (
    PATIENCE,
    at,
    at_rest,
    done,
    kept,
    labels_of,
    not_smoothed,
    opened,
    settle,
    unfold,
    words,
)

APP = str(Path(__file__).resolve().parents[2] / "app.py")

# Settings that hold the open tab of a page.
TABS = {
    "agreement": "agreement_tabs",
    "ai_rater": "ai_tabs",
    "cases": "cases_tabs",
    "models": "model_tabs",
    "raters": "rater_tabs",
    "review": "review_tabs",
    "reliability": "reliability_tabs",
}

# Samples whose every tab is looked at: rankings with classifiers, ordered classes, scores.
WITH_TABS = ("skin", "knees", "essays")
MINUTES = {("ai_rater", "skin"), ("ai_rater", "essays")}  # those of the machines are looked at on ordered classes


def open_page(page: str, data: str) -> AppTest:
    """The page as it stands when its background work is done."""
    return done(at(page, data).run())


def assert_sound(app: AppTest) -> None:
    """No exception, a heading, and no column that is called as in a file where people read it."""
    assert not app.exception, [entry.value for entry in app.exception]
    assert app.title
    for table in app.dataframe:
        assert not [label for label in labels_of(table) if "_" in label]


@pytest.fixture
def all_written(monkeypatch):
    """Whatever is computed is written: on a slow machine anything may take long enough to be worth it."""
    put, refused = ResultStore.put, []

    def noted(store, dataset, asked, result, owner):
        if not (written := put(store, dataset, asked, result, owner)):
            refused.append(asked)
        return written

    monkeypatch.setattr(ResultStore, "put", noted)
    monkeypatch.setattr("core.runtime.result_cache.STORED_FROM", 0.0)
    yield
    assert refused == []


@pytest.mark.usefixtures("checked_figures", "all_written")
@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_every_sample(page, sample, home, known_results, as_recorded):
    """No page raises, and each says and draws what is recorded."""
    known_results(home, "of samples")
    app = open_page(page, sample)
    assert_sound(app)
    assert not app.error
    app = at_rest(app)
    if page in ("cases", "review"):  # a case that opened as the first of those known by then stays open
        app = at_rest(open_page(page, sample))
    lines = shown(app)
    looked_at = sample in WITH_TABS and (page, sample) not in MINUTES
    for tab in [tab.label for tab in app.tabs][1:] if looked_at else []:
        app.session_state[TABS[page]] = tab
        lines += [f"== {tab}", *shown(at_rest(app.run()))]
    if page == "report":  # it marks what other pages have found, and asks for none of it
        lines = [line for line in lines if "gamma-" not in line]
    if sample not in UNRECORDED:
        as_recorded(file_of(sample, page), lines)


@pytest.mark.usefixtures("checked_figures", "all_written")
@pytest.mark.parametrize("name", ODD_DATA)
def test_every_page_and_every_tab_opens_with_odd_data(name, as_recorded):
    """What cannot be computed is said, never as a value of the machine; all is as recorded, and nothing raises."""
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = kept(ODD_DATA[name])
    settle(app.run())
    n_tabs, lines = 0, []
    for page in PAGES:
        unfold(app, page)
        app = settle(app if page == "home" else app.switch_page(f"pages/{page}.py").run())
        for tab in [tab.label for tab in app.tabs] or [None]:
            if tab is not None:
                app.session_state[TABS[page]] = tab
                settle(app.run())
                n_tabs += 1
            assert_sound(app)
            assert not app.error, (page, tab, app.error[0].value)
            found = re.search(r".*(\bnan\b|\binf\b|\bNone\b|np\.).*", words(app))
            assert found is None, (page, tab, found.group(0))
            lines += [f"== {page}" if tab is None else f"== {page} · {tab}", *shown(at_rest(app))]
    assert n_tabs >= 2
    as_recorded(file_of(name), lines)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_without_data(page):
    """Without data each page says how to get some, or does without."""
    assert_sound(at(page).run())


def test_an_address_that_leads_nowhere_says_what_to_do():
    """A digest that is not kept gives an error with a remedy, and the start page."""
    app = AppTest.from_file(APP, default_timeout=300)
    app.query_params["data"] = "0" * 32
    app.run()
    assert "Open the file again" in app.error[0].value
    assert app.title[0].value == "See where your raters agree, and where they do not"


def test_the_vote_start_and_the_best_restart_are_told_apart():
    """On the anaesthesia data 200 restarts find another mode, and the page says so."""
    app = settle(open_page("models", "anaesthesia"))  # chosen before its scores, it is what opens and no choice
    app = not_smoothed(settle(app.multiselect(key="models_chosen").set_value(["dawid-skene"]).run()))
    app.selectbox(key="restarts").set_value(200).run()
    said: list[str] = []
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        said = [entry.value for entry in app.warning if "more than one mode" in entry.value]
        if said:
            break
        app.run()
    assert said, [entry.value for entry in app.warning]
    assert "−191.569" in said[0] and "−192.891" in said[0]


def test_the_address_names_dataset_case_and_reliability():
    """What is on screen can be sent as an address."""
    app = at("home", data="anaesthesia", case="7", reliability="2.5").run()
    app.switch_page("pages/cases.py").run()
    assert app.query_params["data"] == "anaesthesia"
    assert app.query_params["case"] == "7"
    assert app.query_params["reliability"] == "2.5"
    assert app.slider(key="reliability").value == 2.5
    assert any(heading.value.startswith("Case 7 · certainty") for heading in app.subheader)


def test_a_press_before_the_browser_has_the_last_address_undoes_nothing(monkeypatch):
    """It brings the address before; who goes back in the browser, or had the last address, means it."""

    def presented_again(goes_back: bool, *, had_the_last: bool) -> bool:
        """Begun, ended, and then a message with the address of the presentation."""
        app = at("home", data="anaesthesia").run()
        app.session_state["presenting"] = 1
        app.run()
        assert app.query_params["presenting"] == "1"
        app.button(key="stop_presenting").click().run()
        assert "presenting" not in app.query_params
        if had_the_last:
            app.run()
        monkeypatch.setattr(streamlit_private, "is_history_navigation", lambda: goes_back)
        app.query_params["presenting"] = "1"
        app.run()
        assert ("presenting" in app.query_params) == ("presenting" in app.session_state)  # the browser is told
        return "presenting" in app.session_state

    assert not presented_again(False, had_the_last=False)
    assert presented_again(True, had_the_last=False)
    assert presented_again(False, had_the_last=True)


def test_a_file_of_predictions_that_does_not_fit_is_named_with_the_reason():
    """A selection may have none of its cases; the other file goes on being used."""
    data = kept("case,rater,class\n1,a,x\n2,b,y\n1,b,y\n2,a,y\n")
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = data
    files = {"fits": b"case,class,score\n1,x,1\n2,y,1\n", "of <others>": b"case,class,score\n7,x,1\n"}
    for name, content in files.items():
        add_predictions(data, name, content)
    app = settle(app.run().switch_page("pages/reliability.py").run())
    (warning,) = [entry.value.replace("\\", "") for entry in app.warning]
    assert warning.startswith("Could not use of <others>: none of the predicted cases is in these data")
    assert "Classifiers" in [tab.label for tab in app.tabs]


def test_the_table_of_a_sweep_has_words_on_screen_and_names_in_its_file():
    """No column is called as in a file where people read it."""
    app = opened("reliability", "anaesthesia")
    table = next(each for each in app.dataframe if "top1_se" in each.value)
    labels = labels_of(table)
    assert not [label for label in labels if "_" in label] and "top-1 SE" in labels


def test_the_table_of_a_sweep_has_no_sets_of_all_classes():
    app = opened("reliability", kept(ODD_DATA["two classes"]))
    table = next(each for each in app.dataframe if "top1_se" in each.value)
    assert not {"top2", "top2_se"} & set(table.value) and not table.value.isna().any(axis=None)


def test_the_report_page_shows_what_each_section_answers_and_the_file_says_the_same():
    app = open_page("report", "anaesthesia")
    (taken,) = (one for one in app.get("download_button") if one.proto.label == "Download report")
    answers = [text.value for text in app.markdown if text.value.startswith("**") and "  \n" in text.value]
    assert answers[0].startswith("**Do the raters agree?**") and len(answers) >= 3
    assert "are uncertain at γ \\= " in answers[-1]
    assert taken.label == "Download report"
