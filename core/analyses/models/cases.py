"""Cases by a model and by the majority vote, and the reasons for the class of a case."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ...annotations.dataset import Dataset
from ...figures import rater_models as figures
from ...figures.theme import Theme
from ...models.expected_class import class_values, expected_class, in_class_names, within_one, without_shared_words
from ...models.explain import explain
from ...models.result import CaseEffect, RaterModelFit
from ...order import FITTED, lowest_first
from ...text import number, percent, plotly, plural, shorten
from ...thresholds import TIE_DECIDED
from ..blocks import Block, Chosen, Download, Figure, Grid, Heading, Name, Strong, Words
from ..schema import Column
from .fits import FittedModels, label

MOST_ROWS = 500
_DISTINCT = 0.005  # standard deviation of an effect over cases
_EXPECTED = "expected class"


@dataclass(frozen=True, slots=True, eq=False)
class ModelCases:
    """Cases of the model in detail.

    Attributes
    ----------
    models : FittedModels
    order : ndarray of int64
        Cases to list: all with annotations, the least certain first, or those for which model and vote differ, the most
        certain first.
    n_tied : int
        Number of them that are tied in the majority vote.
    n_decided : int
        Number of the tied ones for which the model's class has a probability of `core.thresholds.TIE_DECIDED` or more.
    """

    models: FittedModels
    order: np.ndarray
    n_tied: int
    n_decided: int


def compute(models: FittedModels, options) -> ModelCases:
    """Choose and order the cases to list."""
    fit, by_vote = models.shown.fit, models.vote.top_class()
    top = fit.class_probability.max(axis=1)
    chosen = np.flatnonzero(models.answered & (options.every | (by_vote != fit.top_class())))
    order = chosen[lowest_first((top[chosen] if options.every else -top[chosen]).round(FITTED))]
    tied = by_vote[order] < 0
    return ModelCases(models, order, int(tied.sum()), int((tied & (top[order] >= TIE_DECIDED)).sum()))


def present(found: ModelCases, dataset: Dataset, options) -> list[Block]:
    """Show a row for each case with its probability, and effects of cases, if the model has them."""
    shown, order = found.models.shown, found.order
    blocks: list[Block] = [Heading("Cases" if options.every else "Differences from the majority vote")]
    if not len(order):
        return [*blocks, Words("The model and the majority vote choose the same class for every case.")]
    ties = ""
    if found.n_tied:
        bar = percent(TIE_DECIDED)
        p = (
            f"is at least {bar} in {found.n_decided:,} of these"
            if found.n_decided
            else f"is below {bar} in all of these"
        )
        if found.n_tied == 1:
            p = f"{'is at least' if found.n_decided else 'is below'} {bar} for that case"
        ties = f" The majority vote is tied in {found.n_tied:,} of them; the model's P(correct) {p}."
    first = "least certain first" if options.every else "most certain first"
    listed = _frame(found.models, order[:MOST_ROWS])
    grid = Grid(
        _in_class_names(shown.fit, listed), "", 20, _columns(shown.fit, listed), "differ", height=420, selects="row"
    )
    return [
        *blocks,
        Words(f"{plural(len(order), 'case')}, {first}.{ties}", "note"),
        grid,
        Chosen(grid, lambda row: why(found.models, int(order[row])), case=lambda row: shown.dataset.cases[order[row]]),
        Download(
            partial(table_of, found, dataset, options), "Cases", "model_cases", "model_cases_table", n_rows=len(order)
        ),
        *effects(found.models),
    ]


def why(models: FittedModels, case: int) -> list[Block]:
    """Show why a case has its class, and what each rater adds; for a model with effects of cases, only the case.

    Parameters
    ----------
    models : FittedModels
    case : int
        Position in the data.
    """
    shown = models.shown
    name = Strong(Name(shown.dataset.cases[case]))
    if shown.fit.effects:
        return [Words((name,))]
    reason = explain(shown.dataset, shown.fit, case)
    blocks: list[Block] = [Words((name, ": ", Name(reason.sentence)))]
    if reason.against >= 0 and reason.answers:
        moved = ", ".join(
            f"{rater} names {answer} ({'+' if adds >= 0 else '−'}{number(abs(adds), 1)})"
            for rater, answer, adds in reason.answers[:8]
        )
        top, other = shown.fit.classes[reason.top], shown.fit.classes[reason.against]
        blocks.append(Words((Name(f"Log-odds of {top} over {other}: {moved}"),), "note"))
    return blocks


def effects(models: FittedModels) -> list[Block]:
    """Show each effect of the cases against their probability, if two digits distinguish cases.

    Parameters
    ----------
    models : FittedModels
    """
    shown, name = models.shown, label(models.shown)
    blocks: list[Block] = []
    for effect in shown.fit.effects:
        spread = effect.mean.std()
        if 0 < spread < _DISTINCT:
            said = f", all cases have the same {effect.name} to two digits."
            blocks.append(Words(("Under ", Name(name), said), "note"))
        elif spread:
            title = f"{effect.name.capitalize()} of cases under {plotly(name)}"
            draw = partial(_draw_effect, models, effect, title)
            alt = f"{effect.name} of every case against its probability"
            blocks.append(Figure(draw, alt, f"effect-{effect.name}"))
    return blocks


def _draw_effect(models: FittedModels, effect: CaseEffect, title: str, theme: Theme) -> go.Figure:
    n = np.diff(models.shown.dataset.case_ptr)
    return figures.effect_against_probability(models.shown.fit, effect, n, theme, title)


def table_of(found: ModelCases, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per case."""
    return _frame(found.models, found.order)


def _frame(models: FittedModels, order: np.ndarray) -> pd.DataFrame:
    data, fit, vote = models.shown.dataset, models.shown.fit, models.vote
    probability = fit.class_probability[order]
    names = np.array([*fit.classes, "tied"], dtype=object)  # the last entry is for the code -1
    found = {
        "case": [data.cases[case] for case in order],
        "by vote": names[vote.top_class()[order]],
        "share of votes": vote.class_probability[order].max(axis=1),
        "by model": names[fit.top_class()[order]],
        "probability": probability.max(axis=1),
        "annotations": np.diff(data.case_ptr)[order],
    }
    if data.ordinal and data.n_classes > 2:
        scale = expected_class(probability)
        found |= {_EXPECTED: scale.mean, f"{_EXPECTED} low": scale.spread.low, f"{_EXPECTED} high": scale.spread.high}
        found["within one class"] = within_one(probability)
    for effect in fit.effects:
        found[effect.name] = effect.mean[order]
        found |= {f"{effect.name} {end}": getattr(effect.spread, end)[order] for end in ("low", "high")}
    return pd.DataFrame(found)


def _columns(fit: RaterModelFit, frame: pd.DataFrame) -> tuple[Column, ...]:
    """Return columns with each effect next to the ends of its interval."""
    numbered = class_values(without_shared_words(fit.classes)) is not None
    how = "." if numbered else "; the lowest class is 1."
    known = {
        "case": Column("case"),
        "by vote": Column("by vote", "by majority vote"),
        "share of votes": Column("share of votes", unit="share"),
        "by model": Column("by model"),
        "probability": Column("probability", unit="probability"),
        "annotations": Column("annotations", unit="count"),
        _EXPECTED: Column(
            _EXPECTED, unit="coefficient", help=f"Mean class number, weighted by the class probabilities{how}"
        ),
        f"{_EXPECTED} low": Column(f"{_EXPECTED} low", "95% from"),
        f"{_EXPECTED} high": Column(f"{_EXPECTED} high", "to"),
        "within one class": Column(
            "within one class",
            unit="probability",
            help="Probability that the true class is within one class of the median.",
        ),
    }
    ends = {
        f"{effect.name} {end}": words for effect in fit.effects for end, words in (("low", "95% from"), ("high", "to"))
    }
    return tuple(known.get(name) or Column(name, ends.get(name, ""), "coefficient") for name in frame)


def _in_class_names(fit: RaterModelFit, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the expected class as a number and its interval by names of classes; files count from 1."""
    if _EXPECTED not in frame:
        return frame
    ends = {f"{_EXPECTED} {end}": frame[f"{_EXPECTED} {end}"].astype(int) for end in ("low", "high")}
    named = {name: [shorten(fit.classes[place - 1], 24) for place in places] for name, places in ends.items()}
    numbers = without_shared_words(fit.classes)  # names such as "BI-RADS 0", as on Cases
    return frame.assign(**{_EXPECTED: in_class_names(numbers, frame[_EXPECTED].to_numpy())}, **named)
