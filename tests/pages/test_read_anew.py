"""The question whether what an earlier version kept of a file is brought over, on the pages that open the file."""

import pytest
from streamlit.testing.v1 import AppTest

from core import library
from core.library import present_digest
from core.review import store as reviews
from tests.core.earlier_home import DIGESTS, TOLD, put_in
from tests.pages.opened import at, done, opened, settle

SIGNED = DIGESTS["signed.csv"]


@pytest.fixture(autouse=True)
def earlier_home(home):
    """The home folder of the earlier version; its store is closed in the end."""
    put_in(home)
    yield
    reviews.close_stores()


def brought(name: str) -> AppTest:
    """The Upload page after the file was used."""
    app = at("upload").run()
    app.file_uploader[0].set_value([(name, TOLD["inputs"][name].encode(), "")]).run()
    app = done(app)
    return done(app.button(key="use").click().run())


def asked(app: AppTest) -> list[str]:
    return [one.value for one in app.markdown if "**Bring over" in one.value or "**Sort the classes" in one.value]


def test_upload_asks_once_and_brings_everything_over():
    app = brought("signed.csv")
    (said,) = asked(app)
    assert "9 steps of review" in said
    app = done(app.button(key=f"bring_over-{SIGNED}").click().run())
    assert asked(app) == []
    now = app.session_state["data"]
    assert (present_digest(SIGNED), reviews.n_reviews(now)) == (now, 10)
    assert asked(brought("signed.csv")) == []


def test_upload_does_not_ask_again_what_is_to_stay_where_it_is():
    app = brought("signed.csv")
    app = done(app.button(key=f"leave-{SIGNED}").click().run())
    assert asked(app) == []
    assert asked(brought("signed.csv")) == []
    assert library.is_kept(SIGNED)


def test_home_asks_of_a_kept_dataset_whose_classes_are_out_of_order_and_opens_it_in_order():
    app = opened("home", SIGNED)
    (said,) = asked(app)
    assert "Order now: " in said
    app = done(app.button(key=f"bring_over-{SIGNED}").click().run())
    now = app.session_state["data"]
    assert library.reopen(now).classes == ("-2", "-1", "0", "1", "2")
    assert asked(app) == []
    again = settle(at("home", data=SIGNED).run())  # the address of before
    assert again.session_state["data"] == now


def test_nothing_is_asked_of_a_file_under_which_nothing_is_kept():
    app = at("upload").run()
    app.file_uploader[0].set_value([("new.csv", b"case,a,b\n1,-1,1\n2,0,-2\n3,2,2\n4,-1,-1\n", "")]).run()
    app = done(app)
    assert asked(done(app.button(key="use").click().run())) == []
