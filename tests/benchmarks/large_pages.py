"""How fast pages of large data open, and how much they send. Run: python tests/benchmarks/large_pages.py [WORDS]

20,000 cases with 60,000 annotations of 40 raters; 2,000 raters with 60,000 annotations on 6,000 cases; 10,000 cases
with 51 annotations each of 200 raters; kept and opened in a real browser. Of every page: seconds from the click in the
navigation until its first useful content (see `waits`) with the server's processor seconds until then, the same again
once its work in the background is done, and what the second opening sent. Words choose shapes by their beginnings.
Target: 1.5 s each; 3 s with 51 annotations a case.
"""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from playwright.sync_api import expect, sync_playwright

from core.annotations.dataset import Dataset
from core.library import keep
from core.runtime.first_start import Preparation
from tests.benchmarks import waits
from tests.browser.server import CHROMIUM_FLAGS, ROOT, Dashboard, find_chromium
from tests.browser.steps import settled

PAGES = ("Agreement", "Models", "Raters", "Cases", "Review", "Reliability", "Home")
SHAPES = (
    ("20,000 cases", 20_000, 40, 3),
    ("2,000 raters", 6_000, 2_000, 10),
    ("51 annotations a case", 10_000, 200, 51),
)
RUN = "[data-testid=stApp][data-test-script-state=notRunning]"
LONGEST = 600_000


def made(name: str, n_cases: int, n_raters: int, per_case: int) -> Dataset:
    """Annotations of raters who are right in 0.6 to 0.95 of cases of three classes, with dates."""
    rng = np.random.default_rng(7)
    case = np.repeat(np.arange(n_cases), per_case)
    rater = np.concatenate([rng.choice(n_raters, per_case, replace=False) for _ in range(n_cases)])
    truth = rng.choice(3, n_cases, p=(0.6, 0.3, 0.1))[case]
    right = rng.random(case.size) < rng.uniform(0.6, 0.95, n_raters)[rater]
    answer = np.where(right, truth, (truth + rng.integers(1, 3, case.size)) % 3)
    time_of = 1_700_000_000 + 86_400 * (case * 365 // n_cases)
    names = ([f"{kind}{number:05d}" for number in range(n)] for kind, n in (("case", n_cases), ("rater", n_raters)))
    return Dataset.from_classes(name, *names, ["normal", "benign", "malignant"], case, rater, answer, time_of)


def main(asked: list[str]) -> None:
    """A line for every page and shape."""
    Preparation().wait()  # or the server would compile
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        os.environ["PLURALITY_HOME"] = home
        dashboard = Dashboard(Path(home)).start()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        for name, *shape in SHAPES:
            if asked and not name.startswith(tuple(asked)):
                continue
            dataset = made(name, *shape)
            keep(dataset)
            received = [0]
            page = browser.new_page(viewport={"width": 1440, "height": 1000}, reduced_motion="reduce")
            page.set_default_timeout(LONGEST)
            page.add_init_script(path=ROOT / "tests" / "browser" / "runs.js")

            def count(frame, received=received) -> None:
                received[0] += len(frame)

            page.on("websocket", lambda socket, count=count: socket.on("framereceived", count))
            page.goto(f"{dashboard.url}/settings?data={dataset.digest}")
            page.get_by_text(name).first.wait_for()
            settled(page)
            waits.calm(dashboard)
            for title in PAGES:
                link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True)
                first, used, _ = waits.waited(
                    page, dashboard, link.click, waits.PAGES[title], left=page.evaluate(waits.TITLE)
                )
                expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=LONGEST)
                page.locator(RUN).wait_for(state="attached")
                page.get_by_test_id("stSidebarNav").get_by_role("link", name="Settings", exact=True).click()
                page.get_by_role("heading", name="Settings").wait_for()
                page.locator(RUN).wait_for(state="attached")
                page.wait_for_timeout(500)
                received[0] = 0
                again, used_again, _ = waits.waited(
                    page, dashboard, link.click, waits.PAGES[title], left=page.evaluate(waits.TITLE)
                )
                page.wait_for_timeout(1500)
                sent = f"{received[0] / 1000:,.0f} kB"
                print(
                    f"{name}: {title:12s} first {first:.2f} s ({used:.2f} CPU s), "
                    f"again {again:.2f} s ({used_again:.2f} CPU s), {sent}",
                    flush=True,
                )
            page.close()
        browser.close()
        dashboard.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
