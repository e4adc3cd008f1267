"""Warnings that a user should check before relying on a dataset."""

from collections.abc import Mapping as Mapped
from collections.abc import Sequence

import numpy as np

from ..annotations.dataset import LABEL_SIGNS, MISSING_TIME, Dataset
from ..annotations.none_of_these import NONE_APPLIES
from ..text import listed, plural, shorten, was_or_were
from .answer_rules import cannot_tell
from .column_mapping import Mapping
from .formats.raw_table import UNANSWERED
from .label_columns import UNDECIDED
from .look_alikes import look_alikes

ONE_CASE = "There is only one case, so results do not generalise and intervals are not available."
_ENOUGH, _NEARLY_ALL = 20, 0.75  # annotations, and what share of them has a rater or a class of its own
ONE_RATER = "There is only one rater, so agreement and rater models cannot be computed."


def _holds_labels(name: str) -> bool:
    """Return whether a name consists of two or more with a sign between them that is rare inside a name."""
    return any(sum(bool(piece.strip()) for piece in name.split(sign)) > 1 for sign in LABEL_SIGNS[:2])


def _share_no_answer(dataset: Dataset) -> list[str]:
    pairs = np.unique(dataset.rater.astype(np.int64) * dataset.n_classes + dataset.answer)
    rater, answer = np.divmod(pairs, dataset.n_classes)
    shared = np.bincount(answer, minlength=dataset.n_classes)[answer] > 1
    sharing, answers = np.zeros(dataset.n_raters, bool), np.bincount(dataset.rater, minlength=dataset.n_raters)
    sharing[rater[shared]] = True
    return [dataset.raters[code] for code in np.flatnonzero(~sharing & (answers >= 3))]  # fewer are not conclusive


def repeated(n_repeats: int, n_same: int, n_annotations: int | None) -> list[str]:
    """Return the sentence on annotations that raters repeated, if any, with what they may mean.

    Labels of one annotation differ from each other, and rows that were written twice do not: anything else is a rater
    who was asked again.

    Parameters
    ----------
    n_repeats, n_same : int
        Number of annotations beyond the first of a rater on a case, and how many of them equal an earlier one.
    n_annotations : int, optional
        Number of single classes; for other annotations nothing is proposed.
    """
    if not n_repeats:
        return []
    annotations = plural(n_repeats, "annotation is", "annotations are")
    caution = f"{annotations} by a rater who had already annotated the case"
    if n_annotations is None:
        return [f"{caution}. All annotations are used."]
    same = f" ({n_same:,} of them with the same class)" if n_same else ""
    if n_same == n_repeats:
        same = " (with the same class)" if n_same == 1 else " (all with the same class)"
    caution += f"{same}. All annotations are used."
    if n_same == n_repeats:
        caution += " If the same rows were exported twice, use only the first of each."
    elif not n_same and 5 * n_repeats > n_annotations:
        caution += (
            " If several rows contain the labels of one annotation, choose “A set of labels” as the kind of annotation."
        )
    elif 2 * n_repeats > n_annotations:
        caution += " Check the case column. If two columns together identify a case, join them into one column."
    return [caution]


def labels_merged(n: int) -> str:
    """Return the sentence on labels that an annotation has more than once."""
    return f"{plural(n, 'repeated label')} {was_or_were(n)} merged, because a label counts once per annotation."


def of_several_files(
    case: np.ndarray, rater: np.ndarray, file: np.ndarray, raters: Sequence[str], files: Sequence[str]
) -> list[str]:
    """Return the sentence on raters who annotate the same cases in several files: namesakes, or an AI rater.

    Parameters
    ----------
    case, rater, file : ndarray of int, shape (n_rows,)
        Codes of each row.
    raters, files : sequence of str
        Their names.
    """
    pair = rater.astype(np.int64) * (int(case.max(initial=0)) + 1) + case
    each = np.unique(pair * len(files) + file) // len(files)  # a pair once per file that contains it
    twice = np.unique(each[1:][each[1:] == each[:-1]])
    if not twice.size:
        return []
    who, n_cases = np.unique(twice // (int(case.max()) + 1), return_counts=True)
    most = int(who[n_cases.argmax()])
    named = [shorten(files[code], 40) for code in np.unique(file[(rater == most) & np.isin(pair, twice)])]
    where = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) < 4 else f"{len(named)} files"
    others = f" The same applies to {plural(len(who) - 1, 'other rater')}." if len(who) > 1 else ""
    return [
        f"{shorten(raters[most], 40)} annotates {plural(int(n_cases.max()), 'case')} in more than one file "
        f"({where}), and counts as one rater.{others} If one name belongs to different raters, use a different "
        "name in each file."
    ]


def unnamed(dropped: Sequence[str], mapping: Mapping) -> list[str]:
    """Return the sentences on sets of labels left out because cells are empty, which may mean that no label applies.

    Parameters
    ----------
    dropped : sequence of str
        Reasons why rows were left out.
    mapping : Mapping
    """
    said = []
    if partly := sum(reason.startswith(UNDECIDED) for reason in dropped):
        they_have = "it has" if partly == 1 else "they have"
        said.append(
            f"{plural(partly, 'annotation')} {was_or_were(partly)} left out, because {they_have} neither 0 nor 1 for "
            "some labels. If an empty cell means that the label does not apply, choose that option."
        )
    n = sum(reason == "no annotation" or reason.endswith(UNANSWERED) for reason in dropped)
    if not n:
        return said
    they_name = "it names" if n == 1 else "they name"
    instead = ", or choose the option for empty cells" if mapping.holds_sets and mapping.empty == "unsaid" else ""
    return [
        *said,
        f"{plural(n, 'annotation')} {was_or_were(n)} left out, because {they_name} no label. If no label applies, "
        f"write {NONE_APPLIES!r} in the file{instead}.",
    ]


def unsure(classes: Sequence[str]) -> list[str]:
    """Return the sentence on classes that may mean that the rater could not decide, if any."""
    found = cannot_tell(classes)
    nested = [name for name in classes if name[:1] in "{[" and name[-1:] in "}]"]
    said = []
    if nested:
        said.append(
            f"{plural(len(nested), 'class is', 'classes are')} written as JSON, such as {shorten(nested[0], 40)!r}. "
            "If one cell contains more than one label, choose “A set of labels” as the kind of annotation."
        )
    if not found:
        return said
    counts = (
        "counts as a class. If it is not a class, mark it"
        if len(found) == 1
        else ("count as classes. If they are not classes, mark them")
    )
    return [
        *said,
        f"{listed(list(map(repr, found)))} may mean that the rater could not decide, but {counts} as missing.",
    ]


def perhaps_missing(codes: Mapped[str, int], n_annotations: int) -> list[str]:
    """Return the sentence on codes that may mean missing annotations, if any.

    Parameters
    ----------
    codes : mapping of str to int
        Number of occurrences of each.
    n_annotations : int
        Number of annotations of all kinds.
    """
    if not codes:
        return []
    named = ", ".join(f"{shorten(name, 24)!r} ({n:,})" for name, n in codes.items())
    return [
        f"{sum(codes.values()):,} of {plural(n_annotations, 'annotation')} may be codes for missing annotations: "
        f"{named}. They count as annotations until you mark them as missing."
    ]


def contradictions(dataset: Dataset, wide: bool) -> list[str]:
    """Describe evidence that columns may not be what they were taken for.

    Parameters
    ----------
    dataset : Dataset
    wide : bool
        True if raters are columns.
    """
    found, n = [], dataset.n_annotations
    if dataset.n_raters > 1 and len(dataset.cases_by_size) == 2:
        found.append(
            "Every case has exactly one annotation, so agreement and accuracy cannot be estimated. Check "
            "whether the export left out some raters."
        )
    if n >= _ENOUGH and dataset.raters_identified and dataset.n_raters > _NEARLY_ALL * n:
        found.append(
            f"Nearly every annotation has a different rater ({dataset.n_raters:,} raters, {n:,} annotations). "
            "Check whether the rater column contains ids of something other than raters."
        )
    if n >= _ENOUGH and dataset.kind == "class" and dataset.n_classes > _NEARLY_ALL * n:
        found.append(
            f"Nearly every annotation has a different class ({dataset.n_classes:,} classes, {n:,} annotations). "
            "Check whether the annotation column contains ids, texts or scores."
        )
    if wide and dataset.kind == "class" and dataset.n_raters > 1 and (alone := _share_no_answer(dataset)):
        names = ", ".join(map(repr, alone[:5]))
        found.append(
            f"These columns were read as raters, but have no class in common with other columns: {names}. "
            "Check the column roles, and whether the table has one row per annotation."
        )
    return found


def cautions_about(dataset: Dataset, wide: bool) -> list[str]:
    """Return sentences on too few raters or annotations, look-alike classes, columns that are not raters, and dates."""
    cautions = [ONE_CASE] if dataset.n_cases == 1 else []
    if dataset.n_raters == 1:
        cautions.append(ONE_RATER)
    if dataset.kind != "score" and dataset.n_classes == 1:
        cautions.append(
            f"Every annotation is {dataset.classes[0]!r}. With one class, chance-corrected agreement is undefined."
        )
    cautions += contradictions(dataset, wide)
    if dataset.kind == "class" and (several := [name for name in dataset.classes if _holds_labels(name)]):
        names = ", ".join(map(repr, several[:2]))
        have = "class has" if len(several) == 1 else "classes have"
        cautions.append(
            f"{len(several):,} {have} a separator in the name ({names}{', …' * (len(several) > 2)}) and "
            f"{was_or_were(len(several))} not split into labels. If such a name contains more than one label, choose "
            "“A set of labels” as the kind of annotation."
        )
    alike: dict[str, list[str]] = {}
    for codes, what in look_alikes(dataset.classes):
        alike.setdefault(what, []).append(", ".join(repr(dataset.classes[code]) for code in codes))
    cautions.extend(
        f"Some classes differ only in {what}: {'; '.join(found[:3])}{'; …' * (len(found) > 3)}. They count as "
        "different classes until you merge them."
        for what, found in alike.items()
    )
    if dataset.time is not None and (unknown := int((dataset.time == MISSING_TIME).sum())):
        has = "has" if unknown == 1 else "have"
        cautions.append(f"{plural(unknown, 'annotation')} {has} an unreadable date. Write dates like 2024-12-31.")
    return cautions
