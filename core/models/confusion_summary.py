"""Summary of draws of prevalence and confusion matrices: means, intervals, class probabilities, notes."""

import numpy as np

from ..annotations.dataset import Dataset
from ..text import listed
from .confusion_density import ConfusionDensity
from .result import RaterModelFit, Spread, Uncertainty, expected_annotations, worse_than_chance


def summarise(model: str, density: ConfusionDensity, draws: np.ndarray, method: str, level: float) -> RaterModelFit:
    """Summarise draws in a fit; one draw gives no intervals.

    Parameters
    ----------
    model : str
        Name of its `Method`.
    density : ConfusionDensity
    draws : ndarray, shape (n_draws, ndim)
        On the coordinates of the density.
    method : str
        "map" or "nuts".
    level : float
        Confidence level of intervals, 0 to 1.
    """
    dataset = density.dataset
    drawn = density.quantities(draws)
    prevalence, confusion = drawn["prevalence"].mean(axis=0), drawn["confusion"].mean(axis=0)
    spreads, n_patterns = len(draws) > 1, density.case_count.size
    probability = np.empty((n_patterns, density.n_classes))
    sides = np.empty((3, n_patterns, density.n_classes))
    done = 0
    for posterior, _ in density.posteriors(draws):
        block = slice(done, done + posterior.shape[1])
        probability[block] = posterior.mean(axis=0)
        if spreads:
            sides[:, block] = spread_over_draws(posterior, level)
        done = block.stop
    place = density.patterns.pattern_of_case
    of_case = probability[place]
    return RaterModelFit(
        model=model,
        method=method,
        cases=dataset.cases,
        raters=dataset.raters,
        classes=dataset.classes,
        prevalence=prevalence,
        confusion=confusion,
        evidence=expected_annotations(dataset, of_case),
        class_probability=of_case,
        n_annotations=np.bincount(dataset.rater, minlength=dataset.n_raters),
        log_likelihood=density.likelihood_at(np.log(prevalence), np.log(confusion)),
        settings={**density.settings, "level": level, "n_draws": len(draws)},
        notes=_remarks(dataset, prevalence, confusion),
        uncertainty=Uncertainty(
            method="posterior",
            level=level,
            prevalence=Spread(*spread_over_draws(drawn["prevalence"], level)),
            accuracy=Spread(*spread_over_draws(drawn["accuracy"], level)),
            confusion=Spread(*spread_over_draws(drawn["confusion"], level)),
            class_probability=Spread(*sides[:, place]),
        )
        if spreads
        else None,
        parameters=density.further_parameters(draws, level),
    )


def spread_over_draws(draws: np.ndarray, level: float) -> np.ndarray:
    """Compute the standard deviation and the ends of the equal-tailed interval over the first axis, stacked."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.stack([draws.std(axis=0, ddof=1), low, high])


def _remarks(dataset: Dataset, prevalence: np.ndarray, confusion: np.ndarray) -> tuple[str, ...]:
    remarks = []
    if np.diff(dataset.case_ptr).max(initial=0) < 2:
        remarks.append("No case has two annotations, so results for raters come from the prior.")
    remarks.extend(worse_than_chance(prevalence, confusion))
    unused = np.flatnonzero(np.bincount(dataset.answer, minlength=dataset.n_classes) == 0)
    if unused.size:
        names = listed([dataset.classes[k] for k in unused])
        them = "it" if unused.size == 1 else "them"
        remarks.append(f"Results for {names} come from the prior because no rater chose {them}.")
    return tuple(remarks)
