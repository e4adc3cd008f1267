"""Agreement: how much do the raters agree, beyond chance, pairwise, by class, over time, and on which cases."""

from collections.abc import Mapping
from shlex import quote

import streamlit as st

from core.agreement.coefficient_methods import any_coefficient
from core.analyses.agreement import AGREEMENT
from core.analyses.agreement.pairs import busiest
from core.analyses.agreement.precision import adaptive_warning
from core.analyses.gate import GATE, SUGGESTED
from core.analyses.groups import GROUPS
from core.analyses.guideline import GUIDELINE
from core.analyses.inputs import Inputs
from core.analyses.questions import QUESTIONS
from core.annotations.dataset import Dataset
from core.annotations.ordering import scale_order
from core.text import markdown, plural
from pages.shared.agreement import compare as agreement_compare
from pages.shared.agreement import guideline as agreement_guideline
from pages.shared.agreement import pairs as agreement_pairs
from pages.shared.cache import agreement as cached_agreement
from pages.shared.cache import analyses, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, gate, gold_of_reviews, groups, job_progress, navigation, provenance, state, widgets


def _questions(questions: Mapping[str, str]) -> None:
    """Agreement, rater model and flagged raters of each question.

    Parameters
    ----------
    questions : mapping of str to str
        Names to digests.
    """
    part = QUESTIONS.parts[0]
    found = [(name, dataset) for name, digest in questions.items() if (dataset := _as_on_its_pages(digest)) is not None]
    inputs, options = Inputs(found[0][1], questions=tuple(found)), part.resolve()
    digests = tuple(questions.values())  # by which it goes with data that are erased
    key = ("questions", digests, *((name, dataset.digest, dataset.names_digest) for name, dataset in found))
    result = job_progress.result_of(
        key,
        "Comparing the questions",
        lambda job: part.answer(inputs, options, token=job.token, progress=job.report),
    )
    if result is not None:
        blocks.show(part.blocks(result, inputs, options))


def _as_on_its_pages(digest: str) -> Dataset | None:
    """Return a question without raters who do not count and with gold of reviews, as on its own pages."""
    with state.looking_at(digest):
        reading = state.current()
        return None if reading is None else gold_of_reviews.applied(reading.dataset)


def _groups(view: Dataset) -> None:
    """Ask for facts of the raters, and compare their groups."""
    if not GROUPS.parts[0].applicable(view).possible:
        blocks.answer(GROUPS.parts[0], view)
        return
    facts = groups.ask(view)
    if facts is None:
        return
    for part in GROUPS.parts:
        blocks.answer(part.with_options(facts=facts), view)


def _gate(dataset: Dataset) -> None:
    """Ask for requirements, and check them."""
    st.multiselect(
        "Requirements", [*dict.fromkeys((*SUGGESTED, *gate.requirements()))], key="gate_requirements",
        accept_new_options=True, placeholder="Choose a requirement, or type one such as alpha >= 0.6",
        persist_state="session",
        help="Enter a measure, a comparison sign and a number. If Plurality does not know the measure, it lists all "
             "measures.",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle("The whole interval must meet the requirement", key="gate_confident", persist_state="session")
        st.number_input(
            "Look number", 1, None, None, key="gate_look", width=200, placeholder="Only this one",
            persist_state="session",
            help="If you check growing data repeatedly, enter 1 for the first look, 2 for the second and so on. The "
                 "intervals are then valid over all looks.",
        )  # fmt: skip
    if not gate.requirements():
        st.caption("No requirements yet. Add one to see whether the data meet it.")
        return
    report = None if state.whole() is None else state.whole().report
    part = GATE.part("requirements").with_options(**gate.options())
    if report is not None:
        part = part.with_options(n_rows=report.n_rows, n_dropped=report.n_rows - report.n_kept)
    blocks.answer(part, dataset)


MOST_ORDERED = 20
_COMPARE = "Compare"


def _order(dataset: Dataset) -> Dataset:
    """Ask whether the classes are ordered; nothing is guessed."""
    if dataset.kind != "class" or not 3 <= dataset.n_classes <= MOST_ORDERED:
        return dataset
    with st.popover("Order of the classes", icon=":material/sort:", type="tertiary", key="class_order_popover"):
        means = st.toggle(
            "Their order is meaningful",
            value=dataset.ordinal,
            key=f"ordinal-{dataset.digest}",
            persist_state="session",
        )
        order = st.multiselect(
            "From lowest to highest (to change the order, remove all classes and choose them again)",
            dataset.classes,
            default=list(dataset.classes if dataset.ordinal else scale_order(dataset.classes) or dataset.classes),
            key=f"order-{dataset.digest}",
            disabled=not means,
            persist_state="session",
        )
        if not means:
            return dataset
        if len(order) < dataset.n_classes:
            st.info(f"Not ordered yet: {plural(dataset.n_classes - len(order), 'class', 'classes')}.")
            return dataset
    if dataset.ordinal and tuple(order) == dataset.classes:
        return dataset
    return cached_agreement.ordered(dataset, order)


def _repeats(dataset: Dataset) -> None:
    """Draw the choice of how a rater's repeated annotations on the same case count."""
    n_repeats = cached_agreement.n_repeats(dataset)
    if n_repeats and dataset.kind != "score":
        st.caption(
            f":material/repeat: {n_repeats:,} of {plural(dataset.n_annotations, 'annotation')} "
            f"{'repeats' if n_repeats == 1 else 'repeat'} an earlier annotation by the same rater on the same case. "
            "This page treats repeats as annotations by a different rater. “By rater” shows how far raters agree "
            "with themselves."
        )


def _coefficients(dataset: Dataset) -> None:
    blocks.answer(AGREEMENT.part("coefficients"), dataset)
    _repeats(dataset)
    if not dataset.traits.needs_split:
        view, _ = cached.class_view(dataset, None)  # what it left out is a note beside the figure
        if view.n_annotations:
            blocks.show(adaptive_warning(cached_agreement.adaptive(view)))


def _pairs(view: Dataset) -> None:
    part = AGREEMENT.part("pairs")
    raters = busiest(view).raters
    coefficient = visit.choice["pair_coefficient"] or part.options().coefficient
    key = f"pairs-{coefficient}"
    clicked = agreement_pairs.choosing(raters, f"{key}-{view.digest}")
    blocks.answer(part, view, {key: clicked, "pairs": lambda _: agreement_pairs.two(view, raters)})


def _view(dataset: Dataset) -> Dataset:
    """Single classes, by which raters are compared two by two; scores by a threshold, sets one label at a time."""
    if dataset.traits.needs_split:
        widgets.heading("As two classes" if dataset.kind == "score" else "One label at a time")
    return widgets.class_view(dataset)


def _page() -> None:
    dataset = widgets.require_data().dataset
    title = st.empty()
    title.title("How much do the raters agree?")
    verdict = any_coefficient(dataset)
    if not verdict.possible:
        st.info(
            f"{verdict.title}: not possible with these data, because {markdown(verdict.reason)}.",
            icon=":material/block:",
        )
        return
    dataset = _order(dataset)
    found = analyses.result(AGREEMENT.part("coefficients"), dataset)
    title.title(found.words())
    own = {"coefficients": lambda: _coefficients(dataset), "pairs": lambda: _pairs(_view(dataset))}
    parts = {
        part.title: own.get(part.name, lambda part=part: blocks.answer(part, _view(dataset)))
        for part in AGREEMENT.parts
    }
    parts[_COMPARE] = lambda: agreement_compare.selections(_view(dataset), state.split(dataset))
    names = [*list(parts)[:-2], _COMPARE, list(parts)[-2]]
    parts[GUIDELINE.title] = lambda: agreement_guideline.show(_view(dataset))
    parts[GROUPS.title] = lambda: _groups(dataset if dataset.kind == "score" else _view(dataset))
    parts[GATE.title] = lambda: _gate(dataset)
    names += [GUIDELINE.title, GROUPS.title, GATE.title]
    if several := cached.questions(visit.data):
        parts[QUESTIONS.title] = lambda: _questions(several)
        names.append(QUESTIONS.title)
    for name, tab in zip(names, widgets.tabs(names, "agreement_tabs"), strict=True):
        if tab.open:
            if name != _COMPARE:
                del visit.compare  # the address says nothing of a comparison then
            with tab:
                parts[name]()
    ordinal = f" --ordinal --classes {quote(','.join(found.order))}" if found.order else ""
    settings = {"kind": found.kind, "level": 0.95} | ({"order": list(found.order)} if found.order else {})
    provenance.show(dataset, ["agreement"], f"agreement FILE{ordinal}", settings, "agreement")


navigation.through_app()
_page()
