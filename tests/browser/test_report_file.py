"""The report in a browser, opened as a file: figures draw under its policy, nothing is requested, nothing else runs."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from core import load_sample, read
from core.analysis_settings import AnalysisSettings
from core.plausibility.protocol import offered
from core.report.build import ReportRequest, build_report
from tests.browser.conftest import LATEST

pytestmark = pytest.mark.browser

IMG = "<img src=x onerror=alert(1)>"
HOSTILE = "case,rater,class\n" + "".join(
    f"c{case}{IMG},r{rater}{IMG},{'ab'[(case + (case * rater % 5 == 1)) % 2]}{IMG}\n"
    for case in range(40)
    for rater in range(4)
)


def report_of(dataset) -> bytes:
    """With few draws."""
    model = offered(dataset)[0].make()
    settings = AnalysisSettings(model, model.default_reliability)
    return build_report(ReportRequest(dataset, dataset.name, settings, (1.0, 3.0), n_draws=20))


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a file by its path; gives the page with all that it asked for and complained of."""
    contexts = []

    def open_file(content: bytes, theme: str):
        path = tmp_path / "report.html"
        path.write_bytes(content)
        contexts.append(browser.new_context(color_scheme=theme))
        contexts[-1].set_default_timeout(LATEST)
        page = contexts[-1].new_page()
        told: list[str] = []
        page.on("request", lambda request: told.append(request.url))
        page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: (told.append("dialog"), dialog.dismiss()))
        page.goto(path.as_uri())
        return page, told, path.as_uri()

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture
def listener():
    """A server that would answer; its address, and the paths that it was asked for."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("data", ["anaesthesia", "hostile"])
def test_figures_draw_and_nothing_is_requested_or_complained_of(opened, data, theme):
    dataset = load_sample(data) if data != "hostile" else read(HOSTILE.encode(), name=f"data{IMG}").dataset
    page, told, uri = opened(report_of(dataset), theme)
    figures = page.locator(".figure")
    assert figures.count() >= 4
    for figure in figures.all():
        figure.locator(".main-svg").first.wait_for()
        assert figure.locator(".plot path, .barlayer path, .scatterlayer path").count() > 0
    assert page.evaluate("document.documentElement.classList.contains('dark')") == (theme == "dark")
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate("document.documentElement.classList.contains('dark')") == (theme == "light")
    assert page.locator("img").count() == 0
    assert told == [uri]


def test_a_figure_can_be_saved_as_a_picture(opened):
    page, told, _ = opened(report_of(load_sample("anaesthesia")), "light")
    figure = page.locator(".figure").first
    figure.hover()
    with page.expect_download() as download:
        figure.locator(".modebar-btn").first.click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    assert not [one for one in told if not one.startswith(("file:", "blob:"))]


def test_the_policy_stops_requests_and_scripts_that_slipped_in(opened, listener):
    address, asked = listener
    content = report_of(load_sample("anaesthesia"))
    smuggled = f"""<img src="{address}/image" onerror="window.ran = 1"><script>window.ran = 2</script>
    <script src="{address}/script"></script><link rel="stylesheet" href="{address}/style">
    <style>main {{ background: url({address}/background) }}</style><iframe src="{address}/frame"></iframe>"""
    content = content.replace(b"</main>", smuggled.encode() + b"</main>")
    opened(content.replace(b"Content-Security-Policy", b"no-policy"), "light")
    assert {"/image", "/script", "/style", "/background", "/frame"} <= set(asked)
    asked.clear()
    page, _, _ = opened(content, "light")
    page.locator(".figure .main-svg").first.wait_for()
    assert page.evaluate(f"fetch('{address}/fetch').then(() => 'fetched', () => 'stopped')") == "stopped"
    assert page.evaluate("String(window.ran)") == "undefined"
    assert asked == []
