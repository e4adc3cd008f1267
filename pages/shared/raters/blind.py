"""Blind reads of reviewers, as the monitoring of raters takes them."""

import numpy as np

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.raters.blind import BlindReads, agreement_with_blind
from core.raters.rates import Rates
from core.thresholds import INTERVAL_LEVEL
from pages.shared.cache import access


def agreement(view: Dataset, digest: str) -> Rates | None:
    """How often blind reads agree with each rater; None where nobody has reviewed a case of these data blind.

    Parameters
    ----------
    view : Dataset
        Of single classes.
    digest : str
        That reviews are kept under: of the whole dataset.
    """
    try:
        reviews = access.store().cases(digest).values() if access.n_reviews(digest) else ()
    except PluralityError:  # a home folder that cannot be read is told on the Review page
        return None
    rows = [
        (review.case_id, read.reviewer, read.first.first[0])
        for review in reviews
        for read in review.reads
        if read.visible == "blind" and len(read.first.first) == 1
    ]
    if not rows:
        return None
    found = agreement_with_blind(
        view, BlindReads(*(tuple(column) for column in zip(*rows, strict=True))), INTERVAL_LEVEL
    )
    return found if np.isfinite(found.value).any() else None
