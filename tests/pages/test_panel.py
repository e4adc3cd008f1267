"""Panels of AI raters, guidelines and groups of raters on their pages."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from core.analyses.blocks import Words
from core.analyses.gate import GATE
from core.analyses.groups import GROUPS, lead_of_cases
from core.analyses.groups import lead as lead_of_groups
from core.analyses.guideline import GUIDELINE, lead
from core.analyses.models.covariates import lead as lead_of_covariates
from core.analyses.panel import PANEL, options_of
from core.belongings import add_predictions, mark_machines
from core.ingest.samples import load_sample
from core.library import keep
from core.machines.marks import Machine
from core.models.difficulty.covariates import fit_covariates
from core.text import percent_with_interval
from tests.core.agreement.guideline_simulated import simulated as confused
from tests.core.machines.panel_simulated import simulated
from tests.core.models.difficulty.covariate_examples import simulated as with_facts
from tests.core.raters.groups_simulated import simulated as grouped
from tests.pages.opened import at, settle, words

pytestmark = pytest.mark.usefixtures("known")


def with_tab(page, data, key, title):
    """The page with one of its tabs open."""
    app = at(page, data)
    app.session_state[key] = title
    return settle(app.run())


def test_the_panel_tab_says_what_the_analysis_does():
    dataset, ai = simulated(3, 150, 0.5)
    keep(dataset)
    marked = [Machine(name, "GPT" if place < 2 else "") for place, name in enumerate(ai)]
    mark_machines(dataset.digest, marked)
    app = with_tab("ai_rater", dataset.digest, "ai_tabs", "Equivalent raters")
    part = PANEL.parts[0].with_options(**options_of(dataset, marked))
    assert part.answer(dataset).words() in words(app)
    app.selectbox(key="panel_truth").select("gold").run()
    assert part.with_options(truth="gold").answer(dataset).words() in words(settle(app))


def test_one_ai_rater_is_no_panel():
    dataset, ai = simulated(3, 100)
    keep(dataset)
    mark_machines(dataset.digest, [Machine(ai[0])])
    app = with_tab("ai_rater", dataset.digest, "ai_tabs", "Equivalent raters")
    keys = [box.key for box in app.selectbox]
    assert "panel_truth" not in keys and "Equivalent raters" in [tab.label for tab in app.tabs]


def test_two_classes_are_merged_by_one_press():
    dataset = confused(1)
    keep(dataset)
    app = with_tab("agreement", dataset.digest, "agreement_tabs", "Guideline")
    found = GUIDELINE.parts[0].answer(dataset)
    assert Words(lead(found)).plain in words(app)
    app = settle(app.selectbox(key="guideline_pair").select(1).run())
    pair = found.pairs[1]
    assert app.selectbox(key=f"merge_first-{pair.first}-{pair.second}").value == pair.first
    app = settle(app.selectbox(key="guideline_pair").select(0).run())
    app.date_input(key="guideline_since").set_value(date(1970, 2, 20))
    assert "20 Feb 1970" in words(settle(app.run()))
    settle(app.button(key="merge").click().run())
    assert app.session_state["data"] != dataset.digest
    assert "A / B" in [name for box in app.selectbox for name in box.options] or "A / B" in words(app)


def test_versions_of_the_guideline_are_compared_on_the_page():
    one = confused(1)
    versions = np.where(np.arange(one.n_cases) < one.n_cases // 2, "v1", "v2")
    dataset = replace(one, case_group=tuple(versions.tolist()))
    keep(dataset)
    app = with_tab("agreement", dataset.digest, "agreement_tabs", "Guideline")
    assert "in versions other than" not in words(app)
    app.selectbox(key="guideline_version").select("v2")
    app = settle(app.run())
    whole = GUIDELINE.parts[0].with_options(version="v2").answer(dataset).changes[0]
    assert f"{percent_with_interval(*whole.after)} in v2; no clear difference" in words(app)
    assert any(set(dataset.classes) == set(one.value.get("class", ())) for one in app.dataframe)


def test_ordered_classes_that_are_no_neighbours_cannot_be_merged_on_the_page():
    one = confused(1)
    order = {"classes": tuple("ACBDE"), "answer": np.array([0, 2, 1, 3, 4], np.int32)[one.answer], "gold": None}
    dataset = replace(one, ordinal=True, **order)
    keep(dataset)
    app = with_tab("agreement", dataset.digest, "agreement_tabs", "Guideline")
    assert (GUIDELINE.parts[0].answer(dataset).pairs[0].first, app.button(key="merge").disabled) == ("A", True)
    assert "Ordered classes can be merged only with their neighbours." in words(app)


def test_groups_wait_for_a_file_of_facts():
    dataset, _ = grouped(1, kind="class")
    keep(dataset)
    said = words(with_tab("agreement", dataset.digest, "agreement_tabs", "Groups of raters"))
    assert "No facts about raters yet. Add a file to compare groups of raters." in said
    said = words(with_tab("agreement", "caries", "agreement_tabs", "Groups of raters"))
    assert "two groups of at least 8 raters are needed; these data have 5 raters" in said


def test_the_gate_checks_requirements_as_they_are_chosen_or_written():
    app = with_tab("agreement", "caries", "agreement_tabs", "Quality gate")
    assert "No requirements yet." in words(app)
    app.session_state["gate_requirements"] = ["cases >= 1", "alpha > 0.99"]
    app = settle(app.run())
    part = GATE.parts[0].with_options(requirements=("cases >= 1", "alpha > 0.99"))
    assert part.answer(load_sample("caries")).words() in words(app)
    assert any("--require 'cases >= 1'" in one.value for one in app.code)
    app.session_state["gate_requirements"] = ["gamma > 2"]
    assert "Unknown measure 'gamma' for these annotations." in words(settle(app.run()))


def test_groups_are_compared_by_cases_and_classifiers_while_the_session_has_their_facts():
    dataset, facts = grouped(1, n=120, shift=1.0, kind="class")
    keep(dataset)
    rows = [",".join(("rater", *facts.names))]
    rows += [",".join((name, *values)) for name, *values in zip(dataset.raters, *facts.values, strict=True)]
    app = at("agreement", dataset.digest)
    app.session_state["agreement_tabs"] = "Groups of raters"
    app = settle(app.run())
    table = "\n".join(rows).encode()
    app = settle(app.file_uploader(key="rater_facts").upload("facts.csv", table, "text/csv").run())
    said = words(app)
    for part, sentence in zip(GROUPS.parts, (lead_of_groups, lead_of_cases), strict=True):
        found = sentence(part.with_options(facts=facts).answer(dataset))
        assert (found if isinstance(found, str) else Words(found).plain).strip()[:60] in said
    add_predictions(
        dataset.digest, "net", "\n".join(["case,class", *(f"{case},high" for case in dataset.cases)]).encode()
    )
    app = at("reliability", dataset.digest)
    app.session_state["_rater_facts"] = (dataset.raters, facts)
    app.session_state["reliability_tabs"] = "Groups of raters"
    assert "net agrees least with region: " in words(settle(app.run()))
    app = settle(app.button(key="no_rater_facts").click().run())
    assert "No facts about raters yet. Add a file to compare groups of raters." in words(app)


def test_effects_of_columns_are_estimated_on_models():
    dataset, of_raters, _, _ = with_facts(4, 60, 20, 3)
    keep(dataset)
    app = at("models", dataset.digest)
    app.session_state["model_tabs"] = "Covariates"
    app = settle(app.run())
    assert "Choose at least one column about raters or cases." in words(app)
    assert "Add a file to estimate how these facts affect accuracy." in words(app)
    assert "Add a file to estimate how these facts affect prevalence and difficulty." in words(app)
    rows = ["rater,role,years", *(",".join(row) for row in zip(dataset.raters, *of_raters.values(), strict=True))]
    table = "\n".join(rows).encode()
    app = settle(app.file_uploader(key="rater_facts").upload("raters.csv", table, "text/csv").run())
    app = settle(app.multiselect(key="rater_columns").set_value(["years", "role"]).run())
    found = fit_covariates(dataset, {"years": of_raters["years"], "role": of_raters["role"]}, {})
    assert Words(lead_of_covariates(found)).plain.strip()[:60] in words(app)
    assert [one.column for one in found.effects] == ["years", "role"]
