"""Home: without data what this is, samples and a way in; with data four figures and three pictures, doors to pages."""

from functools import partial

import streamlit as st

from core import library
from core.annotations.write import long_table, wide_table
from core.errors import PluralityError
from core.ingest.samples import SAMPLES
from core.methods import any_of
from core.models.gold import gold_cases
from core.review.review_errors import StoreError
from core.text import markdown, plural, shorten
from pages.shared.cache import access
from pages.shared.cache import datasets as cached
from pages.shared.home import doors as home_doors
from pages.shared.home import known as home_known
from pages.shared.home import limits as home_limits
from pages.shared.home import numbers as home_numbers
from pages.shared.kit import gold_of_reviews, job_progress, navigation, state, widgets
from pages.shared.kit import style as look
from pages.shared.shell import story
from pages.shared.upload import dropped as home_drop

_ANSWERS = {"class": "single classes", "ranking": "differential diagnoses (rankings)", "score": "scores"}


def _welcome() -> None:
    st.title("Ground truth that people disagree about")
    st.write(
        "Several raters, one case, different annotations: how much they agree, whom to trust, which cases are "
        "ambiguous. Nothing leaves this computer."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        story.entrance("See it in six steps", "primary")
        st.caption("Five minutes with simulated diagnoses: from raters who disagree to the choice of a classifier.")
    st.subheader("Try a sample", anchor=False)
    columns = st.columns(len(SAMPLES))
    for column, sample in zip(columns, SAMPLES, strict=True):
        with column.container(border=True, height="stretch"):
            st.markdown(f"**{sample.title}**")
            st.caption(f"{sample.size} · {sample.answers}")
            st.write(sample.shows)
            st.button(f"Open {sample.title}", key=f"sample-{sample.name}", on_click=state.use, args=(sample.name,))
    st.subheader("Or open a file of your own", anchor=False)
    home_drop.zone()


def _dashboard(reading) -> None:
    dataset, theme = gold_of_reviews.applied(reading.dataset), look.theme()
    title = st.empty()
    title.title(markdown(shorten(dataset.name, 44)))
    st.caption(
        f"{plural(dataset.n_cases, 'case')} · {plural(dataset.n_raters, 'rater')} · "
        f"{plural(dataset.n_annotations, 'annotation')} · {_ANSWERS[dataset.kind]}"
    )
    widgets.threshold(dataset)
    views = home_known.views_of(dataset)
    found = home_known.agreement(dataset)
    why = "" if found else any_of("coefficient", dataset).reason
    figures = [column.container(border=True, height="stretch") for column in st.columns(4)]
    doors = [column.container(border=True, height="stretch") for column in st.columns(3)]
    with figures[0]:
        home_numbers.cases(dataset)
    with figures[1]:
        home_numbers.agreement(found, why)
    with doors[0]:
        home_doors.agreement(found, why, theme)
    with job_progress.one_cancel("home"):
        _computed(dataset, views, found, title, figures, doors, theme)
    home_limits.show(dataset, len(views.classifiers))
    _files(dataset)
    _keep(state.whole())


def _computed(dataset, views, found, title, figures, doors, theme) -> None:
    """What takes a while; each fills its place when it is there."""
    with doors[1]:
        certain = home_doors.cases(views, theme)
    title.title(home_numbers.sentence(dataset, found, certain))
    with figures[2]:
        home_numbers.uncertain(views, certain)
    sweep = None
    with doors[2]:
        if views.classifiers:
            sweep = home_doors.classifiers(views, theme)
        else:
            home_doors.raters(views, theme)
    with figures[3]:
        if views.classifiers:
            home_numbers.classifier(views, sweep)
        elif dataset.kind == "score":
            home_numbers.mean_score(dataset)
        elif len(gold_cases(views.classes)):
            home_numbers.by_gold(views)
        else:
            home_numbers.prevalence(views)


def _files(dataset) -> None:
    with st.container(horizontal=True):
        rows = max(dataset.n_annotations, len(dataset.entry_class))
        widgets.download(partial(long_table, dataset), "Annotations, one row each", "annotations", "long", rows)
        if cached.can_be_wide(dataset):
            widgets.download(
                partial(wide_table, dataset), "A column per rater", "annotations_wide", "wide", dataset.n_cases
            )


def _keep(reading) -> None:
    if any(sample.name == st.session_state.get("data") for sample in SAMPLES):
        return
    if library.is_kept(reading.dataset.digest):
        st.caption("This dataset is kept on this computer; its address goes on working.")
        return
    if st.button("Keep on this computer", icon=":material/save:", key="keep_home"):
        cached.keep(reading)
        st.rerun()


def _kept() -> None:
    entries = cached.kept()
    if not entries:
        return
    st.subheader("Kept on this computer", anchor=False)
    try:
        steps = {entry.digest: access.n_reviews(entry.digest) for entry in entries}
    except StoreError as error:
        steps = {}
        st.error(markdown(error), icon=":material/error:")
    for entry in entries:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{markdown(shorten(entry.name, 50))}**  \n{_facts_of(entry)}", width="stretch")
            if not entry.damaged:
                _open_or_rename(entry)
            if not access.may(entry.digest, change=True):
                continue
            access.sharing(entry.digest)
            with st.popover("Forget", key=f"forgetting-{entry.digest}"):
                reviews = steps.get(entry.digest)
                erased = f" with {plural(reviews, 'step')} of its reviews" if reviews else ""
                st.write(f"This erases the dataset{erased}, its predictions and all that was computed from it.")
                st.button(
                    "Erase it", type="primary", key=f"forget-{entry.digest}", on_click=_forget, args=(entry.digest,)
                )


def _facts_of(entry: library.Kept) -> str:
    if entry.damaged:
        return "Its description cannot be read. Forget it, or keep it again from its file."
    size = f"{plural(entry.n_cases, 'case')} · {plural(entry.n_raters, 'rater')}"
    return f"{size} · kept {entry.kept_at[:10]}"


def _open_or_rename(entry: library.Kept) -> None:
    st.button("Open", key=f"open-{entry.digest}", on_click=state.use, args=(entry.digest,))
    if not access.may(entry.digest, change=True):
        return
    with st.popover("Rename", key=f"renaming-{entry.digest}"):
        name = st.text_input("Name", value=entry.name, key=f"name-{entry.digest}")
        if st.button("Rename", key=f"rename-{entry.digest}"):
            cached.rename(entry.digest, name)
            st.rerun()


def _forget(digest: str) -> None:
    try:
        cached.forget(digest)
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
    if st.session_state.get("data") == digest:
        state.leave()


navigation.through_app()
if "home_go" in st.session_state:
    st.switch_page(st.session_state.pop("home_go"))
reading = state.current()
if reading is None:
    _welcome()
else:
    _dashboard(reading)
_kept()
