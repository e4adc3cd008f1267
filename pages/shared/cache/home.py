"""What Home computes without being asked, kept by the content of the data, the parameters and the version."""

import numpy as np

from core.agreement.intervals import Share
from core.analyses.models import MODELS
from core.annotations.dataset import Dataset
from core.thresholds import INTERVAL_LEVEL
from pages.shared.cache import analyses
from pages.shared.cache import datasets as cached
from pages.shared.cache.remembered import remembered


def vote_shares(dataset: Dataset) -> tuple[Share, ...]:
    """Share of each class among the cases by majority vote."""
    return analyses.result(MODELS.part("vote"), dataset).shares


@remembered
def vote_by_gold(dataset: Dataset):
    """Measure the majority vote against gold classes, of which some annotated case has one."""
    from core.models.gold_measures import gold_measures

    return gold_measures(dataset, cached.majority(dataset))


@remembered
def score_mean(dataset: Dataset) -> tuple[float, float, float]:
    """Mean of the cases' mean scores, with Student's interval over cases."""
    from scipy.special import stdtrit

    n = np.diff(dataset.case_ptr)
    rated = n > 0
    mean = np.bincount(dataset.case_of_annotation, dataset.score, dataset.n_cases)[rated] / n[rated]
    if mean.size < 2:
        return float(mean.mean()), np.nan, np.nan
    half = float(stdtrit(mean.size - 1, (1 + INTERVAL_LEVEL) / 2)) * float(mean.std(ddof=1)) / np.sqrt(mean.size)
    return float(mean.mean()), float(mean.mean()) - half, float(mean.mean()) + half
