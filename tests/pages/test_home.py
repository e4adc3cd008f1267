"""Home: the sentence, the four figures with intervals, the three doors, and what the data do not allow."""

import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import library
from core.analysis_settings import compute_settings
from core.annotations.named_selection import Selection
from core.ingest.samples import SAMPLES, load_sample
from core.methods import method_named
from core.plausibility.protocol import PlausibilityMethod
from core.settings import current_settings
from pages.shared.home import known as home_known
from pages.shared.kit import opening
from tests.core.models.rows import rules
from tests.pages.opened import APP, at, done, kept, kept_small, opened, settle, words

SCORES = "case,rater,score\n" + "".join(f"{i // 3},{i % 3},{i * 0.7 % 5 + i // 3:.1f}\n" for i in range(60))


pytestmark = pytest.mark.usefixtures("known")


def home(data: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=300)
    app.session_state["data"] = data
    return settle(app.run())


def figures(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_without_data_home_offers_every_sample_and_a_drop_zone():
    app = AppTest.from_file(APP, default_timeout=300).run()
    labels = [button.label for button in app.button]
    assert [f"Open {sample.title}" for sample in SAMPLES] == [label for label in labels if label.startswith("Open ")]
    assert all(sample.shows in words(app) and sample.size in words(app) for sample in SAMPLES)
    assert app.get("file_uploader")


def test_a_first_visit_shows_a_case_live_and_more_trust_makes_it_more_certain():
    """Four rankings of seven name a mole, the rest a melanoma: what is said follows the slider, both ways."""
    app = AppTest.from_file(APP, default_timeout=300).run()
    said = []
    for trust in (1, 20):
        app.select_slider(key="first_trust").set_value(trust).run()
        (words_said,) = [entry.value for entry in app.markdown if "At this γ" in entry.value]
        certainty, right = re.findall(r"\*\*(?:over )?(\d+)%", words_said)
        assert "**Blotched naevellum**" in words_said and len(app.get("plotly_chart")) == 1
        said.append((float(certainty), float(right)))
    assert said[0][0] < said[1][0] and said[0][1] < said[1][1]


def test_saved_data_are_above_the_samples():
    kept("case,rater,class\n1,a,x\n1,b,y\n")
    app = AppTest.from_file(APP, default_timeout=300).run()
    assert [one.value for one in app.subheader] == ["Saved on this computer", "Or open sample data"]


def test_an_audience_does_not_see_other_saved_data():
    kept("case,rater,class\n1,a,x\n1,b,y\n", "confidential")
    for presenting in (None, "1"):
        app = settle(at("home", "caries", **({"presenting": presenting} if presenting else {})).run())
        assert ("confidential" in words(app)) == ("Saved on this computer" in words(app)) == (not presenting)


def test_a_prevalence_that_no_model_has_lost_is_on_home():
    """Rules of one class each: a rater model has no case of the rarer class, and the vote has its share."""
    rows, truth = rules(1, 0.3, 0.0)
    app = home(kept("\n".join(["case,rater,class", *(f"{c},r{r},{'ny'[a]}" for c, r, a in rows)])))
    said = words(app)
    share = float(figures(app)["Prevalence of y"].removesuffix("%")) / 100
    assert abs(share - truth.mean()) < 0.06 and "(majority vote)" in said


def test_next_to_the_uncertain_cases_stands_what_to_do_with_them():
    """Steps that the data ask for, and none that they do not."""
    said, sound = words(home("caries")), words(home(kept("case,rater,class\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n")))
    assert "**No predictions**" in said and "uncertain cases**" in said and "flagged**" in said
    assert "uncertain case" not in sound.split("What to do next")[-1].split("**No gold**")[0]
    assert "flagged**" not in sound


def test_where_agreement_may_be_chance_home_does_not_send_for_more_annotations():
    rng = np.random.default_rng(7)
    rows = [f"n{case},{rater},{'abc'[rng.integers(3)]}" for case in range(90) for rater in "xyz"]
    step = words(home(kept("\n".join(["case,rater,class", *rows, ""])))).split("What to do next")[-1]
    assert "**Agreement is barely above chance**" in step and "classes and instructions first" in step
    assert "another opinion, the least certain first" not in step


def test_where_raters_contradict_each_other_home_says_so_and_no_model_gives_the_prevalence():
    """Of two who mostly give the other class agreement is below chance, and a model would say what it started from."""
    yes = [(case % 3 == 0, case % 3 != 0 or case % 10 == 0) for case in range(120)]
    rows = [
        f"{case},{rater},{'ny'[one]}" for case, each in enumerate(yes) for rater, one in zip("ab", each, strict=True)
    ]
    said = words(home(kept("\n".join(["case,rater,class", *rows, ""]))))
    assert "**Raters contradict each other**" in said and "may be chance" not in said
    assert "Dawid-Skene" not in said and "(majority vote), n = 120 cases" in said


@pytest.mark.parametrize("sample", ["skin", "anaesthesia"])
def test_home_counts_the_uncertain_cases_that_the_cases_page_counts(sample):
    cases = opened("cases", sample)
    said = re.search(r"([\d,]+) of ([\d,]+) cases are uncertain at γ = (.+)", cases.title[0].value)
    count, n, trust = said.groups()
    assert float(trust) == cases.slider(key="reliability").value
    app = home(sample)
    assert (f"{count} of" if count != n else f"all {n} cases") in app.title[0].value
    assert f"{count} of" in words(app).split("Uncertain cases")[-1]


def test_home_counts_at_the_trust_and_by_the_model_that_were_chosen_on_cases():
    """The two pages name one number, whatever is chosen."""
    app = opened("cases", "skin")
    before = app.title[0].value
    app = settle(app.selectbox(key="model").set_value("prirn").run())
    app = settle(app.slider(key="reliability").set_value(7.0).run())
    (count,) = re.findall(r"^([\d,]+) of .* are uncertain at γ = 7$", app.title[0].value)
    assert count != before.split()[0]
    said = words(settle(app.switch_page("pages/home.py").run()))
    assert f"and {count} of" in said and f"{count} of" in said.split("Uncertain cases")[-1] and "γ = 7)" in said
    review = settle(app.switch_page("pages/review.py").run())
    (card,) = [metric for metric in review.metric if metric.label == "Uncertain cases"]
    assert card.value == count and "at γ = 7" in words(review)


def test_home_counts_no_raters_where_nobody_knows_who_they_are():
    """Rankings without names: "Rater 1" of one case is not "Rater 1" of the next."""
    app = home(kept('[[[["x"]],[["y"]]],[[["x"],["y"]],[["x"]]]]', "nameless"))
    sizes = [entry.value for entry in app.caption if entry.value.startswith("2 cases")]
    assert "2 cases · raters without names · 4 rankings" in sizes
    assert "2 cases · raters without names · saved" in words(app)


@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
def test_three_figures_have_an_interval_and_the_first_its_range(sample):
    app = home(sample)
    assert len(app.metric) == 4 and "–" not in figures(app).values()
    said = words(app)
    assert len(re.findall(r"\d%? to \.?\d", said)) >= 3
    assert "annotations each" in said
    assert len(app.get("plotly_chart")) == 3 + any("classifier" in label for label in figures(app))


def test_with_predictions_the_best_classifier_stands_there_and_without_them_the_prevalence():
    assert any("classifier" in label for label in figures(home("skin")))
    app = home("anaesthesia")
    assert any(label.startswith("Prevalence of ") for label in figures(app))
    assert "(Average of models), n = " in words(app)
    assert "add a predictions file" in words(app)


@pytest.mark.parametrize(("sample", "lacks"), [("skin", False), ("caries", True)])
def test_what_is_not_available_has_a_heading_only_where_there_is_any(sample, lacks):
    app = home(sample)
    assert any(part.label.startswith("Not available for these data: ") for part in app.expander) == lacks
    assert ("the annotations have no dates" in words(app)) == lacks
    (part,) = [
        part for part in app.expander if part.label.endswith("for these data") or "for these data:" in part.label
    ]
    assert part.markdown[0].value.startswith(":material/check_circle: Agreement")


def test_of_two_classes_the_rarer_is_told_by_the_model_that_home_names():
    """The rater model of the settings, as on Models: the majority vote has 13%."""
    app, caries = home("caries"), load_sample("caries")
    share = compute_settings(caries).weigh(caries).prevalence.min()
    (said,) = [value for label, value in figures(app).items() if label.startswith("Prevalence of ")]
    assert said == f"{share:.0%}" == "20%"
    assert re.search(r"1\d% to 2\d% \(Average of models\), n = 3,869 cases", words(app))


def test_with_one_answer_a_case_home_says_that_nothing_can_be_compared():
    app = home(kept("case,rater,class\n1,a,x\n2,b,y\n3,a,x\n"))
    assert "no case was annotated twice" in app.title[0].value
    assert "only one annotation" in words(app)
    assert "majority vote" in words(app)


def test_one_case_alone_is_cautioned_about():
    assert "only one case" in words(home(kept("case,rater,class\n1,a,x\n1,b,y\n")))
    assert "only one case" not in words(home("caries"))


def test_one_rater_and_one_class_are_no_trouble():
    one = home(kept("case,rater,class\n1,a,x\n2,a,y\n3,a,x\n"))
    assert "No class is clearly the most common by majority vote" in words(one)
    same = home(kept("case,rater,class\n1,a,x\n1,b,x\n2,a,x\n2,b,x\n"))
    assert "raters agree on everything" in same.title[0].value
    assert "no case is uncertain" in same.title[0].value


def test_scores_have_their_own_agreement_and_mean_and_need_no_threshold():
    app = home(kept(SCORES))
    assert {"Score variance due to cases", "Mean score", "Median half-width of 95% intervals"} <= set(figures(app))
    assert app.number_input(key="threshold").value is None
    assert "of the variance in scores" in app.title[0].value
    app = settle(app.number_input(key="threshold").set_value(9.0).run())
    assert "certain whether the score is above 9" in words(app) and figures(app)["Uncertain cases"].endswith("%")


def test_large_data_wait_until_somebody_asks(monkeypatch):
    """Nothing heavy starts by itself; a button does it."""
    small = replace(method_named(PlausibilityMethod, "dirichlet"), most_cases=2)
    monkeypatch.setattr(home_known.plausibility_models, "method", {"dirichlet": small}.get)
    answers = [(case, rater, "xy"[(case + (case == rater == 0)) % 2]) for case in range(7) for rater in range(3)]
    rows = "".join(f"{case},{rater},{answer}\n" for case, rater, answer in answers)
    app = home(kept("case,rater,class\n" + rows))
    assert figures(app)["Uncertain cases"] == "–"
    ask = next(button for button in app.button if button.label == "Compute")
    settle(ask.click().run())
    assert figures(app)["Uncertain cases"] == "14%", "the case with two answers, of seven"


def test_the_most_ambiguous_case_opens_on_the_cases_page():
    app = home("skin")
    settle(app.button(key="home_case").click().run())
    assert any(heading.value.startswith("Case ") for heading in app.subheader)


def test_a_kept_dataset_whose_description_is_damaged_is_listed_and_can_only_be_forgotten():
    digest = kept("case,rater,class\n1,a,x\n2,b,y\n1,b,y\n", "to be damaged")
    sound = kept("case,rater,class\n1,a,x\n2,b,y\n1,b,x\n", "sound")
    (current_settings().datasets / digest / "dataset.json").write_text("{")
    app = AppTest.from_file(APP, default_timeout=300).run()
    said = words(app)
    assert (
        f"Damaged dataset {digest[:8]}" in said
        and "Could not read the description of this dataset. Delete the dataset, or save it again from its file."
        in said
    )
    keys = {button.key for button in app.button}
    assert f"open-{sound}" in keys and f"open-{digest}" not in keys and f"rename-{digest}" not in keys
    app.button(key=f"forget-{digest}").click().run()
    assert not app.exception and "Damaged dataset" not in words(app)
    assert [entry.digest for entry in library.kept() if entry.digest == digest] == []


def test_data_stay_open_with_their_filter_until_others_are_chosen():
    """The choice of data is a dialog with saved data, samples and a way to close; `tests/browser` opens some."""
    first, second = kept_small(4), kept_small(5)
    text = Selection(raters=("r0", "r1")).to_text()
    app = done(at("home", data=first, select=text).run())
    app.button(key="change_data").click().run()
    assert (app.session_state["data"], app.session_state["select"]) == (first, text)
    offered = {button.key.removeprefix("change_to-") for button in app.button if "change_to-" in (button.key or "")}
    assert offered == {second, *(sample.name for sample in SAMPLES)}
    assert app.button(key="close_data")


@pytest.mark.parametrize(("page", "n_cases"), [("home", 41), ("models", 43)])
def test_a_failed_comparison_of_rater_models_is_shown_and_can_be_tried_again(page, n_cases, monkeypatch):
    def fail(view):
        raise RuntimeError("no memory left")

    with monkeypatch.context() as broken:
        broken.setattr(opening.expected, "of_choice", fail)
        app = opened(page, kept_small(n_cases))
        assert any("no memory left" in error.value for error in app.error)
    (again,) = (button for button in app.button if button.label == "Try again")
    app = settle(again.click().run())
    assert not app.error
