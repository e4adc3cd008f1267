"""Results of reviews: how cases were settled, agreement of blind opinions, changed opinions, reasons and time."""

from dataclasses import dataclass

import pandas as pd

from ..agreement.intervals import Coefficient
from ..methods import Verdict
from ..review.decisions import QUICK, n_quick, quick_words
from ..review.opinions import REASONS
from ..review.random_sample import ReviewedBy
from ..review.states import STATES
from ..review.summary import DIRECTIONS, Reviewer, Summary, by_reviewer, summarise_reviews
from ..text import duration, exact, percent, percent_range, percent_with_interval, plural, with_interval
from .base import Analysis, part_of
from .blocks import Block, Grid, Heading, KeyFigure, Name, Row, Stack, Words
from .inputs import Inputs
from .schema import Column

_UNDER = f"under {exact(QUICK)} s"
REVIEWERS = (
    Column("reviewer"),
    Column("reads", unit="count"),
    Column("of them blind", unit="count"),
    Column("agree with the panel"),
    Column("changed after the reveal", "changed after seeing the panel"),
    Column(_UNDER),
)


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """Options of the results of reviews.

    Attributes
    ----------
    by : ReviewedBy, optional
        Origin of the reviewed cases.
    """

    by: ReviewedBy | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReviewFigures:
    """Statistics of all reviews, and of each reviewer."""

    summary: Summary
    reviewers: tuple[Reviewer, ...]


def applicable(inputs: Inputs) -> Verdict:
    """Return whether a case has been reviewed."""
    return Verdict("reviews", "Reviews", bool(inputs.reviews), "" if inputs.reviews else "no case has been reviewed")


def compute(inputs: Inputs, options) -> ReviewFigures:
    """Compute statistics from the events of all reviews."""
    reviews = inputs.reviews or {}
    return ReviewFigures(
        summarise_reviews(inputs.dataset, reviews), tuple(by_reviewer(inputs.dataset, reviews))
    )  # fmt: skip


def present(found: ReviewFigures, inputs: Inputs, options) -> list[Block]:
    """Show four numbers, the reviewers, states, changed opinions and reasons, and the time taken."""
    summary, table = found.summary, table_of(found, inputs, options)
    settled = summary.states["closed"] + summary.states["adjudicated"]
    alpha = summary.alpha
    figures: list[Block] = [_metric("Agreement between blind opinions", summary.with_each_other)]
    if alpha.value is not None:
        beyond = f"beyond chance (α) {with_interval(alpha.value, alpha.ci_low, alpha.ci_high)}"
        figures.append(Words(beyond, "note"))
    reviewed = f"{summary.n_reviewed:,} of {summary.n_cases:,}"
    return [
        Words(summary.settled.words() or "No case is settled yet."),
        Row(
            (
                Stack(1, [KeyFigure("Cases reviewed", reviewed, f"{settled:,} of them settled")]),
                Stack(1, [_metric("Agreement of blind opinions with the panel", summary.with_panel)]),
                Stack(1, figures),
                Stack(1, [_metric("Opinions changed after seeing the panel", summary.minds.share)]),
            )
        ),
        *([Words((Name(options.by.words()),), "note", "sample or queue")] if options.by else []),
        Heading("Reviewers"),
        Grid(table, "Opinions of each reviewer.", columns=REVIEWERS, key="review_people"),
        Words("Only blind opinions are compared. Intervals are 95% Wilson intervals over cases.", "note"),
        _counted(summary),
        *(Words(words, "note") for words in (_time(summary), quick_words(summary.decided)) if words),
    ]


def table_of(found: ReviewFigures, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per reviewer."""
    rows = []
    for one in found.reviewers:
        panel, (quick, timed) = one.with_panel, n_quick(one.decided)
        agree = "–" if panel.value is None else percent_with_interval(panel.value, panel.ci_low, panel.ci_high)
        changed = f"{one.minds.n_changed:,} of {one.minds.n:,}"
        rows.append((one.name, one.n_reads, one.n_blind, agree, changed, f"{quick:,} of {timed:,}" if timed else "–"))
    return pd.DataFrame(rows, columns=[column.name for column in REVIEWERS])


def _metric(label: str, share: Coefficient) -> KeyFigure:
    if share.value is None:
        return KeyFigure(label, "–", share.note)
    interval = "no interval"
    if share.ci_low is not None and share.ci_high is not None:
        interval = percent_range(share.ci_low, share.ci_high)
    of = f"{plural(share.n_annotations, 'opinion')}, {plural(share.n_cases, 'case')}"
    return KeyFigure(label, percent(share.value), f"{interval} · {of}")


def _counted(summary: Summary) -> Row:
    """Show cases by state, changed opinions by direction, and reasons, each as a table of counts."""
    ways = {words: summary.minds.directions.get(name, 0) for name, words in DIRECTIONS.items()}
    states = {words: summary.states.get(name, 0) for name, words in STATES.items()}
    reasons = {REASONS[name]: count for name, count in summary.reasons.items()}
    return Row(
        (
            Stack(1, _counts("States of cases", "state", states, "cases", "review_states", "")),
            Stack(
                1,
                _counts("Changed minds", "direction", ways, "times", "review_minds",
                        "No reviewer has changed an opinion after seeing the panel."),
            ),
            Stack(
                1, _counts("Reasons given", "reason", reasons, "times", "review_reasons", "No reviewer gave a reason.")
            ),
        ),
        gap="large",
    )  # fmt: skip


def _counts(title: str, what: str, counts: dict[str, int], of: str, key: str, none: str) -> list[Block]:
    table = pd.DataFrame([(words, count) for words, count in counts.items() if count], columns=[what, of])
    if table.empty:
        return [Heading(title), Words(none, "note")]
    return [Heading(title), Grid(table, f"{title}.", columns=(Column(what), Column(of, unit="count")), key=key)]


def _time(summary: Summary) -> str:
    if summary.seconds is None:
        return ""
    low, middle, high = summary.seconds
    spread = f" (middle half {duration(low)} to {duration(high)})" if summary.n_timed > 2 else ""
    return f"Median time per case: {duration(middle)}{spread}, n = {plural(summary.n_timed, 'review')}."


REVIEWS = Analysis(
    "reviews",
    "Reviews",
    "What do the reviews show?",
    (part_of(__name__, "reviews", "Reviews", applicable, ReviewOptions),),
)
