"""Home in a browser: a dropped file is read on the Upload page; pictures lead to their pages; narrow screens."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.steps import at_rest, go_to, settled, upload

pytestmark = pytest.mark.browser

FRUIT = b"case,rater,class\n" + b"".join(
    b"%d,r%d,%s\n" % (case, rater, b"pear" if (case + rater) % 4 == 0 else b"apple")
    for case in range(12)
    for rater in range(3)
)


def test_a_file_dropped_on_home_is_read_used_or_discarded(open_page, dashboard):
    """From the drop zone of Home to figures of these data, without a second drop."""
    page = open_page(dashboard.url)
    settled(page)
    expect(page.get_by_role("heading", name="See where your raters agree, and where they do not")).to_be_visible()
    upload(page, "fruit.csv", FRUIT)
    expect(page.get_by_text("Not used yet: fruit.csv")).to_be_visible()
    page.get_by_role("button", name="Use 36 annotations").click()
    settled(page)
    expect(page.get_by_text("fruit is open.")).to_be_visible()
    expect(page.get_by_text("Not used yet: fruit.csv")).to_have_count(0)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Home").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(r"fruit: raters agree on \d+"))
    expect(page.get_by_test_id("stMetric")).to_have_count(4)


def test_the_address_home_is_home(open_page, dashboard):
    """The address of every other page is its name; Home's is the root, and its name leads there with the data."""
    page = open_page(f"{dashboard.url}/home?data=caries")
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("raters agree on")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNav").get_by_role("link", name="Home")).to_have_count(1)
    expect(page).to_have_url(re.compile(re.escape(dashboard.url) + r"/\?data=caries"))


def test_the_first_page_asks_no_other_host_for_anything(browser, dashboard):
    """Not for fonts, not for an icon, in a profile that knows nothing yet: the browser's own is drawn by the page."""
    page = browser.new_page()
    page.add_init_script(path=Path(__file__).parent / "runs.js")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{dashboard.url}/?data=skin")
    settled(page)
    icon = page.locator("link[rel*=icon]").first
    expect(icon).to_have_attribute("href", re.compile("^data:image/svg"))
    at_rest(page)
    elsewhere = [url for url in asked if not url.startswith((dashboard.url, "data:", "blob:"))]
    page.close()
    assert asked and not elsewhere


def test_each_picture_is_a_door_and_nothing_sticks_out_of_a_narrow_screen(open_page, dashboard):
    """The doors, and no sideways scrolling at 390 pixels."""
    page = open_page(f"{dashboard.url}/?data=skin", width=390, theme="dark")
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("are uncertain")
    expect(page.locator(".js-plotly-plot")).to_have_count(4)
    for part in ("document.documentElement", "document.querySelector('[data-testid=stMain]')"):
        assert page.evaluate(f"{part}.scrollWidth") <= 390
    for door, heading in (
        ("Open Agreement", "Raters agree on"),
        ("Open Cases", "are uncertain at γ = "),
        ("Open Reliability", "Mean certainty"),
    ):
        page.goto(f"{dashboard.url}/?data=skin")
        settled(page)
        page.get_by_role("link", name=door).click()
        settled(page)
        expect(page.get_by_role("heading", level=1)).to_contain_text(heading)


def test_a_browser_draws_each_figure_once(open_page, dashboard):
    """Streamlit hands it a second time, as soon as it stands there; plotly finds nothing to draw then.

    Whatever has changed it calculates anew, and keeps that with the element. A width of parts of pixels is a change: it
    is measured in two ways.
    """
    page = open_page(f"{dashboard.url}/home?data=skin")
    for title in ("Home", "Agreement", "Cases"):  # what these compute is known then
        go_to(page, title)
    go_to(page, "Settings")
    page.evaluate(
        """() => Object.defineProperty(HTMLDivElement.prototype, "calcdata", {
            get() { return this.calculated; },
            set(value) { this.calculated = value; if (value) this.draws = (this.draws ?? 0) + 1; },
        })"""
    )
    for title, least in (("Home", 4), ("Agreement", 1), ("Cases", 3)):
        go_to(page, title)
        at_rest(page)
        figures = page.locator("[data-testid=stMain] .js-plotly-plot")
        draws = figures.evaluate_all("all => all.map((each) => each.draws)")
        assert len(draws) >= least and set(draws) == {1}, title
        widths = page.get_by_test_id("stPlotlyChart").evaluate_all(
            "all => all.map((e) => e.getBoundingClientRect().width)"
        )
        assert all(width.is_integer() for width in map(float, widths)), (title, widths)
