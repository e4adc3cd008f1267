"""What plans buy, side by side: new raters, more cases, more annotations where they matter most; with their cost."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.extremes import clearly_most
from core.models.dawid_skene import DawidSkene
from core.raters.acceptable import Acceptable
from core.raters.plan_outcomes import Plan, PlanOutcomes, plan_outcomes
from core.runtime.jobs import Job
from core.text import markdown, number, percent, plural, with_interval
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import datasets as cached
from pages.shared.kit import columns, expected, job_progress, widgets

SEED = 0
N_WORLDS = 100
_CERTAINTY, _UNCERTAIN, _WIDTH, _RIGHT = range(4)


def show(view: Dataset, judged: Acceptable) -> None:
    """Three plans with their sizes, and what each buys; not how many cases are right if the model's classes slide."""
    widgets.heading("What would each plan buy?", "planning")
    if judged.why and not judged.remedy:
        st.info(
            "Plans assume that raters are right more often than by chance. Here that is not known: "
            f"{markdown(judged.why)}."
        )
    elif not judged.own_classes:
        st.info(
            "Cannot determine how many cases would be right: the classes of the model are not those of the raters. "
            "Plans show certainty and agreement."
        )
    plans, cost = _asked(view)
    content = view.coded
    key = (view.content_digest, "plan outcomes", tuple(plans), N_WORLDS, SEED)
    if st.session_state.get("plans") != key:
        st.button("Compare plans", type="primary", on_click=_ask, args=(key,), key="plans_go")
        return
    found = job_progress.result_of(
        key, "Simulating the plans", lambda job: _simulated(content, plans, job), "samplers", of=view
    )
    if found is not None:
        _result(found, cost, right=judged.own_classes)


def _asked(view: Dataset) -> tuple[list[Plan], float | None]:
    usual = max(1, round(view.n_annotations / max(1, view.n_cases)))
    first, second, third, more, money = st.columns(5, vertical_alignment="bottom")
    raters = first.number_input("New raters on every case", 0, 50, 3, key="plan_new_raters")
    cases = second.number_input(f"More cases, {plural(usual, 'annotation')} each", 0, 100_000, 20, key="plan_new_cases")
    least = third.number_input(
        "Least certain cases", 0, view.n_cases, min(100, view.n_cases), key=f"plan_least-{view.digest}"
    )
    each = more.number_input("More annotations on each", 1, 50, 2, key="plan_each")
    cost = money.number_input("Cost per annotation", 0.0, None, None, 0.1, key="plan_cost", placeholder="not given")
    asked = [
        Plan("new_raters", int(raters)),
        Plan("new_cases", int(cases), usual),
        Plan("least_certain", int(least), int(each)),
    ]
    return [plan for plan in asked if plan.n], cost


def _simulated(content: Dataset, plans: list[Plan], job: Job) -> PlanOutcomes:
    fit = DawidSkene().fit(content, token=job.token)
    options = {"n_worlds": N_WORLDS, "seed": SEED, "seconds": expected.LONG}
    return cached.run(job, plan_outcomes, content, content, fit, plans, **options)


def _ask(key: tuple) -> None:
    st.session_state["plans"] = key


def _result(found: PlanOutcomes, cost: float | None, *, right: bool) -> None:
    for words in says(found, cost, right=right):
        st.markdown(words)
    st.dataframe(
        table_of(found, cost, right=right),
        hide_index=True,
        column_config=columns.counts("annotations", "cases")
        | {"cost": st.column_config.NumberColumn(format="localized")},
        key="plans_table",
    )
    st.caption(
        f"Median and {percent(found.level)} interval over {found.n_worlds:,} simulated worlds, seed {found.seed}; in "
        "brackets "
        f"where a plan that is carried out should end. Uncertain: below certainty {number(UNCERTAIN_BELOW, 1)} under "
        "Dirichlet counts, γ = 1. New raters are like the present ones: raters who share mistakes go on to share them. "
        + ("Right: in worlds where raters err as the model takes them to; gold can show fewer cases right." * right)
    )
    with st.container(horizontal=True):
        frame = found.to_frame()
        if cost is not None:
            frame["cost"] = cost * frame["annotations"]
        if not right:
            frame = frame.drop(columns=[name for name in frame if name.startswith("right")])
        widgets.download(frame, "Plans", "plans", "plans_download", settings={"seed": SEED, "n_worlds": N_WORLDS})


def table_of(found: PlanOutcomes, cost: float | None, *, right: bool = True) -> pd.DataFrame:
    """The plans as the screen shows them: each quantity with its interval."""

    def with_ends(quantity: int) -> list[str]:
        ends = (getattr(found, end)[:, quantity].tolist() for end in ("value", "low", "high"))
        return [with_interval(*row, digits=3) for row in zip(*ends, strict=True)]

    shown = {
        "plan": ["As it is" if plan is None else plan.title for plan in found.plans],
        "annotations": found.n_annotations,
        "cost": None if cost is None else cost * found.n_annotations,
        "mean certainty": with_ends(_CERTAINTY),
        "uncertain cases": with_ends(_UNCERTAIN),
        "right": with_ends(_RIGHT) if right else None,
        "width of agreement": with_ends(_WIDTH),
    }
    return pd.DataFrame({name: column for name, column in shown.items() if column is not None})


def says(found: PlanOutcomes, cost: float | None, *, right: bool = True) -> list[str]:
    """Which plan buys most of each quantity for its annotations, where that is sure, in a sentence."""
    n = found.n_annotations[1:].astype(float)
    if not n.size:
        return []
    sentences = []
    for quantity, words, digits in ((_RIGHT, "right cases", 3), (_CERTAINTY, "certainty", 3))[not right :]:
        sure = np.sign(found.gain_low[1:, quantity]) > 0
        if not sure.any():
            sentences.append(f"No plan surely buys {words}.")
            continue
        each = [part[1:, quantity] / n for part in (found.gain, found.gain_low, found.gain_high)]
        best = 0 if n.size == 1 else clearly_most(*each)
        if best is None or not sure[best]:
            sentences.append(f"No plan clearly buys most {words}.")
            continue
        gain = number(float(found.gain[best + 1, quantity]), digits)
        price = f" at a cost of {number(cost * n[best])}" if cost is not None else ""
        sentences.append(
            f"For {plural(int(n[best]), 'annotation')}{price}, **{found.plans[best + 1].title}** buys "
            f"{'most' if n.size > 1 else 'more'} {words}: +{gain}."
        )
    return sentences
