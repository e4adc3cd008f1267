"""One selection for all pages."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import belongings, library, load_sample
from core.annotations.named_selection import Selection
from tests.pages.opened import at, done, kept_small

APP = str(Path(__file__).resolve().parents[2] / "app.py")


def opened(page: str, **query) -> AppTest:
    """The page as an address opens it, when its background work is done."""
    return done(at(page, **query).run())


@pytest.mark.parametrize("page", ["home", "agreement", "models", "cases", "reliability"])
def test_every_page_works_on_a_selection(page, home, known_results):
    known_results(home)
    app = opened(page, data="skin", select=Selection(raters=("R01", "R02", "R03")).to_text())
    assert not app.exception and not app.error
    assert app.session_state["select"]


def test_the_agreement_is_that_of_the_selection():
    """Two raters meet on fewer cases than twelve."""
    whole = opened("agreement", data="skin").title[0].value
    assert opened("agreement", data="skin", select=Selection(raters=("R01", "R02")).to_text()).title[0].value != whole


def test_the_selection_is_said():
    """What it leaves, and a way back to everything."""
    app = opened("home", data="skin", select=Selection(raters=("R01", "R02", "R03")).to_text())
    assert any("3 of 12 raters" in entry.value for entry in app.markdown)
    assert any(button.key == "select_all" for button in app.button)
    app = opened("home", data="skin", select=Selection(raters=load_sample("skin").raters[1:]).to_text())
    assert any("**11 of 12 raters, without R01** · " in entry.value.replace("\\", "") for entry in app.markdown)


@pytest.mark.parametrize(
    ("text", "said"), [('{"raters":["nobody"]}', "Could not find rater"), ("{", "Could not read the selection")]
)
def test_a_selection_that_does_not_fit_is_said_and_let_go(text, said):
    app = AppTest.from_file(APP, default_timeout=300)
    app.query_params["data"], app.query_params["select"] = "caries", text
    app.run()
    assert not app.exception
    assert any(said in entry.value for entry in app.error)
    assert "select" not in app.query_params


def test_a_saved_filter_is_named_above_the_pages_and_listed_in_the_dialog():
    """The line shows the name, escaped, instead of the description; `tests/browser` opens and deletes the filter."""
    data, chosen = kept_small(4), Selection(least=2, most=3)
    belongings.add_selection(data, "some *more*", chosen.to_text())
    app = opened("home", data=data, select=chosen.to_text())
    assert any("**some \\*more\\*** ·" in entry.value for entry in app.markdown)
    described = chosen.words(library.reopen(data))
    assert not any(described in entry.value for entry in app.markdown)
    app.button(key="open_selection").click().run()
    assert any(described in entry.value for entry in app.markdown)
    assert {"named-0", "delete_named-0"} <= {button.key for button in app.button}
    belongings.remove_selection(data, "some *more*")
    assert any(described in entry.value for entry in app.run().markdown)


def test_what_counts_is_said_only_on_pages_on_which_it_changes_something():
    chosen, data = Selection(least=2).to_text(), kept_small(4)
    shown = {page: opened(page, data=data, select=chosen).button for page in ("settings", "upload", "home")}
    assert [any(button.key == "select_all" for button in shown[page]) for page in shown] == [False, False, True]
