"""Panel's answer for a case, to compare with a reviewer's opinion, only as definite as its annotations allow.

A class is the panel's class only if it is the leading class with a certainty of `PANEL_DECIDED` at the reliability
shown, and at least two raters have annotated. That is exact for Dirichlet counts and PrIRN; otherwise draws are added
until two Monte Carlo standard errors do not reach `PANEL_DECIDED`. If that is not possible, the panel is undecided.

An undecided panel has a plausible set: the smallest set of named classes that together are first with probability
`PLAUSIBLE_SET`, including classes with the same probability, and all named classes if these do not reach it. A class
that nobody named is never in it: its probability is that of the prior. For labels these are the named labels that apply
with more than 1 − `PLAUSIBLE_SET`, for scores it is the interval of another rater's score.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.first_place import exact_first_place
from ..certainty.label_sets import LabelSetCertainty, label_set_certainty
from ..errors import InputError
from ..order import highest_first
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.protocol import PlausibilityModel, check_sampling
from ..text import percent
from ..thresholds import PANEL_DECIDED, PLAUSIBLE_SET
from .opinions import UNDETERMINED, Opinion

FEWEST_READERS = 2
STANDARD_ERRORS = 2.0
MOST_DRAWS = 64_000
_MORE = 4
_EQUAL = 1e-9  # difference below which two probabilities count as equal


@dataclass(frozen=True, slots=True)
class PanelWord:
    """Panel's answer for one case.

    Attributes
    ----------
    opinion : Opinion
        One class if the panel is decided. Else the classes that together lead with a certainty of ``level``, as a tie,
        or `UNDETERMINED` if fewer than two of them were named, with the plausible set.
    certainty, se : float
        Probability that the leading one of the named classes leads among all classes, and its Monte Carlo standard
        error, 0 if exact; 0 and 0 if nobody has annotated.
    n_readers : int
        Number of raters who have annotated, or of annotations if raters are not identified.
    level : float
        Certainty from which the panel is decided.
    why : str
        Reason why it is undecided; empty if it is decided.
    """

    opinion: Opinion
    certainty: float
    se: float
    n_readers: int
    level: float
    why: str

    @property
    def decided(self) -> bool:
        """True if one class is the panel's class."""
        return not self.why


def panel_word(
    model: PlausibilityModel,
    dataset: Dataset,
    case: int,
    *,
    reliability: float,
    n_draws: int = 1000,
    seed: int = 0,
    level: float = PANEL_DECIDED,
) -> PanelWord:
    """Return the panel's answer for a case under a plausibility model.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    case : int
        Position of the case.
    reliability : float
        Reliability γ: how much each annotation counts, > 0.
    n_draws : int
        Initial number of draws; up to `MOST_DRAWS` if these are not conclusive.
    seed : int
    level : float
        Certainty from which the panel is decided, ½ to 1.

    Raises
    ------
    InputError
        A number is out of its range.
    """
    _check_certainty(level)
    check_sampling(reliability, n_draws)
    rows = dataset.annotations_of(case)
    n_readers = len(np.unique(dataset.rater[rows])) if dataset.raters_identified else len(rows)
    if not n_readers:
        return PanelWord(UNDETERMINED, 0.0, 0.0, 0, level, "nobody has annotated")
    classes, chance, ess, sure = _first_places(model, dataset, case, reliability, n_draws, seed, level)
    if not classes.size:
        return PanelWord(UNDETERMINED, 0.0, 0.0, n_readers, level, "no class was named")
    best = int(chance[:-1].argmax())
    certainty = float(chance[best])
    error = _error(certainty, ess, level)
    why = ""
    if n_readers < FEWEST_READERS:
        why = "only one rater has annotated the case"
    elif certainty < level:
        why = f"no class leads with a certainty of at least {percent(level)}"
    elif not sure:
        why = f"the draws do not show whether certainty reaches {percent(level)}"
    names = [getattr(model, "classes", dataset.classes)[code] for code in classes]
    opinion = Opinion.of_class(names[best])
    if why:
        plausible = tuple(names[place] for place in _plausible(chance[:-1], ess))
        opinion = replace(_undecided(chance, names, level), plausible=plausible)
    return PanelWord(opinion, certainty, error, n_readers, level, why)


def panel_score(model: GaussianScores, dataset: Dataset, case: int, *, reliability: float) -> Opinion:
    """Return the panel's score for a case, and the 95% interval of another rater's score.

    A score outside that interval is not due to chance. `UNDETERMINED` with fewer than two raters; with one rater the
    interval is the plausible set.

    Parameters
    ----------
    model : GaussianScores
    dataset : Dataset
        Dataset of scores.
    case : int
        Position of the case.
    reliability : float
        Reliability γ: how much each annotation counts, > 0.
    """
    rows = dataset.annotations_of(case)
    n_readers = len(np.unique(dataset.rater[rows])) if dataset.raters_identified else len(rows)
    if not n_readers:
        return UNDETERMINED
    posterior = model.posterior(dataset, reliability, range(case, case + 1))
    low, high = (float(end[0]) for end in posterior.of_colleague())
    if n_readers < FEWEST_READERS:
        return replace(UNDETERMINED, plausible=(low, high))
    return Opinion.of_score(float(posterior.m[0]), (low, high))


def panel_set(
    dataset: Dataset,
    case: int,
    *,
    reliability: float,
    model: DirichletCounts | None = None,
    level: float = PANEL_DECIDED,
) -> PanelWord:
    """Return the panel's answer for sets of labels: the most probable set, if every label of it is certain.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    case : int
        Position of the case.
    reliability : float
        Reliability γ: how much each annotation counts, > 0.
    model : DirichletCounts, optional
    level : float
        Certainty of the whole set from which the panel is decided, ½ to 1.

    Raises
    ------
    InputError
        A number is out of its range.
    """
    _check_certainty(level)
    rows = dataset.annotations_of(case)
    n_readers = len(np.unique(dataset.rater[rows])) if dataset.raters_identified else len(rows)
    if not n_readers:
        return PanelWord(UNDETERMINED, 0.0, 0.0, 0, level, "nobody has annotated")
    found = label_set_certainty(dataset, model, reliability=reliability, cases=range(case, case + 1))
    certainty, applies = float(found.whole[0]), np.flatnonzero(found.applies[0])
    why = ""
    if n_readers < FEWEST_READERS:
        why = "only one rater has annotated the case"
    elif certainty < level:
        why = f"no set of labels has a certainty of at least {percent(level)}"
    elif not applies.size:
        why = "no label was chosen by more than half of the raters"
    opinion = Opinion.of_labels(dataset.classes[code] for code in applies) if not why else UNDETERMINED
    if why:
        opinion = replace(UNDETERMINED, plausible=_plausible_labels(dataset, case, found, reliability, model))
    return PanelWord(opinion, certainty, 0.0, n_readers, level, why)


def _first_places(
    model: PlausibilityModel, dataset: Dataset, case: int, reliability: float, n_draws: int, seed: int, level: float
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Return named classes, P(each is first) with others last, the effective number of draws, and if they suffice."""
    part = dataset.select(cases=[dataset.cases[case]])
    of_all = isinstance(model, OrdinalTruth | DirichletCounts)  # they know raters from all cases
    exact = exact_first_place(model, dataset if of_all else part, case if of_all else 0, reliability)
    if exact is not None:
        return *exact, np.inf, True
    while True:
        _, draws = next(model.draws(part, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(1)))
        n_named = len(draws.classes)
        chance = np.bincount(draws.top[:, 0], minlength=n_named + 1) / draws.n_draws
        best = chance[:-1].max(initial=0.0)
        sure = abs(best - level) > STANDARD_ERRORS * _error(best, draws.ess, level)
        if sure or not n_named or n_draws * _MORE > MOST_DRAWS:
            return draws.classes, chance, draws.ess, sure
        n_draws *= _MORE


def _error(chance: float, ess: float, level: float) -> float:
    """Return the standard error of a probability, at least that of ``level``, because few draws may all be alike."""
    return float(np.sqrt(max(chance * (1 - chance), level * (1 - level)) / ess))


def _plausible(named: np.ndarray, ess: float) -> list[int]:
    """List the fewest classes that together are first with `PLAUSIBLE_SET`; all if they do not reach it.

    Classes that differ from the last of them only by simulation error are included.
    """
    order = np.argsort(-named, kind="stable")
    n = int(np.searchsorted(np.cumsum(named[order]), PLAUSIBLE_SET - _EQUAL)) + 1
    least = float(named[order[:n]].min())
    slack = _EQUAL + STANDARD_ERRORS * np.sqrt(least * (1 - least) / ess)
    return [int(place) for place in order if named[place] >= least - slack]


def _plausible_labels(
    dataset: Dataset, case: int, found: LabelSetCertainty, reliability: float, model: DirichletCounts | None
) -> tuple[str, ...]:
    """List named labels that may apply; for labels that exclude each other as for classes."""
    if found.exclusive:
        view, _ = dataset.select(cases=[dataset.cases[case]]).as_classes()
        codes, chance = exact_first_place(model or DirichletCounts(), view, 0, reliability) or ((), np.ones(1))
        return tuple(view.classes[codes[place]] for place in _plausible(chance[:-1], np.inf))
    chance = np.where(found.applies[0], found.certainty[0], 1 - found.certainty[0])
    rows = dataset.annotations_of(case)
    named = dataset.entry_class[dataset.entry_ptr[rows[0]] : dataset.entry_ptr[rows[-1] + 1]]
    return tuple(dataset.classes[code] for code in np.unique(named) if chance[code] > 1 - PLAUSIBLE_SET)


def _undecided(chance: np.ndarray, names: list[str], level: float) -> Opinion:
    """Return the fewest classes that together are first with a certainty of ``level``, as a tie."""
    order = highest_first(chance)
    n = int(np.searchsorted(np.cumsum(chance[order]), level - 1e-12)) + 1
    tied = [names[place] for place in order[:n] if place < len(names)]
    return Opinion.of_ranking([tied]) if len(tied) > 1 else UNDETERMINED


def _check_certainty(level: float) -> None:
    if not 0.5 <= level < 1:
        raise InputError(
            f"The certainty of a confident panel must be at least 0.5 and below 1; got {level}.",
            "Use a value such as 0.95.",
        )
