"""Guided tour of seven steps through two samples: what each step claims, with the figure that shows it.

Claims and figures ship with the samples, so that nothing is computed before an audience. `sample_data/make_tour.py`
computes them, and a test computes them again and compares. Raters are coded by position: a slide serves with names and
without.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Literal

from .annotations.dataset import Dataset
from .annotations.rater_codes import with_names
from .ingest.samples import SAMPLE_FOLDER

SAMPLE = "skin"
METRIC = "top3_accuracy"
FILE = SAMPLE_FOLDER / "tour.json"


@dataclass(frozen=True, slots=True)
class StoryStep:
    """Step of the tour: its title, its page, one thing to try there, and its sample."""

    title: str
    page: str
    attempt: str
    data: str = SAMPLE


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a step on the data, in words, and whether it is true."""

    words: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark of a slide's figure.

    Attributes
    ----------
    name : str
        Row, column or line to which it belongs.
    value : float
    low, high : float or None
        Ends of its interval.
    reference : float or None
        Value to compare with, drawn as a cross.
    at : float or None
        Place along a line.
    label : str
        Text next to the mark.
    strong : bool
        True if the claim is about this mark.
    open : bool
        True if the result of this mark is inconclusive.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    reference: float | None = None
    at: float | None = None
    label: str = ""
    strong: bool = False
    open: bool = False


@dataclass(frozen=True, slots=True)
class Slide:
    """Slide of a step.

    Attributes
    ----------
    claim : Claim
        Claim in full, as the tour states it above the page.
    headline : str
        The same in one line.
    kind : {"intervals", "bars", "columns", "lines"}
        How the marks are drawn.
    marks : tuple of Mark
    axis : str
        Title of the axis of values.
    basis : str
        Model, numbers of cases and the meaning of the marks.
    case_id : str
        Case of the step; empty if it has none.
    """

    claim: Claim
    headline: str
    kind: Literal["intervals", "bars", "columns", "lines"]
    marks: tuple[Mark, ...]
    axis: str
    basis: str
    case_id: str = ""


STEPS = (
    StoryStep(
        "Raters disagree",
        "agreement",
        "Under “Pairwise agreement”, click the palest cell to see the cases on which the two raters differ.",
    ),
    StoryStep(
        "The majority vote hides disagreement",
        "cases",
        "Click a case at the top of the worklist, and compare the annotations with the plausible classes.",
    ),
    StoryStep(
        "A model weights the raters",
        "models",
        "Open the Raters page, and compare the accuracies and the widths of their intervals.",
    ),
    StoryStep(
        "This case has two plausible truths",
        "cases",
        "Move the slider: how high must γ be before only one class remains plausible?",
    ),
    StoryStep(
        "The classifier looked better than it is",
        "reliability",
        "Follow its line. At lower γ, it falls further below the cross, which marks the score against one label per "
        "case.",
    ),
    StoryStep(
        "The ranking of classifiers depends on γ",
        "reliability",
        "Choose “top-1 accuracy” above the figure. By this metric, one classifier leads at every γ.",
    ),
    StoryStep(
        "One AI rater can replace a rater, but another cannot",
        "ai_rater",
        "Open the tab “Errors” and find “Who shares errors?”. Two versions of the same model make the same mistakes, "
        "so they are worth less than two raters.",
        "replies",
    ),
)


def slide(number: int, dataset: Dataset) -> Slide | None:
    """Return the shipped slide of a step with the names of these raters; None if it is of other annotations.

    Parameters
    ----------
    number : int
        Number of the step, from 1.
    dataset : Dataset
        Sample of the step, with all of its AI raters for the last one.
    """
    digest, found = _shipped()[number - 1]
    return with_names(found, dataset) if digest == dataset.content_digest else None


@cache
def _shipped() -> tuple[tuple[str, Slide], ...]:
    return tuple(_read(one) for one in json.loads(FILE.read_text(encoding="utf-8")))


def _read(one: dict) -> tuple[str, Slide]:
    marks = tuple(Mark(**mark) for mark in one["marks"])
    return one.pop("content_digest"), Slide(**one | {"claim": Claim(**one["claim"]), "marks": marks})
