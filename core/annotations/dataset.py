"""The immutable dataset: annotations in CSR by case, vocabularies, the declared class list, and side tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..errors import NotFoundError
from .csr import group_by_case, order_blocks
from .digest import content_digest

Kind = Literal["class", "ranking", "score"]
RISK_LEVELS = ("low", "medium", "high")
MISSING_TIME = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Dataset:
    """Annotations of cases by raters. Build one with `from_classes`, `from_rankings` or `from_scores`, or read a file.

    Annotations of case ``i`` are those from ``case_ptr[i]`` up to ``case_ptr[i + 1]``, in the order in which they were
    made or, without times, in which they stand in the file. All arrays are read-only.

    Attributes
    ----------
    name : str
        What people call it; not part of the digest.
    kind : {"class", "ranking", "score"}
        What an annotation is.
    cases, raters, classes : tuple of str
        Vocabularies. ``classes`` is the closed list that answers are drawn from, in its declared order.
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    rater : ndarray of int32, shape (n_annotations,)
    answer : ndarray of int32, shape (n_annotations,)
        Class of each annotation; empty unless ``kind`` is "class".
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
        Rankings: the ranked classes of annotation ``a`` are entries ``entry_ptr[a]`` to ``entry_ptr[a + 1]``.
    entry_class, entry_block : ndarray of int32, shape (n_entries,)
        Class and block (0 = first choice; equal = tied; ascending) of each entry.
    score : ndarray of float64, shape (n_annotations,)
    time : ndarray of int64, shape (n_annotations,), or None
        Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
    ordinal : bool
        True where the order of the classes means something.
    raters_identified : bool
        False where rater names carry no identity across cases; statistics per rater are then off.
    class_risk : ndarray of int8, shape (n_classes,), or None
        Index into `RISK_LEVELS`; -1 unknown.
    case_group : tuple of str, or None
        A group (site, batch) for each case.
    gold : ndarray of int32, shape (n_cases,), or None
        Known class of a case; -1 unknown.
    """

    name: str
    kind: Kind
    cases: tuple[str, ...]
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    case_ptr: np.ndarray
    rater: np.ndarray
    answer: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    entry_ptr: np.ndarray = field(default_factory=lambda: np.zeros(1, np.int64))
    entry_class: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    entry_block: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    score: np.ndarray = field(default_factory=lambda: np.empty(0, np.float64))
    time: np.ndarray | None = None
    ordinal: bool = False
    raters_identified: bool = True
    class_risk: np.ndarray | None = None
    case_group: tuple[str, ...] | None = None
    gold: np.ndarray | None = None

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @classmethod
    def from_classes(
        cls,
        name: str,
        cases: Sequence[str],
        raters: Sequence[str],
        classes: Sequence[str],
        case_code: np.ndarray,
        rater_code: np.ndarray,
        answer: np.ndarray,
        time: np.ndarray | None = None,
        **side,
    ) -> "Dataset":
        """From one row per annotation; codes index the vocabularies, each array of shape (n_annotations,)."""
        case_ptr, order = group_by_case(case_code, len(cases), time)
        return cls(
            name=name,
            kind="class",
            cases=tuple(cases),
            raters=tuple(raters),
            classes=tuple(classes),
            case_ptr=case_ptr,
            rater=np.ascontiguousarray(rater_code, np.int32)[order],
            answer=np.ascontiguousarray(answer, np.int32)[order],
            time=None if time is None else np.ascontiguousarray(time, np.int64)[order],
            **side,
        )

    @classmethod
    def from_scores(
        cls,
        name: str,
        cases: Sequence[str],
        raters: Sequence[str],
        case_code: np.ndarray,
        rater_code: np.ndarray,
        score: np.ndarray,
        time: np.ndarray | None = None,
        **side,
    ) -> "Dataset":
        """From one row per annotation; ``score`` of shape (n_annotations,), finite."""
        case_ptr, order = group_by_case(case_code, len(cases), time)
        return cls(
            name=name,
            kind="score",
            cases=tuple(cases),
            raters=tuple(raters),
            classes=(),
            case_ptr=case_ptr,
            rater=np.ascontiguousarray(rater_code, np.int32)[order],
            score=np.ascontiguousarray(score, np.float64)[order] + 0.0,  # -0 is 0, for the digest
            time=None if time is None else np.ascontiguousarray(time, np.int64)[order],
            **side,
        )

    @classmethod
    def from_rankings(
        cls,
        name: str,
        cases: Sequence[str],
        raters: Sequence[str],
        classes: Sequence[str],
        case_code: np.ndarray,
        rater_code: np.ndarray,
        entry_ptr: np.ndarray,
        entry_class: np.ndarray,
        entry_rank: np.ndarray,
        time: np.ndarray | None = None,
        **side,
    ) -> "Dataset":
        """From one row per annotation and one entry per ranked class.

        ``entry_rank`` orders the entries of an annotation, lowest first; equal ranks are ties.
        """
        case_ptr, order = group_by_case(case_code, len(cases), time)
        entry_ptr, entry_class, entry_block = order_blocks(
            np.ascontiguousarray(entry_ptr, np.int64),
            np.ascontiguousarray(entry_class, np.int32),
            np.ascontiguousarray(entry_rank, np.float64),
            order,
        )
        return cls(
            name=name,
            kind="ranking",
            cases=tuple(cases),
            raters=tuple(raters),
            classes=tuple(classes),
            case_ptr=case_ptr,
            rater=np.ascontiguousarray(rater_code, np.int32)[order],
            entry_ptr=entry_ptr,
            entry_class=entry_class,
            entry_block=entry_block,
            time=None if time is None else np.ascontiguousarray(time, np.int64)[order],
            **side,
        )

    @property
    def n_cases(self) -> int:
        """Number of cases with at least one annotation."""
        return len(self.cases)

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return len(self.raters)

    @property
    def n_classes(self) -> int:
        """Length of the declared class list; 0 for scores."""
        return len(self.classes)

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return len(self.rater)

    @cached_property
    def digest(self) -> str:
        """Hash of the content (not of the name), 32 hexadecimal digits."""
        return content_digest(self)

    @cached_property
    def _case_index(self) -> dict[str, int]:
        return {case_id: case for case, case_id in enumerate(self.cases)}

    def case_index(self, case_id: str) -> int:
        """Position of a case. Raises `NotFoundError` where there is none of that id."""
        try:
            return self._case_index[case_id]
        except KeyError:
            raise NotFoundError(f"There is no case {case_id!r} in {self.name}. It may have been left out.") from None

    def annotations_of(self, case: int) -> range:
        """Positions of a case's annotations."""
        return range(int(self.case_ptr[case]), int(self.case_ptr[case + 1]))

    def blocks_of(self, annotation: int) -> list[list[int]]:
        """Ranked classes of one annotation as blocks of tied classes, first choice first.

        A single class is one block; a score has none.
        """
        if self.kind == "class":
            return [[int(self.answer[annotation])]]
        if self.kind == "score":
            return []
        blocks: list[list[int]] = []
        for entry in range(self.entry_ptr[annotation], self.entry_ptr[annotation + 1]):
            while len(blocks) <= self.entry_block[entry]:
                blocks.append([])
            blocks[self.entry_block[entry]].append(int(self.entry_class[entry]))
        return blocks

    @cached_property
    def case_of_annotation(self) -> np.ndarray:
        """Case of each annotation, ndarray of int32, shape (n_annotations,)."""
        return np.repeat(np.arange(self.n_cases, dtype=np.int32), np.diff(self.case_ptr))

    def renamed(self, name: str) -> "Dataset":
        """The same content under another name; the digest stays."""
        return replace(self, name=name)

    def as_classes(self, threshold: float | None = None) -> tuple["Dataset", int]:
        """One class per annotation, for methods that need it, and how many annotations were left out.

        A ranking counts as its first block; a tied first block is left out. Scores become two classes by
        ``threshold``: at most it, and above it. Cases keep their places, so some may be left with no annotation.

        Raises
        ------
        InputError
            Scores without a threshold, or with one that is not finite.
        """
        from .single_class import as_classes

        return as_classes(self, threshold)

    def select(
        self,
        *,
        raters: Iterable[str] | None = None,
        cases: Iterable[str] | None = None,
        groups: Iterable[str] | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> "Dataset":
        """Another dataset with only these annotations; cases and raters left without any are gone, classes stay.

        ``since`` (inclusive) and ``until`` (exclusive) are seconds since 1970-01-01 UTC.

        Raises
        ------
        NotFoundError
            A rater or case that the data do not have.
        InputError
            A date or a group is asked for and the data have none, or nothing is left.
        """
        from .selection import keep_only, marked

        return keep_only(self, marked(self, raters, cases, groups, since, until))
