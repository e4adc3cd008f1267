"""Which cases come next, and what is known of a case from how often each class was named on it."""

from dataclasses import dataclass, field

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.first_place import first_place
from ..certainty.next_opinion import next_opinion
from ..plausibility.dirichlet import DirichletCounts

POLICIES = ("random", "least_certain", "largest_gain", "new_cases")


@dataclass(frozen=True, slots=True, eq=False)
class CountsCache:
    """Certainty and gain of cases by their counts alone, under Dirichlet counts; kept once they are known.

    Attributes
    ----------
    n_classes : int
    reliability : float
    """

    n_classes: int
    reliability: float
    _certainty: dict[bytes, float] = field(default_factory=dict)
    _gain: dict[bytes, float] = field(default_factory=dict)

    def certainty(self, counts: np.ndarray) -> np.ndarray:
        """Probability of the most plausible class of each case, counts of shape (n_cases, n_classes)."""
        alpha = DirichletCounts().alpha

        def of(patterns: np.ndarray) -> list[float]:
            found = []
            for pattern in patterns:
                named = pattern[pattern > 0]
                n_rest = self.n_classes - named.size
                found.append(float(first_place(self.reliability * named + alpha, alpha, n_rest).max()))
            return found

        return self._look_up(counts, self._certainty, of)

    def gain(self, counts: np.ndarray) -> np.ndarray:
        """How much more often choosing by one more opinion is right, by case."""

        def of(patterns: np.ndarray) -> list[float]:
            cases = np.repeat(np.arange(len(patterns)), patterns.sum(axis=1))
            answer = np.concatenate([np.repeat(np.arange(self.n_classes), pattern) for pattern in patterns])
            names = [str(i) for i in range(len(patterns))], ["one"], [str(k) for k in range(self.n_classes)]
            every = Dataset.from_classes("patterns", *names, cases, np.zeros(cases.size, np.int32), answer)
            return next_opinion(DirichletCounts(), every, reliability=self.reliability).gain.tolist()

        return self._look_up(counts, self._gain, of)

    def _look_up(self, counts: np.ndarray, known: dict[bytes, float], of) -> np.ndarray:
        # Which class it is does not matter, so cases are alike when their sorted counts are.
        patterns, place = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
        keys = [pattern.tobytes() for pattern in patterns]
        missing = [i for i, key in enumerate(keys) if key not in known]
        if missing:
            known.update(zip((keys[i] for i in missing), of(patterns[missing]), strict=True))
        return np.array([known[key] for key in keys])[place.ravel()]


def next_cases(
    policy: str, counts: np.ndarray, open_cases: np.ndarray, n: int, patterns: CountsCache, rng: np.random.Generator
) -> np.ndarray:
    """The ``n`` cases that come next (fewer where fewer are open), first come first; ties in random order.

    Parameters
    ----------
    policy : str
        One of `POLICIES` but "new_cases".
    counts : ndarray of int, shape (n_cases, n_classes)
    open_cases : ndarray of int
        Cases that somebody can still be asked about.
    n : int
    patterns : CountsCache
    rng : numpy.random.Generator
        Orders ties.
    """
    shuffled = rng.permutation(open_cases)
    if policy == "least_certain":
        shuffled = shuffled[np.argsort(patterns.certainty(counts[shuffled]), kind="stable")]
    elif policy == "largest_gain":
        shuffled = shuffled[np.argsort(-patterns.gain(counts[shuffled]), kind="stable")]
    return shuffled[:n]
