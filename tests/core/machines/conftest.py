"""People and machines that are made up."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset


def simulated(seed, people, machines, n_cases=200, n_classes=4, present=0.8):
    """Raters who are right with these probabilities; people annotate a share of the cases, machines all."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_cases)
    rows = []
    for rater, accuracy in enumerate((*people, *machines)):
        for case in range(n_cases):
            if rater >= len(people) or rng.random() < present:
                right = rng.random() < accuracy
                wrong = (truth[case] + rng.integers(1, n_classes)) % n_classes
                rows.append((case, rater, truth[case] if right else wrong))
    case, rater, answer = np.array(rows).T
    names = [f"p{n}" for n in range(len(people))] + [f"m{n}" for n in range(len(machines))]
    classes = [str(k + 1) for k in range(n_classes)]
    return Dataset.from_classes("made", [f"c{n}" for n in range(n_cases)], names, classes, case, rater, answer)


@pytest.fixture(scope="session")
def six():
    """Six people of 0.8, a machine of 0.85 and one of 0.4."""
    return simulated(1, [0.8] * 6, [0.85, 0.4])
