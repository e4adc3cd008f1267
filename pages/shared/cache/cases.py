"""What pages ask of cases: parts of the analysis of cases, and what they share."""

import hashlib

import numpy as np

from core.analyses.cases import CASES
from core.analyses.cases.case import OneCase
from core.analyses.inputs import Inputs
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.explain import BelowPeers, below_peers
from core.certainty.label_sets import LabelSetCertainty
from core.certainty.regions import Region, draws_region
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.protocol import PlausibilityModel
from core.raters.flags import FALSE_ALARMS
from pages.shared.cache import analyses
from pages.shared.cache.remembered import of_content


def inputs(dataset: Dataset, model: PlausibilityModel, reliability: float) -> Inputs:
    """Return the data with the model and γ on screen."""
    return Inputs(dataset, settings=AnalysisSettings(model, reliability))


def one_case(view: Dataset, model: PlausibilityModel, case: int, reliability: float) -> OneCase:
    """One case of data as the model takes them."""
    part = CASES.part("case")
    return analyses.result(part, inputs(view, model, reliability), part.options(case))


def label_sets(dataset: Dataset, model: PlausibilityModel, reliability: float) -> LabelSetCertainty:
    """Certainty of every label of every case, and of sets."""
    return analyses.result(CASES.part("labels"), inputs(dataset, model, reliability))


def class_probability(dataset: Dataset, model: OrdinalTruth, reliability: float) -> np.ndarray:
    """P(true class) of every case, shape (n_cases, n_classes); the model has its fit."""
    asked = ("class probability", model.name, reliability)
    return of_content(dataset, asked, lambda coded: model.probability(coded, reliability))


def named_below_peers(dataset: Dataset) -> BelowPeers:
    """Return raters who name the majority class clearly less often than their peers, as flagged on Raters."""
    return of_content(dataset, ("below peers",), lambda coded: below_peers(coded, FALSE_ALARMS))


def region(dataset: Dataset, corners: np.ndarray) -> Region:
    """Return the 95% region of the draws of a case on a triangle; ``corners`` as for `draws_region`."""
    content = hashlib.blake2b(np.ascontiguousarray(corners), digest_size=16).hexdigest()
    return of_content(dataset, ("region", content), lambda _: draws_region(corners))
