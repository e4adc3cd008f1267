"""Published data, random data, and what turns lists of annotations into counts and datasets."""

from collections import Counter

import numpy as np

from core.annotations.counts import ClassCounts
from core.annotations.dataset import Dataset


def counts_of(cases, n_classes):
    """ClassCounts from one list of annotations per case."""
    ptr, codes, counts = [0], [], []
    for answers in cases:
        for code, count in sorted(Counter(answers).items()):
            codes.append(code)
            counts.append(count)
        ptr.append(len(codes))
    return ClassCounts(np.array(ptr, np.int64), np.array(codes, np.int32), np.array(counts, np.int64), n_classes)


def by_raters(table, first=1):
    """Annotations per case from one string per rater, a dot where the rater gave none."""
    rows = [row.split() for row in table]
    return [[int(row[i]) - first for row in rows if row[i] != "."] for i in range(len(rows[0]))]


GWET = by_raters(
    (
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . .",
        ". 3 3 3 2 3 4 2 2 5 1 3",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    )
)
KRIPPENDORFF = by_raters(
    (
        ". . . . . 3 4 1 2 1 1 3 3 . 3",
        "1 . 2 1 3 3 4 3 . . . . . . .",
        ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
    )
)
COUNTS_OF_FLEISS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012 51000 "
    "02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
FLEISS = [[code for code, times in enumerate(row) for _ in range(int(times))] for row in COUNTS_OF_FLEISS.split()]


def random_cases(seed, n_cases=40, n_classes=4, most=6):
    """Ragged annotations, some cases with none or one, raters who often agree."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n_cases):
        truth = rng.integers(n_classes)
        size = rng.integers(0, most + 1)
        cases.append([int(truth) if rng.random() < 0.6 else int(rng.integers(n_classes)) for _ in range(size)])
    return cases


def dataset_of(cases, n_classes, n_raters=None):
    """A dataset from one list per case of (rater, annotation)."""
    rows = [(case, rater, answer) for case, answers in enumerate(cases) for rater, answer in answers]
    case, rater, answer = (np.array(column, np.int64) for column in np.array(rows).reshape(-1, 3).T)
    n_raters = int(rater.max(initial=0)) + 1 if n_raters is None else n_raters
    return Dataset.from_classes(
        "test",
        [f"case {i}" for i in range(len(cases))],
        [f"rater {j}" for j in range(n_raters)],
        [f"class {k}" for k in range(n_classes)],
        case,
        rater,
        answer,
    )


def random_panel(seed, n_cases=40, n_raters=5, n_classes=4, gaps=0.4):
    """(rater, annotation) per case: a fixed pool of raters who lean to different classes, at most one of each."""
    rng = np.random.default_rng(seed)
    lean = rng.dirichlet(np.ones(n_classes), n_raters)
    cases = []
    for _ in range(n_cases):
        truth = int(rng.integers(n_classes))
        cases.append(
            [
                (rater, truth if rng.random() < 0.5 else int(rng.choice(n_classes, p=lean[rater])))
                for rater in range(n_raters)
                if rng.random() > gaps
            ]
        )
    return cases


def answers_of(panel):
    """The annotations per case without their raters."""
    return [[answer for _, answer in case] for case in panel]


def scores_of(cases):
    """A dataset of scores from one list of numbers per case; who gave them does not matter."""
    sizes = [len(case) for case in cases]
    case = np.repeat(np.arange(len(cases)), sizes)
    rater = np.concatenate([np.arange(size) for size in sizes]).astype(int)
    score = np.array([x for case in cases for x in case], float)
    names = [f"case {i}" for i in range(len(cases))], [f"rater {j}" for j in range(max(sizes))]
    return Dataset.from_scores("test", *names, case, rater, score)


def jackknife(function, cases):
    """Standard error of a number by deleting each case in turn."""
    without = np.array([function(cases[:i] + cases[i + 1 :]) for i in range(len(cases))])
    n = len(cases)
    return float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
