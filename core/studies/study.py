"""Reader study: several readers score the same cases in two modalities or more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from ..errors import InputError, LimitError, NotApplicableError
from ..text import first_twice, plural

KINDS = ("without the condition", "with the condition")
FEWEST_CASES = 2  # of each kind for each reader: a covariance needs two
FEWEST_READERS = 2
UNKNOWN_TRUTH = -1
MOST_CELLS = 20_000_000  # scores, read or not


@dataclass(frozen=True, slots=True, eq=False)
class ReadingStudy:
    """Scores of readers for cases in modalities, and what is known about the truth of each case.

    Attributes
    ----------
    scores : ndarray of float64, shape (n_modalities, n_readers, n_cases)
        The larger, the more likely the condition; ordered classes by their place. NaN where a case was not read.
    modalities, readers, cases : tuple of str
        Names in the order of the axes of the scores.
    truth : ndarray of int8, shape (n_cases,), optional
        Gold standard: 1 with the condition, 0 without, −1 unknown.
    panel : ndarray of int8, shape (n_panellists, n_cases), optional
        Opinions on the truth by a panel that does not read in the study; coded as the truth.

    Raises
    ------
    InputError
        Shapes do not match, a name is repeated, a score is infinite, or a truth is none of 1, 0 and −1.
    """

    scores: np.ndarray
    modalities: tuple[str, ...]
    readers: tuple[str, ...]
    cases: tuple[str, ...]
    truth: np.ndarray | None = None
    panel: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check the parts against each other and make the arrays read-only copies."""
        scores = np.array(self.scores, np.float64)
        shape = (len(self.modalities), len(self.readers), len(self.cases))
        if scores.shape != shape:
            raise InputError(
                f"Could not use the scores: their shape is {scores.shape}.",
                f"Use the shape {shape}: modalities, readers and cases.",
            )
        for what, names in (("modality", self.modalities), ("reader", self.readers), ("case", self.cases)):
            if (name := first_twice(names)) is not None:
                raise InputError(f"Could not read the study: {what} {name!r} appears twice.", "Use each name once.")
        if np.isinf(scores).any():
            raise InputError(
                "Could not use the scores: one is infinite.", "Use finite scores, and leave out unread cases."
            )
        object.__setattr__(self, "scores", _frozen(scores))
        n = len(self.cases)
        if self.truth is not None:
            object.__setattr__(self, "truth", _frozen(_codes(self.truth, (n,), "truth")))
        if self.panel is not None:
            panel = np.asarray(self.panel)
            object.__setattr__(self, "panel", _frozen(_codes(panel, (len(panel), n), "panel")))

    @property
    def digest(self) -> str:
        """Digest of the scores, the names and what is known about the truth."""
        found = blake2b(repr((self.modalities, self.readers, self.cases)).encode(), digest_size=16)
        for part in (self.scores, self.truth, self.panel):
            found.update(b"-" if part is None else part.tobytes())
        return found.hexdigest()


def study_from_rows(
    rows: Iterable[tuple[str, str, str, float]],
    truth: Mapping[str, int] | None = None,
    panel: Mapping[str, Mapping[str, int]] | None = None,
) -> ReadingStudy:
    """Build a study from a long table, with names in order of first occurrence.

    Parameters
    ----------
    rows : iterable of tuples (reader, case, modality, score)
    truth : mapping of str to int, optional
        1 or 0 by case.
    panel : mapping of str to mapping of str to int, optional
        1 or 0 by panellist and case.

    Raises
    ------
    InputError
        There is no row, or a reader scores a case twice in one modality.
    LimitError
        Readers, cases and modalities make more than `MOST_CELLS` scores.
    """
    listed = list(rows)
    if not listed:
        raise InputError(
            "Could not analyse the study: it has no readings.", "Provide one row per reader, case and modality."
        )
    readers, cases, modalities = (_places(names) for names in zip(*(row[:3] for row in listed), strict=True))
    if (n_cells := len(modalities) * len(readers) * len(cases)) > MOST_CELLS:
        raise LimitError(
            f"Could not analyse the study: {plural(len(readers), 'reader')}, {plural(len(cases), 'case')} and "
            f"{plural(len(modalities), 'modality', 'modalities')} make {n_cells:,} scores, more than the limit of "
            f"{MOST_CELLS:,}.",
            "Check the columns of readers, cases and modalities.",
        )
    scores = np.full((len(modalities), len(readers), len(cases)), np.nan)
    for reader, case, modality, score in listed:
        place = modalities[modality], readers[reader], cases[case]
        if not np.isnan(scores[place]):
            raise InputError(
                f"Could not read the study: reader {reader} scored case {case} twice in modality {modality}.",
                "Keep one of the two scores.",
            )
        scores[place] = score
    known = None if truth is None else np.array([truth.get(case, UNKNOWN_TRUTH) for case in cases], np.int8)
    opinions = panel or {}
    votes = [[opinions[name].get(case, UNKNOWN_TRUTH) for case in cases] for name in opinions]
    return ReadingStudy(
        scores, tuple(modalities), tuple(readers), tuple(cases), known, np.array(votes, np.int8) if votes else None
    )


def reason_against(study: ReadingStudy, truth: np.ndarray) -> str:
    """Explain in one sentence why a study cannot be analysed with this truth; empty if it can.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)
        Cases of unknown truth (−1) do not count.
    """
    if len(study.modalities) < 2:
        return (
            f"the study has only one modality, {study.modalities[0]}"
            if study.modalities
            else "the study has no modality"
        )
    read = ~np.isnan(study.scores)
    counts = np.stack([(read & (truth == kind)).sum(axis=2) for kind in (0, 1)], axis=2)
    for kind, words in enumerate(KINDS):
        if not (truth == kind).any():
            return f"no case {words} was read"
    takes_part = read.any(axis=2)
    few = np.argwhere(takes_part[:, :, None] & (counts < FEWEST_CASES))
    if few.size:
        m, r, kind = few[0]
        n = plural(int(counts[m, r, kind]), "case")
        return f"reader {study.readers[r]} read only {n} {KINDS[kind]} in modality {study.modalities[m]}"
    for m, name in enumerate(study.modalities):
        if takes_part[m].sum() < FEWEST_READERS:
            return f"modality {name} has {plural(int(takes_part[m].sum()), 'reader')}"
    return ""


def check_usable(study: ReadingStudy, truth: np.ndarray) -> None:
    """Refuse a study that cannot be analysed with this truth.

    Raises
    ------
    NotApplicableError
        The study has one modality, no case with or without the condition, or too few readers or cases of a reader.
    """
    if reason := reason_against(study, truth):
        raise NotApplicableError(
            f"Cannot compare modalities: {reason}.",
            "A reader study needs at least two modalities, with at least two readers each. Each reader needs at least "
            "two cases with the condition and two without it.",
        )


def is_complete(study: ReadingStudy, truth: np.ndarray) -> bool:
    """Return True if every reader scored every case of known truth in every modality."""
    return not np.isnan(study.scores[:, :, truth != UNKNOWN_TRUTH]).any()


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _codes(values: np.ndarray, shape: tuple[int, ...], what: str) -> np.ndarray:
    codes = np.array(values)
    if codes.shape != shape:
        raise InputError(f"Could not use the {what}: its shape is {codes.shape}.", f"Expected {shape}.")
    if not np.isin(codes, (0, 1, UNKNOWN_TRUTH)).all():
        raise InputError(
            f"Could not use the {what}: a value is not 1, 0 or −1.",
            "Use 1 if the condition is present, 0 if it is absent and −1 if this is unknown.",
        )
    return codes.astype(np.int8)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
