"""Pieces that more than one page shows."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape as _escape
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import methods, tables
from core.analyses.blocks import FileFormat
from core.annotations.dataset import Dataset
from core.figures.theme import drawn_once, enlarge
from core.ingest.read_files import Reading
from core.methods import Method
from core.text import exact, html_text, percent, plural, shorten, was_or_were
from pages.shared.cache import datasets as cached
from pages.shared.cache import sign_in, visit
from pages.shared.kit import columns, documentation, presentation, provenance, state
from pages.shared.kit import style as look

Table = pd.DataFrame | Callable[[], pd.DataFrame]
_FORMATS = (
    ("csv", "CSV", tables.to_csv, "text/csv"),
    ("xlsx", "Excel", tables.to_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("parquet", "Parquet", tables.to_parquet, "application/vnd.apache.parquet"),
)
_MOST_WHO = 4  # names of raters on a line, before they fold
_IMAGE = {"scale": 2, "width": 1000}  # wide enough for a title in one line
_PLOT = {"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": _IMAGE}


def require_data() -> Reading:
    """Return the dataset in use; without one, draw an empty page and end the run."""
    reading = state.current()
    if reading is None:
        if error := visit.data_error:
            from core.text import markdown

            st.error(markdown(error), icon=":material/link_off:")
        st.title("No data open yet")
        st.write("Open your own file, or try a sample.")
        left, right, _ = st.columns([1, 1, 3])
        left.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")
        right.page_link("pages/home.py", label="Samples", icon=":material/stacks:")
        st.stop()
    return reading


def split(dataset: Dataset) -> float | str | None:
    """Ask, once for all pages, for the threshold or label that makes two classes of scores or sets; None for others."""
    if dataset.kind == "set":
        visit.label = state.split(dataset)
        return st.selectbox(
            "Label", dataset.classes, key="label", persist_state="session", format_func=shorten, width=280,
            help="Pages that need two classes compare annotations with and without this label.",
        )  # fmt: skip
    if dataset.kind != "score":
        return None
    if visit.threshold is None:
        visit.threshold = visit.threshold_opened = float(np.median(dataset.score))
    return st.number_input(
        "Threshold (splits scores into two classes)",
        key="threshold",
        persist_state="session",
        width=280,
        on_change=visit.drop,
        args=("threshold_opened",),
    )


def _say_of_the_split(scores: np.ndarray, view: Dataset) -> None:
    """Show the loss from splitting scores, the size of each side, and whether the threshold was chosen."""
    at_most, above = np.bincount(view.answer, minlength=2)
    at = exact(visit.threshold)
    if not (at_most and above):
        low, high = exact(scores.min()), exact(scores.max())
        st.warning(
            f"Every score is {'at most' if at_most else 'above'} {at}, so this threshold does not split the "
            f"scores. Scores range from {low} to {high}.",
            icon=":material/warning:",
        )
        return
    said = f"Scores are split into two classes: {at_most:,} at or below {at}, and {above:,} above it."
    if visit.threshold_opened is not None:
        said += " By default, the threshold is the median of all scores. Change it to the value that matters to you."
    st.caption(f"{said} For results without a threshold, see Raters and Cases.")


def forget_split() -> None:
    """Clear a median that nobody chose, before a page asks for a threshold that may stay empty."""
    if visit.threshold_opened is not None and visit.threshold == visit.threshold_opened:
        visit.threshold = None
    del visit.threshold_opened


def class_view(dataset: Dataset) -> Dataset:
    """Return the dataset as single classes, with a line on what was done and left out; stops if none is left."""
    view, left_out = cached.class_view(dataset, split(dataset))
    if dataset.kind == "ranking":
        tied = f" {plural(left_out, 'ranking')} with a tied first choice {was_or_were(left_out)} left out."
        tied = tied if left_out else ""
        st.caption(f"First choices of {plural(view.n_annotations, 'ranking')}.{tied}")
    if dataset.kind == "score":
        _say_of_the_split(dataset.score, view)
    if view.n_annotations == 0:
        st.info("No annotation can be used: every ranking has a tied first choice.", icon=":material/block:")
        st.stop()
    return view


def plot(figure: go.Figure, key: str, alt: str, **options):
    """Draw a figure in the project's style, with a button for its image; larger in a presentation.

    Its title is text of the page, which the browser breaks where the screen ends; the image has it in the figure.
    """
    if title := figure.layout.title.text:
        st.html(f'<div class="figure-title">{html_text(unescape(title))}</div>')
    if presentation.on():
        figure = enlarge(figure, presentation.SCALE)
    return st.plotly_chart(drawn_once(figure), theme=None, config=_PLOT, key=key, alt=alt, **options)


def file_uploader(label: str, **options: Any) -> Any:
    """Draw a drop zone that refuses files above the user's size limit; see `st.file_uploader`."""
    who = sign_in.person()
    return st.file_uploader(label, max_upload_size=sign_in.upload_limit_mb(who) if who else None, **options)


def download(
    table: Table,
    label: str,
    name: str,
    key: str,
    n_rows: int | None = None,
    settings: dict | None = None,
    formats: Sequence[FileFormat] = (),
) -> None:
    """Draw the export of a figure's table as CSV, Excel or Parquet, written only on request.

    Excel has the settings on a second sheet and Parquet in its metadata. CSV stays a plain table that any spreadsheet
    opens, so its settings are a separate file.

    Parameters
    ----------
    table : DataFrame, or callable without arguments that makes it
    n_rows : int, optional
        Number of rows of a table that is not made yet.
    settings : dict, optional
        Settings of this table in addition to those of its page; a "model" is in the file name, too.
    formats : sequence of FileFormat
        Formats in addition to CSV, Excel and Parquet, without settings.
    """
    model = (settings or {}).get("model")
    about = provenance.exported(name, settings)
    rows = len(table) if isinstance(table, pd.DataFrame) else n_rows
    look_of = "primary" if formats else "tertiary"  # a table with formats of its own is what its page is for
    with st.popover(label, icon=":material/download:", type=look_of, key=f"{key}_formats"):
        own = ((one.ending, one.title, one.write, one.mime) for one in formats)
        plain = (tables.to_csv, *(one.write for one in formats))
        for ending, title, write, mime in (*_FORMATS, *own):
            if ending == "xlsx" and rows > tables.MOST_ROWS_XLSX:
                continue
            st.download_button(
                title,
                data=partial(_written, write, table, None if write in plain else about),
                file_name=provenance.file_name(name, ending, model),
                mime=mime,
                type="tertiary",
                on_click="ignore",
                key=f"{key}_{ending}",
            )
        st.download_button(
            "Settings",
            data=partial(_settings_file, about),
            file_name=provenance.file_name(f"{name}_settings", "json", model),
            mime="application/json",
            type="tertiary",
            on_click="ignore",
            key=f"{key}_settings",
            help="Settings of this export: data, filters, parameters, version and the command that reproduces it.",
        )


def _written(write: Callable[..., bytes], table: Table, about: Callable[[], dict] | None) -> bytes:
    frame = table if isinstance(table, pd.DataFrame) else table()
    return write(frame) if about is None else write(frame, about())


def _settings_file(about: Callable[[], dict]) -> bytes:
    return tables.to_json(about())


def open_case_table(
    frame: pd.DataFrame, key: str, shares: Sequence[str] = (), height: int = 420, config: dict | None = None
) -> None:
    """Draw a table of cases; a click on a row opens the case. First column: ids; ``shares`` run from 0 to 1."""
    chosen = st.dataframe(
        frame,
        hide_index=True,
        height=min(height, 36 * (len(frame) + 1) + 2),
        on_select="rerun",
        selection_mode="single-row",
        column_config=columns.shares(*shares) | (config or {}),
        placeholder="–",
        key=key,
    )
    if chosen.selection.rows:
        visit.case = frame["case"].iloc[chosen.selection.rows[0]]
        st.switch_page("pages/cases.py")


def explained(term: str | Method) -> str:
    """Return the help of a term or a method, with a link to the documentation in the app."""
    return f"{methods.explained(term)}\n\n[Learn more]({documentation.address(documentation.page_of(term))})"


def kinds(place: DeltaGenerator, label: str, counts: Mapping[str, int], key: str, **how: Any) -> list[str]:
    """Draw one chip per kind of row with its number of rows, the most frequent first; return the chosen kinds.

    Parameters
    ----------
    place : DeltaGenerator
    label : str
    counts : mapping of str to int
        Number of rows by kind.
    key : str
    **how
        Further arguments of `st.pills`.
    """
    ordered = sorted(counts, key=lambda kind: (-counts[kind], kind))
    how = {"format_func": lambda kind: f"{kind} ({counts[kind]:,})", "wrap": True} | how
    return list(place.pills(label, ordered, selection_mode="multi", key=key, **how))


def heading(text: str, term: str | Method | None = None) -> None:
    """Draw a heading of a part of a page, with the help icon of a term of the glossary."""
    st.subheader(text, help=explained(term) if term else None, anchor=False)


def chips(dataset: Dataset, annotations: Sequence[int], colours: dict[int, str], hide_names: bool) -> None:
    """Draw each different annotation, the most frequent first, with the number and names of its raters."""
    alike: dict[str, list[str]] = {}
    for place, annotation in enumerate(annotations, 1):
        who = f"Rater {place}" if hide_names else dataset.raters[dataset.rater[annotation]]
        alike.setdefault(_said(dataset, annotation, colours), []).append(who)
    most = max((len(names) for names in alike.values()), default=0)
    lines = []
    for body, names in sorted(alike.items(), key=lambda entry: -len(entry[1])):
        width = f'<span class="share"><span style="width:{percent(len(names) / most, rounded=True)}"></span></span>'
        count = f'<span class="count">{len(names):,}</span>{width}' if most > 1 else ""
        lines.append(f'<div class="chips">{count}{body}{_who(names, dataset.raters_identified or hide_names)}</div>')
    if dataset.kind != "set" and any(len(block) > 1 for one in annotations for block in dataset.blocks_of(one)):
        lines.append('<div class="chips"><span class="note">dashed: tied</span></div>')
    st.html("".join(lines))


def _said(dataset: Dataset, annotation: int, colours: dict[int, str]) -> str:
    """One annotation: blocks of tied classes together, first choice first."""
    theme = look.theme()
    if dataset.kind == "score":
        score = f"<span>{exact(dataset.score[annotation])}</span>"
        return f'<span class="block first" style="--chip:{theme.accent}">{score}</span>'
    if dataset.kind == "set":
        names = "".join(f"<span>{html_text(dataset.classes[code])}</span>" for code in dataset.blocks_of(annotation)[0])
        return f'<span class="block" style="--chip:{theme.rest}">{names}</span>'
    blocks = []
    for rank, block in enumerate(dataset.blocks_of(annotation)):
        names = "".join(f"<span>{html_text(dataset.classes[code])}</span>" for code in block)
        colour = colours.get(block[0], theme.rest)
        coloured = rank == 0 or block[0] in colours
        style = f'class="block{" first" * coloured}" style="--chip:{_escape(colour)}"'
        blocks.append(f"<span {style}>{names}</span>")
    return blocks[0] + "".join(f'<span class="next"><span class="then">›</span>{one}</span>' for one in blocks[1:])


def _who(names: list[str], identified: bool) -> str:
    """Names of raters in their order; beyond a few they unfold."""
    if not identified:
        return ""
    names = [name if n == 1 else f"{name} ({n:,} times)" for name, n in Counter(names).items()]
    few, rest = names[:_MOST_WHO], names[_MOST_WHO:]
    if not rest:
        return f'<span class="who">{html_text(", ".join(few))}</span>'
    return (
        f'<details class="who"><summary>{html_text(", ".join(few[:2]))} and {len(names) - 2:,} more</summary>'
        f"{html_text(', '.join(names[2:]))}</details>"
    )


def tabs(names: Sequence[str], key: str) -> Sequence:
    """Tabs of which the open one stays open while the page waits for a job and does not draw them.

    Parameters
    ----------
    names : sequence of str
    key : str
        Key in the session's state for the name of the open tab.
    """
    opened = f"{key}-open"
    if key not in visit.choice and visit.choice[opened] in names:
        visit.choice[key] = visit.choice[opened]
    found = st.tabs(names, key=key, on_change="rerun")
    visit.choice[opened] = visit.choice[key]
    return found


def open_tab(key: str, name: str) -> None:
    """Have a tab open when the page with these `tabs` is drawn next."""
    del visit.choice[key]
    visit.choice[f"{key}-open"] = name
