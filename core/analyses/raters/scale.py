"""Use of an ordered scale by raters, from the ordinal model: severity, spread and slips."""

import numpy as np
import pandas as pd

from ...models.ordinal import METHOD as ORDINAL
from ...models.ordinal import reads, severity_sentence
from ...models.ordinal_density import NAMES
from ...models.result import RaterModelFit
from ..blocks import Block, Details, Download, Grid, Name, Strong, Words
from ..schema import Column, intervals

SCALE = (Column("rater"), Column("annotations", unit="count"), *(one for name in NAMES for one in intervals(name)))
_APART = (
    " The model corrects for careless annotations and for the ends of the scale, so its values differ from plain "
    "mean differences between raters."
)


def all_raters(fit: RaterModelFit) -> list[Block]:
    """Show who rates clearly higher or lower than the panel, and all raters."""
    said = severity_sentence(fit)
    if not said:
        return []
    frame = table_of(fit)
    return [
        Words(("According to the ordinal model, ", Name(said[0].lower() + said[1:]), _APART), term=ORDINAL),
        Details(
            "How each rater uses the scale",
            [
                Grid(frame, "Raters, furthest from the panel first.", 40, SCALE, "scale_raters", height=360),
                Words(
                    "Severity: number of classes by which a rater rates higher than the panel (negative: lower). "
                    "Spread: standard deviation of a rater's annotations of one class, in classes. Slip: share of "
                    "annotations that do not depend on the case.",
                    "note",
                ),
                Download(frame, "Raters on the scale", "scale_raters", "scale_raters_table"),
            ],
        ),
    ]


def one_rater(fit: RaterModelFit, rater: str) -> list[Block]:
    """Show how much higher or lower than the panel one rater rates, and why a plain average may differ."""
    said = reads(fit, fit.raters.index(rater))
    apart = ". The model leaves out annotations that do not depend on the case, so a plain average may differ."
    return [Words(("According to the ordinal model, ", Strong(Name(rater)), " ", Name(said), apart), term=ORDINAL)]


def table_of(fit: RaterModelFit) -> pd.DataFrame:
    """Return severity, spread and slip of each rater with intervals, those furthest from the panel first."""
    parts = [f"{name}{end}" for name in NAMES for end in ("", "_low", "_high")]
    frame = pd.DataFrame(
        {"rater": fit.raters, "annotations": fit.n_annotations} | {part: fit.parameters[part] for part in parts}
    )
    order = np.argsort(-np.abs(fit.parameters["severity"]), kind="stable")
    return frame.iloc[order[fit.n_annotations[order] > 0]].reset_index(drop=True)
