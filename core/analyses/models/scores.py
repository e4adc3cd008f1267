"""Held-out scores of all rater models, and what gold says of each."""

import pandas as pd

from ...analysis_settings import SEED
from ...annotations.dataset import Dataset
from ...models.choose import Choice, Standing, choose
from ...models.gold import gold_cases
from ...models.gold_measures import GoldMeasures, gold_measures
from ...text import number, plural, shorten
from ..blocks import Block, Download, Grid, Heading, Name, Span, Words
from ..schema import Column, Unit

_MOST_NAMED = 12
_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("model", "prevalence", "remark"), "text"),
    "parameters": "count",
    "flipped": "count",
    "cases at ≥ 0.99": "count",
    "accuracy by gold": "share",
    "right at ≥ 0.99": "share",
}

Judged = tuple[Choice, dict[str, GoldMeasures]]


def score_models(dataset: Dataset, options) -> Judged:
    """Score all rater models on annotations held out, and by gold.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    options : ModelOptions
    """
    found = choose(dataset, seed=SEED)
    return found, measures_by_gold(dataset, found)


def measures_by_gold(dataset: Dataset, found: Choice) -> dict[str, GoldMeasures]:
    """What gold says of each model that was fitted, by name; empty without gold.

    Parameters
    ----------
    dataset : Dataset
    found : Choice
    """
    if not len(gold_cases(dataset)):
        return {}
    return {
        each.candidate.name: gold_measures(dataset, each.fit, seed=SEED)
        for each in found.standings
        if each.fit is not None
    }


def compute(judged: Judged, options) -> Judged:
    """Take the scores as they are."""
    return judged


def present(judged: Judged, dataset: Dataset, options) -> list[Block]:
    """A row for each model, in the order of the scores."""
    found, by_gold = judged
    table = table_of(judged, dataset, options)
    columns = [Column(name, unit=_UNITS.get(name, "error")) for name in table]
    blocks: list[Block] = [
        Heading(f"Held-out scores of {plural(len(found.standings), 'model')}", "held-out score"),
        Grid(table, "Held-out scores.", 40, columns, "held_out_scores"),
        Words(
            f"{plural(found.n_hidden, 'annotation')} held out. The score is in nats an annotation, larger is better; β "
            "is what an annotation counts for beside the others of its case. It is blind to mistakes that raters "
            f"share. Flipped: how many of {plural(found.n_unanimous, 'unanimous case')} get another class.",
            "note",
        ),
    ]
    if better := preferred_by_gold(found, by_gold):
        blocks.append(Words((Name(better),), "info", icon="verified"))
    blocks.append(Download(table, "Held-out scores", "held_out_scores", "held_out_scores_download"))
    if found.families:
        blocks.append(Download(families_of(found), "Raters who say the same", "families", "families_download"))
    return blocks


def who_says_the_same(found: Choice) -> tuple[Span, ...]:
    """The raters of each family by name; nothing if every rater is independent.

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
    """A row for each rater who is in a family.

    Parameters
    ----------
    found : Choice
    """
    rows = [(place, name) for place, names in enumerate(found.families, 1) for name in names]
    return pd.DataFrame(rows, columns=["family", "rater"])


def table_of(judged: Judged, dataset: Dataset, options) -> pd.DataFrame:
    """A row for each model, in the order of the scores; columns that no model has are left out."""
    found, by_gold = judged
    rows = [_row(found, each, by_gold.get(each.candidate.name)) for each in found.standings]
    return pd.DataFrame(rows).dropna(axis=1, how="all")


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
    if gold is not None:
        certain = gold.certain_right
        row |= {
            "accuracy by gold": gold.accuracy.value,
            "log loss by gold": gold.log_loss.value,
            "Brier by gold": gold.brier.value,
            "ECE by gold": gold.ece.value,
            "classes off by gold": None if gold.absolute_error is None else gold.absolute_error.value,
            "cases at ≥ 0.99": gold.n_certain,
            "right at ≥ 0.99": None if certain is None else certain.value,
        }
    return row


def _remark(found: Choice, each: Standing) -> str:
    """Whether a model opens or why it cannot, and that it has not converged."""
    words = "opens" if each.candidate.name == found.chosen else each.excluded
    if each.fit is None or each.fit.converged:
        return words
    return f"{words} (not converged)" if words else "not converged"


def preferred_by_gold(found: Choice, by_gold: dict[str, GoldMeasures]) -> str:
    """That gold prefers another model than the one that opened, if its log loss is lower beyond the intervals.

    Parameters
    ----------
    found : Choice
    by_gold : dict of str to GoldMeasures
        By name of the model.
    """
    opened = by_gold.get(found.chosen)
    rivals = {
        each.candidate.title: by_gold[each.candidate.name].log_loss
        for each in found.standings
        if each.candidate.name in by_gold and not each.excluded and each.candidate.name != found.chosen
    }
    if opened is None or not rivals:
        return ""
    title, loss = min(rivals.items(), key=lambda item: item[1].value)
    if loss.high >= opened.log_loss.low:
        return ""
    return (
        f"Gold prefers {title}: log loss {number(loss.value)} ({number(loss.low)} to {number(loss.high)}) on "
        f"{plural(opened.n, 'gold case')}, against {number(opened.log_loss.value)} of the model that opened; gold "
        "judges, it does not choose. Choose it above to use it."
    )
