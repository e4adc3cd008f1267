"""Held-out score: how well a rater model predicts an annotation that it has not seen, without the truth.

Each fold hides at most one rater's annotation of a case; the model is fitted to the rest, and asked for the probability
of what was hidden given the case's other annotations. The mean of the logs compares every model with every other. It is
blind to mistakes that all raters share. Those of a family (`core.models.families`), who copy each other say, are hidden
together: what is hidden is predicted by raters who do not share its mistakes. Vehtari & Ojanen (2012),
doi:10.1214/12-SS102, give the frame.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..annotations.csr import keep_annotations
from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..errors import NotApplicableError
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..runtime.seeds import case_seeds
from ._held_out_kernels import draw_folds, score_cases, score_hidden, score_votes
from ._kernels import first_answers
from .design import Design, Repeats, design
from .em import Point, climb
from .em_model import EmModel
from .families import families, independent_share
from .stopping import StoppingRule

N_FOLDS = 5
BETAS = np.arange(1, 11) / 10
FEWEST_FOR_ONE_SET = 5000
N_SETS = 4
CHUNK_CASES = 4096
FLOOR = 1e-6
REFIT = StoppingRule(200, 1e-7)
_NO_BETA = np.ones(1)
_SIDE_BY_SIDE = 40_000  # numbers that a step E walks; with fewer, threads mostly wait for each other

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Folds of hidden annotations.

    Attributes
    ----------
    fold : ndarray of int8, shape (n_annotations,)
        0 to 4; -1 where an annotation is never hidden.
    scored : ndarray of bool, shape (n_annotations,)
        Hidden, and the one of its rater's family on the case that is scored.
    """

    fold: np.ndarray
    scored: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """Data of one fold to fit: the set and the number of the fold, and the data without what it hides."""

    folds: Folds
    number: int
    data: Design


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutData:
    """Dataset with its folds, for all models that are compared.

    Attributes
    ----------
    whole : Design
    refits : tuple of Refit
        Refit of every fold of every set.
    n_sets : int
    n_of_case : ndarray of int64, shape (n_cases,)
        Scored annotations of each case, at most 5.
    fold_of_case : ndarray of int8, shape (n_cases,)
        For held-out cases: -1 if a case has no annotation.
    family : ndarray of int64, shape (n_raters,)
        Raters who are hidden together, see `core.models.families.families`.
    independent : float
        Families over raters, summed over cases: the share of annotations without an earlier one of the same family on
        the case.
    """

    whole: Design
    refits: tuple[Refit, ...]
    n_sets: int
    n_of_case: np.ndarray
    fold_of_case: np.ndarray
    family: np.ndarray
    independent: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)  # without slots: what it says of many cases is worked out once
class HeldOut(Result):
    """Held-out score of one model; nats per hidden annotation.

    Attributes
    ----------
    by_case : ndarray, shape (n_cases, n_betas)
        Sum of the scores of a case's hidden annotations, averaged over sets of folds.
    n_of_case : ndarray of int64, shape (n_cases,)
    betas : ndarray, shape (n_betas,)
        Ascending; 1 alone for a model that takes no β.
    temper_prevalence : bool
        True if π is taken to the power of β as well; see `better_tempering`.
    case_score : ndarray, shape (n_cases,), or None
        ln p(annotations of the case) under a fit without it, at β = 1; NaN of a case without annotations. None where
        cases were not held out, or a fold of them leaves nothing to estimate.
    """

    by_case: np.ndarray
    n_of_case: np.ndarray
    betas: np.ndarray
    case_score: np.ndarray | None = None
    temper_prevalence: bool = False
    probability: np.ndarray | None = None

    TABLES = ("betas",)

    def _columns(self, table: str, most: int | None) -> Columns:
        errors = [clustered_error(self.by_case[:, place], self.n_of_case) for place in range(len(self.betas))]
        return {"beta": self.betas, "score": self.scores, "se": np.array(errors)}

    @property
    def n(self) -> int:
        """Number of hidden annotations in a set of folds."""
        return int(self.n_of_case.sum())

    @cached_property
    def scores(self) -> np.ndarray:
        """Mean score by β, shape (n_betas,), read-only."""
        return frozen(self.by_case.sum(axis=0) / self.n)

    @cached_property
    def place(self) -> int:
        """Place of the best β; the largest of equal scores (1e-12)."""
        scores = self.scores
        return int(np.flatnonzero(scores >= scores.max() - 1e-12)[-1])

    @property
    def beta(self) -> float:
        """The best β."""
        return float(self.betas[self.place])

    @cached_property
    def fullest_beta(self) -> float:
        """Largest β whose score is within one standard error of the best.

        Annotations count as fully as what was held out allows (the rule of Breiman et al., Classification and
        Regression Trees, 1984, 3.4.3).
        """
        return float(self.betas[self._near(1.0)[-1]])

    @property
    def middle_beta(self) -> float:
        """Midpoint of the best β and `fullest_beta`, because the best one is noisy with few held-out annotations.

        On 30 cases by three independent raters the best β is anything from 0.1 to 1.
        """
        return round((self.beta + self.fullest_beta) / 2, 6)

    @cached_property
    def least_beta(self) -> float:
        """Smallest β whose score is within two standard errors of the best."""
        return float(self.betas[self._near(2.0)[0]])

    def _near(self, errors: float) -> np.ndarray:
        """Return places of the β whose score is within so many standard errors of the best."""
        behind = self.by_case - self.by_case[:, [self.place]]
        near = [d.sum() / self.n >= -errors * clustered_error(d, self.n_of_case) - 1e-12 for d in behind.T]
        return np.flatnonzero(near)

    @property
    def score(self) -> float:
        """Score at the best β."""
        return float(self.scores[self.place])

    @cached_property
    def se(self) -> float:
        """Standard error of the score, clustered by case."""
        return clustered_error(self.by_case[:, self.place], self.n_of_case)

    def difference(self, other: "HeldOut") -> tuple[float, float]:
        """Return the score minus another one's on the same folds, each at its best β, with paired standard error."""
        apart = self.by_case[:, self.place] - other.by_case[:, other.place]
        return float(apart.sum() / self.n), clustered_error(apart, self.n_of_case)


class Scores:
    """Log probabilities of hidden annotations, summed by case and kept by annotation.

    Parameters
    ----------
    data : HeldOutData
    n_betas : int
    """

    def __init__(self, data: HeldOutData, n_betas: int):
        self._data = data
        self._sums = np.zeros((data.whole.dataset.n_cases, n_betas))
        self._by_annotation: list[np.ndarray] = []

    def empty(self) -> np.ndarray:
        """Return zeros of shape (n_cases, n_betas) for a fold, which hides at most one annotation of a case."""
        return np.zeros_like(self._sums)

    def add(self, refit: Refit, found: np.ndarray) -> None:
        """Add the results of one fold."""
        self._sums += found
        case = self._data.whole.dataset.case_of_annotation
        self._by_annotation.append(found[case[hidden(refit)]].astype(np.float32))

    def held_out(self, betas: np.ndarray, part: slice = slice(None), **more) -> HeldOut:
        """Return the score of some of the columns.

        Parameters
        ----------
        betas : ndarray
            The β of each column.
        part : slice
            Columns.
        **more
            Fields of `HeldOut`.
        """
        data = self._data
        plain = HeldOut(self._sums[:, part] / data.n_sets, data.n_of_case, betas, **more)
        at_best = [np.exp(each[:, part][:, plain.place]) for each in self._by_annotation]
        return replace(plain, probability=np.concatenate(at_best) if at_best else None)


def hidden(refit: Refit) -> np.ndarray:
    """Return which annotations a fold hides and scores, bool, shape (n_annotations,)."""
    return (refit.folds.fold == refit.number) & refit.folds.scored


def clustered_error(by_case: np.ndarray, n_of_case: np.ndarray) -> float:
    """Compute the SE of Σ by_case / Σ n clustered by case, from sums and numbers by case, shape (n_cases,)."""
    n = n_of_case.sum()
    away = by_case - n_of_case * (by_case.sum() / n)
    return float(np.sqrt((away**2).sum()) / n)


def draw(dataset: Dataset, seed: int, number: int, family: np.ndarray) -> Folds:
    """Draw set ``number`` of folds; that of a case depends only on the seed and its ID.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    number : int
        Number of the set of folds.
    family : ndarray of int64, shape (n_raters,)
        Raters who are hidden together.
    """
    first = first_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)
    fold = np.empty(dataset.n_annotations, np.int8)
    scored = np.empty(dataset.n_annotations, np.bool_)
    seeds = case_seeds(seed, dataset.cases, f"held-out answers {number}")
    draw_folds(dataset.case_ptr, family[dataset.rater], first, seeds, N_FOLDS, fold, scored)
    return Folds(fold, scored)


def prepare(
    dataset: Dataset, *, repeats: Repeats = "independent", seed: int = 0, token: CancelToken | None = None
) -> HeldOutData:
    """Prepare the folds of a dataset: one set, or four if fewer than 5,000 annotations are hidden.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on a case, see `core.models.design.design`.
    seed : int
        Seed of the folds.
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError, LimitError
        See `core.models.design.design`; or a fold leaves no case with two annotations.
    """
    token = token or CancelToken()
    whole = design("A held-out score", dataset, False, repeats)
    dataset = whole.dataset
    family = families(dataset)
    sets = [draw(dataset, seed, 0, family)]
    if not sets[0].scored.any():
        family = np.arange(dataset.n_raters)
        sets = [draw(dataset, seed, 0, family)]
    n = int(sets[0].scored.sum())
    if n == 0:
        raise NotApplicableError(
            "Cannot score models: no case has annotations by two raters, so no annotation can be held out."
        )
    if n < FEWEST_FOR_ONE_SET:
        sets += [draw(dataset, seed, number, family) for number in range(1, N_SETS)]
    refits = []
    for folds in sets:
        for number in range(N_FOLDS):
            token.check()
            if ((folds.fold == number) & folds.scored).any():
                refits.append(Refit(folds, number, without_held_out(whole, folds.fold != number)))
    fold_of_case = (case_seeds(seed, dataset.cases, "held-out cases") % N_FOLDS).astype(np.int8)
    fold_of_case[np.diff(dataset.case_ptr) == 0] = -1
    n_of_case = np.add.reduceat(np.append(sets[0].scored, False), dataset.case_ptr[:-1], dtype=np.int64)
    n_of_case[np.diff(dataset.case_ptr) == 0] = 0
    return HeldOutData(
        whole, tuple(refits), len(sets), n_of_case, fold_of_case, family, independent_share(dataset, family)
    )


def without_held_out(whole: Design, keep: np.ndarray) -> Design:
    """Return the data that a fold leaves to fit, ``keep`` of shape (n_annotations,).

    Raises
    ------
    NotApplicableError
        No case has two annotations left.
    """
    try:
        return design("A held-out score", without_hidden(whole.dataset, keep), False, "independent")
    except NotApplicableError:  # true of what is left, not of the data, which have passed the same check
        raise NotApplicableError(
            "Cannot score models: no case has two annotations left after some are held out."
        ) from None


def held_out(
    data: HeldOutData,
    model: EmModel,
    *,
    cases: bool = False,
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Compute the held-out score of a model fitted by expectation-maximisation, for every β of `BETAS`.

    Parameters
    ----------
    data : HeldOutData
    model : EmModel
    cases : bool
        Hold out whole cases too.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        A fold leaves nothing to estimate.
    Cancelled
    """
    return better_tempering(*both_temperings(data, model, cases=cases, token=token, progress=progress))


def both_temperings(
    data: HeldOutData,
    model: EmModel,
    *,
    cases: bool = False,
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> tuple[HeldOut, HeldOut]:
    """Compute the scores with the prevalence at full weight, and with it to the power of β: see `held_out`.

    Every fold starts from its own votes. A start at the fit of all data is quicker and leaks: with 60 classes and four
    annotations per case its climbs end on other tops, 0.04 to 0.15 nats better than what the fold itself leads to.

    Parameters
    ----------
    data : HeldOutData
    model : EmModel
    cases : bool
        Hold out whole cases too.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        A fold leaves nothing to estimate.
    Cancelled
    """
    whole, scores = data.whole, Scores(data, 2 * BETAS.size)
    # First π at full weight, then π to the power of β.
    powers = np.tile(BETAS, 2), np.concatenate([np.ones(BETAS.size), BETAS])
    n_jobs = len(data.refits) + (N_FOLDS if cases else 0)

    def scored(refit: Refit) -> np.ndarray:
        """Return True for cases with an annotation that a fold hides and scores; at most one per case."""
        point = refitted(model, refit.data, token)
        folds, found = refit.folds, scores.empty()
        arguments = (whole.dataset.case_ptr, whole.cell, folds.fold, folds.scored, refit.number)

        def score(chunk: tuple[int, int]) -> None:
            score_hidden(*arguments, point.log_theta, point.log_prevalence, *powers, np.log(FLOOR), *chunk, found)

        for _ in map_chunks(score, chunk_ranges(whole.dataset.n_cases, CHUNK_CASES), token=token):
            pass
        return found

    for done, found in enumerate(_of_folds(scored, data.refits, token)):
        scores.add(data.refits[done], found)
        _tell(progress, (done + 1) / n_jobs)
    by_case = None
    if cases:
        with suppress(NotApplicableError):  # of annotations there is a score all the same
            by_case = _held_out_cases(data, model, token)
        _tell(progress, 1.0)
    plain, warm = (
        scores.held_out(BETAS, part, case_score=by_case, temper_prevalence=flag)
        for part, flag in ((slice(BETAS.size), False), (slice(BETAS.size, None), True))
    )
    return plain, warm


def _of_folds(
    work: Callable[[Refit], np.ndarray], refits: tuple[Refit, ...], token: CancelToken | None
) -> Iterator[np.ndarray]:
    """Run folds in parallel if each is large for one thread and its steps are not divided."""
    data = refits[0].data
    if len(data.chunks) == 1 and data.dataset.n_annotations * data.dataset.n_classes >= _SIDE_BY_SIDE:
        return map_chunks(work, list(refits), token=token)
    return map(work, refits)


def better_tempering(plain: HeldOut, both: HeldOut) -> HeldOut:
    """Return π Π θ^β of the two temperings, unless (π Π θ)^β is ahead by more than one standard error.

    They are compared at the β at which the first is best: at β = 1 they are the same.

    Parameters
    ----------
    plain, both : HeldOut
        Scores of the same model on the same folds, with π at full weight and with π to the power of β.
    """
    ahead = both.by_case[:, plain.place] - plain.by_case[:, plain.place]
    return both if ahead.sum() / plain.n > clustered_error(ahead, plain.n_of_case) else plain


def refitted(model: EmModel, data: Design, token: CancelToken | None) -> Point:
    """Fit the parameters of a model to the data that a fold leaves, from its votes.

    Parameters
    ----------
    model : EmModel
    data : Design
        Without what the fold hides.
    token : CancelToken, optional
    """
    problem = model.problem_of(data, token)
    return climb(data, problem.family, problem.prior, data.start, REFIT, token=token).point


def _held_out_cases(data: HeldOutData, model: EmModel, token: CancelToken | None) -> np.ndarray:
    whole = data.whole
    out = np.full(whole.dataset.n_cases, np.nan)
    of_annotation = data.fold_of_case[whole.dataset.case_of_annotation]
    for number in range(N_FOLDS):
        if not (data.fold_of_case == number).any():
            continue
        point = refitted(model, without_held_out(whole, of_annotation != number), token)
        of_data = (whole.dataset.case_ptr, whole.cell, data.fold_of_case, number, point.log_theta)
        arguments = (*of_data, point.log_prevalence, np.log(FLOOR))

        def score(chunk: tuple[int, int], arguments=arguments) -> None:
            score_cases(*arguments, *chunk, out)

        for _ in map_chunks(score, chunk_ranges(whole.dataset.n_cases, CHUNK_CASES), token=token):
            pass
    return out


def held_out_difficulty(
    data: HeldOutData,
    tag: str,
    *,
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> HeldOut:
    """Compute the held-out score of a difficulty model of two classes at its mode, for every β of `BETAS`.

    ``p(y | rest) = Σ_z ∫ p(y | z, e) P_β(z, e | rest) de`` over the case effects e. Each fold's search starts at the
    mode of all data, on its nodes.

    Parameters
    ----------
    data : HeldOutData
    tag : str
        Tag of the difficulty model: "Full", or the letters of the effects that it leaves out.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        There are more than two classes, or as `DifficultyModel.density`.
    LimitError
        The grid would not fit into memory.
    Cancelled
    """
    from .difficulty._tempered_kernels import log_table, score_hidden_answers
    from .difficulty.density import DifficultyDensity, Specification
    from .difficulty.mode import at_its_mode
    from .difficulty.mode import highest_from as climb_to_mode

    dataset = data.whole.dataset
    if dataset.n_classes != 2:
        raise NotApplicableError("Cannot score difficulty models: they need exactly two classes.")
    token = token or CancelToken()
    whole = at_its_mode(DifficultyDensity(dataset, Specification(tag)), token)
    scores = Scores(data, BETAS.size)
    for done, refit in enumerate(data.refits, 1):
        found = scores.empty()
        density = DifficultyDensity(refit.data.dataset, whole.specification, whole.node_counts)
        logit, alpha = density.coefficients(climb_to_mode(density, [whole.mode], token)[0][None])
        grid = density.nodes
        table = log_table(alpha[0], grid.delta, grid.table)
        of_data = (logit[0], table, grid.table, dataset.case_ptr, data.whole.cell)
        arguments = (*of_data, refit.folds.fold, refit.folds.scored, refit.number, BETAS, np.log(FLOOR))

        def score(chunk: tuple[int, int], arguments=arguments, found=found) -> None:
            score_hidden_answers(*arguments, *chunk, found)

        for _ in map_chunks(score, chunk_ranges(dataset.n_cases, 8192), token=token):
            pass
        scores.add(refit, found)
        _tell(progress, done / len(data.refits))
    return scores.held_out(BETAS)


def without_hidden(dataset: Dataset, keep: np.ndarray) -> Dataset:
    """Return the dataset with the annotations that are not hidden, ``keep`` of shape (n_annotations,)."""
    return replace(
        dataset,
        case_ptr=keep_annotations(dataset.case_ptr, keep),
        rater=dataset.rater[keep],
        answer=dataset.answer[keep],
        time=None,
        pairs=None,
    )


def held_out_votes(data: HeldOutData, strength: float | None = None, token: CancelToken | None = None) -> HeldOut:
    """Compute the score of the other annotations' shares, with a prior.

    Parameters
    ----------
    data : HeldOutData
    strength : float, optional
        Annotations that the prior is worth, spread evenly over the classes: the smoothed vote. If omitted, it is worth
        one, spread like all annotations: the majority vote.
    token : CancelToken, optional
    """
    dataset, scores = data.whole.dataset, Scores(data, 1)
    even = np.full(dataset.n_classes, 1 / dataset.n_classes)
    for refit in data.refits:
        found = scores.empty()
        kept = np.bincount(refit.data.dataset.answer, minlength=dataset.n_classes)
        prior = kept / kept.sum() if strength is None else strength * even
        arguments = (dataset.case_ptr, dataset.answer, refit.folds.fold, refit.folds.scored, refit.number)

        def score(chunk: tuple[int, int], arguments=arguments, prior=prior, found=found) -> None:
            score_votes(*arguments, prior, np.log(FLOOR), *chunk, found[:, 0])

        for _ in map_chunks(score, chunk_ranges(dataset.n_cases, CHUNK_CASES), token=token):
            pass
        scores.add(refit, found)
    return scores.held_out(_NO_BETA)


def held_out_shares(data: HeldOutData) -> HeldOut:
    """Compute the score of the classes' shares among all remaining annotations, regardless of the case."""
    dataset, sums = data.whole.dataset, np.zeros(data.whole.dataset.n_cases)
    for refit in data.refits:
        kept = np.bincount(refit.data.dataset.answer, minlength=dataset.n_classes)
        rows = hidden(refit)
        share = np.maximum(kept[dataset.answer[rows]] / kept.sum(), FLOOR)
        sums += np.bincount(dataset.case_of_annotation[rows], np.log(share), dataset.n_cases)
    return HeldOut(sums[:, None] / data.n_sets, data.n_of_case, _NO_BETA)


def _tell(progress: Progress | None, share: float) -> None:
    if progress is not None:
        progress(share)
