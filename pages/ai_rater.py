"""AI rater: whether an AI rater can replace a person, how many raters it is worth, and where it differs."""

import streamlit as st

from core.analyses.panel import PANEL, options_of
from core.annotations.dataset import Dataset
from core.machines.alternative_test import EPSILON, EPSILONS
from core.machines.annotation_scores import TITLES
from core.machines.marks import Machine, described
from core.machines.sentences import silences, verdict
from core.text import exact, markdown, typed
from pages.shared.ai_rater import computed, marking, parts, rates, versions
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, evidence, navigation, provenance, shared_errors, state, widgets
from pages.shared.kit import style as look

TEST = "alternative annotator test"


def _settings(dataset: Dataset, marked: tuple[Machine, ...]) -> tuple[float, str]:
    """ε and how near annotations are, with who is a machine, in one row."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="machine_settings"):
        who = st.segmented_control(
            "The AI would replace", list(EPSILONS), default="experts", required=True, key="epsilon_kind",
            format_func=lambda name: f"{name} (ε = {exact(EPSILONS[name])})", help=widgets.explained(TEST),
            persist_state="session", width="content",
        )  # fmt: skip
        with st.container(horizontal=True, gap="small", width="content"):  # neither falls alone into a second row
            with st.popover("More", icon=":material/tune:", key="machine_more"):
                own = st.checkbox("Custom ε", key="own_epsilon")
                epsilon = st.slider("ε", 0.0, 0.5, EPSILON, 0.01, key="epsilon") if own else EPSILONS[who]
                scores = {"class": ["accuracy"], "score": ["rmse", "accuracy"], "ranking": ["overlap"]}[dataset.kind]
                if dataset.kind == "class" and (dataset.ordinal or all(name.isdigit() for name in dataset.classes)):
                    scores.append("rmse")
                score = st.radio("Measure of similarity", scores, format_func=TITLES.get, key=f"score-{scores}")
            marking.again(state.whole().dataset, marked)
    return float(epsilon), score


def _compared(dataset: Dataset, marked: tuple[Machine, ...]) -> computed.Machines | None:
    """Machines and people; None where nothing can be compared, with what is missing on screen."""
    if not dataset.raters_identified:
        st.info(
            "These annotations are anonymous, so raters cannot be compared with an AI rater. You can still check its "
            "predictions on the Reliability page, which does not need names.",
            icon=":material/block:",
        )
        st.page_link("pages/reliability.py", label="Evaluate its predictions", icon=":material/trending_up:")
        return None
    machines = computed.with_classifiers(dataset, tuple(one.name for one in marked))
    if not machines.names:
        marking.first(state.whole().dataset)
        marking.bring(dataset)
        st.info(
            "No AI raters yet. Mark the raters that are models, or add a file of a model's annotations.",
            icon=":material/info:",
        )
        return None
    if len(machines.people) < 2:
        marking.again(state.whole().dataset, marked)
        _too_few_people(len(machines.people))
        return None
    return machines


def _too_few_people(n: int) -> None:
    """Explain which other raters the test needs, and where to add their annotations."""
    found = "only one rater is a person" if n else "every rater is marked as an AI rater"
    st.info(
        f"The test needs at least two people in addition to the AI rater, but {found}. Open a file that also "
        "contains people's annotations of these cases.",
        icon=":material/info:",
    )
    st.page_link("pages/upload.py", label="Open both files", icon=":material/upload_file:")


def _page() -> None:
    widgets.require_data()
    title = st.empty()
    title.title("Can an AI rater replace a rater?")
    found = state.with_machines()
    if found is None or state.whole() is None:
        return
    reading, marked = found
    dataset = widgets.class_view(reading.dataset) if reading.dataset.kind == "set" else reading.dataset
    people, machines = dataset, _compared(dataset, marked)
    if machines is None:
        return
    dataset = machines.dataset
    epsilon, score = _settings(dataset, marked)
    result = computed.of(machines, epsilon, score)
    if result is None:
        return
    title.title(markdown(verdict(result.test)))
    parts.verdicts(result, silences(dataset, machines.people, result.test.machines))
    evidence.none_here(machines.names)
    settings = {"machines": list(machines.names), "epsilon": epsilon, "score": score, "seed": computed.SEED}
    asked = f"machine FILE --machine {','.join(machines.names)} --epsilon {typed(epsilon)} --score {score}"
    provenance.show(dataset, ["machines"], asked, settings, "machines", state.selected_with_machines())
    _parts(machines, marked, result, score)
    marking.bring(people)


def _parts(machines: computed.Machines, marked: tuple[Machine, ...], result: computed.Computed, score: str) -> None:
    theme, dataset = look.theme(), machines.dataset

    def gamma() -> float:
        return computed.reliability(dataset, machines.people) if dataset.kind != "score" else 1.0

    def by_part() -> None:
        parts.by_part(*computed.subgroup_differences(machines, score, gamma()), result.test.epsilon, theme)

    def differs() -> None:
        parts.differs(machines, gamma())
        if dataset.kind != "score" and computed.may_move(dataset, machines.people):
            st.caption(
                "Provisional: γ is still being chosen from the data. The choice can change which panels are confident."
            )

    marked_or_named = described(machines.names, marked)
    view = dataset
    if dataset.kind == "ranking":
        widgets.class_view(dataset.select(raters=machines.people))  # the line counts rankings of raters, as elsewhere
        view = cached.class_view(dataset, None)[0]
    worth = [lambda: parts.worth(result, theme, dataset.kind == "ranking")]
    errors = [lambda: rates.show(machines)]
    if dataset.kind != "score":
        if len(machines.names) > 1:
            panel = PANEL.part("worth").with_options(**options_of(view, marked_or_named))
            worth.append(lambda: blocks.answer(panel, view))
        errors.append(lambda: shared_errors.show(view, marked_or_named, "machines"))
    tabs = {
        "Against each rater": [
            lambda: parts.replaces(result, theme),
            lambda: parts.people(result, theme),
            lambda: parts.over_epsilon(result.test, theme),
        ],
        "Disagreements": [differs, by_part],
        "Equivalent raters": worth,
        "Errors": errors,
        "Versions": [lambda: versions.show(machines, marked_or_named, score, theme)],
    }
    for shown, tab in zip(tabs.values(), widgets.tabs(list(tabs), "ai_tabs"), strict=True):
        if tab.open:
            with tab:
                for show in shown:
                    show()


navigation.through_app()
_page()
