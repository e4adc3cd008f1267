"""One Chromium and one dashboard for all browser tests. Without a Chromium they skip; in CI that is a failure."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

from core.runtime import first_start
from core.warmup import warm_up
from tests.browser import steps
from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium
from tests.speed import scaled

HERE = ("localhost", "127.0.0.1")
LATEST = scaled(60_000)  # what comes is not waited for longer than it takes; a busy machine takes long
# A page of a test lives for seconds: compiling its scripts so that they run faster costs more than it gives.
FOR_MOMENTS = "--js-flags=--no-opt,--no-maglev"
expect.set_options(timeout=LATEST)


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Kernels in the cache that the servers share, so that no test waits for a compiler."""
    if not first_start.compiled():
        warm_up()


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium."""
    with sync_playwright() as playwright:
        path = find_chromium(playwright)
        if path is None:
            message = "no Chromium (chromium, google-chrome or Playwright's own) on this computer"
            if os.environ.get("CI"):
                pytest.fail(message)
            pytest.skip(message)
        running = playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_FLAGS, FOR_MOMENTS])
        yield running
        running.close()


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory, known_results):
    """A running dashboard with a home folder of its own; what one of several has computed, the others find."""
    home = tmp_path_factory.mktemp("home")
    known_results(home)
    # Heavy work in threads: a process of its own stands back behind all other tests, and tests wait for it. Servers of
    # single tests (`test_journey`) have one.
    # The held-out readers of the largest sample take a minute, and no browser test looks at them.
    running = Dashboard(home, PLURALITY_WORKERS="0", PLURALITY_UNASKED_CASES="100").start()
    yield running
    running.stop()
    said = running.log_text()
    assert "Traceback" not in said and "give_back_failed" not in said, said


@pytest.fixture(autouse=True)
def repeated(request):
    """Presses that a test had to make again, told to the summary of the run."""
    node, kind = request.node, "repeated press"
    node.user_properties = [told for told in node.user_properties if told[0] != kind]  # those of a first try are told
    steps.REPEATED.clear()
    yield
    node.user_properties += [(kind, words) for words in steps.REPEATED]


@pytest.fixture(scope="session")
def profile(browser):
    """One profile for all tests: what Streamlit's own scripts and styles weigh is fetched and understood once."""
    context = browser.new_context()
    context.set_default_timeout(LATEST)
    context.add_init_script(path=Path(__file__).parent / "runs.js")
    yield context
    context.close()


@pytest.fixture(scope="session")
def spare():
    """Tabs that earlier tests have left, each of nothing: what one has understood of Streamlit, it need not again."""
    return []


@pytest.fixture
def open_page(profile, spare):
    """Opens pages of given width and theme; at the end none may have failed or asked anything of another computer."""
    pages, faults, elsewhere = [], [], []

    def told(request):
        if leaves(request.url):
            elsewhere.append(request.url)

    def failed(error):
        faults.append(str(error))

    def opened(url: str, *, width: int = 1440, height: int = 1000, theme: str = "light"):
        page = spare.pop() if spare else profile.new_page()
        pages.append(page)
        page.set_viewport_size({"width": width, "height": height})
        # What turns while a page waits takes half of what a browser takes.
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.on("request", told)
        page.on("pageerror", failed)
        page.goto(url)
        return page

    yield opened
    for page in pages:
        if not page.is_closed():
            assert page.locator("[data-testid=stException]").count() == 0
            page.evaluate("location.protocol.startsWith('http') && (localStorage.clear(), sessionStorage.clear())")
            page.goto("about:blank")
            page.remove_listener("request", told)
            page.remove_listener("pageerror", failed)
            spare.append(page)
    profile.clear_cookies()
    assert not faults, faults
    assert not elsewhere, f"asked of another computer: {elsewhere}"


def leaves(url: str) -> bool:
    """Whether an address is of another computer."""
    return urlsplit(url).scheme in ("http", "https", "ws", "wss") and urlsplit(url).hostname not in HERE
