"""How long a person waits, in a real browser. Run: python tests/benchmarks/waits.py [Cases] [Story] [--busy].

Seconds from a click to the first useful content and until nothing is at work any more, with the server's processor
seconds until then: of every page, of each step of the story and of its presentation, and of Present on a finished step.
Useful is a figure with data, a table, a number, a step's sentence, or what the page asks for (a file, a name, a
press). A heading, a bar, a note and what stood there before are not; of a report, what its first section answers. The
data are the sample of skin diagnoses; so that a page is not helped by the one before, each has another rater left out
(Review, which takes all data, has all).
"Cold" is a new home folder on a server that has loaded its kernels, "store" a second server on the same folder.
Words choose pages, Story and Presented; ``--busy`` is beside two busy loops. Targets: 1.5 s, busy 4 s, Present 1 s.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from core.ingest.samples import read_sample
from core.runtime.first_start import Preparation
from core.story import STEPS
from tests.benchmarks.pages import spent
from tests.browser.server import CHROMIUM_FLAGS, ROOT, Dashboard, find_chromium
from tests.browser.steps import settled

SAMPLE = "skin"
PAGES = {
    "Home": "",
    "Upload": "[data-testid=stFileUploader]",
    "Agreement": "",
    "Models": "[data-testid=stMain] [role=tablist]",
    "Raters": "",
    "Cases": "",
    "Review": "input",
    "Reliability": "",
    "Report": ".st-key-report_answers p, [data-testid=stDownloadButton]",
}
MOST = {"quiet": 1.5, "busy": 4.0}
MOST_TO_PRESENT = 1.0
LONGEST = 600_000
LEAVE = ".st-key-story_leave"  # of a step, but not in a presentation
# On screen and not about to be replaced, once the run that the click asked for has begun.
TITLE = "(document.querySelector('[data-testid=stMain] h1')?.textContent ?? '')"
CONTENT = """([before, asked, step, left, gone]) => {
    if (window.runs <= before || window.pending() === "a run that was asked for") return false;
    if (left && @@TITLE@@ === left) return false; // the page before still stands
    if (gone && document.querySelector(gone)) return false; // what is shown is shown as before
    const all = (what) => [...document.querySelectorAll(`[data-testid=stApp] :is(${what})`)].filter((each) =>
        each.checkVisibility() && !each.closest("[data-stale=true]"));
    const small = "[data-testid=stCaptionContainer], button";
    const words = all(".st-key-story_bar p").filter((each) => !each.closest(small));
    if (step && !words.some((each) => each.textContent.startsWith(step))) return false;
    return (step && words.length > 1) || (asked && all(asked).length > 0)
        || all("[data-testid=stMain] .js-plotly-plot").some((each) => each._fullData?.length)
        || all("[data-testid=stMetricValue]").some((each) => /[0-9]/.test(each.textContent))
        || all("[data-testid=stMain] [data-testid=stDataFrame] canvas").length > 0;
}""".replace("@@TITLE@@", TITLE)
Waited = tuple[str, str, float, float, float]


def calm(dashboard: Dashboard) -> None:
    """Wait until a server and its workers have nothing left to do, kernels loaded, nothing of a page that was left."""
    server, before = psutil.Process(dashboard.process.pid), {}
    while True:
        now = {}
        for process in (server, *server.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # a worker that ends meanwhile
                now[process.pid] = sum(process.cpu_times()[:2])
        if now.keys() <= before.keys() and all(now[pid] - before[pid] < 0.1 for pid in now):
            return
        before = now
        time.sleep(1.5)


@contextmanager
def opened(browser: Browser, home: Path) -> Iterator[tuple[Page, Dashboard]]:
    """A new server on a home folder, and its Settings page, at rest."""
    dashboard = Dashboard(home).start()
    page = browser.new_page(viewport={"width": 1440, "height": 1000}, reduced_motion="reduce")
    page.set_default_timeout(LONGEST)
    page.add_init_script(path=ROOT / "tests" / "browser" / "runs.js")
    try:
        page.goto(f"{dashboard.url}/settings?data={SAMPLE}")
        settled(page)
        calm(dashboard)
        yield page, dashboard
    finally:
        page.close()
        dashboard.stop()


def waited(
    page: Page,
    dashboard: Dashboard,
    act: Callable[[], object],
    asked: str = "",
    step: str = "",
    left: str = "",
    gone: str = "",
) -> tuple[float, float, float]:
    """Seconds from an act to the first useful content, processor seconds until then, seconds until all is done.

    ``left`` is the title of the page that the act leaves, which may stand for a moment after the run has begun;
    ``gone`` is what the act takes off the page.
    """
    runs, used = page.evaluate("window.runs"), spent(dashboard.process)
    started = time.monotonic()
    act()
    page.wait_for_function(CONTENT, arg=[runs, asked, step, left, gone], polling=20)
    first, used = time.monotonic() - started, spent(dashboard.process) - used
    settled(page)
    return first, used, time.monotonic() - started


def button(page: Page, name: str) -> Callable[[], object]:
    """A press of a button by the beginning of its name."""
    return page.get_by_role("button", name=name).first.click


def of_pages(browser: Browser, titles: list[str]) -> Iterator[Waited]:
    """Each page from Settings; of Review also the queue after the name, and the first case."""
    raters = read_sample(SAMPLE).dataset.raters
    with tempfile.TemporaryDirectory() as home:
        for kind in ("cold", "store"):
            with opened(browser, Path(home)) as (page, dashboard):
                for number, title in enumerate(titles):
                    left_out = [name for place, name in enumerate(raters) if place != number]
                    chosen = "" if title == "Review" else json.dumps({"raters": left_out})
                    page.goto(f"{dashboard.url}/settings?data={SAMPLE}&select={chosen}")
                    settled(page)
                    calm(dashboard)
                    link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True)
                    yield title, kind, *waited(page, dashboard, link.click, PAGES[title], left=page.evaluate(TITLE))
                    if title == "Review":
                        yield from _begun(page, dashboard, kind)


def _begun(page: Page, dashboard: Dashboard, kind: str) -> Iterator[Waited]:
    page.get_by_label("Your name").fill("Ada")
    start, case = ".st-key-start_session button", ".st-key-review_main button"
    yield "Review, queue", kind, *waited(page, dashboard, lambda: page.keyboard.press("Enter"), start)
    yield "Review, first case", kind, *waited(page, dashboard, button(page, "Start with"), case)


def of_story(browser: Browser) -> Iterator[Waited]:
    """Each step from the one before; where all of it is there, Present on it."""
    with tempfile.TemporaryDirectory() as home:
        for kind in ("cold", "store"):
            with opened(browser, Path(home)) as (page, dashboard):
                for number in range(1, len(STEPS) + 1):
                    act, step = (
                        button(page, "Next: " if number > 1 else "Tour"),
                        f"Step {number} of",
                    )
                    yield f"Step {number}", kind, *waited(page, dashboard, act, step=step)
                    calm(dashboard)
                    present = button(page, "Present")
                    found = waited(page, dashboard, present, step=step, gone=LEAVE)
                    yield f"Present on step {number}", kind, *found
                    button(page, "End presentation")()
                    settled(page)


def of_presentation(browser: Browser) -> Iterator[Waited]:
    """Each step of the story from the one before, in a presentation."""
    with tempfile.TemporaryDirectory() as home:
        for kind in ("cold", "store"):
            with opened(browser, Path(home)) as (page, dashboard):
                for name in ("Tour", "Present"):
                    waited(page, dashboard, button(page, name), step="Step 1 of")
                for number in range(2, len(STEPS) + 1):
                    found = waited(page, dashboard, button(page, "Next: "), step=f"Step {number} of")
                    yield f"Step {number} presented", kind, *found


def waits(browser: Browser, asked: list[str]) -> Iterator[Waited]:
    """Of the pages and parts that are asked for, or of all."""
    parts = {"Story": of_story, "Presented": of_presentation}
    whole = not {*PAGES, *parts} & {*asked}
    if titles := [title for title in PAGES if whole or title in asked]:
        yield from of_pages(browser, titles)
    for name, part in parts.items():
        if whole or name in asked:
            yield from part(browser)


def main(asked: list[str]) -> None:
    """A line for each wait, as it is known."""
    Preparation().wait()  # or the servers would compile
    around = "busy" if "--busy" in asked else "quiet"
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (around == "busy"))]
    late, n = [], 0
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
            for what, kind, first, used, whole in waits(browser, asked):
                most = MOST_TO_PRESENT if what.startswith("Present on") and around == "quiet" else MOST[around]
                late += [f"{what} ({kind}) {first:.1f} s"] if first > most else []
                n += 1
                print(
                    f"{what:20s} {kind:6s} first {first:6.2f} s ({used:.2f} CPU s), whole {whole:6.2f} s, "
                    f"load {os.getloadavg()[0]:.1f} {f'> {most:g} s' if first > most else ''}",
                    flush=True,
                )
            browser.close()
    finally:
        for loop in loops:
            loop.kill()
    print(f"{around}: {len(late)} of {n} over their target: {', '.join(late) or 'none'}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
