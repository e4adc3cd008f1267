"""Plausibilities of all cases to train on: their mean over draws, how uncertain each is, and point estimates."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ..options import check_whole
from ..plausibility.protocol import PlausibilityModel
from ..rankings.irn import irn
from ..reducers.plausibilities import KeepPlausibilities
from ..reducers.protocol import reduce_draws
from ..runtime.chunks import CancelToken
from ..runtime.executors import Executor

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 50_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Plausibilities:
    """Arrays of shape (n_cases, n_classes).

    Attributes
    ----------
    cases, classes : tuple of str
    model : str
    reliability : float
        γ.
    mean, sd : ndarray
                Mean and standard deviation over draws; rows of the mean sum to 1.
    point : ndarray
        The model's point estimate: vote shares, IRN, or maximum likelihood; NaN where a case has no annotation.
    irn : ndarray
        Inverse rank normalisation, which are the vote shares of single classes; NaN where a case has no annotation.
    draws : ndarray, shape (n_cases, n_kept, n_classes)
    """

    cases: tuple[str, ...]
    classes: tuple[str, ...]
    model: str
    reliability: float
    mean: np.ndarray
    sd: np.ndarray
    point: np.ndarray
    irn: np.ndarray
    draws: np.ndarray

    def long_table(self) -> "pd.DataFrame":
        """Return one row per case and class, or per case, draw and class if draws are kept."""
        import pandas as pd

        n_cases, n_classes = self.mean.shape
        n_kept = self.draws.shape[1]
        case, name = np.array(self.cases, object), np.array(self.classes, object)
        if n_kept:
            return pd.DataFrame(
                {
                    "case": np.repeat(case, n_kept * n_classes),
                    "draw": np.tile(np.repeat(np.arange(n_kept), n_classes), n_cases),
                    "class": np.tile(name, n_cases * n_kept),
                    "plausibility": self.draws.ravel(),
                }
            )
        values = {"plausibility": self.mean, "sd": self.sd, "point": self.point, "irn": self.irn}
        return pd.DataFrame(
            {
                "case": np.repeat(case, n_classes),
                "class": np.tile(name, n_cases),
                **{key: value.ravel() for key, value in values.items()},
            }
        )

    def by_case(self) -> "pd.DataFrame":
        """Return one row per case with lists in the order of ``classes``, which Hugging Face's `datasets` reads."""
        import pandas as pd

        lists = {"soft_label": self.mean, "sd": self.sd, "point": self.point, "irn": self.irn}
        columns: dict[str, Any] = {"case": list(self.cases)} | {key: value.tolist() for key, value in lists.items()}
        if self.draws.shape[1]:
            columns["draws"] = self.draws.tolist()
        columns["classes"] = [list(self.classes)] * len(self.cases)
        return pd.DataFrame(columns)


def plausibilities(
    model: PlausibilityModel,
    dataset: Dataset,
    *,
    reliability: float,
    n_draws: int = 1000,
    seed: int = 0,
    n_kept: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> Plausibilities:
    """Compute the plausibility of every class of every case.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    reliability : float
        γ > 0.
    n_draws, seed, token, progress, runner
        See `core.reducers.protocol.reduce_draws`.
    n_kept : int
        Draws of each case to keep, at most ``n_draws``.

    Raises
    ------
    NotApplicableError
        The annotations have no classes.
    LimitError
        The table would have too many cells.
    """
    check_whole(n_kept, "The number of draws to keep", 0)
    if dataset.traits.needs_split:
        raise NotApplicableError(
            "Could not compute class plausibilities: they need rankings, or one class per annotation."
        )
    cells = dataset.n_cases * dataset.n_classes * (4 + min(n_kept, n_draws))
    if cells > MOST_CELLS:
        raise LimitError(
            f"Cannot draw plausibilities for {dataset.n_cases:,} cases and {dataset.n_classes:,} classes: this needs "
            f"{cells:,} cells; the limit is {MOST_CELLS:,}. Select fewer cases, or keep fewer draws."
        )
    how: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "token": token, "progress": progress, "runner": runner}
    reducer = KeepPlausibilities(dataset.n_classes, n_kept)
    ((mean, sd, kept),) = reduce_draws(model, dataset, [reducer], reliability=reliability, **how)
    weights = irn(dataset)
    point = _dense(dataset, *model.point_shares(dataset))
    return Plausibilities(
        dataset.cases,
        dataset.classes,
        model.name,
        float(reliability),
        mean,
        sd,
        point,
        _dense(dataset, weights.ptr, weights.class_code, weights.normalised),
        kept,
    )


def _dense(dataset: Dataset, ptr: np.ndarray, class_code: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Expand shares in CSR to a table; NaN for a case without shares."""
    found = np.where((np.diff(ptr) > 0)[:, None], np.zeros(dataset.n_classes), np.nan)
    found[np.repeat(np.arange(dataset.n_cases), np.diff(ptr)), class_code] = share
    return found
