"""Paired comparisons: each case is a pair of items, and an annotation says which of the two is better."""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .validation import Names, check_length, check_range, checked_integers, checked_names, frozen

FIRST, TIE, SECOND = "first is better", "tie", "second is better"
COMPARED = (FIRST, TIE, SECOND)
NAMED_FIRST = (
    "The names of the items determine which item of a pair comes first, so these numbers depend on the names. “Items "
    "in order” (on Cases) does not depend on them."
)
BETWEEN = " | "  # between the two items in the name of a case


@dataclass(frozen=True, slots=True, eq=False)
class PairedItems:
    """Items of each case of a dataset of comparisons, and which of them was shown first.

    Attributes
    ----------
    items : tuple of str
    of_case : ndarray of int32, shape (n_cases, 2)
        First and second item of each case, as positions in ``items``; the classes `FIRST` and `SECOND` mean these.
    swapped : ndarray of int8, shape (n_annotations,), or None
        1 if the second item was shown first (on the left), 0 if the first was, -1 if unknown; None if all are unknown.

    Raises
    ------
    InputError
        A position is out of range, or an item is compared with itself.
    """

    items: tuple[str, ...]
    of_case: np.ndarray
    swapped: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", checked_names(self.items, "items"))
        pairs = np.asarray(self.of_case)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise InputError(f"Could not use pairs of items: their shape is {pairs.shape}.", "Use (n_cases, 2).")
        flat = checked_integers(pairs.ravel(), "pairs of items", np.int32)
        check_range(flat, "pairs of items", 0, len(self.items) - 1, "a position among the items")
        pairs = frozen(np.ascontiguousarray(flat.reshape(-1, 2)))
        if (pairs[:, 0] == pairs[:, 1]).any():
            item = self.items[int(pairs[np.argmax(pairs[:, 0] == pairs[:, 1]), 0])]
            raise InputError(f"Could not use a pair: {item!r} is compared with itself.", "Use two different items.")
        object.__setattr__(self, "of_case", pairs)
        if self.swapped is not None:
            swapped = checked_integers(self.swapped, "swapped", np.int8)
            check_range(swapped, "swapped", -1, 1, "1, 0 or -1 (unknown)")
            object.__setattr__(self, "swapped", frozen(swapped))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def check(self, n_cases: int, n_annotations: int) -> None:
        """Raise `InputError` unless there is a pair for each case, and a side for each annotation if sides are known.

        Parameters
        ----------
        n_cases, n_annotations : int
        """
        check_length(self.of_case, n_cases, "pairs of items", "cases")
        if self.swapped is not None:
            check_length(self.swapped, n_annotations, "swapped", "annotations")

    def columns(self, cases: np.ndarray, answers: np.ndarray, annotations: np.ndarray) -> dict[str, np.ndarray]:
        """Return columns that read back as these comparisons: both items, the one shown first on the left, and answer.

        If sides are unknown and there is no tie: the preferred item, and the other.

        Parameters
        ----------
        cases : ndarray of int, shape (n,)
        answers : ndarray of object, shape (n,)
            Classes: some of `COMPARED`.
        annotations : ndarray of int, shape (n,)
        """
        pairs, names = self.of_case[cases], np.array(self.items, object)
        second = answers == SECOND
        turned = second if self.swapped is None else self.swapped[annotations] == 1
        if self.swapped is None and (answers == TIE).any():
            turned = np.zeros(len(answers), bool)
        left, right = (names[np.where(turned, pairs[:, 1 - side], pairs[:, side])] for side in (0, 1))
        if self.swapped is None and not (answers == TIE).any():
            return {"winner": left, "loser": right}
        side = np.where(second == turned, "item_a", "item_b").astype(object)
        return {"item_a": left, "item_b": right, "preferred": np.where(answers == TIE, TIE, side)}

    def in_order(self, order: np.ndarray) -> "PairedItems":
        """Return the same pairs with the annotations in another order; ``order`` has shape (n_annotations,)."""
        return PairedItems(self.items, self.of_case, None if self.swapped is None else self.swapped[order])

    def with_more(self, n: int) -> "PairedItems":
        """Return the same pairs with ``n`` further annotations whose sides are unknown."""
        more = np.full(n, -1, np.int8)
        return PairedItems(
            self.items, self.of_case, None if self.swapped is None else np.concatenate([self.swapped, more])
        )

    def kept(self, cases: np.ndarray, annotations: np.ndarray) -> "PairedItems":
        """Return the pairs of some cases, and the items that are left in them.

        Parameters
        ----------
        cases : ndarray of bool, shape (n_cases,)
        annotations : ndarray of bool, shape (n_annotations,)
        """
        pairs = self.of_case[cases]
        used = np.zeros(self.n_items, bool)
        used[pairs] = True
        code = np.cumsum(used, dtype=np.int32) - 1
        items = Names(item for item, kept in zip(self.items, used, strict=True) if kept)
        return PairedItems(items, code[pairs], None if self.swapped is None else self.swapped[annotations])
