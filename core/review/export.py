"""Reviews as files: a table of results, and the whole trail as CSV or JSON."""

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise

import pandas as pd

from ..annotations.dataset import Dataset
from ..text import utc
from ..version import __version__
from .assignments import Assignment
from .chain import Head
from .decisions import decisions_on
from .events import Event
from .opinions import REASONS, Opinion
from .states import STATES, CaseReview, effective

_RESULT = (
    "case",
    "state",
    "result",
    "result_json",
    "by",
    "at",
    "confidence",
    "reason",
    "note",
    "n_opinions",
    "version",
    "seconds",
    "outside_plausible_set",
)


def time_of(microseconds: int) -> str:
    """Return a time as ISO 8601 in UTC."""
    return utc(microseconds // 1_000_000).strftime("%Y-%m-%dT%H:%M:%SZ")


def result_table(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> pd.DataFrame:
    """Return one row per case that has a review, in the order of the dataset.

    ``seconds`` is the time on the case until the decision. ``outside_plausible_set`` marks cases that only one reviewer
    closed, with an opinion outside the panel's plausible set.
    """
    rows = []
    for case_id in dataset.cases:
        if case_id not in reviews:
            continue
        review = reviews[case_id]
        last = deciding_event(review)
        opinion = last.opinion if last else None
        time = {one.reviewer: one.seconds for one in decisions_on(review)}
        rows.append(
            (
                case_id,
                STATES[review.state],
                _words(opinion),
                opinion.to_json() if opinion else "",
                last.reviewer if last else "",
                time_of(last.at) if last else "",
                last.confidence if last else None,
                REASONS.get(last.reason, "") if last else "",
                last.note if last else "",
                len(review.reads),
                review.version,
                time.get(last.reviewer) if last else None,
                review.closed_unsupported,
            )
        )
    return pd.DataFrame(rows, columns=_RESULT)


def deciding_event(review: CaseReview) -> Event | None:
    """Return the event that settled a case; None if it is not settled."""
    if review.adjudication is None and review.state == "closed":
        return [event for event in effective(review.events) if event.kind in ("opinion", "keep", "change")][-1]
    return review.adjudication


def trail_table(dataset: Dataset, reviews: Mapping[str, CaseReview]) -> pd.DataFrame:
    """Return one row per event, undone ones included, by case and version."""
    rows, early = [], _earlier(reviews)
    for case_id in dataset.cases:
        if case_id in reviews:
            undone = {event.undoes for event in reviews[case_id].events}
            rows += [
                _row(event) | {"undone": event.version in undone, "earlier_than_the_one_before": event.number in early}
                for event in reviews[case_id].events
            ]
    return pd.DataFrame(rows, columns=[*_COLUMNS, "undone", "earlier_than_the_one_before"])


def trail_json(
    dataset: Dataset,
    reviews: Mapping[str, CaseReview],
    head: Head | None = None,
    assignments: Iterable[Assignment] = (),
) -> bytes:
    """Return the whole trail with the state of each case as JSON.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
        Reviews by case.
    head : Head, optional
        End of the chain of the record (`core.review.chain`).
    assignments : iterable of Assignment
    """
    early = _earlier(reviews)
    cases = [
        {
            "case": case_id,
            "state": reviews[case_id].state,
            "version": reviews[case_id].version,
            "events": [_plain(event, event.number in early) for event in reviews[case_id].events],
        }
        for case_id in dataset.cases
        if case_id in reviews
    ]
    whole = {
        "dataset": dataset.name,
        "digest": dataset.digest,
        "version": __version__,
        "classes": dataset.classes,
        "record": None if head is None else {"n_events": head.number, "head": head.hash},
        "assignments": [
            {"at": time_of(one.at), "by": one.by, "whom": one.whom, "number": one.number, "withdrawn": one.withdrawn}
            | one.to_settings()
            for one in assignments
        ],
        "cases": cases,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1).encode("utf-8")


def _earlier(reviews: Mapping[str, CaseReview]) -> set[int]:
    """Return the numbers of events whose time is before that of the event before them, because a clock was set back."""
    events = sorted((event for review in reviews.values() for event in review.events), key=lambda event: event.number)
    return {event.number for before, event in pairwise(events) if event.at < before.at}


def _words(opinion: Opinion | None) -> str:
    return opinion.words() if opinion else ""


def _plausible(panel: Opinion | None) -> str:
    """Return the plausible set of an undecided panel as JSON; empty if it has none."""
    return "" if panel is None or panel.plausible is None else json.dumps(panel.plausible, ensure_ascii=False)


def _row(event: Event) -> dict[str, object]:
    return {
        "case": event.case_id,
        "version": event.version,
        "at": time_of(event.at),
        "reviewer": event.reviewer,
        "event": event.kind,
        "visible": event.visible,
        "old": _words(event.old),
        "new": _words(event.opinion),
        "panel": _words(event.panel),
        "plausible": _plausible(event.panel),
        "model": event.model,
        "settings": json.dumps(dict(event.settings), ensure_ascii=False) if event.settings else "",
        "confidence": event.confidence,
        "reason": REASONS.get(event.reason, ""),
        "note": event.note,
        "whom": event.whom,
        "whom_visible": event.whom_visible,
        "undoes": event.undoes,
        "seconds": event.seconds,
        "session": event.session or "",
        "number": event.number,
        "hash": event.hash,
    }


_COLUMNS = (
    "case",
    "version",
    "at",
    "reviewer",
    "event",
    "visible",
    "old",
    "new",
    "panel",
    "plausible",
    "model",
    "settings",
    "confidence",
    "reason",
    "note",
    "whom",
    "whom_visible",
    "undoes",
    "seconds",
    "session",
    "number",
    "hash",
)


def _plain(event: Event, earlier: bool) -> dict[str, object]:
    row = _row(event)
    opinions = {"old": event.old, "new": event.opinion, "panel": event.panel}
    row |= {name: None if opinion is None else json.loads(opinion.to_json()) for name, opinion in opinions.items()}
    return row | {
        "settings": dict(event.settings),
        "reason": event.reason,
        "at_microseconds": event.at,
        "earlier_than_the_one_before": earlier,
    }
