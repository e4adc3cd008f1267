"""Choice of a classifier: whether it depends on the uncertainty about the truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..text import exact, percent, probability
from ..thresholds import CLEARLY_AHEAD
from .metrics import Evaluation


@dataclass(frozen=True, slots=True)
class Leader:
    """Classifier with the highest mean at one reliability.

    Attributes
    ----------
    name : str
    p : float or None
        Smallest P(leader better than another) over the others that it shares a case with; None if there is none.
    """

    name: str
    p: float | None


def leaders(evaluations: Sequence[Evaluation], metric: str) -> list[Leader]:
    """Find the leader at each reliability, with the probability that it is the best.

    Classifiers without a predicted case cannot lead.
    """
    found = []
    for evaluation in evaluations:
        place = evaluation.metrics.index(metric)
        means = np.array([evaluation.values[name][metric].mean for name in evaluation.classifiers])
        if np.isnan(means).all():
            continue
        leader = int(np.nanargmax(means))
        against = np.delete(evaluation.better[leader, :, place], leader)
        against = against[~np.isnan(against)]
        found.append(Leader(evaluation.classifiers[leader], float(against.min()) if against.size else None))
    return found


def verdict(
    reliabilities: Sequence[float], evaluations: Sequence[Evaluation], metric: str, sure: float = CLEARLY_AHEAD
) -> str:
    """State in one sentence who leads, whether at every γ, and with which probability.

    Parameters
    ----------
    reliabilities : sequence of float
        γ, ascending.
    evaluations : sequence of Evaluation
        Evaluation at each reliability.
    metric : str
        Name of one of the evaluations' metrics.
    sure : float
        Smallest probability of a clear leader, 0 to 1.
    """
    if not evaluations or len(evaluations[0].classifiers) < 2:
        return "There is only one classifier. Add a second one to compare them"
    found = leaders(evaluations, metric)
    if not found:
        return "No classifier has predictions for these cases"
    others = [place for place, leader in enumerate(found) if leader.name != found[0].name]
    if others:
        place = len(found) - 1 if found[-1].name != found[0].name else others[0]
        first, last = found[0], found[place]
        said = "The best classifier depends on γ" if any(_is_sure(one, sure) for one in found) else "No clear leader"
        verbs = ["leads" if _is_sure(one, sure) else "has the highest mean" for one in (first, last)]
        then = "" if verbs[0] == verbs[1] else f" {verbs[1]}"
        return (
            f"{said}: “{first.name}” {verbs[0]} at γ = {exact(reliabilities[0])} (probability {_surely(first)}), "
            f"“{last.name}”{then} at γ = {exact(reliabilities[place])} ({_surely(last)})"
        )
    known = [leader.p for leader in found if leader.p is not None]
    if not known:
        return f"Cannot compare “{found[0].name}”: it has no cases in common with another classifier"
    least, name = min(known), found[0].name
    p = percent(at_least(least))
    if least >= sure:
        return f"“{name}” leads at every γ (probability at least {p})"
    if any(_is_sure(leader, sure) for leader in found):
        at = exact(reliabilities[[leader.p for leader in found].index(least)])
        return f"“{name}” is best at every γ, but not clearly at γ = {at} (probability {p})"
    return f"“{name}” is best at every γ, but not clearly (probability as low as {p})"


def _is_sure(leader: Leader, sure: float) -> bool:
    return leader.p is not None and leader.p >= sure


def at_least(p: float) -> float:
    """Round a probability down to two digits, at most 0.99."""
    return min(float(np.floor(p * 100 + 1e-9)) / 100, 0.99)


def _surely(leader: Leader) -> str:
    if leader.p is None:
        return "unknown: no shared case"
    return probability(leader.p)
