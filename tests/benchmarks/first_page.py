"""How long the first page and a moved slider take, in a real browser. Run: python tests/benchmarks/first_page.py.

Targets: first page 3.5 s after the server is healthy and 6 s after the command; slider to redrawn case 0.5 s.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium

REPEATS = 5
SLIDER_STEPS = 12


def main() -> None:
    """Print one line per measurement."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        after_healthy, after_command = [], []
        for _ in range(REPEATS):
            with tempfile.TemporaryDirectory() as home:
                dashboard = Dashboard(Path(home)).start()
                try:
                    healthy = time.monotonic()
                    page = browser.new_page(viewport={"width": 1440, "height": 1000})
                    page.goto(dashboard.url)
                    page.get_by_role("heading", name="See where your raters agree, and where they do not").wait_for()
                    page.get_by_role("button", name="Open Anaesthesia").wait_for()
                    after_healthy.append(time.monotonic() - healthy)
                    after_command.append(time.monotonic() - dashboard.started)
                    page.close()
                finally:
                    dashboard.stop()
        print(f"first page after healthy:  {_summary(after_healthy)}")
        print(f"first page after command:  {_summary(after_command)}")
        with tempfile.TemporaryDirectory() as home:
            dashboard = Dashboard(Path(home)).start()
            try:
                print(f"slider to redrawn case:    {_summary(_slider(browser, dashboard))}")
            finally:
                dashboard.stop()
        browser.close()


def _slider(browser, dashboard: Dashboard) -> list[float]:
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(f"{dashboard.url}/cases?data=skin&case=skin-007&reliability=3")
    page.get_by_role("heading", name="skin-007").wait_for()
    page.get_by_text("of 400 cases, least certain first").wait_for()
    page.wait_for_timeout(3000)
    slider = page.get_by_role("slider").first
    # The case is redrawn when its dots, the draws, are others than before: plotly rewrites the figure's own data.
    bars = "() => { const p = document.querySelector('.st-key-bars .js-plotly-plot');"
    bars += " return p && p._fullData ? Array.from(p._fullData[1].x).join() : ''; }"
    times = []
    for _ in range(SLIDER_STEPS):
        before = page.evaluate(bars)
        slider.focus()
        started = time.monotonic()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"before => {{ const now = ({bars})(); return now && now !== before; }}", arg=before)
        times.append(time.monotonic() - started)
        page.wait_for_timeout(1500)
    return times


def _summary(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds):.2f} s, {min(seconds):.2f} to {max(seconds):.2f} s, n {len(seconds)}"


if __name__ == "__main__":
    main()
