"""No page shuts anybody out: axe finds nothing serious or critical, in either theme."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.reviewing import click, sign
from tests.browser.steps import answered, at_rest, in_theme, settled

pytestmark = pytest.mark.browser

# Without data, and with the sample that shows most of a page, or that is soonest through where a page computes long.
PAGES = (
    "",
    "upload",
    "?data=skin",
    "upload?data=skin",
    "agreement?data=skin",
    "models?data=anaesthesia",
    "raters?data=anaesthesia",
    "ai_rater?data=anaesthesia",
    "cases?data=skin&story=4",
    "review?data=skin",
    "reliability?data=skin",
    "reader_study?data=skin",
    "labels?data=anaesthesia",
    "report?data=anaesthesia",
    "settings",
    "documentation?page=app/cases",
    "agreement?data=anaesthesia&presenting=1",
)
GRAVE = ("serious", "critical")
# Rule by rule, what is Streamlit's own and out of our reach: no exclusion holds for another rule or element.
EXCLUDED = (
    ("list", "[data-testid=stSidebarNavItems]"),  # st.navigation puts its sections as <div> between <ul> and <li>
    ("listitem", "[data-testid=stSidebarNavItems] li"),
    ("color-contrast", "label[disabled] p"),  # a switch that is off is exempt (WCAG 1.4.3), but its label is not tied
)


def calm(page: Page) -> None:
    """Wait until the page is drawn and its jobs are done."""
    settled(page)
    # Buttons fade in when they become enabled, and axe would take the colour of the moment.
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")


def grave(page: Page, theme: str) -> list[str]:
    """Violations on the page as it stands, with the element; what is gone once the page is at rest was a moment's."""
    calm(page)
    if not (found := _violations(page, theme)):
        return found
    at_rest(page)
    return _violations(page, theme)


def _violations(page: Page, theme: str) -> list[str]:
    """What axe finds. Between the themes nothing but colours differs."""
    found = []
    options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if theme == "dark" else {})
    for violation in Axe().run(page, options=options).response["violations"]:
        if violation["impact"] not in GRAVE:
            continue
        out_of_reach = [selector for rule, selector in EXCLUDED if rule == violation["id"]]
        for node in violation["nodes"]:
            element = page.locator(node["target"][0]).first
            if not any(element.evaluate("(e, selector) => e.matches(selector)", one) for one in out_of_reach):
                found.append(f"{violation['id']} at {node['target'][0]}: {node['html'][:200]}")
    return found


def test_no_page_has_a_serious_violation(open_page, dashboard):
    """Every page as it opens, in the light and then in the dark, which draws its figures anew."""
    page = open_page("about:blank", theme="light")
    found = {}
    for address in PAGES:
        page.emulate_media(color_scheme="light")
        page.goto(f"{dashboard.url}/{address}")
        settled(page)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        found[address] = grave(page, "light")
        in_theme(page, "dark")
        with answered(page):
            page.keyboard.press("r")
        found[f"{address} in the dark"] = grave(page, "dark")
    assert not any(found.values()), {address: faults for address, faults in found.items() if faults}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_stage_of_a_review_has_a_serious_violation(open_page, dashboard, theme):
    """Start, blind, chosen, revealed, changing, asking, the list, and the figures of the manager."""
    page = open_page(f"{dashboard.url}/review?data=anaesthesia", theme=theme)
    sign(page, f"Axe {theme}")
    expect(page.get_by_role("button", name=re.compile("Start with"))).to_be_visible()
    found = {"start": grave(page, theme)}
    click(page, "Start with")
    steps = (
        ("blind", None, "Choose a class first"),
        ("chosen", "x", "Your opinion: cannot be determined"),
        ("revealed", "Control+Enter", "Raters' annotations"),
        ("changing", "e", "How confident are you?"),
        ("asking", "a", "Whom to ask"),
        ("list", "l", "not seen yet"),
    )
    for stage, key, seen in steps:
        if key:
            page.keyboard.press(key)
            settled(page)
        expect(page.get_by_text(seen).first).to_be_visible()
        found[stage] = grave(page, theme)
    click(page, "Leave")
    for tab in ("What reviews show", "Export"):
        page.get_by_role("tab", name=tab).click()
        settled(page)
        expect(page.get_by_role("tabpanel", name=tab).get_by_role("heading").first).to_be_visible()
        found[tab] = grave(page, theme)
    assert not any(found.values()), {stage: faults for stage, faults in found.items() if faults}
