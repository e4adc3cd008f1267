"""Upload: file → mapping → report card. Nothing half-read is ever shown."""

import pandas as pd
import streamlit as st

from core import library
from core.annotations.capabilities import verdicts
from core.annotations.mapping import Mapping, check_mapping, guess_mapping
from core.annotations.readers import RawTable, open_table
from core.annotations.reading import Reading
from core.annotations.validate import build_dataset
from core.annotations.write import long_table
from core.errors import PluralityError
from core.text import markdown, plural, shorten
from pages.shared import cached, menu, state, widgets

NOBODY = "(none)"
ROW_NUMBER = "(the row's number)"
ANONYMOUS = "(none: answers are anonymous)"
KINDS = {"Found out by itself": None, "A class": "class", "A score": "score", "A ranking": "ranking"}
REPEATS = {"Keep them all": "keep", "Use only the first": "first", "Refuse the file": "refuse"}


def _read_file() -> tuple[str, RawTable] | None:
    upload = st.file_uploader(
        "A table of annotations: CSV, TSV or Parquet", key=f"upload-{st.session_state.get('n_uploads', 0)}"
    )
    if upload is None:
        st.caption(
            "One row per answer (case, rater, class), one row per ranked class (with a rank), or one row per case with "
            "a column for each rater. Column names may be anything. The file stays on this computer."
        )
        return None
    header = st.session_state.get("header_choice", "Found out by itself")
    has_header = {"Found out by itself": None, "Yes": True, "No": False}[header]
    known = st.session_state.get("upload_raw")
    if known is None or known[0] != (upload.file_id, has_header):
        with st.spinner("Reading the file …", show_time=True):
            known = ((upload.file_id, has_header), open_table(upload.getvalue(), has_header=has_header))
        st.session_state["upload_raw"] = known
    name = upload.name.rsplit(".", 1)[0] or upload.name
    return name, known[1]


def _choose_mapping(raw: RawTable) -> tuple[Mapping, dict]:
    guess = guess_mapping(raw.columns)
    columns = list(raw.columns)
    layout = st.segmented_control(
        "Layout",
        ["long", "wide"],
        default=guess.layout,
        required=True,
        format_func={"long": "One row per answer", "wide": "A column per rater"}.get,
        key="layout",
    )

    def pick(label: str, guessed: str | None, none: str | None, key: str) -> str | None:
        options = ([none] if none else []) + columns
        index = options.index(guessed) if guessed in options else (0 if none else None)
        chosen = st.selectbox(
            label,
            options,
            index=index,
            key=f"{key}-{layout}",
            format_func=lambda o: shorten(o, 60),
            placeholder="Choose",
        )
        return None if chosen == none else chosen

    if layout == "wide":
        case = pick("Case", guess.case, ROW_NUMBER, "case_column")
        raters = st.multiselect(
            "Raters (one column each)",
            [column for column in columns if column != case],
            default=[c for c in (guess.raters or columns) if c != case and c in columns],
            key="rater_columns",
        )
        mapping = Mapping("wide", case=case, raters=tuple(raters), group=None, why=guess.why)
    else:
        case = pick("Case", guess.case, None, "case_column")
        rater = pick("Rater", guess.rater, ANONYMOUS, "rater_column")
        why = dict(guess.why)
        if rater is None:
            why["anonymous"] = "chosen on screen"
            if guess.rater is None:
                st.warning("No column was recognised as the rater. Choose it, or leave the answers anonymous.")
        answer = pick("Answer (class or score)", guess.answer, None, "answer_column")
        with st.expander("More columns"):
            rank = pick("Rank in a differential diagnosis", guess.rank, NOBODY, "rank_column")
            time = pick("Date of the answer", guess.time, NOBODY, "time_column")
            group = pick("Group of the case", guess.group, NOBODY, "group_column")
        mapping = Mapping("long", case=case, rater=rater, answer=answer, rank=rank, time=time, group=group, why=why)
    with st.expander("Kind of answer, classes, repeats"):
        kind = KINDS[st.selectbox("An answer is", list(KINDS), key="kind_choice")]
        repeats = REPEATS[
            st.selectbox("Repeated answers of one rater on one case", list(REPEATS), key="repeats_choice")
        ]
        listed = st.text_area(
            "Closed list of classes in their order, one a line (empty: those that occur)", key="class_list", height=100
        )
        ordinal = st.checkbox("The order of the classes means something", key="ordinal_choice")
        st.radio("Does the first row hold column names?", ["Found out by itself", "Yes", "No"], key="header_choice")
    classes = [line.strip() for line in listed.splitlines() if line.strip()] or None
    if kind != "score" and mapping.rank is None and kind == "ranking":
        kind = None
        st.warning("A ranking needs a column of ranks; choose it under More columns.")
    return mapping, {"kind": kind, "repeats": repeats, "classes": classes, "ordinal": ordinal}


def _as_understood(reading: Reading) -> None:
    report = reading.report
    reasons = [f"{role}: {why}" for role, why in report.mapping.why.items()]
    st.caption(markdown(" · ".join([*report.notes, *reasons])))
    first = reading.dataset
    table = long_table(first, range(min(first.n_cases, 20))).head(20)
    st.markdown("**The first twenty answers, as understood**")
    st.dataframe(table, hide_index=True, height=36 * min(11, len(table) + 1) + 2, key="understood")


def _counts(reading: Reading) -> None:
    dataset, report = reading.dataset, reading.report
    columns = st.columns(4)
    columns[0].metric("Cases", f"{dataset.n_cases:,}", border=True)
    columns[1].metric("Raters", f"{dataset.n_raters:,}", border=True)
    columns[2].metric("Answers", f"{dataset.n_annotations:,}", border=True)
    columns[3].metric("Classes", f"{dataset.n_classes:,}" if dataset.kind != "score" else "scores", border=True)
    st.markdown(
        f"The file has {plural(report.n_rows, 'row')}: **{report.n_kept:,} used, {len(report.dropped):,} left out**."
    )
    if report.missing:
        tokens = ", ".join(f"{count:,} × {token or 'empty'}" for token, count in sorted(report.missing.items()))
        st.markdown(f"Treated as no answer: {markdown(tokens)}.")
    for warning in report.warnings:
        st.warning(markdown(warning), icon=":material/warning:")


def _left_out(reading: Reading) -> None:
    dataset, report = reading.dataset, reading.report
    if report.dropped:
        with st.expander(f"The {plural(len(report.dropped), 'row')} left out, with their reasons"):
            table = pd.DataFrame(report.dropped, columns=["line", "reason"])
            st.dataframe(table.head(200), hide_index=True, key="dropped")
            widgets.download(table, "All of them", "left_out", "dropped")
    impossible = [verdict for verdict in verdicts(dataset) if not verdict.possible]
    for verdict in impossible:
        st.markdown(f":material/block: **{verdict.title}** is not possible: {verdict.reason}.")


def _use(reading: Reading) -> None:
    state.use(cached.registry().add(reading))
    st.session_state["upload_done"] = reading.dataset.digest
    st.session_state["n_uploads"] = st.session_state.get("n_uploads", 0) + 1  # another key empties the drop zone
    st.session_state.pop("upload_raw", None)


def _done(digest: str) -> None:
    reading = cached.registry().get(digest)
    if reading is None:
        return
    st.success(f"{markdown(reading.dataset.name)} is in use.", icon=":material/check_circle:")
    _counts(reading)
    left, right, third = st.columns(3)
    left.page_link("pages/agreement.py", label="How much do the raters agree?", icon=":material/handshake:")
    right.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")
    if any(entry.digest == digest for entry in library.kept()):
        third.caption("Kept on this computer; its address goes on working.")
    elif third.button("Keep on this computer", icon=":material/save:", key="keep"):
        library.keep(reading.dataset)
        st.rerun()
    _left_out(reading)
    st.subheader("Open another file", anchor=False)


def _page() -> None:
    st.title("Open a file")
    done = st.session_state.get("upload_done")
    if done and done == st.session_state.get("data"):
        _done(done)
    try:
        found = _read_file()
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    if found is None:
        return
    name, raw = found
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("What the columns mean", anchor=False)
        mapping, choices = _choose_mapping(raw)
    with right:
        try:
            check_mapping(mapping, raw.columns)
            reading = Reading(*build_dataset(raw, mapping, name, **choices))
        except PluralityError as error:
            st.error(markdown(error), icon=":material/error:")
            st.markdown("**The first rows of the file, as they stand**")
            st.dataframe(raw.table.slice(0, 8).to_pandas(), hide_index=True, key="raw")
            return
        st.subheader("What will be used", anchor=False)
        _counts(reading)
        reading = Reading(
            reading.dataset.renamed(st.text_input("Name", value=name, key=f"name-{name}")), reading.report
        )
        dropped = len(reading.report.dropped)
        label = f"Use {plural(reading.dataset.n_annotations, 'answer')}"
        label += f", leave out {plural(dropped, 'row')}" if dropped else ""
        st.button(label, type="primary", icon=":material/check:", on_click=_use, args=(reading,), key="use")
        _as_understood(reading)
        _left_out(reading)


menu.through_app()
_page()
