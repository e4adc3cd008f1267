"""Truth of each case, estimated from a panel's opinions and all readings.

Panellists err independently given the truth; readers may depend on each other in any way. So the readings enter through
``p(z | scores)``, a logistic regression on the normal scores of every reader in every modality, and the panel in
``p(opinion | z)``. Both are fitted by expectation-maximisation, the regression with a ridge (a normal prior of its
coefficients). Proper draws: each refits the model to a bootstrap sample of the cases, from the fit to all of them, and
draws one truth per case from its posterior [Rubin & Schenker 1986, DOI 10.1080/01621459.1986.10478280; Albert & Dodd
2004, DOI 10.1111/j.0006-341X.2004.00187.x, on why conditional independence of readers must not be assumed].
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import NotApplicableError
from .study import UNKNOWN_TRUTH, ReadingStudy, reason_against

FEWEST_DRAWS = 50
RIDGE = 1.0  # prior precision of a coefficient of normal scores
SMOOTHING = 1.0  # opinions added to each cell of a panellist's table
SLOPES = 35.0  # of log odds: beyond it a probability is 0 or 1
FIRST_OPINION = 0.9  # posterior that the fit starts from where the panel agrees
MOST_STEPS, MOST_STEPS_OF_A_DRAW = 500, 60
CLOSE, CLOSE_OF_A_DRAW = 1e-5, 1e-3
FEWEST_PANELLISTS = 2
MOST_REDRAWS = 10  # for each draw that is wanted


@dataclass(frozen=True, slots=True, eq=False)
class TruthFit:
    """Fit of the model of the truth.

    Attributes
    ----------
    probability : ndarray, shape (n_cases,)
        Posterior probability of the condition.
    coefficient : ndarray, shape (1 + n_modalities * n_readers,)
        Coefficients of the intercept and of normal scores.
    sensitivity, specificity : ndarray, shape (n_panellists,)
    """

    probability: np.ndarray
    coefficient: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray


def majority_truth(panel: np.ndarray) -> np.ndarray:
    """Return the majority of a panel; −1 if it is tied or gave no opinion.

    Parameters
    ----------
    panel : ndarray of int8, shape (n_panellists, n_cases)
    """
    lead = (panel == 1).sum(axis=0) - (panel == 0).sum(axis=0)
    return np.select([lead > 0, lead < 0], [1, 0], UNKNOWN_TRUTH).astype(np.int8)


def check_panel(panel: np.ndarray) -> None:
    """Refuse a panel from which error rates cannot be estimated.

    Raises
    ------
    NotApplicableError
        Fewer than two panellists gave an opinion, or fewer than two on any case.
    """
    given = panel != UNKNOWN_TRUTH
    if given.any(axis=1).sum() < FEWEST_PANELLISTS or given.sum(axis=0).max(initial=0) < FEWEST_PANELLISTS:
        raise NotApplicableError(
            "Cannot determine how accurate the panel is: no case has opinions from two panellists.",
            "Add a second opinion to some cases, or provide the truth.",
        )


def normal_scores(study: ReadingStudy) -> np.ndarray:
    """Compute the intercept and normal scores of every reader in every modality, 0 if a case was not read.

    Returns
    -------
    ndarray, shape (n_cases, 1 + n_modalities * n_readers)
    """
    from scipy.special import ndtri

    fields = study.scores.reshape(-1, len(study.cases))
    found = np.ones((len(study.cases), 1 + len(fields)))
    found[:, 1:] = 0.0
    for column, scores in enumerate(fields, 1):
        read = ~np.isnan(scores)
        if read.any():
            ordered = np.sort(scores[read])
            below, upto = (np.searchsorted(ordered, scores[read], side) for side in ("left", "right"))
            ranked = ndtri((below + upto) / 2 / len(ordered))
            spread = float(ranked.std())
            found[read, column] = ranked / spread if spread > 0 else 0.0
    return found


def fit_truth(
    features: np.ndarray, panel: np.ndarray, weight: np.ndarray | None = None, start: TruthFit | None = None
) -> TruthFit:
    """Fit the model of the truth.

    Parameters
    ----------
    features : ndarray, shape (n_cases, n_features)
        See `normal_scores`.
    panel : ndarray of int8, shape (n_panellists, n_cases)
    weight : ndarray, shape (n_cases,), optional
        Weight of each case; 1 if omitted.
    start : TruthFit, optional
        Starting values; from the panel's opinions if omitted.
    """
    weight = np.ones(len(features)) if weight is None else weight
    yes, no = (panel == 1).astype(np.float64), (panel == 0).astype(np.float64)
    if start is None:
        lead = np.sign(yes.sum(axis=0) - no.sum(axis=0))
        probability, coefficient = 0.5 + (FIRST_OPINION - 0.5) * lead, np.zeros(features.shape[1])
    else:
        probability, coefficient = start.probability, start.coefficient
    steps, close = (MOST_STEPS, CLOSE) if start is None else (MOST_STEPS_OF_A_DRAW, CLOSE_OF_A_DRAW)
    for _ in range(steps):
        rates = _rates(yes, no, weight, probability)
        coefficient = _newton_step(features, weight, probability, coefficient)
        found = _posterior(features @ coefficient, yes, no, *rates)
        change = float(np.abs(found - probability).max())
        probability = found
        if change < close:
            break
    return TruthFit(probability, coefficient, *rates)


def draw_truths(
    study: ReadingStudy, n_draws: int, seed: int, progress: Callable[[float], None] | None = None
) -> tuple[TruthFit, np.ndarray, int]:
    """Draw truths of all cases from their posterior given the panel and all readings.

    Parameters
    ----------
    study : ReadingStudy
        With a panel.
    n_draws, seed : int
    progress : callable, optional
        Called with the share of draws that are done.

    Returns
    -------
    fit : TruthFit
        To all cases.
    truths : ndarray of int8, shape (n_draws, n_cases)
    n_redrawn : int
        Draws in which the study could not be analysed, as without a case of either kind, and that were drawn again.

    Raises
    ------
    NotApplicableError
        Two panellists never gave an opinion on the same case, or most draws cannot be analysed.
    """
    panel = study.panel
    assert panel is not None
    check_panel(panel)
    features = normal_scores(study)
    fit = fit_truth(features, panel)
    rng = np.random.default_rng(seed)
    truths, n_redrawn = np.empty((n_draws, len(study.cases)), np.int8), 0
    for draw, truth in enumerate(_attempts(features, panel, fit, rng, n_draws)):
        place = draw - n_redrawn
        if reason := reason_against(study, truth):
            n_redrawn += 1
            if n_redrawn >= MOST_REDRAWS * n_draws:
                raise NotApplicableError(
                    f"Cannot compare modalities: in most draws of the truth, {reason}.",
                    "Add cases with the condition and cases without it.",
                )
            continue
        truths[place] = truth
        if progress is not None:
            progress((place + 1) / n_draws)
        if place + 1 == n_draws:
            break
    return fit, truths, n_redrawn


def _attempts(
    features: np.ndarray, panel: np.ndarray, fit: TruthFit, rng: np.random.Generator, n_draws: int
) -> Iterator[np.ndarray]:
    """Draw truths of all cases, each from a fit to a bootstrap sample of the cases."""
    n = len(features)
    yes, no = (panel == 1).astype(np.float64), (panel == 0).astype(np.float64)
    for _ in range((MOST_REDRAWS + 1) * n_draws):
        weight = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        again = fit_truth(features, panel, weight, fit)
        probability = _posterior(features @ again.coefficient, yes, no, again.sensitivity, again.specificity)
        yield (rng.random(n) < probability).astype(np.int8)


def _rates(
    yes: np.ndarray, no: np.ndarray, weight: np.ndarray, probability: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the sensitivity and specificity of each panellist."""
    with_it, without = weight * probability, weight * (1 - probability)
    sensitivity = (yes @ with_it + SMOOTHING) / ((yes + no) @ with_it + 2 * SMOOTHING)
    specificity = (no @ without + SMOOTHING) / ((yes + no) @ without + 2 * SMOOTHING)
    return sensitivity, specificity


def _newton_step(features: np.ndarray, weight: np.ndarray, target: np.ndarray, coefficient: np.ndarray) -> np.ndarray:
    """Make one step to the mode of a ridge logistic regression; the intercept has almost no prior."""
    expected = _expit(features @ coefficient)
    ridge = np.full(len(coefficient), RIDGE)
    ridge[0] = 1e-6
    slope = features.T @ (weight * (target - expected)) - ridge * coefficient
    curvature = (features * (weight * expected * (1 - expected))[:, None]).T @ features + np.diag(ridge)
    return coefficient + np.linalg.solve(curvature, slope)


def _posterior(
    log_odds: np.ndarray, yes: np.ndarray, no: np.ndarray, sensitivity: np.ndarray, specificity: np.ndarray
) -> np.ndarray:
    """Compute the probability of the condition given readings and opinions."""
    panel = yes.T @ np.log(sensitivity / (1 - specificity)) + no.T @ np.log((1 - sensitivity) / specificity)
    return _expit(log_odds + panel)


def _expit(log_odds: np.ndarray) -> np.ndarray:
    probability: np.ndarray = 1 / (1 + np.exp(-np.clip(log_odds, -SLOPES, SLOPES)))
    return probability
