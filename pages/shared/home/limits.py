"""What can and what cannot be done with the data in use, and why: compact, below everything else on Home."""

import streamlit as st

from core.analyses.applicable_methods import verdicts
from core.annotations.dataset import MISSING_TIME, Dataset
from core.methods import AS_IS
from core.text import plural


def show(dataset: Dataset, n_classifiers: int) -> None:
    """List, folded, what is possible with these data, and what is not for which reason."""
    possible: dict[str, list[str]] = {}
    for verdict in verdicts(dataset):
        if verdict.possible:
            possible.setdefault(verdict.reason, []).append(verdict.title)
    lines = [
        f":material/check_circle: {', '.join(titles)}{'' if reason == AS_IS else f' ({reason})'}"
        for reason, titles in possible.items()
    ]
    lacking = _lacking(dataset, n_classifiers)
    lines += [f":material/block: **{titles}**: {why}" for titles, why in lacking]
    absent = ", ".join(titles for titles, _ in lacking)
    with st.expander(f"Not available for these data: {absent}" if absent else "What is available for these data"):
        st.markdown("  \n".join(lines))


def _lacking(dataset: Dataset, n_classifiers: int) -> list[tuple[str, str]]:
    by_reason: dict[str, list[str]] = {}
    for verdict in verdicts(dataset):
        if not verdict.possible:
            by_reason.setdefault(verdict.reason, []).append(verdict.title)
    found = [(", ".join(titles), f"{reason}.") for reason, titles in by_reason.items()]
    undated = dataset.n_annotations if dataset.time is None else int((dataset.time == MISSING_TIME).sum())
    if undated == dataset.n_annotations:
        found.append(("Drift, speed and agreement over time", "the annotations have no dates."))
    elif undated:
        without = f"{plural(undated, 'annotation has', 'annotations have')} no date."
        found.append(("Drift and speed for some annotations", without))
    if not n_classifiers:
        found.append(("Classifiers under uncertain ground truth", "add a predictions file on the Reliability page."))
    if dataset.class_risk is None or (dataset.class_risk < 0).any():
        found.append(("Risk of cases", "add a risk level (low, medium, high) for every class."))
    return found
