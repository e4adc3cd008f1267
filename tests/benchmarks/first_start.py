"""How long a first start takes: no kernel is compiled yet. Run: python tests/benchmarks/first_start.py [PAGE] [SAMPLE].

Seconds from the command to the first page of a browser, and to the figure, the table or the number of ``PAGE`` (cases)
of a sample (skin); processor seconds of the server until then, and those of what compiles, beside it. Target: 15 s.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
from playwright.sync_api import sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium

LONGEST = 240_000
FRAME = "() => document.querySelector('[data-testid=stMain] h1')"
CONTENT = """() =>
    [...document.querySelectorAll("[data-testid=stMain] .js-plotly-plot")].some((e) => e._fullData?.length)
    || document.querySelectorAll("[data-testid=stMain] [data-testid=stDataFrame] canvas").length > 0
    || [...document.querySelectorAll("[data-testid=stMetricValue]")].some((e) => /[0-9]/.test(e.textContent))"""


def spent(process: psutil.Process) -> float:
    """Processor seconds of one process."""
    return sum(process.cpu_times()[:2])


def main(page_name: str = "cases", sample: str = "skin") -> None:
    """Print one line."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        dashboard = Dashboard(Path(folder) / "home", NUMBA_CACHE_DIR=str(Path(folder) / "kernels")).start()
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(LONGEST)
            page.goto(f"{dashboard.url}/{page_name}?data={sample}")
            page.wait_for_function(FRAME)
            frame = time.monotonic() - dashboard.started
            page.wait_for_function(CONTENT, polling=50)
            content = time.monotonic() - dashboard.started
            server = psutil.Process(dashboard.process.pid)
            beside = sum(spent(child) for child in server.children(recursive=True))
            print(
                f"{page_name} of {sample}: heading {frame:.1f} s, content {content:.1f} s; "
                f"server {spent(server):.1f} CPU s, beside it {beside:.1f} CPU s; load {os.getloadavg()[0]:.1f}"
            )
        finally:
            dashboard.stop()
            browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
