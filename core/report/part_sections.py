"""Sections that print parts of analyses as they are: requirements, groups, items, studies, scores, reviews."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

import pandas as pd

from ..analyses.base import AnalysisPart
from ..analyses.blocks import Grid, Words
from ..analyses.cases import CASES
from ..analyses.comparisons import ORDER
from ..analyses.gate import GATE
from ..analyses.groups import GROUPS
from ..analyses.guideline import GUIDELINE
from ..analyses.inputs import Inputs
from ..analyses.models import MODELS
from ..analyses.raters import RATERS
from ..analyses.raters.scores import sentences
from ..analyses.reliability import RELIABILITY, SweepOptions
from ..analyses.reviews import REVIEWS, ReviewOptions
from ..analyses.study import STUDY, analyse
from ..analysis_settings import AnalysisSettings
from ..certainty.scores_by_gold import scores_by_gold
from ..errors import PluralityError
from ..evaluation.score_predictions import ScorePredictions
from ..models.gold import gold_cases
from ..plausibility.gaussian import GaussianScores
from ..plausibility.gaussian_prior import fit_prior
from ..review.decisions import decision_table, decisions
from ..text import plural
from .data_sections import single_classes

_GIVEN = ("facts", "requirements", "confident", "look", "n_rows", "n_dropped", "n_draws", "seed")
_OF_STUDY = ("modalities", "readers", "roc")


def of_parts(request, parts: Iterable[AnalysisPart], data: Any, options: Any = None, **how: Any) -> list:
    """Return the blocks of the parts that these data allow, or the reason if one cannot be computed.

    Parameters
    ----------
    request : ReportRequest
        Report, whose facts, requirements, draws and seed are the options of the same name.
    parts : iterable of AnalysisPart
        Parts; those with the same computation share its result.
    data : Dataset or Inputs
    options : object, optional
        Options, if they are known.
    **how
        Cancel token and progress, for parts that take time.
    """
    blocks: list = []
    known: dict[str, Any] = {}
    for part in parts:
        if not part.applicable(data).possible:
            continue
        given = {one.name: getattr(request, one.name) for one in fields(part.options) if one.name in _GIVEN}
        chosen = options or part.resolve(**{name: value for name, value in given.items() if value is not None})
        try:
            if part.compute not in known:
                known[part.compute] = part.answer(data, chosen, **(how if part.work else {}))
            blocks += part.blocks(known[part.compute], data, chosen)
        except PluralityError as error:
            blocks.append(Words(str(error), "note"))
    return blocks


def of_question(part: AnalysisPart) -> Callable[..., list]:
    """Return the function that builds the section of a part of annotations.

    Parameters
    ----------
    part : AnalysisPart
    """

    def section(request, sections, token, progress) -> list:
        words: list = []
        data = request.dataset
        if not part.applicable(data).possible and not request.no_classes:  # then of single classes
            data, words = single_classes(request)
        found = of_parts(request, [part], data, token=token, progress=progress)
        return [*words, *found] if found else []

    return section


def gate(request, sections, token, progress) -> list:
    """Compare the data with the requirements; nothing if there are none.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    return of_parts(request, GATE.parts, request.dataset) if request.requirements else []


def order(request, sections, token, progress) -> list:
    """Return the items of paired comparisons in order, and raters; nothing for other data.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    return of_parts(request, ORDER.parts, request.dataset)


def groups(request, sections, token, progress) -> list:
    """Compare groups of raters; nothing without facts of the raters.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if request.facts is None:
        return []
    dataset = request.dataset
    if dataset.kind not in ("class", "score"):
        dataset = dataset.as_classes(request.threshold)[0]
    blocks = of_parts(request, GROUPS.parts, dataset)
    if blocks and request.classifiers and dataset.kind == "class":
        inputs = Inputs(dataset, predictions=request.classifiers, settings=request.settings)
        blocks += of_parts(request, [RELIABILITY.part("groups")], inputs)
    return blocks


def covariates(request, sections, token, progress) -> list:
    """Estimate the effects of the chosen columns; nothing if none is chosen.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if request.covariates is None:
        return []
    view, part = request.dataset.as_classes(request.threshold)[0], MODELS.part("covariates")
    return of_parts(request, [part], view, request.covariates, token=token, progress=progress)


def study(request, sections, token, progress) -> list:
    """Compare modalities by AUC, with the results of each reader and ROC curves.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`, as for every section.
    """
    if request.study is None:
        return []
    parts = [STUDY.part(name) for name in _OF_STUDY]
    verdict = parts[0].applicable(request.study)
    if not verdict.possible:
        return [Words(f"Cannot compare modalities: {verdict.reason}.", "note")]
    options = parts[0].resolve(seed=request.seed)
    analysed = analyse(request.study, options, token, progress)
    return [
        block
        for part in parts
        for block in part.blocks(part.answer(request.study, options, analysed), request.study, options)
    ]


guideline = of_question(GUIDELINE.parts[0])


_MOST = 20


def scores(request, sections, token, part) -> list:
    """Return severity and spread of raters, and plausible scores at the report's γ; nothing without scores.

    Parameters
    ----------
    request : ReportRequest
    sections : sequence of str
        Keys of all sections of the report.
    token : CancelToken
    part : callable
        Called with the share done.
    """
    if request.dataset.kind != "score":
        return []
    return [*_raters(request.dataset, token), *_cases(request, token)]


def _raters(dataset, token) -> list:
    """Return the parts of `core.analyses.raters` on scores that these data allow."""
    first, *more = (RATERS.part(name) for name in ("scores", "score-gold", "score-time"))
    verdict = first.applicable(dataset)
    if not verdict.possible:
        return [Words(f"Raters cannot be compared: {verdict.reason}.", "note")]
    try:
        found = first.answer(dataset, token=token)
    except PluralityError as error:
        return [Words(str(error), "note")]
    lead, *rest = sentences(found)
    blocks = [Words(f"{lead}.", "lead"), *(Words(f"{said}.") for said in rest), *first.blocks(found, dataset)]
    for part in more:
        if part.applicable(dataset).possible:
            blocks += part.blocks(part.answer(dataset), dataset)
    return blocks


def _cases(request, token) -> list:
    dataset = request.dataset
    try:
        prior = fit_prior(dataset)
    except PluralityError as error:
        return [Words(f"Plausible scores are not available. {error}", "note")]
    model = prior.model(request.threshold)
    own = isinstance(request.model, GaussianScores)
    reliability = request.reliability if own else GaussianScores.default_reliability
    part, asked = CASES.part("scores"), Inputs(dataset, settings=AnalysisSettings(model, reliability))
    found = part.answer(asked)
    known, *table = part.blocks(found, asked)
    gold = []
    if len(gold_cases(dataset)):
        gold.append(Words(scores_by_gold(dataset, found.trust).words(0, found.digits + 1)))
    alike = [Words(prior.alike(), "note")] if prior.alike() else []
    return [known, *alike, *gold, *table, *_predictors(request, model, reliability)]


def _predictors(request, model: GaussianScores, reliability: float) -> list:
    """Return how far predicted scores are off, over plausible truths at the report's γ."""
    found = [one for one in request.classifiers if isinstance(one, ScorePredictions)]
    if not found:
        return []
    part = RELIABILITY.part("predictors")
    inputs = Inputs(request.dataset, predictions=tuple(found), settings=AnalysisSettings(model, reliability))
    options = SweepOptions((reliability,), request.n_draws, request.seed)
    return part.blocks(part.answer(inputs, options), inputs, options)


_LISTED = 60


def reviews(request, sections, token, progress) -> list:
    """Return cases by state, blind opinions against panel and each other, changed opinions, and every current decision.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    here = {case: request.reviews[case] for case in request.dataset.cases if case in request.reviews}
    left = []
    if request.n_kept_back:
        what = plural(request.n_kept_back, "case")
        these = "this case" if request.n_kept_back == 1 else "these cases"
        left = [
            Words(
                f"Other people's reviews of {what} are left out, because the author of this report can still review "
                f"{these} blind."
            )
        ]
    left = [*_assigned(request.assigned), *left]
    if not here:
        return left
    part, inputs = REVIEWS.parts[0], Inputs(request.dataset, reviews=here)
    found = part.answer(inputs)
    summary, listed = found.summary, decisions(here)
    settled, waits = summary.states["closed"] + summary.states["adjudicated"], summary.states["arbitration"]
    lead = f"{summary.n_reviewed:,} of {plural(summary.n_cases, 'case')} reviewed, {settled:,} settled"
    blocks: list = [Words(f"{lead}{f', {waits:,} in arbitration' if waits else ''}.", "lead")]
    if waits:
        blocks.append(Words(f"Decide {plural(waits, 'case')} in arbitration.", "todo"))
    blocks += part.blocks(found, inputs, ReviewOptions(request.reviewed))
    if listed:
        table = decision_table(request.dataset, listed).drop(columns="data")
        blocks.append(Grid(table, "Current decisions, latest first.", _LISTED))
    return [*blocks, *left]


def _assigned(table: pd.DataFrame | None) -> list:
    """Return assigned cases: to whom, due when, and how many are done."""
    if table is None:
        return []
    standing = table[~table["withdrawn"]].drop(columns=["withdrawn", "number"])
    late = int(standing["overdue"].sum())
    said = f"{plural(len(standing), 'assignment')}{f', {late:,} overdue' if late else ''}."
    if standing["group"].any():
        said += " Each group member reviews all cases. A case is done when every member has reviewed it."
    return [Grid(standing, said, _LISTED)] if len(standing) else []
