"""Average of rater models: members with their weights, models left out with reasons, and cases that divide members."""

from functools import partial

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...models.average import METHOD as AVERAGE
from ...models.average import AveragedModels
from ...models.choose import Choice
from ...models.unanimous import flipped_in_words
from ...runtime.identity_cache import cache_by_identity
from ...text import plural
from ..blocks import Block, Chosen, Details, Download, Grid, Name, Strong, Words
from ..schema import Column, frame_of
from .scores import JudgedModels, who_says_the_same

MOST_ROWS = 500
_HEIGHT = 420
COLUMNS = (
    Column("model"),
    Column("weight", unit="share", help="Weight of this model in the average."),
    Column("score", "held-out score", "error", help="Nats per annotation; higher is better."),
    Column("beta", "β", "coefficient", "beta_low", "beta_high",
           help="Value of each annotation relative to an independent one."),
    Column("beta_low", "95% low", "coefficient"),
    Column("beta_high", "95% high", "coefficient"),
    Column("remark"),
    Column("flipped", unit="count", help="Unanimous cases for which this model chooses a different class."),
    Column("doubt", unit="rate", help="Weight of the prevalence in this model's class probabilities."),
)  # fmt: skip


def compute(judged: JudgedModels, options) -> JudgedModels:
    """Take the average as it is."""
    return judged


def present(judged: JudgedModels, dataset: Dataset, options) -> list[Block]:
    """Show the average: its members, cases that it decides against all raters, and cases that divide the heaviest."""
    averaged = judged.averaged
    agreed = "" if averaged.differ.size else differences(averaged)
    said = [f"{averaged.sentence}.", *filter(None, (flips(averaged), agreed))]
    table = table_of(judged, dataset, options)
    blocks: list[Block] = [
        Words((Name(" ".join(said)),), term=AVERAGE),
        Details("Models in the average", [
            Grid(table, "Models in the average, and models left out.", 40, COLUMNS, "average_members"),
            Words("Plurality chooses the weights that best predict held-out annotations. The smoothed vote has a fixed "
                "weight.",
                  "note"),
            Download(table, "Average of models", "average_of_models", "average_download"),
        ]),
    ]  # fmt: skip
    if who := who_says_the_same(judged.choice):
        copied = (
            "Some raters give the same annotations, as if they copied each other: ",
            *who,
            ". Each rater's annotations are predicted without those of raters who give the same annotations.",
        )
        blocks.append(Words(copied, "note", "held-out score"))
    return [*blocks, *_where_they_differ(averaged, dataset)]


def flips(averaged: AveragedModels, subject: str = "It") -> str:
    """Count the unanimous cases to which the average gives another class; empty if there are none.

    Parameters
    ----------
    averaged : AveragedModels
    subject : str
        Words for the average, at the start of the sentence.
    """
    if not averaged.flipped:
        return ""
    return f"{subject} {flipped_in_words(averaged.flipped, averaged.n_unanimous)}."


def differences(averaged: AveragedModels) -> str:
    """Count the cases to which the two heaviest members give different classes; empty if there is one member.

    Parameters
    ----------
    averaged : AveragedModels
    """
    if len(averaged.members) < 2:
        return ""
    first, second = (each.standing.candidate.title for each in averaged.members[:2])
    n = averaged.differ.size
    return f"{first} and {second} differ on {plural(n, 'case')}." if n else f"{first} and {second} agree on every case."


def _where_they_differ(averaged: AveragedModels, dataset: Dataset) -> list[Block]:
    if not averaged.differ.size:
        return []
    grid = Grid(
        _first_differing(averaged, dataset),
        "",
        40,
        _differing_columns(averaged),
        "average_differ",
        height=_HEIGHT,
        selects="row",
    )
    order = _most_divided(averaged)
    return [
        Details(differences(averaged).removesuffix("."), [
            grid,
            Chosen(
                grid,
                lambda row: [Words((Strong(Name(dataset.cases[order[row]])),))],
                case=lambda row: dataset.cases[order[row]],
            ),
            Download(partial(differing, averaged, dataset), "Cases on which models differ", "models_differ",
                     "average_differ_download", n_rows=averaged.differ.size),
        ])
    ]  # fmt: skip


def _differing_columns(averaged: AveragedModels) -> tuple[Column, ...]:
    first, second = (each.standing.candidate.title for each in averaged.members[:2])
    return (
        Column("case"),
        Column("first", f"by {first}"),
        Column("second", f"by {second}"),
        Column("class", "by the average"),
        Column("probability", "P(correct)", "probability"),
        Column("annotations", unit="count"),
    )


def _most_divided(averaged: AveragedModels) -> np.ndarray:
    """Return the positions of cases on which the two heaviest members differ, the least probable class first."""
    top = averaged.fit.class_probability[averaged.differ].max(axis=1)
    return averaged.differ[np.argsort(top, kind="stable")]


@cache_by_identity
def _first_differing(averaged: AveragedModels, dataset: Dataset) -> pd.DataFrame:
    return differing(averaged, dataset, MOST_ROWS)


def differing(averaged: AveragedModels, dataset: Dataset, most: int | None = None) -> pd.DataFrame:
    """Return the cases on which the two heaviest members differ, with the class by each and by the average.

    Parameters
    ----------
    averaged : AveragedModels
    dataset : Dataset
    most : int, optional
        Rows.
    """
    order = _most_divided(averaged)[:most]
    by = averaged.differ_as[np.searchsorted(averaged.differ, order)]
    names = np.array(averaged.fit.classes, dtype=object)
    probability = averaged.fit.class_probability[order]
    return pd.DataFrame(
        {
            "case": [dataset.cases[case] for case in order],
            "first": names[by[:, 0]],
            "second": names[by[:, 1]],
            "class": names[probability.argmax(axis=1)],
            "probability": probability.max(axis=1),
            "annotations": np.diff(dataset.case_ptr)[order],
        }
    )


def table_of(judged: JudgedModels, dataset: Dataset, options) -> pd.DataFrame:
    """Return the members, heaviest first, then the vote, then models left out with the reason; one per row."""
    return _table(judged.averaged, judged.choice)


@cache_by_identity
def _table(averaged: AveragedModels, choice: Choice) -> pd.DataFrame:
    standing = {each.candidate.name: each for each in choice.standings}
    titles = {name: each.candidate.title for name, each in standing.items()}
    unknown = {each.name: each.beta.why_not for each in averaged.members}
    rows = []
    for row in averaged.to_frame().itertuples():
        known = not unknown.get(row.model)
        each = standing.get(row.model)
        settled = each is None or each.fit is None or each.fit.converged
        remarks = ["" if known else f"β unknown: {unknown[row.model]}", "" if settled else "not converged"]
        remark = "; ".join(filter(None, remarks))
        flipped = None if each is None else each.flipped
        beta = (row.beta, row.beta_low, row.beta_high) if known else (None, None, None)
        rows.append((titles.get(row.model, row.model), row.weight, row.score, *beta, remark, flipped, row.doubt))
    for title, why in averaged.left_out:
        each = next(one for one in choice.standings if one.candidate.title == title)
        score = None if each.held is None else each.held.score
        rows.append((title, 0.0, score, None, None, None, why, each.flipped, None))
    return frame_of(rows, COLUMNS)
