"""Differential diagnoses, models and classifiers as a clinician and a buyer of classifiers meet them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import settled, upload

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("case", "sets"),
    [
        ("case one", {"A": 0.70, "B": 1.00}),
        ("case two", {"A": 0.39, "D": 0.58}),
        ("case three", {"A": 0.27, "B": 0.42}),
    ],
)
def test_the_printed_cases_show_the_published_probabilities(open_page, dashboard, case, sets):
    """Figures 5 and 15 of the paper, Plackett-Luce at γ = 3, within 0.06 (one published chain)."""
    page = open_page(f"{dashboard.url}/cases?data=dermatology&case={case.replace(' ', '%20')}&reliability=3")
    settled(page)
    panel = page.locator(".chips", has=page.locator("b"))
    shown = {row.split()[0]: row for row in panel.all_inner_texts()}
    for name, published in sets.items():
        said = re.search(r"(over )?(\d+)%", shown[name])
        value = 1.0 if said.group(1) else float(said.group(2)) / 100
        assert abs(value - published) <= 0.06, shown[name]


def test_ties_stand_together_and_names_hide_on_request(open_page, dashboard):
    """A tied block is one chip; More hides who said it."""
    page = open_page(f"{dashboard.url}/cases?data=skin&case=skin-272&reliability=3")
    settled(page)
    tied = page.locator(".chips .block", has_text="Nettle prurella").filter(has_text="Deep urticora")
    expect(tied.first).to_be_visible()
    expect(page.locator(".chips .who", has_text="R04")).to_be_visible()
    page.get_by_role("button", name="More").click()
    page.get_by_text("Hide rater names").click()
    settled(page)
    expect(page.locator(".chips .who", has_text="Rater 1")).to_be_visible()
    expect(page.locator(".chips .who", has_text="R04")).to_have_count(0)


def test_another_model_has_its_own_slider_and_stays_in_the_address(open_page, dashboard):
    """Choosing PrIRN moves the slider to its usual trust; the address opens with it."""
    page = open_page(f"{dashboard.url}/cases?data=skin&case=skin-272")
    settled(page)
    page.get_by_role("combobox", name=re.compile("Model")).click()
    page.get_by_role("option", name="PrIRN").click()
    settled(page)
    expect(page).to_have_url(re.compile(r"model=prirn&reliability=30"))
    settled(page)  # the address is new before the heading is
    heading = page.get_by_role("heading", name=re.compile("^Case skin-272 · certainty"))
    elsewhere = open_page(page.url)
    settled(elsewhere)
    there = elsewhere.get_by_role("heading", name=re.compile("^Case skin-272 · certainty"))
    expect(there).to_have_text(heading.inner_text())


def test_the_page_says_that_the_choice_of_classifier_does_not_survive(open_page, dashboard):
    """On skin, by Plackett-Luce, B leads at low trust and A at high trust."""
    page = open_page(f"{dashboard.url}/reliability?data=skin&model=plackett-luce")
    settled(page)
    page.get_by_role("tab", name="Classifiers").click()
    settled(page)
    verdict = page.get_by_role("heading", name=re.compile("The best classifier depends on γ"))
    expect(verdict).to_contain_text(re.compile(r"“B” leads at γ = 1 \(.*, “A” at γ = 10 \("))
    for name in ("metric_lines", "metric_draws", "metric_cases"):
        expect(page.locator(f".st-key-{name} .js-plotly-plot")).to_be_visible()
    for tab, figure in (("Risk", "risk_certainty"), ("Relations", "certainty_agreement")):
        page.get_by_role("tab", name=tab).click()
        settled(page)
        expect(page.locator(f".st-key-{figure} .js-plotly-plot")).to_be_visible()


def test_predictions_of_a_file_are_matched_and_what_is_missing_is_listed(open_page, dashboard):
    """A classifier for 44 of 45 cases; the page says which case is missing, and evaluates the rest."""
    page = open_page(f"{dashboard.url}/reliability?data=anaesthesia")
    settled(page)
    page.get_by_text("Add classifier predictions").click()
    rows = [f"{case},{1 + (case + k) % 4},{0.6 - 0.1 * k}" for case in range(1, 45) for k in range(3)]
    upload(page, "guesser.csv", ("case,class,score\n" + "\n".join(rows) + "\n").encode())
    expect(page.get_by_text("guesser: 44 of 45 cases")).to_be_visible()
    expect(page.get_by_text(re.compile("no prediction for 1 case"))).to_be_visible()
    page.get_by_role("tab", name="Classifiers").click()
    settled(page)
    expect(page.get_by_role("heading", name=re.compile("only one classifier"))).to_be_visible()


def test_a_bad_file_of_predictions_has_its_message(open_page, dashboard):
    """A class that the data do not have is named with its case."""
    page = open_page(f"{dashboard.url}/reliability?data=anaesthesia")
    settled(page)
    page.get_by_text("Add classifier predictions").click()
    upload(page, "bad.csv", b"case,class,score\n1,nonsense,0.5\n2,1,0.5\n")
    expect(page.get_by_text(re.compile("nonsense.*for case.*1"))).to_be_visible()
