"""Several questions of one file on the command line: all side by side, or a command for each of them."""

import re
from collections.abc import Callable, Iterator
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import belongings, library
from ..errors import InputError, PluralityError
from ..ingest.read_files import open_named
from ..ingest.several_questions import joint_questions
from .inputs import PIPE, progress, read_warned, rows_of

if TYPE_CHECKING:
    import pandas as pd

ALL_QUESTIONS = "all"
_DIGEST = re.compile(r"[0-9a-f]{32}")
_WRITE = ("out", "cases_out", "summary")


def questions(options) -> tuple[dict, "pd.DataFrame"]:
    """Compute agreement, the rater model and flagged raters of each question."""
    from ..analyses.blocks import Words
    from ..analyses.inputs import Inputs
    from ..analyses.questions import QUESTIONS, lead

    found = [(name, read_warned(one).dataset) for name, one in each_question(options)]
    inputs, part = Inputs(found[0][1], questions=tuple(found)), QUESTIONS.parts[0].with_options(seed=options.seed)
    chosen = part.resolve(**part.given(options))
    result = part.answer(inputs, chosen, progress=progress)
    table = part.frame(result, inputs, chosen)
    words = Words(lead(result)).plain
    digests = {name: dataset.digest for name, dataset in found}
    return {"words": words, "rows": rows_of(table), "digests": digests, "seed": options.seed}, table


def answer_each(
    command: Callable[[Any], tuple[dict, Any]], options
) -> tuple[dict, "pd.DataFrame | Callable[[], pd.DataFrame]"]:
    """Run a command on each question; its error is in the result if it does not apply to one of them.

    Parameters
    ----------
    command : callable
    options
        Options of the command line.

    Raises
    ------
    InputError
        The command writes a file, or the file has no questions.
    PluralityError
        The command does not apply to any question.
    """
    writes = next((name for name in _WRITE if getattr(options, name, None)), None)
    if writes is not None:
        raise InputError(
            f"Could not use --{writes.replace('_', '-')} for all questions: it writes only one file.",
            "Choose one question (--question NAME).",
        )
    answers: dict[str, dict] = {}
    tables, errors = {}, []
    for name, one in each_question(options):
        try:
            answers[name], tables[name] = command(one)
        except PluralityError as error:
            errors.append(error)
            answers[name] = {"error": str(error)}
            one.cautions.append(str(error))
        options.cautions += [f"{name}: {caution}" for caution in one.cautions]
    if not tables:
        raise errors[0]
    outcome = {"ok": all(answer.get("ok", True) for answer in answers.values())}

    def table() -> "pd.DataFrame":
        import pandas as pd

        frames = {name: made() if callable(made) else made for name, made in tables.items()}
        return pd.concat([frame.assign(question=name) for name, frame in frames.items()], ignore_index=True)

    return {"questions": answers, **outcome}, table


def each_question(options) -> Iterator[tuple[str, Any]]:
    """Yield the name of each question with options that read only it; a named question is the only one.

    Parameters
    ----------
    options
        Options of the command line.

    Raises
    ------
    InputError
        The questions cannot be listed.
    """
    if options.answer:
        raise InputError(
            "Could not use --class: it names the column of a single question.",
            "Leave out --class, or choose a question.",
        )
    for name, file, question in _listed(options):
        one = copy(options)
        one.file, one.question, one.cautions = file, question, []
        yield name, one


def _listed(options) -> list[tuple[str, str, str | None]]:
    """List name, file and question of each dataset of the upload."""
    if options.file == PIPE:
        raise InputError("Cannot read all questions from piped input: it can be read only once.", "Save it to a file.")
    if not Path(options.file).exists():
        digest = library.present_digest(options.file) if _DIGEST.fullmatch(options.file) else ""
        found = belongings.questions_of(digest) if digest else {}
        return [(name, one, None) for name, one in found.items()] or [(options.file, options.file, None)]
    source, *_ = open_named(options.file, format=options.format, most_columns=options.most_columns)
    joint = joint_questions(source)
    joint = tuple(one for one in joint if one.name == options.question) or joint  # a question may be called "all"
    return [(one.name, options.file, one.name) for one in joint]
