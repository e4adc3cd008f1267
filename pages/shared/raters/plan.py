"""Planning: what plans buy side by side, whom to ask next, and how many more annotations a goal needs."""

from dataclasses import replace

import numpy as np
import streamlit as st

from core.analyses.raters import RATERS, PlanOptions, PlansOptions
from core.analyses.raters.planning import pairs_to_ask, per_case
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.annotations.vocabulary import to_numbers
from core.errors import PluralityError
from core.raters.accuracy_threshold import JudgedAccuracy
from core.text import markdown, plural
from pages.shared.cache import visit
from pages.shared.kit import blocks, groups, job_progress, opening, state, widgets

QUANTITIES = {
    "certainty": ("Minimum mean certainty of cases", 0.9),
    "agreement": ("Maximum width of the agreement interval (SPA)", 0.05),
    "accuracy": ("Maximum width of a rater's accuracy interval", 0.1),
    "prevalence": ("Maximum width of a class's prevalence interval", 0.05),
}
_BY_CLASS = ("accuracy", "prevalence")
POLICIES = {
    "random": "Any current case",
    "least_certain": "Least certain cases first",
    "largest_gain": "Cases that one more annotation would change most",
    "new_cases": "New cases of the same kind",
}


def show(view: Dataset, judged: JudgedAccuracy) -> None:
    """Both questions; where raters have no accuracy by a model, neither theirs nor a prevalence is a goal."""
    _plans(view, judged)
    _ask_next(view)
    widgets.heading("How many more annotations do you need to reach a goal?", "planning")
    crossed = _nobody_left(view)
    if crossed:
        st.caption(
            "Every rater has annotated every case, so these raters need new cases. The plans above show the effect "
            "of new raters on the current cases."
        )
    asked = _goal(view, crossed, known=not judged.why and judged.own_classes)
    if visit.other["plan"] == (view.content_digest, asked):
        _show("plan", view, asked)
        return
    st.button("Simulate this plan", type="primary", on_click=_press, args=("plan", view, asked), key="plan_go")
    st.caption(f"The plan is tested on {asked.n_worlds} simulated datasets. With many classes, this takes minutes.")


def _ask_next(view: Dataset) -> None:
    """Draw pairs of rater and case by the average of rater models, once it is known."""
    if (job := opening.choice_job(view)) is None:
        return
    part = RATERS.part("ask-next")
    widgets.heading(part.title, "expected gain")
    options = replace(blocks.controls(part), costs=_costs(view))
    if (judged := opening.choice(view)) is None:
        st.caption(opening.CHOOSING_RATERS)
        job_progress.redraw_after(job)
        return
    try:
        found = pairs_to_ask(judged.averaged, view, options, [machine.name for machine in state.marked_machines()])
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    blocks.show(part.blocks(found, view, options))


def _costs(view: Dataset) -> tuple[tuple[str, float], ...]:
    """Return the cost of an annotation by each rater, if the facts of the raters have a column "cost"."""
    facts = groups.facts(view)
    if facts is None or "cost" not in facts.names:
        return ()
    costs = to_numbers(facts.values[facts.names.index("cost")])
    return tuple(zip(view.raters, costs.tolist(), strict=True))


def _goal(view: Dataset, crossed: bool, *, known: bool) -> PlanOptions:
    left, middle, right = st.columns([4, 2, 3], vertical_alignment="bottom")
    goals = [name for name in QUANTITIES if known or name not in _BY_CLASS]
    quantity = left.selectbox(
        "Goal", goals, format_func=lambda name: QUANTITIES[name][0], key=f"plan_quantity{'' if known else '-few'}"
    )
    usual, key = QUANTITIES[quantity][1], f"plan_target-{quantity}"
    target = middle.number_input("Target (0 to 1)", 0.01, 1.0, usual, 0.01, key=key)
    policies = ["new_cases"] if crossed else list(POLICIES)
    policy = right.selectbox("Which cases", policies, format_func=POLICIES.get, key=f"plan_policy-{crossed}")
    name = ""
    if quantity == "accuracy":
        rater = st.selectbox("Rater", view.raters, key="plan_rater")
        name = view.coded.raters[view.raters.index(rater)]
    elif quantity == "prevalence":
        name = st.selectbox("Class", view.classes, key="plan_class")
    budgets = (250, 500, 1000, 2000, 5000)
    budget = st.select_slider("Maximum number of new annotations", budgets, value=1000, key="plan_budget")
    return PlanOptions(quantity, float(target), name, policy, budget)


def _plans(view: Dataset, judged: JudgedAccuracy) -> None:
    """Three plans with their sizes, and what each buys; not how many cases are right if the model's classes slide."""
    widgets.heading("What would each plan improve?", "planning")
    if judged.why and not judged.remedy:
        st.info(
            "Plans assume that raters are more accurate than chance. These data cannot confirm this: "
            f"{markdown(judged.why)}."
        )
    elif not judged.own_classes:
        st.info(
            "Cannot determine how many cases would get the correct class: the model and the raters use different "
            "classes. Plans show only certainty and agreement."
        )
    asked, cost = _sizes(view)
    if visit.other["plans"] == (view.content_digest, asked):
        _show("plans", view, asked, cost=cost, right=judged.own_classes)
    else:
        st.button("Compare plans", type="primary", on_click=_press, args=("plans", view, asked), key="plans_go")


def _sizes(view: Dataset) -> tuple[PlansOptions, float | None]:
    first, second, third, more, money = st.columns(5, vertical_alignment="bottom")
    raters = first.number_input("New raters on every case", 0, 50, 3, key="plan_new_raters")
    label = f"More cases, {plural(per_case(view), 'annotation')} each"
    cases = second.number_input(label, 0, 100_000, 20, key="plan_new_cases")
    least = third.number_input(
        "Least certain cases", 0, view.n_cases, min(100, view.n_cases), key=f"plan_least-{view.digest}"
    )
    each = more.number_input("More annotations per case", 1, 50, 2, key="plan_each")
    cost = money.number_input("Cost per annotation", 0.0, None, None, 0.1, key="plan_cost", placeholder="not given")
    return PlansOptions(int(raters), int(cases), int(least), int(each)), cost


def _show(name: str, view: Dataset, asked, **display) -> None:
    """Draw the result of a part; a change of the display alone computes nothing again."""
    part, compared = RATERS.part(name), opening.choice(view)
    averaged = None if compared is None else with_codes(compared.averaged, view)
    found = blocks.result_of(part, view, asked, averaged=averaged)
    if found is not None:
        blocks.show(part.blocks(found, view, replace(asked, **display)))


def _press(name: str, view: Dataset, asked) -> None:
    visit.other[name] = (view.content_digest, asked)


def _nobody_left(view: Dataset) -> bool:
    """Return True if every rater has annotated every case."""
    pairs = np.unique(view.case_of_annotation.astype(np.int64) * view.n_raters + view.rater)
    return pairs.size == view.n_cases * view.n_raters
