"""Circular triads: three items that are preferred in a circle, A to B, B to C and C to A.

A rater with a clear order has none. If each preference is a coin toss, a quarter of the triads are circular; triads
that share a pair are uncorrelated, so that the number among T triads has the variance 3 T / 16.

Source: Kendall and Babington Smith (1940), On the method of paired comparisons, Biometrika 31, 324-345.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from .comparisons import Comparisons

_MOST_SIMULATED = 12  # items up to which the distribution by chance is simulated
_SIMULATED = 2000


@dataclass(frozen=True, slots=True)
class CircularTriads:
    """Number of circular triads among the triads whose three pairs all have a preference.

    Attributes
    ----------
    n_triads, n_circular : int
    zeta : float or None
        Kendall's coefficient of consistence, 1 without circular triads and 0 with the largest number; None unless each
        pair of the items compared has a preference, and there are at least three items.
    p : float or None
        Probability of as few circular triads by chance; None without triads.
    """

    n_triads: int
    n_circular: int
    zeta: float | None
    p: float | None

    @property
    def share(self) -> float | None:
        """Share of the triads that are circular; 25% by chance. None without triads."""
        return self.n_circular / self.n_triads if self.n_triads else None


def circular_triads(data: Comparisons, seed: int = 0) -> CircularTriads:
    """Count circular triads; of several comparisons of a pair, the item preferred more often counts.

    Parameters
    ----------
    data : Comparisons
        Comparisons of one rater, or of all.
    seed : int
        Seed of the simulation of preferences by chance, for up to 12 items.
    """
    table = data.table()
    used = np.flatnonzero((table + table.T).any(axis=1))
    used = used[_by_content(table[np.ix_(used, used)])]
    table = table[np.ix_(used, used)]
    beats = (table > table.T).astype(float)
    linked, n = beats + beats.T, len(used)
    n_triads = _closed_walks(linked) // 6
    n_circular = _closed_walks(beats) // 3
    if not n_triads:
        return CircularTriads(0, 0, None, None)
    most = n * (n * n - (1 if n % 2 else 4)) // 24
    complete = int(linked.sum()) == n * (n - 1)
    zeta = 1 - n_circular / most if complete else None
    if n > _MOST_SIMULATED:
        p = float(ndtr((n_circular + 0.5 - n_triads / 4) / np.sqrt(3 * n_triads / 16)))
        return CircularTriads(n_triads, n_circular, zeta, p)
    coins = np.triu(np.random.default_rng(seed).random((_SIMULATED, n, n)) < 0.5, 1)
    upper = np.triu(linked, 1).astype(bool)
    drawn = (coins & upper).astype(float) + (~coins & upper).transpose(0, 2, 1)
    chance = np.rint(np.trace(drawn @ drawn @ drawn, axis1=1, axis2=2) / 3)
    return CircularTriads(n_triads, n_circular, zeta, float(((chance <= n_circular).sum() + 1) / (_SIMULATED + 1)))


def _by_content(table: np.ndarray) -> np.ndarray:
    """Return an order of items in which the simulation does not depend on their names."""
    linked = (table != table.T).astype(float)
    return np.lexsort((table.sum(axis=1), np.diag(linked @ linked @ linked), linked.sum(axis=1)))


def _closed_walks(links: np.ndarray) -> int:
    """Return the number of closed walks of three steps."""
    return round(float(np.einsum("ij,ji->", links @ links, links)))
