"""What the panel says of a case, for a reviewer to be compared with: no more than its draws can tell."""

from collections.abc import Sequence

import numpy as np

from .opinions import UNDETERMINED, Opinion

STANDARD_ERRORS = 2.0


def panel_opinion(share: np.ndarray, classes: Sequence[str], effective_draws: float) -> Opinion:
    """The class that leads in most draws, tied with those whose lead the draws cannot tell from its.

    Whether a reviewer agrees with the panel decides what becomes of a case, and must not hang on the seed. Two shares
    p > q of the same draws differ by ``p - q`` with variance ``(p + q - (p - q)²) / n`` (multinomial); below two
    standard errors they count as tied.

    Parameters
    ----------
    share : array of shape (n_draws, n_named)
        Plausibilities of the classes that were named.
    classes : sequence of str
        Their names.
    effective_draws : float
        Independent draws that these are worth.

    Returns
    -------
    Opinion
        `UNDETERMINED` where no class was named.
    """
    if not len(classes):
        return UNDETERMINED
    lead = np.bincount(share.argmax(axis=1), minlength=len(classes)) / len(share)
    best = lead.max()
    apart = best - lead
    error = np.sqrt(np.maximum(best + lead - apart**2, 0) / effective_draws)
    tied = (apart <= STANDARD_ERRORS * error) & (lead > 0)
    return Opinion.of_ranking([[classes[place] for place in np.flatnonzero(tied)]])
