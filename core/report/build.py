"""A report of a dataset: its sections worked out and put into one HTML file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from ..analyses.blocks import Block, Grid, Section, Words
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
from . import (
    data_sections,
    gold_section,
    group_section,
    machine_section,
    review_section,
    score_section,
    study_section,
    truth_sections,
)
from .page import printed, to_html

_SECTIONS: dict[str, tuple[str, Callable]] = {
    "agreement": ("Do the raters agree?", data_sections.agreement),
    "gate": ("Do the data meet the requirements?", data_sections.gate),
    "guideline": ("Which classes to merge or rewrite?", data_sections.guideline),
    "groups": ("Do groups of raters differ?", group_section.groups),
    "raters": ("Who is right?", data_sections.raters),
    "scores": ("How do raters score, and how well are scores known?", score_section.scores),
    "gold": ("How do raters and models compare with gold?", gold_section.gold),
    "machines": ("Can an AI model replace a rater?", machine_section.machines),
    "reviews": ("What did reviews decide?", review_section.reviews),
    "certainty": ("Which cases are uncertain?", truth_sections.certainty),
    "classifiers": ("Does the best classifier depend on γ?", truth_sections.classifiers),
    "study": ("Do readers decide better in one modality?", study_section.study),
    "sets": ("How many classes must a classifier list?", truth_sections.sets),
    "methods": ("Methods", truth_sections.methods),
    "data": ("The data, and how to reproduce these numbers", data_sections.provenance),
}
_OF_CLASSES = ("guideline", "raters", "gold", "certainty", "classifiers", "sets")
_EVERYTHING = Selection()
SECTIONS = {key: title for key, (title, _) in _SECTIONS.items()}


@dataclass(frozen=True, slots=True, eq=False)
class ReportRequest:
    """What a report is made of.

    Attributes
    ----------
    dataset : Dataset
        With only the annotations that count.
    source : str
        File or sample, as it stands on the command line.
    report : ImportReport or None
        What became of the rows of the file.
    selection : Selection
        What counts; ``dataset`` holds only that.
    selected : str
        The same in words; empty where everything counts.
    threshold : float, str or None
        That scores become classes by, none where they stay scores; the label that sets become classes by.
    settings : AnalysisSettings
        The plausibility model, γ of the section on cases, and the model that weighs raters.
    reliabilities : tuple of float
        Of the section on classifiers.
    classifiers : tuple of Predictions, or of ScorePredictions
        Matched to what the model takes: see `core.methods.as_taken`.
    reviews : mapping of str to CaseReview
        Of the cases that have been reviewed (`core.review.store.ReviewStore.cases`).
    n_kept_back : int
        Cases of whose reviews something is not in ``reviews``, because who asks can still read them blind.
    n_draws, seed : int
    record : Head or None
        Where the record of the reviews of the whole dataset ends.
    machines : tuple of str
        Raters of ``with_machines`` who are machines.
    with_machines : Dataset or None
        ``dataset`` with their annotations.
    marks : tuple of Machine
        What is known of them, such as their family; by their names where nothing is.
    part : callable or None
        Reduced draws at a reliability (`core.evaluation.sweep_table.sweep_part`, sets of up to three classes), from its
        value, a token and what is told how far it is; where others have them already. None draws them.
    assigned : DataFrame or None
        Cases that were given to people, see `core.review.assignments.assignment_table`.
    reviewed : ReviewedBy or None
        How the cases of ``reviews`` came to be reviewed.
    study : ReadingStudy or None
        A reader study that belongs to the dataset, with its truth or a panel.
    requirements : tuple of str
        On the data, such as "alpha >= 0.6".
    facts : RaterFacts or None
        Of the raters of the dataset, whose groups are compared.
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
    facts: RaterFacts | None = None

    @property
    def model(self) -> PlausibilityModel:
        """The plausibility model of the settings."""
        return self.settings.plausibility

    @property
    def reliability(self) -> float:
        """γ of the settings."""
        return self.settings.reliability

    @property
    def no_classes(self) -> bool:
        """Whether these are scores that nobody split in classes: sections of classes are then not there."""
        return self.dataset.kind == "score" and self.threshold is None


def build_report(
    request: ReportRequest,
    sections: Sequence[str] = tuple(SECTIONS),
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    answered: Callable[[str, str], None] | None = None,
) -> bytes:
    """One self-contained HTML file, a summary first; a section that has nothing to say is not there.

    Parameters
    ----------
    request : ReportRequest
    sections : sequence of str
        Keys of `SECTIONS`, in the order wanted.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    answered : callable, optional
        Told the title of a section and its first sentence, as soon as they are known.

    Raises
    ------
    InputError
        There is no such section, or none is asked for.
    """
    unknown = [key for key in sections if key not in _SECTIONS]
    if unknown or not sections:
        asked = f"There is no section {unknown[0]!r}." if unknown else "No section is asked for."
        raise InputError(asked, f"The sections are {', '.join(SECTIONS)}.")
    token, built = token or CancelToken(), []
    todo: list[Words] = []
    sections = _possible(request, sections)
    if not request.no_classes:
        request = replace(request, part=truth_sections.drawn_once(request))
    for place, key in enumerate(sections):
        token.check()
        title, build = _SECTIONS[key]

        def part(share: float, place: int = place) -> None:
            if progress is not None:
                progress((place + share) / len(sections))

        part(0.0)
        blocks = build(request, sections, token, part)
        todo += [block for block in blocks if _is_todo(block)]
        if kept := tuple(block for block in blocks if not _is_todo(block)):
            built.append(Section(key, title, kept))
            if answered is not None and (answer := _answer(built[-1])):
                answered(*answer)
    if not built:
        built.append(Section("nothing", "Nothing to report", (Words("The data contain nothing for these sections."),)))
    elif len(sections) > 1:
        built.insert(0, _summary(request, built, todo))
    dataset = request.dataset
    size = f"{plural(dataset.n_cases, 'case')}, {_raters(dataset)}"
    footer = f"Made with Plurality from {size}. This file loads nothing from other computers."
    return to_html(f"{dataset.name}: ground truth and its uncertainty", built, footer)


def _raters(dataset: Dataset) -> str:
    """How many raters, where annotations say whose they are."""
    return plural(dataset.n_raters, "rater") if dataset.raters_identified else "raters without names"


def _possible(request: ReportRequest, sections: Sequence[str]) -> tuple[str, ...]:
    """Sections whose question these data can be asked; predictors of scores stand beside the scores."""
    of_scores = any(isinstance(one, ScorePredictions) for one in request.classifiers)
    absent = set(_OF_CLASSES) if request.no_classes else {"classifiers", "sets"} if of_scores else set()
    return tuple(key for key in sections if key not in absent)


def _is_todo(block: Block) -> bool:
    return isinstance(block, Words) and block.kind == "todo"


def _answer(section: Section) -> tuple[str, str] | None:
    """What a section asks, and its most important sentence."""
    leads = [block.plain for block in printed(section.blocks) if isinstance(block, Words) and block.kind == "lead"]
    return (section.title, leads[0]) if leads else None


def _summary(request: ReportRequest, built: Sequence[Section], todo: Sequence[Words]) -> Section:
    """What was asked, what each section answers first, and what to do; one page of print."""
    dataset = request.dataset
    size = f"{plural(dataset.n_cases, 'case')}, {_raters(dataset)}, {plural(dataset.n_annotations, 'annotation')}"
    asked = f"Of {size}: {request.selected or 'all annotations'}, at reliability γ = {exact(request.reliability)}."
    answers = [answer for section in built if (answer := _answer(section))]
    blocks: list[Block] = [Words(asked)]
    if isinstance(request.threshold, str) and dataset.kind == "set":
        blocks.append(Words(data_sections.of_label(request.threshold)))
    if answers:
        blocks.append(Grid(pd.DataFrame(answers, columns=["question", "answer"]), "What the data show."))
    blocks += [Words("What to do", "lead"), *todo] if todo else []
    return Section("summary", "Summary", tuple(blocks))
