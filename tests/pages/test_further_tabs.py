"""Further tabs of Agreement, Models and Reliability: what stands there is what the analyses find."""

import pytest

from core.agreement.weightings import compare_weightings
from core.analyses.agreement.weightings import verdict
from core.ingest.samples import load_sample
from core.models.bayesian_dawid_skene import prior_in_words
from core.models.tap_agreement import tap_agreement
from tests.pages.opened import opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


def test_weightings_are_compared_and_agreeing_cases_counted():
    app = opened("agreement", "skin")
    app.session_state["agreement_tabs"] = "Weightings"
    said = words(settle(app.run()))
    assert verdict(compare_weightings(load_sample("skin").as_classes()[0])) in said
    app.session_state["agreement_tabs"] = "Cases"
    assert "They agree at least weakly on " in words(settle(app.run()))


def test_agreement_is_split_and_ratings_are_simulated_as_chosen():
    app = opened("models", "anaesthesia")
    app.session_state["model_tabs"] = "t-a-p"
    said, found = words(settle(app.run())), tap_agreement(load_sample("anaesthesia"))
    assert f"both know: {found.rates.accurate:.0%}" in said and found.test.words in said
    app.session_state["model_tabs"] = "Explore t-a-p"
    app = settle(app.run())
    app.number_input(key="explore_a").set_value(0.9)
    said = words(settle(app.run()))
    assert "expected at a = 0.9: 0.81" in said
    assert "Because raters guess in proportion to prevalence, the expected κ is a²." in said
    app.number_input(key="explore_t").set_value(1.5)
    assert "t is 1.5. It must be from 0 to 1" in words(settle(app.run()))


def test_priors_of_the_bayesian_model_are_asked_for_and_reach_the_fit():
    app = opened("models", "anaesthesia")
    app.multiselect(key="models_chosen").set_value(["bayesian-dawid-skene"])
    app = settle(app.run())
    assert prior_in_words(4) in words(app) and "Could not fit" not in words(app)
    digest = load_sample("anaesthesia").digest
    app.number_input(key=f"diagonal-{digest}").set_value(40.0)
    app = settle(app.run())
    assert prior_in_words(4, diagonal=40.0) in words(app)
    assert any("--diagonal 40" in one.value for one in app.code)


def test_further_metrics_and_soft_labels_are_offered():
    app = opened("reliability", "skin")
    app.session_state["reliability_tabs"] = "Further metrics"
    app = settle(app.run())
    assert "Kendall's tau at 3 at γ = 3: B is best on these cases (over 99% probability)" in words(app)
    app.number_input(key="metrics_k").set_value(5)
    assert "Kendall's tau at 5" in words(settle(app.run()))
    app.session_state["reliability_tabs"] = "Soft labels"
    said = words(settle(app.run()))
    assert "have a class with a mean plausibility of 90% or more at γ = 3" in said
