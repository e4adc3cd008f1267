"""What waits for who is here in all data: cases assigned to them, and second opinions asked of them."""

import streamlit as st

from core.errors import PluralityError
from core.ingest.samples import SAMPLES
from core.review.assignments import due_words, is_overdue
from core.review.waiting import Waiting, waiting_for
from core.text import markdown, plural, shorten
from pages.shared.cache import access
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation, state, store_away

MOST = 8


def show() -> None:
    """A line for each, what is due first at the top; nothing where nothing waits."""
    person = st.session_state.get("reviewer")
    if not person or presentation.on() or not access.there_are_reviews():
        return
    try:
        found = waiting_for(access.store(), person, access.my_groups())
    except PluralityError as error:
        store_away.show(error)
        return
    if not found:
        return
    names = {sample.name: sample.title for sample in SAMPLES} | {entry.digest: entry.name for entry in cached.kept()}
    late = sum(is_overdue(one.due) for one in found)
    with st.container(border=True, key="waiting"):
        st.markdown(f"**Waiting for you{f': {late} overdue' if late else ''}**")  # no heading: the page's comes after
        for one in found[:MOST]:
            address = access.address_of(one.dataset)
            _line(one, names.get(address, address))
        if len(found) > MOST:
            st.caption(f"{plural(len(found) - MOST, 'more', 'more')} on the Review pages of their data.")


def _line(one: Waiting, name: str) -> None:
    what = (
        f"{plural(len(one.left), 'second opinion')}, asked by {markdown(shorten(one.by, 60))}"
        if one.kind == "second_opinion"
        else f"{markdown(shorten(one.title, 60))}, assigned by {markdown(shorten(one.by, 40))} · "
        f"{one.total - len(one.left)} of {plural(one.total, 'case')} done"
    )
    due = due_words(one.due)
    due = f" · :red[{due}]" if is_overdue(one.due) else f" · {due}" if due else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{markdown(shorten(name, 50))}**  \n:small[{what}{due}]", width="stretch")
        st.button("Review", key=f"waits-{one.dataset}-{one.kind}-{one.at}", on_click=_go, args=(one.dataset,))


def _go(dataset: str) -> None:
    state.use(access.address_of(dataset))
    st.session_state["go_to"] = "review"
