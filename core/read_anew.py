"""Data that an earlier version read differently: what is stored under the earlier digest, and how it is copied.

The reviews stay in the record under the earlier digest as well; see `core.review.brought_over`.
"""

from collections.abc import Callable, Iterable, Sequence
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
    """Data stored under an earlier digest of a dataset.

    Attributes
    ----------
    digest : str
    kept : bool
        True if the dataset itself is saved.
    n_steps : int
        Number of steps in the record of reviews.
    n_predictions, n_selections, n_people : int
        Numbers of files of predictions, named selections, and people and groups with access.
    others : bool
        True if there are AI raters, links or choices.
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
        """Content in words, such as ``12 review steps, 2 files of predictions``."""
        parts = ["the saved dataset"] if self.kept else []
        counted = (
            (self.n_steps, "review step", "review steps"),
            (self.n_predictions, "file of predictions", "files of predictions"),
            (self.n_selections, "named selection", "named selections"),
            (self.n_people, "person or group with access", "people or groups with access"),
        )
        parts += [plural(n, one, several) for n, one, several in counted if n]
        return ", ".join([*parts, *["settings"] * self.others])


def kept_under(digest: str) -> Earlier | None:
    """Return what is stored under an earlier digest; None if there is nothing.

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


def bring_over(
    earlier: str, dataset: Dataset, facts: CaseFacts | None, by: str, rater_names: Iterable[tuple[str, str]] = ()
) -> tuple[int, int]:
    """Copy everything that is stored under an earlier digest to the present dataset.

    Returns how many steps of review were copied, and how many were left in the earlier record: those of cases that no
    longer exist, of cases with a class that no longer exists, or of cases that already have steps of their own.

    A second call finishes an interrupted one. The earlier digest then opens the present dataset, and the name that a
    user gave it stays.

    Parameters
    ----------
    earlier : str
        Earlier digest.
    dataset : Dataset
    facts : CaseFacts or None
        Facts on its cases; None takes those of the earlier one.
    by : str
        Person who copies, for the record.
    rater_names : iterable of (str, str)
        Earlier and present names of raters whose name changed. Marks of AI raters and named selections then get the
        present names, without raters that the present dataset does not have.

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
    belongings.bring_over(earlier, dataset.digest, _renaming(dict(rater_names), dataset.raters))
    n_steps = 0, 0
    if there_is_a_store():
        n_steps = open_store().bring_over(earlier, dataset.digest, by, dataset.cases, dataset.classes)
    library.continue_as(earlier, dataset.digest)
    belongings.forget_belongings(earlier)
    return n_steps


def _renaming(names: dict[str, str], raters: Sequence[str]) -> Callable[[Iterable[str]], tuple[str, ...]]:
    """Return the function from earlier to present names of raters; it changes nothing if no name changed."""
    if not names:
        return tuple
    present = set(raters)

    def rename(earlier: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(now for one in earlier if (now := names.get(one, one)) in present))

    return rename


def as_read_now(dataset: Dataset) -> Dataset | None:
    """Return a saved dataset as its file would be read now; None if that is the same.

    Classes such as ``#N/A`` are missing annotations now. The order of classes changes only if an earlier version made
    it: numbers sorted as text, or an alphabetical order of a scale that was declared to have a meaning.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes; for others, None is returned.
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
        said.append(
            f"Saved order of the classes: {order_in_words(kept)}. Current order: {order_in_words(now.classes)}."
        )
    return " ".join(said)


def _without_tokens(dataset: Dataset) -> Dataset:
    """Return the annotations without those that count as missing now; all of them if no other is left."""
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


def found_before(dataset: Dataset, earlier: Sequence[str], *, left_apart: bool = False) -> list[Earlier]:
    """Return what is stored under earlier digests of a dataset; nothing while the reviews cannot be read.

    An earlier digest may have been copied to another one since. If that is another question of the same file, it is
    not an earlier reading of this one.

    Parameters
    ----------
    dataset : Dataset
        Present dataset.
    earlier : sequence of str
        See `core.ingest.read_files.Reading`.
    left_apart : bool
        True to include what a user decided to leave there.
    """
    digest = dataset.digest
    since = [now for before in earlier if (now := library.present_digest(before)) not in (before, digest, *earlier)]
    asked = [one for one in dict.fromkeys(earlier) if one != digest]
    try:
        asked += [one for one in dict.fromkeys(since) if library.is_kept(one) and _has_all_of(one, dataset)]
        asked = [one for one in asked if left_apart or not library.is_left_apart(one, digest)]
        return [found for one in asked if (found := kept_under(one)) is not None]
    except PluralityError:
        return []


def _has_all_of(digest: str, dataset: Dataset) -> bool:
    """Return whether a saved dataset has all annotations of another one; False unless both have single classes."""
    before = library.reopen(digest)
    if not before.kind == dataset.kind == "class":
        return False
    counts = []
    for one in (dataset, before):
        pairs, n = np.unique(np.stack([one.case_of_annotation, one.answer]), axis=1, return_counts=True)
        named = zip(pairs[0].tolist(), pairs[1].tolist(), n.tolist(), strict=True)
        counts.append({(one.cases[case], one.classes[code]): number for case, code, number in named})
    return all(counts[1].get(pair, 0) >= n for pair, n in counts[0].items())
