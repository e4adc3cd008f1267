"""Held-out scores of all rater models, and their comparison with gold."""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from ...analysis_settings import SEED
from ...annotations.dataset import Dataset
from ...models.average import METHOD as AVERAGE
from ...models.average import AveragedModels, average_models
from ...models.choose import Choice, Standing, choose
from ...models.gold import gold_cases
from ...models.gold_measures import GoldMeasures, gold_measures
from ...models.smoothed_vote import METHOD as SMOOTHED
from ...runtime.chunks import CancelToken
from ...text import number, plural, shorten
from ..blocks import Block, Download, Grid, Heading, Name, Span, Words
from ..schema import Column, Unit

_MOST_NAMED = 12
_OPENS = "shown first"
_ORDER = (
    "model", "weight", "score", "difference", "± difference", "parameters", "β held out", "β shown", "prevalence",
    "flipped", "remark", "accuracy by gold", "log loss by gold", "Brier by gold", "ECE by gold", "classes off by gold",
    "cases at ≥ 0.99", "right at ≥ 0.99",
)  # fmt: skip
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("model", "prevalence", "remark"), "text"),
    "parameters": "count",
    "flipped": "count",
    "cases at ≥ 0.99": "count",
    "accuracy by gold": "share",
    "right at ≥ 0.99": "share",
    "weight": "share",
}


class JudgedModels(NamedTuple):
    """Rater models by their held-out scores, what gold says of each, and their average.

    Attributes
    ----------
    choice : Choice
    by_gold : dict of str to GoldMeasures
        By name of the model; empty without gold.
    averaged : AveragedModels
    """

    choice: Choice
    by_gold: dict[str, GoldMeasures]
    averaged: AveragedModels


def judge_models(
    dataset: Dataset,
    *,
    known: Choice | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> JudgedModels:
    """Score all rater models on annotations held out and by gold, and average them.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    known : Choice, optional
        Scores of some of the models.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    found = choose(dataset, seed=SEED, independent=False, known=known, token=token, progress=progress)
    averaged = average_models(found, dataset, token=token)
    return JudgedModels(found, _measures_by_gold(dataset, found, averaged), averaged)


def score_models(dataset: Dataset, options) -> JudgedModels:
    """Score all rater models on held-out annotations, and by gold.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    options : ModelOptions
    """
    return judge_models(dataset)


def _measures_by_gold(dataset: Dataset, found: Choice, averaged: AveragedModels) -> dict[str, GoldMeasures]:
    """Return the comparison of the average and of each fitted model with gold, by name; empty without gold."""
    if not len(gold_cases(dataset)):
        return {}
    fits = {each.candidate.name: each.fit for each in found.standings}
    if averaged.members:
        fits[AVERAGE.name] = averaged.fit
    return {name: gold_measures(dataset, fit, seed=SEED) for name, fit in fits.items() if fit is not None}


def compute(judged: JudgedModels, options) -> JudgedModels:
    """Return the scores unchanged."""
    return judged


def present(judged: JudgedModels, dataset: Dataset, options) -> list[Block]:
    """Show a row for each model, in the order of the scores."""
    found = judged.choice
    table = table_of(judged, dataset, options)
    columns = [Column(name, unit=_UNITS.get(name, "error")) for name in table]
    blocks: list[Block] = [
        Heading(f"Held-out scores of {plural(len(found.standings), 'model')}", "held-out score"),
        Grid(table, "Held-out scores.", 40, columns, "held_out_scores"),
        Words(
            f"{plural(found.n_hidden, 'annotation')} {'was' if found.n_hidden == 1 else 'were'} held out. The score "
            "is in nats per annotation; higher is better. β: weight of each annotation, given the others on the "
            "same case. The score does not detect mistakes that raters share. Flipped: how many of "
            f"{plural(found.n_unanimous, 'unanimous case')} get a different class.",
            "note",
        ),
    ]
    if better := preferred_by_gold(judged):
        blocks.append(Words((Name(better),), "info", icon="verified"))
    blocks.append(Download(table, "Held-out scores", "held_out_scores", "held_out_scores_download"))
    if found.families:
        blocks.append(Download(families_of(found), "Raters with the same annotations", "families", "families_download"))
    return blocks


def who_says_the_same(found: Choice) -> tuple[Span, ...]:
    """Return the raters of each family by name; nothing if every rater is independent.

    Parameters
    ----------
    found : Choice
    """
    frame = families_of(found)
    named = frame.head(_MOST_NAMED).groupby("family")["rater"]
    words = " · ".join(", ".join(shorten(name, 40) for name in names) for _, names in named)
    more = len(frame) - _MOST_NAMED
    rest = f" and {more:,} more, listed with the held-out scores" if more > 0 else ""
    return (Name(words), rest) if words else ()


def families_of(found: Choice) -> pd.DataFrame:
    """Return one row per rater who is in a family.

    Parameters
    ----------
    found : Choice
    """
    rows = [(place, name) for place, names in enumerate(found.families, 1) for name in names]
    return pd.DataFrame(rows, columns=["family", "rater"])


def table_of(judged: JudgedModels, dataset: Dataset, options) -> pd.DataFrame:
    """Return the average, then one row per model in the order of the scores; leave out columns that no model has."""
    found, by_gold, averaged = judged
    weights = {each.name: each.weight for each in averaged.members}
    if weights:
        weights |= {each.candidate.name: averaged.vote_share for each in found.standings if each.candidate is SMOOTHED}
    rows = [
        _row(found, each, by_gold.get(each.candidate.name)) | {"weight": weights.get(each.candidate.name)}
        for each in found.standings
    ]
    if weights:
        average = {"model": AVERAGE.title, "flipped": averaged.flipped, "remark": _OPENS}
        rows.insert(0, average | _gold_columns(by_gold.get(AVERAGE.name)))
    frame = pd.DataFrame(rows).dropna(axis=1, how="all")
    return frame[[name for name in _ORDER if name in frame]]


def _row(found: Choice, each: Standing, gold: GoldMeasures | None) -> dict:
    held = each.held
    row = {
        "model": each.candidate.title,
        "score": None if held is None else held.score,
        "difference": each.diff,
        "± difference": each.diff_se,
        "parameters": each.n_parameters,
        "β held out": None if held is None else held.beta,
        "β shown": None if held is None or each.by_vote else each.beta,
        "prevalence": "to the power of β" if held is not None and held.temper_prevalence else None,
        "flipped": each.flipped,
        "remark": _remark(found, each),
    }
    return row | _gold_columns(gold)


def _gold_columns(gold: GoldMeasures | None) -> dict:
    if gold is None:
        return {}
    certain = gold.certain_right
    return {
        "accuracy by gold": gold.accuracy.value,
        "log loss by gold": gold.log_loss.value,
        "Brier by gold": gold.brier.value,
        "ECE by gold": gold.ece.value,
        "classes off by gold": None if gold.absolute_error is None else gold.absolute_error.value,
        "cases at ≥ 0.99": gold.n_certain,
        "right at ≥ 0.99": None if certain is None else certain.value,
    }


def _remark(found: Choice, each: Standing) -> str:
    """Return whether a vote is shown first or why a model cannot be averaged, and if it has not converged."""
    words = _OPENS if each.candidate.name == found.chosen and each.by_vote else each.excluded
    if each.fit is None or each.fit.converged:
        return words
    return f"{words} (not converged)" if words else "not converged"


def preferred_by_gold(judged: JudgedModels) -> str:
    """Return that gold prefers a single model to the one shown first, if its log loss is clearly lower.

    Parameters
    ----------
    judged : JudgedModels
    """
    found, by_gold, averaged = judged
    opens = AVERAGE.name if averaged.members else found.chosen
    titles = {each.candidate.name: each.candidate.title for each in found.standings} | {AVERAGE.name: AVERAGE.title}
    opened = by_gold.get(opens)
    rivals = {
        each.candidate.title: by_gold[each.candidate.name].log_loss
        for each in found.standings
        if each.candidate.name in by_gold and not each.excluded and each.candidate.name != opens
    }
    if opened is None or not rivals:
        return ""
    rival, loss = min(rivals.items(), key=lambda item: item[1].value)
    if loss.high >= opened.log_loss.low:
        return ""
    return (
        f"{rival} fits the gold cases better: log loss {number(loss.value)} ({number(loss.low)} to "
        f"{number(loss.high)}), compared with {number(opened.log_loss.value)} for {titles[opens]}; "
        f"n = {plural(opened.n, 'gold case')}. Gold cases do not affect which model is shown first. "
        f"To use {rival}, choose it above."
    )
