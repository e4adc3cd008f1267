"""How often intervals of corrected rates hold the true rate. Run: python tests/benchmarks/corrected_rates.py [REPEATS]

A class of rate 0.2 among 4,000 cases; a machine whose probabilities are too high for everybody and tell the class from
the others only fairly. Labels by people: as many at random (PPI++, people alone), as many by known probabilities that
follow the machine's doubt, or on other cases in which half are of the class (Rogan-Gladen). Nominal: 0.95; the
machine's own interval for comparison. The last column is the mean width over that of people alone. About 20 CPU
seconds.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.evaluation.corrected_rates import CorrectedRate, best_probabilities, ppi_rate, rogan_gladen_rate, sampled_rate

METHODS = ("machine alone", "humans", "ppi", "sampled", "rogan-gladen")
RATE, N = 0.2, 4000


def world(n: int, rate: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """True labels, and the machine's probabilities: logit shifted up by 0.7, one and a half apart, noise of sd 1."""
    truth = (rng.random(n) < rate).astype(float)
    return truth, 1 / (1 + np.exp(-(3.0 * truth - 1.5 + 0.7 + rng.normal(0, 1, n))))


def estimates(n_labels: int, rng: np.random.Generator) -> tuple[float, dict[str, CorrectedRate]]:
    """The rate of these cases' world, and its estimates."""
    truth, machine = world(N, RATE, rng)
    picked = np.zeros(N, bool)
    picked[rng.permutation(N)[:n_labels]] = True
    p = best_probabilities(machine * (1 - machine), n_labels, 0.2)
    drawn = rng.random(N) < p
    other, others = world(n_labels, 0.5, rng)
    named, positive = others > 0.5, other > 0.5
    found = {
        "humans": ppi_rate(truth[picked], machine[picked], machine[~picked], weight=0.0),
        "ppi": ppi_rate(truth[picked], machine[picked], machine[~picked]),
        "sampled": sampled_rate(truth, drawn, machine, p),
        "rogan-gladen": rogan_gladen_rate(
            float((machine > 0.5).mean()), N,
            float((~named)[~positive].mean()), int((~positive).sum()),
            float(named[positive].mean()), int(positive.sum()),
        ),
    }  # fmt: skip
    half = 1.96 * machine.std() / np.sqrt(N)
    found["machine alone"] = CorrectedRate(
        "", machine.mean(), 0, machine.mean() - half, machine.mean() + half, 1, 0, N, 0
    )
    return RATE, found


def study(n_repeats: int, n_labels: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Coverage and mean width, by method; cases are a sample of their world."""
    held, width = dict.fromkeys(METHODS, 0.0), dict.fromkeys(METHODS, 0.0)
    for repeat in range(n_repeats):
        true, found = estimates(n_labels, np.random.default_rng((seed, repeat)))
        for name, one in found.items():
            held[name] += (one.ci_low <= true <= one.ci_high) / n_repeats
            width[name] += (one.ci_high - one.ci_low) / n_repeats
    return {name: (held[name], width[name]) for name in METHODS}


if __name__ == "__main__":
    for n_labels in (30, 50, 100, 200, 500):
        found = study(int((sys.argv[1:] or [2000])[0]), n_labels)
        print(f"{n_labels} labels")
        for name, (share, width) in found.items():
            print(
                f"  {name:14} covers {share:.3f}, width {width:.3f}, {width / found['humans'][1]:.2f} of people alone"
            )
