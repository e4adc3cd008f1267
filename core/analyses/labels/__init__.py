"""Labels of all cases, to use or to train on: the parts of the analysis, with their options."""

from dataclasses import dataclass
from typing import Any

from ...methods import Verdict
from ...thresholds import UNCERTAIN_BELOW
from ..base import Analysis, option, part_of
from ..inputs import Inputs

RULES = {"average": "Rater model", "vote": "Majority vote", "review": "Review first"}
SCORE_RULES = {"average": "Plausible score", "vote": "Mean score", "review": "Review first"}
BELOW = {"mark": "Keep and mark", "blank": "Leave blank", "out": "Leave out"}


def _rule(titles: dict[str, str]) -> Any:
    return option(
        "average", "Label by", tuple(titles), titles.__getitem__, key="label_rule", look="radio",
        help="Rule for choosing labels; “review” takes labels from reviews first, then by the first rule",
    )  # fmt: skip


def _flag(label: str, key: str, words: str) -> Any:
    return option(False, label, key=key, flag=True, help=words)


@dataclass(frozen=True, slots=True)
class LabelsOptions:
    """Options of labels of classes, rankings and sets.

    Attributes
    ----------
    rule : {"average", "vote", "review"}
    bar : float
        Certainty and P(correct) from which a label can be used as it is.
    below : {"mark", "blank", "out"}
        What happens to the other cases.
    soft_labels, weights, text : bool
        Further columns.
    samples : int
        Labels to draw for each case from its probabilities.
    n_draws : int
        Draws per case of certainty.
    seed : int
        Seed of all draws.
    """

    rule: str = _rule(RULES)
    bar: float = option(
        UNCERTAIN_BELOW, "Minimum certainty", term="annotation certainty", key="label_bar",
        help="Minimum certainty and P(correct) at which a label is used unchanged, 0 to 1 [0.9]",
    )  # fmt: skip
    below: str = option(
        "mark", "Cases below the minimum", tuple(BELOW), BELOW.__getitem__, key="label_below", look="radio",
        help="Treatment of cases below the minimum certainty",
    )  # fmt: skip
    soft_labels: bool = _flag("Soft labels", "label_soft", "Add the probability of each class")
    weights: bool = _flag("Weights", "label_weights", "Add a training weight for each case")
    text: bool = _flag("Case text and links", "label_text", "Add the text and link of each case")
    samples: int = option(
        0, "Number of sampled labels per case", kind="integer", key="label_samples",
        help="Number of labels to draw per case from its probabilities",
    )  # fmt: skip
    n_draws: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class ScoreLabelsOptions:
    """Options of labels that are scores."""

    rule: str = _rule(SCORE_RULES)
    text: bool = _flag("Case text and links", "label_text", "Add the text and link of each case")


def _classes(inputs: Inputs) -> Verdict:
    why = "the labels of scores are the scores themselves" if inputs.dataset.kind == "score" else ""
    return Verdict("labels", "Labels", not why, why)


def _scores(inputs: Inputs) -> Verdict:
    why = inputs.dataset.not_of_kind("score")
    return Verdict("score_labels", "Estimated scores", not why, why)


LABELS = Analysis(
    "labels",
    "Labels",
    "Which label does each case get?",
    (
        part_of(f"{__name__}.labels", "labels", "Labels", _classes, LabelsOptions),
        part_of(f"{__name__}.score_labels", "score_labels", "Estimated scores", _scores, ScoreLabelsOptions),
    ),
)
