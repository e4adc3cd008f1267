"""One choice of settings per dataset: Home, Cases, Models, Review, the report, the story and the commands agree.

What is compared is what each says: uncertain cases at a γ, and what weighing raters changes of the vote.
"""

import json
import re

import numpy as np
import pytest

from core import story
from core.analyses.raters import RATERS
from core.analysis_settings import compute_settings
from core.command_line import main
from core.ingest.samples import load_sample
from core.text import percent_with_interval
from pages.shared.kit import trusted_raters
from tests.pages.opened import at, opened, settle, words

LABEL = {"street": ("--label", "pedestrian")}
SAMPLES = ("skin", "replies", "knees", "caries", "anaesthesia", "street", "dermatology")
NUMBER = r"([\d,]+)"


@pytest.fixture
def command(capsys):
    """What a command gives, as JSON."""

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            raise SystemExit(main([str(one) for one in arguments]))
        output = capsys.readouterr()
        assert not end.value.code, output.err
        return json.loads(output.out)

    return run


def in_words(pattern, text):
    """The parts of the one sentence that has this form; None without it."""
    found = {match.groups() for match in re.finditer(pattern, text)}
    assert len(found) <= 1, found
    return next(iter(found), None)


def weighing(text):
    """What weighing raters changes, and by which model."""
    found = set(re.findall(r"Weighting the raters ([^(]*?) \(([^)]+)\)", text.replace("\\", "")))
    assert len(found) <= 1, found
    return next(iter(found), None)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("sample", SAMPLES)
def test_uncertain_cases_are_the_same_number_everywhere(sample, command, tmp_path):
    """At the same γ and by the same model, on Home, Cases, Review, in the report, and by the commands."""
    home, cases, review = (words(opened(page, sample)) for page in ("home", "cases", "review"))
    on_home = in_words(rf"below 90% in {NUMBER} of {NUMBER} cases? \(([^,]+), γ = ([\d.]+)\)", home)
    n, n_cases, _, gamma = on_home
    if sample != "street":  # there the title of Cases names the label
        assert in_words(rf"{NUMBER} of {NUMBER} cases? (?:is|are) uncertain at γ = ([\d.]+)", cases) == (
            n,
            n_cases,
            gamma,
        )
        assert f"of {n_cases} cases (certainty below 90% at γ = {gamma})" in review
    else:
        assert f"{n} of {n_cases} cases are uncertain for “pedestrian” at γ = {gamma}" in cases
    file = tmp_path / "report.html"
    told = command("report", sample, "--out", file, *LABEL.get(sample, ()), "--sections", "certainty,raters")
    text = re.sub(r"<[^>]+>", "", file.read_text(encoding="utf-8"))
    of = " for “pedestrian”" if sample == "street" else ""
    assert in_words(rf"{NUMBER} of {NUMBER} cases? (?:is|are) uncertain{of} at γ = ([\d.]+)\.", text) == (
        n,
        n_cases,
        gamma,
    )
    found = command("certainty", told["model"], sample, *LABEL.get(sample, ()))
    assert f"{found['n_below']['0.9']:,}" == n and f"{found['n_cases']:,}" == n_cases
    assert found["reliability"] == told["reliability"] == float(gamma)


@pytest.mark.usefixtures("known")
def test_no_number_is_shown_while_the_fit_that_its_model_needs_is_computed(monkeypatch):
    """Home had uncertain cases by counts until the ordinal model of raters was fitted, as if that were the result."""
    known = opened("home", "knees")
    assert "Ordinal truth" in words(known)
    with monkeypatch.context() as patch:
        patch.setattr(trusted_raters, "known", lambda *_: None)
        app = at("home", "knees").run()
    (card,) = [one for one in app.metric if one.label == "Uncertain cases"]
    assert card.value == "–" and "(Dirichlet counts, γ" not in words(app)
    assert in_words(r"below 90% in ([\d,]+) of", words(settle(app.run()))) == in_words(
        r"below 90% in ([\d,]+) of", words(known)
    )


@pytest.mark.usefixtures("known")
def test_scores_are_known_as_well_everywhere(command):
    """Half the width of the median interval, at the γ of the settings, on Home, on Cases and by the command."""
    home, cases = opened("home", "essays"), words(opened("cases", "essays"))
    (half,) = [one.value for one in home.metric if one.label == "Median half-width of 95% intervals"]
    gamma = in_words(r"no wider than this \(γ = ([\d.]+)\)", words(home))[0]
    found = command("certainty", "gaussian", "essays")
    assert f"is known to within {half.removeprefix('± ')} " in cases and found["reliability"] == float(gamma)
    assert half == f"± {found['width']['median'] / 2:.1f}"


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample != "dermatology"])
def test_weighing_raters_changes_the_same_everywhere(sample, command, tmp_path):
    """By the same rater model, on Models, in the report and in the story; `choose` names it."""
    app = opened("models", sample)
    on_page = weighing(words(app))
    file = tmp_path / "report.html"
    told = command("report", sample, "--out", file, *LABEL.get(sample, ()), "--sections", "raters")
    assert app.session_state["models_chosen"] == [told["rater_model"]]
    assert weighing(re.sub(r"<[^>]+>", "", file.read_text(encoding="utf-8"))) in (on_page, None)
    assert command("choose", sample, *LABEL.get(sample, ()))["opens"] == told["rater_model"]


@pytest.mark.usefixtures("known")
def test_the_story_says_what_its_pages_say():
    """Step three: P(correct) of Cases, by the same rater model as Models, and the accuracies of Raters."""
    dataset = load_sample("skin")
    settings, view = compute_settings(dataset), dataset.as_classes()[0]
    claim = story.slide(3, dataset).claim
    told, average = claim.words, settings.average(view)
    assert claim.holds and weighing(words(opened("models", "skin")))[1] == settings.rater_model.title
    assert told.endswith(f"({settings.rater_model.title})")
    of_two = average.fit.class_probability[np.diff(view.case_ptr) == 3]
    low, high = in_words(r"2 of 3 annotations agree, .* from (\d+)% to (\d+)%", told)
    assert of_two.min() < int(low) / 100 < int(high) / 100 <= of_two.max() + 0.005
    judged = RATERS.part("raters").answer(view, averaged=settings.average(view)).act.acceptable.accuracy
    most = int(np.nanargmax(judged.value))
    ends = percent_with_interval(judged.value[most], judged.low[most], judged.high[most])
    assert f"{view.raters[most]} is correct on {ends}" in told


@pytest.mark.usefixtures("known")
def test_what_somebody_chooses_on_one_page_counts_on_all():
    """γ of the slider on Cases, and a model on Models; it is said once."""
    app = opened("cases", "anaesthesia")
    app = settle(app.slider(key="reliability").set_value(2.0).run())
    assert sum("every page" in toast.value for toast in app.toast) <= 1
    home = settle(app.switch_page("pages/home.py").run())
    assert "γ = 2)" in words(home) and "Computing" not in words(home)
    app = settle(home.switch_page("pages/models.py").run())
    app = settle(app.multiselect(key="models_chosen").set_value(["tap"]).run())
    report = settle(app.switch_page("pages/report.py").run())
    assert "γ = 2" in words(report)
    assert report.session_state["_rater_model"][1].model == "tap"
