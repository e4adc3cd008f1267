"""Summary of draws of GLAD or the nominal difficulty model in a fit."""

import numpy as np

from ...text import plural
from ..confusion_summary import spread_over_draws
from ..result import CaseEffect, RaterModelFit, Spread, Uncertainty, expected_annotations
from .effects import MOST_DRAWS_OF_EFFECTS, MOST_DRAWS_OF_TRUTH, evenly_spaced, grid_moments
from .nominal_density import MOST_SPREAD, NominalDensity

_NEAR_THE_END = 0.95
FAR_APART = (
    "Cases differ more in difficulty than this model can measure. On many cases, almost all raters are correct or "
    "almost none are."
)


def mistakes_of(log_mistakes: np.ndarray) -> np.ndarray:
    """Compute shares of mistakes from their logs, shape (..., n_classes, n_classes); 0 on the diagonal."""
    return np.where(np.eye(log_mistakes.shape[-1], dtype=bool), 0.0, np.exp(log_mistakes))


def confusion_of(right: np.ndarray, log_mistakes: np.ndarray) -> np.ndarray:
    """Compute confusion matrices, shape (n, n_classes, n_classes), from P(right) of shape (n,)."""
    of_wrong = mistakes_of(log_mistakes)
    return right[:, None, None] * np.eye(of_wrong.shape[-1]) + (1 - right)[:, None, None] * of_wrong


def summarise(model: str, density: NominalDensity, draws: np.ndarray, method: str, level: float) -> RaterModelFit:
    """Compute means, intervals, class probabilities and difficulties over draws.

    Parameters
    ----------
    model : str
        Its key.
    density : NominalDensity
    draws : ndarray, shape (n_draws, ndim)
    method : str
        "nuts".
    level : float
        Confidence level of intervals, 0 to 1.
    """
    dataset = density.dataset
    truth_draws = evenly_spaced(draws, MOST_DRAWS_OF_TRUTH)
    probability, sides, prevalence = _truth(density, truth_draws, level)
    right = density.right(draws)
    confusion, of_confusion = _confusion(density, draws, right, level)
    at_mean = density.log_likelihood(draws.mean(axis=0, keepdims=True))[0]
    return RaterModelFit(
        model=model,
        method=method,
        cases=dataset.cases,
        raters=dataset.raters,
        classes=dataset.classes,
        prevalence=prevalence.mean(axis=0),
        confusion=confusion,
        evidence=expected_annotations(dataset, probability),
        class_probability=probability,
        n_annotations=np.bincount(dataset.rater, minlength=dataset.n_raters),
        log_likelihood=float(at_mean @ density.case_count),
        settings={"nodes": density.n_nodes, "level": level},
        notes=_notes(density, draws, len(truth_draws)),
        uncertainty=Uncertainty(
            method="posterior",
            level=level,
            prevalence=Spread(*spread_over_draws(prevalence, level)),
            accuracy=Spread(*spread_over_draws(right, level)),
            confusion=of_confusion,
            class_probability=sides,
        ),
        effects=(_difficulty(density, draws, level),),
        parameters=_parameters(density, draws, level),
    )


def _truth(density: NominalDensity, draws: np.ndarray, level: float) -> tuple[np.ndarray, Spread, np.ndarray]:
    """Compute class probabilities with spread, and the prevalence of every draw; for GLAD that of these cases."""
    n_patterns = density.case_count.size
    mean, sides = np.empty((n_patterns, density.n_classes)), np.empty((3, n_patterns, density.n_classes))
    seen = np.where(np.diff(density.patterns.ptr) > 0, density.case_count, 0)
    found = np.zeros((len(draws), density.n_classes))
    done = 0
    for posterior, _ in density.posteriors(draws):
        block = slice(done, done + posterior.shape[1])
        mean[block] = posterior.mean(axis=0)
        sides[:, block] = spread_over_draws(posterior, level)
        found += np.einsum("dpk,p->dk", posterior, seen[block])
        done = block.stop
    place = density.patterns.pattern_of_case
    prevalence = found / seen.sum() if density.even else np.exp(density.logs(draws)[0])
    return mean[place], Spread(*sides[:, place]), prevalence


def _confusion(
    density: NominalDensity, draws: np.ndarray, right: np.ndarray, level: float
) -> tuple[np.ndarray, Spread]:
    """Compute confusion matrices on a new case, rater by rater, to limit memory."""
    _, log_w = density.logs(draws)
    shape = (density.n_raters, density.n_classes, density.n_classes)
    mean, sides = np.empty(shape), np.empty((3, *shape))
    for rater in range(density.n_raters):
        drawn = confusion_of(right[:, rater], log_w)
        mean[rater], sides[:, rater] = drawn.mean(axis=0), spread_over_draws(drawn, level)
    return mean, Spread(*sides)


def _difficulty(density: NominalDensity, draws: np.ndarray, level: float) -> CaseEffect:
    """Compute −ln d of each case, over draws of the parameters and the case's own uncertainty."""
    value, share = density.difficulties(evenly_spaced(draws, MOST_DRAWS_OF_EFFECTS))
    # The grid is even around 0, so that its mirror image is that of −ln d.
    found = grid_moments("difficulty", value, share[:, ::-1], level)[:, density.patterns.pattern_of_case]
    return CaseEffect("difficulty", found[0], Spread(*found[1:]))


def _parameters(density: NominalDensity, draws: np.ndarray, level: float) -> dict[str, np.ndarray]:
    """Return posterior means, with the ends of the intervals of abilities and σ."""
    log_prevalence, log_w = density.logs(draws)
    tails = [(1 - level) / 2, (1 + level) / 2]
    ability, spread = density.ability(draws), density.spread(draws)[:, None]
    low, high = np.quantile(ability, tails, axis=0)
    spread_low, spread_high = np.quantile(spread, tails, axis=0)
    return {
        "class_prior": np.exp(log_prevalence).mean(axis=0),
        "ability": ability.mean(axis=0),
        "ability_low": low,
        "ability_high": high,
        "spread": spread.mean(axis=0),
        "spread_low": spread_low,
        "spread_high": spread_high,
        "centre": draws[:, density.n_raters].mean(keepdims=True),
        "variance": np.exp(draws[:, density.n_raters + 1]).mean(keepdims=True),
        "mistakes": mistakes_of(log_w).mean(axis=0),
    }


def _notes(density: NominalDensity, draws: np.ndarray, n_truth: int) -> tuple[str, ...]:
    notes = []
    if n_truth < len(draws):
        notes.append(f"Class probabilities of cases are averages over {n_truth:,} of {len(draws):,} draws.")
    if density.spread(draws).mean() > _NEAR_THE_END * MOST_SPREAD:
        notes.append(FAR_APART)
    silent = int((np.diff(density.dataset.case_ptr) == 0).sum())
    if silent:
        notes.append(f"The class probabilities of {plural(silent, 'case')} without annotations equal the prevalence.")
    return tuple(notes)
