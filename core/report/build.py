"""Report of a dataset: its sections are computed and written to one HTML file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from ..analyses.base import declared_modules, declared_part
from ..analyses.blocks import Block, Grid, Section, Words
from ..analyses.comparisons import ORDER
from ..analyses.gate import GATE
from ..analyses.inputs import Inputs
from ..analyses.models import CovariateOptions
from ..analyses.questions import QUESTIONS
from ..analysis_settings import AnalysisSettings
from ..annotations.dataset import Dataset
from ..annotations.named_selection import Selection
from ..errors import InputError
from ..evaluation.predictions import Predictions
from ..evaluation.score_predictions import ScorePredictions
from ..evaluation.sweep_table import SweepPart
from ..ingest.build_dataset import ImportReport
from ..machines.marks import Machine
from ..plausibility.protocol import PlausibilityModel
from ..raters.groups import RaterFacts
from ..review.chain import Head
from ..review.random_sample import ReviewedBy
from ..review.states import CaseReview
from ..runtime.chunks import CancelToken
from ..studies.study import ReadingStudy
from ..text import exact, plural
from . import data_sections, machine_section, part_sections, truth_sections
from .page import printed, to_html

# Each section is built from the request, the keys of the chosen sections, a token that cancels, and a callable for the
# share done (see `core.runtime.chunks.map_chunks`).
_DECLARED = {name: declared_part(name) for name in declared_modules()}
_SECTIONS: dict[str, tuple[str, Callable]] = {
    "agreement": ("Do the raters agree?", data_sections.agreement),
    "gate": (GATE.question, part_sections.gate),
    "guideline": ("Which classes should be merged or redefined?", part_sections.guideline),
    "groups": ("Do groups of raters differ?", part_sections.groups),
    "order": (ORDER.question, part_sections.order),
    "covariates": ("Which columns are associated with accuracy, prevalence or difficulty?", part_sections.covariates),
    "raters": ("How accurate are raters?", data_sections.raters),
    "scores": ("How do raters score cases, and how precise are the scores?", part_sections.scores),
    "gold": ("How do raters and models compare with gold?", truth_sections.gold),
    "machines": ("Can an AI rater replace a rater?", machine_section.machines),
    "reviews": ("What did reviewers decide?", part_sections.reviews),
    "certainty": ("Which cases are uncertain?", truth_sections.certainty),
    "classifiers": ("Does the best classifier depend on γ?", truth_sections.classifiers),
    "study": ("Do readers perform better in one modality?", part_sections.study),
    "sets": ("How many classes must a list contain to include the truth?", truth_sections.sets),
    **{name: (part.question, part_sections.of_question(part)) for name, part in _DECLARED.items()},
    "methods": ("Methods", truth_sections.methods),
    "data": ("Data, and how to reproduce these numbers", data_sections.provenance),
}
_OF_CLASSES = ("guideline", "covariates", "raters", "gold", "certainty", "classifiers", "sets")
_EVERYTHING = Selection()
SECTIONS = {key: title for key, (title, _) in _SECTIONS.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ReportRequest:
    """Data and settings of a report.

    Attributes
    ----------
    dataset : Dataset
        Dataset with only the selected annotations.
    source : str
        File or sample, as on the command line.
    report : ImportReport or None
        Report on the rows of the file.
    selection : Selection
        Selection of annotations; ``dataset`` contains only these.
    selected : str
        Selection in words; empty if everything is selected.
    threshold : float, str or None
        Threshold that turns scores into classes, None if they stay scores; the label that turns sets into classes.
    settings : AnalysisSettings
        Settings: the plausibility model, γ of the section on cases, and the model that weights raters.
    reliabilities : tuple of float
        Reliabilities γ of the section on classifiers.
    classifiers : tuple of Predictions, or of ScorePredictions
        Predictions matched to what the model takes: see `core.methods.as_taken`.
    reviews : mapping of str to CaseReview
        Reviews of the cases that have been reviewed (`core.review.store.ReviewStore.cases`).
    n_kept_back : int
        Number of cases with reviews that are partly left out of ``reviews``, because the user can still review them
        blind.
    n_draws, seed : int
    record : Head or None
        End of the record of the reviews of the whole dataset.
    machines : tuple of str
        Raters of ``with_machines`` that are AI raters.
    with_machines : Dataset or None
        Dataset ``dataset`` with the annotations of the AI raters.
    marks : tuple of Machine
        Known facts about them, such as their family; by name only if nothing is known.
    part : callable or None
        Function that returns reduced draws at a reliability (`core.evaluation.sweep_table.sweep_part`, sets of up to
        three classes), from its value, a token and a function that takes the progress; for draws that exist already.
        None to draw them.
    assigned : DataFrame or None
        Cases that were assigned to people, see `core.review.assignments.assignment_table`.
    reviewed : ReviewedBy or None
        Origin of the reviewed cases in ``reviews``.
    study : ReadingStudy or None
        A reader study that belongs to the dataset, with its truth or a panel.
    requirements : tuple of str
        On the data, such as "alpha >= 0.6".
    confident : bool
        True if the whole interval must meet a requirement.
    look : int
        Number of this look at growing data, 0 if the data are analysed once.
    facts : RaterFacts or None
        Facts of the raters of the dataset, whose groups are compared.
    covariates : CovariateOptions or None
        Columns on raters and cases whose effects are estimated.
    """

    dataset: Dataset
    source: str
    settings: AnalysisSettings
    reliabilities: tuple[float, ...] = (1.0, 2.0, 3.0, 5.0, 10.0)
    report: ImportReport | None = None
    selection: Selection = _EVERYTHING
    selected: str = ""
    threshold: float | str | None = None
    classifiers: tuple[Predictions, ...] | tuple[ScorePredictions, ...] = ()
    reviews: Mapping[str, CaseReview] = field(default_factory=dict)
    n_kept_back: int = 0
    n_draws: int = 1000
    seed: int = 0
    record: Head | None = None
    machines: tuple[str, ...] = ()
    with_machines: Dataset | None = None
    marks: tuple[Machine, ...] = ()
    part: Callable[[float, CancelToken, Callable[[float], None] | None], SweepPart] | None = None
    assigned: "pd.DataFrame | None" = None
    reviewed: ReviewedBy | None = None
    study: ReadingStudy | None = None
    requirements: tuple[str, ...] = ()
    confident: bool = False
    look: int = 0
    facts: RaterFacts | None = None
    covariates: CovariateOptions | None = None

    @property
    def model(self) -> PlausibilityModel:
        """Plausibility model of the settings."""
        return self.settings.plausibility

    @property
    def reliability(self) -> float:
        """Reliability γ of the settings."""
        return self.settings.reliability

    @property
    def n_rows(self) -> int:
        """Number of rows of the file; 0 if unknown."""
        return 0 if self.report is None else self.report.n_rows

    @property
    def n_dropped(self) -> int:
        """Number of rows that were left out."""
        return 0 if self.report is None else self.report.n_rows - self.report.n_kept

    @property
    def no_classes(self) -> bool:
        """True for scores without a threshold: sections on classes are then left out."""
        return self.dataset.kind == "score" and self.threshold is None


@dataclass(frozen=True, slots=True, eq=False)
class OtherQuestion:
    """Another question of the upload.

    Attributes
    ----------
    name : str
    dataset : Dataset
    request : callable
        What its part of the report is made of, from a token: settings take time.
    """

    name: str
    dataset: Dataset
    request: Callable[[CancelToken], ReportRequest]


def build_report(
    request: ReportRequest,
    sections: Sequence[str] = tuple(SECTIONS),
    *,
    question: str = "",
    others: Sequence[OtherQuestion] = (),
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    answered: Callable[[str, str], None] | None = None,
) -> bytes:
    """Return one self-contained HTML file, a summary first; sections without content are left out.

    Parameters
    ----------
    request : ReportRequest
    sections : sequence of str
        Keys of `SECTIONS`, in the order wanted.
    question : str
        Name of the question of ``request``, if there are others.
    others : sequence of OtherQuestion
        Questions of the same upload: all are compared, and each has all sections.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    answered : callable, optional
        Called with the title of a section and its first sentence, as soon as they are known; with an empty sentence
        for a section without content, which is left out.

    Raises
    ------
    InputError
        A section does not exist, or there is none.
    """
    unknown = [key for key in sections if key not in _SECTIONS]
    if unknown or not sections:
        asked = f"Unknown section {unknown[0]!r}." if unknown else "Could not write the report: no section is chosen."
        raise InputError(asked, f"Sections: {', '.join(SECTIONS)}.")
    token = token or CancelToken()

    def part(place: int) -> Callable[[float], None]:
        return lambda share: progress((place + share) / (1 + len(others))) if progress is not None else None

    built, todo = _built(request, sections, question, token, part(0), answered)
    if not built:
        built.append(
            Section("nothing", "Nothing to report", (Words("None of the chosen sections applies to these data."),))
        )
    elif len(sections) > 1:
        built.insert(0, _summary(request, built, todo, question))
    if others:
        compared = [(question, request.dataset), *((one.name, one.dataset) for one in others)]
        built.insert(0, _compared(compared, token))
    for place, other in enumerate(others, 1):
        more, _ = _built(other.request(token), sections, other.name, token, part(place), answered)
        built += [replace(one, key=f"{one.key}-{place}") for one in more]
    dataset = request.dataset
    size = f"{plural(dataset.n_cases, 'case')} and {_raters(dataset)}"
    footer = f"Made with Plurality from {size}. This file works offline."
    return to_html(f"{dataset.name}: ground truth and its uncertainty", built, footer)


def _built(
    request: ReportRequest,
    sections: Sequence[str],
    question: str,
    token: CancelToken,
    progress: Callable[[float], None],
    answered: Callable[[str, str], None] | None,
) -> tuple[list[Section], list[Words]]:
    """Return the sections of one dataset, and what to do."""
    built: list[Section] = []
    todo: list[Words] = []
    wanted, sections = sections, _possible(request, sections)
    if not request.no_classes:
        request = replace(request, part=truth_sections.drawn_once(request))
    for place, key in enumerate(sections):
        token.check()
        title, build = _SECTIONS[key]

        def part(share: float, place: int = place) -> None:
            progress((place + share) / len(sections))

        part(0.0)
        blocks = build(request, sections, token, part)
        todo += [block for block in blocks if _is_todo(block)]
        if kept := tuple(block for block in blocks if not _is_todo(block)):
            built.append(Section(key, f"{question}: {title}" if question else title, kept))
            if answered is not None and (answer := _answer(built[-1])):
                answered(*answer)
    has = {section.key for section in built}
    for key in wanted:
        if answered is not None and key not in has:
            title = SECTIONS[key]
            answered(f"{question}: {title}" if question else title, "")
    return built, todo


def _compared(questions: Sequence[tuple[str, Dataset]], token: CancelToken) -> Section:
    """Compare all questions of the upload."""
    part, inputs = QUESTIONS.parts[0], Inputs(questions[0][1], questions=tuple(questions))
    found = part.answer(inputs, token=token)
    return Section("questions", QUESTIONS.question, tuple(part.blocks(found, inputs)))


def _raters(dataset: Dataset) -> str:
    """Return how many raters there are, if annotations identify raters."""
    return plural(dataset.n_raters, "rater") if dataset.raters_identified else "raters without names"


def _possible(request: ReportRequest, sections: Sequence[str]) -> tuple[str, ...]:
    """Return the sections that apply to these data; predictors of scores are in the section on scores."""
    of_scores = any(isinstance(one, ScorePredictions) for one in request.classifiers)
    absent = set(_OF_CLASSES) if request.no_classes else {"classifiers", "sets"} if of_scores else set()
    return tuple(key for key in sections if key not in absent)


def _is_todo(block: Block) -> bool:
    return isinstance(block, Words) and block.kind == "todo"


def _answer(section: Section) -> tuple[str, str] | None:
    """Return the question of a section and its most important sentence."""
    leads = [block.plain for block in printed(section.blocks) if isinstance(block, Words) and block.kind == "lead"]
    return (section.title, leads[0]) if leads else None


def _summary(request: ReportRequest, built: Sequence[Section], todo: Sequence[Words], question: str) -> Section:
    """Return the summary: the data, the first answer of each section, and what to do; one printed page."""
    dataset = request.dataset
    size = f"{plural(dataset.n_cases, 'case')}, {_raters(dataset)}, {plural(dataset.n_annotations, 'annotation')}"
    selected = f" Selection: {request.selected}." if request.selected else ""
    asked = f"{size}.{selected} Reliability γ = {exact(request.reliability)}."
    answers = [answer for section in built if (answer := _answer(section))]
    blocks: list[Block] = [Words(asked)]
    if isinstance(request.threshold, str) and dataset.kind == "set":
        blocks.append(Words(data_sections.of_label(request.threshold)))
    if answers:
        blocks.append(Grid(pd.DataFrame(answers, columns=["question", "answer"]), "Data overview."))
    blocks += [Words("What to do", "lead"), *todo] if todo else []
    return Section("summary", f"{question}: Summary" if question else "Summary", tuple(blocks))
