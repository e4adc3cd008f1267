"""Declaration of coefficients of agreement as methods, and their common request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset, Kind
from ..methods import ONE_CLASS, Computation, Need, Verdict, any_of, methods
from .formulas import Formula
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


@dataclass(frozen=True, slots=True)
class CoefficientMethod(Computation):
    """Declaration of a coefficient of agreement, by default of single classes.

    Attributes
    ----------
    fit : callable
        Function that takes one `CoefficientRequest` and returns the coefficients: none if the data do not allow it,
        several if it has several forms.
    assumes : str
        Assumptions in one sentence.
    formula : Formula or None
        Function of sums over cases, for coefficients of single classes.
    beyond_chance : bool
        True if 0 is chance and 1 perfect, as the verbal scales require.
    says_how : bool
        True if weights, metric, method or depth are shown next to the title.
    title_weighted : str
        Title with weights, if it differs.
    """

    family: ClassVar[str] = "coefficient"

    fit: Callable[[CoefficientRequest], Sequence[Coefficient]]
    _: KW_ONLY
    takes: Mapping[Kind, str] = field(default_factory=ONE_CLASS.copy)
    needs: tuple[Need, ...] = ("overlap",)
    assumes: str = ""
    formula: Formula | None = None
    beyond_chance: bool = False
    says_how: bool = True
    title_weighted: str = ""


def formulas() -> dict[str, Formula]:
    """Return the formulas of coefficients that have one, by name and in the order of lists."""
    return {name: one.formula for name, one in methods(CoefficientMethod).items() if one.formula is not None}


def any_coefficient(dataset: Dataset) -> Verdict:
    """Return whether any coefficient of agreement can be computed."""
    return any_of(methods(CoefficientMethod).values(), "Agreement", dataset)
