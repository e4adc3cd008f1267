"""Files next to the annotations: texts and groups of cases, names, order and risk of classes, gold."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ..annotations.dataset import MISSING_TIME, RISK_LEVELS, Dataset
from ..annotations.label_text import codes_of_text, unknown_label
from ..annotations.none_of_these import label_of_none, says_none
from ..annotations.validation import LARGEST_SCORE
from ..annotations.vocabulary import to_numbers
from ..errors import InputError
from ..text import first_twice, plural
from .times import to_seconds


@dataclass(frozen=True, slots=True)
class CaseTable:
    """Facts on cases, one entry per case in each tuple; a part that is not known is None.

    Attributes
    ----------
    ids : tuple of str
    text, address, group, time : tuple of str or None
        Text that raters were shown; path or address of an image or file; group (site, batch); date.
    """

    ids: tuple[str, ...]
    text: tuple[str, ...] | None = None
    address: tuple[str, ...] | None = None
    group: tuple[str, ...] | None = None
    time: tuple[str, ...] | None = None

    def joined(self, other: "CaseTable") -> "CaseTable":
        """Return both together; if both have a part, such as text, that of ``other`` counts for its cases."""
        ids = tuple(dict.fromkeys((*self.ids, *other.ids)))
        parts = {}
        for role in ("text", "address", "group", "time"):
            tables = [table for table in (self, other) if getattr(table, role) is not None]
            known = {case: cell for table in tables for case, cell in zip(table.ids, getattr(table, role), strict=True)}
            parts[role] = tuple(known.get(case, "") for case in ids) if tables else None
        return CaseTable(ids, **parts)


@dataclass(frozen=True, slots=True)
class ClassTable:
    """Closed list of classes in its order, with display names and risk ("low", "medium", "high", "" unknown).

    ``ordered`` is True if a column gives their positions, so that it is worth asking if these have a meaning.
    """

    names: tuple[str, ...]
    display: tuple[str, ...] | None = None
    risk: tuple[str, ...] | None = None
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class SideFiles:
    """Side files as parsed, before they are matched to a dataset.

    Attributes
    ----------
    cases : CaseTable or None
    classes : ClassTable or None
    gold : dict or None
        Gold class by case id.
    predictions : tuple of (str, bytes)
        Files that look like predictions of classifiers, by name, unread.
    images : tuple of (str, bytes)
        Pictures of cases by their path.
    golds : dict or None
        Gold by case id of each column, if a table of gold has several.
    in_order : tuple of (str, tuple of str)
        Values of files of one column, by name: perhaps gold in the order of the cases, if the user confirms it.
    """

    cases: CaseTable | None = None
    classes: ClassTable | None = None
    gold: dict[str, str] | None = None
    predictions: tuple[tuple[str, bytes], ...] = ()
    images: tuple[tuple[str, bytes], ...] = ()
    golds: dict[str, dict[str, str]] | None = None
    in_order: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def joined(self, other: "SideFiles") -> "SideFiles":
        """Return both together; if both have a part, that of ``other`` counts; gold and tables of cases are united."""
        gold = {**(self.gold or {}), **(other.gold or {})} or None
        cases = self.cases.joined(other.cases) if self.cases and other.cases else other.cases or self.cases
        return SideFiles(
            cases,
            other.classes or self.classes,
            gold,
            self.predictions + other.predictions,
            self.images + other.images,
            {**(self.golds or {}), **(other.golds or {})} or None,
            self.in_order + other.in_order,
        )


def with_side_files(dataset: Dataset, side: SideFiles) -> tuple[Dataset, tuple[str, ...]]:
    """Return the dataset with gold, classes, groups and dates of side files; and notes on what did not match.

    Classes of the class table that nobody gave are added to the closed list; given classes that it does not list come
    last.

    Raises
    ------
    InputError
        The class table gives two classes one name, or an unknown risk.
    """
    notes: list[str] = []
    if side.gold is not None:
        dataset = _with_gold(dataset, side.gold, notes)
    if side.classes is not None and dataset.traits.has_classes:
        dataset = _with_classes(dataset, side.classes, notes)
    if side.cases is not None:
        dataset = _with_cases(dataset, side.cases, notes)
    return dataset, tuple(notes)


def _with_cases(dataset: Dataset, table: CaseTable, notes: list[str]) -> Dataset:
    known = set(table.ids)
    n_unknown = sum(case not in known for case in dataset.cases)
    if n_unknown:
        notes.append(
            f"The case table has no row for {plural(n_unknown, 'case')}."
            if n_unknown < dataset.n_cases
            else "The case table was left out, because these data contain none of its cases."
        )
    if n_unknown == dataset.n_cases:
        return dataset
    if table.group is not None:
        group = dict(zip(table.ids, table.group, strict=True))
        dataset = replace(dataset, case_group=tuple(group.get(case, "") for case in dataset.cases))
    if table.time is not None and dataset.time is None:
        seconds = dict(zip(table.ids, to_seconds(pa.chunked_array([pa.array(table.time, pa.string())])), strict=True))
        of_case = np.array([seconds.get(case, MISSING_TIME) for case in dataset.cases], np.int64)
        if (of_case != MISSING_TIME).any():
            dataset = replace(dataset, time=of_case[dataset.case_of_annotation])
            notes.append("The annotations have no dates, so the dates in the case table are used.")
    return dataset


def _with_gold(dataset: Dataset, gold: dict[str, str], notes: list[str]) -> Dataset:
    gold = {case.strip(): text.strip() for case, text in gold.items()}  # trimmed, as annotations are
    if dataset.kind == "score":
        return _with_known_scores(dataset, gold, notes)
    if dataset.kind == "set":
        return _with_known_sets(dataset, gold, notes)
    position = {name: code for code, name in enumerate(dataset.classes)}
    texts = [gold.get(case) for case in dataset.cases]
    code = {text: position.get(text or "", -1) for text in dict.fromkeys(texts)}
    codes = np.array([code[text] for text in texts], np.int32)
    unlisted = {text for text in code if text is not None and text not in position}
    _note_left_out(dataset, gold, unlisted, ("class", "classes"), notes)
    if (codes < 0).all():
        notes.append("No gold value matches both a case and a class in these data.")
        return dataset
    return replace(dataset, gold=codes)


def _note_left_out(
    dataset: Dataset, gold: dict[str, str], unlisted: set[str], kind: tuple[str, str], notes: list[str]
) -> None:
    """Add notes on gold that is not in the list of classes or labels, or not a score, and on cases not in the data."""
    named = ", ".join(repr(name) for name in sorted(unlisted)[:3])
    if unlisted and dataset.kind == "score":
        notes.append(f"Gold values that are not numbers ({named}) were left out.")
    elif unlisted:
        n = len(unlisted)
        are, them = ("is", "it") if n == 1 else ("are", "them")
        notes.append(
            f"{plural(n, f'gold {kind[0]}', f'gold {kind[1]}')} {are} not in the list of {kind[1]} ({named}), so cases "
            f"with {them} have no gold. To use this gold, add the missing {kind[n > 1]} to the list."
        )
    n_cases = len(gold) - sum(case in gold for case in dataset.cases)
    if n_cases:
        notes.append(f"Gold was left out for {plural(n_cases, 'case')} without an annotation.")


def _with_known_scores(dataset: Dataset, gold: dict[str, str], notes: list[str]) -> Dataset:
    """Return the dataset with gold scores: a number per case, with a point or a comma; empty without gold."""
    told = {case: text.strip() for case, text in gold.items() if text.strip()}
    value = dict(zip(told, to_numbers(tuple(told.values()), decimal_comma=True), strict=True))
    value = {case: number for case, number in value.items() if np.abs(number) <= LARGEST_SCORE}  # NaN is not
    _note_left_out(dataset, told, {told[case] for case in told.keys() - value.keys()}, ("", ""), notes)
    found = np.array([value.get(case, np.nan) for case in dataset.cases], np.float64)
    if np.isnan(found).all():
        notes.append("No gold score matches a case in these data.")
        return dataset
    return replace(dataset, gold_scores=found)


def _with_known_sets(dataset: Dataset, gold: dict[str, str], notes: list[str]) -> Dataset:
    """Return the dataset with gold sets: all labels of a case in one text, or that none applies; empty without gold."""
    place = {name: code for code, name in enumerate(dataset.classes)}
    found = np.full((dataset.n_cases, dataset.n_classes), -1, np.int8)
    unlisted: set[str] = set()
    none = label_of_none(dataset)
    for case, case_id in enumerate(dataset.cases):
        text = gold.get(case_id)
        if text is None or not text.strip():
            continue
        codes = [] if says_none(text) else codes_of_text(text, place)
        if codes is None:
            unlisted.add(unknown_label(text, place))
            continue
        found[case] = 0
        found[case, codes if codes or none is None else [place[none]]] = 1
    _note_left_out(dataset, gold, unlisted, ("label", "labels"), notes)
    if (found < 0).all():
        notes.append("No gold value matches both a case and the labels in these data.")
        return dataset
    return replace(dataset, gold_sets=found)


def _with_classes(dataset: Dataset, table: ClassTable, notes: list[str]) -> Dataset:
    known = set(table.names)
    if not known & set(dataset.classes):
        notes.append("The class table was left out, because the annotations use none of its classes.")
        return dataset
    last = [name for name in dataset.classes if name not in known]
    if last:
        named = ", ".join(map(repr, last[:3]))
        notes.append(f"The class table lacks {plural(len(last), 'annotated class', 'annotated classes')} ({named}).")
    order = [*table.names, *last]
    if len(set(order)) < len(order):
        raise InputError(
            f"Could not use the class table: {first_twice(order)!r} occurs twice.", "Use one row per class."
        )
    position = {name: code for code, name in enumerate(order)}
    dataset = _reordered(dataset, np.array([position[name] for name in dataset.classes], np.int32), tuple(order))
    if table.risk is not None:
        levels = [risk.strip().casefold() for risk in table.risk]
        wrong = next((risk for risk in levels if risk not in (*RISK_LEVELS, "0", "1", "2", "")), None)
        if wrong is not None:
            raise InputError(
                f"Could not use the class table: {wrong!r} is not a risk level.",
                "Use low, medium or high, or 0, 1 or 2.",
            )
        codes = [RISK_LEVELS.index(risk) if risk in RISK_LEVELS else int(risk or -1) for risk in levels]
        dataset = replace(dataset, class_risk=np.array(codes + [-1] * len(last), np.int8))
    if table.display is not None:
        names = tuple(shown or name for name, shown in zip(table.names, table.display, strict=True)) + tuple(last)
        if len(set(names)) < len(names):
            raise InputError(
                f"Could not use the class table: two classes have the display name {first_twice(names)!r}.",
                "Use a different display name for each class.",
            )
        dataset = replace(dataset, classes=names)
    return dataset


def _reordered(dataset: Dataset, recode: np.ndarray, classes: tuple[str, ...]) -> Dataset:
    """Return the dataset with class ``k`` as class ``recode[k]`` of a list that may be longer."""
    changes: dict = {"classes": classes}
    if dataset.traits.lists_classes:
        entry_class = recode[dataset.entry_class]
        annotation = np.repeat(np.arange(dataset.n_annotations), np.diff(dataset.entry_ptr))
        by = np.lexsort((entry_class, dataset.entry_block, annotation))
        changes["entry_class"] = entry_class[by]
    else:
        changes["answer"] = recode[dataset.answer]
    if dataset.gold is not None:
        changes["gold"] = np.append(recode, np.int32(-1))[dataset.gold]
    if dataset.class_risk is not None:
        risk = np.full(len(classes), -1, np.int8)
        risk[recode] = dataset.class_risk
        changes["class_risk"] = risk
    return replace(dataset, **changes)
