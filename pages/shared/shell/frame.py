"""The frame around every page: sidebar, bar of the dataset in use, story, presentation, and errors."""

import plotly.graph_objects as go
import streamlit as st

from core import read_anew
from core.analyses.questions import QUESTIONS
from core.annotations.dataset import Dataset
from core.annotations.ordering import order_in_words
from core.errors import PluralityError
from core.figures.theme import class_colours
from core.ingest.read_files import Reading
from core.ingest.samples import SAMPLES
from core.text import html_text, markdown, plural, shorten, without_controls
from pages.shared.cache import access, operations, sign_in, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import documentation, job_progress, opening, presentation, selection, state, store_away
from pages.shared.kit import style as look
from pages.shared.shell import first_start, story

_SINCE = (
    "Plurality now sorts classes by value, recognises scales written in words, and treats codes such as #N/A as "
    "missing. As a result, this file gives a different dataset than before."
)
_ONLY_THIS = (
    "Saved work is copied only to the question on screen. For the other {} in the file, mark AI raters and save "
    "selections again."
)
_WITHOUT_ANNOTATIONS = ("documentation", "reader_study", "settings", "upload")  # a selection changes nothing there


def _ask_about_earlier(reading: Reading | None) -> None:
    """Ask once whether what is kept under earlier readings is brought over; nothing if nothing is kept.

    Parameters
    ----------
    reading : Reading or None
        All of the dataset in use, by the names in its file.
    """
    if reading is None:
        return
    if found := cached.kept_before(reading):
        words = "; ".join(one.words for one in found)
        said = f"**Reuse work that you saved with an older version of Plurality?** Found: {words}."
        n_others = len(cached.questions(reading.dataset.digest)) - 1
        only = f" {_ONLY_THIS.format(plural(n_others, 'question'))}" if n_others > 0 else ""
        _question(said, _SINCE + only, ("Reuse", "Keep separate"), [one.digest for one in found], reading)
    elif (now := cached.read_now(reading)) is not None:
        said = f"**Update this dataset?** {markdown(read_anew.differences(reading.dataset, now.dataset))}"
        why = "Reviews, predictions, settings and access rights are kept."
        _question(said, why, ("Update dataset", "Keep as saved"), [reading.dataset.digest], now)


def _question(said: str, why: str, labels: tuple[str, str], earlier: list[str], reading: Reading) -> None:
    with st.container(border=True, key="earlier_reading"):
        st.markdown(said)
        st.caption(why)
        with st.container(horizontal=True):
            st.button(labels[0], type="primary", key="bring_over", on_click=_bring, args=(earlier, reading))
            st.button(labels[1], key="leave_apart", on_click=_leave, args=(earlier, reading.dataset.digest))


@visit.error_in("data_error")
def _bring(earlier: list[str], reading: Reading) -> None:
    n_left = 0
    for digest in earlier:
        n_left += cached.bring_over(digest, reading)[1]
    if visit.data in earlier:
        state.use(reading.dataset.digest)
    left = f" {plural(n_left, 'review step remains', 'review steps remain')} in the earlier record." if n_left else ""
    st.toast(f"Reviews and settings were copied.{left}", icon=":material/check:")


@visit.error_in("data_error")
def _leave(earlier: list[str], present: str) -> None:
    for digest in earlier:
        cached.leave_apart(digest, present)


def _question_switch() -> None:
    """Draw the switch of the question in use, with a link to compare all of them; nothing if there is only one."""
    address = visit.data
    found = cached.questions(address)
    if address not in found.values():
        return
    names, key = list(found), f"question_in_use-{address}"
    st.selectbox(
        "Question",
        names,
        index=list(found.values()).index(address),
        format_func=lambda name: shorten(name, 40),
        key=key,
        label_visibility="collapsed",
        width=240,
        on_change=lambda: state.use(found[visit.choice[key]]),
    )
    st.button(
        "Compare questions", icon=":material/stacks:", type="tertiary", on_click=_compare, key="compare_questions"
    )


def _compare() -> None:
    visit.choice["agreement_tabs"], visit.go_to = QUESTIONS.title, "agreement"


def title(page) -> None:
    """Name the page and its data in the browser's tab and history."""
    reading = state.whole()
    names = [page.title, *([] if reading is None else [reading.dataset.name]), "Plurality"]
    st.set_page_config(page_title=" · ".join(without_controls(shorten(name, 44)) for name in names))


def sidebar(name: str) -> None:
    """Show who is signed in, the colours of the classes, and a link to the help of the page, under the navigation.

    Parameters
    ----------
    name : str
        Name of the page's file in ``pages/``.
    """
    if presentation.on():
        return
    with st.sidebar:
        sign_in.shown()
        _classes()
        if (help_page := f"app/{name}") in documentation.titles():
            st.link_button(
                "Help for this page", documentation.address(help_page), icon=":material/help:", type="tertiary"
            )


def _classes() -> None:
    """Show the order and the colours of the classes, or a link to open data."""
    reading = state.whole()
    if reading is None:
        st.caption("No data open yet.")
        st.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")
        return
    if reading.dataset.ordinal:
        names = [name.replace(" ", "\N{NO-BREAK SPACE}") for name in reading.dataset.classes]  # lines end between them
        st.caption(f"Order, low to high: {markdown(order_in_words(names))}")
    _legend(reading.dataset)


def data_bar() -> None:
    """Show the dataset in use above the page, with what changes, shows or replaces it."""
    place = st.container()  # also where it stays empty: what is below keeps its place
    reading = state.whole()
    if reading is None or presentation.on():
        return
    dataset = reading.dataset
    with place, st.container(key="data_bar", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/database: **{markdown(shorten(dataset.name, 44))}**", width="content")
        st.caption(f"{plural(dataset.n_cases, 'case')} · {_who(dataset)} · {_annotations(dataset)}", width="content")
        _question_switch()
        _unkept(reading)
        with st.container(horizontal=True, horizontal_alignment="right", gap="small", key="data_actions"):
            selection.button(dataset)
            access.sharing(visit.data)
            if st.button("Change data", icon=":material/swap_horiz:", type="tertiary", key="change_data"):
                _change_data()
            if story.step() is None:
                presentation.button()
            story.entrance("Tour", "tertiary")


def _legend(dataset: Dataset) -> None:
    """Show the classes in the colours that they have on every page; nothing if there are more classes than colours."""
    theme = look.theme()
    if dataset.traits.needs_split or dataset.n_classes > len(theme.classes):
        return
    colours = class_colours(list(range(dataset.n_classes)), dataset.n_classes, theme, dataset.ordinal)
    lines = (
        f'<li><span style="--chip:{colours[code]}"></span>{html_text(shorten(name, 26))}</li>'
        for code, name in enumerate(dataset.classes)
    )
    st.html(f'<ul class="legend" aria-label="Classes and their colours">{"".join(lines)}</ul>')


def _annotations(dataset: Dataset) -> str:
    """Return the number of annotations, with the kind of answer."""
    return plural(dataset.n_annotations, dataset.traits.noun)


def _who(dataset: Dataset) -> str:
    """How many raters there are: people, and AI raters apart from them; of counts and patterns nobody knows."""
    if not dataset.raters_identified:
        return "raters without names"
    veiled = state.with_machines()
    n = len(veiled[1]) if veiled is not None else 0
    if not n:
        return plural(dataset.n_raters, "rater")
    people = dataset.n_raters - n
    return " · ".join([*([plural(people, "rater")] if people else []), plural(n, "AI rater")])


def run(page, name: str) -> None:
    """Run a page inside the frame.

    The project's own errors are shown in words, anything else is a bug and surfaces as one.

    Parameters
    ----------
    page : streamlit.Page
    name : str
        Name of its file in ``pages/``.
    """
    elsewhere = visit.go_to or name
    if elsewhere != name:
        st.switch_page(f"pages/{elsewhere}.py")
    if first_start.shown(page.title, name):
        _load_what_draws(name)
        return
    if state.current() is not None:  # an address that does not fit is said before the page, not after
        cached.prepare()
    # A job ended, and nobody has done anything since: the last error is shown again.
    visit.error_shown = error = visit.data_error or (visit.error_shown if visit.drawn_anew else None)
    if error:
        st.error(markdown(error), icon=":material/link_off:")
    told, asked = st.container(), st.container()
    job_progress.begin()
    del visit.store_away
    if presentation.on():
        presentation.style(look.theme().paper)
        presentation.bar(name, story.moves)
    with operations.page(name):
        _drawn(page, name, told, asked)


def _drawn(page, name: str, told, asked) -> None:
    slide = False
    try:
        story.prepare(name)
        if slide := story.show(told, name):
            return
        if name not in _WITHOUT_ANNOTATIONS:
            selection.line()
            if name != "ai_rater":
                selection.machines_line()
        if presentation.on() and name not in presentation.SHOWN:
            st.info("This page is not part of the presentation.", icon=":material/slideshow:")
        else:
            page.run()
    except PluralityError as error:
        store_away.show(error)
    finally:  # also where a page stops early
        if not presentation.on():
            with asked:  # once the page is drawn, which may have opened other data
                _ask_about_earlier(state.whole())
        if not slide:  # which has all that it needs
            opening.begin()
        if not presentation.on():
            story.ahead(name)
        store_away.look_again()
        job_progress.poll(name)
        _load_what_draws(name)


def _load_what_draws(name: str) -> None:
    """Once a session, with its first page: the browser loads what draws figures, so that none waits for it later.

    That keeps a browser busy for most of a second; Home has figures of its own, and Upload takes files at once.
    """
    if name not in ("home", "upload") and not visit.figures_loaded:
        with st.container(key="no_figure"):
            st.plotly_chart(go.Figure(), key="empty_figure", alt="Nothing yet")
    visit.figures_loaded = True


def _unkept(reading: Reading) -> None:
    """Warn that the data will be deleted with the server, with a button to keep them."""
    if cached.is_lasting(visit.data):
        return
    st.caption(
        ":material/hourglass_bottom: Not saved: these data will be deleted when the server stops.", width="content"
    )
    if access.may_change(visit.data):
        st.button("Save on this computer", icon=":material/save:", on_click=_keep, args=(reading,), key="keep_in_bar")


def _keep(reading: Reading) -> None:
    with visit.error_in("data_error"):
        cached.keep(reading)


@st.dialog("Change data", width="medium")
def _change_data() -> None:
    """Offer other data; those in use stay open until something is chosen."""
    st.page_link("pages/upload.py", label="Open a file", icon=":material/upload_file:")
    saved = {entry.digest: entry.name for entry in cached.kept() if not entry.damaged}
    samples = {sample.name: sample.title for sample in SAMPLES}
    for title, offered in (("Saved on this computer", saved), ("Sample data", samples)):
        others = {address: name for address, name in offered.items() if address != visit.data}
        if not others:
            continue
        st.markdown(f"**{title}**")
        with st.container(horizontal=True, gap="small"):
            for address, name in others.items():
                if st.button(f"Open {markdown(shorten(name, 50))}", key=f"change_to-{address}"):
                    _change_to(address)
    if st.button("Close this dataset", icon=":material/close:", type="tertiary", key="close_data"):
        _change_to("")


def _change_to(address: str) -> None:
    """Use another dataset, or none, and turn to Home."""
    state.use(address) if address else state.leave()
    visit.go_to = "home"
    st.rerun()
