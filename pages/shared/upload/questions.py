"""Several questions of one upload: opened together, or one of them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.ingest.answer_rules import Treatment
from core.ingest.column_mapping import Mapping
from core.ingest.formats.source import Question, Source
from core.ingest.read_files import Reading
from core.ingest.several_questions import QuestionReading, joint_questions, name_of, other_questions, read_questions
from core.text import plural, shorten
from pages.shared.kit import columns, job_progress
from pages.shared.upload.mapping import lacking


def in_parts(source: Source, files: str) -> Source | None:
    """Ask whether files that may be parts of one table are; None until the user has answered.

    Parameters
    ----------
    source : Source
    files : str
        Key that identifies these files.
    """
    if not source.parts:
        return source
    answers = {True: "One table in parts", False: "Different questions"}
    chosen = st.radio(
        "**Are these files parts of one table?** Their columns match, but either their cases and raters are the same "
        "or their classes differ.",
        list(answers),
        index=None,
        format_func=answers.__getitem__,
        horizontal=True,
        key=f"parts-{files}",
        persist_state="session",
    )
    return None if chosen is None else replace(source, questions=source.parts if chosen else source.questions, parts=())


def choose_question(source: Source, files: str) -> tuple[Question, bool]:
    """Return the question that is set up and shown first, and whether the others are opened with it.

    The first question whose columns are understood is proposed, as a workbook may begin with a sheet of notes.

    Parameters
    ----------
    source : Source
    files : str
        Key that identifies these files.
    """
    if len(source.questions) == 1:
        return source.questions[0], False
    names, joint = [question.name for question in source.questions], joint_questions(source)
    together = len(joint) > 1 and st.toggle(
        f"Open {'all ' if len(joint) == len(names) else ''}{plural(len(joint), 'question')} together",
        value=True,
        key=f"all_questions-{files}",
        persist_state="session",
        help="Each question has its own agreement, raters and reviews. Switch between questions at the top of each "
        "page.",
    )
    held = f"The file contains {plural(len(names), 'question')}"
    chosen = st.selectbox(
        f"{held}: which question first?" if together else f"{held}: which one?",
        names,
        index=next((place for place, one in enumerate(source.questions) if lacking(one) is None), 0),
        key="question",
        persist_state="session",
        format_func=shorten,
    )
    question = source.questions[names.index(chosen)]
    return question, together and question in joint


def read_others(
    key: tuple, source: Source, shown: Question, chosen: Mapping, name: str, treatment: Treatment | None = None
) -> tuple[QuestionReading, ...] | None:
    """Return the other questions of an upload as they are read; None until they are.

    Parameters
    ----------
    key : tuple
        Key that identifies these files as they were opened.
    source : Source
    shown : Question
        As guessed.
    chosen : Mapping
        Mapping of the question that is shown.
    name : str
        Name of the upload.
    treatment : Treatment, optional
        Known treatment of codes for missing annotations.
    """
    others = other_questions(source, shown, chosen)
    title = "Reading the other questions" + (" again" if treatment else "")
    told = tuple((one.name, one.mapping) for one in others)
    return job_progress.result_of(
        ("build", *key, "questions", shown.name, told, name, repr(treatment)),
        title,
        lambda job: read_questions(source, others, name, treatment, job.report),
    )


def codes_of(readings: Sequence[QuestionReading]) -> Counter[str]:
    """Return codes that may mean a missing annotation in any of the questions, and how often each occurs."""
    found: Counter[str] = Counter()
    for one in readings:
        found.update({} if one.reading is None or one.reading.report is None else one.reading.report.codes)
    return found


def n_annotations(readings: Sequence[QuestionReading]) -> int:
    """Annotations of all questions that were read."""
    return sum(one.reading.dataset.n_annotations for one in readings if one.reading is not None)


def named(
    upload: str, question: str, reading: Reading, others: Sequence[QuestionReading]
) -> tuple[Reading, tuple[QuestionReading, ...]]:
    """Return the question that is shown and the others that can be opened with it, by their names.

    Parameters
    ----------
    upload, question : str
        Names.
    reading : Reading
        Reading of the question that is shown.
    others : sequence of QuestionReading
    """
    if not others:
        return _renamed(reading, upload), ()
    opened = (
        replace(one, reading=_renamed(one.reading, name_of(upload, one.name)))
        for one in unlike(reading, others)
        if one.reading is not None and not one.why
    )
    return _renamed(reading, name_of(upload, question)), tuple(opened)


def _renamed(reading: Reading, name: str) -> Reading:
    return replace(reading, dataset=reading.dataset.renamed(name))


def unlike(reading: Reading, others: Sequence[QuestionReading]) -> list[QuestionReading]:
    """Return the questions; those with exactly the annotations of an earlier one say so, as they are the same data."""
    seen, found = {reading.dataset.digest: ""}, []
    for one in others:
        if one.reading is not None and (digest := one.reading.dataset.digest) in seen:
            one = replace(one, why=f"the same annotations as {seen[digest] or 'the first question'}")
        elif one.reading is not None:
            seen[digest] = f"“{one.name}”"
        found.append(one)
    return found


def use_label(reading: Reading, opened: Sequence[QuestionReading]) -> str:
    """Return the label of the button: what is used, and what is left out."""
    every = [reading, *(one.reading for one in opened if one.reading is not None)]
    label = f"Use {plural(len(every), 'question')}, " if opened else "Use "
    label += plural(sum(one.dataset.n_annotations for one in every), "annotation")
    dropped = len(reading.report.dropped) if reading.report is not None and not opened else 0
    return f"{label}, leave out {plural(dropped, 'row')}" if dropped else label


def show(name: str, reading: Reading, others: Sequence[QuestionReading]) -> None:
    """Draw the questions that are opened together, a row for each, and why others are left out."""
    every = [QuestionReading(name, reading), *unlike(reading, others)]
    rows = []
    for one in every:
        dataset = None if one.reading is None or one.why else one.reading.dataset
        sizes = (None,) * 4 if dataset is None else (
            dataset.n_cases, dataset.n_raters if dataset.raters_identified else None, dataset.n_annotations,
            dataset.n_classes if dataset.kind != "score" else None,
        )  # fmt: skip
        rows.append((one.name, "" if dataset is None else dataset.kind, *sizes, one.why))
    heads = ["question", "annotations are", "cases", "raters", "annotations", "classes", "left out because"]
    table = pd.DataFrame(rows, columns=heads)
    if not any(one.why for one in every):
        table = table.drop(columns=heads[-1])
    counts = {name: st.column_config.NumberColumn(**columns.COUNT) for name in heads[2:6]}
    with st.expander(f"The {plural(len(every), 'question')} in this upload", key="questions_read"):
        st.caption(
            "The cases, raters and codes for missing annotations that you choose apply to all questions. The kind of "
            "annotation and the classes apply only to the first question. To set up another question, choose it as "
            "the first one."
        )
        st.dataframe(table, hide_index=True, column_config=counts, placeholder="–", key="questions_table")
