"""From drop to agreement in a real browser, and what only a browser shows of the Upload page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import REPEATED, SOON, answered, at_rest, settled, until
from tests.pages.export_files import EXPORTS, HOLDS, label_studio

pytestmark = pytest.mark.browser

FAMILIES = ("wide", "workbook", "ordered", "label studio", "doccano")
SPELLED = b"item,grader,finding\n" + b"".join(
    b"s%d,%s,%s\n" % (spot, grader, (b"lesion", b"Laesion", b"clear")[(spot * place + spot) % 3])
    for spot in range(1, 10)
    for place, grader in enumerate((b"ann", b"bob", b"cem"), 1)
)


def drop(page: Page, files: list[tuple[str, bytes]]) -> None:
    """Drop several files at once on the page."""
    settled(page)
    with answered(page):
        page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(
            [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files]
        )


def press_use(page: Page, label: str, told: str) -> None:
    """Use the annotations, and see them used."""
    until(page, lambda: page.get_by_role("button", name=label).click(timeout=SOON), page.get_by_text(told))


def rename(page: Page, row: int, name: str) -> None:
    """Type another name in the class editor, once its cell is open: a click that comes while it is drawn is lost."""
    table = page.locator("[class*=st-key-class_editor]").get_by_test_id("stDataFrame")
    expect(table.locator("canvas").first).to_be_visible()
    at_rest(page)
    cell = page.locator("textarea.gdg-input")
    for _ in range(10):
        table.scroll_into_view_if_needed()
        at_rest(page)
        box = table.bounding_box()
        page.mouse.dblclick(box["x"] + 0.4 * box["width"], box["y"] + 35 * row + 17)
        try:
            expect(cell).to_be_visible(timeout=2_000)
            break
        except AssertionError:
            REPEATED.append("double click on a cell of the class editor")
            page.keyboard.press("Escape")
    cell.fill(name)
    expect(cell).to_have_value(name)
    with answered(page):
        cell.press("Enter")
    expect(cell).to_have_count(0)


@pytest.mark.parametrize("family", FAMILIES)
def test_from_drop_to_the_agreement_of_raters(open_page, dashboard, family):
    """The button says what will happen and is in sight; one click later the raters' agreement can be read."""
    page = open_page(f"{dashboard.url}/upload")
    drop(page, EXPORTS[family])
    button = page.get_by_role("button", name=f"Use {HOLDS[family][2]} annotations", exact=False)
    expect(button).to_be_visible()
    assert button.bounding_box()["y"] < 600
    button.click()
    settled(page)
    expect(page.get_by_text("is open.")).to_be_visible()
    page.get_by_role("link", name="How much do the raters agree?").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Raters agree on")
    page.get_by_text("All coefficients").click()
    settled(page)
    expect(page.get_by_test_id("stDataFrame").first).to_be_visible()


def test_two_classes_are_renamed_into_one_and_stay_so(open_page, dashboard):
    """The edit outlives a rerun, and is offered for the next file of these columns."""
    page = open_page(f"{dashboard.url}/upload")
    settled(page)
    drop(page, [("spots.csv", SPELLED)])
    expect(page.get_by_text("27 annotations · 3 classes")).to_be_visible()
    page.get_by_text("Classes in the annotations: 3").click()
    rename(page, 1, "lesion")
    expect(page.get_by_text("27 annotations · 2 classes")).to_be_visible()
    at_rest(page)
    name = page.get_by_label("Name", exact=True)
    name.fill("renamed")
    with answered(page):
        name.press("Enter")
    expect(name).to_have_value("renamed")
    expect(page.get_by_text("27 annotations · 2 classes")).to_be_visible()
    press_use(page, "Use 27 annotations", "renamed is open.")
    expect(page.get_by_text("All supported formats")).to_be_visible()
    drop(page, [("spots.csv", SPELLED)])
    expect(page.get_by_text("27 annotations · 3 classes")).to_be_visible()
    expect(page.get_by_text("“Laesion” is renamed “lesion”")).to_be_visible()
    until(
        page,
        lambda: page.get_by_text("Use the same choices as last time").click(timeout=SOON),
        page.get_by_text("27 annotations · 2 classes"),
    )


def test_one_of_several_questions_is_chosen_on_a_telephone(open_page, dashboard):
    """Names of questions with markup stand letter for letter; nothing is wider than the screen."""
    page = open_page(f"{dashboard.url}/upload", width=390, height=844, theme="dark")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    odd = "![](http://evil.invalid/x.png) <b>tone</b>"
    drop(page, [("project.json", label_studio(questions=("mood", odd)))])
    box = page.get_by_role("combobox", name=re.compile("which one"))
    expect(page.get_by_role("button", name="Use 2 questions, 48 annotations")).to_be_visible()
    assert page.get_by_role("button", name="Use 2 questions, 48 annotations").bounding_box()["y"] < 700
    page.get_by_text("Open all 2 questions together").click()
    expect(page.get_by_role("button", name="Use 24 annotations")).to_be_visible()
    assert page.get_by_role("button", name="Use 24 annotations").bounding_box()["y"] < 700
    settled(page)

    def choose() -> None:
        box.click(timeout=SOON)
        page.get_by_role("option", name=re.compile("evil")).click(timeout=SOON)

    until(page, choose, page.locator("input[value*=evil][aria-label=Name]"))
    expect(page.get_by_label("Name", exact=True)).to_have_value(f"project · {odd}")
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
    press_use(page, "Use 24 annotations", "is open.")
    assert page.locator("main b, a[href*=evil], img[src*=evil]").count() == 0
    assert not [url for url in asked if "evil" in url]
