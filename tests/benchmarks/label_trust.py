"""Whether a trust in raters that labels share brings the truth of labels nearer: simulated sets of labels.

``python -m tests.benchmarks.label_trust [n_raters]``: mean log loss of the probability of each label, by the fit of
each label alone and with the shared trust, over seeds, where abilities are common to labels and where each has its own.
"""

import sys

import numpy as np

from core.annotations.dataset import Dataset
from core.models.label_fits import fit_labels

N_CASES, N_LABELS, PER_CASE = 120, 6, 4


def simulated(seed: int, n_raters: int = 40, common: bool = True) -> tuple[Dataset, np.ndarray]:
    """Sets of labels by raters whose log odds of being right are the same on all labels, or drawn for each; the truth.

    Parameters
    ----------
    seed : int
    n_raters : int
    common : bool
    """
    rng = np.random.default_rng(seed)
    truth = rng.random((N_CASES, N_LABELS)) < np.linspace(0.15, 0.5, N_LABELS)
    able = rng.normal(1.6, 1.2, (2, n_raters, 1 if common else N_LABELS))
    odds = np.broadcast_to(able, (2, n_raters, N_LABELS))
    cases, raters, named = [], [], []
    for case in range(N_CASES):
        for rater in rng.choice(n_raters, PER_CASE, replace=False):
            right = rng.random(N_LABELS) < 1 / (1 + np.exp(-odds[truth[case].astype(int), rater, np.arange(N_LABELS)]))
            labels = np.flatnonzero(truth[case] == right)
            cases.append(case)
            raters.append(int(rater))
            named.append(labels if labels.size else np.array([N_LABELS]))
    ptr = np.concatenate([[0], np.cumsum([len(one) for one in named])])
    names = [f"label {place}" for place in range(N_LABELS)] + ["none"]
    who = [f"rater {place}" for place in range(n_raters)]
    ids = [f"case {place}" for place in range(N_CASES)]
    return Dataset.from_sets("simulated", ids, who, names, cases, raters, ptr, np.concatenate(named)), truth


def log_loss(probability: np.ndarray, truth: np.ndarray) -> float:
    """Mean over cases and labels of −ln P(what is true)."""
    return float(-np.log(np.maximum(np.where(truth, probability, 1 - probability), 1e-12)).mean())


def losses(seed: int, n_raters: int = 40, common: bool = True) -> tuple[float, float]:
    """Log loss of each label alone, and with the shared trust.

    Parameters
    ----------
    seed : int
    n_raters : int
    common : bool
    """
    dataset, truth = simulated(seed, n_raters, common)
    alone, shared = (fit_labels(dataset, shared=way).probability[:, :N_LABELS] for way in (False, True))
    return log_loss(alone, truth), log_loss(shared, truth)


def main() -> None:
    """Print the means over ten seeds, with the standard error of the difference."""
    n_raters = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for common in (True, False):
        found = np.array([losses(seed, n_raters, common) for seed in range(10)])
        gain = found[:, 0] - found[:, 1]
        whose = "common to labels" if common else "of each label"
        print(
            f"{n_raters} raters, abilities {whose}: alone {found[:, 0].mean():.3f}, "
            f"shared {found[:, 1].mean():.3f}, gain {gain.mean():.3f} ± {gain.std(ddof=1) / 10**0.5:.3f}"
        )


if __name__ == "__main__":
    main()
