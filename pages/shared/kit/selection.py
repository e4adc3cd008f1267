"""Which annotations count: chosen in one dialog, said in one line on every page, kept under names to compare."""

from datetime import date

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection, days_of
from core.errors import PluralityError
from core.text import markdown, plural, shorten
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation, state


def button(dataset: Dataset) -> None:
    """Draw the button that opens the dialog and shows whether anything is left out."""
    chosen = state.selection()
    label = "Filter" if chosen.everything else "Change filters"
    if st.button(label, icon=":material/filter_alt:", type="tertiary", key="open_selection"):
        _dialog(dataset)


def line() -> None:
    """Draw the selection in force, above every page, with a button that removes it."""
    chosen = state.selection()
    whole = state.whole()
    if whole is None or chosen.everything:
        return
    now = state.current()
    if now is None or now is whole:
        return
    # A presentation shows no names, and a selection may be one of raters.
    words = (
        "A selection" if presentation.on() else markdown(_name_of(chosen) or shorten(chosen.words(whole.dataset), 160))
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/filter_alt: **{words}** · "
            f"{now.dataset.n_annotations:,} of {plural(whole.dataset.n_annotations, 'annotation')}",
            width="content",
        )
        st.button(
            "Clear filters", icon=":material/close:", type="tertiary", on_click=state.choose, args=(Selection(),),
            key="select_all",
        )  # fmt: skip


def machines_line() -> None:
    """Draw a line on whether AI raters are left out or count, too, with a button that changes it."""
    whole = state.whole()
    marked = state.marked_machines() if whole is not None else ()
    if not marked:
        return
    dataset = cached.open_dataset(visit.data).dataset
    n = sum(machine.name in dataset.raters for machine in marked)
    if not n:
        return
    out = bool(state.machines_left_out())
    if not out and not visit.machines_count:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        raters = plural(n, "AI rater", "AI raters")
        said = f"{raters} left out" if out else f"{raters} included as raters"
        if n_cases := dataset.n_cases - state.people_of(dataset).n_cases:
            said += f", and {plural(n_cases, 'case')} that only {'it' if n == 1 else 'they'} annotated"
        st.caption(f":material/smart_toy: {said}", width="content")
        label, icon = ("Include them", "group_add") if out else ("Leave them out", "group_remove")
        st.button(
            label, icon=f":material/{icon}:", type="tertiary", on_click=visit.set, kwargs={"machines_count": out},
            key="count_machines",
        )  # fmt: skip


def named() -> dict[str, Selection]:
    """Return the named selections of the dataset in use; everything comes first."""
    kept = access.ReadRight(visit.data).selections() if visit.data else {}
    return {"Everything": Selection()} | {name: Selection.from_text(text) for name, text in kept.items()}


def _name_of(chosen: Selection) -> str:
    """Return the name under which a selection is saved; empty if it is not."""
    kept = access.ReadRight(visit.data).selections()
    return next((name for name, text in kept.items() if text == chosen.to_text()), "")


def keep_as(name: str, chosen: Selection) -> None:
    """Save a selection under a name."""
    access.WriteRight(visit.data).add_selection(name, chosen.to_text())


@st.dialog("Filter annotations", width="medium")
def _dialog(dataset: Dataset) -> None:
    now = state.selection()
    with st.form("selection", border=False):
        raters = classes = groups = lowest = highest = None
        if dataset.raters_identified:
            raters = st.multiselect("Raters (none chosen: all)", dataset.raters, default=list(now.raters or ()))
        if dataset.kind != "score":
            classes = st.multiselect(
                "Cases annotated with any of these classes (none chosen: all cases)",
                dataset.classes,
                default=list(now.classes or ()),
            )
        else:
            left, right = st.columns(2)
            help_text = "Only cases with at least one score in this range. All scores of these cases are used."
            lowest = left.number_input("Cases with a score of at least (optional)", value=now.lowest, help=help_text)
            highest = right.number_input("and at most (optional)", value=now.highest)
        if dataset.case_group is not None:
            found = sorted(set(dataset.case_group))
            groups = st.multiselect("Groups of cases (none chosen: all)", found, default=list(now.groups or ()))
        days = days_of(dataset)
        left, right = st.columns(2)
        first = last = None
        if days is not None:
            first = left.date_input("From (first day)", _day(now.first_day) or days[0], *days)
            last = right.date_input("To (last day, included)", _day(now.last_day) or days[1], *days)
        most = int((dataset.case_ptr[1:] - dataset.case_ptr[:-1]).max(initial=1))
        least = left.number_input("Minimum number of annotations per case", 1, most, min(now.least or 1, most))
        at_most = right.number_input("Maximum number of annotations per case", 1, most, min(now.most or most, most))
        name = ""
        if access.may_change(visit.data):
            name = st.text_input("Name of this selection, to compare it with others (optional)", max_chars=40)
        if st.form_submit_button("Use this selection", type="primary"):
            chosen = Selection(
                raters=tuple(raters) if raters else None,
                classes=tuple(classes) if classes else None,
                groups=tuple(groups) if groups else None,
                first_day=first.isoformat() if days and first and first > days[0] else None,
                last_day=last.isoformat() if days and last and last < days[1] else None,
                least=int(least) if least > 1 else None,
                most=int(at_most) if at_most < most else None,
                lowest=lowest,
                highest=highest,
            )
            _use(dataset, chosen, name.strip())
    _saved(dataset)


def _saved(dataset: Dataset) -> None:
    """List the saved filters, each with buttons that open and delete it."""
    kept = {name: chosen for name, chosen in named().items() if not chosen.everything}
    if kept:
        st.markdown("**Saved filters**")
    for number, (name, chosen) in enumerate(kept.items()):
        with st.container(horizontal=True, vertical_alignment="center", key=f"saved_filter-{number}"):
            st.markdown(f"**{markdown(name)}**  \n{markdown(shorten(chosen.words(dataset), 90))}", width="stretch")
            if st.button("Open", key=f"named-{number}"):
                _use(dataset, chosen, "")
            if not access.may_change(visit.data):
                continue
            with st.popover("Delete", key=f"deleting_named-{number}"):
                st.write("This permanently deletes the saved filter. The annotations are kept.")
                if st.button("Delete", type="primary", key=f"delete_named-{number}"):
                    with visit.error_in("data_error"):
                        access.WriteRight(visit.data).remove_selection(name)
                    st.rerun()


def _use(dataset: Dataset, chosen: Selection, name: str) -> None:
    try:
        cached.selected(dataset, chosen)
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    if name:
        keep_as(name, chosen)
    state.choose(chosen)
    st.rerun()


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
