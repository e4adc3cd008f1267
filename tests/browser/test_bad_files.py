"""Files made badly on purpose: each has its clear message on screen, and nothing half-read is shown."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import go_to, settled, upload
from tests.pages.export_files import archive

pytestmark = pytest.mark.browser

LONG = b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n"
BAD_FILES = {
    "empty.csv": (b"", "Could not read the file: it is empty."),
    "header only.csv": (b"case,rater,class\n", "Could not read the table: it has a header but no rows."),
    "photo.png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 40, "photo.png is a PNG image."),
    "paper.pdf": (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n<< /Type /Catalog >>\n" * 20, "paper.pdf is a PDF document."),
    "one column.csv": (b"answers\nyes\nno\n", "Could not read the table: only one column was found"),
    "two columns of one name.csv": (
        b"case,rater,class,class\n1,a,x,y\n",
        "Could not read the table: the header contains 'class' 2 times",
    ),
    "open quote.csv": (
        b'case,rater,class\n1,a,x\n2,a,"y\n3,a,z\n',
        "Line 3: Could not read the file: a quotation mark",
    ),
    "cut off.json": (b'[{"id": 1, "annotations": [{"id": 2', "the JSON is incomplete"),
    "out of the archive.zip": (archive({"../x.csv": LONG}), "its path leads out of the archive"),
}
UNPACKED = 300_000_000  # bytes of a small archive


def test_a_bad_file_has_its_message_and_the_page_goes_on(open_page, dashboard):
    """Each message says what was found; no table of annotations stands beside it; a good file is read after all."""
    page = open_page(f"{dashboard.url}/upload")
    bomb = archive({"zeros.csv": b"0" * UNPACKED})
    for name, (content, message) in (BAD_FILES | {"bomb.zip": (bomb, "unpacks to")}).items():
        upload(page, name, content)
        expect(page.get_by_text(message).first).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("^Use "))).to_have_count(0)
        expect(page.get_by_test_id("stDataFrame")).to_have_count(0)
        page.get_by_role("button", name="Remove").first.click()
        settled(page)
        expect(page.get_by_text("All supported formats")).to_be_visible()
    upload(page, "two headers.csv", b"case,rater,class\n1,a,x\n2,a,y\ncase,rater,class\n2,b,z\n")
    expect(page.get_by_role("button", name="Use 3 annotations, leave out 1 row")).to_be_visible()


def test_a_file_without_a_rater_is_asked_about(open_page, dashboard):
    """Nothing can be used before the user says who annotated."""
    page = open_page(f"{dashboard.url}/upload")
    upload(page, "no rater.csv", b"case,class\n1,x\n2,y\n")
    expect(page.get_by_text("Could not tell which column contains the rater")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Use "))).to_have_count(0)
    page.get_by_role("combobox", name=re.compile("Rater")).click()
    page.get_by_role("option", name="(none: annotations are anonymous)").click()
    settled(page)
    expect(page.get_by_role("button", name="Use 2 annotations")).to_be_visible()


def test_text_from_a_file_is_shown_letter_for_letter_and_loads_nothing(open_page, dashboard):
    """Markup in labels stays text on every page, and no address in it is ever asked for."""
    labels = ["<b>bold</b>", "![](http://evil.invalid/x.png)", "=cmd()", ":red[no]", "[link](http://evil.invalid)"]
    rows = [f'case{row // 3},"{labels[(row // 3 + row) % 5]}",rater {labels[row % 3]}' for row in range(27)]
    content = "\n".join(["case,class,rater", *rows, "*star*,=cmd(),$x$", "*star*,=cmd(),rater <i>"]) + "\n"
    page = open_page(f"{dashboard.url}/upload")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    upload(page, "<b>name</b> ![](http://evil.invalid/n.png).csv", content.encode())
    page.get_by_role("button", name="Use 29 annotations").click()
    settled(page)
    expect(page.get_by_text("is open.")).to_be_visible()
    for title in ("Agreement", "Models", "Cases", "Reliability"):
        go_to(page, title) if title != "Reliability" else None
        settled(page)
        assert page.locator("main b, main i").count() == 0
        assert page.locator("a[href*=evil], img[src*=evil], image[href*=evil]").count() == 0
    page.goto(f"{page.url.split('?')[0].rsplit('/', 1)[0]}/cases?{page.url.split('?')[1].split('&')[0]}&case=*star*")
    settled(page)
    expect(page.get_by_role("heading", name="*star*")).to_be_visible()
    expect(page.get_by_text("=cmd()").filter(visible=True).first).to_be_visible()  # tables draw theirs on a canvas
    assert not [url for url in asked if "evil" in url]
