"""Worth of a panel of AI raters: its number of independent raters, its vote, and each of its members."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..agreement.intervals import UNDEFINED, IntervalEstimate
from ..annotations.dataset import Dataset
from ..figures.estimates import estimates
from ..machines.marks import Machine
from ..machines.panel import TITLES, TRUTHS, PanelWorth, panel_worth, points
from ..methods import ONE_CLASS, Verdict
from ..text import percent, plural, with_interval
from .base import Analysis, option, part_of
from .blocks import Block, Download, Figure, Grid, Heading, Name, Words
from .schema import Column, frame_of

TERM = "panel of AI raters"
MOST_NAMED = 3
_CHOOSE = {"score": "; choose a threshold", "set": "; choose a label"}
_NO_CHANGE = "Leaving out any one member or family does not clearly change the accuracy of the vote."
COLUMNS = (
    Column("name", "rater"),
    Column("kind"),
    Column("accuracy", unit="rate"),
    Column("accuracy_low", "95% low", "rate"),
    Column("accuracy_high", "95% high", "rate"),
    Column("n_effective", "counts as", "coefficient"),
    Column("n_effective_low", "95% low ", "coefficient"),
    Column("n_effective_high", "95% high ", "coefficient"),
    Column("correlation", "correlation of errors", "coefficient"),
    Column("vote_without", "vote without", "rate"),
    Column("change", unit="coefficient"),
    Column("change_low", "95% low  ", "coefficient"),
    Column("change_high", "95% high  ", "coefficient"),
    Column("n_effective_without", "counts as, without", "coefficient"),
    Column("added_as", "added as", "count"),
    Column("n_cases", "cases", "count"),
)


@dataclass(frozen=True, slots=True)
class PanelOptions:
    """Options of the worth of a panel.

    Attributes
    ----------
    truth : str
    level : float
    machines : tuple of int
        Places of the AI raters in the dataset.
    families : tuple of (str, tuple of int)
        Places of the members of each family.
    seed : int
    """

    truth: str = option(
        TRUTHS[0], "Truth", TRUTHS, TITLES.__getitem__, TERM, "panel_truth",
        help="Truth to compare the AI raters with",
    )  # fmt: skip
    level: float = option(0.95, "The confidence level of the intervals")
    machines: tuple[int, ...] = ()
    families: tuple[tuple[str, tuple[int, ...]], ...] = ()
    seed: int = 0


def options_of(dataset: Dataset, machines: Iterable[Machine]) -> dict:
    """Return options for who is an AI rater and of which family; see `AnalysisPart.with_options`.

    Parameters
    ----------
    dataset : Dataset
    machines : iterable of Machine
        AI raters of the dataset.
    """
    place = {name: code for code, name in enumerate(dataset.raters)}
    families: dict[str, list[int]] = {}
    members = [one for one in machines if one.name in place]
    for one in members:
        if one.family:
            families.setdefault(one.family, []).append(place[one.name])
    several = tuple((family, tuple(codes)) for family, codes in families.items() if len(codes) > 1)
    return {"machines": tuple(sorted(place[one.name] for one in members)), "families": several}


def compute(dataset: Dataset, options: PanelOptions) -> PanelWorth:
    """Compute the worth of the panel."""
    families = {family: [dataset.raters[code] for code in codes] for family, codes in options.families}
    names = [dataset.raters[code] for code in options.machines]
    return panel_worth(
        dataset, names, truth=options.truth, families=families, level=options.level, seed=options.seed  # type: ignore[arg-type]
    )  # fmt: skip


def present(found: PanelWorth, dataset: Dataset, options: PanelOptions) -> list[Block]:
    """Show the finding, accuracies of the members and the vote, and the change without each."""
    table = table_of(found, dataset, options)
    title = found.verdict().split(":")[0]
    blocks: list[Block] = [
        Heading("How accurate is the panel?", TERM),
        Words(found.words(), "lead"),
        Figure(
            lambda theme: estimates(_accuracies(found), theme, title, "Share of correct cases", strong=1),
            "Accuracy of each AI rater with its interval, and of the panel's vote",
            "panel_accuracies",
        ),
        Words(_independence(found), "note"),
        Words(_people(found), "note"),
        Words(_without(found), "note"),
    ]
    if len(found.added) > 1:
        blocks.append(Words(("Best order in which to add members: ", *_order(found), "."), "note"))
    blocks += [Words(("Left out: ", Name(name), f" ({why})."), "note") for name, why in found.left_out]
    caption = f"Panel, people, members and families; n = {plural(found.n_cases, 'case')}."
    return [
        *blocks,
        Grid(table, caption, 60, COLUMNS, "panel_members"),
        Download(table, "Panel", "panel", "panel_table"),
    ]


def _accuracies(found: PanelWorth) -> list[tuple[str, float, float, float]]:
    """Return the vote, then raters from the best on."""
    raters = [(one.name, *one.accuracy) for one in found.members if one.accuracy is not None]
    return [("vote of the panel", *found.vote), *sorted(raters, key=lambda one: -one[1])]


def _independence(found: PanelWorth) -> str:
    said = f"If members erred independently, the vote would be correct on {percent(found.independent)} of cases."
    if found.shortfall.low > 0:
        return f"{said} Shared mistakes cost {points(found.shortfall)}."
    return f"{said} The vote is not clearly worse than that: shortfall {points(found.shortfall)}."


def _people(found: PanelWorth) -> str:
    if found.people_effective is None:
        return (
            "Cannot determine how many independent raters the people count as: no two of them share 30 cases with a "
            "known truth."
        )
    count = with_interval(*found.people_effective, digits=1)
    said = f"Measured against the same truth, {found.n_people:,} people per case count as {count} independent raters."
    if found.truth == "joint":
        said += " Mistakes that people share remain undetected; compare with gold, or see “Shared errors”."
    return said


def _without(found: PanelWorth) -> list[str | Name]:
    """Name members and families without whom the vote clearly changes, the largest change first."""
    clear = [one for one in found.members if one.change.low > 0 or one.change.high < 0]
    parts: list[str | Name] = []
    for one in sorted(clear, key=lambda one: -abs(one.change.value))[:MOST_NAMED]:
        kind = " (family)" if one.is_family else ""
        parts += ["; without " if parts else "Accuracy of the vote without ", Name(one.name), f"{kind}: "]
        parts.append(f"{percent(one.vote_without.value)}, difference {points(one.change)}")
    more = f"; {plural(len(clear) - MOST_NAMED, 'more clear change')}" if len(clear) > MOST_NAMED else ""
    return [*parts, f"{more}."] if parts else [_NO_CHANGE]


def _order(found: PanelWorth) -> list[str | Name]:
    parts: list[str | Name] = []
    for place, (name, accuracy) in enumerate(found.added):
        parts += [", " if place else "", Name(name), f" ({percent(accuracy)})"]
    return parts


def table_of(found: PanelWorth, dataset: Dataset, options: PanelOptions) -> pd.DataFrame:
    """Return a row for the panel, people, each member and each family."""
    place = {name: position for position, (name, _) in enumerate(found.added, 1)}
    n = float(len(found.raters))
    alone = IntervalEstimate(found.independent, *UNDEFINED[:2])
    rows = [
        _row(found, "vote of the panel", "panel", found.vote, found.n_effective, found.correlation.value),
        _row(found, "best member, chosen on other cases", "panel", found.best_accuracy),
        _row(found, "vote, errors independent", "panel", alone, IntervalEstimate(n, n, n), 0.0),
    ]
    if found.against_majority is not None:
        rows.append(
            _row(found, "panel, compared with the majority of people", "panel", UNDEFINED, found.against_majority)
        )
    if found.people_effective is not None:
        rows.append(_row(found, f"people, {found.n_people:,} per case", "people", UNDEFINED, found.people_effective))
    for one in found.members:
        row = _row(found, one.name, "family" if one.is_family else "AI rater", one.accuracy or UNDEFINED)
        row |= {"correlation": one.correlation, "vote_without": one.vote_without.value, "added_as": place.get(one.name)}
        row |= _ends("change", one.change) | {"n_effective_without": one.n_effective_without}
        rows.append(row)
    return frame_of([[row.get(column.name) for column in COLUMNS] for row in rows], COLUMNS)


def _row(
    found: PanelWorth,
    name: str,
    kind: str,
    accuracy: IntervalEstimate,
    effective: IntervalEstimate = UNDEFINED,
    correlation: float | None = None,
) -> dict[str, Any]:
    own = {"name": name, "kind": kind, "correlation": correlation, "n_cases": found.n_cases}
    return own | _ends("accuracy", accuracy) | _ends("n_effective", effective)


def _ends(name: str, one: IntervalEstimate) -> dict[str, float]:
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}


def _applicable(dataset: Dataset) -> Verdict:
    if dataset.kind != "class":
        reason = f"the annotations are {dataset.traits.plural}{_CHOOSE.get(dataset.kind, '')}"
    elif not dataset.raters_identified:
        reason = "the annotations are anonymous"
    else:
        reason = "" if dataset.n_raters > 1 else "there is only one rater"
    return Verdict("panel", "Accuracy of a panel", not reason, reason or ONE_CLASS["class"])


_WORTH = part_of(__name__, "worth", "Panel", _applicable, PanelOptions)
PANEL = Analysis("panel", "Panel of AI raters", "How accurate is a panel of AI raters?", (_WORTH,))
