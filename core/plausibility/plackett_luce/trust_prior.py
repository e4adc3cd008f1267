"""Beta(A, B) prior of raters' trust, at its mode given the statistics of every rater.

A / (A + B) ~ Beta(8, 2), ln(A + B) ~ Normal(ln 10, 1); densities over A / (A + B) and over ln(A + B), as
written, for A and B above 1: below, the density of trust is unbounded at 0 and 1, and raters would be estimated as
perfect.
"""

import numpy as np

CENTRE = (8.0, 2.0)
STRENGTH = (np.log(10.0), 1.0)
START = (8.75, 1.25)  # The mode if nobody has annotated.
_BOUNDS = ((-9.0, 12.0), (-9.0, 12.0))


def beta_mode(n_raters: float, log_trust: float, log_distrust: float, start: tuple[float, float] = START):
    """Find the A and B that maximise Σ_j ln Beta(a_j; A, B) and the ln of their own prior.

    Parameters
    ----------
    n_raters : float
    log_trust, log_distrust : float
        Σ_j E ln a_j and Σ_j E ln(1 - a_j).
    start : tuple of float
        A and B to start from.
    """
    from scipy.optimize import minimize
    from scipy.special import gammaln, psi

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = 1 + np.exp(point)
        total = a + b
        off = np.log(total) - STRENGTH[0]
        value = n_raters * (gammaln(total) - gammaln(a) - gammaln(b)) + (a - 1) * log_trust + (b - 1) * log_distrust
        value += (
            (CENTRE[0] - 1) * np.log(a / total) + (CENTRE[1] - 1) * np.log(b / total) - 0.5 * (off / STRENGTH[1]) ** 2
        )
        shared = n_raters * psi(total) - (sum(CENTRE) - 2) / total - off / STRENGTH[1] ** 2 / total
        slope = np.array(
            [
                shared - n_raters * psi(a) + log_trust + (CENTRE[0] - 1) / a,
                shared - n_raters * psi(b) + log_distrust + (CENTRE[1] - 1) / b,
            ]
        )
        return -value, -slope * (np.array([a, b]) - 1)

    first = np.log(np.array(start) - 1)
    a, b = 1 + np.exp(minimize(loss, first, jac=True, method="L-BFGS-B", bounds=_BOUNDS).x)
    return float(a), float(b)


class PriorClimb:
    """Stochastic approximation EM of A and B (Delyon, Lavielle & Moulines 1999) while a chain burns in.

    Statistics are those of the newest u in the first half, then their running mean over the second.

    Parameters
    ----------
    n_annotations : ndarray of int64, shape (n_raters,)
    n_sweeps : int
        Length of the burn-in.
    """

    _EVERY = 5

    def __init__(self, n_annotations: np.ndarray, n_sweeps: int):
        self.prior = START
        self._n, self._n_sweeps = n_annotations, n_sweeps
        self._mean = np.zeros(2)

    def take(self, sweep: int, attends: np.ndarray) -> None:
        """Add the number of u = 1 of each rater at a sweep of the burn-in."""
        from scipy.special import psi

        a, b = self.prior
        total = psi(a + b + self._n)
        newest = np.array([(psi(a + attends) - total).sum(), (psi(b + self._n - attends) - total).sum()])
        gain = 1.0 / max(1, sweep - self._n_sweeps // 2)
        self._mean += gain * (newest - self._mean)
        if sweep % self._EVERY == self._EVERY - 1 or sweep == self._n_sweeps - 1:
            self.prior = beta_mode(len(self._n), float(self._mean[0]), float(self._mean[1]), self.prior)
