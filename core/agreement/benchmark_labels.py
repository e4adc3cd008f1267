"""Verbal benchmarks of chance-corrected coefficients, as probabilities instead of one word.

Landis and Koch (1977), DOI 10.2307/2529310; Fleiss, Statistical Methods for Rates and Proportions (1981); Altman,
Practical Statistics for Medical Research (1991).
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..errors import OptionError
from ..methods import methods
from .coefficient_methods import CoefficientMethod
from .intervals import Coefficient

# Names from the lowest to the highest, and the bounds between them; the ends are -1 and 1.
SCALES: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "landis_koch": (
        ("poor", "slight", "fair", "moderate", "substantial", "almost perfect"),
        (0.0, 0.2, 0.4, 0.6, 0.8),
    ),
    "fleiss": (("poor", "fair to good", "excellent"), (0.4, 0.75)),
    "altman": (("poor", "fair", "moderate", "good", "very good"), (0.2, 0.4, 0.6, 0.8)),
}
# Below this value, an interval that includes 0 shows that there is hardly any agreement.
_SLIGHT = SCALES["landis_koch"][1][1]


@dataclass(frozen=True, slots=True)
class Band:
    """Band of a scale, with its name.

    Attributes
    ----------
    name : str
    low, high : float
        Between -1 and 1.
    probability : float or None
        Probability that the coefficient is in the band; over the bands of a scale they sum to 1.
    note : str
        Reason why there is no probability; empty otherwise.
    """

    name: str
    low: float
    high: float
    probability: float | None
    note: str = ""


def benchmark_labels(coefficient: Coefficient, scale: str = "landis_koch") -> tuple[Band, ...]:
    """Compute the probability that the coefficient is in each band, from a normal distribution cut at -1 and 1.

    Parameters
    ----------
    coefficient : Coefficient
        Coefficient of agreement beyond chance, for which the scales were made.
    scale : str
        One of `SCALES`.

    Returns
    -------
    tuple of Band
        Bands from the lowest to the highest.
    """
    if scale not in SCALES:
        raise OptionError(f"`scale` must be one of {', '.join(SCALES)}; got {scale!r}")
    names, inner = SCALES[scale]
    edges = np.array([-1.0, *inner, 1.0])
    why = _why_not(coefficient)
    value, se = coefficient.value, coefficient.se
    probability: list[float | None] = [None] * len(names)
    if not why and value is not None and se is not None:
        probability = list(_cut_normal(edges, value, se))
    return tuple(
        Band(name, float(low), float(high), p, why)
        for name, (low, high), p in zip(names, pairwise(edges), probability, strict=True)
    )


def beyond_chance(coefficient: Coefficient) -> bool:
    """Return True if 0 is chance and 1 is perfect, as the scales assume."""
    found = methods(CoefficientMethod).get(coefficient.name)
    return found is not None and found.beyond_chance


def perhaps_chance(coefficient: Coefficient) -> bool:
    """Return True if agreement beyond chance is not above 0, or its interval reaches 0; False if unknown.

    Parameters
    ----------
    coefficient : Coefficient
    """
    if not beyond_chance(coefficient) or coefficient.value is None:
        return False
    return coefficient.value <= 0 or (coefficient.ci_low is not None and coefficient.ci_low <= 0)


def before_opinions(coefficient: Coefficient) -> tuple[str, str] | None:
    """Return the title and reason of what to do before further opinions; None if agreement is clearly beyond chance.

    Parameters
    ----------
    coefficient : Coefficient
    """
    if not perhaps_chance(coefficient):
        return None
    if _below_chance(coefficient):
        return (
            "Raters contradict each other",
            "agreement is clearly below chance: some raters may have swapped the classes or interpreted the "
            "instructions differently",
        )
    if coefficient.ci_high is None or coefficient.ci_high > _SLIGHT:
        return (
            "Cannot determine agreement beyond chance",
            "the interval includes 0; collect second annotations for more cases",
        )
    return (
        "Agreement is barely above chance",
        "review the classes and instructions first, because more annotations like these would not settle the cases",
    )


def _below_chance(coefficient: Coefficient) -> bool:
    """Return True if agreement is clearly below chance, also if nobody agrees on any case, without an interval.

    Below -½ chance agrees on a third of the cases or more, and on none of ten with a probability of 0.02 at most.
    """
    if coefficient.ci_high is not None:
        return coefficient.ci_high < 0
    return coefficient.value is not None and coefficient.value < -0.5 and coefficient.n_cases >= 10


def _why_not(coefficient: Coefficient) -> str:
    if not beyond_chance(coefficient):
        return "undefined: these scales apply only to chance-corrected coefficients"
    if coefficient.value is None:
        return coefficient.note or "the coefficient is undefined"
    if coefficient.se is None:
        return "undefined: the coefficient has no standard error"
    if coefficient.se < 1e-12:
        return "undefined: agreement is the same on all cases, so its standard error cannot be estimated"
    return ""


def _cut_normal(edges: np.ndarray, value: float, se: float) -> list[float]:
    from scipy.special import ndtr

    z = (edges - value) / se
    # Differences are taken in the tail, where they are small numbers.
    below, above = np.diff(ndtr(z)), -np.diff(ndtr(-z))
    mass = np.where(z[:-1] > 0, above, below)
    total = mass.sum()
    if total < 1e-300:  # If the coefficient is far outside of the scale, all probability is at the nearer end.
        mass = np.zeros(len(mass))
        mass[-1 if value > 0 else 0] = total = 1.0
    return (mass / total).tolist()
