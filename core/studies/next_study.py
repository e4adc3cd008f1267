"""Size of the next study from the variance components of this one.

A complete study with J readers and c times as many cases has the variance
``σ²_readers/J + c⁻¹ (σ²_cases + σ²_rest/J + σ²_truth)``, and Hillis' degrees of freedom
``(J − 1) Var² / ((σ²_readers + c⁻¹ σ²_rest)/J)²`` with the variance of readers and cases [Hillis, Obuchowski & Berbaum
2011, DOI 10.1016/j.acra.2010.09.007]. Power is that of the F test with one numerator degree of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from ..errors import InputError
from ..options import check_level, check_number, check_whole
from ..result_base import Columns, Result, rows
from .analysis import StudyEstimates

MOST_CASES = 100_000


@dataclass(frozen=True, slots=True, repr=False)
class StudySize(Result):
    """Number of cases for one number of readers.

    Attributes
    ----------
    n_readers : int
    n_cases : int or None
        Least number, with the share of cases with the condition of this study; None if 100,000 do not suffice.
    power : float
        With so many cases, or with 100,000.
    """

    n_readers: int
    n_cases: int | None
    power: float


@dataclass(frozen=True, slots=True, repr=False)
class NextStudy(Result):
    """Sizes of the next study of two modalities.

    Attributes
    ----------
    modality, other_modality : str
    effect : float
        Difference that is to be found.
    target : float
        Power to reach.
    significance : float
        Two-sided.
    sizes : tuple of StudySize
    """

    modality: str
    other_modality: str
    effect: float
    target: float
    significance: float
    sizes: tuple[StudySize, ...]

    TABLES = ("sizes",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.sizes[:most], ("n_readers", "n_cases", "power"))


def compute_next_study(
    estimates: StudyEstimates,
    effect: float,
    n_readers: Sequence[int] = (3, 5, 8, 10, 15, 20),
    *,
    pair: int = 0,
    power: float = 0.8,
    significance: float = 0.05,
) -> NextStudy:
    """Compute how many cases a next study needs for each number of readers.

    Parameters
    ----------
    estimates : StudyEstimates
    effect : float
        Difference to find, not 0.
    n_readers : sequence of int
        At least two each.
    pair : int
        Index of a difference of the study.
    power : float
        To reach, between 0 and 1.
    significance : float
        Two-sided, between 0 and 1.

    Raises
    ------
    InputError
        An argument is out of its range.
    """
    check_number(effect, "The effect", -1, 1)
    if effect == 0:
        raise InputError("The effect is 0.", "Enter the difference that the next study should detect.")
    check_level(power, "The power")
    check_level(significance, "The significance level")
    check_whole(pair, "The pair", 0)
    if pair >= len(estimates.differences):
        raise InputError(f"Could not find pair {pair}.", f"The study has {len(estimates.differences)}.")
    for number in n_readers:
        check_whole(number, "The number of readers", 2)
    row = estimates.differences[pair]
    sizes = tuple(_size(estimates, pair, effect, number, power, significance) for number in n_readers)
    return NextStudy(row.modality, row.other_modality, effect, power, significance, sizes)


def compute_power(
    estimates: StudyEstimates, pair: int, effect: float, n_readers: int, n_cases: float, significance: float = 0.05
) -> float:
    """Compute the power of a study of a given size.

    Parameters
    ----------
    estimates : StudyEstimates
    pair : int
        Index of the difference.
    effect : float
    n_readers : int
    n_cases : float
        With the share of cases with the condition of this study.
    significance : float
        Two-sided.
    """
    from scipy.special import fdtri, ncfdtr

    ratio = (estimates.n_with + estimates.n_without) / n_cases
    readers, cases, rest = (
        max(float(part[pair]), 0.0)
        for part in (estimates.components.readers, estimates.components.cases, estimates.components.rest)
    )
    by_readers = (readers + ratio * rest) / n_readers
    variance = by_readers + ratio * cases
    total = variance + ratio * estimates.truth_variance[pair]
    if total <= 0:
        return 1.0
    df = (n_readers - 1) * min((variance / by_readers) ** 2, 1e6) if by_readers > 0 else 1e6
    missed = float(ncfdtr(1, df, effect**2 / total, fdtri(1, df, 1 - significance)))
    return 1.0 if isnan(missed) else 1 - missed  # SciPy loses the far tail, of probability 0, in some places


def _size(
    estimates: StudyEstimates, pair: int, effect: float, n_readers: int, power: float, significance: float
) -> StudySize:
    """Find the smallest number of cases by bisection."""

    def reached(n: int) -> float:
        return compute_power(estimates, pair, effect, n_readers, n, significance)

    low, high = 1, MOST_CASES
    if reached(high) < power:
        return StudySize(n_readers, None, reached(high))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) >= power else (middle, high)
    return StudySize(n_readers, high, reached(high))
