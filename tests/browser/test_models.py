"""Rater models in a real browser: chosen, sampled, cancelled, checked and exported."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import at_rest, go_to, settled
from tests.browser.test_agreement import outside, overflow

pytestmark = pytest.mark.browser


def choose(page: Page, *names: str) -> None:
    """Add models to the list."""
    box = page.get_by_role("combobox", name="Models").first
    for name in names:
        box.click()
        box.fill(name)
        page.get_by_role("option", name=name, exact=True).click()
        settled(page)
    page.keyboard.press("Escape")
    settled(page)


def draws(page: Page, n: int) -> None:
    """So many draws a chain after as many for warm-up: 100 are quick and too few to converge, 10,000 take long."""
    page.get_by_role("button", name="More").click()
    for name in ("Draws per chain", "Warm-up draws"):
        field = page.get_by_label(name).first
        field.fill(f"{n}")
        field.press("Enter")
    page.keyboard.press("Escape")


def test_switches_spell_a_model_and_add_it(open_page, dashboard):
    page = open_page(f"{dashboard.url}/models?data=caries", height=1600)
    settled(page)
    page.get_by_role("button", name="Difficulty", exact=True).click()
    settled(page)
    expect(page.get_by_role("button", name="Add model AB", exact=True)).to_be_visible()
    page.get_by_text("Difficulty: some cases are harder").click()
    settled(page)
    add = page.get_by_role("button", name="Add model ABC", exact=True)
    expect(add).to_be_visible()
    expect(page.get_by_text("Selected model: ABC").first).to_be_visible()
    add.click()
    settled(page)
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="Difficulty ABC").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("2 models agree on the class in ")
    expect(page.get_by_text("Differences from the majority vote")).to_be_visible()
    page.get_by_role("tab", name="Checks").click()
    settled(page)
    expect(page.get_by_text("Checks need posterior draws")).to_be_visible()


def test_a_full_posterior_can_be_cancelled_tried_again_and_says_that_it_fails_its_check(open_page, dashboard):
    page = open_page(f"{dashboard.url}/models?data=caries", height=1600)
    settled(page)
    expect(page.get_by_text(re.compile("^Weighted average of .* smoothed vote"))).to_be_visible()
    choose(page, "Difficulty ABC")
    page.get_by_role("button", name="Remove Average of models", exact=True).click()  # which opened, and would go first
    draws(page, 10_000)
    settled(page)
    page.get_by_role("radio", name="Full posterior").click()
    sampler = page.get_by_text(re.compile("^Sampling Difficulty ABC"))  # the bar of the mode may stand above it
    sampler.locator("xpath=following::button[normalize-space()='Cancel'][1]").click()
    expect(page.get_by_text(re.compile("^Sampling Difficulty ABC: cancelled"))).to_be_visible()
    draws(page, 100)
    settled(page)
    expect(page.get_by_text(re.compile("cancelled"))).to_have_count(0)
    expect(page.get_by_text(re.compile("Difficulty ABC fails the vote check")).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("(Difficulty ABC, not converged)")
    for name, said in (
        ("Prevalence", "by Difficulty ABC, not converged"),
        ("Checks", "Difficulty ABC, not converged cannot reproduce the votes"),
        ("Soft labels", "Difficulty ABC, not converged: its labels may still change."),
        ("Raters", "least accurate under Difficulty ABC, not converged"),
    ):
        page.get_by_role("tab", name=name).click()
        settled(page)
        expect(page.get_by_test_id("stMain")).to_contain_text(re.compile(" ?".join(said.split()), re.IGNORECASE))


def test_other_pages_are_usable_while_a_sampler_is_at_work(open_page, dashboard):
    page = open_page(f"{dashboard.url}/models?data=anaesthesia", height=1600)
    settled(page)
    choose(page, "Hierarchical Dawid-Skene")
    page.get_by_role("radio", name="Full posterior").click()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    go_to(page, "Agreement")
    go_to(page, "Cases")
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Models", exact=True).click()
    expect(page.get_by_role("radio", name="Full posterior")).to_be_checked()
    already = re.compile("Hierarchical|models agree")  # by a quick machine
    drawn = page.get_by_role("heading", level=1).filter(has_text=already)
    expect(page.get_by_role("button", name="Cancel", exact=True).or_(drawn).first).to_be_visible()
    page.get_by_role("radio", name="Posterior mode (quick)").click()  # nobody wants the chains any more
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)


def test_soft_labels_are_taken_away_for_every_case_and_class(open_page, dashboard):
    page = open_page(f"{dashboard.url}/models?data=anaesthesia", height=1600)
    settled(page)
    page.get_by_role("tab", name="Soft labels").click()
    settled(page)
    page.get_by_role("button", name="Class probabilities of all cases").click()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    name = download.value.suggested_filename
    assert re.fullmatch(r"Anaesthesia_class_probabilities_[\w.-]+_\d{4}-\d\d-\d\d\.csv", name)
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "case,1,2,3,4" and len(lines) == 46


def test_on_a_narrow_dark_screen_nothing_is_cut_and_nothing_moves_sideways(open_page, dashboard):
    page = open_page(f"{dashboard.url}/models?data=anaesthesia", width=390, height=1600, theme="dark")
    settled(page)
    for name in ("Cases", "Raters", "Prevalence"):
        page.get_by_role("tab", name=name).click()
        at_rest(page)
        assert overflow(page) <= 1
        assert outside(page) == []
