"""What several models of the same data agree on and where they differ, in one sentence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..text import percent, plural, shorten
from .result import RaterModelFit

_TIED = 1e-9


@dataclass(frozen=True, slots=True)
class ModelsAgree:
    """How far models name the same classes.

    Attributes
    ----------
    n_models, n_cases : int
        Models, and cases that were looked at.
    n_same : int
        Cases in which every model has one most probable class, and all the same.
    n_tied : int
        Cases in which some model has several most probable classes.
    name : str
        The class on whose prevalence they differ most.
    low, high : float
        The least and the largest share that a model gives it.
    """

    n_models: int
    n_cases: int
    n_same: int
    n_tied: int
    name: str
    low: float
    high: float

    @property
    def words(self) -> str:
        """The sentence."""
        low, high = percent(self.low), percent(self.high)
        tied = f" ({self.n_tied:,} tied)" if self.n_tied else ""
        return (
            f"{self.n_models:,} models agree on the class of {self.n_same:,} of {plural(self.n_cases, 'case')}{tied}, "
            f"and put the prevalence of {shorten(self.name, 30)} at {low if low == high else f'{low} to {high}'}"
        )


def models_agree(fits: Sequence[RaterModelFit], cases: np.ndarray) -> ModelsAgree:
    """How far fits of the same data agree.

    Parameters
    ----------
    fits : sequence of RaterModelFit
        Of the same cases and classes.
    cases : ndarray of bool, shape (n_cases,)
        Those that are looked at.
    """
    chance = np.stack([fit.class_probability[cases] for fit in fits])
    ordered = np.sort(chance, axis=2)
    second = ordered[:, :, -2] if chance.shape[2] > 1 else np.zeros(chance.shape[:2])
    apart = ordered[:, :, -1] - second > _TIED
    top, single = chance.argmax(axis=2), apart.all(axis=0)
    shares = np.stack([fit.prevalence for fit in fits])
    widest = int(np.ptp(shares, axis=0).argmax())
    return ModelsAgree(
        len(fits),
        int(cases.sum()),
        int((single & (top == top[0]).all(axis=0)).sum()),
        int((~single).sum()),
        fits[0].classes[widest],
        float(shares[:, widest].min()),
        float(shares[:, widest].max()),
    )
