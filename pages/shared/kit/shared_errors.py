"""Raters who share errors: the matrix, the pairs that stand out, and how many independent raters these are worth."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import machines as figures
from core.machines.marks import Machine
from core.raters.shared_errors import LEAST_CASES, SharedErrors, shared_errors
from core.text import markdown, number, plural, significant
from pages.shared.kit import columns, job_progress, widgets

MOST_PAIRS = 50


def show(view: Dataset, machines: Sequence[Machine], theme, key: str) -> None:
    """The part of a page.

    Parameters
    ----------
    view : Dataset
        One class an annotation.
    machines : sequence of Machine
        Raters of it who take no part in the fit.
    theme : Theme
    key : str
        Of the page's part.
    """
    widgets.heading("Who shares errors?", "shared errors")
    codes = dict(zip(view.raters, view.coded.raters, strict=True))
    named = tuple(codes[one.name] for one in machines if one.name in codes)

    def work(job) -> SharedErrors:
        return shared_errors(view.coded, machines=named, token=job.token)

    found = job_progress.result_of((view.content_digest, "shared errors", named), "Shared errors", work, of=view)
    if found is None:
        return
    st.markdown(_sentence(found))
    family = {one.name: one.family for one in machines}
    families = [family.get(name, "") for name in found.raters]
    order = _drawn(found, families)
    title = "Colour: agreement beyond what accuracy explains · ×: beyond chance"
    widgets.plot(
        figures.shared_errors_matrix(found, order, families, theme, title), f"shared-{key}", "Raters who share errors"
    )
    if len(order) < view.n_raters:
        st.caption(_which(found, order, view.n_raters))
    pairs = found.to_frame()
    if pairs["shares"].any():
        shown = pairs[pairs["shares"]].head(MOST_PAIRS)[["rater", "other", "correlation", "cases", "p"]]
        shown["p"] = ["<.0001" if p < 1e-4 else significant(p, 2) for p in shown["p"]]
        st.dataframe(
            shown, hide_index=True, key=f"shared-{key}-pairs",
            column_config={
                "correlation": st.column_config.NumberColumn("of what accuracy leaves open", format=columns.TWO),
                "p": st.column_config.TextColumn("p by chance"),
                **columns.counts(cases="common cases"),
            },
        )  # fmt: skip
    st.caption(
        "Under a Dawid-Skene fit of people's annotations, in which raters who copy each other count as one. Cases that "
        "are hard for everybody make raters share errors, too. Where few annotations are copied the fit bends towards "
        "them, and others may stand out beside them. Errors that all raters share cannot be seen without gold."
    )
    widgets.download(pairs, "Pairs", "shared_errors", f"shared-{key}-table")


def _drawn(found: SharedErrors, families: Sequence[str]) -> list[int]:
    """Who is drawn, families together and machines last; raters of whom no pair is told would be an empty row.

    Where these are too many: machines, then those with most pairs that share errors, then with most pairs.
    """
    told = np.isfinite(found.residual) & ~np.eye(len(found.raters), dtype=bool)
    n_told, n_shared = told.sum(axis=1), found.shares.sum(axis=1)
    known = sorted(np.flatnonzero(n_told).tolist(), key=lambda j: (not found.machine[j], -n_shared[j], -n_told[j], j))
    return sorted(known[: figures.MOST_ROWS], key=lambda j: (bool(found.machine[j]), families[j], j))


def _which(found: SharedErrors, order: Sequence[int], n_raters: int) -> str:
    few = f"the others have no {LEAST_CASES} cases in common with anybody"
    if len(order) == figures.MOST_ROWS or n_raters > len(found.raters):
        few += ", or fewer annotations or pairs than these"
    said = f"Drawn: {len(order):,} of {plural(n_raters, 'rater')}; {few}."
    left = [name for j, name in enumerate(found.raters) if found.machine[j] and j not in order]
    return f"{said} Not drawn are the machines {', '.join(markdown(name) for name in left)}." if left else said


def _sentence(found: SharedErrors) -> str:
    pairs = found.pairs()
    n = int(np.isfinite(found.residual[np.triu_indices(len(found.raters), 1)]).sum())
    said = f"{len(pairs):,} of {plural(n, 'pair')} of raters share errors beyond chance."
    if not pairs:
        said = f"No two raters surely share errors ({plural(n, 'pair')} with 30 common cases or more)."
    if found.n_people < 2 or found.n_untold:
        return said
    worth = f"By their errors {plural(found.n_people, 'person', 'people')} count as {number(found.n_effective, 1)}."
    return f"{said} {worth}" if any(not found.machine[list(pair)].any() for pair in pairs) else said
