"""What the Cases page asks of all cases at once."""

import numpy as np

from core.annotations.dataset import Dataset
from core.certainty.explain import BelowPeers, below_peers
from core.certainty.label_sets import LabelSetCertainty, label_set_certainty
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.protocol import PlausibilityModel
from core.raters.flags import FALSE_ALARMS
from pages.shared.cache.remembered import of_content


def label_sets(dataset: Dataset, model: PlausibilityModel, reliability: float) -> LabelSetCertainty:
    """Certainty of every label of every case, and of sets."""
    settings = tuple(sorted(model.settings().items()))
    asked = ("label sets", model.name, settings, reliability)
    return of_content(dataset, asked, lambda coded: label_set_certainty(coded, model, reliability=reliability))


def class_probability(dataset: Dataset, model: OrdinalTruth, reliability: float) -> np.ndarray:
    """P(true class) of every case, shape (n_cases, n_classes); the model has its fit."""
    asked = ("class probability", model.name, reliability)
    return of_content(dataset, asked, lambda coded: model.probability(coded, reliability))


def named_below_peers(dataset: Dataset) -> BelowPeers:
    """Who names the majority class clearly less often than their peers, as raters are flagged on Raters."""
    return of_content(dataset, ("below peers",), lambda coded: below_peers(coded, FALSE_ALARMS))
