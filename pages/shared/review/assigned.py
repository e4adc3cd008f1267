"""Cases that somebody gives to others: what waits for who reviews, the form to give them, and how far everybody is."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.errors import PluralityError
from core.people_list import normal_name
from core.review.assignments import Assignment, assignment_table, divided, due_words, is_overdue
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import Queued
from core.review.waiting import Waiting, waiting_in
from core.text import markdown, plural, shorten
from pages.shared.cache import access, sign_in, visit
from pages.shared.kit import widgets

_COLUMNS = {
    "at": "assigned (UTC)", "by": "by", "whom": "to", "title": "queue", "n_cases": "cases", "n_done": "done",
    "done_by": "by whom", "due": "due", "days_overdue": "days overdue", "withdrawn": "withdrawn",
}  # fmt: skip


def waits(desk: Desk) -> list[Waiting]:
    """Return the assignments of the current reviewer, the first due first."""
    return waiting_in(desk.store, desk.dataset.digest, desk.reviewer, access.my_groups())


def words(one: Waiting) -> str:
    """One assignment in a line of markdown."""
    done = one.total - len(one.left)
    due = due_words(one.due)
    due = f" · :red[{due}]" if is_overdue(one.due) else f" · {due}" if due else ""
    return (
        f"**{markdown(shorten(one.title, 60))}**, assigned by {markdown(shorten(one.by, 40))} · {done} of "
        f"{plural(one.total, 'case')} done{due}"
    )


def resumable(desk: Desk, one: Waiting) -> str | None:
    """Return the id of the session in which these cases were begun and which has all that are left."""
    left = {case.case_id for case in one.left}
    for session in desk.sessions():
        if session.title == one.title and session.at >= one.at and left <= {case.case_id for case in session.cases}:
            return session.id
    return None


def form(desk: Desk, title: str, cases: Sequence[Queued], key: str) -> None:
    """Draw the form that assigns cases to others, for users who may; draws nothing for anybody else."""
    address = desk.dataset.digest
    if not cases or not access.may(address, change=True):
        return
    people, groups = access.recipients(address)
    with st.popover("Assign", icon=":material/person_add:", key=f"assigning-{key}"):
        st.multiselect(
            "To whom",
            [*people, *(f"group {group}" for group in groups)],
            key=f"assign_to-{key}",
            accept_new_options=not people,
            placeholder="People and groups" if people else "Names of the reviewers",
            help="The data must be shared with these people. Each member of a group reviews all cases."
            if people
            else "The names that these people use when they review.",
        )
        st.toggle("Divide the cases among the reviewers", key=f"assign_divide-{key}",
                  help="Each case goes to one reviewer. Members of a group get cases only if the "
                  "administrator has listed them.")  # fmt: skip
        st.date_input("Due", None, key=f"assign_due-{key}", help="Reviews are overdue after this day (UTC).")
        st.button(
            f"Assign {plural(len(cases), 'case')}",
            type="primary",
            key=f"assign-{key}",
            on_click=_assign,
            args=(desk, title, tuple(cases), key),
        )


@visit.error_in("review_error")
def _assign(desk: Desk, title: str, cases: tuple[Queued, ...], key: str) -> None:
    due, divide = visit.other[f"assign_due-{key}"], visit.flag[f"assign_divide-{key}"]
    whom = _recipients(desk, visit.choices[f"assign_to-{key}"], divide=divide)
    parts = divided(cases, len(whom)) if divide else [cases] * len(whom)
    given = [
        Assignment(
            dataset=desk.dataset.digest, by=desk.reviewer, whom=name, group=group, title=title, cases=part, due=due
        )
        for (name, group), part in zip(whom, parts, strict=True)
        if part
    ]
    for one in given:
        desk.store.assign(one, token=new_token())
    visit.choices[f"assign_to-{key}"] = []
    st.toast(f"{plural(len(cases), 'case')} assigned to {plural(len(given), 'recipient')}.")


def _recipients(desk: Desk, said: list[str], *, divide: bool) -> list[tuple[str, bool]]:
    """Names, and whether each is a group; of groups the members where cases are divided."""
    _, groups = access.recipients(desk.dataset.digest)
    found: dict[tuple[str, bool], None] = {}
    for one in said:
        name = " ".join(one.split())
        group = name.removeprefix("group ")
        if group == name or group not in groups:
            found[normal_name(name) if sign_in.is_on() else name, False] = None
        elif divide:
            members = access.members_of(group)
            if not members:
                raise PluralityError(
                    f"Could not divide the cases among the members of group {group}: only the identity provider has "
                    "the list of members. Choose people, or let each member review all cases."
                )
            found |= dict.fromkeys((member, False) for member in members)
        else:
            found[group, True] = None
    if not found:
        raise PluralityError("Could not assign the cases: no reviewer is chosen. Choose at least one.")
    return list(found)


def overview(desk: Desk) -> None:
    """All assignments of these data, for who may assign; of anybody else their own."""
    found = desk.store.assignments(desk.dataset.digest)
    if not found:
        st.info("No cases assigned yet. Choose cases in a new session on the Review tab and assign them there.",
                icon=":material/person_add:")  # fmt: skip
        return
    digest = desk.dataset.digest
    table = assignment_table(found, desk.store.trail(digest), access.progress_of(digest))
    late = int(table["overdue"].sum())
    st.markdown(f"{plural(len(found), 'assignment')}{f', **{late} overdue**' if late else ''}")
    st.dataframe(
        table, hide_index=True, key="assignments", column_order=list(_COLUMNS), column_config=dict(_COLUMNS.items())
    )
    if any(one.group for one in found):
        st.caption(_of_groups(table, all_members=access.may(digest, change=True)))
    widgets.download(table, "These assignments", "assignments", "assignments")
    standing = [one for one in found if not one.withdrawn]
    if not standing or not access.may(desk.dataset.digest, change=True):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Remove an assignment",
            [one.number for one in standing],
            index=None,
            format_func={one.number: _named(one) for one in standing}.get,
            key="assignment_back",
        )
        st.button("Withdraw", on_click=_withdraw, args=(desk,), key="withdraw")


def _of_groups(table: pd.DataFrame, *, all_members: bool) -> str:
    """Return the meaning of "done" for a group."""
    if not all_members:
        return "Each group member reviews all cases. The table shows only your progress."
    said = "Each group member reviews all cases. A case is done when every member has reviewed it."
    if table["n_done"].isna().any():
        said += " If only the identity provider has the list of members, the table shows only those who have started."
    return said


def _named(one: Assignment) -> str:
    return f"{one.whom}: {one.title}, {plural(len(one.cases), 'case')} ({due_words(one.due) or 'no due date'})"


def _withdraw(desk: Desk) -> None:
    number = visit.other["assignment_back"]
    if number is None:
        return
    with visit.error_in("review_error"):
        desk.store.withdraw(desk.dataset.digest, number, desk.reviewer, token=new_token())
