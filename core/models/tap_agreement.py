"""Agreement by t-a-p: its accurate, mixed and guessed parts, and a test that guesses follow the prevalence.

Eubanks, The Kappa Zoo, chapter 9, equation 1: two raters agree because both know the class (``m_a = a_1 a_2``), because
one knows and the other guesses it (``m_x = a_1 ā_2 t·p_2 + ā_1 a_2 t·p_1``), or because both guess the same
(``m_i = ā_1 ā_2 p_1·p_2``). If guesses follow the prevalence, p = t, Fleiss' kappa is a².
"""

from dataclasses import dataclass

import numpy as np

from ..agreement.coefficients import fleiss_kappa, percent_agreement
from ..agreement.intervals import Coefficient
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..options import check_number, check_whole
from ..text import number
from .identifiability import tap_identifiability
from .precision import MOST_PARAMETERS, Coordinates, information_errors
from .result import RaterModelFit
from .tap import TAP

_N_DRAWS = 1000
_MOST_STEPS, _STOP = 5000, 1e-10
_REJECTED = 0.05
_FEW_GUESSES = 5
_Ends = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class MatchRates:
    """Probabilities that two annotations of a case agree under t-a-p.

    Attributes
    ----------
    accurate, mixed, inaccurate : float
        Both raters know the class; one knows and the other guesses it; both guess the same.
    chance : float
        Probability that two annotations of different cases agree.
    """

    accurate: float
    mixed: float
    inaccurate: float
    chance: float

    @property
    def total(self) -> float:
        """Expected agreement."""
        return self.accurate + self.mixed + self.inaccurate

    @property
    def kappa(self) -> float | None:
        """Expected Fleiss' kappa; None where chance is 1."""
        return None if self.chance >= 1 else (self.total - self.chance) / (1 - self.chance)


@dataclass(frozen=True, slots=True)
class GuessTest:
    """Likelihood-ratio test of p = t, raters taken as alike.

    Attributes
    ----------
    statistic, p_value : float or None
        None if the test is not possible.
    df : int
    why_not : str
                Reason why it is not possible; empty otherwise.
    """

    statistic: float | None
    p_value: float | None
    df: int
    why_not: str = ""

    @property
    def words(self) -> str:
        """The result as a sentence without a full stop."""
        if self.p_value is None or self.statistic is None:
            return f"Cannot determine whether guesses follow the prevalence (t = p): {self.why_not}"
        p = f"p = {number(self.p_value, 4)}" if self.p_value >= 0.0001 else "p < 0.0001"
        said = f"likelihood ratio {number(self.statistic)}, {self.df:,} df, {p}"
        if self.p_value < _REJECTED:
            return f"Guesses do not follow the prevalence ({said}), so κ is not the square of accuracy"
        return f"Guesses may follow the prevalence ({said}); if so, κ is the square of accuracy"


@dataclass(frozen=True, slots=True, eq=False)
class TapAgreement:
    """Agreement and raters under t-a-p.

    Attributes
    ----------
    raters : tuple of str
    fit : RaterModelFit
        Its parameters are "t", "a" and "p".
    n_annotations : ndarray of int64, shape (n_raters,)
    a_low, a_high : ndarray, shape (n_raters,)
        95% interval; NaN if it is unknown.
    p_low, p_high : ndarray, shape (n_raters, n_classes)
    rates : MatchRates
    observed : Coefficient
        Percent agreement.
    kappa : Coefficient
        Fleiss' kappa.
    test : GuessTest
    notes : tuple of str
    """

    raters: tuple[str, ...]
    fit: RaterModelFit
    n_annotations: np.ndarray
    a_low: np.ndarray
    a_high: np.ndarray
    p_low: np.ndarray
    p_high: np.ndarray
    rates: MatchRates
    observed: Coefficient
    kappa: Coefficient
    test: GuessTest
    notes: tuple[str, ...]

    @property
    def prevalence(self) -> np.ndarray:
        """The model's t, shape (n_classes,)."""
        return self.fit.parameters["t"]

    @property
    def accuracy(self) -> np.ndarray:
        """The model's a, shape (n_raters,)."""
        return self.fit.parameters["a"]

    @property
    def guesses(self) -> np.ndarray:
        """The model's p, shape (n_raters, n_classes)."""
        return self.fit.parameters["p"]


def tap_agreement(dataset: Dataset, seed: int = 0) -> TapAgreement:
    """Fit t-a-p, and take agreement apart by it.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    seed : int
        Seed of the draws behind intervals.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, raters are anonymous, or no case has two annotations.
    """
    if dataset.kind != "class" or dataset.n_classes < 2:
        raise NotApplicableError(
            "Could not fit t-a-p: it needs one class per annotation, and at least two different classes."
        )
    if not (np.diff(dataset.case_ptr) > 1).any():
        raise NotApplicableError("Cannot determine agreement: no case has two annotations.")
    model = TAP()
    fit = model.fit(dataset)
    counts = class_counts(dataset)
    a_low, a_high, p_low, p_high = _intervals(model, dataset, fit, seed)
    t, a, p = (fit.parameters[name] for name in "tap")
    return TapAgreement(
        dataset.raters,
        fit,
        np.bincount(dataset.rater, minlength=dataset.n_raters),
        a_low,
        a_high,
        p_low,
        p_high,
        match_rates(t, a, p, *_pair_weights(dataset)),
        percent_agreement(counts),
        fleiss_kappa(counts),
        guess_test(dataset),
        fit.notes,
    )


def match_rates(
    t: np.ndarray, a: np.ndarray, p: np.ndarray, pairs: np.ndarray | None = None, share: np.ndarray | None = None
) -> MatchRates:
    """Compute expected agreement in its parts [chapter 9, equation 1], for raters who differ.

    Parameters
    ----------
    t : ndarray, shape (n_classes,)
        Prevalence.
    a : ndarray, shape (n_raters,)
        Accuracies.
    p : ndarray, shape (n_raters, n_classes)
        Guesses.
    pairs : ndarray, shape (n_raters, n_raters), optional
                Weight of each pair of raters, sums to 1; a rater with another one of the same kind if omitted.
    share : ndarray, shape (n_raters,), optional
        Share of the annotations by rater, sums to 1.
    """
    pairs = np.eye(len(a)) / len(a) if pairs is None else pairs
    share = np.full(len(a), 1 / len(a)) if share is None else share
    guess = 1 - a
    given = share @ (a[:, None] * t + guess[:, None] * p)
    return MatchRates(
        float(a @ pairs @ a),
        float(2 * (a @ pairs @ (guess * (p @ t)))),
        float((pairs * (p @ p.T) * np.outer(guess, guess)).sum()),
        float(given @ given),
    )


def _pair_weights(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Compute the weight of each pair of raters, and each rater's share of annotations; cases weigh the same."""
    from scipy.sparse import csr_array

    n = np.diff(dataset.case_ptr)
    named = csr_array((np.ones(len(dataset.rater)), dataset.rater, dataset.case_ptr), (len(n), dataset.n_raters))
    each = np.divide(1.0, n * (n - 1), out=np.zeros(len(n)), where=n > 1)
    pairs = (named.T @ (named * each[:, None])).toarray()
    pairs -= np.diag(np.bincount(dataset.rater, np.repeat(each, n), dataset.n_raters))
    share = np.bincount(dataset.rater, np.repeat(np.divide(1.0, n, out=np.zeros(len(n)), where=n > 0), n),
                        dataset.n_raters)  # fmt: skip
    return pairs / pairs.sum(), share / share.sum()


def _intervals(model: TAP, dataset: Dataset, fit: RaterModelFit, seed: int) -> _Ends:
    """Compute 95% intervals of accuracies and guesses: normal draws of the logits, by the information."""
    a, p = fit.parameters["a"], fit.parameters["p"]
    unknown = np.full(a.shape, np.nan), np.full(a.shape, np.nan), np.full(p.shape, np.nan), np.full(p.shape, np.nan)
    at = Coordinates(model.problem(dataset), fit)
    if at.start.size > MOST_PARAMETERS or at.start.size == 0:
        return unknown
    try:
        _, draws = information_errors(at, _N_DRAWS, seed)
    except NotApplicableError:
        return unknown
    drawn = [at.chart.accuracy_and_guesses(at.of_raters(draw)) for draw in draws]
    a_low, a_high = np.quantile([one for one, _ in drawn], [0.025, 0.975], axis=0)
    p_low, p_high = np.quantile([one for _, one in drawn], [0.025, 0.975], axis=0)
    bound = ~at.chart.free
    a_low[bound] = a_high[bound] = np.nan
    still = p_high - p_low < 1e-12
    p_low[still] = p_high[still] = np.nan
    return np.minimum(a_low, a), np.maximum(a_high, a), np.minimum(p_low, p), np.maximum(p_high, p)


def guess_test(dataset: Dataset) -> GuessTest:
    """Test whether guesses follow the prevalence, p = t, by the likelihood ratio with all raters taken as alike.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.

    Notes
    -----
    χ² with one degree of freedom less than there are classes in use. It holds if annotations of a case are
    independent given its class.
    """
    from scipy.special import chdtrc

    table = _table(dataset)
    df = table.shape[1] - 1
    if notes := tap_identifiability(dataset, True):
        return GuessTest(None, None, df, notes[0].removeprefix("Not identified: ").removesuffix("."))
    if df < 1:
        return GuessTest(None, None, df, "all annotations name the same class")
    (free, _, a, _), (tied, *_) = (tap_maximum(table, equal=equal) for equal in (False, True))
    total = table.sum(axis=0)
    if (1 - a) * total.sum() < _FEW_GUESSES:
        return GuessTest(None, None, df, f"fewer than {_FEW_GUESSES} annotations seem to be guesses")
    guessed = float(total @ np.log(total / total.sum()))
    if 2 * (free - guessed) < 1e-9 or chdtrc(df + 1, 2 * (free - guessed)) > _REJECTED:
        return GuessTest(None, None, df, "the annotations may all be guesses")
    statistic = max(0.0, 2 * (free - tied))
    return GuessTest(statistic, float(chdtrc(df, statistic)), df)


def _table(dataset: Dataset) -> np.ndarray:
    """Count the annotations of each used class on each annotated case, shape (n_cases, n_used)."""
    cases = np.repeat(np.arange(dataset.n_cases), np.diff(dataset.case_ptr))
    table = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(table, (cases, dataset.answer), 1.0)
    return table[:, table.sum(axis=0) > 0][table.sum(axis=1) > 0]


def tap_maximum(table: np.ndarray, *, equal: bool) -> tuple[float, np.ndarray, float, np.ndarray]:
    """Maximise the likelihood of t-a-p with equal raters, guesses free or equal to the prevalence, by EM.

    With p = t the step M is still exact: a class counts for t by the cases that are of it, and by the guesses of it.

    Parameters
    ----------
    table : ndarray, shape (n_cases, n_classes)
                Number of annotations of each class on each case.
    equal : bool
        p is t.

    Returns
    -------
    log_likelihood : float
    t : ndarray, shape (n_classes,)
    a : float
    p : ndarray, shape (n_classes,)
    """
    rows, times = np.unique(table, axis=0, return_counts=True)
    total = table.sum()
    votes = rows / rows.sum(axis=1, keepdims=True)
    t = p = (times @ votes + 1e-3) / (times @ votes + 1e-3).sum()
    p = table.sum(axis=0) / total
    a, last = 0.5, -np.inf
    for _ in range(_MOST_STEPS):
        p = t if equal else p
        with np.errstate(divide="ignore"):
            log_guess = np.log((1 - a) * p)
            log_hit = np.log(a + (1 - a) * p) - log_guess
            joint = np.log(t) + np.where(rows > 0, rows * log_hit, 0.0)
        shift = joint.max(axis=1, keepdims=True)
        weight = np.exp(joint - shift)
        base = np.where(rows > 0, rows * log_guess, 0.0).sum(axis=1)
        value = float(times @ (np.log(weight.sum(axis=1)) + shift[:, 0] + base))
        truth = weight / weight.sum(axis=1, keepdims=True) * times[:, None]
        known = (truth * rows).sum(axis=0) * a / (a + (1 - a) * p)
        guesses = times @ rows - known
        of_cases = truth.sum(axis=0)
        if value - last < _STOP * (1 + abs(value)):
            break
        last = value
        t = (of_cases + guesses if equal else of_cases) / (len(table) + guesses.sum() if equal else len(table))
        a = min(known.sum() / total, 1 - 1e-9)
        p = guesses / guesses.sum() if guesses.sum() > 0 else p
        p = np.maximum(p, 1e-12)
    return value, t, float(a), t if equal else p


def simulate_ratings(
    t: np.ndarray, a: float, p: np.ndarray, n_cases: int, n_raters: int, seed: int = 0
) -> tuple[Dataset, np.ndarray]:
    """Simulate ratings of equal raters under t-a-p, with the true class of every case.

    Parameters
    ----------
    t, p : ndarray, shape (n_classes,)
        Prevalence and guesses, each of sum 1.
    a : float
        Accuracy, 0 to 1.
    n_cases, n_raters : int
    seed : int

    Raises
    ------
    InputError
        A value is out of range.
    """
    check_number(a, "The accuracy a", 0, 1)
    check_whole(n_cases, "The number of cases", 1)
    check_whole(n_raters, "The number of raters", 1)
    for name, shares in (("t", t), ("p", p)):
        if np.min(shares) < 0 or abs(np.sum(shares) - 1) > 1e-9:
            got = np.round(shares, 3).tolist()
            raise InputError(f"The shares {name} must be at least 0 and add up to 1; got {got}.", "Correct them.")
    rng = np.random.default_rng(seed)
    truth = rng.choice(len(t), n_cases, p=t)
    knows = rng.random((n_cases, n_raters)) < a
    guess = rng.choice(len(p), (n_cases, n_raters), p=p)
    answer = np.where(knows, truth[:, None], guess)
    width = len(str(n_raters))
    dataset = Dataset.from_classes(
        "Simulated ratings",
        [f"case {place + 1:0{len(str(n_cases))}}" for place in range(n_cases)],
        [f"R{place + 1:0{width}}" for place in range(n_raters)],
        [f"class {place + 1}" for place in range(len(t))],
        np.repeat(np.arange(n_cases), n_raters),
        np.tile(np.arange(n_raters), n_cases),
        answer.ravel(),
    )
    return dataset, truth
