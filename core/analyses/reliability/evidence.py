"""Certainty with a classifier's predictions as evidence, compared with certainty from annotations only."""

import pandas as pd

from ...certainty.classifier_prior import WEIGHTS, ClassifierPrior, classifier_prior
from ...errors import NotApplicableError
from ...plausibility.dirichlet import DirichletCounts
from ...text import exact, number, percent, plural
from ..blocks import Block, Download, Finding, Grid, Heading, Name, Words
from ..inputs import Inputs
from ..schema import Column
from . import settings_of

TERM = "classifier as evidence"
COLUMNS = (
    Column("case"),
    Column("leading_without", "leading class by annotations"),
    Column("certainty_without", "certainty by annotations", "probability"),
    Column("leading_with", "leading class with the classifier"),
    Column("certainty_with", "certainty with the classifier", "probability"),
)
_MOST = 20


def compute(inputs: Inputs, options, token=None, progress=None) -> tuple[ClassifierPrior, ...]:
    """Compute the weight of each classifier with probabilities, and certainty with it."""
    settings, dataset = settings_of(inputs), inputs.dataset
    own = settings.plausibility if isinstance(settings.plausibility, DirichletCounts) else None
    found = []
    for one in inputs.predictions:
        given = one.probabilities(dataset.n_classes)
        if given is not None and one.name not in dataset.raters:
            reliability = settings.reliability if own is not None else DirichletCounts.default_reliability
            how = {"reliability": reliability, "n_draws": options.n_draws, "seed": options.seed, "token": token}
            found.append(classifier_prior(own or DirichletCounts(), dataset, one.name, given, **how, progress=progress))
    if not found:
        raise NotApplicableError(
            "Cannot use a classifier as evidence: this needs probabilities for all classes from a classifier that is "
            "not a rater."
        )
    return tuple(found)


def present(found: tuple[ClassifierPrior, ...], inputs: Inputs, options) -> list[Block]:
    """Say what each classifier is worth in annotations, and show the cases that change most under the best one."""
    best = max(found, key=lambda one: one.gain)
    table = table_of(found, inputs, options)
    blocks: list[Block] = [Heading("A classifier as evidence for plausibilities", TERM), Finding(Name(verdict(best)))]
    blocks += [Words((Name(f"{verdict(one)}."),)) for one in found if one is not best]
    blocks.append(
        Words(
            f"Based on Dirichlet counts at γ = {exact(best.reliability)} and "
            f"{plural(best.n_held_out, 'held-out annotation')}. Mistakes that the classifier shares with "
            "the raters remain undetected. Do not use these plausibilities to evaluate the classifier.",
            "note",
        )
    )
    if best.weight:
        own = table[table["classifier"] == best.classifier].drop(columns="classifier")
        change = (own["certainty_with"] - own["certainty_without"]).abs()
        most = own.loc[change.sort_values(ascending=False, kind="stable").index[:_MOST]].reset_index(drop=True)
        blocks.append(Grid(most, "Cases whose certainty changes most.", _MOST, COLUMNS, "evidence_cases"))
    return [*blocks, Download(table, "Certainty with a classifier", "certainty_evidence", "certainty_evidence")]


def verdict(one: ClassifierPrior) -> str:
    """State the weight of a classifier, without a full stop.

    Parameters
    ----------
    one : ClassifierPrior
    """
    gain = f"{number(one.gain, 3)} ± {number(one.gain_se, 3)} nats per held-out annotation"
    if not one.weight:
        return f"{one.classifier} does not clearly improve plausibilities (gain {gain})"
    worth = f"{'at least ' * (one.weight == WEIGHTS[-1])}{number(one.weight / one.reliability, 1)}"
    moved = float((one.leading[0] != one.leading[1]).mean())
    return (
        f"{one.classifier} counts as {worth} annotations (gain {gain}); the leading class changes in {percent(moved)} "
        "of cases"
    )


def table_of(found: tuple[ClassifierPrior, ...], inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per classifier and case."""
    rows = [
        (one.classifier, case, one.classes[a], before, one.classes[b], after)
        for one in found
        for case, a, before, b, after in zip(
            inputs.dataset.cases, one.leading[0], one.certainty[0], one.leading[1], one.certainty[1], strict=True
        )
    ]
    return pd.DataFrame(rows, columns=["classifier", *(column.name for column in COLUMNS)])
