"""How fast pages of large data open, and how much they send. Run: python tests/benchmarks/large_pages.py

20,000 cases with 60,000 annotations of 40 raters, and 2,000 raters with 60,000 annotations on 6,000 cases, kept and
opened in a real browser. Of every page: seconds from the click in the navigation until its heading stands and its
script has run for the first time (work in the background goes on, with its progress), the same again once that work is
done, and what the second opening sent. Target: 1.5 s each.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from core.annotations.dataset import Dataset
from core.library import keep
from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium

PAGES = ("Agreement", "Models", "Raters", "Cases", "Review", "Reliability", "Home")
SHAPES = (("20,000 cases", 20_000, 40, 3), ("2,000 raters", 6_000, 2_000, 10))
RUN = "[data-testid=stApp][data-test-script-state=notRunning]"
LONGEST = 600_000


def made(name: str, n_cases: int, n_raters: int, per_case: int) -> Dataset:
    """Annotations of raters who are right in .6 to .95 of cases of three classes, with dates."""
    rng = np.random.default_rng(7)
    case = np.repeat(np.arange(n_cases), per_case)
    rater = np.concatenate([rng.choice(n_raters, per_case, replace=False) for _ in range(n_cases)])
    truth = rng.choice(3, n_cases, p=(0.6, 0.3, 0.1))[case]
    right = rng.random(case.size) < rng.uniform(0.6, 0.95, n_raters)[rater]
    answer = np.where(right, truth, (truth + rng.integers(1, 3, case.size)) % 3)
    time_of = 1_700_000_000 + 86_400 * (case * 365 // n_cases)
    names = ([f"{kind}{number:05d}" for number in range(n)] for kind, n in (("case", n_cases), ("rater", n_raters)))
    return Dataset.from_classes(name, *names, ["normal", "benign", "malignant"], case, rater, answer, time_of)


def opened(page: Page, title: str) -> float:
    """Seconds from the click to a page that can be read."""
    started = time.monotonic()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    path = "/" if title == "Home" else f"/{title.lower()}"
    page.wait_for_function("path => location.pathname === path", arg=path)
    page.locator(RUN).wait_for(state="attached", timeout=LONGEST)
    page.get_by_role("heading", level=1).first.wait_for()
    return time.monotonic() - started


def main() -> None:
    """A line for every page and shape."""
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        os.environ["PLURALITY_HOME"] = home
        dashboard = Dashboard(Path(home)).start()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        for name, *shape in SHAPES:
            dataset = made(name, *shape)
            keep(dataset)
            received = [0]
            page = browser.new_page(viewport={"width": 1440, "height": 1000})

            def count(frame, received=received) -> None:
                received[0] += len(frame)

            page.on("websocket", lambda socket, count=count: socket.on("framereceived", count))
            page.goto(f"{dashboard.url}/settings?data={dataset.digest}")
            page.get_by_text(name).first.wait_for()
            page.wait_for_timeout(60_000)  # for the kernels, which load in the background after the start
            for title in PAGES:
                first = opened(page, title)
                expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=LONGEST)
                page.locator(RUN).wait_for(state="attached")
                page.get_by_test_id("stSidebarNav").get_by_role("link", name="Settings", exact=True).click()
                page.get_by_role("heading", name="Settings").wait_for()
                page.locator(RUN).wait_for(state="attached")
                page.wait_for_timeout(500)
                received[0] = 0
                again = opened(page, title)
                page.wait_for_timeout(1500)
                sent = f"{received[0] / 1000:,.0f} kB"
                print(f"{name}: {title:12s} first {first:.2f} s, again {again:.2f} s, {sent}", flush=True)
            page.close()
        browser.close()
        dashboard.stop()


if __name__ == "__main__":
    main()
