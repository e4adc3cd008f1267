"""Mixture Plackett-Luce on pages: what it costs is said, and it starts when it is asked for."""

import re

import pytest

from pages.shared.cache.datasets import jobs
from pages.shared.kit import trusted_raters
from tests.pages.opened import kept, labels_of, opened, settle, words

MODEL = "mixture-plackett-luce"


def rankings(n_cases: int) -> str:
    """The address of rankings by four raters; what is known of one number of cases is not known of another."""
    cells = [(case, rater, rank) for case in range(n_cases) for rater in range(4) for rank in (1, 2)]
    rows = [f"{c},{'abcd'[r]},{k},{'xyzw'[(c + k + (r == 3) * c) % 4]}" for c, r, k in cells]
    return kept("\n".join(["case,rater,rank,class", *rows]), "rankings")


def started():
    """Chains over all cases that this server was asked for."""
    return {key for key in jobs().all_keys() if "'trust'" in str(key) and "'price'" not in str(key)}


@pytest.mark.parametrize(("page", "n_cases"), [("cases", 12), ("reliability", 13), ("report", 14)])
def test_a_page_shows_the_price_and_waits_until_it_is_asked(page, n_cases):
    before = started()  # those of other tests leave the board meanwhile
    app = opened(page, rankings(n_cases))
    app = settle(app.selectbox(key="model").set_value(MODEL).run())
    said = words(app)
    assert "The computation starts when you press the button" in said
    assert re.search(r"This takes (a few seconds|about \d+ (seconds|minutes)) on this computer", said)
    assert started() <= before
    app = settle(app.button(key="start_trust").click().run())
    assert "It does not start" not in words(app) and not app.error
    assert len(started() - before) == 1


def test_the_raters_page_orders_raters_by_trust_once_it_is_asked():
    app = opened("raters", rankings(15))
    app.session_state["rater_tabs"] = "Trust"
    app = settle(app.run())
    app = settle(app.button(key="start_trust").click().run())
    said = words(app)
    assert "They are not accuracies" in said and "at γ = 1 and stay fixed" in said
    shown = next(each for each in app.dataframe if "place_low" in each.value)
    assert not [label for label in labels_of(shown) if "_" in label or label in ("n", "sd", "ess", "rhat")]
    table = shown.value
    assert sorted(table["rater"]) == list("abcd") and table["trust"].is_monotonic_increasing
    app = settle(app.switch_page("pages/review.py").run())
    assert not app.error


def test_trusts_that_are_known_are_found_again_without_being_asked_for():
    """By another session, and nothing is started by looking."""
    data = rankings(16)
    app = opened("cases", data)
    app = settle(app.selectbox(key="model").set_value(MODEL).run())
    app = settle(app.button(key="start_trust").click().run())
    before = started()  # those of other tests leave the board meanwhile
    again = opened("cases", data)
    again = settle(again.selectbox(key="model").set_value(MODEL).run())
    assert "It does not start" not in words(again) and started() <= before


def test_anonymous_raters_and_scores_are_offered_no_trust():
    for table in ("case,calm,angry\n1,3,1\n2,2,2\n3,0,4", "case,rater,score\n1,a,1\n1,b,2\n2,a,3\n2,b,1"):
        app = opened("cases", kept(table))
        assert MODEL not in app.selectbox(key="model").options


def test_lengths_of_time_are_rounded_up():
    assert [trusted_raters.duration(x) for x in (0.2, 5, 5.1, 61, 89, 90.5, 121)] == [
        "a few seconds", "a few seconds", "about 10 seconds", "about 65 seconds", "about 90 seconds",
        "about 2 minutes", "about 3 minutes",
    ]  # fmt: skip
