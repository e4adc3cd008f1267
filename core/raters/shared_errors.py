"""Raters that share errors: pairs who agree more often than two independent raters of their accuracy would.

Under a fit, over the common cases of raters j and l, ``e_i = Σ_z P(z_i) Σ_k θ_jzk θ_lzk``, ``v_i = e_i (1 − e_i)``,
``r_jl = Σ_i [1(y_ij = y_il) − e_i] / √Σ_i v_i`` and ``corr_jl = Σ_i (1(y_ij = y_il) − e_i) / Σ_i (1 − e_i)``, 1 on the
diagonal. ``n_eff = n² / Σ_jl max(corr_jl, 0)``: how many independent raters these are worth.

If raters agree as if they copied each other (`core.models.families`), only one of their annotations per case is used in
the fit, drawn by the seed. Otherwise two who share errors bias P(z) towards themselves, count as correct, and the pairs
of all others seem to share errors. If pairs are found, the two raters who agree most beyond the product of agreements
are treated as such a family as well, as long as this leaves fewer pairs that are in no family.

The probability of r by chance comes from annotations simulated from the fit, on the same cases by the same raters, with
the truth inferred again from each: a normal tail with the mean and spread of r over them, Benjamini-Hochberg over
pairs. AI raters are not used in the fit: their θ are by EM from the P(z) of people's annotations.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from ..annotations.csr import keep_annotations
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import NotApplicableError
from ..models.dawid_skene import DawidSkene
from ..models.families import families, members, pair_excess
from ..multiplicity import benjamini_hochberg
from ..options import check_level, check_whole
from ..order import highest_first
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken

LEAST_CASES = 30
MOST_RATERS = 120
MOST_JOINED = 5
PSEUDO = 10.0
_FEWEST_JUDGES = 3
_TOO_FEW_PEOPLE = (
    "Cannot determine shared errors: this needs at least three people, because with two there is no way to tell who is "
    "wrong."
)
_FLOOR = 1e-12
_ROUNDS = 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharedErrors(Result):
    """Shared errors of every pair of raters; (n_raters, n_raters), NaN for pairs with fewer than `LEAST_CASES` cases.

    Attributes
    ----------
    raters : tuple of str
    machine : ndarray of bool, shape (n_raters,)
        True for AI raters, who were not used in the fit.
    n_common : ndarray of int64
    residual : ndarray
        r, in standard deviations of independent raters.
    correlation : ndarray
        Share of the possible agreement beyond the expected one; 1 on the diagonal.
    p : ndarray
        P(r by chance), one-sided.
    shares : ndarray of bool
        True for pairs that share errors at the false discovery rate ``q``.
    q : float
    n_effective : float
        Effective number of people; unknown pairs count as independent.
    n_people : int
    n_untold : int
        Number of pairs of people with too few common cases.
    """

    raters: tuple[str, ...]
    machine: np.ndarray
    n_common: np.ndarray
    residual: np.ndarray
    correlation: np.ndarray
    p: np.ndarray
    shares: np.ndarray
    q: float
    n_effective: float
    n_people: int
    n_untold: int

    TABLES = ("pairs",)

    def _columns(self, table: str, most: int | None) -> Columns:
        first, second = np.triu_indices(len(self.raters), 1)
        told = np.isfinite(self.residual[first, second])
        first, second = first[told], second[told]
        order = highest_first(self.correlation[first, second])
        first, second = first[order], second[order]
        return {
            "rater": [self.raters[j] for j in first],
            "other": [self.raters[j] for j in second],
            "cases": self.n_common[first, second],
            "correlation": self.correlation[first, second],
            "residual": self.residual[first, second],
            "p": self.p[first, second],
            "shares": self.shares[first, second],
        }

    def pairs(self) -> list[tuple[int, int]]:
        """Return pairs that share errors, sorted by size, largest first."""
        first, second = np.nonzero(np.triu(self.shares, 1))
        order = highest_first(self.correlation[first, second])
        return [(int(first[place]), int(second[place])) for place in order]


@checked
def shared_errors(
    dataset: Dataset,
    *,
    machines: tuple[str, ...] = (),
    q: float = 0.05,
    n_replicates: int = 200,
    seed: int = 0,
    token: CancelToken | None = None,
) -> SharedErrors:
    """Find raters who share errors beyond what their accuracy explains.

    Parameters
    ----------
    dataset : Dataset
        Dataset with one class per annotation and identified raters; if there are many, `MOST_RATERS` are used: AI
        raters, then those with most annotations.
    machines : tuple of str
        Names of AI raters, who are not used in the fit.
    q : float
        False discovery rate over pairs.
    n_replicates : int
        Number of datasets simulated from the fit.
    seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        Annotations are not single classes of identified raters, of three people or more, or no two raters have
        `LEAST_CASES` common cases.
    """
    check_whole(n_replicates, "The number of replicates", 20)
    check_level(q, "The false discovery rate")
    if dataset.kind != "class" or not dataset.raters_identified or dataset.n_classes < 2:
        raise NotApplicableError(
            "Cannot determine shared errors: this needs named raters, one class per annotation and at least two "
            "different classes."
        )
    raters = _chosen(dataset, set(machines))
    said = _matrix(dataset, dataset, raters)
    here = said >= 0
    n_common = here.T.astype(float) @ here
    told = (n_common >= LEAST_CASES) & ~np.eye(len(raters), dtype=bool)
    if not told.any():
        raise NotApplicableError(f"Cannot determine shared errors: no two raters share at least {LEAST_CASES} cases.")
    people = tuple(name for name in dataset.raters if name not in set(machines))
    if len(people) < _FEWEST_JUDGES:
        raise NotApplicableError(_TOO_FEW_PEOPLE)
    alone = dataset if len(people) == dataset.n_raters else dataset.select(raters=people)

    def with_families(family: np.ndarray) -> SharedErrors | None:
        judging = one_of_a_family(alone, family, seed)
        if not can_judge(judging, family):
            return None
        return _found(dataset, judging, raters, said, told, set(machines), q, n_replicates, seed, token)

    alike = _explained(alone, with_families)
    return alike or _found(dataset, alone, raters, said, told, set(machines), q, n_replicates, seed, token)


def _explained(alone: Dataset, with_families: Callable[[np.ndarray], "SharedErrors | None"]) -> "SharedErrors | None":
    """Choose the families that leave the fewest pairs unexplained; None if too few are left to judge."""
    family = families(alone)
    found = with_families(family)
    for one, two in _likest(alone) if found is not None else ():
        if family[one] == family[two]:
            continue
        joined = np.where(family == max(family[one], family[two]), min(family[one], family[two]), family)
        left = _unexplained(found, alone, family) if found is not None else 0
        other = with_families(joined) if left else None
        if other is None or _unexplained(other, alone, joined) >= left:
            break
        found, family = other, joined
    return found


def _unexplained(found: SharedErrors, people: Dataset, family: np.ndarray) -> int:
    """Count the pairs that share errors and are in no family."""
    of = {name: int(family[place]) for place, name in enumerate(people.raters)}
    return sum(of.get(found.raters[one], -1 - one) != of.get(found.raters[two], -1 - two) for one, two in found.pairs())


def can_judge(judging: Dataset, family: np.ndarray) -> bool:
    """Return True if one annotation per case of each family identifies the truth: three families, and cases with three.

    Parameters
    ----------
    judging : Dataset
        Dataset from `one_of_a_family`.
    family : ndarray of int64, shape (n_raters,)
    """
    several = np.diff(judging.case_ptr) >= _FEWEST_JUDGES
    return not members(family) or (np.unique(family).size >= _FEWEST_JUDGES and bool(several.sum() >= LEAST_CASES))


def _likest(dataset: Dataset) -> list[tuple[int, int]]:
    """Return the pairs of raters who agree most beyond the product of agreements, at most `MOST_JOINED`."""
    chosen, z, _ = pair_excess(dataset)
    first, second = np.triu_indices(chosen.size, 1)
    order = highest_first(np.nan_to_num(z[first, second], nan=-np.inf))[:MOST_JOINED]
    return [(int(chosen[first[place]]), int(chosen[second[place]])) for place in order]


def _found(
    dataset: Dataset, judging: Dataset, raters: np.ndarray, said: np.ndarray, told: np.ndarray, machines: set[str],
    q: float, n_replicates: int, seed: int, token: CancelToken | None,
) -> SharedErrors:  # fmt: skip
    """Compute every pair of the chosen raters, with the truth inferred from the annotations of ``judging``."""
    names = tuple(dataset.raters[rater] for rater in raters)
    machine = np.array([name in machines for name in names])
    truth, prevalence, theta = _fitted(dataset, judging, raters, said, machine, token)
    judges = _matrix(dataset, judging, raters) >= 0
    here, same = (said >= 0).astype(float), _both_say(theta)
    excess, expected = _excess(said, truth, same)
    variance = np.maximum(expected - _expected_squared(here, truth, same), _FLOOR)
    room = here.T @ here - expected
    replicated = _replicates(said, prevalence, theta, judges, n_replicates, seed, token)
    spread = np.maximum(replicated.std(axis=0, ddof=1), _FLOOR)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = np.where(told, excess / np.sqrt(variance), np.nan)
        correlation = np.where(told, np.where(room > _FLOOR, excess / room, 0.0), np.nan)
        p = np.where(told, ndtr((replicated.mean(axis=0) - excess) / spread), np.nan)
    np.fill_diagonal(correlation, 1.0)
    upper = np.triu(told, 1)
    shares = np.zeros_like(told)
    shares[upper] = _rejected(p[upper], q)
    among = correlation[np.ix_(~machine, ~machine)]
    n = len(among)
    n_common = (here.T @ here).astype(np.int64)
    return SharedErrors(
        names, machine, n_common, residual, correlation, p, shares | shares.T, q, _effective(among),
        n, int(np.isnan(among[np.triu_indices(n, 1)]).sum()),
    )  # fmt: skip


def _effective(correlation: np.ndarray) -> float:
    """Compute n² / Σ max(corr, 0); unknown pairs count as independent."""
    n = len(correlation)
    return float(n * n / np.maximum(np.nan_to_num(correlation), 0.0).sum()) if n else 0.0


def _rejected(p: np.ndarray, q: float) -> np.ndarray:
    found = np.zeros(p.size, bool)
    found[list(benjamini_hochberg(p, q))] = True
    return found


def _chosen(dataset: Dataset, machines: set[str]) -> np.ndarray:
    n = np.bincount(dataset.rater, minlength=dataset.n_raters)
    person = np.array([name not in machines for name in dataset.raters])
    return np.sort(np.lexsort((-n, person))[:MOST_RATERS])


def _matrix(dataset: Dataset, some: Dataset, raters: np.ndarray) -> np.ndarray:
    """Arrange the first class in ``some`` by cases and chosen raters of the data, -1 for none."""
    place = {dataset.raters[rater]: position for position, rater in enumerate(raters.tolist())}
    column = np.array([place.get(name, -1) for name in some.raters], np.int64)[some.rater]
    said = np.full((dataset.n_cases, raters.size), -1, np.int64)
    kept = np.flatnonzero(column >= 0)[::-1]  # The first of several must win, so it is written last.
    said[_rows(dataset, some)[some.case_of_annotation[kept]], column[kept]] = some.answer[kept]
    return said


def _rows(dataset: Dataset, some: Dataset) -> np.ndarray:
    """Return the positions of the cases of ``some`` in the data."""
    row = {case: place for place, case in enumerate(dataset.cases)}
    return np.array([row[case] for case in some.cases], np.int64)


def one_of_a_family(dataset: Dataset, family: np.ndarray, seed: int) -> Dataset:
    """Keep one annotation per case of each family of raters, drawn by the seed.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    family : ndarray of int64, shape (n_raters,)
        Number of each rater's family, from `core.models.families.families`.
    seed : int
    """
    if not members(family):
        return dataset
    key = dataset.case_of_annotation.astype(np.int64) * dataset.n_raters + family[dataset.rater]
    rng = np.random.default_rng([abs(seed), seed < 0, dataset.n_annotations])
    order = rng.permutation(dataset.n_annotations)
    drawn = order[np.unique(key[order], return_index=True)[1]]
    keep = np.bincount(family, minlength=dataset.n_raters)[family[dataset.rater]] == 1
    keep[drawn] = True
    ptr = keep_annotations(dataset.case_ptr, keep)
    return replace(dataset, case_ptr=ptr, rater=dataset.rater[keep], answer=dataset.answer[keep], time=None, pairs=None)


def _fitted(
    dataset: Dataset,
    judging: Dataset,
    raters: np.ndarray,
    said: np.ndarray,
    machine: np.ndarray,
    token: CancelToken | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit P(z) of each case to the people who judge, the prevalence, and θ[rater, true, annotated] of chosen raters."""
    fit = DawidSkene("pooled").fit(judging, token=token)
    truth = np.tile(fit.prevalence, (dataset.n_cases, 1))
    truth[_rows(dataset, judging)] = fit.class_probability
    of_person = {name: place for place, name in enumerate(judging.raters)}
    theta = np.empty((raters.size, dataset.n_classes, dataset.n_classes))
    for j, rater in enumerate(raters):
        if not machine[j]:
            theta[j] = fit.confusion[of_person[dataset.raters[rater]]]
    if machine.any():
        theta[machine] = _of_machines(said[:, machine], truth)
    return truth, fit.prevalence, theta


def _of_machines(said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Estimate θ of AI raters by EM from fixed P(z) by people's annotations, shrunk to all AI raters.

    Shares under P(z) without EM would underestimate every AI rater's accuracy, so that all of them seem to share
    errors.
    """
    n_classes = truth.shape[1]
    theta = np.tile(0.6 * np.eye(n_classes) + 0.4 / n_classes, (said.shape[1], 1, 1))
    for _ in range(_ROUNDS):
        counts = np.zeros_like(theta)
        for j, given in enumerate(said.T):
            known = given >= 0
            weight = truth[known] * theta[j][:, given[known]].T
            weight /= np.maximum(weight.sum(axis=1, keepdims=True), _FLOOR)
            np.add.at(counts[j].T, given[known], weight)
        pool = counts.sum(axis=0) + 1 / n_classes
        own = counts + PSEUDO * pool / pool.sum(axis=1, keepdims=True)
        theta = own / own.sum(axis=2, keepdims=True)
    return theta


def _both_say(theta: np.ndarray) -> np.ndarray:
    """Compute P(raters j and l give the same class | z), shape (n_classes, n_raters, n_raters)."""
    return np.einsum("jzk,lzk->zjl", theta, theta)


def _excess(said: np.ndarray, truth: np.ndarray, same: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute ``Σ (1(y_j = y_l) − e)`` and ``Σ e`` over the common cases of each pair; ``same`` is from `_both_say`."""
    here = (said >= 0).astype(float)
    agree, expected = np.zeros((2, said.shape[1], said.shape[1]))
    for k in range(truth.shape[1]):
        agree += (said == k).astype(float).T @ (said == k)
    for z in range(truth.shape[1]):
        expected += same[z] * ((here * truth[:, z, None]).T @ here)
    return agree - expected, expected


def _expected_squared(here: np.ndarray, truth: np.ndarray, same: np.ndarray) -> np.ndarray:
    """Compute ``Σ e²`` over the common cases of every pair."""
    found = np.zeros(same.shape[1:])
    for z in range(truth.shape[1]):
        for w in range(truth.shape[1]):
            found += same[z] * same[w] * ((here * (truth[:, z] * truth[:, w])[:, None]).T @ here)
    return found


def _replicates(
    said: np.ndarray,
    prevalence: np.ndarray,
    theta: np.ndarray,
    judges: np.ndarray,
    n_replicates: int,
    seed: int,
    token: CancelToken | None,
) -> np.ndarray:
    """Compute excess agreement of annotations simulated from the fit, shape (n_replicates, n_raters, n_raters).

    ``judges`` are the annotations that the truth is inferred from, bool like ``said``.
    """
    rng = np.random.default_rng([abs(seed), seed < 0])
    here = said >= 0
    n_cases, n_raters = said.shape
    steps = np.cumsum(theta, axis=2)
    logs = np.log(np.maximum(theta, _FLOOR))
    share, same = np.cumsum(prevalence), _both_say(theta)
    case, rater = np.nonzero(here)
    judge = judges[case, rater]
    found = np.empty((n_replicates, n_raters, n_raters))
    for place in range(n_replicates):
        (token or CancelToken()).check()
        true = np.minimum(np.searchsorted(share, rng.random(n_cases)), prevalence.size - 1)
        level = rng.random(case.size)[:, None]
        drawn = np.minimum((level > steps[rater, true[case]]).sum(axis=1), prevalence.size - 1)
        made = np.full(said.shape, -1, np.int64)
        made[case, rater] = drawn
        given = np.log(np.maximum(prevalence, _FLOOR)) + np.zeros((n_cases, 1))
        np.add.at(given, case[judge], logs[rater[judge], :, drawn[judge]])
        given = np.exp(given - given.max(axis=1, keepdims=True))
        found[place] = _excess(made, given / given.sum(axis=1, keepdims=True), same)[0]
    return found
