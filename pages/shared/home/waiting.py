"""What waits in all data for who is here, and what of it that they assigned others have not done in time."""

import streamlit as st

from core.errors import PluralityError
from core.ingest.samples import SAMPLES
from core.review.assignments import Overdue, due_words, is_overdue
from core.review.waiting import Waiting, overdue_of, waiting_for
from core.text import markdown, plural, shorten
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation, state, store_away, widgets

MOST = 8


def show() -> None:
    """Draw a line for each task that waits, the first due at the top; draws nothing if there is none."""
    person = visit.reviewer
    if not person or presentation.on() or not access.there_are_reviews():
        return
    try:
        found = waiting_for(access.store(), person, access.my_groups())
        late = overdue_of(access.store(), person, access.progress_of)
    except PluralityError as error:
        store_away.show(error)
        return
    if not found and not late:
        return
    names = {sample.name: sample.title for sample in SAMPLES} | {entry.digest: entry.name for entry in cached.kept()}
    # No headings: the page's comes after.
    if found:
        n_late = sum(is_overdue(one.due) for one in found)
        with st.container(border=True, key="waiting"):
            st.markdown(f"**Waiting for you{f': {n_late:,} overdue' if n_late else ''}**")
            for one in found[:MOST]:
                _line(one, _name(one.dataset, names))
            _more(len(found))
    if late:
        with st.container(border=True, key="overdue"):
            st.markdown(f"**Assigned by you: {len(late):,} overdue**")
            for each in late[:MOST]:
                _late(each, _name(each.assignment.dataset, names))
            _more(len(late))


def _name(dataset: str, names: dict[str, str]) -> str:
    address = access.address_of(dataset)
    return names.get(address, address)


def _more(n: int) -> None:
    if n > MOST:
        st.caption(f"{plural(n - MOST, 'more', 'more')} on the Review pages of the datasets.")


def _line(one: Waiting, name: str) -> None:
    what = (
        f"{plural(len(one.left), 'second opinion')} requested by {markdown(shorten(one.by, 60))}"
        if one.kind == "second_opinion"
        else f"{markdown(shorten(one.title, 60))}, assigned by {markdown(shorten(one.by, 40))} · "
        f"{one.total - len(one.left)} of {plural(one.total, 'case')} done"
    )
    due = due_words(one.due)
    due = f" · :red[{due}]" if is_overdue(one.due) else f" · {due}" if due else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{markdown(shorten(name, 50))}**  \n:small[{what}{due}]", width="stretch")
        st.button("Review", key=f"waits-{one.dataset}-{one.kind}-{one.at}", on_click=_go, args=(one.dataset,))


def _late(one: Overdue, name: str) -> None:
    """Draw an overdue assignment: whose it is, and how many cases each person has left."""
    given = one.assignment
    total = plural(len(given.cases), "case")
    left = [f"{markdown(shorten(person, 40))}: {n:,} of {total} left" for person, n in list(one.left.items())[:MOST]]
    if len(one.left) > MOST:
        left.append(f"{plural(len(one.left) - MOST, 'more person has', 'more people have')} cases left")
    if given.group:
        known = "" if one.members_known else " (only members who have started are shown)"
        left.insert(0, f"{total} assigned to the group {markdown(shorten(given.whom, 40))}{known}")
    what = f"{markdown(shorten(given.title, 60))} · :red[{due_words(given.due)}] · {', '.join(left)}"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{markdown(shorten(name, 50))}**  \n:small[{what}]", width="stretch")
        key = f"late-{given.dataset}-{given.number}"
        st.button("Assignments", key=key, on_click=_go, args=(given.dataset, "Assignments"))


def _go(dataset: str, tab: str = "Review") -> None:
    state.use(access.address_of(dataset))
    visit.go_to = "review"
    widgets.open_tab("review_tabs", tab)
