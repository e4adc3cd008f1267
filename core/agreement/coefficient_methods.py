"""How coefficients of agreement say themselves, and what each is given.

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
    """The data, and how to compare them.

    Attributes
    ----------
    counts : ClassCounts or None
        Of single classes.
    dataset : Dataset or None
        What was counted; with it, coefficients that tell raters apart are possible.
    level : float
        Of the intervals, 0 to 1.
    weights, labels
        Of the classes: see `core.agreement.weights.weight_matrix`.
    metric : str or None
        Of alpha, which then takes no weights.
    spa_weightings : sequence of str
    """

    counts: Any  # what a coefficient needs is there when it is asked: see ``needs`` and ``takes`` of its method
    dataset: Any
    level: float = 0.95
    weights: Weights = None
    labels: Sequence[float] | None = None
    metric: str | None = None
    spa_weightings: Sequence[str] = ("annotations_m1",)

    @property
    def how(self) -> dict[str, Any]:
        """Level and weights, as the functions of coefficients take them."""
        return {"level": self.level, "weights": self.weights, "labels": self.labels}


def request_of(dataset: Dataset, level: float = 0.95, **more: Any) -> CoefficientRequest:
    """What is asked of a dataset of any kind.

    Parameters
    ----------
    dataset : Dataset
        Classes are counted; other kinds are asked of as they are.
    level : float
        Of the intervals, 0 to 1.
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
    """A coefficient of agreement, by default of single classes.

    Parameters
    ----------
    name, title : str
        The key and what people read.
    make : callable
        The public function of the coefficient.
    fit : callable
        Takes one `CoefficientRequest` and returns the coefficients, none where the data do not allow it.
    **said
        Further fields of `core.methods.Method`; by default ``takes`` is one class an annotation and ``needs``
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
