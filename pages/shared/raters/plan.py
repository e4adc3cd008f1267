"""Planning: how many more annotations, from whom and on which cases, until something is known well enough."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import raters as figures
from core.models.dawid_skene import DawidSkene
from core.models.gold import gold_cases
from core.models.gold_measures import GoldMeasures, gold_measures
from core.raters.acceptable import Acceptable
from core.raters.planning import Forecast, Goal, forecast
from core.runtime.jobs import Job
from core.text import markdown, number, percent, plural, shorten, with_interval
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress, widgets
from pages.shared.raters import plans

SEED = 0
N_WORLDS = 100
QUANTITIES = {
    "certainty": ("Mean certainty of cases, at least", 0.9),
    "agreement": ("Width of the interval of agreement (SPA), at most", 0.05),
    "accuracy": ("Width of the interval of a rater's accuracy, at most", 0.1),
    "prevalence": ("Width of the interval of a class's prevalence, at most", 0.05),
}
_BY_CLASS = ("accuracy", "prevalence")
POLICIES = {
    "random": "Any of the present cases",
    "least_certain": "The least certain cases first",
    "largest_gain": "Where an annotation changes most",
    "new_cases": "New cases of the same kind",
}


def show(view: Dataset, judged: Acceptable, theme) -> None:
    """The question, the forecast with its band, and whom to ask about first.

    Where raters have no accuracy by a model, neither theirs nor a prevalence is a goal.
    """
    plans.show(view, judged)
    widgets.heading("How many more annotations until a goal is reached?", "planning")
    crossed = _nobody_left(view)
    if crossed:
        st.caption(
            "Every rater has annotated every case: more annotations of these raters need new cases. What new raters "
            "would buy on the present ones stands above."
        )
    left, middle, right = st.columns([4, 2, 3], vertical_alignment="bottom")
    known = not judged.why and judged.own_classes
    goals = [name for name in QUANTITIES if known or name not in _BY_CLASS]
    quantity = left.selectbox(
        "Goal", goals, format_func=lambda name: QUANTITIES[name][0], key=f"plan_quantity{'' if known else '-few'}"
    )
    target = middle.number_input("Target", 0.01, 1.0, QUANTITIES[quantity][1], 0.01, key=f"plan_target-{quantity}")
    policies = ["new_cases"] if crossed else list(POLICIES)
    policy = right.selectbox("Which cases", policies, format_func=POLICIES.get, key=f"plan_policy-{crossed}")
    name = ""
    if quantity == "accuracy":
        name = st.selectbox("Rater", view.raters, key="plan_rater")
    elif quantity == "prevalence":
        name = st.selectbox("Class", view.classes, key="plan_class")
    budget = st.select_slider("At most", (250, 500, 1000, 2000, 5000), value=1000, key="plan_budget")
    content = view.coded
    goal = Goal(quantity, float(target), content.raters[view.raters.index(name)] if quantity == "accuracy" else name)
    asked = (view.content_digest, goal, policy, budget)
    if st.session_state.get("plan") != asked:
        st.button("Simulate this plan", type="primary", on_click=_ask, args=(asked,), key="plan_go")
        st.caption(f"{N_WORLDS} simulated worlds; with many classes it takes minutes.")
        return
    found = job_progress.result_of(
        (view.content_digest, "plan", goal, policy, budget, SEED),
        "Simulating the plan",
        lambda job: _planned(content, goal, policy, budget, job),
        "samplers",
        of=view,
    )
    if found is not None:
        planned, by_gold = found
        _result(view, planned, theme)
        if by_gold is not None:
            st.markdown(_gold_words(by_gold))


def _nobody_left(view: Dataset) -> bool:
    """Whether every rater has annotated every case."""
    pairs = np.unique(view.case_of_annotation.astype(np.int64) * view.n_raters + view.rater)
    return pairs.size == view.n_cases * view.n_raters


def _planned(content: Dataset, goal: Goal, policy: str, budget: int, job: Job) -> tuple[Forecast, GoldMeasures | None]:
    """The forecast, and where there is gold what it says of the model by which worlds are simulated."""
    fit = DawidSkene().fit(content, token=job.token)
    asked = {"policy": policy, "budget": budget, "n_worlds": N_WORLDS, "seed": SEED}
    planned = cached.run(job, forecast, content, content, fit, goal, **asked, seconds=expected.LONG)
    return planned, gold_measures(content, fit, seed=SEED) if len(gold_cases(content)) else None


def _gold_words(found: GoldMeasures) -> str:
    """What the simulation takes for granted, against gold."""
    right = with_interval(found.accuracy.value, found.accuracy.low, found.accuracy.high)
    return (
        f"By gold the model by which worlds are simulated is right on {right} of {plural(found.n, 'case')}. More "
        "annotations do not mend the mistakes that raters share."
    )


def _ask(plan: tuple) -> None:
    st.session_state["plan"] = plan


def _result(view: Dataset, found: Forecast, theme) -> None:
    widgets.plot(figures.plan_forecast(found, theme, _words(found)), "plan", "Forecast of the plan")
    st.caption(
        f"Now {number(found.now, 3)}. {found.n_worlds:,} simulated worlds, seed {found.seed}; "
        f"{percent(found.share_met)} of them reach the target within the budget."
    )
    for note in found.notes:
        st.caption(markdown(note))
    if found.first_cases:
        listed = ", ".join(markdown(shorten(case, 30)) for case in found.first_cases[:12])
        st.markdown(f"**Ask about these first**: {listed}{' …' if len(found.first_cases) > 12 else ''}")
    frame = pd.DataFrame(
        {"annotations added": found.extra, "median": found.value, "low": found.low, "high": found.high}
    )
    widgets.download(frame, "Forecast", "plan", "plan_table")
    who = pd.DataFrame({"rater": view.raters, "further annotations": found.by_rater})
    widgets.download(who[who["further annotations"] > 0], "Who is asked how often", "plan_raters", "plan_raters_table")


def _words(found: Forecast) -> str:
    if found.needed is None:
        return f"Within {plural(int(found.extra[-1]), 'annotation')} the target is not met"
    low = "–" if found.needed_low is None else f"{found.needed_low:,}"
    high = "more than planned" if found.needed_high is None else f"{found.needed_high:,}"
    return f"About {plural(found.needed, 'annotation')} more ({low} to {high})"
