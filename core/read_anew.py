"""Data that an earlier version read in another way: what is kept under the digest of then, and how it is brought over.

The reviews stay in the record under the earlier digest as well; see `core.review.brought_over`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from . import belongings, library
from .annotations.columns import of_texts
from .annotations.dataset import Dataset
from .annotations.ordering import scale_order, with_class_order
from .annotations.vocabulary import Rule, natural_order, reading_by
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


def bring_over(earlier: str, dataset: Dataset, facts: CaseFacts | None, by: str) -> int:
    """Bring everything that is kept under an earlier digest to the dataset as it is now; how many steps of review.

    What was interrupted is finished when it is asked for again. The earlier digest then opens the dataset as it is now.

    Parameters
    ----------
    earlier : str
        Digest.
    dataset : Dataset
    facts : CaseFacts or None
        What is known of its cases; that of the earlier one where not given.
    by : str
        Who brings it over, for the record.

    Raises
    ------
    StoreError, InputError
        Reviews or the home folder cannot be written.
    """
    from .review.store import open_store, there_is_a_store

    kept = library.is_kept(earlier)
    if kept:
        library.keep(dataset, facts if facts is not None else library.facts_of(earlier))
        belongings.move_belongings(dataset.digest)
    belongings.bring_over(earlier, dataset.digest)
    n_steps = 0
    if there_is_a_store():
        n_steps = open_store().bring_over(earlier, dataset.digest, by, dataset.cases)
    library.continue_as(earlier, dataset.digest)
    belongings.forget_belongings(earlier)
    return n_steps


def as_read_now(dataset: Dataset) -> Dataset | None:
    """A kept dataset with its classes in the order in which they are read now; None where it has that.

    Only an order that an earlier version gave is changed: that of the text of numbers, or the alphabet of a scale that
    was declared to mean something.

    Parameters
    ----------
    dataset : Dataset
        Of single classes; None is given for others.
    """
    if dataset.kind != "class" or dataset.n_classes < 2:
        return None
    with reading_by(Rule(earlier=True)):
        if list(dataset.classes) != _sorted(dataset.classes):
            return None
    order = _sorted(dataset.classes)
    if dataset.ordinal:
        order = list(scale_order(dataset.classes) or order)
    if order == list(dataset.classes):
        return None
    return replace(with_class_order(dataset, order), ordinal=dataset.ordinal)


def _sorted(names: Sequence[str]) -> list[str]:
    array = of_texts(list(names))
    return [names[place] for place in np.asarray(natural_order(array))]


def ask_about(earlier: Sequence[str]) -> list[Earlier]:
    """What is kept under earlier digests of a dataset; nothing where the reviews cannot be read now.

    Parameters
    ----------
    earlier : sequence of str
        See `core.ingest.read_files.Reading`.
    """
    try:
        return [found for digest in earlier if (found := kept_under(digest)) is not None]
    except PluralityError:
        return []
