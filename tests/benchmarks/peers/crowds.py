"""The data that both sides are given, made the same by both; needs numpy alone."""

import numpy as np

N_CLASSES, PER_CASE, N_RATERS, PER_RANKED, N_RANKED = 10, 5, 1_000, 30, 4
ROUGH = ("repeats", "missing", "text", "unsorted", "all")


def crowd(n: int) -> dict[str, np.ndarray]:
    """``n`` annotations, five a case, by 1,000 raters of 40 to 95% accuracy; codes of case, rater and answer."""
    rng = np.random.default_rng(0)
    n_cases, n_raters = n // PER_CASE, max(PER_CASE, min(N_RATERS, n // 100))
    case = np.repeat(np.arange(n_cases, dtype=np.int32), PER_CASE)
    rater = (np.repeat(rng.integers(0, n_raters, n_cases), PER_CASE) + np.tile(np.arange(PER_CASE), n_cases)) % n_raters
    truth, accuracy = rng.integers(0, N_CLASSES, n_cases), rng.uniform(0.4, 0.95, n_raters)
    right = rng.uniform(size=case.size) < accuracy[rater]
    answer = np.where(right, truth[case], rng.integers(0, N_CLASSES, case.size))
    return {"case": case, "rater": rater.astype(np.int32), "answer": answer.astype(np.int32)}


def rough(made: dict[str, np.ndarray], kind: str) -> dict[str, np.ndarray]:
    """A crowd as files have it, by one of `ROUGH`: 1% of the rows repeat a rater, 2% have no answer (-1), no order."""
    rng = np.random.default_rng(3)
    case, rater, answer = (made[key].copy() for key in ("case", "rater", "answer"))
    if kind in ("repeats", "all"):
        again = rng.choice(case.size, case.size // 100, replace=False)
        again = again[again % PER_CASE > 0]
        rater[again] = rater[again - 1]
    if kind in ("missing", "all"):
        answer[rng.uniform(size=answer.size) < 0.02] = -1
    order = rng.permutation(case.size) if kind in ("unsorted", "all") else slice(None)
    return {"case": case[order], "rater": rater[order], "answer": answer[order]}


def panel(n: int) -> np.ndarray:
    """Classes that the same five raters gave to ``n`` / 5 cases, shape (n_cases, 5)."""
    return crowd(n)["answer"].reshape(-1, PER_CASE)


def scores(n: int) -> np.ndarray:
    """Scores of five raters on ``n`` / 5 cases, shape (n_cases, 5)."""
    rng = np.random.default_rng(1)
    shape = (n // PER_CASE, PER_CASE)
    return rng.normal(size=(shape[0], 1)) + 0.3 * rng.normal(size=PER_CASE) + 0.7 * rng.normal(size=shape)


def rankings(n: int) -> np.ndarray:
    """Full rankings of four classes, thirty a case, best first; shape (n_cases, 30, 4)."""
    rng = np.random.default_rng(2)
    worth = rng.normal(size=(n // PER_RANKED, 1, N_RANKED))
    return np.argsort(-(worth + rng.gumbel(size=(n // PER_RANKED, PER_RANKED, N_RANKED))), axis=2)


def text_ids(codes: np.ndarray, _: str) -> list[str]:
    """Ids in no natural order, as databases make them."""
    return [f"{code * 2654435761 % 2**32:08x}-{code:06x}" for code in codes.tolist()]


def names(codes: np.ndarray, word: str) -> list[str]:
    """What files call cases, raters and classes."""
    return [f"{word}{code}" for code in codes]
