"""Evidence for γ: prediction of another rater, accuracy of the leading class, and the default γ."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from ...analysis_settings import SEED, can_choose, rests_on_beta
from ...annotations.dataset import Dataset
from ...certainty.default_reliability import DefaultReliability, default_reliability
from ...certainty.held_out_readers import N_DRAWS, HeldOutCurve, held_out_curve, reach
from ...certainty.truth_curve import TruthCurve, truth_curve
from ...errors import NotApplicableError
from ...models.choose import choose
from ...models.gold import gold_cases
from ...plausibility.learned_counts import learned_prior
from ...plausibility.protocol import PlausibilityModel
from ...text import number, plural
from ...thresholds import LEAST_GOLD
from ..blocks import Block, Figure, Heading, Name, Row, Stack, Words
from ..inputs import Inputs
from . import settings_of

READERS = ("reliability", "score", "se", "diff", "diff_se", "bias", "mc_se")
NO_GOLD = (
    "Not available: without gold, Plurality cannot show how often the leading class is correct. Add a gold file on "
    "the Upload page."
)
READERS_HEADING = Heading("What would another rater answer?", "held-out readers")
TRUTH_HEADING = Heading("How certain is the leading class?", "certainty against gold")
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Anchors:
    """Evidence for the value of γ.

    Attributes
    ----------
    opening : DefaultReliability
        Default of γ, and its reason.
    readers : HeldOutCurve or None
        Curve of held-out raters; None if there is gold and no annotation can be held out; `why_no_readers` is the
        reason.
    truth : TruthCurve or None
        Curve against gold; None with gold for fewer than two cases, and for scores.
    beta : float or None
        Independence of the annotations of a case; None if γ does not depend on it.
    why_no_readers : str
    """

    opening: DefaultReliability
    readers: HeldOutCurve | None
    truth: TruthCurve | None
    beta: float | None
    why_no_readers: str = ""


def compute(inputs: Inputs, options, progress: Progress | None = None) -> Anchors:
    """Compute both curves, β, and the default γ of pages.

    Parameters
    ----------
    inputs : Inputs
    options : AnchorOptions
    progress : callable, optional
        Called with the share done of each of them.

    Raises
    ------
    NotApplicableError
        No annotation can be held out, and there is no gold.
    """
    dataset, model = inputs.dataset, settings_of(inputs).plausibility
    how = {"seed": options.seed, "progress": progress}
    truth, readers, why = None, None, ""
    if dataset.kind != "score" and len(gold_cases(dataset)) > 1:  # scores have no correct class
        truth = truth_curve(dataset, model, n_draws=options.n_draws, **how)
    try:
        readers = held_out_curve(dataset, model, n_draws=min(N_DRAWS, options.n_draws), **how)
    except NotApplicableError as error:
        if truth is None:
            raise
        why = str(error)
    beta = _beta(dataset, model, progress) if options.beta is None else options.beta
    prior = learned_prior(dataset, model)
    opening = default_reliability(dataset, model, beta=beta, truth=truth, readers=readers, prior=prior)
    return Anchors(opening, readers, truth, beta, why)


def _beta(dataset: Dataset, model: PlausibilityModel, progress: Progress | None) -> float | None:
    """Return how far raters share mistakes, by held-out annotations as on pages; None if γ does not depend on it."""
    classes = dataset.as_classes()[0] if dataset.kind == "ranking" else dataset
    if not (rests_on_beta(model) and can_choose(classes)):
        return None
    return choose(classes, seed=SEED, difficulty=False, progress=progress).dependence


def present(found: Anchors, inputs: Inputs, options) -> list[Block]:
    """Show both curves, each with its sentence."""
    readers = [Words((Name(found.why_no_readers),))] if found.readers is None else readers_blocks(found.readers)
    truth = (
        [Words(NO_GOLD, "note")] if found.truth is None else truth_blocks(found.truth, settings_of(inputs).reliability)
    )
    right = [TRUTH_HEADING, *truth] if inputs.dataset.kind != "score" else []
    curves = Row((Stack(1, [READERS_HEADING, *readers]), Stack(1, right)), gap="large")
    return [*opening_words(found.opening), curves]


def table_of(found: Anchors, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ of the curve of held-out raters."""
    curve = found.readers
    columns = {name: [] if curve is None else getattr(curve, name).tolist() for name in READERS}
    return pd.DataFrame(columns)


def opening_words(found: DefaultReliability | None) -> list[Block]:
    """Show the reason for the default γ, its marks, and the prior.

    Parameters
    ----------
    found : DefaultReliability or None
        Default of γ; None if there is no evidence.
    """
    if found is None:
        return []
    return [
        Words((Name(found.reason),)),
        *(Words((f"γ = {number(mark.reliability)} · ", Name(mark.sentence)), "note") for mark in found.marks),
        *([] if found.prior is None else [Words((Name(found.prior_sentence),), "note")]),
    ]


def readers_blocks(curve: HeldOutCurve) -> list[Block]:
    """Show the held-out score against γ.

    Parameters
    ----------
    curve : HeldOutCurve
    """
    from ...figures import anchors as figures  # loads plotly, which the command does not need

    end = {"lowest": "at the lowest γ", "highest": "at the highest γ"}.get(curve.at_end)
    range_ = reach(curve.low, curve.high, curve.open_ends, number)
    where = f"{end} tested: the curve has no peak" if end else f"at γ = {number(curve.best)} ({range_})"
    title = f"Highest held-out score {where}"
    held = (
        f"{plural(curve.n_held_out, 'annotation')} on {plural(curve.n_cases, 'case')} "
        f"{'was' if curve.n_held_out == 1 else 'were'} held out one at a time. "
    )
    return [
        Figure(
            lambda theme: figures.held_out_readers(curve, theme, title), "Held-out score at each γ", "held_out_readers"
        ),
        Words((held, Name(curve.note)), "note"),
    ]


def truth_blocks(curve: TruthCurve, reliability: float) -> list[Block]:
    """Show the log loss of certainty against γ, and a reliability diagram at one.

    Parameters
    ----------
    curve : TruthCurve
    reliability : float
        Reliability γ of the diagram.
    """
    from ...figures import anchors as figures  # loads plotly, which the command does not need

    bins = curve.diagram(reliability)
    loss = f"Lowest log loss at γ = {number(curve.best)} ({reach(curve.low, curve.high, curve.open_ends, number)})"
    often = f"Certainty at γ = {number(reliability)} compared with the share of correct cases"
    few = (
        ""
        if curve.n_cases >= LEAST_GOLD
        else f" The default γ is chosen from gold if there are {LEAST_GOLD} or more such cases."
    )
    return [
        Figure(
            lambda theme: figures.certainty_loss(curve, theme, loss),
            f"Log loss of {curve.scored} at each γ",
            "truth_loss",
        ),
        Figure(
            lambda theme: figures.reliability_diagram(bins, theme, often),
            "Reliability diagram of certainty",
            "truth_diagram",
        ),
        Words(f"{plural(curve.n_cases, 'case')} with gold.{few}", "note"),
    ]
