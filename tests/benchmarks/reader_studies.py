"""What intervals of reader studies hold. Run: python tests/benchmarks/reader_studies.py [null|panels|time] [REPEATS]

``null``: studies without a difference between two modalities (5 readers, 100 cases), complete and with a fifth of the
readings missing; the share in which a difference is found at 5%, to lie between 3 and 7% (standard error 1% of 500
studies, 0.5% of 2,000). ``panels``: three panellists correct on 80, 90 or 97%, 5 readers, 200 cases, true AUC 0.79 and
0.86; bias (at most 0.02) and coverage (93 to 97%) of 95% intervals with the truth known, with the majority taken as
truth, and with drawn truths. ``time``: processor seconds of 12 readers, 600 cases and 3 modalities with 100 draws of
the truth (below 5).
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.studies.analysis import StudyOptions, compute
from tests.core.studies.worlds import VARIANCES, opinions, roe_metz, study_of, true_auc

SHIFTS = (1.2, 1.6)
ACCURACIES = (0.8, 0.9, 0.97)


def rejections(n_repeats: int, missing: float = 0.0, variances: tuple[float, ...] = VARIANCES) -> float:
    """Share of studies without a difference in which one is found."""
    found = 0
    for repeat in range(n_repeats):
        rng = np.random.default_rng((1, repeat))
        scores, truth = roe_metz(rng, n_cases=100, shifts=(1.2, 1.2), variances=variances)
        scores[rng.random(scores.shape) < missing] = np.nan
        found += compute(study_of(scores, truth)).taken.differences[0].p < 0.05
    return found / n_repeats


def coverage(n_repeats: int, accuracy: float, n_draws: int = 50) -> dict[str, np.ndarray]:
    """By truth: bias and coverage of the difference and of both modalities, (2, 3)."""
    auc = true_auc(SHIFTS)
    true = np.array([auc[0] - auc[1], *auc])
    found: dict[str, list] = {"gold": [], "panel_majority": [], "drawn": []}
    for repeat in range(n_repeats):
        rng = np.random.default_rng((2, repeat))
        scores, truth = roe_metz(rng, shifts=SHIFTS)
        known = compute(study_of(scores, truth))
        asked = compute(study_of(scores, panel=opinions(rng, truth, (accuracy,) * 3)), StudyOptions(n_draws=n_draws))
        for one in (*known.estimates, *asked.estimates):
            rows = (*one.differences, *one.modalities)
            held = [row.low <= value <= row.high for row, value in zip(rows, true, strict=True)]
            found[one.truth].append([[row.value for row in rows] - true, held])
    return {name: np.mean(rows, axis=0) for name, rows in found.items()}


def seconds() -> dict[str, float]:
    """Processor seconds of a large study, complete and with missing readings; compiled before."""
    found = {}
    for name, missing in (("complete", 0.0), ("missing readings", 0.2)):
        for n_cases in (60, 600):
            rng = np.random.default_rng(3)
            scores, truth = roe_metz(rng, 12, n_cases, (1.2, 1.4, 1.6))
            scores[rng.random(scores.shape) < missing] = np.nan
            study, begun = study_of(scores, panel=opinions(rng, truth, (0.9,) * 3)), time.process_time()
            compute(study)
            found[name] = time.process_time() - begun
    return found


def main(what: str, n_repeats: int) -> None:
    """Print the figures."""
    if what in ("null", "all"):
        for name, missing in (("complete", 0.0), ("missing readings", 0.2)):
            print(f"null, {name}: a difference is found in {rejections(n_repeats, missing):.3f} of {n_repeats} studies")
    if what in ("panels", "all"):
        for accuracy in ACCURACIES:
            for name, (bias, held) in coverage(n_repeats, accuracy).items():
                print(f"panel {accuracy}, {name:8}: bias {np.round(bias, 4)}, coverage {np.round(held, 3)}", flush=True)
    if what in ("time", "all"):
        print({name: round(taken, 2) for name, taken in seconds().items()})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all", int(sys.argv[2]) if len(sys.argv) > 2 else 500)
