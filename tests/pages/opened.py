"""A page as an address opens it, when its background work is done."""

import json
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from core import read
from core.library import keep
from pages.shared.cache.datasets import LANES, jobs
from tests.speed import scaled

APP = str(Path(__file__).resolve().parents[2] / "app.py")
PATIENCE = scaled(600.0)  # seconds that background work may take beside everything else


def settle(app: AppTest) -> AppTest:
    """Run until nothing is at work any more, and what opens in the end is open.

    A job may end while the page is drawn, after the page has looked for it: then the page is drawn once more.
    """
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        waited = [job.wait(60) for job in jobs().unfinished() if job.cost == LANES["opening"]]
        if not (any(waited) or at_work(app) or out_of_date(app)):
            assert not app.exception, [entry.value for entry in app.exception]
            return app
        app.run()
    raise AssertionError("still at work")


def at_rest(app: AppTest) -> AppTest:
    """Run until nothing that the page asks for is at work, not even what only adds a mark."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        app = settle(app)
        asked = [job for job in jobs().unfinished() if job.unseen_since is None or job.unseen_since >= app.began]
        if not asked and not out_of_date(app):
            return app
        for job in asked[:1]:
            job.wait(2)  # less than what a job goes on that no page asks for
        app.run()
    raise AssertionError("still at work")


def out_of_date(app: AppTest) -> bool:
    """Whether a job has ended since the page began to be drawn; `note_runs` says when that was."""
    ended = (job.started + job.seconds for job in map(jobs().get, jobs().all_keys()) if job and job.started)
    return any(moment >= app.began for moment in ended)


def note_runs(monkeypatch) -> None:
    """Let every app know when it began to be drawn for the last time."""
    run = AppTest._run

    def noted(app, *given, **named):
        app.began = time.monotonic()
        return run(app, *given, **named)

    monkeypatch.setattr(AppTest, "_run", noted)


def at_work(app: AppTest) -> bool:
    """Whether the page shows work that can be cancelled; gives that a moment before the page is asked again."""
    if not any(button.key and button.key.startswith("cancel-") for button in app.button):
        return False
    for job in jobs().unfinished()[:1]:
        job.wait(2)  # less than what a job goes on that no page asks for
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


def unfold(app: AppTest, page: str) -> None:
    """Open what a page draws only once it is open, so that it is among what is recorded."""
    for key in {"upload": ("formats", "templates")}.get(page, ()):
        app.session_state[key] = True


def at(page: str, data: str | None = None, /, **address: str) -> AppTest:
    """A page that is about to be opened, by its address or with data that this session has open already."""
    app = AppTest.from_file(APP, default_timeout=300)
    if data is not None:
        app.session_state["data"] = data
    unfold(app, page)
    for part, value in address.items():
        app.query_params[part] = value
    # The name of the file is the page's part of the address, so that it is found before the first run.
    return app if page == "home" else app.switch_page(f"pages/{page}.py")


def opened(page: str, data: str) -> AppTest:
    """The page on a sample or a kept dataset."""
    return settle(at(page, data).run())


def kept(content: str, name: str = "made") -> str:
    """The address of a dataset made of this table."""
    dataset = read(content.encode(), name=name).dataset
    keep(dataset)
    return dataset.digest


def kept_small(n_cases: int) -> str:
    """The address of a dataset of three raters and two classes."""
    rows = [f"c{case},r{rater},{'ab'[(case + rater) % 3 == 0]}" for case in range(n_cases) for rater in range(3)]
    return kept("\n".join(["case,rater,class", *rows]))


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
