"""Choice of the model that opens: the one that best predicts held-out annotations, each at its own β.

`core.models.average` averages the models by these scores. A model that flips cases on which the raters agree cannot be
chosen or averaged (`core.models.unanimous`). The smoothed vote opens if no model can, or if most raters give one class
(`core.models.one_class_raters`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ..methods import methods
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from ..text import number, percent, plural
from ..thresholds import ONE_CLASS_ONLY
from .catalogue import Request, em_model, fit_request, request
from .choice_cost import check_cost
from .design import Repeats
from .difficulty.names import switches
from .families import members
from .held_out import HeldOut, HeldOutData, held_out, held_out_difficulty, held_out_shares, held_out_votes, prepare
from .majority import METHOD as MAJORITY
from .one_class_raters import FEWEST, one_class_raters
from .rater_methods import RaterModelMethod
from .redrawn import by_confusion, independent_beta
from .result import RaterModelFit
from .smoothed_vote import METHOD as SMOOTHED
from .smoothed_vote import SmoothedVote
from .tempering import OPTION, tempered, truth_beta, truth_doubt
from .unanimous import flipped_in_words, unanimous_cases

SAME_SCORE = 1e-6
FEWEST_TO_TELL = 30
_RUN_AWAY, _MIXED = 0.999, 0.95
_LOST, _NAMED = 0.001, 0.05
_TOLD_FROM_EASY = 2 / 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Standing(Result):
    """Held-out result of one model in the table.

    Attributes
    ----------
    candidate : RaterModelMethod
    n_parameters : int
    held : HeldOut or None
        None if it could not be scored.
    fit : RaterModelFit or None
        Fit of all data, class probabilities at ``beta``.
    beta : float
        Weight of the fit's annotations, see `core.models.tempering.truth_beta`.
    doubt : float
        See `core.models.tempering.truth_doubt`.
    diff, diff_se : float or None
        Score minus that of the chosen model, paired by annotation, with its standard error clustered by case.
    excluded : str
        Reason why it cannot open; empty if it can.
    flipped : int or None
        Unanimous cases to which it gives another class, of `Choice.n_unanimous`; None without a fit.
    independent : float or None
        The held-out β that independent raters would have in the same design (`core.models.redrawn`); of the model that
        opens, where it can be drawn from and its β is below 1.
    """

    candidate: RaterModelMethod
    n_parameters: int
    held: HeldOut | None = None
    fit: RaterModelFit | None = None
    beta: float = 1.0
    doubt: float = 0.0
    diff: float | None = None
    diff_se: float | None = None
    excluded: str = ""
    flipped: int | None = None
    independent: float | None = None

    def request(self, repeats: Repeats = "independent", *, use_gold: bool = False) -> Request:
        """Return the request to fit it again.

        Raises
        ------
        NotApplicableError
            Gold is to be held fixed, and the model takes none.
        """
        if self.by_vote:
            return request(self.candidate.name)
        shown = self.shown_at
        taken = {option.name for option in self.candidate.options}
        if {"repeats", "use_gold"} <= taken:
            return request(self.candidate.name, repeats=repeats, use_gold=use_gold, **shown)
        if use_gold:
            raise NotApplicableError(
                f"Could not hold gold classes fixed: {self.candidate.title}, the default for these data, does not "
                "support this. Choose another model."
            )
        return request(self.candidate.name, **shown)

    @property
    def by_vote(self) -> bool:
        """True if it counts votes and has no raters."""
        return "vote" in self.candidate.ways

    @property
    def shown_at(self) -> dict[str, Any]:
        """Options of the model for class probabilities, without those at their defaults."""
        if self.by_vote:
            return {}
        tempered_too = self.held is not None and self.held.temper_prevalence
        return {"beta": self.beta, "doubt": self.doubt} | ({OPTION: True} if tempered_too else {})

    @property
    def within_one_se(self) -> bool:
        """True if the chosen model is ahead by no more than one standard error."""
        return self.diff is not None and self.diff_se is not None and self.diff >= -self.diff_se


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Choice(Result):
    """Comparison of the models, best first, with the one that opens.

    Attributes
    ----------
    standings : tuple of Standing
        Those with a score, best first; then those without.
    chosen : str
        Name of a candidate.
    reason : str
        One sentence.
    n_hidden : int
        Annotations that were held out; 0 if none could be.
    seed : int
    families : tuple of tuple of str
        Raters who say the same as if they copied each other, the largest family first (`core.models.families`).
    n_unanimous : int
        Cases on which two raters or more agree completely, see `core.models.unanimous`.
    dependence : float or None
        `HeldOut.fullest_beta` of the best model by expectation-maximisation: n annotations of a case are worth βn. None
        if no such model has a held-out score. A case's difficulty is part of the dependence, and a model that has one
        leaves less of it to β; so it is the same whether models with case difficulty were scored or not.
    """

    standings: tuple[Standing, ...]
    chosen: str
    reason: str
    n_hidden: int
    seed: int
    families: tuple[tuple[str, ...], ...] = ()
    n_unanimous: int = 0
    dependence: float | None = None

    TABLES = ("models",)

    def _columns(self, table: str, most: int | None) -> Columns:
        held = [each.held for each in self.standings]
        return {
            "model": [each.candidate.name for each in self.standings],
            "score": [None if one is None else one.score for one in held],
            "se": [None if one is None else one.se for one in held],
            **rows(self.standings, ("diff", "diff_se", "n_parameters", "beta", "doubt")),
            OPTION: [None if one is None else one.temper_prevalence for one in held],
            "flipped": [each.flipped for each in self.standings],
            "excluded": [each.excluded or None for each in self.standings],
        }

    @property
    def best(self) -> Standing:
        """Standing of the model that opens."""
        return next(each for each in self.standings if each.candidate.name == self.chosen)

    @property
    def flips(self) -> str:
        """Sentence on how many unanimous cases get another class by the opening model; empty if none."""
        flipped = self.best.flipped
        if not self.n_unanimous or flipped is None:
            return ""
        return f"{self.best.candidate.title} {flipped_in_words(flipped, self.n_unanimous)}."

    def request(self, *, use_gold: bool = False) -> Request:
        """Return the request to fit the opening model at its β; see `Standing.request`."""
        return self.best.request(use_gold=use_gold)


def choose(
    dataset: Dataset,
    *,
    seed: int = 0,
    repeats: Repeats = "independent",
    difficulty: bool = True,
    cases: bool = False,
    independent: bool = True,
    known: Choice | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Choice:
    """Compute held-out scores of all candidates, and choose the one that opens.

    Each is scored at its best β on the same folds; the best is chosen, of scores within 1e-6 (one standard error, where
    fewer than 5,000 annotations are held out) that with fewest parameters. If none can be, the smoothed vote is, and
    the majority vote if nothing can be held out. Gold is not looked at.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    seed : int
        Seed of the folds.
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on the same case.
    difficulty : bool
        Also the models with case difficulty, after the others: AB and ABC at their modes with two classes, GLAD and the
        nominal model with more.
    cases : bool
        Hold out whole cases too.
    independent : bool
        Compare the chosen model's β with that of simulated independent raters. The average does not need it.
    known : Choice, optional
        Choice by the same data and options with fewer candidates. These are not scored again.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or there is none.
    LimitError, Cancelled
        The tables would not fit, or the token was set.
    """
    reference = Standing(MAJORITY, 0, fit=fit_request(request(MAJORITY.name), dataset).fit)
    try:
        data = prepare(dataset, repeats=repeats, seed=seed, token=token)
    except NotApplicableError as error:
        return _counted(_nothing(dataset, reference, str(error), seed), dataset)
    votes = _votes(data, dataset, reference, token)
    scored = {one.candidate.name: one for one in (known.standings if known else ()) if one.held is not None}
    candidates, standings = candidates_of(dataset, difficulty), []
    for done, one in enumerate(candidates):
        part = _part(progress, done, len(candidates) + 1)
        standings.append(scored.get(one.name) or standing_of(data, dataset, one, repeats, cases, token, part))
    choice = _ranked(dataset, [*_judged(dataset, standings), *votes], data, seed, held_out_shares(data))
    if independent:
        choice = _beside_independent(choice, data, dataset, repeats, token, progress)
    return _counted(choice, dataset)


def _part(progress: Callable[[float], None] | None, done: int, n: int) -> Callable[[float], None] | None:
    """Report the progress of one of n parts."""
    if progress is None:
        return None
    return lambda share: progress((done + share) / n)


def _votes(data: HeldOutData, dataset: Dataset, reference: Standing, token) -> list[Standing]:
    """Return the smoothed vote, which opens if no model can, and the majority vote."""
    assert reference.fit is not None
    fit = SmoothedVote().smoothed(reference.fit, dataset)
    held = held_out_votes(data, fit.settings["strength"], token)
    smoothed = Standing(
        SMOOTHED,
        SMOOTHED.n_parameters(dataset),
        held,
        fit,
        excluded="It has a fixed share of the average, and is shown first only if no model can be averaged.",
    )
    majority = replace(
        reference, held=held_out_votes(data, token=token), excluded="The reference, which does not model raters."
    )
    return [smoothed, majority]


def _judged(dataset: Dataset, standings: list[Standing]) -> list[Standing]:
    """Exclude rater models from opening if most raters give one class."""
    if not one_class_raters(dataset).most:
        return standings
    why = "Most raters use only one class, so only their choice of cases is informative, and this model ignores it."
    return [replace(each, excluded=each.excluded or why) for each in standings]


def _counted(choice: Choice, dataset: Dataset) -> Choice:
    """Add to the choice the number of unanimous cases, and how many of them each fit gives another class."""
    unanimous = unanimous_cases(dataset)
    standings = tuple(
        each if each.fit is None else replace(each, flipped=unanimous.n_flipped(each.fit)) for each in choice.standings
    )
    return replace(choice, standings=standings, n_unanimous=unanimous.n)


def candidates_of(dataset: Dataset, difficulty: bool) -> list[RaterModelMethod]:
    """Return models that may open, those by expectation-maximisation first."""
    found = [one for one in methods(RaterModelMethod).values() if one.opens(dataset)]
    quick = [one for one in found if "em" in one.ways]
    return [*quick, *(one for one in found if one not in quick)] if difficulty else quick


def standing_of(data: HeldOutData, dataset, candidate: RaterModelMethod, repeats, cases, token, progress) -> Standing:
    """Fit and score a candidate.

    Parameters
    ----------
    data : HeldOutData
        Result of `core.models.held_out.prepare` on the dataset.
    dataset : Dataset
    candidate : RaterModelMethod
        One of `candidates_of`.
    repeats, cases, token, progress
        See `choose`.

    Returns
    -------
    Standing
        Without a score, and with why, where the data are not for it.

    Raises
    ------
    Cancelled
    """
    plain = Standing(candidate, candidate.n_parameters(dataset))
    try:
        check_cost(dataset)
        if not _effects(candidate):
            plain = replace(plain, fit=fit_request(plain.request(repeats), dataset, token=token).fit)
        plain = replace(plain, held=_scored(plain, data, repeats, cases, token, progress))
        found = _shown(data, dataset, plain, None, token)
    except (NotApplicableError, LimitError) as error:
        return replace(plain, held=None, fit=None, excluded=str(error))
    assert found.fit is not None
    fooled = _fooled(data) if has_case_effect(found) else ""
    flips = unanimous_cases(dataset).why_not(found.fit)
    return replace(found, excluded=flips or _run_away(dataset, found.fit) or fooled)


def _scored(plain: Standing, data: HeldOutData, repeats: Repeats, cases: bool, token, progress) -> HeldOut:
    """Compute the held-out score of a model, for every β."""
    candidate = plain.candidate
    if tag := _effects(candidate):
        return held_out_difficulty(data, tag, token=token, progress=progress)
    asked = Standing(candidate, plain.n_parameters).request(repeats)
    if "em" in candidate.ways:
        return held_out(data, em_model(asked), cases=cases, token=token, progress=progress)
    return candidate.make(**dict(asked.options)).held_out(data, token=token, progress=progress)


def _effects(candidate: RaterModelMethod) -> str:
    """Return the effects of a difficulty model of two classes; empty for other models."""
    return "" if "em" in candidate.ways or candidate.variant is None else candidate.variant.value


def has_case_effect(standing: Standing) -> bool:
    """Return True if a model has a difficulty of cases, which is part of the dependence of their annotations.

    Parameters
    ----------
    standing : Standing
        With its fit.
    """
    candidate = standing.candidate
    if tag := _effects(candidate):
        return switches(tag).difficulty
    return "em" not in candidate.ways and candidate.make().has_case_effect(standing.fit)


def _shown(data: HeldOutData, dataset: Dataset, standing: Standing, independent: float | None, token) -> Standing:
    """Return a scored model with class probabilities at their β and doubt.

    n annotations of a case are worth no more than its number of families; what independent raters would have, if known,
    does not count as dependence.
    """
    held, most = standing.held, data.independent
    assert held is not None
    excess = min(held.least_beta / independent, 1.0) if independent else 0.0
    beta = truth_beta(min(held.middle_beta, most), case_effect=has_case_effect(standing), excess=excess)
    doubt = truth_doubt(min(held.beta, most), excess=excess)
    shown = replace(standing, beta=beta, doubt=doubt, independent=independent)
    if standing.fit is None:
        return replace(shown, fit=fit_request(shown.request(), dataset, token=token).fit)
    both = held.temper_prevalence
    return replace(shown, fit=tempered(standing.fit, dataset, beta, token, doubt=doubt, temper_prevalence=both))


def _beside_independent(choice: Choice, data: HeldOutData, dataset: Dataset, repeats, token, progress) -> Choice:
    """Add to the opening model the β of independent raters; leave the others without."""
    standings = []
    for each in choice.standings:
        if each.candidate.name == choice.chosen:
            each = _with_independent(each, data, dataset, repeats, choice.seed, token)
        elif each.independent is not None:  # it opened among fewer candidates
            each = _shown(data, dataset, each, None, token)
        standings.append(each)
    if progress is not None:
        progress(1.0)
    return replace(choice, standings=tuple(standings))


def _with_independent(each: Standing, data: HeldOutData, dataset: Dataset, repeats, seed: int, token) -> Standing:
    """Return a model with the β of independent raters, if its own is below 1 and no raters form a family."""
    candidate, fit = each.candidate, each.fit
    settled = each.independent is not None or (each.beta == 1 and not each.doubt) or data.independent < 1
    if settled or fit is None or each.by_vote or _effects(candidate):
        return each
    own = None if "em" in candidate.ways else candidate.make().redraw(fit)
    redraw = own or by_confusion(fit.prevalence, fit.confusion)
    try:
        found = independent_beta(data, redraw, lambda other: _scored(each, other, repeats, False, token, None), seed)
    except NotApplicableError:
        return each
    shown = _shown(data, dataset, each, found, token)
    assert shown.fit is not None
    return each if unanimous_cases(dataset).why_not(shown.fit) else shown


def _fooled(data: HeldOutData) -> str:
    """Explain why a model with case difficulty cannot open if families of raters gave most annotations."""
    if data.independent >= _TOLD_FROM_EASY:
        return ""
    return "This model mistakes cases with copied annotations for easy cases."


def _run_away(dataset: Dataset, fit: RaterModelFit) -> str:
    """Explain why a fit whose prevalence ends at one class cannot open if the annotations do not agree with that."""
    top = int(fit.prevalence.argmax())
    share = float((dataset.answer == top).mean())
    if fit.prevalence[top] < _RUN_AWAY or share >= _MIXED or len(fit.classes) < 2:
        return ""
    only = f"a class that accounts for only {percent(share)} of the annotations"
    return f"It estimates a prevalence of nearly 100% for {only}."


def _lost(dataset: Dataset, standing: Standing) -> str:
    """Explain why a model that loses a class that raters name cannot open if another model loses none."""
    if standing.fit is None or standing.excluded:
        return ""
    share = np.bincount(dataset.answer, minlength=dataset.n_classes) / max(dataset.n_annotations, 1)
    named = float(share[standing.fit.prevalence < _LOST].max(initial=0.0))
    if named < _NAMED:
        return ""
    return f"It assigns no case to a class that accounts for {percent(named)} of the annotations."


def _losing_no_class(dataset: Dataset, standings: list[Standing]) -> list[Standing]:
    """Exclude standings that lose a class, unless all that can open do.

    Confusion matrices of raters who are often wrong predict a colleague as well with a class less; a case of that class
    then has it with a probability of 0.
    """
    lost = {each.candidate.name: _lost(dataset, each) for each in standings}
    if all(lost[each.candidate.name] for each in standings if not each.excluded):
        return standings
    return [replace(each, excluded=each.excluded or lost[each.candidate.name]) for each in standings]


def _nothing(dataset: Dataset, reference: Standing, why: str, seed: int) -> Choice:
    reason = f"Majority vote is shown first because no rater model can be estimated. {why}"
    others = [
        Standing(each, each.n_parameters(dataset), excluded=why) for each in candidates_of(dataset, difficulty=True)
    ]
    return Choice((reference, *others), MAJORITY.name, reason, 0, seed)


def _ranked(dataset: Dataset, standings: list[Standing], data: HeldOutData, seed: int, shares: HeldOut) -> Choice:
    before, standings = standings, _losing_no_class(dataset, standings)
    if all(each.excluded for each in standings):
        standings = [replace(each, excluded="") if each.candidate is SMOOTHED else each for each in standings]
    held = [(each, each.held) for each in standings if each.held is not None]
    able = [(each, one) for each, one in held if not each.excluded]
    best, best_held = _simplest_of_the_best(able, data.n_sets > 1)
    held.sort(key=lambda pair: (-pair[1].score, pair[0].n_parameters))
    scored = []
    for each, one in held:
        diff, error = one.difference(best_held)
        scored.append(replace(each, diff=diff, diff_se=error))
    rest = [each for each in standings if each.held is None]
    alike = tuple(tuple(dataset.raters[rater] for rater in each.tolist()) for each in members(data.family))
    n_hidden, beta = int(data.n_of_case.sum()), _dependence(dataset, before)
    found = Choice((*scored, *rest), best.candidate.name, "", n_hidden, seed, alike, dependence=beta)
    if best.by_vote:
        told = _why_votes(dataset, found)
    else:
        told = f"{_reason(found)}{_no_better(best.candidate.title, best_held, shares)}{_few(found)}"
    return replace(found, reason=f"{told}{_together(alike, data.family.size)}")


def _why_votes(dataset: Dataset, choice: Choice) -> str:
    """Explain why no rater model opens."""
    found = one_class_raters(dataset)
    if found.most:
        return (
            f"{SMOOTHED.title} is shown first because {found.n:,} of {plural(found.n_enough, 'rater')} with at least "
            f"{FEWEST} annotations use one class for at least {percent(ONE_CLASS_ONLY)} of them. For such raters, only "
            "the choice of cases is informative, and rater models ignore it."
        )
    first = next(each for each in choice.standings if not each.by_vote)
    why = first.excluded[0].lower() + first.excluded[1:].removesuffix(".")
    return f"{SMOOTHED.title} is shown first because no rater model can be used ({first.candidate.title}: {why})."


def _simplest_of_the_best(able: list[tuple[Standing, HeldOut]], few: bool) -> tuple[Standing, HeldOut]:
    """Return the simplest of the best scores: the one with the fewest parameters among those not clearly different.

    Parameters
    ----------
    able : list of (Standing, HeldOut)
    few : bool
        True if so few annotations are held out that several sets of folds are drawn. The best score is then mostly
        luck, and models of many parameters win by it that give the truth of a case no chance: scores within one
        standard error of their difference do not clearly differ [Breiman et al. 1984, 3.4.3]. Else those within 1e-6.
    """
    _, top = max(able, key=lambda pair: pair[1].score)

    def same(held: HeldOut) -> bool:
        behind, error = top.difference(held)
        return behind <= max(SAME_SCORE, error if few else 0.0)

    return min(
        (pair for pair in able if same(pair[1])),
        key=lambda pair: (pair[0].n_parameters, -round(pair[1].score / SAME_SCORE), pair[0].candidate.place),
    )


def _dependence(dataset: Dataset, standings: list[Standing]) -> float | None:
    """Compute `Choice.dependence` from the models by expectation-maximisation only."""
    quick = _losing_no_class(dataset, [each for each in standings if "em" in each.candidate.ways])
    able = [each.held for each in quick if each.held is not None and not each.excluded]
    return max(able, key=lambda held: held.score).fullest_beta if able else None


def _no_better(title: str, best: HeldOut, shares: HeldOut) -> str:
    """Note that the opening model may not predict held-out annotations better than class frequencies."""
    ahead, error = best.difference(shares)
    if ahead > 2 * error:
        return ""
    return (
        f" {title} may predict held-out annotations no better than the overall class frequencies "
        f"({number(shares.score, 3)} nats per annotation). The difference is at most two standard errors."
    )


def _together(found: tuple[tuple[str, ...], ...], n_raters: int) -> str:
    """Note that some raters are not independent of each other; empty if none."""
    if not found:
        return ""
    who = f" {sum(map(len, found)):,} of {n_raters:,} raters"
    alike = "agree more often than independent raters would, as if they copied each other"
    if len(found) == 1:
        return f"{who} {alike}. Each of them was predicted without the others."
    return f"{who}, in {len(found):,} groups, {alike}. Each rater was predicted without the rest of their group."


def _few(choice: Choice) -> str:
    """Note that few annotations were held out; empty if enough."""
    if choice.n_hidden >= FEWEST_TO_TELL:
        return ""
    are = "is" if choice.n_hidden == 1 else "are"
    return f" {plural(choice.n_hidden, 'held-out annotation')} {are} hardly enough to compare models."


def _reason(choice: Choice) -> str:
    best = choice.best
    others = [
        (each, each.held)
        for each in choice.standings
        if each.held is not None and not each.excluded and each.candidate.name != choice.chosen
    ]
    what = plural(choice.n_hidden, "held-out annotation")
    title = best.candidate.title
    if not others or best.held is None:
        return f"{title} is the only rater model that could be scored on {what}."
    second, second_held = others[0]
    if second.diff is not None and abs(second.diff) <= SAME_SCORE:
        return f"{title} predicts {what} as well as {second.candidate.title} and does not have more parameters."
    if second.diff is not None and second.diff > 0:
        return (
            f"{title} predicts {what} as well as {second.candidate.title} to within one standard error "
            f"({number(best.held.score, 3)} and {number(second_held.score, 3)} nats per annotation) and does not "
            "have more parameters."
        )
    near = [each.candidate.title for each, _ in others if each.within_one_se]
    said = (
        f"Of the rater models, {title} predicts {what} best ({number(best.held.score, 3)} nats per annotation; next: "
        f"{second.candidate.title}, {number(second_held.score, 3)})."
    )
    if not near:
        return said
    names = near[0] if len(near) == 1 else f"{', '.join(near[:-1])} and {near[-1]}"
    return f"{said} {names} {'is' if len(near) == 1 else 'are'} within one standard error."
