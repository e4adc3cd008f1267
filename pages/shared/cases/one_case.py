"""One case on screen: what the raters said, what the truth could be, how risky it is, and what classifiers guess."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from core.analyses.cases import CASES
from core.analyses.cases import case as answer
from core.analyses.cases.case import OneCase
from core.analyses.cases.certainty import reason
from core.analyses.labels.labels import NO_LABEL
from core.annotations.dataset import Dataset
from core.figures.theme import Theme
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.protocol import PlausibilityModel
from core.reducers.metrics import score_case
from core.text import exact, html_text, markdown, shorten, simulated
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.cases import content as case_facts
from pages.shared.cases import correct
from pages.shared.kit import blocks, plausibility_models, trusted_raters, widgets
from pages.shared.kit import style as look


def show(dataset: Dataset, view: Dataset, case: int, model: PlausibilityModel, reliability: float, classifiers) -> None:
    """Draw the whole case. ``view`` is the data that the model takes: the dataset, or single classes made from it."""
    case_facts.show(dataset, dataset.cases[case])
    found = cached_cases.one_case(view, model, case, reliability)
    if dataset.kind != "score":
        said = reason(cached_cases.inputs(dataset, model, reliability), view, case)
        st.markdown(markdown(f"{said}{_doubted(view if dataset.kind == 'set' else dataset, case)}"))
    if found.n_votes < 2 or view.n_classes > 2 or found.risk is not None:  # else the heading has said all
        blocks.show([answer.summary(found, view.n_classes)])
    if dataset.kind != "score":
        correct.say(dataset, case, found)
    gold(dataset, case)
    if dataset.kind == "set":
        labels(dataset, case, model, reliability)
    left, right = st.columns(2, gap="small")
    with left.container(border=True):
        st.markdown("**Raters' annotations**")
        _chips(dataset, case, found, view)
    scaled = isinstance(model, OrdinalTruth)
    with (right if scaled else left).container(border=True):
        _plausible(view, case, found, model, reliability)
    if not scaled:
        with right.container(border=True):
            _triangle(view, case, found)
    if found.risk is not None:
        with right.container(border=True):
            blocks.show([answer.risk_triangle(found, view, _region(view))])
    if classifiers:
        with left.container(border=True):
            _classifiers(view, case, found, classifiers)
    with st.expander("Comparison of models"):
        _models(dataset, case, model, reliability)
    if not scaled:  # the scale has its own: draws of it are whole classes
        with st.expander("Plausibilities as a table"):
            part = CASES.part("case")
            asked = cached_cases.inputs(view, model, reliability)
            blocks.show(answer.as_table(part.frame(found, asked, part.options(case))))


def _region(view: Dataset):
    return lambda corners: cached_cases.region(view, corners)


def _chips(dataset: Dataset, case: int, found: OneCase, view: Dataset) -> None:
    colours = found.colours(view, look.theme())
    widgets.chips(dataset, dataset.annotations_of(case), colours, visit.flag["hide_names"])


def _plausible(view: Dataset, case: int, found: OneCase, model: PlausibilityModel, reliability: float) -> None:
    if isinstance(model, OrdinalTruth):
        probability = cached_cases.class_probability(view, model, reliability)
        blocks.show(answer.scale(probability, view, case, found.colours))
    else:
        blocks.show(answer.bars(found, view))


def gold(dataset: Dataset, case: int) -> None:
    """Draw the gold of the case, if it has any; only on Cases, because it would not be blind on Review."""
    known = dataset.gold_of_cases()
    said = None if known is None else known[case]
    if isinstance(said, str):
        st.markdown(f"Gold: **{markdown(said or NO_LABEL)}**")
    elif said is not None and np.isfinite(said):
        st.markdown(f"Gold: **{exact(said)}**")


def annotations(dataset: Dataset, view: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """Draw only the raters' annotations."""
    found = cached_cases.one_case(view, model, case, reliability)
    with st.container(border=True):
        said = ""
        if dataset.kind != "set":  # the table of labels says how they split
            said = f": {markdown(reason(cached_cases.inputs(dataset, model, reliability), view, case))}"
        st.markdown(f"**Raters' annotations**{said}")
        _chips(dataset, case, found, view)


def said_by_machines(dataset: Dataset, case: int, machines: Sequence[str]) -> None:
    """Draw the annotations of AI raters that do not count here; draws nothing if they have none.

    Parameters
    ----------
    dataset : Dataset
        With the machines.
    case : int
    machines : sequence of str
    """
    codes = {dataset.raters.index(name) for name in machines if name in dataset.raters}
    theirs = [place for place in dataset.annotations_of(case) if dataset.rater[place] in codes]
    if theirs:
        with st.container(border=True):
            st.markdown("**Annotations by AI raters** (not counted here)")
            widgets.chips(dataset, theirs, {}, False)


def plausibilities(view: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """How plausible each class is, without the rest."""
    found = cached_cases.one_case(view, model, case, reliability)
    with st.container(border=True):
        _plausible(view, case, found, model, reliability)
        if not isinstance(model, OrdinalTruth):
            blocks.show([answer.summary(found, view.n_classes)])
        correct.say(view, case, found)


def labels(dataset: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """Draw the labels of a case as a table, and a sentence on the set."""
    part, asked = CASES.part("labels"), cached_cases.inputs(dataset, model, reliability)
    found = replace(cached_cases.label_sets(dataset, model, reliability), correct=correct.of_labels(dataset))
    with st.container(border=True):
        blocks.show(part.blocks(found, asked, part.options(case, visit.flag["hide_names"])))


def _doubted(dataset: Dataset, case: int) -> str:
    """Return a sentence on raters of the case who name the majority class clearly less often than their peers."""
    if not dataset.raters_identified:
        return ""
    single, _ = cached.class_view(dataset, None)
    if not single.n_annotations:
        return ""
    found = cached_cases.named_below_peers(single)
    return answer.below_peers_said(found, dataset, case, visit.flag["hide_names"])


def _triangle(view: Dataset, case: int, found: OneCase) -> None:
    """Draw the draws on a triangle, whose corners can be chosen."""
    names, corners = answer.named_classes(found, view), answer.corners_of(found, view)
    if len(names) >= answer.CORNERS:
        corners = _chosen_corners(names, corners, f"corners-{view.digest}-{case}")
    blocks.show(answer.triangle_of(found, view, corners, _region(view)))


def _chosen_corners(names: dict[int, str], default: list[int], key: str) -> list[int]:
    # What nobody has chosen follows the draws, as at another trust.
    if key not in visit.choices or not visit.flag[f"{key}-chosen"]:
        visit.choices[key] = default
    chosen = st.multiselect(
        "Corners of the triangle",
        list(names),
        format_func=lambda code: shorten(names[code], 40),
        max_selections=answer.CORNERS,
        key=key,
        on_change=visit.flag.__setitem__,
        args=(f"{key}-chosen", True),
        help=widgets.explained("region"),
    )
    if len(chosen) == answer.CORNERS:
        return chosen
    st.caption("Choose three classes as corners. Until then, the three most plausible ones are shown.")
    return default


def _classifiers(view: Dataset, case: int, found: OneCase, classifiers) -> None:
    about = "Percentage next to each name: probability that one of these guesses is correct, for this model and γ."
    st.markdown(
        f"**Each classifier's top {answer.CORNERS} guesses**",
        help=f"{about}\n\n{widgets.explained('classifier set')}",
    )
    theme = look.theme()
    colours = found.colours(view, theme)
    st.html("".join(_guesses(view, case, found, predictions, colours, theme) for predictions in classifiers))


def _guesses(view: Dataset, case: int, found: OneCase, predictions, colours: dict[int, str], theme: Theme) -> str:
    entries = slice(predictions.ptr[case], predictions.ptr[case + 1])
    name = html_text(predictions.name)
    if entries.start == entries.stop:
        return f'<div class="chips"><span class="who">{name}</span><span class="note">no prediction</span></div>'
    codes, groups = predictions.class_code[entries], predictions.group[entries]
    p = float(score_case(found.draws, codes, groups, answer.CORNERS)[1].mean())
    error = float(np.sqrt(p * (1 - p) / found.draws.ess))
    chips = "".join(
        f'<span class="block first" style="--chip:{colours.get(int(code), theme.rest)}">'
        f"<span>{html_text(view.classes[code])}</span></span>"
        for code in codes[: answer.CORNERS]
    )
    value = f"<b>{simulated(p, error)}</b>"
    return f'<div class="chips"><span class="who">{name}</span><span>{value}</span>{chips}</div>'


def _models(dataset: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    found = []
    for name in plausibility_models.offered(dataset):
        own = name == model.name
        other = model if own else plausibility_models.made(name, dataset)
        gamma = reliability if own else other.default_reliability
        eaten = plausibility_models.data_for(name, dataset, quietly=True)
        other = trusted_raters.in_hand(eaten, other)
        if other is not None:
            title = plausibility_models.method(name).title
            found.append((title, gamma, cached_cases.one_case(eaten, other, case, gamma), eaten))
    blocks.show(answer.side_by_side(found))
