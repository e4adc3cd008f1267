"""Registration of coefficients of agreement as methods, and their common request.

``fit`` of a coefficient's `Method` takes one `CoefficientRequest` and returns its coefficients: none where the data do
not allow it, several where it has several forms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..methods import ONE_CLASS, Method
from .intervals import Coefficient
from .weights import Weights

GWET = "Gwet, Handbook of Inter-Rater Reliability (2014)"
SPA_SOURCE = "Nørregaard & Derczynski, Sparse Probability of Agreement (2022)"


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientRequest:
    """Data, and how to compare them.

    Attributes
    ----------
    counts : ClassCounts or None
        Counts of single classes.
    dataset : Dataset or None
        Counted dataset; with it, coefficients that need identified raters are possible.
    level : float
        Confidence level of the intervals, 0 to 1.
    weights, labels
        Weights and numbers of the classes, see `core.agreement.weights.weight_matrix`.
    metric : str or None
        Metric of alpha, which then takes no weights.
    spa_weightings : sequence of str
    """

    counts: Any  # A coefficient is called only if its needs are met: see ``needs`` and ``takes`` of its method.
    dataset: Any
    level: float = 0.95
    weights: Weights = None
    labels: Sequence[float] | None = None
    metric: str | None = None
    spa_weightings: Sequence[str] = ("annotations_m1",)

    @property
    def how(self) -> dict[str, Any]:
        """Level and weights, as arguments of the functions of coefficients."""
        return {"level": self.level, "weights": self.weights, "labels": self.labels}


def request_of(dataset: Dataset, level: float = 0.95, **more: Any) -> CoefficientRequest:
    """Build the request for a dataset of any kind.

    Parameters
    ----------
    dataset : Dataset
        Dataset; classes are counted, and other kinds are passed unchanged.
    level : float
        Confidence level of the intervals, 0 to 1.
    **more
        Further fields of `CoefficientRequest`.
    """
    return CoefficientRequest(class_counts(dataset) if dataset.kind == "class" else None, dataset, level, **more)


def coefficient_method(
    name: str,
    title: str,
    make: Callable[..., Any],
    fit: Callable[[CoefficientRequest], Sequence[Coefficient]],
    **said: Any,
) -> Method:
    """Describe a coefficient of agreement, by default of single classes.

    Parameters
    ----------
    name, title : str
        Key and title.
    make : callable
        Public function of the coefficient.
    fit : callable
        Function that takes one `CoefficientRequest` and returns the coefficients, none where the data do not allow it.
    **said
        Further fields of `core.methods.Method`; by default ``takes`` is one class per annotation and ``needs``
        is overlap.
    """
    return Method(
        name,
        "coefficient",
        title,
        make=make,
        fit=fit,
        takes=said.pop("takes", ONE_CLASS),
        needs=said.pop("needs", ("overlap",)),
        **said,
    )
