"""Evidence from values on what columns of a table can be: ids, facts, annotations, raters of one vocabulary."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from ..annotations.vocabulary import BLANKS, Coded, encode, is_missing, written_numbers
from .column_mapping import likeness, numbers_apart, words, words_of_name
from .formats.headers import HEADERS_JOINED
from .formats.raw_table import RawTable
from .missing_codes import looks_like_code

LOOKED_AT = 5_000
MOST_CLASSES = 30
NEARLY = 0.98  # share of the rows that a case and a rater must distinguish
_SHARED = 0.5  # share of the values of a rater that another rater must also give
_FEW_ROWS = 10
_LONG_TEXT = 40  # letters
_NUMBERED = re.compile(r"(.*?)(?:[\W_]*\d+|[\W_]+[a-z])")
_SAYS_NOTHING = frozenset(("", "column", "unnamed:", "col", "x", "v", "var"))
_GOLD = re.compile(
    r"(?:.+[\W_]+)?consensus|consensus.*|(?:.+[\W_]+)?majority(?:[\W_]+(?:vote|label|class|diagnosis|decision|grade))?"
    r"|adjudicat\w*(?:[\W_].*)?"
    r"|curator|curated|final[\W_]+(?:label|class|diagnosis|decision|annotation|answer|vote|call|rating|score|grade)"
    r"|(?:label|class|diagnosis|decision|annotation|answer|vote|call|rating|score|grade)[\W_]+(?:final|true|gold|clean|gt)"
    r"|(?:clean|true|correct|gold|aggr\w*)[\W_]+(?:label|class|diagnosis|decision|annotation|answer|rating|score|grade)"
    r"|gt(?:[\W_]+(?:label|class))?"
)
_MACHINE = re.compile(
    r"(?:ai|algorithm|cad|classifier|machine|software)(?:[\W_]+(?:label|class|diagnosis|output|read))?"
)
_SUMMARY = re.compile(
    r"conflict[\W_]+resolution|totals?|sums?|means?|average|avg|median|std|sd|kappa|entropy|n|count"
    r"|(?:humans?|raters?|annotators?|overall|group|crowd)[\W_]+(?:mean|average|avg|median)\W?"
    r"|(?:mean|average|avg|median)[\W_]+(?:human|rating|score|grade|rater|annotat\w+)s?"
    r"|agree(?:d|s|ment)?(?:[\W_].*)?|disagree\w*|(?:.+[\W_]+)?(?:kappa|agreement)|unanimous|matche?[sd]?"
)
_FACTS = words(
    "confidence seconds duration time timestamp date comment comments note notes remark remarks reason weight trust "
    "age sex gender experience country city region channel device browser ip session visit round batch page split "
    "fold scenario phase url link email language lang status tags title std stderr "
    "datum uhrzeit zeitpunkt dauer sicherheit konfidenz kommentar bemerkung alter geschlecht"
)
_PLACE_IN_IMAGE = re.compile(
    r"(?:bbox|box)?[\W_]*(?:[xy][\W_]*(?:min|max|center|centre|[12])|(?:min|max)[\W_]*[xy])|(?:bbox|box)[\W_]*(?:[xywh]|"
    r"width|height|left|top)"
)
_DATE = re.compile(r"\d{4}([./-])\d\d?\1\d\d?(?:\D|$)|\d\d?([./-])\d\d?\2(?:\d{4}|\d\d)(?:\D|$)")
# Names of rows of sums in the column of cases.
ROWS_OF_TOTALS = words(
    "total totals sum sums mean average avg median kappa agreement alpha overall σ ∑ summe gesamt gesamtsumme anzahl "
    "insgesamt mittelwert durchschnitt übereinstimmung somme moyenne totaux suma promedio totale totali media"
) | {
    "grand total", "percent agreement", "fleiss kappa", "cohen kappa", "cohen's kappa", "fleiss' kappa", "% agreement",
}  # fmt: skip


class ColumnEvidence:
    """First rows of a table, with every column encoded when it is first needed."""

    def __init__(self, raw: RawTable) -> None:
        self.raw = raw
        self.columns = list(raw.columns)
        self._part = raw.table.slice(0, LOOKED_AT)
        self._coded: dict[str, Coded] = {}

    @cached_property
    def n_rows(self) -> int:
        """Number of rows examined."""
        return self._part.num_rows

    def coded(self, column: str) -> Coded:
        """Return the values of a column as codes."""
        if column not in self._coded:
            self._coded[column] = encode(self._part[column])
        return self._coded[column]

    def texts(self, column: str) -> np.ndarray:
        """Return the cells as texts in lower case, empty if missing."""
        coded = self.coded(column)
        return np.array([*(value.casefold() for value in coded.values), ""], object)[coded.code]

    def n_given(self, column: str) -> int:
        """Return the number of cells that are not empty."""
        return int((self.coded(column).code >= 0).sum())

    def is_empty(self, column: str) -> bool:
        """Return whether every cell is empty; most columns show that in their first rows."""
        first = self._part[column].slice(0, _FEW_ROWS).cast(pa.string()).to_pylist()
        return all(is_missing(cell.strip(BLANKS)) for cell in first) and not self.n_given(column)

    def n_values(self, column: str) -> int:
        """Return the number of different values."""
        return len(self.coded(column).values)

    def numbers(self, column: str) -> np.ndarray | None:
        """Return the given cells as numbers, without codes for missing ones; None if empty or not all numbers."""
        coded = self.coded(column)
        if not coded.values:
            return None
        found = written_numbers(coded.values, decimal_comma=self.raw.decimal_comma)
        unread = np.isnan(found)
        if unread.all() or not all(looks_like_code(coded.values[place]) for place in np.flatnonzero(unread)):
            return None
        cells = found[coded.code[coded.code >= 0]]
        return cells[~np.isnan(cells)]

    def are_numbers(self, column: str) -> bool:
        """Return whether the given cells are numbers."""
        return self.numbers(column) is not None

    def is_measured(self, column: str) -> bool:
        """Return whether the given cells are numbers, some with decimals."""
        numbers = self.numbers(column)
        return numbers is not None and bool((numbers != np.floor(numbers)).any())

    def is_id(self, column: str) -> bool:
        """Return whether every row has a value of its own that is not a measured number."""
        n_given = self.n_given(column)
        if n_given < max(3, self.n_rows) or self.n_values(column) < n_given:
            return False
        numbers = self.numbers(column)
        return numbers is None or bool((numbers == np.floor(numbers)).all())

    def is_row_number(self, column: str) -> bool:
        """Return whether a column without a name counts the rows from 0 or 1."""
        unnamed = (
            re.fullmatch(r"|row[\W_]*names?|row|index|unnamed: \d+|column \d+", column.strip().casefold()) is not None
        )
        numbers = self.numbers(column) if unnamed and self.n_rows > 1 else None
        return (
            numbers is not None
            and len(numbers) == self.n_rows
            and numbers[0] in (0, 1)
            and np.array_equal(numbers, numbers[0] + np.arange(len(numbers)))
        )

    def is_free_text(self, column: str) -> bool:
        """Return whether most values are long and occur once."""
        values = self.coded(column).values
        if not values or 2 * len(values) < self.n_given(column):
            return False
        return float(np.mean([len(value) for value in values[:200]])) > _LONG_TEXT

    def are_dates(self, column: str) -> bool:
        """Return whether the given cells are written as dates: numbers since 1970 may be anything."""
        values = self.coded(column).values
        return bool(values) and all(_DATE.match(value) for value in values)

    def has_many_names(self, column: str) -> bool:
        """Return whether texts are too many for classes: one for less than three rows, or half of them occur once."""
        n_values, code = self.n_values(column), self.coded(column).code
        if n_values <= MOST_CLASSES or self.are_numbers(column):
            return False
        times = np.bincount(code[code >= 0])
        return bool(n_values > times.sum() // 3 or 2 * (times == 1).sum() > n_values)

    def tells_rows(self, one: str, other: str) -> float:
        """Return the share of the rows with both values that the two columns distinguish."""
        first, second = self.coded(one), self.coded(other)
        given = (first.code >= 0) & (second.code >= 0)
        if not given.any():
            return 0.0
        pairs = first.code[given].astype(np.int64) * (len(second.values) + 1) + second.code[given]
        return len(np.unique(pairs)) / int(given.sum())

    def n_pairs(self, *columns: str) -> int:
        """Return the number of different combinations of the values of columns."""
        codes = np.zeros(self.n_rows, np.int64)
        for column in columns:
            coded = self.coded(column)
            codes = np.unique(codes * (len(coded.values) + 1) + coded.code + 1, return_inverse=True)[1].ravel()
        return int(codes.max(initial=-1)) + 1

    def has_one_row_each(self, case: str) -> bool:
        """Return whether most rows are the only one of their case."""
        code = self.coded(case).code
        times = np.bincount(code[code >= 0])
        return bool(2 * (times == 1).sum() > times.sum())

    def share_in(self, one: str, other: str) -> float:
        """Return the share of the cells of a column whose values another column has, too."""
        return _share_in(self.coded(one), self.coded(other))

    def is_fact_of(self, column: str, whole: str) -> bool:
        """Return whether a column has one value for each value of another, of which some are repeated."""
        of, told = self.coded(whole), self.coded(column)
        given = (of.code >= 0) & (told.code >= 0)
        if len(np.unique(of.code[given])) == int(given.sum()):
            return False
        pairs = np.unique(of.code[given].astype(np.int64) * (len(told.values) + 1) + told.code[given])
        return len(pairs) == len(np.unique(of.code[given]))

    def varies_within(self, column: str, whole: str) -> bool:
        """Return whether a column has several values for some value of another."""
        return self.n_pairs(whole, column) > self.n_values(whole)

    def share_values(self, one: str, other: str) -> bool:
        """Return whether two columns take their values from one vocabulary, or are numbers of one range."""
        first, second = self.coded(one), self.coded(other)
        if not first.values or not second.values:
            return False
        here, there = self.numbers(one), self.numbers(other)
        if here is not None and there is not None and (_measured(here) or _measured(there)):
            return _one_range(here, there)
        return max(_share_in(first, second), _share_in(second, first)) >= _SHARED

    def groups_of_one_vocabulary(self, columns: Sequence[str]) -> list[list[str]]:
        """Group columns that share values or are numbered alike ("rater1", "rater2"), in their order."""
        groups: list[list[str]] = []
        for column in columns:
            fitting = [
                group for group in groups if any(are_numbered_alike(column, one) or self.share_values(column, one)
                                                 for one in group)
            ]  # fmt: skip
            joined = sorted([*chain_of(fitting), column], key=self.columns.index)
            groups = [group for group in groups if group not in fitting] + [joined]
        return sorted(groups, key=lambda group: self.columns.index(group[0]))

    def may_be_answers(self, columns: Iterable[str], case: str | None, rater: str | None) -> list[str]:
        """Return the columns of a long table that may have annotations: no ids, facts, times, long texts or empty ones.

        Parameters
        ----------
        columns : iterable of str
        case : str
            Column of cases.
        rater : str, optional
            Column of raters.
        """
        found = []
        for column in columns:
            if self.n_values(column) < 2 or self.is_id(column) or self.is_free_text(column) or is_fact_by_name(column):
                continue
            if self.has_many_names(column) or self.are_dates(column):
                continue
            if any(whole is not None and self.is_fact_of(column, whole) for whole in (case, rater)):
                continue
            found.append(column)
        return found


def chain_of(groups: Iterable[Sequence[str]]) -> list[str]:
    """Return all columns of several groups."""
    return [column for group in groups for column in group]


def is_gold_by_name(column: str) -> bool:
    """Return whether the name of a column is one of consensus or decisions."""
    return _GOLD.fullmatch(column.strip().casefold()) is not None


def is_machine_by_name(column: str) -> bool:
    """Return whether the name of a column is one of an algorithm's output."""
    return _MACHINE.fullmatch(column.strip().casefold()) is not None


def is_summary_by_name(column: str) -> bool:
    """Return whether the name of a column is one of a summary over raters."""
    return _SUMMARY.fullmatch(column.strip().casefold().strip("?! ")) is not None


def is_fact_by_name(column: str) -> bool:
    """Return whether the name of a column is one of a fact on a case, a rater or an annotation, not of annotations."""
    column = column.rsplit(HEADERS_JOINED, 1)[-1]
    if any(likeness(column, role) == 2 for role in ("time", "group", "confidence", "gold", "count")):
        return True
    return bool(words_of_name(column) & _FACTS) or is_place_by_name(column)


def is_place_by_name(column: str) -> bool:
    """Return whether the name of a column is one of a corner, centre or size of a box in an image."""
    return _PLACE_IN_IMAGE.fullmatch(column.strip().casefold()) is not None


def are_numbered_alike(one: str, other: str) -> bool:
    """Return whether two names differ in a number or a letter after a common start, or both name raters."""
    if likeness(one, "rater") == 2 == likeness(other, "rater"):
        return True
    if "#" in (plain := numbers_apart(one)) and plain == numbers_apart(other) and len(plain.strip("# _-.")) > 1:
        return plain.split("#")[0].strip(" _") not in _SAYS_NOTHING
    first, second = (_NUMBERED.fullmatch(name.strip().casefold()) for name in (one, other))
    return first is not None and second is not None and first[1] == second[1] and first[1] not in _SAYS_NOTHING


def _measured(numbers: np.ndarray) -> bool:
    return bool((numbers != np.floor(numbers)).any()) or len(np.unique(numbers)) > MOST_CLASSES


def _one_range(here: np.ndarray, there: np.ndarray) -> bool:
    """Return whether the median of one is within the range of the other, or near it."""
    for one, other in ((here, there), (there, here)):
        low, high = float(other.min()), float(other.max())
        room = (high - low) / 2
        if low - room <= float(np.median(one)) <= high + room:
            return True
    return False


def _share_in(one: Coded, other: Coded) -> float:
    """Return the share of the given cells of one column whose value also occurs in the other."""
    known = {value.casefold() for value in other.values}
    counts = np.bincount(one.code[one.code >= 0], minlength=len(one.values))
    shared = np.array([value.casefold() in known for value in one.values], bool)
    return float(counts[shared].sum() / max(1, counts.sum()))


def is_row_of_totals(name: str) -> bool:
    """Return whether a row has a name for sums or coefficients."""
    return " ".join(name.casefold().strip(" :").split()) in ROWS_OF_TOTALS
