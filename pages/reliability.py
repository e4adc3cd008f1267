"""Reliability: how certain the truth is, against how much the raters are trusted."""

import pandas as pd
import streamlit as st

from core.evaluation.sweep_table import SweepTable, reliability_sweep
from core.figures import reliability as figures
from core.plausibility.dirichlet import DirichletCounts
from core.text import plural
from pages.shared import jobs_ui, look, menu, widgets

CHOICES = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
USUAL = (1.0, 2.0, 3.0, 5.0, 10.0)
N_DRAWS = 1000
SEED = 0
LEVEL = 0.9


def _sentence(sweep: SweepTable) -> str:
    first, last = sweep.certainty[0], sweep.certainty[-1]
    n_cases = len(first.cases)
    if len(sweep.reliabilities) == 1:
        return f"{first.n_below(LEVEL):,} of {plural(n_cases, 'case')} are uncertain at γ = {sweep.reliabilities[0]:g}"
    return (
        f"Certainty rises from {widgets.number(first.mean())} to {widgets.number(last.mean())} with trust, but "
        f"{last.n_below(LEVEL):,} of {plural(n_cases, 'case')} stay uncertain"
    )


def _table(sweep: SweepTable) -> pd.DataFrame:
    rows = []
    for reliability, result in zip(sweep.reliabilities, sweep.certainty, strict=True):
        row = {"reliability": reliability, "n_cases": len(result.cases)}
        for top in (1, 2, 3):
            row[f"top{top}"], row[f"top{top}_se"] = result.mean(top), result.mean_se(top)
        rows.append(
            row | {"below .5": result.n_below(0.5), "below .9": result.n_below(0.9), "below .99": result.n_below(0.99)}
        )
    return pd.DataFrame(rows)


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("How certain is the truth, and does trust change it?")
    view = widgets.class_view(dataset, "dirichlet")
    left, right, _ = st.columns([4, 2, 2])
    chosen = left.pills(
        "Reliabilities γ",
        CHOICES,
        default=USUAL,
        selection_mode="multi",
        format_func=lambda value: f"{value:g}",
        key="reliabilities",
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    alpha = right.number_input(
        "Prior α of each class",
        min_value=0.01,
        max_value=10.0,
        value=1.0,
        step=0.1,
        key="alpha",
        help=widgets.explained("alpha"),
        persist_state="session",
    )
    if not chosen:
        st.info("Choose at least one reliability.")
        return
    reliabilities = tuple(sorted(chosen))
    model = DirichletCounts(alpha=alpha)
    sweep = jobs_ui.result_of(
        (view.digest, "sweep", model.name, tuple(model.settings().items()), reliabilities, N_DRAWS, SEED),
        "Sweep over reliabilities",
        lambda job: reliability_sweep(
            model,
            view,
            reliabilities,
            n_draws=N_DRAWS,
            seed=SEED,
            token=job.token,
            progress=lambda share: job.report(share),
        ),
    )
    if sweep is None:
        return
    title.title(_sentence(sweep))
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.mean_certainty(sweep, theme, "Mean certainty against trust in the raters"),
            "mean_certainty",
            "Mean annotation certainty against reliability",
        )
    with right:
        widgets.plot(
            figures.sorted_certainty(sweep, theme, "Certainty of every case, sorted"),
            "sorted_certainty",
            "Sorted certainty of all cases for each reliability",
        )
    table = _table(sweep)
    widgets.heading("The numbers", "annotation certainty")
    st.dataframe(table, hide_index=True, key="sweep_table")
    widgets.download(table, "Sweep as CSV", "sweep.csv", "sweep_csv")
    cases = pd.DataFrame({"case": list(view.cases)})
    for reliability, result in zip(sweep.reliabilities, sweep.certainty, strict=True):
        cases[f"certainty at {reliability:g}"] = result.certainty[:, 0]
    widgets.download(cases, "Certainty of every case as CSV", "certainty_by_case.csv", "sweep_cases_csv")


menu.through_app()
_page()
