"""The class list of a file: merge, rename, order, and what counts as no annotation."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.annotations.dataset import Dataset
from core.annotations.ordering import may_be_ordered, scale_order
from core.ingest.answer_rules import Treatment, cannot_tell
from core.ingest.companion_files import ClassTable
from core.ingest.look_alikes import look_alikes, namesakes
from core.ingest.saved_mappings import Choices
from core.text import markdown, number, plural, shorten
from pages.shared.cache import agreement as cached_agreement
from pages.shared.cache import visit

_MOST = 400
_MOST_CODES = 6


def of_codes(codes: Mapping[str, int], n_annotations: int, start: Choices, stamp: str) -> Treatment | None:
    """Ask how to treat codes that may mean a missing annotation; None until the user has answered.

    Parameters
    ----------
    codes : mapping of str to int
        Number of occurrences of each code; see `core.ingest.missing_codes`.
    n_annotations : int
        All annotations, those of the codes counted.
    start : Choices
        Choices with the initial answer.
    stamp : str
        Key that identifies the file.
    """
    if not codes:
        return Treatment()
    names = ", ".join(f"“{markdown(shorten(name, 24))}” ({n:,})" for name, n in list(codes.items())[:_MOST_CODES])
    names += ", …" if len(codes) > _MOST_CODES else ""
    known = [set(codes) <= start.treatment.missing, set(codes) <= start.treatment.kept]
    one = len(codes) == 1
    answers = {True: "Yes, leave them out" if one else "Yes, leave all of them out", False: "No, count them"}
    chosen = st.radio(
        f"**{'Does this code' if one else 'Do these codes'} mean a missing annotation?** "
        f"Found among {plural(n_annotations, 'annotation')}: {names}.",
        list(answers),
        index=known.index(True) if any(known) else None,
        format_func=answers.__getitem__,
        key=f"codes-{stamp}-{hashlib.sha256(repr(codes).encode('utf-8', 'replace')).hexdigest()[:12]}",
        persist_state="session",
    )
    if chosen is None:
        return None
    return Treatment(missing=frozenset(codes)) if chosen else Treatment(kept=frozenset(codes))


def of_raters(dataset: Dataset, start: Choices, stamp: str) -> tuple[dict[str, str], bool]:
    """Ask whether raters whose names differ only in capitals or spaces are the same; True if an answer is missing.

    Names that were answered about last time keep that answer if others are new.

    Parameters
    ----------
    dataset : Dataset
    start : Choices
        Choices with the initial answer.
    stamp : str
        Key that identifies the file.
    """
    groups = [[dataset.raters[code] for code in codes] for codes in namesakes(dataset.raters)]
    if not groups or not dataset.raters_identified:
        return {}, False
    known = start.treatment.raters
    count = dict(zip(dataset.raters, dataset.annotations_of_raters.tolist(), strict=True))
    merged: dict[str, str] = {}
    is_open = False
    for said in (True, False, None):
        alike = [group for group in groups if _said_same(group, known) is said]
        same = _same_rater(alike, said, stamp) if alike else None
        is_open |= bool(alike) and same is None
        for group in alike:
            most = max(group, key=count.__getitem__)
            if same is None:
                merged |= {name: known[name] for name in group if known.get(name, name) in set(group) - {name}}
            else:
                merged |= {name: most for name in group if name != most} if same else {name: name for name in group}
    return merged, is_open


def _said_same(group: Sequence[str], known: Mapping[str, str]) -> bool | None:
    """Return whether names were said to be the same rater; None if some of them were not asked about."""
    apart = {known[name] == name for name in group if name in known}
    new = set(group) - {*known, *known.values()}
    if apart == {True}:
        new -= {group[0]}  # earlier versions did not save the first of separate raters
    return None if new or not apart else False in apart


def _same_rater(groups: Sequence[Sequence[str]], said: bool | None, stamp: str) -> bool | None:
    named = "; ".join(
        " = ".join(f"“{markdown(shorten(name, 24))}”" for name in group) for group in groups[:_MOST_CODES]
    )
    named += "; …" if len(groups) > _MOST_CODES else ""
    answers = {True: "The same rater", False: "Different raters"}
    return st.radio(
        f"**Do these names belong to the same rater?** {named}",
        list(answers),
        index=None if said is None else list(answers).index(said),
        format_func=answers.__getitem__,
        horizontal=True,
        key=f"namesakes-{stamp}-{hashlib.sha256(repr(groups).encode('utf-8', 'replace')).hexdigest()[:12]}",
        persist_state="session",
        help="The names differ only in capitals or spaces. Until you answer, they count as different raters.",
    )


def treatment_of(
    dataset: Dataset, start: Choices, stamp: str, table: ClassTable | None, codes: Treatment, asked: DeltaGenerator
) -> tuple[Treatment | None, list[str] | None, bool | None, bool]:
    """Ask how to treat the classes as they are in the file.

    Parameters
    ----------
    dataset : Dataset
        Dataset as read, with only codes for missing annotations treated.
    start : Choices
        Initial choices of the controls.
    stamp : str
        Key that identifies the file.
    table : ClassTable or None
        Class table from a companion file.
    codes : Treatment
        Treatment of codes for missing annotations, see `of_codes`.
    asked : container
        Place of the question whether classes that may be a scale are one.

    Returns
    -------
    treatment : Treatment or None
    classes : list of str or None
        Closed list in its order, if it was changed or declared meaningful.
    ordinal : bool or None
        True if the classes are a scale; None until the question is answered.
    unordered : bool
        True if the user answered that they are not a scale.
    """
    if dataset.kind == "score" or not dataset.n_classes:
        return (codes if codes.given else None), None, dataset.ordinal, False
    # The key names the classes and nothing else, so that edits outlive whatever leaves the classes as they are.
    key = f"{stamp}-{hashlib.sha256(repr(dataset.classes).encode('utf-8', 'replace')).hexdigest()[:12]}"
    unsure = _unsure(dataset, start, key)
    alike = _alike(dataset, start, key)
    # What looks like a scale is asked about in sight, as numbers may be codes.
    given = None if table is None else _in_its_order(dataset, table)
    kept = [name for name in dataset.classes if name not in unsure]
    scale = dataset.kind == "class" and (given is not None or may_be_ordered(kept))
    own = scale_order(kept) if given is None else None
    ends = given or own or kept or dataset.classes
    ordinal: bool | None = False
    if scale:
        with asked:
            ordinal = _scale_or_names(dataset, start, key, given or own or kept)
    with st.expander(
        f"Classes in the annotations: {dataset.n_classes:,} · rename, merge, order, leave out",
        key=f"classes-{key}",
    ):
        if not scale:
            ordinal = _ordered(dataset, start, key, ends)
        extra = _never_given(dataset, start, key)
        edited = _edited_classes(dataset, start, key, own if ordinal else None)
    treatment, order = _treated(edited, unsure, alike, codes)
    order = list(dict.fromkeys([*order, *extra]))
    changed = treatment not in (None, codes) or order != list(dataset.classes) or bool(ordinal)
    return treatment, order if changed else None, ordinal, scale and ordinal is False


def _edited_classes(dataset: Dataset, start: Choices, key: str, scale: tuple[str, ...] | None) -> pd.DataFrame:
    """Return the classes with the user's names and positions; from low to high if they are a scale."""
    if dataset.n_classes > _MOST:
        st.caption(f"There are more than {_MOST} classes. Add a class table with names, order and risk instead.")
        return _frame(dataset, Choices(start.mapping))
    if scale is not None and start.classes is None:
        return _edited(dataset, replace(start, classes=scale), f"{key}-scale")
    return _edited(dataset, start, key)


def _never_given(dataset: Dataset, start: Choices, key: str) -> list[str]:
    """Classes of the closed list that no annotation names, as the user lists them."""
    known = {*dataset.classes, *start.treatment.renamed.values()}
    more = st.text_input(
        "Possible classes that no rater used (separate with commas)",
        value=", ".join(name for name in start.classes or () if name not in known and "," not in name),
        key=f"more_classes-{key}",
        persist_state="session",
    )
    return [name.strip() for name in more.split(",") if name.strip()]


def _treated(
    edited: pd.DataFrame, unsure: tuple[str, ...], alike: dict[str, str], codes: Treatment
) -> tuple[Treatment | None, list[str]]:
    """Return the treatment of the classes by the edited table, and their names in its order."""
    missing = {*edited.loc[edited["no annotation"], "in the file"], *unsure}
    kept = edited[~edited["in the file"].isin(missing)].sort_values("place", kind="stable")
    renamed, order = {}, {}
    for old, typed in zip(kept["in the file"], kept["name"], strict=True):
        name = (typed or "").strip() or old
        name = alike.get(old, name) if name == old else name
        order[name] = None
        if name != old:
            renamed[old] = name
    treatment = Treatment(renamed, codes.missing | missing, codes.kept, codes.raters)
    return (treatment if treatment.given else None), list(order)


def _in_its_order(dataset: Dataset, table: ClassTable) -> list[str] | None:
    """Names of three classes or more as a class table puts them; None where it gives no places, or to others."""
    if not table.ordered or dataset.n_classes < 3 or not set(table.names) & set(dataset.classes):
        return None
    shown = table.display or table.names
    listed = [display or name for name, display in zip(table.names, shown, strict=True)]
    return [*listed, *(name for name in dataset.classes if name not in table.names)]


def _ordered(dataset: Dataset, start: Choices, key: str, names: Sequence[str]) -> bool:
    """Ask whether the order of the classes is meaningful."""
    first, last = (markdown(shorten(name, 20)) for name in (names[0], names[-1]))
    return st.toggle(
        f"The classes are ordered from low to high (currently “{first}” to “{last}”)",
        value=dataset.ordinal or start.ordinal,
        key=f"ordinal-{key}",
        persist_state="session",
        help="If the classes have an order, neighbouring classes count as partial agreement. Leave this off if the "
        "names are only codes.",
    )


def _scale_or_names(dataset: Dataset, start: Choices, key: str, order: Sequence[str]) -> bool | None:
    """Ask whether classes that may be a scale are one, with the agreement of both; None until answered."""
    first, last = (markdown(shorten(name, 20)) for name in (order[0], order[-1]))
    alphas = cached_agreement.alpha_as_scale_and_names(dataset, order)
    as_scale, as_names = (f"α = {number(one.value)}" if one.value is not None else "α undefined" for one in alphas)
    answers = {True: f"A scale from “{first}” to “{last}” ({as_scale})", False: f"Names without order ({as_names})"}
    said = 0 if dataset.ordinal or start.ordinal else 1 if start.unordered else None
    return st.radio(
        f"**Are the classes “{first}” to “{last}” a scale or names?**",
        list(answers),
        index=said,
        format_func=answers.__getitem__,
        horizontal=True,
        key=f"scale-{key}",
        persist_state="session",
        help="On a scale, neighbouring classes count as partial agreement. Until you answer, classes count as names.",
    )


def _unsure(dataset: Dataset, start: Choices, key: str) -> tuple[str, ...]:
    """Return classes that mean "cannot tell", if they are to count as no annotation."""
    unsure = cannot_tell(dataset.classes)
    if not unsure:
        return ()
    names = ", ".join(f"“{markdown(name)}”" for name in unsure)
    blank = st.toggle(
        f"Treat {names} as a missing annotation",
        value=set(unsure) <= start.treatment.missing,
        key=f"unsure-{key}",
        persist_state="session",
    )
    return unsure if blank else ()


def _alike(dataset: Dataset, start: Choices, key: str) -> dict[str, str]:
    """Return the most frequent spelling of classes that look alike, if they are to be merged."""
    free = [code for code, name in enumerate(dataset.classes) if name not in start.treatment.renamed]
    found = look_alikes([dataset.classes[code] for code in free])
    several = [[free[place] for place in places] for places, _ in found]
    if not several:
        return {}
    differ = " or ".join(dict.fromkeys(what for _, what in found))
    count = np.bincount(dataset.entries()[1], minlength=dataset.n_classes)
    names = "; ".join(" = ".join(f"“{markdown(dataset.classes[code])}”" for code in codes) for codes in several[:3])
    names += "; …" if len(several) > 3 else ""
    if not st.toggle(
        f"Merge classes that differ only in {differ}: {names}", key=f"alike-{key}", persist_state="session"
    ):
        return {}
    return {dataset.classes[code]: dataset.classes[max(codes, key=count.item)] for codes in several for code in codes}


def _frame(dataset: Dataset, start: Choices) -> pd.DataFrame:
    names = [start.treatment.renamed.get(name, name) for name in dataset.classes]
    place = {name: number for number, name in enumerate(start.classes or (), 1)}
    return pd.DataFrame(
        {
            "in the file": dataset.classes,
            "name": names,
            "place": [place.get(name, len(place) + number) for number, name in enumerate(names, 1)],
            "no annotation": [name in start.treatment.missing for name in dataset.classes],
        }
    )


def _edited(dataset: Dataset, start: Choices, key: str) -> pd.DataFrame:
    st.caption("Classes with the same name are merged. Change the numbers under “place” to change the order.")
    # An editor forgets its edits when its page is left: it then begins with what it showed.
    editor, begun, last = f"class_editor-{key}", f"class_editor_begun-{key}", f"class_editor_last-{key}"
    if editor not in visit.other or begun not in visit.other:
        visit.other[begun] = visit.other.get(last, _frame(dataset, start))
    visit.other[last] = st.data_editor(
        visit.other[begun],
        hide_index=True,
        disabled=["in the file"],
        column_config={
            "name": st.column_config.TextColumn(required=True),
            "place": st.column_config.NumberColumn(min_value=1, step=1, required=True),
        },
        height=min(420, 36 * (dataset.n_classes + 1) + 2),
        key=editor,
    )
    return visit.other[last]
