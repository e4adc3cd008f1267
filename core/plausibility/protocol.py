"""Protocol of plausibility models, which yield draws one case at a time over the classes that anyone named there.

Each is declared by a `PlausibilityMethod`.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from ..annotations.dataset import Dataset, Kind
from ..errors import InputError
from ..methods import Model, methods
from ..options import check_number, check_whole
from ..result_base import Columns, Result
from ..text import exact

LARGEST_RELIABILITY = 1e9  # Beyond this limit, draws are a single point in double precision.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CaseDraws(Result):
    """Draws of the plausibilities of one case.

    Attributes
    ----------
    classes : ndarray of int32, shape (n_named,)
        Classes that somebody named on the case, ascending.
    share : ndarray of float64, shape (n_draws, n_named)
        Plausibility of each named class. ``share.sum(1) + rest`` is 1.
    rest : ndarray of float64, shape (n_draws,)
        Plausibility of all classes together that nobody named.
    top : ndarray of int32, shape (n_draws, depth)
        Places in ``classes`` of the most plausible classes, first to last; ``n_named`` for any class that nobody named,
        because these are exchangeable, -1 if there are fewer classes.
    n_rest : int
        Number of classes that nobody named.
    rest_shape : float
        Shape of the symmetric Dirichlet that splits ``rest`` over them, independently of all else.
    ess : float
        Effective number of draws; below ``n_draws`` if they are correlated.
    seed : int
        Seed of the case, for further draws that depend on these.
    """

    classes: np.ndarray
    share: np.ndarray
    rest: np.ndarray
    top: np.ndarray
    n_rest: int
    rest_shape: float
    ess: float
    seed: int

    TABLES = ("draws",)

    def _columns(self, table: str, most: int | None) -> Columns:
        shares = {f"class_{code}": self.share[:most, place] for place, code in enumerate(self.classes.tolist())}
        return {"draw": np.arange(self.n_draws)[:most], **shares, "rest": self.rest[:most]}

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.rest)


@runtime_checkable
class PlausibilityModel(Protocol):
    """Protocol of a plausibility model. ``name`` is part of every cache key.

    A model whose cases are not independent also has ``prepare``, which the driver calls before the draws.
    """

    name: ClassVar[str]
    default_reliability: ClassVar[float]

    def settings(self) -> dict:
        """Return the parameters that change the draws, for cache keys and reports."""

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Yield draws of each case in ``cases`` (all by default), in order.

        Parameters
        ----------
        dataset : Dataset
            Dataset of a kind that the model takes.
        reliability : float
            Reliability γ > 0: how many times each annotation counts.
        n_draws, seed : int
        cases : range, optional
            Positions of cases; all if omitted.
        """

    def point_shares(self, dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return one deterministic plausibility vector per case in CSR: ptr, class codes, shares."""


@dataclass(frozen=True, slots=True)
class ReliabilityScale:
    """Scale of the reliability γ of raters in a plausibility model.

    Attributes
    ----------
    default, low, high : float
        Default on pages, and the ends of the slider.
    sweep : tuple of float
        Published values, or the first ones of a sweep.
    choices : tuple of float
        Values that a sweep may use.
    published : str
        One sentence on published results with the default; empty if there are none.
    """

    default: float
    low: float
    high: float
    sweep: tuple[float, ...]
    choices: tuple[float, ...]
    published: str


@dataclass(frozen=True, slots=True)
class PlausibilityMethod(Model):
    """Declaration of a plausibility model.

    Attributes
    ----------
    reliability : ReliabilityScale
    leads : tuple of Kind
        Kinds of annotation for which it is the default of a page.
    most_cases : int
        Number of cases up to which it is computed automatically.
    on_pages : bool
        True if pages offer it; the command line always does.
    """

    family: ClassVar[str] = "plausibility"
    folder: ClassVar[str] = "plausibility"

    make: Callable[..., PlausibilityModel]
    _: KW_ONLY
    reliability: ReliabilityScale
    leads: tuple[Kind, ...] = ()
    most_cases: int = 0
    on_pages: bool = True


def offered(dataset: Dataset) -> list[PlausibilityMethod]:
    """List the methods that pages offer for this kind of annotation, the default one first."""
    found = [one for one in methods(PlausibilityMethod).values() if dataset.kind in one.takes and one.on_pages]
    return sorted(found, key=lambda method: dataset.kind not in method.leads)


def check_sampling(reliability: float, n_draws: int) -> None:
    """Raise `InputError` unless γ is positive and finite and the number of draws is at least 1."""
    check_number(reliability, "The reliability γ")
    check_whole(n_draws, "The number of draws", 1)
    if not 0 < reliability <= LARGEST_RELIABILITY:
        raise InputError(
            f"The reliability γ must be above 0 and at most {exact(LARGEST_RELIABILITY)}; got {reliability}.",
            "Use a value such as 1.",
        )
