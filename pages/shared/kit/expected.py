"""About how many seconds of one core work takes, by which it is decided where it runs; measured on the samples."""

from core.annotations.dataset import Dataset
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.plausibility.protocol import PlausibilityModel

_CLOSED, _CHAIN = 2e-4, 2e-3  # of 1,000 draws of a case in closed form, and by a chain
_HELD_OUT = 2e-2  # of an annotation, drawn at each reliability of the curve
_FIT = 1e-6  # of a rater model, an annotation and class
_ALL_MODELS = 3e-5  # of all rater models on held-out annotations, likewise
_REPLICATE = 2e-9  # of a resample, an annotation
LONG = 60.0  # what always takes long


def of_draws(dataset: Dataset, model: PlausibilityModel, n_reliabilities: float = 1) -> float:
    """Draws of every case at some reliabilities, with what is made of them."""
    closed = isinstance(model, DirichletCounts | GaussianScores | OrdinalTruth | PrIRN)
    return dataset.n_cases * n_reliabilities * (_CLOSED if closed else _CHAIN)


def of_readers(dataset: Dataset, model: PlausibilityModel) -> float:
    """Return the expected seconds of computing the curve of held-out readers."""
    return dataset.n_annotations * (_HELD_OUT if isinstance(model, PlackettLuce) else _CLOSED / 10)


def of_choice(view: Dataset) -> float:
    """Held-out scores of all rater models."""
    return view.n_annotations * view.n_classes * _ALL_MODELS


def of_fits(view: Dataset, n_fits: float = 1) -> float:
    """Fits of a rater model."""
    return view.n_annotations * view.n_classes * _FIT * n_fits


def of_resamples(view: Dataset, n_replicates: int) -> float:
    """Coefficients of resampled cases."""
    return view.n_annotations * n_replicates * _REPLICATE
