"""Summary of draws of a difficulty model in a fit."""

import dataclasses

import numpy as np

from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ...text import plural
from ..result import RaterModelFit, Spread, Uncertainty, expected_annotations
from ._case_kernels import right_for_a_new_case
from .density import DifficultyDensity
from .effects import effects_of_cases, truth_of_cases

_CELLS_A_CHUNK = 100_000
BASELINE = (
    "ABDE is a baseline without parameters: it treats every case as positive and explains negative annotations by "
    "difficulty. Do not use its class probabilities as the truth."
)


def summarise(
    density: DifficultyDensity, draws: np.ndarray, method: str, level: float, token: CancelToken | None = None
) -> RaterModelFit:
    """Compute means, intervals, class probabilities and case effects over draws.

    One draw is the mode: no intervals.

    Parameters
    ----------
    density : DifficultyDensity
    draws : ndarray, shape (n_draws, ndim)
    method : str
        "map" or "nuts".
    level : float
        Confidence level of intervals, 0 to 1.
    token : CancelToken, optional
    """
    dataset, code = density.dataset, density.specification.positive
    prevalence = density.quantities(draws).get("prevalence", np.ones(len(draws)))
    rates, rate_spread = _rates(density, draws, prevalence, level, token)
    truth = truth_of_cases(density, draws, level, token)
    effects, n_effect_draws = effects_of_cases(density, draws, level, token)
    class_probability = _two_classes(truth.mean, code, axis=-1)
    confusion = _confusion(rates, code)
    log_p = density.log_likelihood(draws.mean(axis=0, keepdims=True))[0]
    return RaterModelFit(
        model=f"difficulty-{density.specification.tag}",
        method=method,
        cases=dataset.cases,
        raters=dataset.raters,
        classes=dataset.classes,
        prevalence=_two_classes(prevalence.mean(), code, axis=-1),
        confusion=confusion,
        evidence=expected_annotations(dataset, class_probability),
        class_probability=class_probability,
        n_annotations=np.bincount(dataset.rater, minlength=dataset.n_raters),
        log_likelihood=float(log_p @ density.case_count),
        converged=density.arrived,
        settings=dataclasses.asdict(density.specification)
        | {
            "positive": dataset.classes[code],
            "nodes": dataclasses.asdict(density.node_counts),
            "n_draws": len(draws),
            "n_draws_of_truth": truth.n_draws,
            "n_draws_of_effects": n_effect_draws,
        },
        notes=_notes(density, len(draws), truth.n_draws, n_effect_draws if effects else 0),
        uncertainty=None
        if len(draws) == 1
        else Uncertainty(
            method="posterior",
            level=level,
            prevalence=_mirrored(_spread(prevalence, level), code),
            accuracy=Spread(*(part[:, 2] for part in rate_spread)),
            confusion=_confusion_spread(rate_spread, code),
            class_probability=_mirrored(truth.spread, code),
        ),
        effects=effects,
        parameters=_parameters(density, draws),
    )


def _rates(
    density: DifficultyDensity, draws: np.ndarray, prevalence: np.ndarray, level: float, token: CancelToken | None
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Compute specificity, sensitivity and accuracy of each rater on a new case, (n_raters, 3), and their spread."""
    _, alpha = density.coefficients(draws)
    n_alpha = alpha.shape[1]
    found = np.empty((4, n_alpha, 3))
    tails = [(1 - level) / 2, (1 + level) / 2]

    def work(chunk: tuple[int, int]) -> None:
        part = np.ascontiguousarray(alpha[:, slice(*chunk)])
        rate = right_for_a_new_case(part.ravel(), density.nodes.delta, density.nodes.table).reshape(part.shape)
        accuracy = (1 - prevalence)[:, None] * rate[:, :, 0] + prevalence[:, None] * rate[:, :, 1]
        rate = np.concatenate((rate, accuracy[:, :, None]), axis=2)
        found[0, slice(*chunk)] = rate.mean(axis=0)
        found[1, slice(*chunk)] = rate.std(axis=0)
        found[2:, slice(*chunk)] = np.quantile(rate, tails, axis=0)

    for _ in map_chunks(work, chunk_ranges(n_alpha, max(1, _CELLS_A_CHUNK // len(draws))), token=token):
        pass
    mean, *spread = (np.repeat(part, density.dataset.n_raters // n_alpha, axis=0) for part in found)
    sd, low, high = spread
    return mean, (sd, low, high)


def _spread(draws: np.ndarray, level: float) -> Spread:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Spread(draws.std(axis=0), low, high)


def _two_classes(positive: np.ndarray, code: int, axis: int) -> np.ndarray:
    """Return probabilities of both classes in declared order."""
    pair = [positive, 1 - positive] if code == 0 else [1 - positive, positive]
    return np.stack(pair, axis=axis)


def _mirrored(positive: Spread, code: int) -> Spread:
    """Return the spread of the positive class and of its complement, in declared order along a last axis."""
    return Spread(
        np.stack([positive.sd, positive.sd], axis=-1),
        *(
            np.stack(pair if code == 0 else pair[::-1], axis=-1)
            for pair in ((positive.low, 1 - positive.high), (positive.high, 1 - positive.low))
        ),
    )


def _confusion(rates: np.ndarray, code: int) -> np.ndarray:
    """Build rows of confusion matrices from specificity and sensitivity."""
    confusion = np.empty((len(rates), 2, 2))
    confusion[:, code, code], confusion[:, 1 - code, 1 - code] = rates[:, 1], rates[:, 0]
    confusion[:, code, 1 - code], confusion[:, 1 - code, code] = 1 - rates[:, 1], 1 - rates[:, 0]
    return confusion


def _confusion_spread(spread: tuple[np.ndarray, np.ndarray, np.ndarray], code: int) -> Spread:
    sd, low, high = spread
    of_sd = _confusion(sd, code)
    of_sd[:, [0, 1], [1, 0]] = of_sd[:, [0, 1], [0, 1]]
    of_low, of_high = _confusion(low, code), _confusion(high, code)
    of_low[:, [0, 1], [1, 0]], of_high[:, [0, 1], [1, 0]] = (of_high[:, [0, 1], [1, 0]], of_low[:, [0, 1], [1, 0]])
    return Spread(of_sd, of_low, of_high)


def _parameters(density: DifficultyDensity, draws: np.ndarray) -> dict[str, np.ndarray]:
    """Return posterior means of the α, each of shape (n_raters,)."""
    return {
        name: np.repeat(value.mean(axis=0), density.dataset.n_raters // density.n_alpha)
        for name, value in density.quantities(draws).items()
        if name != "prevalence"
    }


def _notes(density: DifficultyDensity, n_draws: int, n_truth: int, n_effects: int) -> tuple[str, ...]:
    notes = []
    size = np.diff(density.dataset.case_ptr)
    if density.ndim == 0:
        notes.append(BASELINE)
    elif n_draws == 1:
        notes.append("Results for a case treat the parameters at the mode as known.")
    elif n_truth < n_draws:
        of_effects = f", and case effects are averages over {n_effects:,}" if n_effects else ""
        notes.append(f"Class probabilities of cases are averages over {n_truth:,} of {n_draws:,} draws{of_effects}.")
    if not density.arrived:
        notes.append("The search for the mode ran out of steps, so results may still change.")
    if not density.specification.cooperative and density.ndim:
        notes.append(
            "Raters may be adversarial in this model, so the posterior has a second mode with the classes swapped. "
            "The fit starts at the mode closer to the vote."
        )
    if size.size and size.max() < 2 and density.ndim:
        notes.append("No case has two annotations: only the prior separates prevalence from accuracy.")
    if (size == 0).any():
        silent = plural(int((size == 0).sum()), "case")
        notes.append(f"The class probabilities of {silent} without annotations equal the prevalence.")
    return tuple(notes)
