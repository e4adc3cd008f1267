"""Risk levels, and how certainty goes with other things, as parts of the Reliability page."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.ordered import METHODS as RANKED_COEFFICIENTS
from core.annotations.dataset import Dataset
from core.evaluation.relations import relation
from core.evaluation.sweep_table import SweepTable
from core.figures import reliability as figures
from core.rankings.leave_one_out import leave_one_out
from core.text import exact, percent, plotly, plural, shorten, with_interval
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.kit import plausibility_models, trusted_raters, widgets


def show_risk(view: Dataset, sweep: SweepTable, theme) -> None:
    """How sure the risk levels are, and what goes with them."""
    reliability = _middle(sweep)
    risk = sweep.risk[sweep.reliabilities.index(reliability)]
    unsure = int((risk.summed < UNCERTAIN_BELOW).sum())
    st.subheader(
        f"At γ = {exact(reliability)} the risk level is less than {percent(UNCERTAIN_BELOW)} sure in {unsure:,} of "
        f"{plural(view.n_cases, 'case')}",
        anchor=False,
        help=widgets.explained("risk"),
    )
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.risk_certainty(risk, theme, "Certainty of the risk level, sorted"),
            "risk_certainty",
            "Sorted certainty of the risk level",
        )
    with right:
        widgets.plot(figures.expected_risk(risk, theme, "Expected risk of the cases"), "expected_risk", "Expected risk")
    level = np.digitize(risk.expected, (0.5, 1.5))
    per_case = np.diff(view.case_ptr)
    distinct = np.array([_distinct(view, case) for case in range(view.n_cases)])
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.by_risk([per_case[level == k] for k in range(3)], theme, "Annotations by risk", "annotations"),
            "annotations_by_risk",
            "Annotations per case by expected risk",
        )
    with right:
        widgets.plot(
            figures.by_risk(
                [distinct[level == k] for k in range(3)], theme, "Classes named by risk", "distinct classes"
            ),
            "classes_by_risk",
            "Distinct classes per case by expected risk",
        )
    frame = pd.DataFrame(
        {
            "case": view.cases,
            "expected_risk": risk.expected,
            "risk_of_top1": risk.of_top1,
            "risk_summed": risk.summed,
            "annotations": per_case,
            "distinct_classes": distinct,
        }
    )
    widgets.download(frame, "Risk of every case", "risk", "risk")


def _distinct(view: Dataset, case: int) -> int:
    annotations = view.annotations_of(case)
    if view.kind == "class":
        return len(np.unique(view.answer[annotations.start : annotations.stop]))
    return len(np.unique(view.entry_class[view.entry_ptr[annotations.start] : view.entry_ptr[annotations.stop]]))


def show_relations(dataset: Dataset, view: Dataset, sweep: SweepTable, model, rival_sweep, theme) -> None:
    """Certainty against leave-one-out agreement, and against another model."""
    reliability = _middle(sweep)
    certainty = sweep.certainty[sweep.reliabilities.index(reliability)].certainty[:, 0]
    left, right = st.columns(2, gap="large")
    with left:
        widgets.heading("Certainty and agreement", RANKED_COEFFICIENTS[0])
        agreement = leave_one_out(view)
        defined = agreement.defined
        found = relation(agreement.case[defined], certainty[defined])
        if found.correlation is None:
            st.info("No correlation: it takes three cases with two annotations or more, and some that differ.")
        else:
            interval = with_interval(found.correlation, found.ci_low, found.ci_high)
            widgets.plot(
                figures.certainty_and_agreement(
                    agreement.case[defined],
                    certainty[defined],
                    (found.intercept, found.slope),
                    theme,
                    f"Correlation {interval}, n {found.n:,} cases",
                ),
                "certainty_agreement",
                "Certainty against leave-one-rater-out agreement",
            )
            table = pd.DataFrame({"case": view.cases, "agreement": agreement.case, "certainty": certainty})
            widgets.download(table, "Both", "certainty_agreement", "certainty_agreement")
    with right:
        names = [name for name in plausibility_models.offered(dataset) if name != model.name]
        other = next((name for name in names if not trusted_raters.is_needed(plausibility_models.made(name))), None)
        if other is None:
            return
        widgets.heading("The same cases under another model", plausibility_models.method(other))
        rival = plausibility_models.made(other)
        eaten = plausibility_models.data_for(other, dataset, quietly=True)
        second = rival_sweep(eaten, rival, (float(rival.default_reliability),), (), "Certainty under another model")
        if second is None:
            return
        values = second.certainty[0].certainty[:, 0]
        found = relation(certainty, values)
        interval = with_interval(found.correlation, found.ci_low, found.ci_high)
        names = (
            f"{plausibility_models.method(model.name).title}, γ = {exact(reliability)}",
            f"{plausibility_models.method(other).title}, γ = {exact(rival.default_reliability)}",
        )
        widgets.plot(
            figures.model_against_model(
                certainty,
                values,
                names,
                tuple(plotly(shorten(case, 24)) for case in dataset.cases),
                theme,
                f"Correlation {interval}",
            ),
            "models_relation",
            "Certainty of every case under two models",
        )
        table = pd.DataFrame({"case": view.cases, names[0]: certainty, names[1]: values})
        widgets.download(table, "Both models", "certainty_models", "certainty_models")


def _middle(sweep: SweepTable) -> float:
    return sweep.reliabilities[len(sweep.reliabilities) // 2]
