"""Every page on every kind of data, without a browser."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import read
from core.ingest.samples import SAMPLES
from core.library import keep
from tests.pages.opened import not_smoothed

APP = str(Path(__file__).resolve().parents[2] / "app.py")
PAGES = ("home", "upload", "agreement", "models", "raters", "cases", "review", "reliability", "report", "settings")
MOST_RUNS = 60

ODD_DATA = {
    "scores": b"case,rater,score\n" + b"".join(b"%d,%d,%.1f\n" % (i // 3, i % 3, i * 0.7 % 5) for i in range(60)),
    "one rater": b"case,rater,class\n1,a,x\n2,a,y\n3,a,x\n",
    "one answer a case": b"case,rater,class\n1,a,x\n2,b,y\n3,a,x\n",
    "one class": b"case,rater,class\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n",
    "two classes": b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n",
    "one case": b"case,rater,class\n1,a,x\n1,b,y\n1,c,z\n",
    "only ties": b"case,rater,rank,class\n1,a,1,x\n1,a,1,y\n1,b,1,x\n1,b,1,z\n",
    "markup": b"case,rater,class\n<b>1</b>,![](h://x/y.png),=cmd()\n<b>1</b>,[a](b),:red[no]\n$2$,[a](b),<i>x\n",
}


def open_page(page: str, data: str) -> AppTest:
    """The page as it stands when its background work is done."""
    app = AppTest.from_file(APP, default_timeout=60)
    app.session_state["data"] = data
    app.run()
    if page != "home":
        app.switch_page(f"pages/{page}.py").run()
    for _ in range(MOST_RUNS):
        if not any(button.key and button.key.startswith("cancel-") for button in app.button):
            return app
        app.run()
    raise AssertionError(f"{page} is still at work")


def assert_sound(app: AppTest) -> None:
    """No exception, and a heading."""
    assert not app.exception, [entry.value for entry in app.exception]
    assert app.title


@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_every_sample(page, sample):
    """No page raises, and each opens with a sentence."""
    app = open_page(page, sample)
    assert_sound(app)
    assert not app.error


@pytest.mark.parametrize("name", ODD_DATA)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_with_odd_data(page, name):
    """What cannot be computed is said; nothing raises."""
    dataset = read(ODD_DATA[name], name=name).dataset
    keep(dataset)
    assert_sound(open_page(page, dataset.digest))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens_without_data(page):
    """Without data each page says how to get some, or does without."""
    app = AppTest.from_file(APP, default_timeout=60).run()
    if page != "home":
        app.switch_page(f"pages/{page}.py").run()
    assert_sound(app)


def test_an_address_that_leads_nowhere_says_what_to_do():
    """A digest that is not kept gives an error with a remedy, and the start page."""
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "0" * 32
    app.run()
    assert "Open its file again" in app.error[0].value
    assert app.title[0].value == "Ground truth that people disagree about"


def test_the_vote_start_and_the_best_restart_are_told_apart():
    """On the anaesthesia data 200 restarts find another mode, and the page says so."""
    app = not_smoothed(open_page("models", "anaesthesia"))
    app.selectbox(key="restarts").set_value(200).run()
    said: list[str] = []
    for _ in range(MOST_RUNS):
        said = [entry.value for entry in app.warning if "more than one mode" in entry.value]
        if said:
            break
        app.run()
    assert said, [entry.value for entry in app.warning]
    assert "-191.569" in said[0] and "-192.891" in said[0]


def test_the_address_names_dataset_case_and_reliability():
    """What is on screen can be sent as an address."""
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "anaesthesia"
    app.query_params["case"] = "7"
    app.query_params["reliability"] = "2.5"
    app.run()
    app.switch_page("pages/cases.py").run()
    assert app.query_params["data"] == "anaesthesia"
    assert app.query_params["case"] == "7"
    assert app.query_params["reliability"] == "2.5"
    assert app.slider(key="reliability").value == 2.5
    assert any(heading.value.startswith("Case 7 · certainty") for heading in app.subheader)
