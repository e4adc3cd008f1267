"""Labels of every case: whether they apply, and the certainty of that, one by one and as a set."""

import numpy as np
import pandas as pd

from ...certainty.label_sets import LabelSetCertainty, label_set_certainty
from ...certainty.p_correct import why_they_differ
from ...text import listed, probability
from ...thresholds import CERTAIN_LEVELS
from ..blocks import Block, Download, Grid, Name, Span, Strong, Words
from ..inputs import Inputs
from ..schema import Column, frame_of
from . import model_and_reliability

COLUMNS = (
    Column("label"),
    Column("named by"),
    Column("applies", help="Even: the label is as likely to apply as not."),
    Column("certainty", unit="share"),
    Column("p_correct", "P(correct)", "share", help="Probability that this decision is correct, from rater models."),
)
_LINES = 8  # labels that a page shows without scrolling


def compute(inputs: Inputs, options) -> LabelSetCertainty:
    """Compute the certainty of every label of every case at the γ of the settings."""
    model, reliability = model_and_reliability(inputs)
    return label_set_certainty(inputs.dataset, model, reliability=reliability)


def table_of(found: LabelSetCertainty, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    return found.to_frame("cases")


def to_dict(found: LabelSetCertainty) -> dict:
    """Return means over cases, and how many are uncertain, as on the command line."""
    mean = found.certainty.mean(axis=0).tolist()
    n_cases, n_even = found.applies.sum(axis=0).tolist(), found.even.sum(axis=0).tolist()
    labels = [
        dict(zip(("label", "mean", "n_cases", "n_even"), one, strict=True))
        for one in zip(found.labels, mean, n_cases, n_even, strict=True)
    ]
    if (p := found.p_correct()) is not None:
        for row, own in zip(labels, p.T, strict=True):
            row["mean_p_correct"] = None if np.isnan(own).all() else float(np.nanmean(own))
    return {
        "mean": {"set": float(found.whole.mean())},
        "labels": labels,
        "n_below": {str(level): found.n_below(level) for level in CERTAIN_LEVELS},
    }


def present(found: LabelSetCertainty, inputs: Inputs, options) -> list[Block]:
    """Show the labels of a case as a table, and a sentence on the set."""
    dataset, case = inputs.dataset, options.case
    own, ptr = dataset.annotations_of(case), dataset.entry_ptr
    named = np.bincount(dataset.entry_class[ptr[own.start] : ptr[own.stop]], minlength=dataset.n_classes)
    order = np.lexsort((np.arange(len(named)), -named)).tolist()
    p = found.p_correct()
    columns = COLUMNS if p is not None and np.isfinite(p[case]).any() else COLUMNS[:-1]
    rows = (
        (dataset.classes[code], f"{named[code]:,} of {len(own):,}", _applies(found, case, code),
         found.certainty[case, code], None if p is None else p[case, code])[: len(columns)]
        for code in order
    )  # fmt: skip
    frame = frame_of(rows, columns)
    return [
        Words((Strong("All labels"), ": ", *_likeliest(found, case)), term="annotation certainty"),
        Grid(frame, "Labels of the case.", columns=columns, key="label_table", height=36 * (_LINES + 1) + 2),
        *_differing(found, inputs, options, order),
        Download(
            lambda: table_of(found, inputs, options),
            "Labels of every case",
            "label_certainty",
            "label_certainty",
            n_rows=dataset.n_cases,
        ),
    ]


def _differing(found: LabelSetCertainty, inputs: Inputs, options, order: list[int]) -> list[Block]:
    """Explain each label whose P(correct) is far from its certainty."""
    said = ((found.labels[code], _why(found, inputs, options, code)) for code in order)
    return [Words(("“", Name(label), "”: P(correct) is ", Name(why))) for label, why in said if why]


def _why(found: LabelSetCertainty, inputs: Inputs, options, code: int) -> str:
    """Explain why P(correct) of the decision on a label is far from its certainty; empty if it is not."""
    part, case = None if found.correct is None else found.correct.parts[code], options.case
    if part is None or found.even[case, code]:
        return ""
    classes = inputs.dataset.as_classes(found.labels[code])[0]
    asked = case, int(found.applies[case, code]), float(found.certainty[case, code])
    return why_they_differ(part, classes, *asked, hide_names=options.hide_names)


def _applies(found: LabelSetCertainty, case: int, code: int) -> str:
    if found.even[case, code]:
        return "even"
    return "yes" if found.applies[case, code] else "no"


def _likeliest(found: LabelSetCertainty, case: int) -> tuple[Span, ...]:
    """Return the most probable set with its probability; state that none stands out if that is less than even."""
    likely, chance = found.sets()[case], found.whole[case]
    name: tuple[Span, ...] = ("“", Name(likely), "”") if likely else ("no label",)
    how = ("No rater named more than one label." if found.exclusive else "Labels are treated as independent.",)
    if chance > 0.5:
        what = "is" if found.exclusive else "set is"
        return (
            f"the most likely {what} ",
            *name,
            f"; the probability that it stays the same with more raters is {probability(chance)}. ",
            *how,
        )
    even = [f"“{found.labels[code]}”" for code in np.flatnonzero(found.even[case])]
    most: tuple[Span, ...] = ("the most likely is ", *name, f", with a probability of only {probability(chance)}")
    if even and found.exclusive:
        most = (Name(listed(even)), " are equally likely")
    elif even:
        are = "is" if len(even) == 1 else "are"
        most = (Name(listed(even)), f" {are} as likely to apply as not, by the annotations alone")
    return f"no {'label' if found.exclusive else 'set'} clearly leads; ", *most, ". ", *how
