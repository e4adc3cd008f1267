"""Collector of annotations, one by one, for one long table per question, with the place of each."""

import json
import math
from array import array
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Mapped
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ...annotations.dataset import Kind
from ...errors import InputError
from ...text import plural, was_or_were
from ..column_mapping import Mapping
from ..data_warnings import labels_merged
from .raw_table import UNANSWERED, Dropped, RawTable, RowLocations
from .source import Question

AnswerType = Literal["class", "grade", "score", "ranking"]
ODD = 50  # one record in so many does not turn all into sets or rankings


def text_of(value: object) -> str:
    """Return a JSON value as the text of a cell; integers have no decimal point, nested values stay JSON."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)
    return json.dumps(value, ensure_ascii=False)


class TextCodes:
    """Column of text as codes into the texts seen so far."""

    def __init__(self) -> None:
        self._code: dict[str, int] = {}
        self.codes = array("i")

    def add(self, text: str) -> None:
        """Add one row."""
        self.codes.append(self._code.setdefault(text, len(self._code)))

    def fill(self, n_rows: int) -> None:
        """Add empty rows up to a number of rows."""
        if len(self.codes) < n_rows:
            self.codes.extend(array("i", [self._code.setdefault("", len(self._code))]) * (n_rows - len(self.codes)))

    def taken(self, rows: np.ndarray | None = None) -> pa.ChunkedArray:
        """Return the rows, or some of them, as a dictionary of strings."""
        codes = np.frombuffer(self.codes, np.int32) if self.codes else np.empty(0, np.int32)
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    pa.array(codes if rows is None else codes[rows], pa.int32()), strings(self._code)
                )
            ]
        )

    def __len__(self) -> int:
        return len(self._code)


def strings(values: Iterable[str]) -> pa.Array:
    """Return an array of strings; halves of letters, which JSON can contain, become question marks."""
    values = list(values)
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([value.encode("utf-8", "replace").decode() for value in values], pa.string())


def left_out(counts: Mapped[tuple[str, str], int]) -> list[str]:
    """Return a sentence on each kind of content that was left out, with its number.

    Parameters
    ----------
    counts : mapping of (str, str) to int
        Number of each kind, by its name in the singular and in the plural.
    """
    return [f"{plural(n, *names)} {was_or_were(n)} left out." for names, n in sorted(counts.items())]


class _Asked:
    """Answers to one question: annotation, rank and class of each entry."""

    def __init__(self, kind: AnswerType) -> None:
        self.kind = kind
        self.annotation, self.rank = array("q"), array("i")
        self.answer = TextCodes()
        self.dropped: list[tuple[int, str]] = []
        self.ranked = False
        self.n_answers = self.n_several = self.n_twice = 0


class Questionnaire:
    """Collector of annotations: call `begin`, then `answer` for each question or `drop`; at the end `questions`.

    Parameters
    ----------
    words : sequence of str
        Names of the numbers of a place, from the outside in, such as ("task", "annotation").
    files : sequence of str
        Names of the files, if there are several.
    """

    def __init__(self, words: Sequence[str], files: Sequence[str] = ()) -> None:
        self._words, self._files = tuple(words), tuple(files)
        self._numbers = tuple(array("q") for _ in words)
        self._line, self._file = array("q"), array("i")
        self._case, self._rater, self._time, self._group = TextCodes(), TextCodes(), TextCodes(), TextCodes()
        self._only = array("i")
        self._only_names: dict[str, int] = {}
        self._asked: dict[str, _Asked] = {}
        self._dropped: dict[int, str] = {}

    def begin(
        self,
        line: int,
        numbers: Sequence[int],
        case: object,
        rater: object,
        time: object = None,
        group: object = None,
        file: int = 0,
        only: str | None = None,
    ) -> None:
        """Start an annotation of a case by a rater.

        Parameters
        ----------
        line : int
            Line of the file, for the account of rows left out.
        numbers : sequence of int
            Place of the annotation, one number for each of the questionnaire's words.
        case, rater, time, group : object
            Values taken as text; empty or None if unknown.
        file : int
            Position among the questionnaire's files.
        only : str, optional
            Only question that the annotation is about: other questions without an answer are then not left out.
        """
        self._line.append(line)
        for column, number in zip(self._numbers, numbers, strict=True):
            column.append(number)
        self._file.append(file)
        self._only.append(-1 if only is None else self._only_names.setdefault(only, len(self._only_names)))
        self._case.add(text_of(case))
        self._rater.add(text_of(rater))
        self._time.add(text_of(time))
        self._group.add(text_of(group))

    def answer(self, question: str, blocks: Sequence[Sequence[str]], kind: AnswerType = "class") -> None:
        """Add the answer of the annotation begun last: blocks of tied classes, first choice first.

        One block of one class is a single class, one of several a set of labels. A class that is repeated in a block
        counts once, with a note. No answer, or a second answer to the same question, is a row left out.

        Parameters
        ----------
        question : str
        blocks : sequence of sequence of str
            Classes of each rank, tied within it; empty if there is no answer.
        kind : {"class", "grade", "score", "ranking"}
            Kind of answer; it counts when the question comes for the first time.
        """
        asked = self._asked.get(question)
        if asked is None:
            asked = self._asked[question] = _Asked(kind)
        here = len(self._line) - 1
        if asked.annotation and asked.annotation[-1] == here:
            asked.dropped.append((here, "a second answer to the same question in one annotation"))
            return
        given, blocks = blocks, [list(dict.fromkeys(block)) for block in blocks]
        asked.n_twice += sum(map(len, given)) - sum(map(len, blocks))
        asked.n_answers += bool(blocks)
        asked.n_several += any(len(block) > 1 for block in blocks)
        asked.ranked |= len(blocks) > 1
        for rank, block in enumerate(blocks, 1):
            for name in block:
                asked.annotation.append(here)
                asked.rank.append(rank)
                asked.answer.add(name)

    def drop(self, reason: str) -> None:
        """Leave out the annotation begun last, for every question."""
        self._dropped[len(self._line) - 1] = reason

    @property
    def n_annotations(self) -> int:
        """Number of annotations begun so far."""
        return len(self._line)

    @property
    def has_answers(self) -> bool:
        """True if some question was answered so far."""
        return bool(self._asked)

    def questions(self, notes: Sequence[str] = (), *, why: dict[str, str] | None = None) -> tuple[Question, ...]:
        """Return every question as a long table; an annotation that does not answer it is a row left out.

        Raises
        ------
        InputError
            There is no answer at all.
        """
        found = tuple(self._question(name, asked, tuple(notes), why or {}) for name, asked in self._asked.items())
        if not found:
            first = next(iter(self._dropped.values()), "")
            example = f" (first record: {first})" if first else ""
            raise InputError(
                f"Could not read annotations: the file contains none that Plurality supports{example}.",
                "Check that raters annotated whole cases and not only regions. Then export again.",
            )
        return found

    def _question(self, name: str, asked: _Asked, notes: tuple[str, ...], why: dict[str, str]) -> Question:
        line = np.array(self._line, np.int64)
        annotation = np.array(asked.annotation, np.int64)
        only = np.array(self._only, np.int32)
        concerned = (only < 0) | (only == self._only_names.get(name, -1))
        unanswered = concerned.copy()
        unanswered[annotation] = False
        unanswered[[place for place, _ in asked.dropped]] = False
        keep = np.ones(annotation.size, bool)
        if self._dropped:
            whole = np.zeros(line.size, bool)
            whole[list(self._dropped)] = True
            keep, unanswered = ~whole[annotation], unanswered & ~whole
            annotation = annotation[keep]
        file = np.array(self._file, np.int32)
        places = RowLocations(self._words, tuple(np.array(n, np.int64) for n in self._numbers), self._files, file)
        reasons = [(place, reason) for place, reason in self._dropped.items() if concerned[place]] + asked.dropped
        reasons += [(int(place), UNANSWERED) for place in np.flatnonzero(unanswered)]
        dropped = tuple(Dropped(int(line[place]), f"{places.of(place)}: {reason}") for place, reason in reasons)

        columns = {"case": self._case.taken(annotation)}
        identified = len(self._rater) > 1 or (len(self._rater) == 1 and not self._is_empty(self._rater))
        columns["rater"] = self._rater.taken(annotation) if identified else self._numbered(annotation)
        if not self._is_empty(self._time):
            columns["time"] = self._time.taken(annotation)
        if not self._is_empty(self._group):
            columns["group"] = self._group.taken(annotation)
        kind: Kind | Literal["grade"] = "ranking" if asked.ranked or asked.kind == "ranking" else asked.kind
        several = asked.n_several > 0 and kind != "ranking"
        if several:
            kind = "set" if ODD * asked.n_several >= asked.n_answers else kind
            columns["annotation"] = pa.chunked_array([pa.array(annotation).cast(pa.string())])
        if kind == "ranking":
            columns["rank"] = pa.chunked_array([pa.array(np.array(asked.rank, np.int32)[keep]).cast(pa.string())])
        answer = "score" if kind == "score" else "class"
        columns[answer] = asked.answer.taken(np.flatnonzero(keep))
        if not identified:
            notes = (*notes, "No annotation names its rater, so rater statistics are not available.")
        if asked.n_twice:
            notes = (*notes, labels_merged(asked.n_twice))
        if kind == "set":
            share = f"{asked.n_several:,} of {plural(asked.n_answers, 'annotation')}"
            have = "has" if asked.n_several == 1 else "have"
            notes = (*notes, f"Annotations were read as sets of labels, because {share} {have} more than one label.")
        numbers = tuple(number[annotation] for number in places.numbers)
        at = RowLocations(self._words, numbers, self._files, file[annotation])
        roles: dict[str, Any] = {role: role for role in ("time", "group", "rank") if role in columns}
        reasons_why = dict.fromkeys(("case", "rater", "answer", *roles), "the format implies it") | why
        roles |= {"annotation": "annotation"} if several else {}
        if not identified:
            reasons_why["anonymous"] = "no annotation names its rater"
        return Question(
            name,
            RawTable(pa.table(columns), line[annotation], dropped, (), places=at),
            Mapping("long", case="case", rater="rater", answer=answer, **roles, why=reasons_why),
            kind="class" if kind == "grade" else kind,
            ordinal=asked.kind == "grade" and kind == "grade",
            raters_identified=identified,
            notes=notes,
        )

    def _numbered(self, annotation: np.ndarray) -> pa.ChunkedArray:
        """Return names "answer 1", "answer 2", ... for the annotations of each case if no raters are named."""
        seen: dict[int, int] = {}
        names, last = TextCodes(), -1
        for place in annotation:
            if place != last:
                case = self._case.codes[int(place)]
                seen[case] = seen.get(case, 0) + 1
                last = place
            names.add(f"answer {seen[case]}")
        return names.taken()

    @staticmethod
    def _is_empty(column: TextCodes) -> bool:
        return len(column) == 0 or list(column._code) == [""]
