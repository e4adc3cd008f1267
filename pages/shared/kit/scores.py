"""Scores as they are: the prior of plausible scores, the threshold that somebody may set, how scores are written."""

import numpy as np
import streamlit as st

from core.analyses.raters import RATERS
from core.annotations.dataset import Dataset
from core.certainty.score_trust import score_digits
from core.errors import InputError
from core.plausibility.gaussian import METHOD, GaussianScores
from core.plausibility.gaussian_prior import FittedPrior, fit_prior
from core.raters.following import Following
from core.raters.score_raters import ScoreRaters
from core.runtime.jobs import Job
from core.text import markdown, number, small, typed
from pages.shared.kit import blocks, job_progress, widgets


def threshold(place=st) -> float | None:
    """Return the threshold that splits scores if it was set on any page; otherwise None."""
    widgets.forget_split()
    return place.number_input(
        "Threshold (optional)",
        value=None,
        key="threshold",
        width=280,
        persist_state="session",
        help="With a threshold, each case has a certainty and a probability that its score is above the threshold. "
        "Without one, only the interval shows how precise the score is.",
    )


def model(dataset: Dataset, at: float | None, *, blind: bool = False) -> tuple[GaussianScores, FittedPrior] | None:
    """Return the plausibility model with its fitted prior; None, with a message, if there is none or none yet.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    at : float or None
        The threshold.
    blind : bool
        True on a page for blind reads, which must not reveal the panel's score.
    """

    def work(job: Job) -> FittedPrior | str:
        try:
            return fit_prior(dataset.coded)
        except InputError as error:
            return str(error)

    found = job_progress.result_of((dataset.content_digest, "gaussian prior"), "Prior for scores", work, of=dataset)
    if isinstance(found, str):
        st.info(f"Plausible scores need a prior. {markdown(found)}", icon=":material/block:")
        return None
    if found is None:
        return None
    if (caution := found.alike()) and not blind:
        st.warning(markdown(caution), icon=":material/warning:")
    return found.model(at), found


def about_prior(found: FittedPrior) -> None:
    """Describe the prior, among the rarer settings."""
    spread = np.sqrt(found.b0 / found.a0)
    st.caption(
        f"The prior was fitted to {found.n_scores:,} scores of {found.n_cases:,} cases. Its mean is "
        f"{number(found.m0)}, and it counts as much as {small(found.k0)} scores per case (k₀). Raters of the same "
        f"case differ by about {small(spread)} (a₀ = {small(found.a0)}, b₀ = {small(found.b0)}).",
        help=widgets.explained(METHOD),
    )
    if open_ones := found.undetermined():
        st.caption(open_ones)


def command(reliability: float) -> str:
    """Return the command that gives the same result; it already has a threshold."""
    return f"certainty {METHOD.name} FILE --reliability {typed(reliability)}"


def settings(model: GaussianScores, reliability: float) -> dict:
    """Return the settings on which the numbers of a page depend."""
    given = {name: value for name, value in model.settings().items() if value is not None}
    return {"model": METHOD.name, **given, "reliability": reliability}


def digits_of(width: np.ndarray) -> int:
    """Digits after the point that scores with intervals of these widths are written with."""
    return score_digits(float(np.median(width)))


def written(value: float, digits: int) -> str:
    """Return a score as text."""
    return number(value, digits)


def column(label: str | None, digits: int):
    """Return a column of scores."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f")


def following(dataset: Dataset) -> Following | None:
    """Return how closely raters follow the cases, with severity and spread.

    None while it is computed, or, with a message, if severity and spread cannot be determined.
    """
    part = RATERS.part("scores")
    verdict = part.applicable(dataset)
    if verdict.possible:
        return blocks.result_of(part, dataset)
    st.info(markdown(f"{verdict.reason[0].upper()}{verdict.reason[1:]}."), icon=":material/block:")
    return None


def raters(dataset: Dataset) -> ScoreRaters | None:
    """Severity and spread of the raters; None as of `following`."""
    found = following(dataset)
    return None if found is None else found.scores
