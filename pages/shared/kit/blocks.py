"""Blocks of an answer on a page: words, figures, tables, and what can be chosen."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import fields
from functools import singledispatch
from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st

from core.analyses.base import AnalysisPart
from core.analyses.blocks import (
    Badges,
    Block,
    Chosen,
    Control,
    Details,
    Download,
    Figure,
    Finding,
    Grid,
    Heading,
    KeyFigure,
    Name,
    OnPage,
    Remark,
    Row,
    Selector,
    Slot,
    Span,
    Strong,
    Words,
)
from core.analyses.schema import SHARES, Column, columns_in
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.runtime.jobs import Job
from core.text import markdown
from pages.shared.cache import analyses, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import columns, job_progress, presentation, widgets
from pages.shared.kit import style as look

Drawn = Mapping[str, Callable[[Any], Any]]
_WIDTH, _NUMBER_WIDTH = 320, 220
_NARROW_PICTURE = 120  # pixels, if a table has three
_FORMATS = {
    "coefficient": columns.TWO,
    "rate": columns.PERCENT,
    "difference": columns.THREE,
    "error": columns.THREE,
    "signed": columns.SIGNED,
    "reliability": "%g",
    "tenths": "%.1f",
    "amount": "localized",
}
_ICONS = {"impossible": "block", "apart": "call_split", "info": "info", "warning": "warning"}
_COLOURS = {"warning": ("warning", "orange"), "failed": ("close", "red")}


def answer(part: AnalysisPart, dataset: Dataset, after: Drawn | None = None, needed: Any = None) -> None:
    """Draw a part of an analysis: its controls, its result and its sentences.

    Parameters
    ----------
    part : AnalysisPart
    dataset : Dataset
    after : mapping of str to callable, optional
        By the key of a figure: it can be selected from, and the callable takes what was selected. By the key of a
        download: what stands before it; the callable takes the settings of its table and may return further ones. By
        the key of a slot: what is there; the callable takes what the slot is about.
        By the key of a table: what draws it in its place.
    needed : object, optional
        Result that the part needs, which is then not computed here.
    """
    verdict = part.applicable(dataset)
    if not verdict.possible:
        st.info(f"Not available: {markdown(verdict.reason)}.", icon=":material/block:")
        return
    options = controls(part)
    if needed is None:
        found = result_of(part, dataset, options)
        if found is not None:
            show(part.blocks(found, dataset, options), after)
        return
    try:
        found = part.answer(dataset, options, needed)
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    show(part.blocks(found, dataset, options), after)


def result_of(part: AnalysisPart, dataset: Dataset, options: Any = None, **known: Any) -> Any:
    """Return the result of a part; None while it is computed, or, with the reason on screen, if it cannot be.

    Parameters
    ----------
    part : AnalysisPart
    dataset : Dataset
    options : object, optional
        Options of the part. Names of raters are those of ``dataset.coded`` if the part is work.
    **known
        Results that the part would compute otherwise, with the names of ``dataset.coded``.
    """
    options, work = part.resolve() if options is None else options, part.work
    if work is None:
        try:
            return analyses.result(part, dataset, options)
        except PluralityError as error:
            st.info(markdown(error), icon=":material/block:")
            return None
    content = dataset.coded

    def compute(job: Job) -> Any:
        return cached.run(job, part.function, content, content, options, **known, seconds=work.seconds(content))

    key = (dataset.content_digest, part.compute, options)
    return job_progress.result_of(key, work.title, compute, work.lane, dataset)


def controls(part: AnalysisPart) -> Any:
    """Draw the controls of a part, and return its options as chosen."""
    given, numbers = {}, None
    for field in fields(part.options):
        option = field.metadata.get("option")
        if option is None or not option.key:
            continue
        if option.flag or option.choices:
            numbers = None  # numbers that follow each other are side by side
        if option.flag:
            given[field.name] = st.toggle(option.label, field.default, key=option.key, persist_state="session")
            continue
        if option.look == "side by side":
            given[field.name] = st.segmented_control(
                option.label, option.choices, default=field.default, required=True, format_func=option.titles,
                key=option.key, persist_state="session",
            )  # fmt: skip
            continue
        if option.look == "radio":
            given[field.name] = st.radio(
                option.label, option.choices, index=option.choices.index(field.default), format_func=option.titles,
                key=option.key, persist_state="session",
            )  # fmt: skip
            continue
        if not option.choices:
            numbers = numbers or st.container(horizontal=True)
            step = 1 if option.kind == "integer" else 0.05
            given[field.name] = numbers.number_input(
                option.label, min_value=type(step)(option.low), value=field.default, step=step, key=option.key,
                help=option.help or None, width=_NUMBER_WIDTH, persist_state="session",
            )  # fmt: skip
            continue
        given[field.name] = st.selectbox(
            option.label, option.choices, index=option.choices.index(field.default), format_func=option.titles,
            key=option.key, help=widgets.explained(option.term) if option.term else None, width=_WIDTH,
            persist_state="session",
        )  # fmt: skip
    return part.resolve(**given)


def show(blocks: Iterable[Block], after: Drawn | None = None) -> None:
    """Draw blocks one below the other; downloads that follow each other are side by side."""
    for downloads, group in groupby(blocks, lambda block: isinstance(block, Download)):
        several = list(group)
        with st.container(horizontal=True) if downloads and len(several) > 1 else nullcontext():
            for block in several:
                _draw(block, after or {})


def said(spans: Iterable[Span]) -> str:
    """Parts of a paragraph as markdown."""
    return "".join(_span(span) for span in spans)


def _span(span: Span) -> str:
    match span:
        case Name():
            return markdown(span.text)
        case Strong():
            return f"**{_span(span.text)}**"
        case Remark():
            return f"*{_span(span.text)}.*"
        case OnPage():
            return span.text
        case _:
            return span


@singledispatch
def _draw(block: Block, after: Drawn) -> None:
    raise TypeError(f"Could not render a block of type {type(block).__name__} on a page. Add a renderer for this type.")


@_draw.register
def _draw_words(block: Words, after: Drawn) -> None:
    text, explained = said(block.spans), widgets.explained(block.term) if block.term else None
    if block.kind in _ICONS:
        box = st.warning if block.kind == "warning" else st.info
        box(text, icon=f":material/{block.icon or _ICONS[block.kind]}:")
        return
    if block.icon:
        text = f":material/{block.icon}: {text}"
    match block.kind:
        case "note":
            st.caption(text, help=explained)
        case "legend":
            if not presentation.on():  # which has no help to open
                st.caption("How to read this", help="\n\n".join(filter(None, (text, explained))))
        case "code":
            st.code(block.plain, language=None, wrap_lines=True)
        case _:
            st.markdown(text, help=explained)


@_draw.register
def _draw_finding(block: Finding, after: Drawn) -> None:
    st.subheader(said([block.text]), anchor=False, help=widgets.explained(block.term) if block.term else None)


@_draw.register
def _draw_slot(block: Slot, after: Drawn) -> None:
    if block.key in after:
        after[block.key](block.about)


@_draw.register
def _draw_heading(block: Heading, after: Drawn) -> None:
    widgets.heading(block.text, block.term or None)


@_draw.register
def _draw_badges(block: Badges, after: Drawn) -> None:
    with st.container(horizontal=True):
        for words, kind in block.items:
            icon, colour = _COLOURS[kind]
            st.badge(said(words), icon=f":material/{icon}:", color=colour)


@_draw.register
def _draw_figure(block: Figure, after: Drawn) -> None:
    selected = after.get(block.key)
    more = {"on_select": "rerun", "selection_mode": "points"} if selected else {}
    found = widgets.plot(block.draw(look.theme()), block.key, block.alt, **more)
    if selected:
        selected(found)


@_draw.register
def _draw_grid(block: Grid, after: Drawn) -> None:
    if drawn := after.get(block.key):
        drawn(block)
        return
    if block.opens_case:
        table = columns.in_percent(block.table, _shares(block.columns))
        config = {column.name: _of_case(column, block) for column in block.columns}
        widgets.open_case_table(table, block.key, height=block.height or 420, config=config)
        return
    if block.names_rows:  # by place: a class may be called as the first column
        table = block.table.iloc[:, 1:].set_axis(block.table.iloc[:, 0].to_numpy())
        st.dataframe(table, placeholder="–", key=block.key)
        return
    shown, config = _with_pictures(block.table, block.columns, block.digits)
    more: dict[str, Any] = {"on_select": "rerun", "selection_mode": "single-row"} if block.selects else {}
    if block.selects == "first":
        more["selection_default"] = {"selection": {"rows": [0]}}
    if block.height is not None:
        more["height"] = min(block.height, 35 * (len(shown) + 1) + 3)
    st.dataframe(shown, hide_index=True, column_config=config, placeholder="–", key=block.key, **more)


@_draw.register
def _draw_chosen(block: Chosen, after: Drawn) -> None:
    chosen = visit.other[block.grid.key]
    rows = chosen["selection"]["rows"] if chosen else []
    row = rows[0] if rows else 0 if block.grid.selects == "first" else None
    if row is None or row >= len(block.grid.table):  # the table may have become shorter
        return
    if block.case is None:
        show(block.then(row), after)
        return
    with st.container(border=True):
        show(block.then(row), after)
        if st.button("Open the case", icon=":material/open_in_new:", key=f"open-{block.grid.key}"):
            visit.case = block.case(row)
            st.switch_page("pages/cases.py")


def _with_pictures(table: pd.DataFrame, schema: Iterable[Column], digits: int) -> tuple[pd.DataFrame, dict]:
    schema = columns_in(table, schema)
    pictured = [one for one in schema if one.picture]
    width: dict[str, int] = {"width": _NARROW_PICTURE} if len(pictured) > 2 else {}
    table = table[[one.name for one in schema]] if schema else table
    table = columns.rounded(table, (one.name for one in schema if one.unit == "count"))
    config = {column.name: None if column.hidden else column_config(column, digits) for column in schema}
    scores = [one for one in pictured if one.unit == "score"]  # each on its own axis, others on one up to 1
    for group in ([one for one in pictured if one.unit != "score"], *([one] for one in scores)):
        if group:
            ends = [(one.name, one.low, one.high, one.picture) for one in group]
            table, more = columns.with_pictures(table, *ends, difference=group[0].unit == "score", **width)
            config |= more
    return columns.in_percent(table, _shares(schema)), config


def _shares(schema: Iterable[Column]) -> list[str]:
    return [column.name for column in schema if column.unit in SHARES]


def _of_case(column: Column, block: Grid):
    """How a column of a table of cases looks: words are as wide as the longest of them."""
    if column.hidden:
        return None
    width = columns.SHORT_BAR if column.unit in SHARES else None
    width = columns.width_of(block.table[column.name], column.shown) if column.unit == "text" else width
    return column_config(column, block.digits, **({"width": width} if width else {}))


def column_config(column: Column, digits: int = 2, **own: Any):
    """How a column looks on screen; ``own`` are a label, a width or a help of its own."""
    about = {"label": column.shown, "help": column.help or None} | own
    if column.unit == "count":
        return st.column_config.NumberColumn(**about, **columns.COUNT)
    if column.unit in ("share", "probability"):
        width = max(columns.BAR, columns.width_of((), column.shown))
        return st.column_config.ProgressColumn(
            **({"width": width} | about), format=columns.PERCENT, min_value=0, max_value=1
        )
    if column.unit == "text":
        return st.column_config.Column(**about)
    written = _FORMATS.get(column.unit, f"%.{digits}f") if column.digits is None else f"%.{column.digits}f"
    return st.column_config.NumberColumn(**about, format=written)


@_draw.register
def _draw_metric(block: KeyFigure, after: Drawn) -> None:
    st.metric(block.label, block.value, border=True)
    if block.caption:
        st.caption(markdown(block.caption))


@_draw.register
def _draw_download(block: Download, after: Drawn) -> None:
    before = after.get(block.key)
    more = before(block.settings) if before else None
    settings = {**block.settings, **(more or {})} if block.settings else None
    widgets.download(block.table, block.label, block.name, block.key, block.n_rows, settings, block.formats)


@_draw.register
def _draw_details(block: Details, after: Drawn) -> None:
    with st.expander(said([block.title]), expanded=block.unfolded):
        show(block.blocks, after)


@_draw.register
def _draw_row(block: Row, after: Drawn) -> None:
    for place, stack in zip(
        st.columns([stack.width for stack in block.stacks], gap=block.gap), block.stacks, strict=True
    ):
        with place:
            show(stack.blocks, after)


@_draw.register
def _draw_selector(block: Selector, after: Drawn) -> None:
    places = st.columns(len(block.controls))
    show(block.then(*(_picked(place, one) for place, one in zip(places, block.controls, strict=True))), after)


def _picked(place: Any, one: Control) -> Any:
    """Return the chosen value, or the first one; a list if several can be chosen."""
    values, first = list(one.values), one.values[one.first]
    how: dict[str, Any] = {"key": one.key, "help": widgets.explained(one.term) if one.term else None}
    if one.look == "slider":
        return place.select_slider(one.label, values, value=first, **how) if len(values) > 1 else first
    how |= {"format_func": dict(zip(values, one.titles, strict=True)).get, "persist_state": "session"}
    if one.most > 1:
        return place.multiselect(one.label, values, one.opens, max_selections=one.most, **how) or one.opens[:1]
    if one.look == "side by side":
        return place.segmented_control(one.label, values, default=first, required=True, **how)
    return place.selectbox(one.label, values, index=one.first, **how)
