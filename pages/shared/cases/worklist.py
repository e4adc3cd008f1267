"""List of cases next to the open one: the cases that it holds, and how a click opens another."""

import zlib
from collections.abc import Container, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.methods import Method
from core.text import markdown, percent, plural, shorten
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import visit
from pages.shared.kit import columns, presentation, widgets

MOST_ROWS = 2_000
LABEL_HEIGHT = 12  # pixels above a button next to labelled fields, less the gap
MOST = 355  # pixels: of the pane of 370 pixels a scroll bar takes 12
_IN_ONE_LINE, _TALL = 16, 65  # letters; Streamlit breaks lines in rows above 4 rem only, which are 64 pixels
_LARGER = 1.5  # letters of a presentation at up to 1,920 pixels
REVIEW, EXPECTED, EXPECTED_BESIDE, CORRECT, MORE, PLAUSIBLE = 64, 92, 86, 70, 92, 100


def found_by(dataset: Dataset, order: np.ndarray, find: str, others: np.ndarray | None = None) -> np.ndarray:
    """Return the cases of an order whose id contains the text, or that a rater with exactly that name annotated.

    Parameters
    ----------
    dataset : Dataset
    order : ndarray of int
    find : str
        Text to search for.
    others : ndarray of bool, shape (n_cases,), optional
        Further cases that match.
    """
    words = find.casefold().strip()
    if not words:
        return order
    found = np.array([words in case_id.casefold() for case_id in dataset.cases])
    raters = [code for code, name in enumerate(dataset.raters) if words == name.casefold()]
    found[dataset.case_of_annotation[np.isin(dataset.rater, raters)]] = True
    return order[(found if others is None else found | others)[order]]


def opened(dataset: Dataset, first: str) -> int | None:
    """Return the open case; None if there is none, or, with a message, if no case has that name.

    Parameters
    ----------
    dataset : Dataset
    first : str
        Case that is shown instead of one that is not in the data.
    """
    chosen = visit.case
    if chosen is None or chosen in dataset.cases:
        return None if chosen is None else dataset.case_index(chosen)
    del visit.case
    st.toast(f"Could not find case {markdown(shorten(chosen, 40))} in these data, so {markdown(first)} is shown.")
    return None


def show(
    dataset: Dataset,
    frame: pd.DataFrame,
    order: np.ndarray,
    case: int,
    states: Mapping[str, str],
    config: dict,
    first: str,
    uncertain: bool = True,
    open_with: Sequence[str] = (),
) -> None:
    """Draw the list as a table whose rows open cases, and the number of cases.

    Parameters
    ----------
    dataset : Dataset
    frame : DataFrame
        A row for each of the first cases of the order.
    order : ndarray of int
    case : int
        The one that is open.
    states : mapping of str to str
        State of reviews, by case id.
    config : dict
        Configuration of the columns.
    first : str
        Which case comes first, in words.
    uncertain : bool
        True if the list shows which cases are uncertain.
    open_with : sequence of str
        Columns that are shown at first; empty for all.
    """
    if any(states.values()):
        frame["review"] = [states.get(case_id, "") for case_id in frame["case"]]
    shown = order[:MOST_ROWS]
    key = f"worklist-{dataset.digest}-{zlib.crc32(shown.tobytes())}-{_opened_elsewhere(dataset.cases[case])}"
    places = np.flatnonzero(shown == case)

    def choose() -> None:
        cells = visit.other[key].selection.cells
        if cells:
            visit.case = visit.worklist_clicked = frame["case"].iloc[cells[0][0]]

    two_lines = "most plausible" in open_with and frame["most plausible"].str.len().max() > _IN_ONE_LINE
    st.space("small")  # the buttons of the table stand above it
    st.dataframe(
        columns.in_percent(frame, ["certainty"]),
        hide_index=True,
        height=700,
        row_height=round((_TALL if two_lines else 32) * (_LARGER if presentation.on() else 1)),
        on_select=choose,
        selection_mode="single-cell",
        selection_default={"selection": {"cells": [(int(place), "case") for place in places[:1]]}},
        column_config=config,
        column_order=[name for name in frame if name in open_with] or None,
        key=key,
    )
    bar = f" · Uncertain: certainty below {percent(UNCERTAIN_BELOW)}" if uncertain else ""
    st.caption(f"{len(shown):,} of {plural(len(order), 'case')}, {first}{bar} · Keys: P (previous), N (next)")


def file(table: pd.DataFrame, order: np.ndarray, states: Mapping[str, str]) -> pd.DataFrame:
    """Return the table of all cases in the order of the list, with the state of reviews.

    Parameters
    ----------
    table : DataFrame
        A row for each case.
    order : ndarray of int
    states : mapping of str to str
        Same as in `show`.
    """
    table = table.iloc[order].reset_index(drop=True)
    if any(states.values()):
        table.insert(1, "review", [states.get(case_id, "") for case_id in table["case"]])
    return table


def fitting(longest: int, names: Container[str]) -> tuple[dict, list[str]]:
    """Return the columns by name, and those that the table opens with, together within `MOST`.

    ``longest`` is the length of the longest id. Of ordered classes the expected one stands for the most plausible.
    """
    ordered = "expected" in names
    width = {
        "case": min(max(24 + 8 * longest, 50), 78),
        "certainty": 78,
        "review": REVIEW,
        "expected": EXPECTED_BESIDE if "review" in names else EXPECTED,
        **({"P(correct)": CORRECT} if ordered else {}),
        "most plausible": PLAUSIBLE,
        "P(correct)": CORRECT,
        "more raters": MORE,
    }
    left, first = MOST, []
    for name, own in width.items():
        if name in names and own <= left:
            first.append(name)
            left -= own
    if "most plausible" in first:
        width["most plausible"] += left
    about = {
        "P(correct)": {"help": widgets.explained("p correct")},
        "more raters": {"help": widgets.explained("more raters")},
        "most plausible": {
            "help": "“or”: no class has more than a 50% probability of being the leading class. “even”: the label is "
            "as likely to apply as not."
        },
        "expected": {"help": "95% interval for the true class. If classes are numbers, the mean comes first."},
    }
    config = {name: st.column_config.TextColumn(width=own, **about.get(name, {})) for name, own in width.items()}
    config["certainty"] = st.column_config.ProgressColumn(
        format=columns.PERCENT, min_value=0, max_value=1, width=width["certainty"]
    )
    config["P(correct)"] = st.column_config.NumberColumn(format="%.0f%%", width=CORRECT, **about["P(correct)"])
    return config, first


def header(dataset: Dataset, order: np.ndarray | None, case: int, said: str, noun: str, term: str | Method) -> None:
    """Draw the case id with its main results, and buttons to the previous and the next case.

    Parameters
    ----------
    dataset : Dataset
    order : ndarray of int or None
        Order of the list; None while it is not known.
    case : int
    said : str
        Main results of the case.
    noun : str
        Noun for its annotations.
    term : str or Method
        Term of the glossary.
    """
    left, right = st.columns([3, 2], vertical_alignment="center")
    place = right.container(horizontal=True, horizontal_alignment="right")
    name, n = markdown(shorten(dataset.cases[case], 60)), plural(len(dataset.annotations_of(case)), noun)
    n = n.replace(" ", "\N{NO-BREAK SPACE}")
    left.subheader(f"Case {name} · {said} · {n}", anchor=False, help=widgets.explained(term))
    _buttons(place, dataset, order, case)


def _opened_elsewhere(case_id: str) -> str:
    """Return the last case that was opened by anything but a click in the worklist.

    A part of the worklist's key: its highlight follows Next and the address, while a click keeps its sorting.
    """
    if visit.worklist_clicked != case_id:
        visit.worklist_clicked, visit.worklist_anchor = None, case_id
    return visit.worklist_anchor or case_id


def _buttons(place, dataset: Dataset, order: np.ndarray | None, case: int) -> None:
    """Previous and Next in an order of cases, which may lack this one.

    Parameters
    ----------
    place : container
    dataset : Dataset
    order : ndarray of int or None
        Cases; None while nobody knows them.
    case : int
    """
    found = np.flatnonzero(order == case) if order is not None else []
    at = int(found[0]) if len(found) else None
    before = dataset.cases[order[at - 1]] if at else None
    after = dataset.cases[order[at + 1]] if at is not None and at + 1 < len(order) else None
    if at is None and order is not None:  # the case is not among those found: the first of them comes next
        after = dataset.cases[order[0]]
    for label, icon, key, other in (("Previous", "left", "P", before), ("Next", "right", "N", after)):
        place.button(
            label, icon=f":material/chevron_{icon}:", on_click=visit.set, kwargs={"case": other}, shortcut=key,
            disabled=other is None, key=label.lower(),
        )  # fmt: skip
