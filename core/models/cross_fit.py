"""Cross-fitting: parameters from fits without the annotations that they judge.

An annotation that helped to estimate the confusion matrices of all other raters speaks in its own favour when they
determine how likely it is correct: if raters meet few cases of a class, mistakes that two of them share are learned as
if they were the truth. So the annotations of each case are spread over folds, and a few steps of
expectation-maximisation from the fit without those of a fold forget most of what they taught. The steps start at the
fit, so that classes keep their places; starting again, as held-out scores do, forgets all, but a fold with few
annotations ends elsewhere.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from ._held_out_kernels import spread_folds
from .catalogue import em_model_of
from .design import design
from .em import Point, climb
from .held_out import N_FOLDS, without_hidden
from .result import RaterModelFit
from .stopping import StoppingRule
from .tempering import point_of

_STEPS = StoppingRule(3, -1.0)
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """Folds of annotations, and the parameters without each.

    Attributes
    ----------
    fold : ndarray of int8, shape (n_annotations,)
    points : tuple of Point
        By fold.
    """

    fold: np.ndarray
    points: tuple[Point, ...]


def cross_fit(dataset: Dataset, fit: RaterModelFit, *, token: CancelToken | None = None) -> CrossFit:
    """Compute every annotation's fold, and the parameters of the fit without the annotations of that fold.

    All annotations of a rater on a case are in one fold. Pseudo-counts are those of all data. A fit that is not by
    expectation-maximisation has one fold and its own parameters; so has a fold that leaves nothing to estimate.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    fit : RaterModelFit
        Fit of ``dataset``.
    token : CancelToken, optional
    """
    own = point_of(fit)
    model = em_model_of(fit)
    if model is None:
        return CrossFit(np.zeros(dataset.n_annotations, np.int8), (own,))
    token = token or CancelToken()
    problem = model.problem(dataset, token)
    fold = np.empty(dataset.n_annotations, np.int8)
    spread_folds(dataset.case_ptr, dataset.rater, case_seeds(_SEED, dataset.cases, "cross-fit"), N_FOLDS, fold)
    points = []
    for number in range(N_FOLDS):
        try:
            data = design(model.title, without_hidden(dataset, fold != number), model.use_gold, model.repeats)
        except NotApplicableError:
            points.append(own)
            continue
        points.append(climb(data, problem.family, problem.prior, own, _STEPS, token=token).point)
    return CrossFit(fold, tuple(points))
