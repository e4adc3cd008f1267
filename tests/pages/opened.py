"""A page as an address opens it, when its background work is done."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import read
from core.library import keep
from pages.shared.cache.datasets import LANES, jobs

APP = str(Path(__file__).resolve().parents[2] / "app.py")
MOST_RUNS = 200


def settle(app: AppTest) -> AppTest:
    """Run until nothing is at work any more, and what opens in the end is open.

    A job may end between a run that did not see it done and the look for it: the run after the last look counts.
    """
    calm = 0
    for _ in range(MOST_RUNS):
        waited = [job.wait(60) for job in jobs().unfinished() if job.cost == LANES["opening"]]
        busy = any(waited) or any(button.key and button.key.startswith("cancel-") for button in app.button)
        calm = 0 if busy else calm + 1
        if calm == 2:
            assert not app.exception, [entry.value for entry in app.exception]
            return app
        app.run()
    raise AssertionError("still at work")


def opened(page: str, data: str) -> AppTest:
    """The page on a sample or a kept dataset."""
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = data
    app.run()
    return settle(app.switch_page(f"pages/{page}.py").run())


def kept(content: str, name: str = "made") -> str:
    """The address of a dataset made of this table."""
    dataset = read(content.encode(), name=name).dataset
    keep(dataset)
    return dataset.digest


def words(app: AppTest) -> str:
    """Everything that is said on the page."""
    kinds = (app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(str(entry.value) for kind in kinds for entry in kind).replace("\\", "")


def not_smoothed(app: AppTest) -> AppTest:
    """The Models page by plain maximum likelihood."""
    box = next(box for box in app.selectbox if box.key and box.key.startswith("smoothing-"))
    return settle(box.set_value("none").run())
