"""One's own opinion: a class, or a ranking with ties, from the closed list with search; confidence, note, reason."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import InputError
from core.review.opinions import REASONS, Opinion
from core.text import markdown, shorten

MOST_BUTTONS = 9
UNDETERMINED = Opinion()


def ask(dataset: Dataset, key: str, *, now: Opinion | None = None) -> Opinion | None:
    """The opinion as it stands on screen; None while nothing is chosen.

    Classes are buttons with the keys 1 to 9 where there are few, else a search field; a choice adds to the ranking.
    """
    places = f"places-{key}"
    if places not in st.session_state:
        st.session_state[places] = [list(block) for block in now.blocks] if now is not None else []
    blocks: list[list[str]] = st.session_state[places]
    cannot = st.toggle("It cannot be determined", key=f"cannot-{key}")
    if cannot:
        return UNDETERMINED
    tie = st.segmented_control(
        "The next class is", ["next", "tied"], default="next", required=True, key=f"tie-{key}",
        format_func={"next": "the next choice", "tied": "tied with the last one"}.get, disabled=not blocks,
    )  # fmt: skip
    named = {name for block in blocks for name in block}
    left = [name for name in dataset.classes if name not in named]
    if dataset.n_classes <= MOST_BUTTONS:
        with st.container(horizontal=True):
            for number, name in enumerate(dataset.classes, 1):
                st.button(
                    f"{number} · {markdown(shorten(name, 40))}", disabled=name in named, shortcut=str(number),
                    on_click=_add, args=(places, name, tie), key=f"class-{number}-{key}",
                )  # fmt: skip
    else:
        st.selectbox(
            "Find a class", left, index=None, placeholder="Type a part of its name", key=f"find-{key}-{len(named)}",
            on_change=_add_found, args=(places, f"find-{key}-{len(named)}", tie),
        )  # fmt: skip
    if not blocks:
        st.caption("First choice first. One class is enough.")
        return None
    _chosen(blocks, places, key)
    try:
        return Opinion.of_class(blocks[0][0]) if blocks == [[blocks[0][0]]] else Opinion.of_ranking(blocks)
    except InputError as error:
        st.error(markdown(error))
        return None


def remarks(key: str) -> dict:
    """Confidence, reason and note."""
    left, right = st.columns(2)
    confidence = left.select_slider(
        "How sure are you?", [None, 0.25, 0.5, 0.75, 0.9, 1.0], key=f"confidence-{key}",
        format_func=lambda value: "not said" if value is None else f"{value:.0%}",
    )  # fmt: skip
    reason = right.selectbox(
        "Reason", ["", *REASONS], format_func=lambda name: REASONS.get(name, "none"), key=f"reason-{key}"
    )
    note = st.text_area("Note", key=f"note-{key}", height=68, max_chars=10_000)
    return {"confidence": confidence, "reason": reason, "note": note}


def _chosen(blocks: list[list[str]], places: str, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        words = " › ".join(" = ".join(markdown(name) for name in block) for block in blocks)
        st.markdown(f"**{words}**", width="content")
        st.button("Take the last one out", type="tertiary", icon=":material/backspace:", shortcut="Backspace",
                  on_click=_take_out, args=(places,), key=f"out-{key}")  # fmt: skip


def _add(places: str, name: str, tie: str) -> None:
    blocks = st.session_state[places]
    if tie == "tied" and blocks:
        blocks[-1].append(name)
    else:
        blocks.append([name])


def _add_found(places: str, find: str, tie: str) -> None:
    if name := st.session_state.get(find):
        _add(places, name, tie)


def _take_out(places: str) -> None:
    blocks = st.session_state[places]
    if blocks:
        blocks[-1].pop()
        if not blocks[-1]:
            blocks.pop()
