"""Data that an earlier version read in another way: what is kept under the digest of then, and how it is brought over.

The reviews stay in the record under the earlier digest as well; see `core.review.brought_over`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import belongings, library
from .annotations.dataset import Dataset, keep_only
from .annotations.ordering import order_in_words, sorted_as_now, with_class_order
from .annotations.vocabulary import is_missing_now
from .changes import record_change
from .errors import PluralityError
from .ingest.case_facts import CaseFacts
from .text import plural


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is kept under an earlier digest of a dataset.

    Attributes
    ----------
    digest : str
    kept : bool
        Whether the dataset itself is.
    n_steps : int
        Steps in the record of reviews.
    n_predictions, n_selections, n_people : int
        Files of predictions, named selections, people and groups with whom it is shared.
    others : bool
        Whether there are machines, links or choices.
    """

    digest: str
    kept: bool
    n_steps: int
    n_predictions: int
    n_selections: int
    n_people: int
    others: bool

    @property
    def words(self) -> str:
        """``12 steps of review, 2 files of predictions``."""
        parts = ["the kept dataset"] if self.kept else []
        counted = (
            (self.n_steps, "step of review", "steps of review"),
            (self.n_predictions, "file of predictions", "files of predictions"),
            (self.n_selections, "named selection", "named selections"),
            (self.n_people, "person or group with access", "people or groups with access"),
        )
        parts += [plural(n, one, several) for n, one, several in counted if n]
        return ", ".join([*parts, *["settings"] * self.others])


def kept_under(digest: str) -> Earlier | None:
    """What is kept under an earlier digest; None where nothing is.

    Raises
    ------
    StoreError
        The reviews cannot be read.
    """
    from .review.store import open_store, there_is_a_store  # the database takes time to load

    n_steps = open_store().n_to_bring_over(digest) if there_is_a_store() else 0
    people = {*belongings.shared_with(digest), *belongings.groups_with(digest)}
    others = bool(belongings.has_marks(digest) or belongings.chosen_for(digest) or belongings.link_of(digest))
    n_predictions, n_selections = len(belongings.predictions_of(digest)), len(belongings.selections_of(digest))
    found = Earlier(digest, library.is_kept(digest), n_steps, n_predictions, n_selections, len(people), others)
    return found if found.words else None


def bring_over(earlier: str, dataset: Dataset, facts: CaseFacts | None, by: str) -> tuple[int, int]:
    """Bring all that is kept under an earlier digest to the dataset as it is now.

    Returns how many steps of review were brought over, and how many were left in the earlier record: those of cases
    that are no more, on which a class that is no more was named, or that have steps of their own by now.

    A second call finishes what was interrupted. The earlier digest then opens the dataset as it is now, and the name
    that a user gave it stays.

    Parameters
    ----------
    earlier : str
        Digest.
    dataset : Dataset
    facts : CaseFacts or None
        What is known of its cases; None takes that of the earlier one.
    by : str
        Who brings it over, for the record.

    Raises
    ------
    StoreError, InputError
        Reviews or the home folder cannot be written.
    """
    from .review.store import open_store, there_is_a_store

    record_change(by, dataset.digest, "bring over", (earlier,))
    if library.is_kept(earlier):
        name = library.name_of(earlier)
        library.keep(dataset.renamed(name), facts if facts is not None else library.facts_of(earlier))
        belongings.move_belongings(dataset.digest)
    belongings.bring_over(earlier, dataset.digest)
    n_steps = 0, 0
    if there_is_a_store():
        n_steps = open_store().bring_over(earlier, dataset.digest, by, dataset.cases, dataset.classes)
    library.continue_as(earlier, dataset.digest)
    belongings.forget_belongings(earlier)
    return n_steps


def as_read_now(dataset: Dataset) -> Dataset | None:
    """Return a kept dataset as its file would be read now; None if that is the same.

    Classes such as ``#N/A`` are missing annotations now. Only an order of classes that an earlier version gave is
    changed: that of the text of numbers, or the alphabet of a scale that was declared to mean something.

    Parameters
    ----------
    dataset : Dataset
        Of single classes; None is returned for others.
    """
    if dataset.kind != "class":
        return None
    now = _without_tokens(dataset)
    order = sorted_as_now(now.classes, ordinal=now.ordinal)
    if order != now.classes:
        now = replace(with_class_order(now, order), ordinal=now.ordinal)
    return None if now is dataset else now


def differences(before: Dataset, now: Dataset) -> str:
    """Return sentences on what `as_read_now` changes, for plain text.

    Parameters
    ----------
    before, now : Dataset
    """
    said = []
    if n := before.n_annotations - now.n_annotations:
        gone = ", ".join(name for name in before.classes if is_missing_now(name))
        verb = "counts" if n == 1 else "count"
        said.append(f"{plural(n, 'annotation')} ({gone}) now {verb} as missing.")
    kept = [name for name in before.classes if name in set(now.classes)]
    if kept != list(now.classes):
        said.append(f"Saved order of the classes: {order_in_words(kept)}. Order now: {order_in_words(now.classes)}.")
    return " ".join(said)


def _without_tokens(dataset: Dataset) -> Dataset:
    """The annotations without those that count as missing now; all of them if no other is left."""
    is_class = np.array([not is_missing_now(name) for name in dataset.classes])
    if is_class.all() or not is_class[dataset.answer].any():
        return dataset
    code = np.append(np.where(is_class, np.cumsum(is_class) - 1, -1), -1).astype(np.int32)
    left = keep_only(dataset, is_class[dataset.answer])
    return replace(
        left,
        classes=tuple(name for name in dataset.classes if not is_missing_now(name)),
        answer=code[left.answer],
        class_risk=None if left.class_risk is None else left.class_risk[is_class],
        gold=None if left.gold is None else code[left.gold],
    )


def found_before(digest: str, earlier: Sequence[str], *, left_apart: bool = False) -> list[Earlier]:
    """Return what is kept under earlier digests of a dataset; nothing while the reviews cannot be read.

    An earlier digest may have been brought over to another one since.

    Parameters
    ----------
    digest : str
        Of the dataset as it is now.
    earlier : sequence of str
        See `core.ingest.read_files.Reading`.
    left_apart : bool
        Also what a user wanted to stay there.
    """
    digests = dict.fromkeys(one for before in earlier for one in (before, library.present_digest(before)))
    asked = [one for one in digests if one != digest and (left_apart or not library.is_left_apart(one, digest))]
    try:
        return [found for one in asked if (found := kept_under(one)) is not None]
    except PluralityError:
        return []
