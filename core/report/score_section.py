"""The section on scores: who scores higher or lower, and how well the score of each case is known."""

import numpy as np

from ..analyses.blocks import Figure, Grid, Words
from ..analyses.cases import CASES
from ..analyses.inputs import Inputs
from ..analyses.reliability import RELIABILITY, SweepOptions
from ..analysis_settings import AnalysisSettings
from ..certainty.score_trust import score_digits
from ..certainty.scores_by_gold import scores_by_gold
from ..errors import PluralityError
from ..evaluation.score_predictions import ScorePredictions
from ..figures import scores as figures
from ..models.gold import gold_cases
from ..plausibility.gaussian import GaussianScores
from ..plausibility.gaussian_prior import fit_prior
from ..raters.following import following_of
from ..raters.score_gold import score_gold
from ..raters.score_raters import score_raters


def scores(request, sections, token, part) -> list:
    """Severity and spread of raters, and plausible scores at the trust of the report; nothing where there are none.

    Parameters
    ----------
    request : ReportRequest
    sections : sequence of str
        Keys of all sections of the report.
    token : CancelToken
    part : callable
        Told the share done.
    """
    if request.dataset.kind != "score":
        return []
    return [*_raters(request.dataset, token), *_cases(request, token)]


def _raters(dataset, token) -> list:
    try:
        found = score_raters(dataset, token=token)
    except PluralityError as error:
        return [Words(f"Raters cannot be compared: {error}", "note")]
    table = found.to_frame()
    following = following_of(dataset, token=token)
    table["follows"], table["annotations lost"] = following.rates.value, following.lost
    table = table.iloc[following.order()]
    against = _against_gold(dataset) if len(gold_cases(dataset)) else []
    return [
        Words(following.who(), "lead"),
        Words(f"{found.words(score_digits(float(np.nanmedian(found.severity_high - found.severity_low))))}."),
        Figure(lambda theme: figures.severities(found, theme, "Severity"), "Severity of each rater with its interval"),
        Figure(lambda theme: figures.spreads(found, theme, "Spread"), "Spread of each rater with its interval"),
        Grid(
            table,
            "Severity and spread of raters, in units of the scores, with 95% intervals; correlation with the case, and "
            "scores that are lost beside the average rater.",
        ),
        *against,
    ]


def _against_gold(dataset) -> list:
    found = score_gold(dataset)
    digits = score_digits(float(np.nanmedian(found.error)))
    return [
        Words(f"{found.words(digits)}."),
        Figure(lambda theme: figures.biases(found, theme, "Against gold"), "Bias of each rater against gold"),
        Grid(found.to_frame(), "Bias and mean error of raters against gold, in units of the scores, 95% intervals."),
    ]


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
    """How far predicted scores are off, over plausible truths at the trust of the report."""
    found = [one for one in request.classifiers if isinstance(one, ScorePredictions)]
    if not found:
        return []
    part = RELIABILITY.part("predictors")
    inputs = Inputs(request.dataset, predictions=tuple(found), settings=AnalysisSettings(model, reliability))
    options = SweepOptions((reliability,), request.n_draws, request.seed)
    return part.blocks(part.answer(inputs, options), inputs, options)
