"""What is computed of one set of data within a pool of cases, and how its replicates are read."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError, OptionError
from ..settings import current_settings
from .coefficients import BRENNAN_PREDIGER, FLEISS_KAPPA, GWET_AC, PERCENT, SCOTT_PI, agreement_table
from .cohen_conger import COHEN_KAPPA, CONGER_KAPPA, raters_used, repeats_of
from .corrected_spa import SPA_CORRECTED
from .intervals import Coefficient
from .krippendorff import KRIPPENDORFF_ALPHA
from .probability import SPA
from .replicated_raters import RaterKappa
from .replicates import ByVector, CoefficientOptions
from .resampling import Pool, Statistic, pick

COEFFICIENTS = (
    PERCENT,
    SPA,
    SPA_CORRECTED,
    COHEN_KAPPA,
    SCOTT_PI,
    CONGER_KAPPA,
    FLEISS_KAPPA,
    GWET_AC,
    BRENNAN_PREDIGER,
    KRIPPENDORFF_ALPHA,
)
_OF_TWO = (COHEN_KAPPA, SCOTT_PI)
_OWN_MARGINS = (COHEN_KAPPA, CONGER_KAPPA)


def chosen(data: ClassCounts | Dataset, names: Sequence[str] | None) -> list[str]:
    """The coefficients to compute, in the order of `COEFFICIENTS`: those named, or all that the data allow."""
    apart = {*_OF_TWO, *_OWN_MARGINS}
    used = raters_used(data) if isinstance(data, Dataset) and data.raters_identified else 0
    if used > 1:
        apart -= set(_OF_TWO) if used == 2 else {CONGER_KAPPA}
    allowed = [name for name in COEFFICIENTS if name not in apart]
    for name in allowed if names is None else names:
        if name not in COEFFICIENTS:
            raise OptionError(f"there is no coefficient {name!r}; there are {', '.join(COEFFICIENTS)}")
        if name in apart:
            raise NotApplicableError(
                f"{name} compares raters who are identified, {'more than' if name == CONGER_KAPPA else 'exactly'} "
                f"two of them; these data have {used:,}."
            )
    return allowed if names is None else [name for name in COEFFICIENTS if name in names]


class BootstrapSample:
    """One set of data whose cases are among those of a pool.

    Parameters
    ----------
    data : ClassCounts or Dataset
    counts : ClassCounts
        Those of the data.
    names : sequence of str
        Of `COEFFICIENTS`, that the data allow.
    how : CoefficientOptions
    pool : Pool
        Of cases that differ in their count vectors.
    case_of : ndarray of int64
        Which case of the data a case of the pool is; −1 where it is none.
    """

    def __init__(
        self,
        data: ClassCounts | Dataset,
        counts: ClassCounts,
        names: Sequence[str],
        how: CoefficientOptions,
        pool: Pool,
        case_of: np.ndarray,
    ):
        self.data, self.counts, self.how = data, counts, how
        ptr, entries = pick(counts.ptr, case_of[pool.order[pool.start[:-1]]])
        vectors = ClassCounts(ptr, counts.class_code[entries], counts.count[entries], counts.n_classes)
        self._skipped = [name for name in names if self._cannot(name)]
        names = [name for name in names if name not in self._skipped]
        by_vector = ByVector(vectors, [name for name in names if name not in _OWN_MARGINS], how)
        self.statistics: list[Statistic] = [by_vector]
        for name in _OWN_MARGINS:
            if name in names and isinstance(data, Dataset):
                ptr, entries = pick(data.case_ptr, case_of[pool.order])
                rater, answer = data.rater[entries], data.answer[entries]
                self.statistics.append(RaterKappa(name, vectors, ptr, rater, answer, data.n_raters, how))
        labels = [label for statistic in self.statistics for label in statistic.labels]
        labels += [(name, by_vector.weights) for name in self._skipped]
        self._order = sorted(range(len(labels)), key=lambda place: COEFFICIENTS.index(labels[place][0]))
        self.labels = [labels[place] for place in self._order]
        once = np.diff(pool.start)[:, None].astype(np.int32), np.ones((pool.n_cases, 1), np.uint8)
        self.observed = self.in_order([statistic(*once).T for statistic in self.statistics])[0]
        size = counts.per_case()
        self.n_cases, self.n_annotations = int(np.count_nonzero(size >= 2)), int(size[size >= 2].sum())

    def _cannot(self, name: str) -> bool:
        """Whether a coefficient is undefined on these data and on all resamples of them."""
        if not isinstance(self.data, Dataset):
            return False
        if name in _OF_TWO:
            return repeats_of(self.data) > 0
        return name == CONGER_KAPPA and self.data.n_raters * self.data.n_classes > current_settings().max_model_cells

    def in_order(self, found: Sequence[np.ndarray]) -> np.ndarray:
        """What `core.agreement.resampling.resample` gave, as (n_replicates, n_coefficients) in the order of labels."""
        nothing = np.full((len(found[0]), len(self._skipped)), np.nan)
        return np.concatenate([*found, nothing], axis=1)[:, self._order]

    def why_undefined(self) -> dict[tuple[str, str], Coefficient]:
        """What the ordinary functions say of the coefficients that are undefined on the data."""
        table = agreement_table(
            self.counts,
            spa_weightings=self.how.spa_weightings,
            weights=self.how.weights,
            labels=self.how.labels,
            metric=self.how.metric,
            dataset=self.data if isinstance(self.data, Dataset) else None,
        )
        said = {(one.name, one.weights): one for one in table}
        return {label: said[label] for label, value in zip(self.labels, self.observed, strict=True) if np.isnan(value)}
