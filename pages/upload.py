"""Upload: files → what was recognised → mapping → report card. Nothing half-read is ever shown."""

from dataclasses import replace

import streamlit as st

from core import library
from core.annotations.mapping import check_mapping
from core.annotations.readers import FORMATS, Source, open_source, read_side_file
from core.annotations.reading import Reading, build_question
from core.annotations.side_files import SideFiles
from core.errors import PluralityError
from core.text import markdown, plural
from pages.shared import (
    cached,
    jobs_ui,
    menu,
    predictions,
    state,
    upload_classes,
    upload_mapping,
    upload_report,
)

_HEADER = {"Found out by itself": None, "Yes": True, "No": False}
_SIDES = {
    "gold": ("Known classes (gold)", "A table with the case and its known class."),
    "classes": ("Class table", "A table with the class and its display name, order or risk (low, medium, high)."),
    "cases": ("Case table", "A table with the case and its text, image, group or date."),
}


def _files():
    uploads = st.file_uploader(
        "Files of annotations, or a zip of them",
        accept_multiple_files=True,
        key=f"upload-{st.session_state.get('n_uploads', 0)}",
    )
    if not uploads:
        st.caption(
            "Tables (CSV, TSV, Excel, Parquet; any column names, one row per answer, a column or a row per rater, "
            "counts, rankings) and what Label Studio, Prodigy, MTurk, doccano, Labelbox, Argilla and others write. "
            "Files stay on this computer."
        )
        with st.expander("All formats that are recognised"):
            for title in FORMATS.values():
                st.markdown(f"- {markdown(title)}")
    return uploads


def _open(uploads) -> tuple[tuple, Source] | None:
    """What the files hold; large ones with progress."""
    header = _HEADER[st.session_state.get("header_choice", "Found out by itself")]
    wanted = st.session_state.get("format_choice")
    key = ("open", tuple(upload.file_id for upload in uploads), header, wanted)
    source = jobs_ui.result_of(
        key,
        "Reading the file",
        lambda job: open_source(
            [(upload.name, upload.getvalue()) for upload in uploads],
            has_header=header,
            format=wanted,
            progress=job.report,
        ),
    )
    return None if source is None else (key, source)


def _recognised(source: Source) -> None:
    st.markdown(f":material/check_circle: Recognised: **{markdown(source.title)}**, by {markdown(source.why)}.")
    for note in source.notes:
        st.caption(markdown(note))
    with st.popover("It is something else", type="tertiary", key="format_popover"):
        st.selectbox(
            "Take the files for",
            [None, *FORMATS],
            format_func=lambda name: "Found out by itself" if name is None else FORMATS[name],
            key="format_choice",
        )


def _side_files(source: Source) -> Source:
    """Gold, classes, cases and predictions on cards of their own."""
    found = source.side
    with st.expander("Beside the answers: known classes, class table, case table, predictions"):
        for name, present in (("gold", found.gold), ("classes", found.classes), ("cases", found.cases)):
            title, what = _SIDES[name]
            if present is not None:
                st.markdown(f":material/check_circle: {title}: found among the files.")
            upload = st.file_uploader(f"{title}. {what}", key=f"side-{name}-{st.session_state.get('n_uploads', 0)}")
            if upload is not None:
                try:
                    found = found.joined(read_side_file(upload.name, upload.getvalue(), name))
                except PluralityError as error:
                    st.error(markdown(error), icon=":material/error:")
        uploads = st.file_uploader(
            "Predictions of classifiers. One row per case and class (case, class, score or rank, perhaps classifier)",
            accept_multiple_files=True,
            key=f"side-predictions-{st.session_state.get('n_uploads', 0)}",
        )
        own = tuple((upload.name, upload.getvalue()) for upload in uploads or ())
        found = found.joined(SideFiles(predictions=own))
        for name, _ in found.predictions:
            st.markdown(f":material/check_circle: Predictions: {markdown(name)}")
    return replace(source, side=found)


def _build(key: tuple, source: Source, question, name: str, **choices) -> Reading | None:
    told = (question.name, question.mapping, source.side.gold is not None, repr(choices), _sizes(source.side))
    return jobs_ui.result_of(
        ("build", key, *told),
        "Understanding the answers",
        lambda job: build_question(source, question, name, progress=job.report, **choices),
    )


def _sizes(side: SideFiles) -> tuple:
    """Tells one set of side files from another."""
    return (hash(tuple((side.gold or {}).items())), side.classes, side.cases)


def _use(reading: Reading, side: SideFiles) -> None:
    address = cached.registry().add(reading)
    state.use(address)
    for name, content in side.predictions:
        predictions.add(name.rsplit(".", 1)[0], content)
    st.session_state["upload_done"] = reading.dataset.digest
    st.session_state["n_uploads"] = st.session_state.get("n_uploads", 0) + 1  # another key empties the drop zone


def _done(digest: str) -> None:
    reading = cached.registry().get(digest)
    if reading is None:
        return
    st.success(f"{markdown(reading.dataset.name)} is in use.", icon=":material/check_circle:")
    upload_report.counts(reading)
    upload_report.card(reading.dataset)
    left, right, third = st.columns(3)
    left.page_link("pages/agreement.py", label="How much do the raters agree?", icon=":material/handshake:")
    right.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")
    if any(entry.digest == digest for entry in library.kept()):
        third.caption("Kept on this computer; its address goes on working.")
    elif third.button("Keep on this computer", icon=":material/save:", key="keep"):
        library.keep(reading.dataset)
        st.rerun()
    upload_report.left_out(reading)
    st.subheader("Open another file", anchor=False)


def _page() -> None:
    st.title("Open a file")
    done = st.session_state.get("upload_done")
    if done and done == st.session_state.get("data"):
        _done(done)
    uploads = _files()
    if not uploads:
        return
    opened = _open(uploads)
    if opened is None:
        return
    key, source = opened
    _recognised(source)
    name = uploads[0].name.rsplit(".", 1)[0] or uploads[0].name
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("What the columns mean", anchor=False)
        question = upload_mapping.choose_question(source)
        question = replace(question, mapping=upload_mapping.choose_mapping(source, question))
        choices = upload_mapping.choices(question)
        source = _side_files(source)
    with right:
        try:
            check_mapping(question.mapping, question.raw.columns)
        except PluralityError as error:
            st.error(markdown(error), icon=":material/error:")
            _raw(question)
            return
        as_is = _build(key, source, question, name, **choices)
        if as_is is None:
            _raw(question)
            return
        with left:
            treatment, classes, ordinal = upload_classes.treatment_of(
                as_is.dataset, f"{key[1][0]}-{question.name}-{as_is.dataset.digest[:8]}"
            )
        reading = as_is
        if treatment is not None or classes is not None or ordinal:
            choices |= {"treatment": treatment, "classes": classes, "ordinal": ordinal}
            reading = _build(key, source, question, name, **choices)
            if reading is None:
                return
        _offer(reading, source, name)


def _raw(question) -> None:
    st.markdown("**The first rows of the file, as they stand**")
    st.dataframe(question.raw.table.slice(0, 8).to_pandas(), hide_index=True, key="raw")


def _offer(reading: Reading, source: Source, name: str) -> None:
    st.subheader("What will be used", anchor=False)
    upload_report.counts(reading)
    reading = Reading(reading.dataset.renamed(st.text_input("Name", value=name, key=f"name-{name}")), reading.report)
    dropped = len(reading.report.dropped)
    label = f"Use {plural(reading.dataset.n_annotations, 'answer')}"
    label += f", leave out {plural(dropped, 'row')}" if dropped else ""
    st.button(label, type="primary", icon=":material/check:", on_click=_use, args=(reading, source.side), key="use")
    upload_report.card(reading.dataset)
    upload_report.as_understood(reading)
    upload_report.left_out(reading)


menu.through_app()
_page()
