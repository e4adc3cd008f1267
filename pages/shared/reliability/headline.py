"""The first sentence of the Reliability page."""

import numpy as np

from core.evaluation.sweep_table import SweepTable
from core.text import exact, number, plural
from core.thresholds import UNCERTAIN_BELOW


def over_trust(sweep: SweepTable) -> str:
    """How certainty goes with trust, and how many cases stay uncertain at the highest."""
    first, last = sweep.certainty[0], sweep.certainty[-1]
    n_cases = len(first.cases)
    if len(sweep.reliabilities) == 1:
        below = f"{first.n_below(UNCERTAIN_BELOW):,} of {plural(n_cases, 'case')}"
        return f"Certainty is below {number(UNCERTAIN_BELOW, 1)} in {below} at γ = {exact(sweep.reliabilities[0])}"
    means = [result.mean() or 0.0 for result in sweep.certainty]
    errors = [result.mean_se() or 0.0 for result in sweep.certainty]
    before, after = number(first.mean()), number(last.mean())
    if len({number(mean) for mean in means}) == 1:
        words = f"Certainty stays at {before} whatever the trust"
    elif abs(means[-1] - means[0]) <= 2 * np.hypot(errors[0], errors[-1]):
        words = f"Certainty neither rises nor falls clearly with trust ({before} to {after})"
    else:
        words = f"Certainty {'rises' if means[-1] > means[0] else 'falls'} from {before} to {after} with trust"
    counts = [result.n_below(UNCERTAIN_BELOW) for result in sweep.certainty]
    below = counts[-1]
    if not any(counts):
        return f"{words}; no case is below {number(UNCERTAIN_BELOW, 1)}"
    if not below:
        place = max(place for place, count in enumerate(counts) if count) + 1
        at = exact(sweep.reliabilities[place])
        return f"{words}, and reaches {number(UNCERTAIN_BELOW, 1)} in every case at γ = {at}"
    stay = "stays" if below == 1 else "stay"
    last_one = exact(sweep.reliabilities[-1])
    return (
        f"{words}; {below:,} of {plural(n_cases, 'case')} {stay} below {number(UNCERTAIN_BELOW, 1)} at γ = {last_one}"
    )
