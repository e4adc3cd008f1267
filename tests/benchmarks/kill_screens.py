"""What stands on screen while parts are killed. Run: python tests/benchmarks/kill_screens.py FOLDER [part ...].

A browser before the processes, the proxy and the Postgres that `deploy` configures, as somebody who signed in. Each
part is killed with SIGKILL while a page is open: the browser's own process, all processes, the proxy, the workers at
heavy work, Postgres. Told at some seconds after it: what a person reads of it (title, dialogs, messages, the state of
the connection), what a new tab shows, and after how many seconds from the part's return the page works again. Pictures
go to the folder. It fails where a page shows a stack trace or nothing at all, or is not well 60 s after the return.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.library import keep
from tests.benchmarks.kill import made, workers_of
from tests.browser.deployed import ANN, Deployed
from tests.browser.server import CHROMIUM_FLAGS, find_chromium
from tests.core.review.conftest import BINARIES, Server

LOOKS = (1.0, 4.0, 10.0)
PARTS = ("process", "processes", "proxy", "worker", "shared", "postgres")
SAID = ", ".join(
    ("[role=dialog]", "[role=alert]", *(f"[data-testid={one}]" for one in ("stStatusWidget", "stException")))
)
MOST_WAIT = 60.0


class Watched:
    """A browser before a server whose parts are killed."""

    def __init__(self, deployed: Deployed, postgres: Server | None, context: BrowserContext, folder: Path, data: str):
        self.deployed, self.postgres, self.context, self.folder, self.data = deployed, postgres, context, folder, data
        self.faults: list[str] = []

    def open(self, page: str, data: str = "") -> Page:
        """A tab with a page that is drawn whole."""
        tab = self.context.new_page()
        tab.goto(f"{self.deployed.url}/{page}?data={data or self.data}")
        self.well(tab)
        return tab

    def well(self, tab: Page) -> None:
        """Wait until the page has its heading and nothing of it runs."""
        tab.locator("h1").first.wait_for(timeout=1000 * MOST_WAIT)
        tab.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=1000 * MOST_WAIT)

    def look(self, tab: Page, name: str) -> str:
        """What a person reads of it; a picture is kept."""
        tab.screenshot(path=self.folder / f"{name}.png")
        text = tab.locator("body").inner_text(timeout=5000)
        said = [one.inner_text().strip() for one in tab.locator(SAID).all() if one.is_visible()]
        title = tab.locator("h1").first.inner_text() if tab.locator("h1").count() else text[:300]
        words = (
            "() => [...document.querySelectorAll('[role=dialog] *')].map(e => getComputedStyle(e, '::after').content)"
        )
        said += [one.strip('"') for one in tab.evaluate(words) if one not in ("none", "normal")]
        if "yourscript" in " ".join(said) or "Traceback" in text or not text.strip():
            self.faults.append(f"{name}: {text[:200]!r}")
        return " | ".join(" ".join(one.split()) for one in [title, *said] if one)

    def told(
        self, part: str, tab: Page, kill: Callable, start: Callable, fresh: str = "", press: Callable | None = None
    ):
        """Kill, look, start again, and wait until it is well."""
        print(f"\n{part}", flush=True)
        kill()
        killed = time.monotonic()
        if press is not None:
            press(tab)
        for seconds in LOOKS:
            tab.wait_for_timeout(max(0.0, 1000 * (killed + seconds - time.monotonic())))
            print(f"  {seconds:4.0f} s  {self.look(tab, f'{part}-{seconds:.0f}')}", flush=True)
        if fresh:
            self.new_tab(part, fresh)
        start()
        back = time.monotonic()
        try:
            tab.locator("[role=dialog]").wait_for(state="hidden", timeout=1000 * MOST_WAIT)
            if part != "worker":  # where somebody presses "Try again"
                tab.locator("[data-testid=stAlertContentError]").first.wait_for(
                    state="hidden", timeout=1000 * MOST_WAIT
                )
            self.well(tab)
        except Exception as error:
            self.faults.append(f"{part}: {type(error).__name__}")
        seconds = time.monotonic() - back
        print(f"  well again {seconds:.1f} s after its return: {self.look(tab, f'{part}-after')}", flush=True)
        tab.close()

    def new_tab(self, part: str, page: str) -> None:
        """What somebody sees who opens the address meanwhile."""
        tab = self.context.new_page()
        try:
            tab.goto(f"{self.deployed.url}/{page}?data={self.data}", timeout=10_000)
            tab.wait_for_timeout(3000)
            print(f"  new tab {self.look(tab, f'{part}-new')}", flush=True)
        except Exception as error:
            print(f"  new tab: the browser's own page ({str(error).splitlines()[0][:90]})", flush=True)
        tab.close()

    def own_process(self) -> str:
        """The process to which the browser is tied."""
        return next(one["value"] for one in self.context.cookies() if one["name"] == "plurality")

    def process(self) -> None:
        """The browser's own process; the other one goes on."""
        tab, name = self.open("cases"), self.own_process()
        self.told("process", tab, lambda: self.deployed.kill(name), lambda: self._start(name))

    def processes(self) -> None:
        """All processes at once."""
        names, tab = [name for name in self.deployed.running if name != "proxy"], self.open("cases")

        def kill() -> None:
            for name in names:
                self.deployed.kill(name)

        self.told("processes", tab, kill, lambda: [self._start(name) for name in names], fresh="cases")

    def proxy(self) -> None:
        """The door."""
        tab = self.open("cases")
        self.told("proxy", tab, lambda: self.deployed.kill("proxy"), self.deployed.start_proxy, fresh="cases")

    def worker(self) -> None:
        """The workers, while they draw for a page."""
        tab = self.context.new_page()
        tab.goto(f"{self.deployed.url}/reliability?data=skin")
        processes = [one.pid for name, one in self.deployed.running.items() if name != "proxy"]
        until = time.monotonic() + MOST_WAIT
        while not (found := [worker for each in processes for worker in workers_of(each)]):
            assert time.monotonic() < until, "no worker was started"
            tab.wait_for_timeout(100)

        def kill() -> None:
            for one in found:
                os.kill(one, 9)

        self.told("worker", tab, kill, lambda: None)

    def shared(self) -> None:
        """A process at heavy work that somebody at another process waits for, too."""
        address = f"{self.deployed.url}/reliability?data=skin"
        here = self.context.new_page()
        here.goto(address)
        first = self.own_process()
        other = next(name for name in self.deployed.running if name not in (first, "proxy"))
        self._progress(here)
        cookies = [one for one in self.context.cookies() if one["name"] != "plurality"]
        with self.context.browser.new_context(ignore_https_errors=True) as context:
            tied = {"name": "plurality", "value": other, "url": self.deployed.url}
            context.add_cookies([*cookies, tied])
            there = context.new_page()
            there.goto(address)
            self._progress(there)
            print("\nshared", flush=True)
            until = time.monotonic() + MOST_WAIT / 2
            while time.monotonic() < until and self._progress(there).startswith("0%"):
                there.wait_for_timeout(200)
            print(f"  at {first}: {self._progress(here)}; at {other}: {self._progress(there)}", flush=True)
            self.deployed.kill(first)
            there.wait_for_timeout(1500)
            print(f"  {first} killed; at {other}: {self._progress(there)}", flush=True)
            started = time.monotonic()
            there.locator("[data-testid=stProgress]").first.wait_for(state="hidden", timeout=1000 * MOST_WAIT)
            print(f"  the result is at {other} {time.monotonic() - started:.1f} s later", flush=True)
        self._start(first)
        here.close()

    def _progress(self, tab: Page) -> str:
        """What the first bar of progress says."""
        bar = tab.locator("[data-testid=stProgress]").first
        bar.wait_for(timeout=1000 * MOST_WAIT)
        share = bar.locator("[role=progressbar]").get_attribute("aria-valuenow")
        return f"{share}% {' '.join(bar.inner_text().split())!r}"

    def database(self) -> None:
        """The database of reviews, while somebody reviews."""
        if self.postgres is None:
            print("\npostgres: not installed")
            return
        tab = self.open("review")
        self.told(
            "postgres", tab, self.postgres.kill, self.postgres.start, fresh="home",
            press=lambda tab: tab.reload(),
        )  # fmt: skip

    def _start(self, name: str) -> None:
        self.deployed.start_process(int(name[1:]) - 1)


def main(folder: Path, parts: tuple[str, ...] = PARTS) -> int:
    """All parts in turn; the number of faults."""
    folder.mkdir(parents=True, exist_ok=True)
    binaries = next(iter(BINARIES), None)
    postgres = Server(binaries) if binaries is not None and "postgres" in parts else None
    if postgres is not None:
        os.environ["PLURALITY_DATABASE_URL"] = postgres.new_database()
    dataset = made(20)
    w = Watched
    tries = dict(zip(PARTS, (w.process, w.processes, w.proxy, w.worker, w.shared, w.database), strict=True))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        deployed = Deployed(Path(name), PLURALITY_WORKERS="1")
        os.environ |= {"PLURALITY_HOME": str(deployed.home), "PLURALITY_SEVERAL_PROCESSES": "1"}
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        try:
            deployed.start()
            keep(dataset)
            (deployed.folder / "people.toml").write_text(
                f'everybody_else = "nobody"\n[people]\n"{ANN}" = "administrator"\n'
            )
            context = browser.new_context(viewport={"width": 1280, "height": 800}, ignore_https_errors=True)
            key, _, value = deployed.cookie_of().partition("=")
            context.add_cookies([{"name": key, "value": value, "url": deployed.url}])
            watched = Watched(deployed, postgres, context, folder, dataset.digest)
            for part in parts:
                tries[part](watched)
            print("\nfaults:", watched.faults or "none")
            return len(watched.faults)
        finally:
            browser.close()
            deployed.stop()
            if postgres is not None:
                postgres.remove()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), tuple(sys.argv[2:]) or PARTS))
