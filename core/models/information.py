"""Standard errors from the observed information: minus the second derivative of what was maximised, at the fit.

The score comes from the step E (Fisher's identity) and is differentiated numerically in coordinates without bounds;
Louis (1982) takes the same matrix apart analytically. Errors of other quantities follow by the delta method.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import NotApplicableError
from ..runtime.chunks import CancelToken, map_chunks
from .coordinates import Coordinates

# Information on a logit below this is a standard error above 30: nothing is known of that direction.
_NOTHING = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Standard errors, NaN where nothing is known, and parameter draws.

    Attributes
    ----------
    prevalence : ndarray, shape (n_classes,)
    accuracy : ndarray, shape (n_raters,)
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
    """

    prevalence: np.ndarray
    accuracy: np.ndarray
    confusion: np.ndarray


def information_errors(
    at: Coordinates,
    n_draws: int,
    seed: int,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Errors, np.ndarray]:
    """Errors by the delta method, and normal draws of the coordinates, shape (n_draws, n_parameters).

    Parameters
    ----------
    at : Coordinates
        Of the fit.
    n_draws, seed : int
        Of the normal draws.
    token : CancelToken, optional
    progress : callable, optional
        Told the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        The fit is no maximum.
    """
    n = at.start.size
    prevalence, confusion = at.tables(at.start)
    by_prevalence, by_confusion = np.zeros((n, prevalence.size)), np.zeros((n, confusion.size))
    curvature = np.zeros((n, n))
    columns = map_chunks(at.derivatives, list(range(n)), token=token, progress=progress)
    for place, (of_score, of_prevalence, of_confusion) in enumerate(columns):
        curvature[place], by_prevalence[place], by_confusion[place] = of_score, of_prevalence, of_confusion.ravel()
    information, directions = np.linalg.eigh(-(curvature + curvature.T) / 2)
    if n and information[0] < -max(10 * _NOTHING, 1e-6 * information[-1]):
        raise NotApplicableError("The fit is no maximum, so the curvature there says nothing of its precision.")
    known = information > _NOTHING
    diagonal = np.einsum("pjkk->pjk", by_confusion.reshape(n, *confusion.shape))
    by_accuracy = diagonal @ prevalence + by_prevalence @ np.einsum("jkk->kj", confusion)

    def error(by: np.ndarray) -> np.ndarray:
        along = directions.T @ by
        variance = (along[known] ** 2 / information[known, None]).sum(axis=0)
        lost = (np.abs(along[~known]) > 1e-4).any(axis=0)
        return np.where(lost, np.nan, np.sqrt(variance))

    found = Errors(error(by_prevalence), error(by_accuracy), error(by_confusion).reshape(confusion.shape))
    noise = np.random.default_rng(seed).standard_normal((n_draws, int(known.sum())))
    return found, at.start + (noise / np.sqrt(information[known])) @ directions[:, known].T
