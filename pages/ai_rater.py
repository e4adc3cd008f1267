"""AI as a rater: whether a machine may stand in for a person, how many it is worth, and where it differs."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.machines.alternative_test import EPSILON, EPSILONS
from core.machines.annotation_scores import TITLES
from core.machines.marks import Machine
from core.machines.sentences import verdict
from core.text import markdown
from pages.shared.ai_rater import computed, marking, parts
from pages.shared.kit import navigation, provenance, shared_errors, state, widgets
from pages.shared.kit import style as look

TEST = "alternative annotator test"


def _settings(dataset: Dataset) -> tuple[float, str]:
    left, right = st.columns([3, 2], vertical_alignment="bottom", gap="medium")
    who = left.segmented_control(
        "Whom it would replace", list(EPSILONS), default="experts", required=True, key="epsilon_kind",
        format_func=lambda name: f"{name} (ε = {EPSILONS[name]:g})", help=widgets.explained(TEST),
        persist_state="session",
    )  # fmt: skip
    with right.popover("More", icon=":material/tune:", key="machine_more"):
        own = st.checkbox("Another ε", key="own_epsilon")
        epsilon = st.slider("ε", 0.0, 0.5, EPSILON, 0.01, key="epsilon") if own else EPSILONS[who]
        scores = {"class": ["accuracy"], "score": ["rmse", "accuracy"], "ranking": ["overlap"]}[dataset.kind]
        if dataset.kind == "class" and (dataset.ordinal or all(name.isdigit() for name in dataset.classes)):
            scores.append("rmse")
        score = st.radio("How near annotations are", scores, format_func=TITLES.get, key=f"score-{scores}")
    return float(epsilon), score


def _page() -> None:
    widgets.require_data()
    title = st.empty()
    title.title("May a machine stand in for a rater?")
    found = state.with_machines()
    whole = state.whole()
    if found is None or whole is None:
        return
    reading, marked = found
    dataset = reading.dataset
    if not dataset.raters_identified:
        st.info("These annotations are anonymous, so that no rater can be compared with a machine.",
                icon=":material/block:")  # fmt: skip
        return
    marking.show(whole.dataset, marked)
    dataset, machines = computed.with_classifiers(dataset, tuple(one.name for one in marked))
    people = tuple(name for name in dataset.raters if name not in set(machines))
    if not machines:
        st.info("No rater is marked as a machine, and no classifier's predictions are open.", icon=":material/info:")
        return
    if len(people) < 2:
        st.info("The test needs two people or more beside the machine.", icon=":material/info:")
        return
    st.caption("Machines count for no panel and no truth here: people are compared with people.")
    epsilon, score = _settings(dataset)
    result = computed.of(dataset, machines, people, epsilon, score)
    if result is None:
        return
    title.title(markdown(verdict(result.test)))
    settings = {"machines": list(machines), "epsilon": epsilon, "score": score, "seed": computed.SEED}
    asked = f"machine FILE --machine {','.join(machines)} --epsilon {epsilon:g} --score {score}"
    provenance.show(dataset, ["machines"], asked, settings, "machines", state.selected_with_machines())
    theme = look.theme()
    tabs = {
        "May it replace a rater?": lambda: parts.replaces(result, theme),
        "Over ε": lambda: parts.over_epsilon(result.test, theme),
        "Every rater through the test": lambda: parts.people(result, theme),
        "Worth how many readers": lambda: parts.worth(result, theme),
        "Where it differs": lambda: parts.differs(dataset, machines, people, computed.reliability(dataset, people)),
    }
    if dataset.kind != "score":
        of = {one.name: one for one in marked}
        view = widgets.class_view(dataset) if dataset.kind == "ranking" else dataset
        all_of_them = [of.get(name, Machine(name)) for name in machines]
        tabs["Shared errors"] = lambda: shared_errors.show(view, all_of_them, theme, "machines")
    for (_, show), tab in zip(tabs.items(), widgets.tabs(list(tabs), "ai_tabs"), strict=True):
        if tab.open:
            with tab:
                show()


navigation.through_app()
_page()
