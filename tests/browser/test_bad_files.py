"""Files made badly on purpose: each has its clear message on screen, and nothing half-read is shown."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import go_to, settled, upload

pytestmark = pytest.mark.browser

BAD_FILES = {
    "empty": (b"", "The file is empty."),
    "header only": (b"case,rater,class\n", "The file has a header but no rows."),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 40, "This is a binary file"),
    "one column": (b"answers\nyes\nno\n", "Only one column was found"),
    "duplicate header": (b"case,rater,class,class\n1,a,x,y\n", "The header names 'class' 2 times"),
    "open quote": (b'case,rater,class\n1,a,x\n2,a,"y\n3,a,z\n', "Line 3: A quotation mark"),
    "no rater": (b"case,class\n1,x\n2,y\n", "No column was recognised as the rater"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_has_its_message(open_page, dashboard, name):
    """The message says what was found; no table of answers stands beside it."""
    content, message = BAD_FILES[name]
    page = open_page(f"{dashboard.url}/upload")
    upload(page, f"{name}.csv", content)
    expect(page.get_by_text(message).first).to_be_visible()
    if name != "no rater":
        expect(page.get_by_role("button", name="Use")).to_have_count(0)


def test_text_from_a_file_is_shown_letter_for_letter_and_loads_nothing(open_page, dashboard):
    """Markup in labels stays text on every page, and no address in it is ever asked for."""
    labels = ["<b>bold</b>", "![](http://evil.invalid/x.png)", "=cmd()", ":red[no]", "[link](http://evil.invalid)"]
    rows = [f'case{row // 3},"{labels[(row // 3 + row) % 5]}",rater {labels[row % 3]}' for row in range(27)]
    content = "\n".join(["case,class,rater", *rows, "*star*,=cmd(),$x$", "*star*,=cmd(),rater <i>"]) + "\n"
    page = open_page(f"{dashboard.url}/upload")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    upload(page, "<b>name</b> ![](http://evil.invalid/n.png).csv", content.encode())
    page.get_by_role("button", name="Use 29 answers").click()
    expect(page.get_by_text("is in use.")).to_be_visible()
    for title in ("Agreement", "Models", "Cases", "Reliability"):
        go_to(page, title) if title != "Reliability" else None
        settled(page)
        assert page.locator("main b, main i").count() == 0
        assert page.locator("a[href*=evil], img[src*=evil], image[href*=evil]").count() == 0
    page.goto(f"{page.url.split('?')[0].rsplit('/', 1)[0]}/cases?{page.url.split('?')[1].split('&')[0]}&case=*star*")
    expect(page.get_by_role("heading", name="*star*")).to_be_visible()
    expect(page.get_by_text("=cmd()").first).to_be_visible()
    assert not [url for url in asked if "evil" in url]
