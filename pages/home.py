"""Home: without data what this is, samples and a way in; with data four figures and three pictures, doors to pages."""

from datetime import datetime
from functools import partial

import streamlit as st

from core import library
from core.agreement.coefficient_methods import any_coefficient
from core.annotations.write import long_table, wide_table
from core.ingest.data_warnings import ONE_CASE
from core.ingest.samples import SAMPLES
from core.models.gold import gold_cases
from core.review.review_errors import StoreError
from core.text import day_words, markdown, number, plural, shorten
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.home import doors as home_doors
from pages.shared.home import first_visit, next_steps
from pages.shared.home import known as home_known
from pages.shared.home import limits as home_limits
from pages.shared.home import numbers as home_numbers
from pages.shared.home import scores as home_scores
from pages.shared.home import waiting as home_waiting
from pages.shared.kit import (
    earlier_version,
    gold_of_reviews,
    job_progress,
    navigation,
    opening,
    presentation,
    state,
    store_away,
    widgets,
)
from pages.shared.kit import style as look
from pages.shared.shell import story
from pages.shared.upload import files as upload_files


def _dashboard(reading) -> None:
    dataset, theme = gold_of_reviews.applied(reading.dataset), look.theme()
    title = st.empty()
    title.title(markdown(shorten(dataset.name, 44)))
    if dataset.n_cases == 1:
        st.caption(f":material/warning: {ONE_CASE}")
    _questions()
    found = home_known.agreement(dataset)
    why = "" if found else any_coefficient(dataset).reason
    if dataset.kind == "score":
        home_scores.show(dataset, found, why, title, theme)
        _files(dataset)
        _keep(state.whole())
        return
    widgets.split(dataset)
    views = home_known.views_of(dataset)
    figures = [column.container(border=True, height="stretch") for column in st.columns(4)]
    shares = [1] if presentation.on() else [2, 1]  # what to do next is for those who have the controls
    wide, *beside = (column.container(border=True, height="stretch") for column in st.columns(shares))
    below = [column.container(border=True, height="stretch") for column in st.columns(3 if views.classifiers else 2)]
    with figures[0]:
        home_numbers.cases(dataset)
    with figures[1]:
        home_numbers.agreement(found, why)
    with below[0]:
        home_doors.agreement(found, why, theme)
    with job_progress.one_cancel("home"):
        job_progress.cancel_too(opening.at_work(views.plausible, views.model, views.classes))
        _computed(dataset, views, found, title, figures, (wide, beside[0] if beside else None, *below[1:]), theme)
    home_limits.show(dataset, len(views.classifiers))
    _files(dataset)
    _keep(state.whole())


def _questions() -> None:
    """Draw a button for each question of the upload with its agreement, which opens it; nothing if there is one."""
    questions = cached.questions(visit.data)
    if not questions or presentation.on():
        return
    st.caption("Questions in this upload, with the agreement on each:")
    with st.container(horizontal=True, gap="small", key="questions"):
        for name, digest in questions.items():
            with state.looking_at(digest):
                reading = state.current()
                data = None if reading is None else gold_of_reviews.applied(reading.dataset)
            found = None
            if data is not None and data.n_annotations <= home_known.MOST_FITTED:
                found = home_known.agreement(data)
            value = None if found is None else found.quoted.value
            st.button(
                markdown(shorten(name, 32)) + ("" if value is None else f" **{number(value)}**"),
                key=f"question-{digest}",
                type="primary" if digest == visit.data else "secondary",
                help=None if found is None else markdown(found.words()),
                on_click=state.use,
                args=(digest,),
            )


def _computed(dataset, views, found, title, figures, places, theme) -> None:
    """Draw the parts that take time to compute, each in its place as soon as it is ready."""
    wide, beside, second, *third = places
    with wide:
        certain = home_doors.cases(views, theme)
    title.title(home_numbers.sentence(dataset, found, certain))
    with figures[2]:
        home_numbers.uncertain(views, certain)
    sweep = None
    for place in third:
        with place:
            sweep = home_doors.classifiers(views, theme)
    with second:
        act = home_doors.raters(views, theme)
    if beside is not None:
        with beside:
            next_steps.show(views, certain, act, found)
    with figures[3]:
        if views.classifiers:
            home_numbers.classifier(views, sweep)
        elif len(gold_cases(views.classes)):
            home_numbers.by_gold(views)
        else:
            home_numbers.prevalence(views)
        home_numbers.flips(views)


def _files(dataset) -> None:
    with st.container(horizontal=True):
        rows = max(dataset.n_annotations, len(dataset.entry_class))
        widgets.download(partial(long_table, dataset), "Annotations, one per row", "annotations", "long", rows)
        if cached.can_be_wide(dataset):
            widgets.download(
                partial(wide_table, dataset), "One column per rater", "annotations_wide", "wide", dataset.n_cases
            )


def _keep(reading) -> None:
    if any(sample.name == visit.data for sample in SAMPLES):
        return
    if library.is_kept(reading.dataset.digest):
        st.caption("Saved on this computer. The link to this dataset will keep working.")
    if not presentation.on():
        earlier_version.of_dataset_in_use(reading.dataset)


def _kept() -> None:
    entries = [] if presentation.on() else cached.kept()  # an audience sees no other datasets
    if not entries:
        return
    st.subheader("Saved on this computer", anchor=False)
    try:
        steps = {entry.digest: access.n_reviews(entry.digest) for entry in entries}
    except StoreError as error:
        steps = {}
        store_away.show(error)
    for entry in entries:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{markdown(shorten(entry.name, 50))}**  \n{_facts_of(entry)}", width="stretch")
            if not entry.damaged:
                _open_or_rename(entry)
            if not access.may(entry.digest, change=True):
                continue
            if entry.digest != visit.data:  # else in the bar above the page
                access.sharing(entry.digest)
            with st.popover("Delete", key=f"forgetting-{entry.digest}"):
                reviews = steps.get(entry.digest)
                erased = f", {plural(reviews, 'review step')}" if reviews else ""
                st.write(f"This permanently deletes the dataset, its predictions{erased} and all results.")
                st.button(
                    "Delete dataset",
                    type="primary",
                    key=f"forget-{entry.digest}",
                    on_click=_forget,
                    args=(entry.digest,),
                )


def _facts_of(entry: library.Kept) -> str:
    if entry.damaged:
        return "Could not read the description of this dataset. Delete the dataset, or save it again from its file."
    raters = plural(entry.n_raters, "rater") if entry.raters_identified else "raters without names"
    return f"{plural(entry.n_cases, 'case')} · {raters} · saved {day_words(datetime.fromisoformat(entry.kept_at))}"


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
    with visit.error_in("data_error"):
        cached.forget(digest)
    if visit.data == digest:
        state.leave()


navigation.through_app()
home_waiting.show()
reading = state.current()
if reading is None:
    first_visit.show(partial(story.entrance, "Start the guided tour", "primary"), upload_files.zone, _kept)
else:
    _dashboard(reading)
    _kept()
