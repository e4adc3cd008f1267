"""Questions of one upload side by side: agreement, sizes, the rater model, and flagged raters of each."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from ..agreement.applicable_coefficients import coefficients_for
from ..agreement.coefficient_methods import CoefficientMethod, any_coefficient
from ..agreement.intervals import Coefficient
from ..annotations.dataset import Dataset
from ..errors import PluralityError
from ..methods import AS_IS, Verdict, method_named
from ..models.rater_methods import RaterModelMethod
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from ..text import listed, plural, shorten, with_interval
from .base import Analysis, option, part_of
from .blocks import Block, Download, Figure, Grid, Name, Span, Words
from .inputs import Inputs
from .raters import RATERS
from .schema import Column, frame_of, intervals

_MOST_NAMED = 5
_OF_SCORES = "Correlation with the case"
COLUMNS = (
    Column("question"),
    Column("kind", "annotations are"),
    Column("coefficient", "agreement by"),
    *intervals("agreement", low="ci_low", high="ci_high", heads=("95% low", "95% high")),
    Column("n_cases", "cases", "count"),
    Column("n_raters", "raters", "count"),
    Column("n_annotations", "annotations", "count"),
    Column("model", "raters judged by"),
    Column("n_flagged", "flagged raters", "amount", digits=0),
    Column("flagged", "who is flagged"),
    Column("note", "remark"),
)


@dataclass(frozen=True, slots=True, repr=False)
class QuestionSummary(Result):
    """One question of an upload.

    Attributes
    ----------
    question, kind : str
    coefficient : Coefficient or None
        Coefficient to quote; None if nothing can be compared.
    n_cases, n_raters, n_annotations : int
    model : str
        Title of the rater model that raters are judged by; empty if they are not judged.
    flagged : tuple of str or None
        Names of flagged raters; None if raters are not judged.
    note : str
        Reason why agreement or raters are missing.
    """

    question: str
    kind: str
    coefficient: Coefficient | None
    n_cases: int
    n_raters: int
    n_annotations: int
    model: str
    flagged: tuple[str, ...] | None
    note: str

    @property
    def measure(self) -> str:
        """Title of the coefficient, with its weights; empty if there is none."""
        if self.coefficient is None:
            return ""
        method, how = method_named(CoefficientMethod, self.coefficient.name), self.coefficient.weights
        plain = self.kind == "score" or how == "identity" or not method.says_how
        return method.title if plain else f"{method.title_weighted or method.title}, {how}"

    COLUMNS = ("question", "kind", "n_cases", "n_raters", "n_annotations", "model", "note")


@dataclass(frozen=True, slots=True, repr=False)
class QuestionsOverview(Result):
    """All questions of an upload.

    Attributes
    ----------
    questions : tuple of QuestionSummary
            Summaries in the order of the file.
    """

    questions: tuple[QuestionSummary, ...]

    TABLES = ("questions",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.questions, QuestionSummary.COLUMNS)


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Options of the overview of questions.

    Attributes
    ----------
    level : float
    seed : int
    """

    level: float = option(0.95, "The confidence level of the intervals")
    seed: int = 0


def compute(
    inputs: Inputs,
    options: QuestionOptions,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> QuestionsOverview:
    """Compute agreement and flagged raters of each question, as on its own pages."""
    found = []
    for place, (name, dataset) in enumerate(inputs.questions):
        if token is not None:
            token.check()
        if progress is not None:
            progress(place / len(inputs.questions))
        found.append(_summary(name, dataset, options, token))
    return QuestionsOverview(tuple(found))


def _summary(name: str, dataset: Dataset, options: QuestionOptions, token: CancelToken | None) -> QuestionSummary:
    verdict = any_coefficient(dataset)
    quoted = coefficients_for(dataset, options.level).quoted if verdict.possible else None
    why = verdict.reason if quoted is None else quoted.note if quoted.value is None else ""
    notes = [f"No agreement: {why}"] if why else []
    model, flagged = "", None
    try:
        model, flagged, unjudged = _flagged(dataset, options, token)
    except PluralityError as error:
        unjudged = str(error).rstrip(".")
    if unjudged:
        notes.append(f"Cannot judge raters: {unjudged}")
    return QuestionSummary(
        name, dataset.kind, quoted, dataset.n_cases, dataset.n_raters if dataset.raters_identified else 0,
        dataset.n_annotations, model, flagged, ". ".join(notes),
    )  # fmt: skip


def _flagged(
    dataset: Dataset, options: QuestionOptions, token: CancelToken | None
) -> tuple[str, tuple[str, ...] | None, str]:
    """Return the model that judges raters, those flagged (None if not judged), and the reason if none can be."""
    if dataset.kind == "set":
        return "", None, "label sets are evaluated one label at a time"
    scored = dataset.kind == "score"
    part, data = RATERS.part("scores" if scored else "raters"), dataset if scored else dataset.as_classes()[0]
    verdict = part.applicable(data)
    if not verdict.possible:
        return "", None, verdict.reason
    asked = {"level": options.level} | ({} if scored else {"seed": options.seed})
    found = part.answer(data, part.resolve(**asked), token=token)
    judged = found if scored else found.act.judged
    flagged = [flag.rater for flag in found.flags()] if scored else list(found.act.flagged())
    if not judged.n_judged and not flagged:
        return "", None, judged.why
    names = data.raters if scored else found.act.raters
    model = _OF_SCORES if scored else method_named(RaterModelMethod, found.table.model).title
    return model, tuple(names[rater] for rater in flagged), ""


def present(found: QuestionsOverview, inputs: Inputs, options: QuestionOptions) -> list[Block]:
    """Show the range of agreement, raters flagged on several questions, a figure and the table."""
    from ..figures.estimates import estimates  # loads plotly, which no command needs

    table = table_of(found, inputs, options)
    blocks: list[Block] = [Words(lead(found), "lead")]
    if again := _flagged_again(found):
        blocks.append(Words(again))
    for place, (name, measured) in enumerate(_by_measure(found).items()):
        if len(measured) > 1:
            lines = [(shorten(one.question, 40), *_values(one.coefficient)) for one in measured]
            draw = partial(estimates, lines, title="Agreement on each question", axis=name)
            alt = f"Agreement on each question, measured by {name}, with its interval"
            blocks.append(Figure(draw, alt, f"questions_agreement-{place}"))
    caption = "Questions in this upload. Coefficients of different kinds cannot be compared."
    return [
        *blocks,
        Grid(table, caption, 100, COLUMNS, "questions_table"),
        Download(table, "Questions", "questions", "questions_overview"),
    ]


def lead(found: QuestionsOverview) -> list[Span]:
    """Compare the lowest and the highest agreement, by the coefficient that most questions have."""
    said: list[Span] = [f"This upload has {plural(len(found.questions), 'question')}."]
    title, measured = max(_by_measure(found).items(), key=lambda one: len(one[1]), default=("", []))
    if len(measured) < 2:
        return said
    ordered = sorted(measured, key=lambda one: _values(one.coefficient)[0])
    low, high = ordered[0], ordered[-1]
    ends = [_values(one.coefficient) for one in (low, high)]
    of = "" if len(measured) == len(found.questions) else f", available for {len(measured):,} of them,"
    said += [f" {title}{of} is lowest for “", Name(low.question), f"”, {with_interval(*ends[0])}, and highest for “"]
    said += [Name(high.question), f"”, {with_interval(*ends[1])}."]
    if not ends[0][2] < ends[1][1]:
        said.append(" The intervals overlap, so this order may be due to chance.")
    return said


def _flagged_again(found: QuestionsOverview) -> list[Span]:
    """Name the raters who are flagged on several questions."""
    judged = [one for one in found.questions if one.flagged is not None]
    times = Counter(name for one in judged for name in one.flagged or ())
    several = [(name, n) for name, n in times.most_common() if n > 1]
    if not several:
        return []
    more = len(several) - _MOST_NAMED
    said: list[Span] = ["Flagged on several questions: "]
    for place, (name, n) in enumerate(several[:_MOST_NAMED]):
        said += [", "] * (place > 0)
        said += [Name(name), f" ({n:,} of {len(judged):,})"]
    return [*said, f", and {more:,} more." if more > 0 else "."]


def _by_measure(found: QuestionsOverview) -> dict[str, list[QuestionSummary]]:
    """Group the questions with a known agreement by their coefficient."""
    groups: dict[str, list[QuestionSummary]] = {}
    for one in found.questions:
        if one.coefficient is not None and one.coefficient.value is not None:
            groups.setdefault(one.measure, []).append(one)
    return groups


def _values(coefficient: Coefficient | None) -> tuple[float, float, float]:
    values = (None,) * 3 if coefficient is None else (coefficient.value, coefficient.ci_low, coefficient.ci_high)
    return tuple(float("nan") if value is None else value for value in values)  # type: ignore[return-value]


def table_of(found: QuestionsOverview, inputs: Inputs, options: QuestionOptions) -> pd.DataFrame:
    """Return the table with one row per question, in the order of the file."""
    return frame_of(
        (
            (
                one.question, one.kind, one.measure, *_values(one.coefficient),
                one.n_cases, one.n_raters, one.n_annotations, one.model,
                float("nan") if one.flagged is None else len(one.flagged), listed(one.flagged or ()), one.note,
            )
            for one in found.questions
        ),
        COLUMNS,
    )  # fmt: skip


def _applicable(inputs: Inputs) -> Verdict:
    possible = len(inputs.questions) > 1
    return Verdict("questions", "Questions", possible, AS_IS if possible else "this upload has only one question")


_OVERVIEW = part_of(__name__, "questions", "Questions", _applicable, QuestionOptions)
QUESTIONS = Analysis("questions", "Questions", "How do the questions in this upload compare?", (_OVERVIEW,))
