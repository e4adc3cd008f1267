"""Prediction sets that contain the truth with the target probability: coverage and size against γ."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...evaluation.prediction_sets import (
    TEST,
    CoveredShare,
    KeptPlausibilities,
    Labels,
    PredictionSets,
    majority_votes,
    possible_promise,
    prediction_sets,
    sets_table,
)
from ...evaluation.predictions import Predictions
from ...evaluation.sweep_table import kept_plausibilities
from ...figures import prediction_sets as figures
from ...text import exact, listed, number, percent_with_interval, plural, shorten
from ..blocks import (
    Block,
    Details,
    Download,
    Figure,
    Grid,
    Heading,
    Name,
    OnPage,
    Row,
    Selector,
    Slot,
    Stack,
    Strong,
    Words,
)
from ..inputs import Inputs
from ..schema import Column, columns_in, frame_of
from . import control, settings_of

MOST_LISTED = 200
COLUMNS = (
    Column("reliability", "reliability γ", "reliability"),
    Column("classifier"),
    Column("alpha", "error rate α", "coefficient"),
    Column("threshold", unit="difference"),
    Column("mean_size", "mean size", "coefficient"),
    Column("n_calibration", "calibration cases", "count"),
    Column("n_test", "test cases", "count"),
    *(
        Column(f"{name}{end}", f"{label} held{words}", "difference")
        for name, label in {"aggregated": "truth", "voted": "majority vote", "true": "gold"}.items()
        for end, words in (("", ""), ("_low", ", from"), ("_high", ", to"))
    ),
    Column("all_classes", "every class in every set"),
)
GROUPS = (
    Column("by"),
    Column("value"),
    Column("n", unit="count"),
    Column("mean_size", unit="coefficient"),
    *(Column(name, unit="difference") for name in ("aggregated", "aggregated_low", "aggregated_high", "voted")),
)
Found = tuple[tuple[PredictionSets, ...], ...]  # of each classifier with scores, at each γ


def scored(predictions: Sequence[Predictions]) -> tuple[Predictions, ...]:
    """Return the classifiers with known scores of classes, for which sets can be made."""
    return tuple(one for one in predictions if one.score is not None)


def compute(inputs: Inputs, options) -> Found:
    """Compute sets of every classifier with scores at each γ."""
    model, found = settings_of(inputs).plausibility, []
    votes = majority_votes(model, inputs.dataset)
    for value in options.reliabilities:
        kept = kept_plausibilities(model, inputs.dataset, value, n_draws=options.n_draws, seed=options.seed)
        found.append(at_one(inputs, kept, votes, options))
    return tuple(found)


def at_one(inputs: Inputs, kept: KeptPlausibilities, votes: Labels, options) -> tuple[PredictionSets, ...]:
    """Compute sets of every classifier with scores at one γ.

    Parameters
    ----------
    inputs : Inputs
    kept : KeptPlausibilities
        Plausibilities from the draws at this γ.
    votes : tuple of ndarray
        Result of `core.evaluation.prediction_sets.majority_votes`.
    options : SetOptions
    """
    how = {name: getattr(options, name) for name in ("alpha", "folds", "n_labels", "corrected", "within", "seed")}
    return tuple(prediction_sets(one, inputs.dataset, kept, votes=votes, **how) for one in scored(inputs.predictions))


def at_possible_promise(
    one: Predictions, dataset: Dataset, kept: KeptPlausibilities, votes: Labels, seed: int
) -> PredictionSets:
    """Compute sets of a classifier at the largest target up to 0.9 that its lists can reach.

    Parameters
    ----------
    one : Predictions
    dataset : Dataset
    kept, votes
        See `at_one`.
    seed : int
    """
    first = prediction_sets(one, dataset, kept, votes=votes, seed=seed)
    alpha = round(1 - possible_promise(first.listed), 6)
    return prediction_sets(one, dataset, kept, alpha=alpha, votes=votes, seed=seed)


def promises(found: Sequence[PredictionSets], reliability: float) -> list[Block]:
    """Show the target coverage of the sets of classifiers at one γ, and their content.

    Parameters
    ----------
    found : sequence of PredictionSets
    reliability : float
        Reliability γ.
    """
    table = _numbers((reliability,), (tuple(found),))
    note = f"Prediction sets at γ = {exact(reliability)}: calibrated on one half of the cases, tested on the other."
    return [
        *(Words((Name(f"{one.classifier}: {one.promise(reliability)}"),)) for one in found),
        Grid(table, note, 100, columns_in(table, COLUMNS)),
    ]


def present(found: Found, inputs: Inputs, options) -> list[Block]:
    """Show the target of one classifier, the size of its sets against γ, where coverage fails, and the largest sets."""
    at = control(options.reliabilities, inputs, "sets_reliability")
    return [Selector((at,), lambda reliability: _at(found, inputs, options, reliability))]


def table_of(found: Found, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per γ and classifier."""
    return _numbers(options.reliabilities, found)


def _numbers(reliabilities: Sequence[float], found: Found) -> pd.DataFrame:
    rows = []
    for value, each in zip(reliabilities, found, strict=True):
        for sets in each:
            row = {"reliability": value, "classifier": sets.classifier, "alpha": sets.alpha}
            row |= {"threshold": sets.threshold, "mean_size": sets.mean_size}
            row |= {"n_calibration": sets.n_calibration, "n_test": sets.n_test}
            for name in figures.TITLES:
                if (share := getattr(sets, name)) is not None:
                    row |= {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}
            rows.append(row | {"all_classes": sets.all_classes})
    return pd.DataFrame(rows)


def _at(found: Found, inputs: Inputs, options, reliability: float) -> list[Block]:
    """Show all results of one classifier, at one γ unless it is against γ."""
    of_one = tuple(each[options.classifier] for each in found)
    sets = of_one[options.reliabilities.index(reliability)]
    return [
        Words((Strong(Name(sets.promise(reliability))),)),
        Words((Name(words(sets, reliability)),)),
        *_against_reliability(found, of_one, options),
        *([] if sets.all_classes else conditional(sets, reliability)),
        *_largest(sets, inputs.dataset, options, reliability),
    ]


def words(sets: PredictionSets, reliability: float) -> str:
    """Return the result on the test cases, in a sentence.

    Parameters
    ----------
    sets : PredictionSets
    reliability : float
        Reliability γ.
    """
    share = sets.aggregated
    said = (
        f"On {plural(sets.n_test, 'test case')} at γ = {exact(reliability)}, the sets contain "
        f"{number(sets.mean_size)} of {sets.n_classes:,} classes on average. "
    )
    parts = [f"the true class in {_share(share)} of cases"]
    if sets.voted is not None:
        parts.append(f"the majority class in {_share(sets.voted)}")
    if sets.true is not None:
        parts.append(f"the gold class in {_share(sets.true)} of {plural(sets.true.n, 'case')}")
    said += f"They contain {listed(parts)}"
    if share.high < 1 - sets.alpha:
        said += (
            ". Coverage of the true class is below the guaranteed share. This share is an average: with "
            f"{plural(sets.n_calibration, 'calibration case')}, coverage can be higher or lower by chance"
        )
    empty = int((sets.size[sets.part == TEST] == 0).sum())
    return f"{said}." + (
        f" {plural(empty, 'set is', 'sets are')} empty: no class has a high enough score." if empty else ""
    )


def _share(share: CoveredShare) -> str:
    return percent_with_interval(share.value, share.low, share.high, digits=1)


def _against_reliability(found: Found, of_one: tuple[PredictionSets, ...], options) -> list[Block]:
    """Show coverage of one classifier and size of all against γ, and their numbers."""
    reliabilities = options.reliabilities
    sizes = {first.classifier: tuple(each[place] for each in found) for place, first in enumerate(found[0])}
    coverage = Figure(
        lambda theme: figures.coverage_against_reliability(
            reliabilities, of_one, theme, "Coverage on test cases · Dotted line: guaranteed share"
        ),
        "Coverage of the truth and of the majority vote at each γ, with intervals",
        "sets_coverage",
    )
    size = Figure(
        lambda theme: figures.size_against_reliability(reliabilities, sizes, theme, "Mean size of the sets"),
        "Mean size of prediction sets at each γ",
        "sets_size",
    )
    note = "Use aggregated coverage, which weights each class in a set by its plausibility."
    if all(one.voted is not None and one.voted.value > one.aggregated.high for one in of_one):
        note += (
            " The sets contain the majority class more often than they contain the true class, because a majority "
            "vote ignores disagreement."
        )
    table = _numbers(reliabilities, found)
    grid = Grid(table, "Threshold, set size and coverage.", columns=columns_in(table, COLUMNS), key="sets_table")
    return [
        Row((Stack(1, [coverage]), Stack(1, [size])), gap="large"),
        Words(note, "note", "aggregated coverage"),
        Details("Table: threshold, set size and coverage for each γ and classifier", [grid], printed=True),
        Download(table, "Coverage and size", "prediction_sets_by_reliability", "sets_numbers"),
    ]


def conditional(sets: PredictionSets, reliability: float) -> list[Block]:
    """Show where the target is reached: by quarter of certainty, group and expected risk.

    Parameters
    ----------
    sets : PredictionSets
    reliability : float
        Reliability γ.
    """
    if not sets.groups:
        return []
    below = [f"{one.by} {one.value}" for one in sets.groups if one.aggregated.high < 1 - sets.alpha]
    note = (
        "The guarantee applies to all cases together." if not sets.strata else "The guarantee applies to each stratum."
    )
    if below:
        note += f" Coverage is clearly below the guaranteed share for {listed(below)}."
    else:
        note += " Coverage is not clearly below the guaranteed share in any group."
    title = f"Coverage by group of cases at γ = {exact(reliability)}"
    rows = (
        (one.by, one.value, one.n, one.mean_size, one.aggregated.value, one.aggregated.low, one.aggregated.high,
         None if one.voted is None else one.voted.value)
        for one in sets.groups
    )  # fmt: skip
    return [
        Figure(
            lambda theme: figures.conditional_coverage(sets.groups, 1 - sets.alpha, theme, title),
            "Coverage by group, expected risk and quarter of certainty",
            "sets_conditional",
        ),
        Words((Name(note),), "note"),
        Download(frame_of(rows, GROUPS), "Coverage of groups", "prediction_sets_by_group", "sets_groups"),
    ]


def largest(sets: PredictionSets) -> np.ndarray:
    """Return cases with the largest sets, the largest first.

    Parameters
    ----------
    sets : PredictionSets
    """
    return np.argsort(-sets.size, kind="stable")[:MOST_LISTED]


def _largest(sets: PredictionSets, dataset: Dataset, options, reliability: float) -> list[Block]:
    """Show the cases with the largest sets, and the sets of all cases to download."""
    told = {name: getattr(options, name) for name in ("folds", "n_labels", "corrected", "within")}
    told = {name: value for name, value in told.items() if value != getattr(type(options)(), name)}
    told |= {"alpha": sets.alpha, "reliability": reliability, "classifier": sets.classifier}
    table = sets_table(sets, dataset)
    shown = table.iloc[largest(sets)].drop(columns="classifier")
    shown["classes"] = [shorten(classes, 200) for classes in shown["classes"]]
    columns = [Column(name, unit="share" if name == "covered" else "text") for name in shown]
    left: list[Block] = [
        Heading("The largest sets"),
        Words(
            (f"The {plural(len(shown), 'case')} with the largest sets", OnPage("; choose one to open it"), "."), "note"
        ),
        Grid(shown, "The largest sets.", 20, columns, "sets_largest", opens_case=True),
        Download(table, "Sets of all cases", "prediction_sets", "sets_cases", settings=told),
    ]
    right: list[Block] = [Slot("sets_region", (sets, reliability))]
    return [Slot("sets_method", told), Row((Stack(1, left), Stack(1, right)), gap="large")]
