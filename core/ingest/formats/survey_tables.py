"""Tables of surveys and screening: Qualtrics, SurveyMonkey and Google Forms, a row per rater, and notes of Rayyan."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...annotations.columns import as_numpy
from ...errors import InputError
from ..column_evidence import ColumnEvidence, is_fact_by_name
from ..column_mapping import Mapping, likeness, words
from ..companion_files import CaseTable, SideFiles
from .questionnaire import Questionnaire
from .raw_table import Dropped, RawTable
from .reader import Reader
from .source import Question, Source

QUALTRICS, QUALTRICS_TITLE = "qualtrics", "Qualtrics (responses CSV)"
MONKEY, MONKEY_TITLE = "surveymonkey", "SurveyMonkey (responses CSV)"
FORMS, FORMS_TITLE = "google-forms", "Google Forms (responses CSV)"
RAYYAN, RAYYAN_TITLE = "rayyan", "Rayyan (articles CSV)"
_OF_QUALTRICS = words(
    "StartDate EndDate Status IPAddress Progress Finished RecordedDate ResponseId RecipientLastName RecipientFirstName "
    "RecipientEmail ExternalReference ExternalDataReference LocationLatitude LocationLongitude DistributionChannel "
    "UserLanguage Q_RecaptchaScore Q_RelevantIDDuplicate Q_DuplicateRespondent"
) | {"Duration (in seconds)"}
_OF_MONKEY = frozenset(
    {"respondent id", "collector id", "start date", "end date", "date created", "date modified", "ip address"}
    | {"email address", "first name", "last name", "custom data 1", "custom value 1"}
)
_STAMPS = frozenset({"timestamp", "zeitstempel", "horodateur", "marca temporal", "tijdstempel", "carimbo de data/hora"})
_EMAIL = re.compile(r"e-?mail.*|username|user name|your name|name", re.IGNORECASE)
_GRID = re.compile(r".*\[.+\]\s*")
_INCLUSION = "RAYYAN-INCLUSION:"
_DECISION = re.compile(r'"((?:[^"\\]|\\.)*)"\s*=>\s*"((?:[^"\\]|\\.)*)"')


def recognise_qualtrics(columns: Sequence[str]) -> str | None:
    """Recognise columns `ResponseId`, `RecordedDate` and `Finished`."""
    needed = {"ResponseId", "RecordedDate", "Finished"}
    return "columns ResponseId, RecordedDate and Finished" if needed <= set(columns) else None


def read_qualtrics(raw: RawTable) -> Source:
    """Read survey questions with the same answers as cases of one question; each response is a rater.

    The rows of titles and of import ids below the header are not responses; previews and spam are left out.
    """
    names = [name for name in raw.columns if name not in _OF_QUALTRICS]
    first = [raw.table[name][0].as_py().strip() for name in names] if raw.table.num_rows else []
    status = _texts(raw, "Status") if "Status" in raw.columns else [""] * raw.table.num_rows
    ids = _texts(raw, "ResponseId")
    heads = [one.casefold() in ("response id", "responseid") or one.startswith('{"ImportId"') for one in ids]
    said = [one.casefold() in ("survey preview", "survey test", "spam") for one in status]
    tests = [test and not head for test, head in zip(said, heads, strict=True)]
    titles = dict(zip(names, first, strict=True)) if heads and heads[0] else {}
    kept = ~(np.array(heads, bool) | np.array(tests, bool))
    reasons = {True: "a second header row", False: "a preview, a test or spam"}
    dropped = [Dropped(int(raw.line[row]), reasons[heads[row]]) for row in np.flatnonzero(~kept)]
    rest = replace(raw, table=raw.table.filter(pa.array(kept)), line=raw.line[kept], dropped=(*raw.dropped, *dropped))
    shown = CaseTable(tuple(titles), text=tuple(titles.values())) if titles else None
    return _rows_of_raters(
        QUALTRICS, QUALTRICS_TITLE, recognise_qualtrics(raw.columns), rest, "ResponseId", names, shown
    )


def recognise_monkey(columns: Sequence[str]) -> str | None:
    """Recognise the columns with ids of respondents and collectors."""
    plain = {_plain(column) for column in columns}
    return "columns Respondent ID and Collector ID" if {"respondent id", "collector id"} <= plain else None


def _plain(column: str) -> str:
    return " ".join(column.casefold().replace("_", " ").split())


def read_monkey(raw: RawTable) -> Source:
    """Read survey questions with the same answers as cases of one question, and responses as raters.

    A second row of the header, which says "Response" below each question, is not a response.
    """
    who = next(column for column in raw.columns if _plain(column) == "respondent id")
    names = [column for column in raw.columns if _plain(column) not in _OF_MONKEY]
    if raw.table.num_rows and not _texts(raw, who)[0]:
        head = Dropped(int(raw.line[0]), "a second header row")
        raw = replace(raw, table=raw.table.slice(1), line=raw.line[1:], dropped=(*raw.dropped, head))
    return _rows_of_raters(MONKEY, MONKEY_TITLE, recognise_monkey(raw.columns), raw, who, names, None)


def recognise_forms(columns: Sequence[str]) -> str | None:
    """Recognise a first column of times with one of addresses or a grid of questions, but no case or annotation."""
    if not columns or columns[0].strip().casefold() not in _STAMPS or len(columns) < 4:
        return None
    grid = [column for column in columns if _GRID.fullmatch(column)]
    others = [column for column in columns[1:] if not _EMAIL.fullmatch(column.strip())]
    plain = any(likeness(column, role) == 2 for column in others for role in ("case", "rater", "answer"))
    if len(grid) > 1 or (len(others) < len(columns) - 1 and not plain):
        return f"a first column {columns[0]!r} and a column for each case"
    return None


def read_forms(raw: RawTable) -> Source:
    """Read form questions with the same answers as cases of one question; each row is a rater."""
    who = next((column for column in raw.columns[1:] if _EMAIL.fullmatch(column.strip())), None)
    names = [column for column in raw.columns[1:] if column != who]
    return _rows_of_raters(FORMS, FORMS_TITLE, recognise_forms(raw.columns), raw, who, names, None)


def _rows_of_raters(
    name: str,
    title: str,
    why: str | None,
    raw: RawTable,
    who: str | None,
    columns: Sequence[str],
    shown: CaseTable | None,
) -> Source:
    """Return one question for each group of columns that share their answers, with a case for each column of it."""
    seen = ColumnEvidence(raw)
    free = [one for one in columns if seen.n_given(one) and not is_fact_by_name(one) and not seen.is_free_text(one)]
    groups = [group for group in seen.groups_of_one_vocabulary(free) if len(group) > 1]
    if not groups:
        raise InputError(
            f"Could not read {title}: no two columns use the same set of answers.",
            "Use one column per case with the same choices, or open the file in another format (--format wide).",
        )
    said = {"rater": "each row is a response", "across": "these columns have the same set of answers"}
    questions = []
    for group in groups:
        mapping = Mapping("transposed", rater=who, across=tuple(group), why=said)
        asked = "answers" if len(groups) == 1 else ", ".join(group[:3]) + (", …" if len(group) > 3 else "")
        questions.append(Question(asked, raw, mapping, raters_identified=True))
    return Source(name, title, why or "said so", tuple(questions), SideFiles(cases=shown))


def recognise_rayyan(columns: Sequence[str]) -> str | None:
    """Recognise a column `notes`; `holds_decisions` tests for decisions in it."""
    return "decisions in the “notes” column" if _notes(columns) is not None else None


def holds_decisions(raw: RawTable) -> bool:
    """Return whether some notes have decisions of reviewers."""
    column = _notes(raw.columns)
    if column is None:
        return False
    found = pc.match_substring(pc.cast(raw.table[column].slice(0, 5_000), pa.string()), _INCLUSION)
    return bool(as_numpy(found).any())


def read_rayyan(raw: RawTable) -> Source:
    """Read every decision in the notes of an article: ``RAYYAN-INCLUSION: {"ann"=>"Included", …}``."""
    column = _notes(raw.columns) or "notes"
    key = next((one for one in ("key", "article_id", "id", "title") if one in raw.columns), None)
    names = _texts(raw, key) if key is not None else [str(row + 1) for row in range(raw.table.num_rows)]
    asked = Questionnaire(("row", "decision"))
    for row, notes in enumerate(_texts(raw, column)):
        part = notes.partition(_INCLUSION)[2].partition("|")[0]
        decisions = _DECISION.findall(part)
        for place, (who, decision) in enumerate(decisions, 1):
            asked.begin(int(raw.line[row]), (row + 1, place), names[row], who)
            asked.answer("decision", [[decision]] if decision.strip() else [])
        if not decisions:
            asked.begin(int(raw.line[row]), (row + 1, 0), names[row], "")
            asked.drop("no decision in the notes")
    titles = _texts(raw, "title") if "title" in raw.columns else None
    first = {name: row for row, name in reversed(list(enumerate(names)))}
    shown = CaseTable(tuple(first), text=tuple(titles[row] for row in first.values())) if titles else None
    why = recognise_rayyan(raw.columns) or "said so"
    return Source(RAYYAN, RAYYAN_TITLE, why, asked.questions(raw.notes), SideFiles(cases=shown))


def _notes(columns: Sequence[str]) -> str | None:
    return next((column for column in columns if column.strip().casefold() == "notes"), None)


def _texts(raw: RawTable, column: str) -> list[str]:
    return [(text or "").strip() for text in raw.table[column].cast(pa.string()).to_pylist()]


METHODS = (
    Reader(
        QUALTRICS,
        QUALTRICS_TITLE,
        "table",
        recognise_qualtrics,
        read_qualtrics,
        place=85,
        plainly="Responses to a Qualtrics survey, one row per rater and one column per case.",
        exactly="CSV or TSV of responses with `ResponseId` and one or three header rows.",
        sources=("Qualtrics, data export CSV",),
    ),
    Reader(
        FORMS,
        FORMS_TITLE,
        "table",
        recognise_forms,
        read_forms,
        place=86,
        plainly="Responses to a Google form, one row per rater and one column per case.",
        exactly="CSV or sheet of responses: a time stamp, sometimes an e-mail address, and one column per question.",
        sources=("Google Forms, responses CSV",),
    ),
    Reader(
        MONKEY,
        MONKEY_TITLE,
        "table",
        recognise_monkey,
        read_monkey,
        place=88,
        plainly="Responses to a SurveyMonkey survey, one row per rater and one column per case.",
        exactly="CSV or sheet of responses with `Respondent ID`, `Collector ID`, and one or two header rows.",
        sources=("SurveyMonkey, exporting survey results, all responses data",),
    ),
    Reader(
        RAYYAN,
        RAYYAN_TITLE,
        "table",
        recognise_rayyan,
        read_rayyan,
        holds=holds_decisions,
        place=87,
        plainly="Articles in a Rayyan review, with the decision of each reviewer.",
        exactly='CSV of articles whose `notes` contain `RAYYAN-INCLUSION: {"name"=>"Included"}`.',
        sources=("Rayyan, Understanding your Rayyan export files",),
    ),
)
