"""A page as an address opens it, when its background work is done."""

import json
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import read
from core.library import keep
from pages.shared.cache.datasets import LANES, jobs

APP = str(Path(__file__).resolve().parents[2] / "app.py")
PATIENCE = 600.0  # seconds that background work may take beside everything else


def settle(app: AppTest) -> AppTest:
    """Run until nothing is at work any more, and what opens in the end is open.

    A job may end between a run that did not see it done and the look for it: the run after the last look counts.
    """
    calm = 0
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        waited = [job.wait(60) for job in jobs().unfinished() if job.cost == LANES["opening"]]
        busy = any(waited) or at_work(app)
        calm = 0 if busy else calm + 1
        if calm == 2:
            assert not app.exception, [entry.value for entry in app.exception]
            return app
        app.run()
    raise AssertionError("still at work")


def at_work(app: AppTest) -> bool:
    """Whether the page shows work that can be cancelled; gives that a moment before the page is asked again."""
    if not any(button.key and button.key.startswith("cancel-") for button in app.button):
        return False
    for job in jobs().unfinished()[:1]:
        job.wait(0.5)
    return True


def done(app: AppTest) -> AppTest:
    """Run until nothing is at work that can be cancelled."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert not app.exception, [entry.value for entry in app.exception]
        if not at_work(app):
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


def labels_of(table) -> list[str]:
    """What stands over the columns of a table on screen."""
    said = json.loads(table.proto.columns or "{}")
    shown = [column for column in table.value if not said.get(column, {}).get("hidden")]
    return [str(said.get(column, {}).get("label") or column) for column in shown]


def not_smoothed(app: AppTest) -> AppTest:
    """The Models page by plain maximum likelihood."""
    box = next(box for box in app.selectbox if box.key and box.key.startswith("smoothing-"))
    return settle(box.set_value("none").run())
