"""Results of reviews as annotations of one further rater, in a new dataset; the old one does not change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from .decisions import Decision
from .events import check_name
from .opinions import Opinion
from .states import CaseReview

RATER = "Adjudication"


@dataclass(frozen=True, slots=True, eq=False)
class WithReviews:
    """Dataset with decisions of reviewers as annotations.

    Attributes
    ----------
    dataset : Dataset
        Dataset with the decisions. Its digest differs from that of the reviewed one, so reviews of that one do not
        belong to it.
    n_added : int
    left_out : tuple of str
        Cases whose result is not an annotation: it cannot be determined, is a distribution, or is a tie or a ranking if
        the data have one class per annotation.
    """

    dataset: Dataset
    n_added: int
    left_out: tuple[str, ...]


def results(reviews: Mapping[str, CaseReview], *, closed: bool = False) -> dict[str, tuple[Opinion, int]]:
    """Return the decision on each case and its time (microseconds since 1970-01-01 UTC).

    Parameters
    ----------
    reviews : mapping of str to CaseReview
        Reviews by case, as `ReviewStore.cases` returns them.
    closed : bool
        True to include cases closed by agreement with the panel, with the last opinion there.
    """
    found: dict[str, tuple[Opinion, int]] = {}
    for case_id, review in reviews.items():
        if review.adjudication is not None and review.adjudication.opinion is not None:
            found[case_id] = (review.adjudication.opinion, review.adjudication.at)
        elif closed and review.state == "closed":
            found[case_id] = (review.reads[-1].opinion, review.events[-1].at)
    return found


def with_reviews(
    dataset: Dataset, reviews: Mapping[str, CaseReview], *, rater: str = RATER, closed: bool = False
) -> WithReviews:
    """Return the dataset with adjudications as one further rater.

    Parameters
    ----------
    dataset : Dataset
    reviews : mapping of str to CaseReview
        Reviews by case, as `ReviewStore.cases` returns them.
    rater : str
        Name of the further rater.
    closed : bool
        See `results`.

    Raises
    ------
    InputError
        A rater with that name exists, or nothing can be added.
    """
    check_name(rater, "further rater")
    if rater in dataset.raters:
        raise InputError(f"Could not add decisions: a rater named {rater!r} already exists.", "Use another name.")
    added: list[tuple[int, Opinion, int]] = []
    left_out = []
    for case_id, (opinion, at) in results(reviews, closed=closed).items():
        if opinion.kind in _TAKEN[dataset.kind]:
            added.append((dataset.case_index(case_id), opinion, at // 1_000_000))
        else:
            left_out.append(case_id)
    if not added:
        raise InputError(
            "Could not add decisions: none can be used as an annotation of these data.",
            "First settle some cases.",
        )
    return WithReviews(_with_rater(dataset, rater, added), len(added), tuple(left_out))


def with_opinions(dataset: Dataset, found: Iterable[Decision]) -> Dataset:
    """Return the dataset with the current opinions of every reviewer as annotations of one further rater each.

    Opinions that are not annotations of these data are left out, as in `WithReviews`.

    Parameters
    ----------
    dataset : Dataset
    found : iterable of Decision
        Decisions, as `core.review.decisions.decisions` returns them.
    """
    by_person: dict[str, list[tuple[int, Opinion, int]]] = {}
    for one in found:
        if one.opinion.kind in _TAKEN[dataset.kind]:
            row = (dataset.case_index(one.case_id), one.opinion, one.at // 1_000_000)
            by_person.setdefault(one.reviewer, []).append(row)
    for name, added in sorted(by_person.items()):
        while name in dataset.raters:
            name += "'"
        dataset = _with_rater(dataset, name, added)
    return dataset


def _with_rater(dataset: Dataset, rater: str, added: list[tuple[int, Opinion, int]]) -> Dataset:
    """Return the dataset with a further rater; ``added`` has case, opinion and time (seconds since 1970-01-01 UTC)."""
    cases, opinions, seconds = zip(*added, strict=True)
    whose = (
        np.append(dataset.case_of_annotation, cases),
        np.append(dataset.rater, np.full(len(cases), dataset.n_raters)),
    )
    time = None if dataset.time is None else np.append(dataset.time, seconds)
    codes = {name: code for code, name in enumerate(dataset.classes)}
    side = {name: getattr(dataset, name) for name in _SIDE}
    if dataset.kind == "score":
        del side["ordinal"], side["class_risk"], side["gold"]
        score = np.append(dataset.score, [opinion.score for opinion in opinions])
        return Dataset.from_scores(dataset.name, dataset.cases, (*dataset.raters, rater), *whose, score, time, **side)
    names = (dataset.name, dataset.cases, (*dataset.raters, rater), dataset.classes)
    if dataset.kind == "class":
        answer = np.append(dataset.answer, [codes[opinion.first[0]] for opinion in opinions])
        pairs = None if dataset.pairs is None else dataset.pairs.with_more(len(opinions))
        return Dataset.from_classes(*names, *whose, answer, time, pairs=pairs, **side)
    named = [[codes[name] for name in opinion.classes] for opinion in opinions]
    ranks = [[rank for rank, block in enumerate(o.blocks) for _ in block] for o in opinions]
    entry_ptr = np.append(dataset.entry_ptr, dataset.entry_ptr[-1] + np.cumsum([len(n) for n in named]))
    entry_class = np.append(dataset.entry_class, np.concatenate(named))
    if dataset.kind == "set":
        return Dataset.from_sets(*names, *whose, entry_ptr, entry_class, time, **side)
    return Dataset.from_rankings(
        *names,
        *whose,
        entry_ptr,
        entry_class,
        np.append(dataset.entry_block, np.concatenate(ranks)),
        time,
        **side,
    )


_TAKEN = {"class": ("class",), "ranking": ("class", "ranking"), "set": ("set",), "score": ("score",)}
_SIDE = ("ordinal", "raters_identified", "class_risk", "case_group", "gold")
