"""Immutable dataset: annotations in CSR by case, vocabularies, the declared class list, and side tables."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..errors import InputError, NotApplicableError, NotFoundError
from ..result_base import Columns, Result, named
from ..text import plural, shorten, typed, without_controls
from .csr import group_by_case, keep_annotations, order_blocks
from .digest import dataset_digest, names_digest
from .frame_reader import frame_reader
from .kinds import KINDS, Kind, KindTraits
from .paired_items import COMPARED, PairedItems
from .rater_codes import coded
from .validation import (
    LARGEST_SCORE,
    MISSING_TIME,
    Names,
    check_length,
    check_one_block,
    check_range,
    check_rankings,
    check_sets,
    check_time_order,
    checked_codes,
    checked_flag,
    checked_integers,
    checked_names,
    checked_numbers,
    checked_pointers,
    checked_texts,
    checked_times,
    frozen,
)

LABEL_SIGNS = (";", "|", ",", "/", "+")
RISK_LEVELS = ("low", "medium", "high")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(Result):
    """Annotations of cases by raters: from a file, or from `from_classes`, `from_rankings`, `from_sets`, `from_scores`.

    Annotations of case ``i`` are those from ``case_ptr[i]`` up to ``case_ptr[i + 1]``, in the order in which they were
    made or, without times, in the order of the file. All arrays are read-only.

    The constructor checks every dataset, however it was made. Integers of other widths and ``datetime64`` are
    converted, everything else that does not fit is refused. Cases and raters may have no annotations, as `as_classes`
    and a declared list leave some; there is at least one case.

    Attributes
    ----------
    name : str
        Name for people; not part of the digest.
    kind : {"class", "ranking", "set", "score"}
        Kind of an annotation; a set is one label or several.
    cases, raters, classes : tuple of str
        Vocabularies. ``classes`` is the closed list that annotations are drawn from, in its declared order.
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    rater : ndarray of int32, shape (n_annotations,)
    answer : ndarray of int32, shape (n_annotations,)
        Class of each annotation; empty unless ``kind`` is "class".
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
        Rankings and sets: the classes of annotation ``a`` are entries ``entry_ptr[a]`` to ``entry_ptr[a + 1]``.
    entry_class, entry_block : ndarray of int32, shape (n_entries,)
        Class and block (0 = first choice; equal = tied; ascending) of each entry. A set is one block, of classes that
        ascend.
    score : ndarray of float64, shape (n_annotations,)
    time : ndarray of int64, shape (n_annotations,), or None
        Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
    ordinal : bool
        True if the order of the classes has a meaning.
    raters_identified : bool
        False if rater names do not identify raters across cases; statistics per rater are then not available.
    class_risk : ndarray of int8, shape (n_classes,), or None
        Index into `RISK_LEVELS`; -1 unknown.
    case_group : tuple of str, or None
        Group (site, batch) of each case; "" unknown.
    gold : ndarray of int32, shape (n_cases,), or None
        Gold class of a case; -1 unknown.
    gold_sets : ndarray of int8, shape (n_cases, n_classes), or None
        For sets, whether each label is in the known set of a case: 1 or 0; -1 throughout if the set is unknown.
    gold_scores : ndarray of float64, shape (n_cases,), or None
        For scores, the known score of a case, in units of the scores; NaN unknown.
    pairs : PairedItems, or None
        For comparisons, the two items of each case; None if cases are not pairs.

    Raises
    ------
    InputError
        An attribute does not fit; states the place, the cause and what to do.
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
    gold_sets: np.ndarray | None = None
    gold_scores: np.ndarray | None = None
    pairs: PairedItems | None = None

    TABLES = ("annotations", "cases", "classes")

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        if not isinstance(self.name, str):
            raise InputError(
                f"The name of the dataset must be text; got {type(self.name).__name__}.", "Provide a name."
            )
        if self.kind not in KINDS:
            raise InputError(f"Unknown kind of annotation {self.kind!r}.", f"Use one of {', '.join(KINDS)}.")
        put("ordinal", checked_flag(self.ordinal, "ordinal"))
        put("raters_identified", checked_flag(self.raters_identified, "raters_identified"))
        for what in ("cases", "raters", "classes"):
            put(what, checked_names(getattr(self, what), what))
        if not self.cases:
            raise InputError("Could not build the dataset: it has no cases.", "Provide at least one case.")
        if bool(self.classes) != self.traits.has_classes:
            found, advice = (
                ("have no classes, but classes are declared", "Leave out the classes.")
                if self.classes
                else ("need classes, but none are declared", "Declare the classes.")
            )
            raise InputError(f"Could not build the dataset: annotations of kind {self.kind!r} {found}.", advice)
        put("rater", checked_codes(self.rater, "rater", self.raters, "raters"))
        n = len(self.rater)
        pointers = checked_pointers(self.case_ptr, "case_ptr", len(self.cases), n, "cases", "annotations")
        put("case_ptr", pointers)
        self._check_annotations(put)
        if self.time is not None:
            put("time", checked_times(self.time))
            check_length(self.time, n, "time", "annotations")
            check_time_order(self.time, self.case_ptr)
        self._check_sides(put)
        for what, array in vars(self).items():
            if isinstance(array, np.ndarray):
                put(what, frozen(array))

    def _check_annotations(self, put: Callable[[str, object], None]) -> None:
        n = len(self.rater)
        put("answer", checked_codes(self.answer, "answer", self.classes, "classes"))
        put("score", checked_numbers(self.score, "score", LARGEST_SCORE))
        put("entry_class", checked_codes(self.entry_class, "entry_class", self.classes, "classes"))
        put("entry_block", checked_integers(self.entry_block, "entry_block", np.int32))
        listed = n if self.traits.lists_classes else 0
        check_length(self.answer, n if self.kind == "class" else 0, "answer", "annotations of one class")
        check_length(self.score, n if self.kind == "score" else 0, "score", "annotations that are scores")
        check_length(self.entry_block, len(self.entry_class), "entry_block", "entries of entry_class")
        entries = len(self.entry_class)
        pointers = checked_pointers(self.entry_ptr, "entry_ptr", listed, entries, "annotations", "listed classes")
        put("entry_ptr", pointers)
        if self.kind == "ranking" and listed:
            check_rankings(self.entry_ptr, self.entry_class, self.entry_block, len(self.classes))
        if self.kind == "set" and listed:
            check_sets(self.entry_ptr, self.entry_class, self.classes, self._whose)
            check_one_block(self.entry_ptr, self.entry_class, self.entry_block)

    def _check_sides(self, put: Callable[[str, object], None]) -> None:
        if self.kind == "score" and (self.class_risk is not None or self.gold is not None):
            raise InputError(
                "Could not build the dataset: scores cannot have gold classes or class risks.",
                "Leave these out, and use gold_scores for gold.",
            )
        if self.kind == "set" and (self.gold is not None or self.ordinal):
            what, advice = ("gold classes", "Use gold_sets.") if self.gold is not None else ("ordinal", "Leave it out.")
            raise InputError(f"Could not use {what}: the annotations are label sets.", advice)
        if self.gold_sets is not None:
            put("gold_sets", self._checked_gold_sets())
        if self.gold_scores is not None:
            put("gold_scores", self._checked_gold_scores())
        if self.class_risk is not None:
            risk = checked_integers(self.class_risk, "class_risk", np.int8)
            check_range(risk, "class_risk", -1, len(RISK_LEVELS) - 1, "a risk level")
            check_length(risk, len(self.classes), "class_risk", "classes")
            put("class_risk", risk)
        if self.gold is not None:
            put("gold", checked_codes(self.gold, "gold", self.classes, "classes", lowest=-1))
            check_length(self.gold, len(self.cases), "gold", "cases")
        if self.case_group is not None:
            put("case_group", checked_texts(self.case_group, "groups of cases"))
            check_length(self.case_group, len(self.cases), "case_group", "cases")
        if self.pairs is not None:
            self.pairs.check(len(self.cases), len(self.rater))

    def _checked_gold_scores(self) -> np.ndarray:
        if self.kind != "score":
            raise InputError(
                f"Could not use gold scores: the annotations are {self.traits.plural}, not scores.",
                "Leave them out.",
            )
        given = np.asarray(self.gold_scores)
        told = ~np.isnan(given) if given.dtype.kind == "f" else np.ones(given.shape, bool)
        found = np.full(given.shape, np.nan)  # all that are not known are the same NaN, for the digest
        found[told] = checked_numbers(given[told], "gold_scores", LARGEST_SCORE)
        check_length(found, len(self.cases), "gold_scores", "cases")
        return found

    def _checked_gold_sets(self) -> np.ndarray:
        if self.kind != "set":
            raise InputError(
                f"Could not use gold_sets: the annotations are {self.traits.plural}, not label sets.",
                "Leave them out.",
            )
        found = np.asarray(self.gold_sets)
        if found.shape != (len(self.cases), len(self.classes)):
            shape = f"({len(self.cases):,}, {len(self.classes):,})"
            raise InputError(
                f"Could not use gold_sets: its shape is {found.shape}.", f"Use the shape {shape}, cases × labels."
            )
        checked = checked_integers(found.ravel(), "gold_sets", np.int8)
        check_range(checked, "gold_sets", -1, 1, "1, 0 or -1 (unknown)")
        checked = np.ascontiguousarray(checked.reshape(found.shape))
        unknown = checked < 0
        if (unknown.any(axis=1) & ~unknown.all(axis=1)).any():
            case = self.cases[int(np.flatnonzero(unknown.any(axis=1) & ~unknown.all(axis=1))[0])]
            raise InputError(
                f"Could not use gold_sets for case {case!r}: only some of its labels are -1 (unknown).",
                "Use 0 or 1 for every label of the case, or -1 for all of them.",
            )
        return checked

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
        *,
        pairs: PairedItems | None = None,
        **side,
    ) -> "Dataset":
        """Return a dataset from one row per annotation; codes index the vocabularies, arrays are (n_annotations,).

        ``side`` are the attributes of the class that are not named here: ``ordinal``, ``gold``, ``case_group`` and
        others.

        Parameters
        ----------
        name : str
            Name for people.
        cases, raters, classes : sequence of str
            Vocabularies, each name once.
        case_code, rater_code : ndarray of int, shape (n_annotations,)
            Positions in ``cases`` and ``raters``.
        answer : ndarray of int, shape (n_annotations,)
            Position in ``classes``.
        time : ndarray of int64 or datetime64, shape (n_annotations,), optional
            Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
        pairs : PairedItems, optional
            Items of each case, with sides in the order of the annotations that are given.
        **side
            Attributes of the class that are not named here, such as ``gold``, ``case_group`` and ``raters_identified``.

        Raises
        ------
        InputError
            A name is empty or repeated, lengths differ, or a code is not an integer or is out of range.
        """
        cases, classes = checked_names(cases, "cases"), checked_names(classes, "classes")
        names = checked_names(raters, "raters")
        case_ptr, order, rater, time = _in_order(cases, case_code, rater_code, time)
        answer = checked_codes(answer, "answer", classes, "classes")
        check_length(answer, len(order), "answer", "annotations")
        return cls(
            name=name,
            kind="class",
            cases=cases,
            raters=names,
            classes=classes,
            case_ptr=case_ptr,
            rater=rater,
            answer=answer[order],
            time=time,
            pairs=None if pairs is None else pairs.in_order(order),
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
        """Return a dataset from one row per annotation; ``score`` has shape (n_annotations,) and is finite.

        Parameters
        ----------
        name : str
            Name for people.
        cases, raters : sequence of str
            Vocabularies, each name once.
        case_code, rater_code : ndarray of int, shape (n_annotations,)
            Positions in ``cases`` and ``raters``.
        score : ndarray of float, shape (n_annotations,)
        time : ndarray of int64 or datetime64, shape (n_annotations,), optional
            Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
        **side
            Attributes of the class that are not named here, such as ``gold``, ``case_group`` and ``raters_identified``.

        Raises
        ------
        InputError
            See `from_classes`; or a score is not finite.
        """
        cases, names = checked_names(cases, "cases"), checked_names(raters, "raters")
        case_ptr, order, rater, time = _in_order(cases, case_code, rater_code, time)
        score = checked_numbers(score, "score", LARGEST_SCORE)
        check_length(score, len(order), "score", "annotations")
        return cls(
            name=name,
            kind="score",
            cases=cases,
            raters=names,
            classes=(),
            case_ptr=case_ptr,
            rater=rater,
            score=score[order],
            time=time,
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
        """Return a dataset from one row per annotation and one entry per ranked class.

        ``entry_rank`` orders the entries of an annotation, lowest first; equal ranks are ties.

        Parameters
        ----------
        name : str
            Name for people.
        cases, raters, classes : sequence of str
            Vocabularies, each name once.
        case_code, rater_code : ndarray of int, shape (n_annotations,)
            Positions in ``cases`` and ``raters``.
        entry_ptr : ndarray of int, shape (n_annotations + 1,)
            Annotation ``a`` ranks the entries ``entry_ptr[a]`` to ``entry_ptr[a + 1]``.
        entry_class : ndarray of int, shape (n_entries,)
            Position in ``classes``.
        entry_rank : ndarray, shape (n_entries,)
        time : ndarray of int64 or datetime64, shape (n_annotations,), optional
            Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
        **side
            Attributes of the class that are not named here, such as ``gold``, ``case_group`` and ``raters_identified``.

        Raises
        ------
        InputError
            See `from_classes`; or an annotation ranks no class or one twice, or a rank is not finite.
        """
        cases, classes = checked_names(cases, "cases"), checked_names(classes, "classes")
        names = checked_names(raters, "raters")
        case_ptr, order, rater, time = _in_order(cases, case_code, rater_code, time)
        entry_class = checked_codes(entry_class, "entry_class", classes, "classes")
        entry_ptr, entry_class, entry_block = order_blocks(entry_ptr, entry_class, entry_rank, order)
        return cls(
            name=name,
            kind="ranking",
            cases=cases,
            raters=names,
            classes=classes,
            case_ptr=case_ptr,
            rater=rater,
            entry_ptr=entry_ptr,
            entry_class=entry_class,
            entry_block=entry_block,
            time=time,
            **side,
        )

    @classmethod
    def from_sets(
        cls,
        name: str,
        cases: Sequence[str],
        raters: Sequence[str],
        classes: Sequence[str],
        case_code: np.ndarray,
        rater_code: np.ndarray,
        entry_ptr: np.ndarray,
        entry_class: np.ndarray,
        time: np.ndarray | None = None,
        **side,
    ) -> "Dataset":
        """Return a dataset from one row per annotation and one entry per label that it names, in any order.

        "None of the labels applies" has to be a label of its own: an annotation without any could be one that was not
        made.

        Parameters
        ----------
        name : str
            Name for people.
        cases, raters, classes : sequence of str
            Vocabularies, each name once.
        case_code, rater_code : ndarray of int, shape (n_annotations,)
            Positions in ``cases`` and ``raters``.
        entry_ptr : ndarray of int, shape (n_annotations + 1,)
            Annotation ``a`` names the entries ``entry_ptr[a]`` to ``entry_ptr[a + 1]``.
        entry_class : ndarray of int, shape (n_entries,)
            Position in ``classes``.
        time : ndarray of int64 or datetime64, shape (n_annotations,), optional
            Seconds since 1970-01-01 UTC; `MISSING_TIME` where unknown.
        **side
            Attributes of the class that are not named here, such as ``case_group`` and ``raters_identified``.

        Raises
        ------
        InputError
            See `from_classes`; or an annotation names no label, or one twice.
        """
        cases, classes, names = (
            checked_names(each, what) for each, what in ((cases, "cases"), (classes, "classes"), (raters, "raters"))
        )
        case_ptr, order, rater, time = _in_order(cases, case_code, rater_code, time)
        entry_class = checked_codes(entry_class, "entry_class", classes, "classes")
        size = len(order), len(entry_class)
        entry_ptr = checked_pointers(entry_ptr, "entry_ptr", *size, "annotations", "number of labels")
        # Sets are checked before they are ordered, so that positions in messages are those of the caller.
        check_sets(entry_ptr, entry_class, classes, _whose_in(cases, case_code, names, rater_code))
        entry_ptr, entry_class, entry_block = order_blocks(entry_ptr, entry_class, np.zeros(len(entry_class)), order)
        return cls(
            name, "set", cases, names, classes, case_ptr, rater, entry_ptr=entry_ptr, entry_class=entry_class,
            entry_block=entry_block, time=time, **side,
        )  # fmt: skip

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        name: str | None = None,
        case: str | None = None,
        rater: str | None = None,
        answer: str | None = None,
        rank: str | None = None,
        kind: Kind | None = None,
        classes: Sequence[str] | None = None,
        ordinal: bool = False,
        **reading,
    ) -> "Dataset":
        """Return a dataset from a DataFrame of pandas or polars, or a table of pyarrow, read as a file of it would be.

        `core.read` takes the same arguments and also returns what became of each row.

        Parameters
        ----------
        frame : DataFrame or Table
        name : str, optional
        case, rater, answer, rank : str, optional
            Names of columns; guessed if omitted. ``rater="none"`` means that annotations are anonymous.
        kind, classes, ordinal
            See `core.ingest.build_dataset.build_dataset`.
        reading
            Further options of `core.read`: ``layout``, ``separators``, ``repeats``, ``treatment``, ``format``.

        Raises
        ------
        InputError
            The table cannot be read, or has no annotations; states the place, the cause and what to do.
        """
        columns = {"case": case, "rater": rater, "answer": answer, "rank": rank}
        return frame_reader()(frame, name=name, **columns, kind=kind, classes=classes, ordinal=ordinal, **reading)

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "cases":
            cases: dict[str, Any] = {"case": self.cases, "n_annotations": np.diff(self.case_ptr)}
            if self.case_group is not None:
                cases["group"] = self.case_group
            return cases if (gold := self.gold_of_cases()) is None else cases | {"gold": gold}
        if table == "classes":
            risk = {} if self.class_risk is None else {"risk": named(RISK_LEVELS, self.class_risk)}
            return {"class": self.classes, **risk}
        if most is None:
            return self.long_columns(range(self.n_cases))
        return self.long_columns(range(min(self.n_cases, int(np.searchsorted(self.case_ptr, most)))))

    def gold_of_cases(self) -> Sequence[str | float | None] | np.ndarray | None:
        """Return the gold class, set as one text, or score of each case, None or NaN if unknown; None without gold."""
        if self.gold is not None:
            return named(self.classes, self.gold)
        if self.gold_sets is None:
            return self.gold_scores
        sign = label_sign(self.classes)
        return [
            None if own[0] < 0 else sign.join(self.classes[code] for code in np.flatnonzero(own))
            for own in self.gold_sets
        ]

    def _facts(self) -> Iterable[str]:
        yield f"{shorten(without_controls(self.name), 24)}: {plural(self.n_cases, 'case')}"
        yield plural(self.n_raters, "rater") if self.raters_identified else "anonymous raters"
        if self.traits.has_classes:
            yield plural(
                self.n_classes,
                "ordered class" if self.ordinal else "class",
                "ordered classes" if self.ordinal else "classes",
            )
        yield plural(self.n_annotations, self.traits.noun)

    def long_columns(self, cases: range) -> dict[str, Any]:
        """Return columns of one row per annotation, or per ranked class: case, rater, (time,) (rank,) answer, (group).

        The answer is in a column class, labels or score. Labels of a set are in one cell, separated by a sign that no
        class contains. Comparisons have the columns of `PairedItems.columns` instead.

        Parameters
        ----------
        cases : range
            Run of cases.
        """
        start, stop = int(self.case_ptr[cases.start]), int(self.case_ptr[cases.stop])
        annotations, entries = np.arange(start, stop), np.empty(0, np.int64)
        if self.kind == "ranking":
            entries = np.arange(self.entry_ptr[start], self.entry_ptr[stop])
            annotations = np.repeat(annotations, np.diff(self.entry_ptr[start : stop + 1]))
        of_run = np.diff(self.case_ptr[cases.start : cases.stop + 1])
        case_of = np.repeat(np.arange(cases.start, cases.stop), of_run)[annotations - start]
        columns: dict[str, Any] = {"case": _named(self.cases, case_of)}
        columns["rater"] = _named(self.raters, self.rater[annotations])
        if self.time is not None:
            stamps = self.time[annotations]
            iso = np.datetime_as_string(np.where(stamps == MISSING_TIME, 0, stamps).astype("datetime64[s]"))
            columns["time"] = np.where(stamps == MISSING_TIME, "", iso)
        if self.kind == "ranking":
            columns["rank"] = self.entry_block[entries] + 1
            columns["class"] = _named(self.classes, self.entry_class[entries])
        elif self.pairs is not None and self.compares:
            columns |= self.pairs.columns(case_of, _named(self.classes, self.answer[annotations]), annotations)
        elif self.kind == "class":
            columns["class"] = _named(self.classes, self.answer[annotations])
        elif self.kind == "set":
            columns["labels"] = self.set_texts(range(start, stop))
        else:
            columns["score"] = self.score[annotations]
        if self.case_group is not None:
            columns["group"] = _named(self.case_group, case_of)
        return columns

    def set_texts(self, annotations: range) -> np.ndarray:
        """Return the labels of a run of annotations that are sets, one text each, ndarray of object, (n_of_run,)."""
        sign = label_sign(self.classes)
        names, ptr = _named(self.classes, self.entry_class), self.entry_ptr
        joined = [sign.join(names[ptr[place] : ptr[place + 1]]) for place in annotations]
        return np.array(joined, dtype=object)

    def names_label(self, label: str) -> np.ndarray:
        """Return which annotations name a label, bool, shape (n_annotations,); for sets.

        Raises
        ------
        InputError
            The annotations are not sets, or the label does not exist.
        """
        if self.kind != "set":
            raise InputError(
                f"Could not select a label: the annotations are {self.traits.plural}, not label sets.",
                "Use as_sets first.",
            )
        if label not in self.classes:
            known = ", ".join(map(repr, self.classes[:12]))
            raise InputError(f"Unknown label {label!r}.", f"Labels: {known}.")
        found = np.zeros(self.n_annotations, bool)
        whose = np.repeat(np.arange(self.n_annotations), np.diff(self.entry_ptr))
        found[whose[self.entry_class == self.classes.index(label)]] = True
        return found

    def _whose(self, annotation: int) -> str:
        """Return the rater and the case of an annotation, for messages."""
        case = int(np.searchsorted(self.case_ptr, annotation, "right")) - 1
        return f"rater {self.raters[self.rater[annotation]]!r} on case {self.cases[case]!r}"

    @property
    def n_cases(self) -> int:
        """Number of cases, with or without annotations."""
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
    def compares(self) -> bool:
        """True if cases are pairs of items and the classes say which item is better."""
        return self.pairs is not None and self.kind == "class" and set(self.classes) <= set(COMPARED)

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return len(self.rater)

    @cached_property
    def annotations_of_raters(self) -> np.ndarray:
        """Number of annotations of each rater, int64, shape (n_raters,)."""
        return np.bincount(self.rater, minlength=self.n_raters)

    @cached_property
    def annotations_of_classes(self) -> np.ndarray:
        """Number of annotations with each class, int64, shape (n_classes,); for single classes."""
        return np.bincount(self.answer, minlength=self.n_classes)

    @cached_property
    def cases_by_size(self) -> np.ndarray:
        """Number of cases with 0, 1, 2, ... annotations, int64."""
        return np.bincount(np.diff(self.case_ptr))

    @cached_property
    def digest(self) -> str:
        """Hash of all but the dataset's name, 32 hexadecimal digits: the address of the dataset and of its reviews."""
        return dataset_digest(self)

    @cached_property
    def coded(self) -> "Dataset":
        """Return the same annotations with raters named by their position, see `core.annotations.rater_codes`."""
        return coded(self)

    @property
    def content_digest(self) -> str:
        """Hash of the content that results depend on, 32 hexadecimal digits: all but names of raters and dataset."""
        return self.coded.digest

    @cached_property
    def names_digest(self) -> str:
        """Hash of the names shown with results: those of the raters and of the dataset."""
        return names_digest(self)

    @cached_property
    def _case_index(self) -> dict[str, int]:
        return {case_id: case for case, case_id in enumerate(self.cases)}

    def case_index(self, case_id: str) -> int:
        """Return the position of a case; raise `NotFoundError` if there is none with that id."""
        try:
            return self._case_index[case_id]
        except KeyError:
            raise NotFoundError(f"Could not find case {case_id!r} in {self.name}. It may have been left out.") from None

    def annotations_of(self, case: int) -> range:
        """Return the positions of a case's annotations."""
        return range(int(self.case_ptr[case]), int(self.case_ptr[case + 1]))

    @property
    def traits(self) -> KindTraits:
        """What is particular to the kind of these annotations."""
        return KINDS[self.kind]

    def not_of_kind(self, kind: Kind) -> str:
        """Return the reason why a method for one kind of annotation cannot be used; empty if it can."""
        return "" if self.kind == kind else f"the annotations are not {KINDS[kind].plural}"

    def check_kind(self, kind: Kind, what: str, advice: str = "") -> None:
        """Refuse annotations of another kind.

        Parameters
        ----------
        kind : Kind
        what : str
            What cannot be done with them: "Cannot compare raters".
        advice : str
            What to do instead, as a sentence.

        Raises
        ------
        NotApplicableError
        """
        if self.kind != kind:
            reason = f"{what}: these annotations are {self.traits.plural}, not {KINDS[kind].plural}."
            raise NotApplicableError(f"{reason} {advice}".rstrip())

    def check_raters(self, what: str) -> None:
        """Refuse anonymous annotations.

        Parameters
        ----------
        what : str
            What cannot be done with them: "Cannot compare raters".

        Raises
        ------
        NotApplicableError
        """
        if not self.raters_identified:
            raise NotApplicableError(f"{what}: the annotations are anonymous.")

    def entries(self, annotations: range | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the classes of annotations in CSR: pointers from 0, class and block of each entry.

        A single class is one entry.

        Parameters
        ----------
        annotations : range, optional
            Run of annotations; all if omitted.
        """
        run = range(self.n_annotations) if annotations is None else annotations
        low, high = run.start, run.stop
        if not self.traits.lists_classes:
            code = self.answer[low:high]
            return np.arange(len(code) + 1, dtype=np.int64), code, np.zeros(len(code), np.int32)
        ptr = self.entry_ptr[low : high + 1]
        listed = slice(ptr[0], ptr[-1])
        return ptr - ptr[0], self.entry_class[listed], self.entry_block[listed]

    def named_classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return case and class of each class that an annotation names; none for scores."""
        ptr, code, _ = self.entries()
        return self.case_of_annotation[: len(ptr) - 1].repeat(np.diff(ptr)), code

    def blocks_of(self, annotation: int) -> list[list[int]]:
        """Return the ranked classes of one annotation as blocks of tied classes, first choice first.

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
        """Return the same content under another name; the digest does not change."""
        return replace(self, name=name)

    def as_classes(self, threshold: float | str | None = None) -> tuple["Dataset", int]:
        """Return one class per annotation, for methods that need it, and how many annotations were left out.

        A ranking counts as its first block; a tied first block is left out. Scores become two classes by ``threshold``:
        at most the threshold, and above it. Sets become two classes by a label: without it, and with it; sets of one
        label each become that class. Cases keep their positions, so some may have no annotation left.

        Parameters
        ----------
        threshold : float or str, optional
            For scores, the largest score in the first class. For sets, the label.

        Raises
        ------
        InputError
            Scores without a finite threshold, or sets of several labels without a label, or with an unknown one.
        """
        return as_classes(self, threshold)

    def as_sets(self, cut: int | None = None) -> "Dataset":
        """Return a set of labels per annotation: a class is a set of one, a ranking the set of its first positions.

        Parameters
        ----------
        cut : int, optional
            Number of positions of a ranking that are in the set, ties as one position; all ranked classes if omitted.

        Raises
        ------
        InputError
            The annotations are scores, or the cut is below 1.
        """
        return as_sets(self, cut)

    def select(
        self,
        *,
        raters: Iterable[str] | None = None,
        cases: Iterable[str] | None = None,
        groups: Iterable[str] | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> "Dataset":
        """Return another dataset with only these annotations; remove cases and raters left without any, keep classes.

        ``since`` (inclusive) and ``until`` (exclusive) are seconds since 1970-01-01 UTC.

        Parameters
        ----------
        raters, cases, groups : iterable of str, optional
            Names to keep; all if omitted.
        since, until : int, optional
            Times; without a bound if omitted.

        Raises
        ------
        NotFoundError
            A rater or case that the data do not have.
        InputError
            A date or a group is given and the data have none, or nothing is left.
        """
        return keep_only(self, marked(self, raters, cases, groups, since, until))


def _named(names: tuple[str, ...], code: np.ndarray) -> np.ndarray:
    return np.array(names, dtype=object)[code]


def _in_order(
    cases: Names, case_code: np.ndarray, rater_code: np.ndarray, time: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return row pointers of cases, the order of annotations, and raters and times in that order."""
    rater = checked_integers(rater_code, "rater_code", np.int32)
    case_code = checked_codes(case_code, "case_code", cases, "cases")
    check_length(rater, len(case_code), "rater_code", "annotations")
    if time is not None:
        time = checked_times(time)
        check_length(time, len(case_code), "time", "annotations")
    case_ptr, order = group_by_case(case_code, len(cases), time)
    return case_ptr, order, rater[order], None if time is None else time[order]


def marked(
    dataset: Dataset,
    raters: Iterable[str] | None,
    cases: Iterable[str] | None,
    groups: Iterable[str] | None,
    since: int | None,
    until: int | None,
) -> np.ndarray:
    """Return which annotations a selection keeps, bool, shape (n_annotations,); see `Dataset.select`.

    Parameters
    ----------
    dataset : Dataset
    raters, cases, groups : iterable of str or None
        Names to keep; all if None.
    since, until : int or None
        Times; without a bound if None.
    """
    keep = np.ones(dataset.n_annotations, bool)
    if raters is not None:
        position = {rater: code for code, rater in enumerate(dataset.raters)}
        raters = list(raters)
        unknown = [rater for rater in raters if rater not in position]
        if unknown:
            raise NotFoundError(f"Could not find rater {unknown[0]!r} in {dataset.name}.")
        keep &= np.isin(dataset.rater, [position[rater] for rater in raters])
    if cases is not None:
        wanted = np.zeros(dataset.n_cases, bool)
        wanted[[dataset.case_index(case_id) for case_id in cases]] = True
        keep &= wanted[dataset.case_of_annotation]
    if groups is not None:
        if dataset.case_group is None:
            raise InputError("Cannot select by group: these data have no groups of cases.")
        keep &= np.isin(np.array(dataset.case_group), list(groups))[dataset.case_of_annotation]
    if since is not None or until is not None:
        if dataset.time is None:
            raise InputError("Cannot select by date: these annotations have no dates.")
        known = dataset.time != MISSING_TIME
        keep &= known & (dataset.time >= (since if since is not None else MISSING_TIME))
        keep &= dataset.time < until if until is not None else True
    return keep


def keep_only(dataset: Dataset, keep: np.ndarray) -> Dataset:
    """Return a dataset of the annotations in ``keep``; remove cases and raters left without any, keep classes."""
    if not keep.any():
        raise InputError("Could not select annotations: none match.", "Include more raters, cases or dates.")
    counts = np.diff(keep_annotations(dataset.case_ptr, keep))
    case_kept = counts > 0
    rater_kept = np.zeros(dataset.n_raters, bool)
    rater_kept[dataset.rater[keep]] = True
    new_rater = np.cumsum(rater_kept, dtype=np.int32) - 1
    changes = {}
    if dataset.traits.lists_classes:
        entry_keep = np.repeat(keep, np.diff(dataset.entry_ptr))
        changes = {
            "entry_ptr": np.concatenate([[0], np.cumsum(np.diff(dataset.entry_ptr)[keep])]).astype(np.int64),
            "entry_class": dataset.entry_class[entry_keep],
            "entry_block": dataset.entry_block[entry_keep],
        }
    return replace(
        dataset,
        cases=Names(case_id for case_id, kept in zip(dataset.cases, case_kept, strict=True) if kept),
        raters=Names(rater for rater, kept in zip(dataset.raters, rater_kept, strict=True) if kept),
        case_ptr=np.concatenate([[0], np.cumsum(counts[case_kept])]).astype(np.int64),
        rater=new_rater[dataset.rater[keep]],
        answer=dataset.answer[keep] if dataset.kind == "class" else dataset.answer,
        score=dataset.score[keep] if dataset.kind == "score" else dataset.score,
        time=None if dataset.time is None else dataset.time[keep],
        case_group=None
        if dataset.case_group is None
        else tuple(group for group, kept in zip(dataset.case_group, case_kept, strict=True) if kept),
        gold=None if dataset.gold is None else dataset.gold[case_kept],
        gold_sets=None if dataset.gold_sets is None else dataset.gold_sets[case_kept],
        gold_scores=None if dataset.gold_scores is None else dataset.gold_scores[case_kept],
        pairs=None if dataset.pairs is None else dataset.pairs.kept(case_kept, keep),
        **changes,
    )


def as_classes(dataset: Dataset, threshold: float | str | None) -> tuple[Dataset, int]:
    """Return one class per annotation, and how many annotations were left out; see `Dataset.as_classes`."""
    if dataset.kind == "class":
        return dataset, 0
    if dataset.kind == "set":
        return _by_label(dataset, threshold), 0
    if dataset.kind == "score":
        if threshold is None or isinstance(threshold, str):
            raise InputError(
                "Could not use scores as classes: no threshold is set.",
                "Choose a threshold to split them into two classes.",
            )
        if not np.isfinite(threshold):
            raise InputError(
                f"The threshold must be a finite number; got {threshold}.", "Choose a different threshold."
            )
        known = dataset.gold_scores
        return replace(
            dataset,
            kind="class",
            classes=(f"≤ {typed(threshold)}", f"> {typed(threshold)}"),
            answer=(dataset.score > threshold).astype(np.int32),
            score=np.empty(0),
            ordinal=True,
            gold=None if known is None else np.where(np.isnan(known), -1, known > threshold).astype(np.int32),
            gold_scores=None,
        ), 0
    first = dataset.entry_ptr[:-1]
    second = np.minimum(first + 1, len(dataset.entry_block) - 1)
    tied = (np.diff(dataset.entry_ptr) > 1) & (dataset.entry_block[second] == 0)
    kept = keep_annotations(dataset.case_ptr, ~tied)
    return replace(
        dataset,
        kind="class",
        case_ptr=kept,
        rater=dataset.rater[~tied],
        answer=dataset.entry_class[first][~tied],
        entry_ptr=np.zeros(1, np.int64),
        entry_class=np.empty(0, np.int32),
        entry_block=np.empty(0, np.int32),
        time=None if dataset.time is None else dataset.time[~tied],
    ), int(tied.sum())


_NO_ENTRIES: dict[str, Any] = {
    "entry_ptr": np.zeros(1, np.int64),
    "entry_class": np.empty(0, np.int32),
    "entry_block": np.empty(0, np.int32),
}


def _by_label(dataset: Dataset, label: float | str | None) -> Dataset:
    """Return sets as one class each: by a label, or unchanged if each set has one label."""
    known = dataset.gold_sets
    if label is None and len(dataset.entry_class) == dataset.n_annotations:
        gold = None if known is None else np.where((known > 0).sum(axis=1) == 1, known.argmax(axis=1), -1)
        return replace(dataset, kind="class", answer=dataset.entry_class, gold=gold, gold_sets=None, **_NO_ENTRIES)
    if not isinstance(label, str):
        raise InputError(
            "Could not use these annotations as classes: some have more than one label.",
            f"Choose one label, such as {dataset.classes[0]!r} (--label on the command line). Each annotation then "
            "either has the label or does not.",
        )
    classes, answer = (f"not {label}", label), dataset.names_label(label).astype(np.int32)
    side: dict[str, Any] = {"class_risk": None, "gold_sets": None}
    if known is not None:
        side["gold"] = known[:, dataset.classes.index(label)].astype(np.int32)
    return replace(dataset, kind="class", classes=classes, answer=answer, **side, **_NO_ENTRIES)


def as_sets(dataset: Dataset, cut: int | None) -> Dataset:
    """Return a set of labels per annotation; see `Dataset.as_sets`."""
    if dataset.kind == "score":
        raise InputError(
            "Could not convert scores to sets of labels: scores have no classes.",
            "Use as_classes with a threshold first.",
        )
    if cut is not None and cut < 1:
        raise InputError(
            f"The cut must be at least 1; got {cut}.", "Use the number of ranking positions that belong to the set."
        )
    if dataset.kind == "set":
        return dataset
    ptr, code, block = dataset.entries()
    if cut is not None:
        keep = block < cut
        ptr, code = np.concatenate([[0], np.cumsum(keep)])[ptr], code[keep]
    side = {name: getattr(dataset, name) for name in ("raters_identified", "class_risk", "case_group")}
    names = dataset.name, dataset.cases, dataset.raters, dataset.classes
    return Dataset.from_sets(*names, dataset.case_of_annotation, dataset.rater, ptr, code, dataset.time, **side)


def label_sign(classes: Sequence[str]) -> str:
    """Return the separator between the labels of a set: a sign that no class contains."""
    text = "".join(classes)
    sign = next((one for one in LABEL_SIGNS if one not in text), None)
    return "; " if sign == ";" else f" {sign} " if sign is not None else "\n"


def _whose_in(cases: Names, case_code: np.ndarray, raters: Names, rater_code: np.ndarray) -> Callable[[int], str]:
    """Return a function that describes an annotation by rater and case, from its place; codes are checked."""
    return lambda place: f"rater {raters[int(rater_code[place])]!r} on case {cases[int(case_code[place])]!r}"
