"""The first rows of a table, column by column, each with its role, which can be changed there."""

import re
from collections.abc import Mapping as Mapped
from collections.abc import Sequence

import streamlit as st

from core.ingest.case_content import shown_beside
from core.ingest.column_mapping import Layout, Mapping
from core.ingest.formats.raw_table import RawTable
from core.ingest.machine_columns import told_machines
from core.text import markdown, plural, shorten
from pages.shared.cache import visit

NOBODY = "(none)"
ROW_NUMBER = "(the row's number)"
UNUSED = "Not used"
ANONYMOUS = "(none: annotations are anonymous)"
FIRST_WINS = "(none: the first item is the preferred one)"
# What a column can be in each layout, by the field of the mapping that names it.
_ROLES: dict[Layout, dict[str, str]] = {
    "long": {
        "case": "Case", "rater": "Rater", "answer": "Annotation", "rank": "Rank", "confidence": "Confidence",
        "time": "Date", "group": "Group of the case", "gold": "Gold",
    },
    "wide": {"case": "Case", "raters": "Rater", "group": "Group of the case", "gold": "Gold"},
    "patterns": {"count": "Count", "raters": "Rater", "group": "Group of the case"},
    "labels": {"case": "Case", "rater": "Rater", "across": "Label", "time": "Date", "group": "Group of the case"},
    "comparisons": {
        "first": "First item", "second": "Second item", "answer": "Preferred", "rater": "Rater", "case": "Question",
        "time": "Date",
    },
    "counts": {"case": "Case", "across": "Class"},
    "contingency": {"case": "Class of the row", "across": "Class"},
    "transposed": {"rater": "Rater", "across": "Case"},
}  # fmt: skip
# What reading takes from columns that the mapping does not name, by the role of `told_machines` and `shown_beside`.
_BESIDE = {
    "type": "Rater type", "family": "AI family", "version": "AI version", "text": "Case text", "address": "Case image",
}  # fmt: skip
Questions = Mapped[str, str]
_SEVERAL = ("raters", "across")
_ROWS, _CARDS, _MOST_CARDS = 5, 8, 40
_WIDTH = 156
_BRACKETS = re.compile(r"[\[\]<>]")  # without them, markdown has no links, pictures or colours


def picker_key(role: str, stamp: str, layout: str) -> str:
    """Key of the control that chooses the column, or the columns, of a role.

    Parameters
    ----------
    role : str
        Field of the mapping.
    stamp, layout : str
        Tell one file, and one layout of it, from another.
    """
    return f"{role if role in _SEVERAL else f'{role}_column'}-{stamp}-{layout}"


def show(raw: RawTable, mapping: Mapping, stamp: str, questions: Questions) -> None:
    """Five rows of a table; a role that is changed here is changed in the controls of the mapping.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        As it is chosen.
    stamp : str
        Key that identifies the file.
    questions : mapping of str to str
        Columns of other questions of the table, and how these are called.
    """
    roles = {column: _role_of(mapping, column) for column in raw.columns}
    beside = _beside(raw, mapping, stamp)
    others = beside | {name: f"In “{shorten(of, 24)}”" for name, of in questions.items()}
    # Those with a role first, then those that are read in addition, each in their order.
    ordered = sorted(raw.columns, key=lambda column: (roles[column] == "", column not in beside))
    st.markdown(f"**The first {plural(min(_ROWS, raw.table.num_rows), 'row')}, with the role of each column**")
    _cards(raw, mapping, ordered[:_CARDS], roles, stamp, others)
    more = ordered[_CARDS:_MOST_CARDS]
    if more:
        with st.expander(f"{plural(len(more), 'more column')}", key=f"more_columns-{stamp}"):
            _cards(raw, mapping, more, roles, stamp, others)
    if len(ordered) > _MOST_CARDS:
        st.caption(f"{plural(len(ordered) - _MOST_CARDS, 'more column')} not shown.")


def _role_of(mapping: Mapping, column: str) -> str:
    """Return the field that names a column; empty if none does."""
    for role in _ROLES[mapping.layout]:
        named = getattr(mapping, role)
        if named == column or (role in _SEVERAL and column in named):
            return role
    return ""


def _beside(raw: RawTable, mapping: Mapping, stamp: str) -> dict[str, str]:
    """Return the columns that reading uses without a role in the mapping, in words; found once for each mapping."""
    key, asked = f"beside-{stamp}", (mapping, tuple(raw.columns))
    if (known := visit.other[key]) is None or known[0] != asked:
        found = told_machines(raw, mapping).columns | shown_beside(raw, mapping)[1]
        known = visit.other[key] = (asked, {column: _BESIDE[role] for role, column in found.items()})
    return known[1]


def _cards(
    raw: RawTable, mapping: Mapping, shown: Sequence[str], roles: dict[str, str], stamp: str, others: dict[str, str]
) -> None:
    """Draw a card for each column: its name, its role, and its first cells; ``others`` are uses without a role."""
    with st.container(horizontal=True, gap="small"):
        for column in shown:
            titles = {**_ROLES[mapping.layout], "": others.get(column, UNUSED)}
            key = f"role-{stamp}-{mapping.layout}-{raw.columns.index(column)}"
            visit.choice[key] = roles[column]
            with st.container(border=True, width=_WIDTH, gap="xsmall"):
                st.markdown(f":small[{markdown(shorten(column, 40))}]")
                st.selectbox(
                    _BRACKETS.sub(" ", shorten(column, 40)),  # hidden, but read aloud: backslashes would be heard
                    list(titles),
                    label_visibility="collapsed",
                    format_func=titles.__getitem__,
                    key=key,
                    on_change=_change,
                    args=(key, column, mapping, stamp, tuple(raw.columns)),
                )
                cells = raw.table[column].slice(0, _ROWS).cast("string").to_pylist()
                st.caption("  \n".join(markdown(shorten(cell or "", 22)) or "–" for cell in cells))


def _change(key: str, column: str, mapping: Mapping, stamp: str, columns: tuple[str, ...]) -> None:
    """Set the controls of the mapping to the choice in the preview (callback)."""
    before, now = _role_of(mapping, column), visit.choice[key]
    if before:
        _set(before, column, mapping, stamp, columns, taken=False)
    if now:
        _set(now, column, mapping, stamp, columns, taken=True)


def _set(role: str, column: str, mapping: Mapping, stamp: str, columns: tuple[str, ...], *, taken: bool) -> None:
    """Let a role have a column, or have it no more."""
    picker = picker_key(role, stamp, mapping.layout)
    if role in _SEVERAL:
        named = {*getattr(mapping, role), column} if taken else {*getattr(mapping, role)} - {column}
        visit.choices[picker] = [one for one in columns if one in named]
        return
    visit.choice[picker] = column if taken else _nothing(role, mapping.layout)


def _nothing(role: str, layout: Layout) -> str | None:
    """Return the text of a role's control if no column has the role; None if one is needed."""
    if role == "case" and layout in ("wide", "counts"):
        return ROW_NUMBER
    if layout == "comparisons" and role in ("case", "rater", "answer"):
        return {"case": NOBODY, "rater": ANONYMOUS, "answer": FIRST_WINS}[role]
    return None if role in ("case", "rater", "answer", "count", "first", "second") else NOBODY
