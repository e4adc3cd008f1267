"""Average of rater models by stacking, so that results do not depend on a single model.

Weights w maximise ``Σ_n log Σ_m w_m p_m(y_n | rest)`` over held-out annotations (stacking of predictive distributions:
Yao, Vehtari, Simpson & Gelman 2018, doi:10.1214/17-BA1091), with a Dirichlet prior that draws models within two
standard errors of the best towards equal weights. The smoothed vote has a fixed share: held-out annotations are blind
to mistakes that raters share, and models that predict them best can still give a class away. Probabilities of classes
are averaged, each model's over the posterior of its β.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..errors import NotApplicableError
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import percent, plural
from .beta_posterior import BetaPosterior, beta_posterior
from .choose import Choice, Standing, choose, has_case_effect
from .rater_methods import RaterModelMethod
from .result import RaterModelFit, expected_annotations
from .smoothed_vote import METHOD as SMOOTHED
from .smoothed_vote import SmoothedVote
from .tempering import tempered
from .unanimous import unanimous_cases

VOTE_SHARE = 1 / 12
PRIOR_WEIGHT = 10.0  # annotations that the draw towards equal weights is worth
LEAST_DOUBT, MEMBER_DOUBT = 0.02, 0.07
_MOST_ROUNDS, _SETTLED = 200, 1e-6
_MOST_STACKED = 100_000  # held-out annotations; of more, as many evenly spaced ones weigh the models as well
_NEGLIGIBLE = 1e-3
_ABOVE_SIMPLER = 0.2
_WITHIN = 2.0  # standard errors
_BELIEVED = 0.72
_SHARED, _INDEPENDENT = 0.4, 0.7


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Member(Result):
    """Model in the average, with its weight.

    Attributes
    ----------
    standing : Standing
    weight : float
        Share of the average, 0 to 1. The shares of all members and that of the vote sum to 1.
    beta : BetaPosterior
        Posterior of β by held-out annotations; class probabilities are those at its `believed_beta`.
    most_beta : float
        Largest β of this member.
    doubt : float
        Share of the prevalence in what is believed of a case, see `core.models.tempering.tempered`.
    """

    standing: Standing
    weight: float
    beta: BetaPosterior
    most_beta: float
    doubt: float

    @property
    def name(self) -> str:
        """Name of its method."""
        return self.standing.candidate.name


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class AveragedModels(Result):
    """The average of rater models, as one result.

    Attributes
    ----------
    fit : RaterModelFit
        Averaged class probabilities; confusion matrices are averaged over the members without the vote.
    members : tuple of Member
        Members, heaviest first; none if only the vote can be used.
    vote_share : float
        Weight of the smoothed vote.
    differ : ndarray of int64
        Positions of cases with annotations to which the two heaviest members give different classes.
    differ_as : ndarray of int64, shape (n_differ, 2)
        The classes that these two give them.
    left_out : tuple of (str, str)
        Titles of the models that are not averaged, with the reason.
    n_unanimous, flipped : int
        Cases on which two raters or more agree completely, and how many of them get another class.
    """

    fit: RaterModelFit
    members: tuple[Member, ...]
    vote_share: float
    differ: np.ndarray
    differ_as: np.ndarray
    left_out: tuple[tuple[str, str], ...]
    n_unanimous: int
    flipped: int

    TABLES = ("members",)

    def _columns(self, table: str, most: int | None) -> Columns:
        bounds = [each.beta.interval for each in self.members]
        return {
            "model": [*(each.name for each in self.members), SMOOTHED.name],
            "weight": [*(each.weight for each in self.members), self.vote_share],
            "score": [*(each.standing.held.score for each in self.members if each.standing.held), None],
            "beta": [*(each.beta.mean for each in self.members), None],
            "beta_low": [*(low for low, _ in bounds), None],
            "beta_high": [*(high for _, high in bounds), None],
            "doubt": [*(each.doubt for each in self.members), None],
        }

    @property
    def sentence(self) -> str:
        """Description of the average, without a full stop."""
        if not self.members:
            return f"{SMOOTHED.title}: no rater model can be averaged"
        most = 4 if len(self.members) == 4 else 3
        shown = [(each.weight, each.standing.candidate.title) for each in self.members[:most]]
        shown = sorted([*shown, (self.vote_share, SMOOTHED.title.lower())], key=lambda one: -one[0])
        shares = [f"{title} ({percent(weight)})" for weight, title in shown]
        if further := self.members[most:]:
            shares.append(f"{len(further):,} others ({percent(sum(each.weight for each in further))})")
        return f"Weighted average of {plural(len(self.members) + 1, 'model')}: {'; '.join(shares)}"


def average_models(
    choice: Choice, dataset: Dataset, *, vote_share: float = VOTE_SHARE, token: CancelToken | None = None
) -> AveragedModels:
    """Average the models that were scored on held-out annotations, those that a guard excludes left out.

    Parameters
    ----------
    choice : Choice
        Choice of a model for ``dataset``.
    dataset : Dataset
        Dataset of single classes.
    vote_share : float
        Weight of the smoothed vote, 0 to below 1.
    token : CancelToken, optional

    Raises
    ------
    Cancelled
    """
    vote = next((each.fit for each in choice.standings if each.candidate is SMOOTHED), None)
    vote = vote or SmoothedVote().fit(dataset)
    members = members_of(choice, dataset, vote_share)
    probability = np.zeros_like(vote.class_probability)
    own: list[np.ndarray] = []  # of the two heaviest
    for each in members:
        found = np.zeros_like(probability)
        for weight, part in member_posteriors(each, dataset, token):
            found += weight * part
        probability += each.weight * found
        if len(own) < 2:
            own.append(found)
    share = vote_share if members else 1.0
    probability += share * vote.class_probability
    tops = np.stack([each.argmax(axis=1) for each in (own if len(own) > 1 else [probability] * 2)[:2]], axis=1)
    differ = np.flatnonzero((tops[:, 0] != tops[:, 1]) & (np.diff(dataset.case_ptr) > 0))
    names = {each.name for each in members}
    left_out = tuple(
        (each.candidate.title, each.excluded or "Its weight is negligible.")
        for each in choice.standings
        if each.candidate.name not in names and not each.by_vote
    )
    fit = _as_one(dataset, vote, members, probability / probability.sum(axis=1, keepdims=True), share)
    unanimous = unanimous_cases(dataset)
    return AveragedModels(
        fit, members, share, frozen(differ), frozen(tops[differ]), left_out, unanimous.n, unanimous.n_flipped(fit)
    )


def members_of(choice: Choice, dataset: Dataset, vote_share: float = VOTE_SHARE) -> tuple[Member, ...]:
    """Return the models that are averaged with their weights, the heaviest first.

    Parameters
    ----------
    choice : Choice
    dataset : Dataset
    vote_share : float
    """
    able = [
        (each, each.held)
        for each in choice.standings
        if each.held is not None and each.held.probability is not None and each.fit is not None
        and not each.by_vote and not each.excluded
    ]  # fmt: skip
    if not able:
        return ()
    _, best = max(able, key=lambda pair: pair[1].score)
    near = []
    for _, held in able:
        behind, error = best.difference(held)
        near.append(behind <= _WITHIN * error + 1e-12)
    probability = np.stack([held.probability for _, held in able if held.probability is not None], axis=1)
    weights = stack(probability, np.array(near), best.n)
    differ = _any_differ(dataset)
    posteriors = [beta_posterior(held, differ=differ) for _, held in able]
    most = _most_beta(able, posteriors)
    kept = np.flatnonzero(weights >= _NEGLIGIBLE)
    total = weights[kept].sum()
    order = sorted(kept.tolist(), key=lambda m: (-round(float(weights[m]), 9), able[m][0].candidate.place))
    found = []
    for m in order:
        standing, beta = able[m][0], posteriors[m]
        bound = most if has_case_effect(standing) else 1.0
        doubt = max(LEAST_DOUBT, MEMBER_DOUBT * (1 - beta.mean))
        found.append(Member(standing, float((1 - vote_share) * weights[m] / total), beta, bound, doubt))
    return tuple(found)


def _most_beta(able: list, posteriors: list[BetaPosterior]) -> float:
    """Return the largest β of models with a case difficulty: that of the best model without one, and 0.2."""
    plain = [m for m, (standing, _) in enumerate(able) if not has_case_effect(standing)]
    if not plain:
        return 1.0
    return min(1.0, posteriors[max(plain, key=lambda m: able[m][1].score)].mean + _ABOVE_SIMPLER)


def _any_differ(dataset: Dataset) -> bool:
    """Return True if two annotations of a case differ."""
    same = np.diff(dataset.answer) != 0
    inside = np.diff(dataset.case_of_annotation) == 0
    return bool((same & inside).any())


def stack(probability: np.ndarray, near: np.ndarray, n: int, prior_weight: float = PRIOR_WEIGHT) -> np.ndarray:
    """Find the weights that predict held-out annotations best, by EM; shape (n_models,), sum 1.

    They maximise ``n mean log Σ_m w_m p_m + (prior_weight / n_near) Σ_{m near} log w_m``, which is concave.

    Parameters
    ----------
    probability : ndarray, shape (n_hidden, n_models)
        Probability of each held-out annotation; with several sets of folds it occurs several times.
    near : ndarray of bool, shape (n_models,)
        Models that are not clearly worse than the best.
    n : int
        Number of held-out annotations.
    prior_weight : float
    """
    step = -(-len(probability) // _MOST_STACKED)
    p = np.maximum(probability[:: max(step, 1)].astype(np.float64), 1e-12)
    prior = np.where(near, prior_weight / max(int(near.sum()), 1), 0.0)
    weights = np.full(p.shape[1], 1 / p.shape[1])
    for _ in range(_MOST_ROUNDS):
        mean = weights * (p.T @ (1 / (p @ weights))) / len(p)
        after = n * mean + prior
        after /= after.sum()
        settled = np.abs(after - weights).max() < _SETTLED
        weights = after
        if settled:
            break
    return weights


def member_posteriors(
    member: Member, dataset: Dataset, token: CancelToken | None = None, *, doubt: float | None = None
) -> Iterator[tuple[float, np.ndarray]]:
    """Compute class probabilities of a member at each likely β of its posterior, with weights that sum to 1.

    Parameters
    ----------
    member : Member
    dataset : Dataset
    token : CancelToken, optional
    doubt : float, optional
        Doubt in place of the member's.
    """
    standing, doubt = member.standing, member.doubt if doubt is None else doubt
    effect = has_case_effect(standing)
    for held_out_beta, weight in member.beta.points:
        beta = believed_beta(min(held_out_beta, member.most_beta), case_effect=effect)
        yield weight, at_beta(standing, dataset, beta, doubt, token)


def believed_beta(beta: float, *, case_effect: bool = False) -> float:
    """Convert a β of held-out annotations to the β of class probabilities.

    A held-out annotation shares the mistakes of the others, so its β is too high where mistakes are shared: 0.72 of it
    is taken up to 0.4. The factor rises to 1 at 0.7, from where raters may well be independent: in simulations the
    posterior of independent raters reaches down to 0.6. A model with a case difficulty has half of the reduction. The
    numbers are an experience with eight crowds of known truth, not a theorem.

    Parameters
    ----------
    beta : float
        Above 0 to 1.
    case_effect : bool
        The model has a difficulty of cases, which is part of the dependence.
    """
    least = (1 + _BELIEVED) / 2 if case_effect else _BELIEVED
    apart = float(np.clip((beta - _SHARED) / (_INDEPENDENT - _SHARED), 0, 1))
    return round(beta * (least + (1 - least) * apart), 6)


def at_beta(
    standing: Standing, dataset: Dataset, beta: float, doubt: float, token: CancelToken | None = None
) -> np.ndarray:
    """Compute class probabilities of a scored model at some β and doubt, shape (n_cases, n_classes).

    Parameters
    ----------
    standing : Standing
        With its fit.
    dataset : Dataset
    beta, doubt : float
        See `core.models.tempering`.
    token : CancelToken, optional
    """
    fit, held = standing.fit, standing.held
    if fit is None or held is None:
        raise NotApplicableError(f"Could not use {standing.candidate.title}: it has no held-out score.")
    if fit.settings.get("tag") is not None:
        from .difficulty.model import tempered_at_mode

        return tempered_at_mode(fit, dataset, beta, token, doubt=doubt).class_probability
    both = held.temper_prevalence if fit.method == "em" else None
    return tempered(fit, dataset, beta, token, doubt=doubt, temper_prevalence=both).class_probability


def _as_one(
    dataset: Dataset, vote: RaterModelFit, members: tuple[Member, ...], probability: np.ndarray, share: float
) -> RaterModelFit:
    """Combine averaged class probabilities and confusion matrices in one fit."""
    answered = np.diff(dataset.case_ptr) > 0
    confusion = vote.confusion
    if members:
        total = sum(each.weight for each in members)
        fits = [(each.weight / total, each.standing.fit) for each in members]
        confusion = np.sum([weight * fit.confusion for weight, fit in fits if fit is not None], axis=0)
    shares = {each.name: round(each.weight, 6) for each in members} | {SMOOTHED.name: round(share, 6)}
    unsettled = [
        each.standing.candidate.title for each in members if each.standing.fit and not each.standing.fit.converged
    ]
    notes = tuple(f"{title} had not converged after the last iteration." for title in unsettled)
    return replace(
        vote,
        model=METHOD.name,
        method=METHOD.ways[0] if members else vote.method,
        prevalence=probability[answered].mean(axis=0),
        confusion=confusion,
        evidence=expected_annotations(dataset, probability),
        class_probability=probability,
        settings={"members": shares},
        notes=notes if members else vote.notes,
    )


@dataclass(frozen=True, slots=True)
class ModelAverage:
    """All rater models that can be scored, averaged by what they predict of held-out annotations."""

    def fit(self, dataset: Dataset, *, token: CancelToken | None = None, progress=None) -> RaterModelFit:
        """Score the models and average them.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes.
        token, progress
            See `core.runtime.chunks.map_chunks`.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes, or there is none.
        LimitError
            The tables would not fit.
        Cancelled
        """
        scored = choose(dataset, independent=False, token=token, progress=progress)
        return average_models(scored, dataset, token=token).fit


METHOD = RaterModelMethod(
    "model-average",
    "Average of models",
    plainly="Average of the rater models, weighted by how well each predicts unseen annotations. Models that "
    "contradict unanimous raters are left out.",
    exactly="Stacking of predictive distributions. A Dirichlet prior favours equal weights for models within two "
    "standard errors of the best. The smoothed vote has a fixed weight, and each model is averaged over the posterior "
    "of its β.",
    sources=("Yao, Vehtari, Simpson & Gelman, Using stacking to average Bayesian predictive distributions (2018)",),
    make=ModelAverage,
    ways=("stacking",),
    sentence="The probability of each class for each case was averaged over rater models, weighted by stacking on "
    "held-out annotations.",
    place=3,
)
