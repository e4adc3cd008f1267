"""Agreement of raters two by two."""

from dataclasses import dataclass

import numpy as np

from core.agreement._kernels import rater_pairs
from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.errors import LimitError, NotApplicableError
from core.settings import current_settings

Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, eq=False)
class PairMatrix:
    """Percent agreement of every two raters.

    Attributes
    ----------
    raters : tuple of str
        Both axes of the matrices.
    n : ndarray of int64, shape (n_raters, n_raters)
        Pairs of answers on the same case.
    agree : ndarray of int64, shape (n_raters, n_raters)
        How many of them are the same class.
    """

    raters: tuple[str, ...]
    n: np.ndarray
    agree: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Share that agrees, float64, shape (n_raters, n_raters); NaN where two raters never meet."""
        share = np.full(self.n.shape, np.nan)
        np.divide(self.agree, self.n, out=share, where=self.n > 0)
        return share

    def interval(self, i: int, j: int) -> tuple[float, float] | None:
        """Wilson's 95 % interval of one cell; None where two raters never meet."""
        if self.n[i, j] == 0:
            return None
        return wilson(self.agree[i, j] / self.n[i, j], float(self.n[i, j]), Z95)


def pair_matrix(dataset: Dataset) -> PairMatrix:
    """Agreement of every two raters on the cases that both answered.

    Raises
    ------
    NotApplicableError
        The answers are not single classes, or rater names carry no identity.
    LimitError
        The matrix of raters × raters would not fit.
    """
    if dataset.kind != "class":
        raise NotApplicableError("Pairs of raters are compared on single classes.")
    if not dataset.raters_identified:
        raise NotApplicableError("The answers are anonymous, so raters cannot be compared.")
    limit = current_settings().max_model_cells
    if dataset.n_raters**2 > limit:
        raise LimitError(
            f"Comparing {dataset.n_raters:,} raters two by two needs {dataset.n_raters**2:,} cells, more than the "
            f"limit of {limit:,}. Select fewer raters."
        )
    n, agree = rater_pairs(dataset.case_ptr, dataset.rater, dataset.answer, dataset.n_raters)
    return PairMatrix(dataset.raters, n, agree)
