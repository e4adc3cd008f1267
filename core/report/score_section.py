"""Section on scores: which raters score higher or lower, and how certain the score of each case is."""

from ..analyses.blocks import Words
from ..analyses.cases import CASES
from ..analyses.inputs import Inputs
from ..analyses.raters import RATERS
from ..analyses.raters.scores import sentences
from ..analyses.reliability import RELIABILITY, SweepOptions
from ..analysis_settings import AnalysisSettings
from ..certainty.scores_by_gold import scores_by_gold
from ..errors import PluralityError
from ..evaluation.score_predictions import ScorePredictions
from ..models.gold import gold_cases
from ..plausibility.gaussian import GaussianScores
from ..plausibility.gaussian_prior import fit_prior

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
        return [Words(f"Plausible scores need a prior. {error}", "note")]
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
