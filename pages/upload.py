"""Upload: files → what was recognised → mapping → report card. Nothing half-read is ever shown."""

from collections import Counter
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import library
from core.errors import PluralityError, TooManyColumnsError
from core.ingest import saved_mappings
from core.ingest.answer_rules import Treatment
from core.ingest.column_mapping import LAYOUTS, Mapping, check_mapping
from core.ingest.data_warnings import contradictions
from core.ingest.formats.budget import MOST_COLUMNS
from core.ingest.formats.detect import formats
from core.ingest.formats.source import Question, Source
from core.ingest.read_files import Reading, build_question
from core.ingest.several_questions import QuestionReading
from core.ingest.templates import TEMPLATES
from core.machines.marks import Machine, machine_like
from core.text import markdown, plural, shorten
from pages.shared.cache import access, sign_in, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import earlier_version, groups, job_progress, navigation, predictions, state
from pages.shared.upload import classes as upload_classes
from pages.shared.upload import files as upload_files
from pages.shared.upload import last as upload_last
from pages.shared.upload import later_gold as upload_later_gold
from pages.shared.upload import mapping as upload_mapping
from pages.shared.upload import questions as upload_questions
from pages.shared.upload import report as upload_report
from pages.shared.upload import side as upload_side

# Names of files that say nothing of what is in them.
_SAYS_NOTHING = frozenset(
    {"answer", "answers", "annotation", "annotations", "data", "dataset", "export", "label", "labels", "result"}
    | {"results", "all", "file", "download", "output", "table", "sheet1", "untitled", "selectors", "test", "project"}
)
_RECORDS = (".json", ".jsonl", ".ndjson", ".zip")
_HEADER = {"Detect automatically": None, "Yes": True, "No": False}


def _files():
    label = "Annotation files, or a zip file that contains them"
    uploads = upload_files.brought(label, upload_files.annotations_key(), several=True)
    cached.prepare_reading()
    if limits := sign_in.upload_limits():
        st.caption(limits)
    if not uploads:
        st.caption(
            "CSV, TSV, Excel or Parquet tables with any column names, and exports from Label Studio, Prodigy, MTurk, "
            "doccano, Labelbox, Encord, Zooniverse, REDCap and others. Files stay on this computer."
        )
        if (folded := st.expander("All supported formats", key="formats", on_change="rerun")).open:
            for title in formats().values():
                folded.markdown(f"- {markdown(title)}")
        _templates()
    return uploads


def _templates() -> None:
    """Small tables to fill in, one for each layout and for what goes with annotations."""
    folded = st.expander("Templates to fill in", key="templates", on_change="rerun")
    if not folded.open:
        return
    with folded:
        for beside, words in ((False, "Annotations"), (True, "Additional files")):
            st.caption(words)
            with st.container(horizontal=True):
                for one in (one for one in TEMPLATES if one.beside == beside):
                    st.download_button(
                        one.title,
                        one.text,
                        file_name=f"{one.name}.csv",
                        mime="text/csv",
                        icon=":material/download:",
                        on_click="ignore",
                        key=f"template-{one.name}",
                    )


def _overruled(files: tuple[str, ...]) -> tuple[str | None, bool | None]:
    """Format and header as the user says for these files; None leaves it to the reader."""
    stamp = "-".join(files)
    with st.popover("Change format", type="tertiary", key="format_popover"):
        wanted = st.selectbox(
            "Read files as",
            [None, *formats()],
            format_func=lambda name: "Detect automatically" if name is None else formats()[name],
            key=f"format-{stamp}",
            persist_state="session",
        )
        header = st.radio(
            "Tables: does the first row contain column names?",
            list(_HEADER),
            key=f"header-{stamp}",
            persist_state="session",
            horizontal=True,
        )
    return wanted, _HEADER[header]


def _open(uploads) -> tuple[tuple, Source, DeltaGenerator] | None:
    """Return the content of the files and the place for remarks; shows progress for large files."""
    files = tuple(upload.file_id for upload in uploads)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        said = st.container(width="content")
        wanted, header = _overruled(files)
    agreed = f"columns-{'-'.join(files)}"
    most_columns = visit.number[agreed] or MOST_COLUMNS
    key = ("open", files, header, wanted, most_columns)
    source = job_progress.result_of(
        key,
        "Reading the file",
        lambda job: upload_mapping.as_layout(cached.open_upload(job, uploads, header, wanted, most_columns), wanted),
    )
    if source is None:
        job = cached.known(key)
        if job is not None and isinstance(job.error, TooManyColumnsError):
            n_columns = job.error.n_columns
            label = f"Read all {n_columns:,} columns"
            st.button(label, on_click=visit.number.__setitem__, args=(agreed, n_columns), key="read_all_columns")
        return None
    for note in source.notes:
        st.caption(markdown(note))
    source = upload_questions.in_parts(source, "-".join(files))
    return None if source is None else (key, source, said)


def _build(key: tuple, title: str, source: Source, question: Question, name: str, **choices) -> Reading | None:
    told = (question.name, question.mapping, question.ordinal, repr(choices))
    return job_progress.result_of(
        ("build", *key, *told),
        title,
        lambda job: build_question(source, question, name, progress=job.report, **choices),
    )


@visit.error_in("data_error")
def _use(
    reading: Reading,
    source: Source,
    question: Question,
    choices: saved_mappings.Choices,
    classifiers: tuple,
    others: tuple[QuestionReading, ...],
) -> None:
    every = {question.name: reading} | {one.name: one.reading for one in others if one.reading is not None}
    if others:
        cached.bring_questions(every)
    address = cached.bring(reading)
    state.use(address)
    for one in every.values():
        digest = one.dataset.digest
        if access.may_change(digest):  # or they are shared with whoever brought the file: they stay as they are
            right = access.WriteRight(digest)
            if one.machines and not right.has_marks():  # what somebody said of them goes first
                right.mark_machines(Machine(*each) for each in one.machines)
    if access.may_change(address):
        for name, content in classifiers:
            predictions.add(name, content)
    if question.mapping.layout == "long" and reading.dataset.raters_identified:
        groups.take(reading.dataset.raters, question.raw, question.mapping.rater)
    upload_side.let_go(visit.n_uploads)
    upload_files.let_go(upload_files.annotations_key())
    upload_last.remember(source, question, choices, reading.dataset.digest)
    visit.upload_done = reading.dataset.digest
    visit.n_uploads += 1  # another key empties the drop zone


def _done(digest: str) -> None:
    reading = cached.registry().get(digest)
    if reading is None:
        return
    st.success(f"{markdown(reading.dataset.name)} is open.", icon=":material/check_circle:")
    upload_report.counts(reading.dataset)
    if several := cached.questions(digest):
        st.caption(
            f"This is one of {len(several):,} questions in this upload. Switch between them at the top of the page."
        )
    left, right, third = st.columns(3)
    left.page_link("pages/agreement.py", label="How much do the raters agree?", icon=":material/handshake:")
    right.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")
    if library.is_kept(digest):
        third.caption("Saved on this computer. The link to this dataset will keep working.")
    _perhaps_machines(reading.dataset.raters)
    upload_last.said()
    if reading.report is not None:
        upload_report.facts(reading)
        upload_report.warnings(reading)
        upload_report.left_out(reading)
    earlier_version.of_dataset_in_use(reading.dataset)
    upload_report.allowed(reading.dataset)
    st.subheader("Open another file", anchor=False)


def _perhaps_machines(raters: tuple[str, ...]) -> None:
    """Show a note on raters whose names suggest AI raters and who count as people until somebody marks them."""
    marked = {one.name for one in state.marked_machines()}
    found = [one.name for one in machine_like(raters) if one.name not in marked]
    if not found:
        return
    listed = markdown(", ".join(shorten(name, 24) for name in found[:6]) + (" …" if len(found) > 6 else ""))
    of = f"{len(found):,} of {plural(len(raters), 'rater')} may be"
    said = (
        f"Judging by their names, {of} AI raters ({listed}). Until you mark them, they count as people on every page."
    )
    if len(found) == 1:
        said = (
            f"Judging by its name, {of} an AI rater ({listed}). Until you mark it, it counts as a person on every page."
        )
    st.info(said, icon=":material/smart_toy:")
    one = len(found) == 1
    label = f"Mark {'it' if one else 'them'} and test whether {'it' if one else 'one'} can replace a rater"
    st.page_link("pages/ai_rater.py", label=label, icon=":material/smart_toy:")


def _page() -> None:
    st.title("Open a file")
    above = st.container()
    uploads = _files()
    if not uploads and (done := visit.upload_done) and done == visit.data:
        with above:
            _done(done)
    if not uploads or (opened := _open(uploads)) is None:
        return
    key, source, said = opened
    offer, row_means, first_rows = st.container(), st.empty(), st.container()
    with offer:
        guess, together, stamp, start, begin = _asked(key, source, uploads)
    if begin is None:
        upload_mapping.recognised(said, source, guess, guess.mapping, key[3])
        upload_report.as_it_stands(guess)
        return
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.subheader("What do the columns mean?", anchor=False)
        mapping = upload_mapping.choose_mapping(source, guess, begin, stamp, row_means, first_rows)
        question = replace(guess, mapping=mapping)
        upload_mapping.recognised(said, source, guess, question.mapping, key[3])
        about_classes = st.container()
        choices = upload_mapping.choices(start, stamp)
        source, beside = upload_side.side_files(source, visit.n_uploads)
    with offer:
        source, in_order, all_answered = upload_side.gold_in_order(source, question, stamp)
    name = _name(uploads, source, question, together)
    with right:
        if not _fits(question, offer):
            return
        asked = guess, question, name, together, choices, start, stamp
        found = _understood((*key, beside, in_order), source, *asked, offer, row_means, about_classes)
        if found is None:
            return
        reading, chosen, others, is_open = found
        upload_report.as_understood(reading)
        if source.format not in upload_mapping.PLAIN:
            upload_report.as_it_stands(question, folded=True)
    with offer:
        _offer(reading, name, stamp, source, guess, chosen, others, is_open=is_open or not all_answered)
    upload_report.left_out(reading)
    upload_report.allowed(reading.dataset)


def _understood(
    key: tuple,
    source: Source,
    guess: Question,
    question: Question,
    name: str,
    together: bool,
    choices: dict,
    start: saved_mappings.Choices,
    stamp: str,
    offer: DeltaGenerator,
    row_means: DeltaGenerator,
    about_classes: DeltaGenerator,
) -> tuple[Reading, saved_mappings.Choices, tuple[QuestionReading, ...], bool] | None:
    """Return the annotations with a description, the choices, the other questions, and whether a question is open.

    None until all required answers are given, and the annotations are read.
    """
    titled = upload_questions.name_of(name, question.name) if together else name
    # Names of the file are what the editor of classes starts from; a class table may show others.
    plain = replace(source, side=replace(source.side, classes=None))
    asked_as = (plain, question, titled, choices, start, stamp, offer, row_means)
    read = _read_all(key, source, guess, name if together else None, asked_as)
    if read is None:
        if source.format not in upload_mapping.PLAIN:
            upload_report.as_it_stands(question)
        return None
    as_is, codes, raters_open, others = read
    with about_classes:
        treatment, classes, said, unordered = upload_classes.treatment_of(
            as_is.dataset, start, stamp, source.side.classes, codes, offer
        )
    reading, ordinal = as_is, bool(said)
    changed = treatment not in (None, codes) or classes is not None or ordinal != as_is.dataset.ordinal
    asked = replace(question, ordinal=ordinal) if changed else question
    choices |= {"treatment": treatment, "classes": classes, "ordinal": ordinal} if changed else {}
    if changed or source.side.classes is not None:
        built = _build(key, "Applying class names and order", source, asked, titled, **choices)
        if built is None:
            return None
        reading = built
    chosen = replace(_chosen(question, choices, classes, ordinal, treatment), unordered=unordered)
    doubted = contradictions(reading.dataset, wide=question.mapping.layout == "wide")
    return reading, chosen, others, raters_open or said is None or bool(doubted)


def _read_plain(
    key: tuple,
    source: Source,
    question: Question,
    name: str,
    choices: dict,
    start,
    stamp: str,
    offer: DeltaGenerator,
    row_means: DeltaGenerator,
    others: tuple[QuestionReading, ...] = (),
) -> tuple[Reading, Treatment, bool] | None:
    """Return the annotations with only the choices on codes for missing ones and on raters with like names applied.

    None until codes have been treated. The last value is True while raters with like names are undecided. ``others``
    are questions whose codes are included.
    """
    as_is = _build(key, "Understanding the annotations", source, question, name, **choices)
    if as_is is None:
        return None
    found = Counter(as_is.report.codes) + upload_questions.codes_of(others)
    n_annotations = as_is.dataset.n_annotations + upload_questions.n_annotations(others)
    with offer:
        codes = upload_classes.of_codes(found, n_annotations, start, stamp)
        raters, raters_open = upload_classes.of_raters(as_is.dataset, start, stamp)
    if found and source.format in upload_mapping.PLAIN:
        upload_mapping.one_row(row_means, question.raw, question.mapping, found if codes is None else codes.missing)
    if codes is None:
        return None
    codes = replace(codes, raters=raters)
    if codes.given:
        choices["treatment"] = codes
        as_is = _build(key, "Understanding the annotations", source, question, name, **choices)
    return None if as_is is None else (as_is, codes, raters_open)


def _read_all(
    key: tuple, source: Source, guess: Question, upload: str | None, asked_as: tuple
) -> tuple[Reading, Treatment, bool, tuple[QuestionReading, ...]] | None:
    """Read the annotations, and the other questions of a named upload; ``asked_as`` is for `_read_plain`."""
    _, question, *_ = asked_as
    others: tuple[QuestionReading, ...] | None = ()
    if upload is not None:
        others = upload_questions.read_others(key, source, guess, question.mapping, upload)
    if others is None or (read := _read_plain((*key, "plain"), *asked_as, others)) is None:
        return None
    if upload is not None and read[1].given:
        others = upload_questions.read_others(key, source, guess, question.mapping, upload, read[1])
    return None if others is None else (*read, others)


def _asked(key: tuple, source: Source, uploads) -> tuple[Question, bool, str, saved_mappings.Choices, Mapping | None]:
    """Return the question, whether others are opened with it, a stamp for keys of its widgets, and initial choices.

    The last value is the mapping: None until chosen.
    """
    question, together = upload_questions.choose_question(source, "-".join(key[1]))
    stamp = f"{'-'.join(key[1])}-{question.name}-{key[2]}-{key[3]}"
    start = upload_last.offered(source, question, stamp)
    begin = upload_mapping.settled(question, start.mapping, stamp)
    if begin is not None:
        stamp += "-last" if start.mapping is not question.mapping else f"-own-{begin.layout}-{begin.case}-{begin.rater}"
    if question.mapping.rater is None and len(uploads) == 1 and len(source.questions) == 1:
        upload_later_gold.offer(question)
    return question, together, stamp, start, begin


def _fits(question: Question, offer: DeltaGenerator) -> bool:
    """Return True if the mapping is complete and fits the table; otherwise show the reason."""
    if (lacking := upload_mapping.lacking(question)) is not None:
        with offer:
            st.info(lacking, icon=":material/arrow_downward:")
        return False
    try:
        check_mapping(question.mapping, question.raw.columns)
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return False
    return True


def _chosen(
    question: Question, choices: dict, classes, ordinal: bool, treatment: Treatment | None
) -> saved_mappings.Choices:
    """Return the choices that are remembered for the next file with the same columns."""
    return saved_mappings.Choices(
        question.mapping,
        choices["kind"],
        tuple(classes) if classes is not None else None,
        ordinal,
        choices["repeats"],
        treatment or Treatment(),
    )


def _name(uploads, source: Source, question: Question, together: bool = False) -> str:
    """Return the default name of the dataset, or of the upload of all questions."""
    beside = {name for name, _ in source.side.predictions}
    files = [upload.name for upload in uploads if upload.name not in beside] or [uploads[0].name]
    records = [name for name in files if name.casefold().endswith(_RECORDS)]
    if source.format not in ("table", *LAYOUTS) and len(records) == 1:
        files = records  # beside it are lists of classes, risks, gold
    own = [name for name in files if name == question.name]
    stem = (own or files)[0].rsplit(".", 1)[0] or files[0]
    if len(uploads) == 1:
        alone = together or len(source.questions) == 1
        return stem if alone else upload_questions.name_of(stem, question.name)
    return stem if own or len(files) == 1 else f"{stem} and {plural(len(files) - 1, 'other file')}"


def _offer(
    reading: Reading,
    name: str,
    stamp: str,
    source: Source,
    guess: Question,
    chosen: saved_mappings.Choices,
    others: tuple[QuestionReading, ...],
    *,
    is_open: bool,
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        says_nothing = name.casefold() in _SAYS_NOTHING
        called = st.text_input(
            "Name of the data" if says_nothing else "Name",
            value="" if says_nothing else name,
            placeholder=name if says_nothing else None,
            key=f"name-{stamp}",
            persist_state="session",
            width=280,
        )
        reading, opened = upload_questions.named(called or name, guess.name, reading, others)
        told = upload_side.classifiers(source, reading.dataset)
        classifiers = tuple((one.name, one.content) for one in told if not one.error)
        st.button(
            upload_questions.use_label(reading, opened),
            type="secondary" if is_open else "primary",
            icon=":material/check:",
            on_click=_use,
            args=(reading, source, guess, chosen, classifiers, opened),
            key="use",
        )
    upload_report.in_words(reading)
    upload_last.compare(reading, source, guess)
    if others:
        upload_questions.show(guess.name, reading, others)
    upload_report.classifiers(told)
    upload_report.warnings(reading)


navigation.through_app()
_page()
