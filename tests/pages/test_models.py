"""What the Models page says, without a browser."""

import importlib
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from core import read
from core.analyses.models.average import table_of
from core.analyses.models.fits import most_and_least_accurate
from core.analyses.models.scores import judge_models
from core.annotations.ordering import with_class_order
from core.ingest.samples import load_sample
from core.library import keep
from core.models.choose import choose as scored
from core.runtime.jobs import Job
from pages.shared.kit import opening
from tests.core.models.rows import rules
from tests.pages.opened import kept, not_smoothed, opened, settle, words

pytestmark = pytest.mark.usefixtures("known")


def choose(app, *names):
    return settle(app.multiselect(key="models_chosen").set_value(list(names)).run())


def title(app):
    return app.title[0].value.replace("\\", "")


def compared(app):
    """The page with its comparisons open."""
    app.session_state["model_tabs"] = "Models compared"
    return settle(app.run())


def comparison(app):
    return next(frame.value for frame in app.dataframe if "converged" in frame.value.columns)


def test_the_first_sentence_tells_changed_answers_from_decided_ties_and_names_the_model():
    app = opened("models", "anaesthesia")
    assert title(app) == "Weighting the raters overrules the majority in 1 of 45 cases (Average of models)"
    assert title(not_smoothed(choose(app, "one-coin"))).endswith("(One coin)")


def test_the_average_of_models_opens_with_its_members_and_any_single_model_is_one_choice_away():
    app = opened("models", "anaesthesia")
    said = words(app)
    assert app.session_state["models_chosen"] == ["model-average"]
    assert " models: Dawid-Skene (30%); Empirical-Bayes Dawid-Skene (24%); " in said
    assert "; smoothed vote (8%)".lower() in said.lower() and "Chosen by you" not in said
    assert "unanimous cases" not in said and "agree on every case." in said
    members = next(frame.value for frame in app.dataframe if "beta_low" in frame.value.columns)
    assert members["weight"].sum() == pytest.approx(1)
    used = members["weight"] > 0
    assert set(members["remark"][used]) == {""} and set(members["remark"][~used]) == {"Its weight is negligible."}
    assert members["beta"][used & (members["model"] != "Smoothed vote")].between(0.2, 1).all()
    scores = next(frame.value for frame in compared(app).dataframe if "difference" in frame.value.columns)
    assert scores["model"].iloc[0] == "Average of models" and scores["remark"].iloc[0] == "shown first"
    mine = choose(app, "tap")
    assert "Chosen by you" in words(mine) and title(mine).endswith("(t-a-p)")
    assert "Of the rater models, Empirical-Bayes Dawid-Skene predicts 225 held-out annotations best" in words(mine)
    back = settle(mine.button(key="use_best_model").click().run())
    assert back.session_state["models_chosen"] == ["model-average"]


def test_a_member_whose_beta_is_not_known_says_why_and_shows_none():
    rows = [
        f"{case},{rater},{'xyz'[(case * 7 + k * (case % 3 == 0)) % 3]}"
        for case in range(30)
        for k, rater in enumerate("abc")
    ]
    dataset = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    judged = judge_models(dataset, known=scored(dataset, difficulty=False, independent=False))
    members = table_of(judged, dataset, None)
    first = members[(members["weight"] > 0) & (members["model"] != "Smoothed vote")]
    assert len(first) and first["remark"].str.startswith("β unknown: only 90 annotations could be held out").all()
    assert first[["beta", "beta_low", "beta_high"]].isna().all(axis=None)


def test_no_headline_stands_while_rater_models_are_scored(monkeypatch):
    """The model that stands in until then says nothing that may change; afterwards all pages say it."""
    with monkeypatch.context() as patched:
        patched.setattr(opening, "choice_job", lambda view: Job("Still at work"))
        patched.setattr(opening, "at_work", lambda *_: [])  # or Home waits with a Cancel that stands for ever
        app = opened("models", "anaesthesia")
        assert title(
            app
        ) == "Which class is correct, and which raters are accurate?" and opening.CHOOSING_RATERS in words(app)
        home, report = words(opened("home", "anaesthesia")), words(opened("report", "anaesthesia"))
    uncertain = (
        "raters agree on 73% of annotation pairs, and 16 of 45 cases are uncertain"  # γ is 1 and waits for nothing
    )
    assert uncertain in home and opening.CHOOSING not in home and opening.CHOOSING_RATERS in home
    assert "Average of models" not in home and "flagged" not in home
    assert "Which cases are uncertain?" not in report and opening.CHOOSING_RATERS in report
    assert opening.CHOOSING not in report
    home, report = words(opened("home", "anaesthesia")), words(opened("report", "anaesthesia"))
    assert uncertain in home and "Computing" not in home and "(Average of models), n = 45 cases" in home
    assert "No rater is flagged" in home
    assert "16 of 45 cases are uncertain at γ = 1." in report and "Computing" not in report
    app = opened("models", "anaesthesia")
    scores = next(frame.value for frame in compared(app).dataframe if "difference" in frame.value.columns)
    assert title(app).startswith("Weighting the raters") and "GLAD" in set(scores["model"])


def test_several_models_are_titled_by_what_they_agree_and_differ_on():
    said = title(choose(opened("models", "caries"), "dawid-skene", "one-coin", "tap"))
    assert (
        said.startswith("3 models agree on the class in ") and " of 3,869 cases and estimate a prevalence of " in said
    )


def test_the_second_half_of_the_question_is_answered_with_intervals():
    said = words(opened("models", "caries"))
    assert "\nLeast accurate: **dentist 5**, 72% (67% to 74%), as on the Raters page.\n" in said
    assert "**Accuracy below the acceptable level**: Accuracy 72% (67% to 74%)" in words(opened("raters", "caries"))


def test_the_most_and_the_least_accurate_rater_are_named_where_their_intervals_stand_apart():
    def said(*rates):
        value, low, high = np.array(rates).T
        words = most_and_least_accurate("abc"[: len(rates)], SimpleNamespace(value=value, low=low, high=high))
        return words and words.plain

    high, middle, low = (0.9, 0.85, 0.95), (0.8, 0.75, 0.84), (0.6, 0.5, 0.7)
    assert said(middle, high, low) == (
        "Most accurate: b, 90% (85% to 95%); least accurate: c, 60% (50% to 70%), as on the Raters page."
    )
    assert said(middle) is None
    near = (0.82, 0.77, 0.87)
    assert said(middle, near, low) == "Least accurate: c, 60% (50% to 70%), as on the Raters page."
    assert said(middle, near) is None


def test_every_model_by_expectation_maximisation_has_an_interval_whichever_is_in_detail():
    app = choose(opened("models", "anaesthesia"), "dawid-skene", "one-coin", "tap")
    shares = comparison(app).iloc[:, 2]
    assert len(shares) == 3 and all(" to " in text for text in shares)


def test_models_of_more_and_of_two_classes_are_compared_on_the_class_that_all_of_them_have():
    app = choose(opened("models", "anaesthesia"), "dawid-skene", "difficulty-ABC")
    frame = comparison(app)
    assert frame.notna().all().all()
    assert list(frame["by"]) == ["EM", "posterior mode"] and "share of 1" in frame.columns
    assert "(no interval)" in frame["share of 1"][1]


def test_the_baseline_without_parameters_is_not_taken_for_the_truth():
    app = choose(opened("models", "caries"), "difficulty-ABDE")
    assert "baseline without parameters" in words(app)
    assert "most accurate:" not in words(app)


def test_the_baseline_has_checks_and_no_chains():
    app = opened("models", "caries")
    app.session_state["model_tabs"] = "Checks"
    app.session_state["bayesian_how"] = "Full posterior"
    app = choose(app, "difficulty-ABDE")
    assert "Votes per case, observed and simulated" in words(app)
    assert "Difficulty ABDE fails the vote check" in words(app)


def test_the_published_score_stands_beside_ours_where_there_are_draws():
    app = opened("models", "caries")
    assert "as in the paper" not in comparison(compared(app)).columns
    app.session_state["bayesian_how"] = "Full posterior"
    frame = comparison(choose(app, "dawid-skene", "difficulty-ABDE"))
    assert list(frame["as in the paper"]) == ["–", "−9,769.0 ± 38.1"]


def test_more_than_six_models_are_chosen_from_a_list():
    tags = ("ABC", "ABD", "ABCDE", "C", "D", "ABCD")
    app = choose(opened("models", "caries"), "dawid-skene", *(f"difficulty-{tag}" for tag in tags))
    box = next(box for box in app.selectbox if box.label == "In detail")
    settle(box.set_value("Difficulty ABC").run())
    assert title(app).startswith("7 models agree on the class in ")
    assert "Differences from the majority vote" in words(app)


def test_without_a_model_the_page_asks_for_one():
    assert "Choose at least one model" in words(choose(opened("models", "caries")))


def test_one_class_alone_names_nobody_best():
    rows = [f"{case},{rater},x" for case in range(8) for rater in "abc"]
    said = words(opened("models", kept("\n".join(["case,rater,class", *rows]))))
    assert "most accurate:" not in said and "All raters are right" not in said


def test_ordered_classes_have_severities_and_an_expected_class_and_others_do_not():
    """The ordinal model is offered where the order is declared; its sentence and its columns are those of the fit."""
    plain = load_sample("anaesthesia")
    assert "Ordinal" not in opened("models", "anaesthesia").multiselect(key="models_chosen").options
    ordered = with_class_order(plain, plain.classes)
    keep(ordered)
    app = choose(opened("models", ordered.digest), "ordinal")
    assert title(app).endswith("(Ordinal)")
    frame = next(frame.value for frame in app.dataframe if "expected class" in frame.value.columns)
    assert frame["expected class"].between(1, 4).all()
    low, high = (frame[f"expected class {end}"].map(ordered.classes.index) for end in ("low", "high"))
    assert (low <= high).all()
    assert (frame["probability"] - 1e-9 <= frame["within one class"]).all() and frame["within one class"].max() <= 1
    named = replace(ordered, classes=tuple(f"BI-RADS {place}" for place in range(ordered.n_classes)))
    keep(named)
    graded = choose(opened("models", named.digest), "ordinal")
    same = next(frame.value for frame in graded.dataframe if "expected class" in frame.value.columns)
    # from 0, as the classes are: "BI-RADS 2" is no 3
    np.testing.assert_allclose(same["expected class"], frame["expected class"] - 1, atol=0.02)
    app.session_state["model_tabs"] = "Raters"
    app = settle(app.run())
    frame = next(frame.value for frame in app.dataframe if "severity" in frame.value.columns)
    assert (frame["severity_low"] < frame["severity"]).all() and (frame["slip"] < 1).all()
    assert "rates higher or lower than the panel" in words(app)


def test_where_the_majority_vote_opens_no_model_stands_chosen_and_one_can_be():
    """Two cases of two annotations: the sentence, the choice and the title say the same; a model is a press away."""
    app = opened("models", kept("case,rater,class\nA,x,one\nA,y,two\nB,x,two\nB,y,two\n"))
    assert app.session_state[
        "models_chosen"
    ] == [] and "Majority vote is shown first because no rater model can be estimated" in words(app)
    assert title(app) == (
        "Majority vote: these data cannot show how good a rater model is"
    ) and "Dawid-Skene" not in words(app)
    vote = next(frame.value for frame in app.dataframe if "share of cases" in frame.value.columns)
    assert dict(zip(vote["class"], vote["share of cases"], strict=True)) == {"one": 0.25, "two": 0.75}
    mine = choose(app, "dawid-skene")
    assert "(Dawid-Skene)." in words(mine) and "Chosen by you. Majority vote" in words(mine)


def test_where_most_raters_give_one_class_the_smoothed_vote_opens_and_models_are_warned_of():
    rows = [f"{case},r{rater},{'ny'[answer]}" for case, rater, answer in rules(1, 0.3, 0.0)[0]]
    app = opened("models", kept("\n".join(["case,rater,class", *rows])))
    assert app.session_state["models_chosen"] == ["smoothed-vote"]
    said = words(app)
    assert title(app) == "Smoothed vote chooses the majority class for every case"
    assert (
        "Smoothed vote is shown first because 10 of 10 raters" in said
        and "For such raters, only the choice of cases is informative" in said
    )
    assert (
        not any("The prior, learned from" in warning.value for warning in app.warning)
        and "The prior, learned from" in said
    )
    assert "most accurate:" not in said and "is unreliable here" not in said
    scores = next(frame.value for frame in compared(app).dataframe if "difference" in frame.value.columns)
    row = scores.set_index("model")
    assert row.loc["Smoothed vote", "remark"] == "shown first" and row.loc["Smoothed vote", "flipped"] == 0
    assert row.loc["Dawid-Skene", "remark"].startswith("It estimates a prevalence of under 1% for y, but ")
    assert row.loc["Dawid-Skene", "flipped"] > 10
    assert re.search(r"Flipped: how many of \d\d+ unanimous cases get a different class\.", words(app))
    mine = words(choose(app, "dawid-skene"))
    assert "Dawid-Skene is unreliable here. It estimates a prevalence of under 1% for y, but" in mine


def test_of_two_who_contradict_each_other_the_title_does_not_say_which_is_right():
    yes = [(case % 3 == 0, case % 3 != 0 or case % 10 == 0) for case in range(120)]
    rows = [
        f"{case},{rater},{'ny'[said]}" for case, each in enumerate(yes) for rater, said in zip("ab", each, strict=True)
    ]
    app = choose(opened("models", kept("\n".join(["case,rater,class", *rows]))), "dawid-skene")
    assert title(app).startswith("Cannot determine the correct class: most cases have only one or two raters")
    said = words(app)
    assert (
        re.search(r"breaks (\d+ of )?\d+ ties", said)
        and said.count(
            "most cases have only one or two raters, so the data do not show who is wrong when raters differ"
        )
        == 1
    )


def test_without_raters_the_classes_stand_by_their_share_with_intervals():
    """Of 419 classes the alphabet put those that nobody has first."""
    rows = [f"{i},{i % 3 // 2 * 3},{3 - i % 3 // 2 * 3},0" for i in range(1, 12)]
    rows = ["case,calm,angry,sad", "0,0,2,1", *rows]
    app = opened("models", kept("\n".join(rows), "counts of moods"))
    (table,) = (each.value for each in app.dataframe if "share of cases" in each.value)
    assert table["class"].tolist() == ["angry", "calm"] and table["share of cases"].tolist() == [0.67, 0.33]
    assert (table["ci_low"] < table["share of cases"]).all() and (table["share of cases"] < table["ci_high"]).all()
    said = words(app)
    assert "No class is clearly the most common by majority vote in 12 cases with annotations" in said
    assert "1 of 3 classes wins no cases." in said
    many = "\n".join(["case,calm,angry,sad", *(f"{i},{i % 3 // 2 * 3},{3 - i % 3 // 2 * 3},0" for i in range(60))])
    clear = "Most common by majority vote: **angry**, 67% (54% to 77%) of 60 cases with annotations"
    assert clear in words(opened("models", kept(many, "more moods")))


def test_a_run_again_works_nothing_out_again_from_all_cases(monkeypatch):
    app = opened("models", "anaesthesia")
    worked = []
    for name in ("core.models.result.top_classes", "core.models.rater_summary._dependence"):
        module, attribute = name.rsplit(".", 1)
        real = getattr(importlib.import_module(module), attribute)
        monkeypatch.setattr(name, lambda *given, real=real, name=name: worked.append(name) or real(*given))
    for _ in range(2):
        app.run()
    assert not app.exception and not worked
