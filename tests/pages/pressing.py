"""Somebody who presses and changes every widget that a page draws for them, of whatever kind it is."""

import json
import re
from collections.abc import Callable, Iterator

from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1 import element_tree as tree

TEXT = "https://evil.example/{case}"  # as good as a name as it is as the address of a case
PREDICTIONS = b"case,class,score\nc0,x,1\nc1,y,1\n"
FOR_EVERYBODY = {"sign_out"}  # ends the session of whoever presses it, and is tested where signing in is
MOST_RUNS = 300
_SELECTED = {"selection": {"rows": [0], "columns": [], "cells": [], "points": [], "point_indices": [0]}}


def walk(opened: Callable[[], AppTest], page: str, data: str) -> Iterator[tuple[AppTest, list[str]]]:
    """Touch each widget that a page ever draws, once; gives the page and what was touched, after each run.

    Buttons are pressed one by one. Values are all changed in one run, as a browser may send them, so that each is
    changed whatever the others bring about.

    Parameters
    ----------
    opened : callable
        Opens the page anew.
    page : str
    data : str
        Address of the data; where a press leaves them or the page, the page is opened anew.
    """
    done: set[str] = set()
    app = opened()
    where = app._finished_page_script_hash
    for _ in range(MOST_RUNS):
        left = {name: node for name, node in drawn(app).items() if _kind_of(node) not in done | FOR_EVERYBODY}
        touched = _next(left)
        if touched:
            keys = [_kind_of(node) for node in touched.values()]
            app._run(_states(app, touched))
        else:
            app = opened()
            part = next((one for one in _parts(app).items() if one[0] not in done), None)
            if part is None:
                return
            keys = [part[0]]
            app.session_state[part[1][0]] = part[1][1]
            app.run()
        done |= set(keys)
        assert not app.exception, (keys, [entry.value for entry in app.exception])
        yield app, keys
        there = "data" in app.session_state and app.session_state["data"] == data
        if not there or app._finished_page_script_hash != where:
            app = opened()
    raise AssertionError(f"{page} goes on drawing other widgets")


def _kind_of(node: tree.Node) -> str:
    """The key of a widget without what differs from session to session and from job to job."""
    return re.sub(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,12})*|-?\d{6,}", "*", node.key or node.proto.id)


def drawn(app: AppTest) -> dict[str, tree.Node]:
    """Every element and block of a page that a browser may send the state of, by its id."""
    found = {getattr(node.proto, "id", ""): node for node in app._tree if getattr(node, "proto", None) is not None}
    return {name: node for name, node in found.items() if name and not getattr(node.proto, "disabled", False)}


def _next(left: dict[str, tree.Node]) -> dict[str, tree.Node]:
    """What is touched at once: a button or an upload, all downloads, or all values."""
    left = {name: node for name, node in left.items() if not isinstance(node, tree.Block)}
    for name, node in left.items():
        if isinstance(node, tree.Button | tree.FileUploader):
            return {name: node}
    return {name: node for name, node in left.items() if isinstance(node, tree.DownloadButton)} or left


def _parts(app: AppTest) -> dict[str, tuple[str, object]]:
    """What can be looked at of a page by itself, tabs and parts that open, with the state that shows it."""
    found = {}
    for node in drawn(app).values():
        if isinstance(node, tree.Block):
            tabs = [tab.label for tab in node.children.values() if isinstance(tab, tree.Tab)]
            found |= {f"{_kind_of(node)} {value}": (node.key, value) for value in tabs or [True]}
    return found


def _states(app: AppTest, touched: dict[str, tree.Node]):
    """What the browser sends: other values of what is touched, those on screen of all else."""
    states = app._tree.get_widget_states()
    for one in [one for one in states.widgets if one.id in touched]:
        states.widgets.remove(one)
    states.widgets.extend(_touched(app, node) for node in touched.values())
    return states


def _touched(app: AppTest, node) -> WidgetState:
    """The state of a widget that was pressed, or has another value.

    Raises
    ------
    NotImplementedError
        It is of a kind for which nothing is written here.
    """
    kind = type(node.proto).__name__
    if kind in ("Button", "DownloadButton"):
        return WidgetState(id=node.proto.id, trigger_value=True)
    if kind in ("TextInput", "TextArea"):
        return WidgetState(id=node.proto.id, string_value=TEXT)
    if kind == "FileUploader":
        node.upload("model.csv", PREDICTIONS, "text/csv")
        return node._widget_state
    if kind == "Dataframe":
        editable = node.proto.editing_mode != node.proto.READ_ONLY
        edited = {"edited_rows": {0: dict.fromkeys(node.value, TEXT)}, "added_rows": [], "deleted_rows": []}
        return WidgetState(id=node.proto.id, string_value=json.dumps(edited if editable else _SELECTED))
    if kind == "PlotlyChart":
        return WidgetState(id=node.proto.id, string_value=json.dumps(_SELECTED))
    if kind == "BidiComponent":
        return WidgetState(id=node.proto.id, json_value=json.dumps({"key": "1", "pressed": TEXT}))
    if not isinstance(node, tree.Widget):
        raise NotImplementedError(kind)
    return _changed(node, node._widget_state)


def _changed(node: tree.Widget, state: WidgetState) -> WidgetState:
    """The state on screen with another value in it."""
    if isinstance(node, tree.Checkbox | tree.Toggle):
        state.bool_value = not state.bool_value
    elif isinstance(node, tree.Selectbox | tree.Radio):
        state.string_value = next((one for one in node.options if one != state.string_value), state.string_value)
    elif isinstance(node, tree.NumberInput):
        higher = state.double_value + (node.step or 1)
        state.double_value = higher if node.max is None or higher <= node.max else node.max
    elif isinstance(node, tree.Slider):
        state.double_array_value.data[:] = [node.proto.max]
    elif isinstance(node, tree.DateInput):
        state.string_array_value.data[:] = ["2031/01/02"]
    elif isinstance(node, tree.Multiselect | tree.ButtonGroup | tree.SelectSlider):
        said = list(state.string_array_value.data)
        rest = [one for one in node.options if one not in said]
        several = isinstance(node, tree.Multiselect) or not getattr(node, "_is_single_select", True)
        state.string_array_value.data[:] = [*said, *rest[:1]] if several else rest[:1] or said
    else:
        raise NotImplementedError(type(node).__name__)
    return state
