"""What the panel says of a case, for a reviewer to be compared with: no more than its annotations can tell.

A class is the panel's class only where it is the most plausible one with a certainty of `PANEL_DECIDED` at the
reliability shown, and two readers or more have annotated. That is exact for Dirichlet counts and PrIRN; otherwise draws
are added until two Monte Carlo standard errors do not reach `PANEL_DECIDED`, and where that is not to be had the panel
is undecided.

An undecided panel has a plausible set: the fewest of the named classes that are together first with probability
`PLAUSIBLE_SET`, classes that are equally probable together, and all named classes if these do not reach it. A class
that nobody named is never in it: its probability is that of the prior. Of labels these are the named labels that apply
with more than 1 − `PLAUSIBLE_SET`, of scores it is the interval of a colleague's score.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.first_place import exact_first_place
from ..certainty.label_sets import LabelSetCertainty, label_set_certainty
from ..errors import InputError
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
_EQUAL = 1e-9  # of a probability


@dataclass(frozen=True, slots=True)
class PanelWord:
    """What the panel says of one case.

    Attributes
    ----------
    opinion : Opinion
        One class where the panel is decided. Else the classes that are together most plausible with a certainty of
        ``level``, as a tie, or `UNDETERMINED` where those are not two or more that were named, with the plausible set.
    certainty, se : float
        P(the most plausible of the named classes is the most plausible of all), and its Monte Carlo standard error, 0
        where exact; 0 and 0 where nobody has annotated.
    n_readers : int
        Readers who have annotated, or annotations where readers are not told apart.
    level : float
        The certainty from which the panel is decided.
    why : str
        Why it is undecided; empty where it is decided.
    """

    opinion: Opinion
    certainty: float
    se: float
    n_readers: int
    level: float
    why: str

    @property
    def decided(self) -> bool:
        """Whether one class is the panel's class."""
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
    """What the panel says of a case under a plausibility model.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Of a kind that the model takes.
    case : int
        Position.
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws : int
        At first; up to `MOST_DRAWS` where these do not tell.
    seed : int
    level : float
        Certainty from which the panel is decided, ½ to 1.

    Raises
    ------
    InputError
        A number is out of its range.
    """
    if not 0.5 <= level < 1:
        raise InputError(f"The panel is to be decided at a certainty of {level}.", "Give 0.5 or more, below 1.")
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
        why = "one reader has annotated"
    elif certainty < level:
        why = f"no class is the most plausible with a certainty of {percent(level)}"
    elif not sure:
        why = f"the draws do not tell whether the certainty is {percent(level)}"
    names = [getattr(model, "classes", dataset.classes)[code] for code in classes]
    opinion = Opinion.of_class(names[best])
    if why:
        plausible = tuple(names[place] for place in _plausible(chance[:-1], ess))
        opinion = replace(_undecided(chance, names, level), plausible=plausible)
    return PanelWord(opinion, certainty, error, n_readers, level, why)


def panel_score(model: GaussianScores, dataset: Dataset, case: int, *, reliability: float) -> Opinion:
    """What the panel says of a case's score: its plausible score, and where a colleague's would lie with 95%.

    A colleague's score beyond that is no disagreement by chance. `UNDETERMINED` with fewer than two readers; of one
    reader that interval is the plausible set.

    Parameters
    ----------
    model : GaussianScores
    dataset : Dataset
        Of scores.
    case : int
        Position.
    reliability : float
        γ, the trust in the raters, > 0.
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
    """What the panel says of a case whose annotations are sets of labels: the likeliest set, where all is certain.

    Parameters
    ----------
    dataset : Dataset
        Of sets.
    case : int
        Position.
    reliability : float
        γ, the trust in the raters, > 0.
    model : DirichletCounts, optional
    level : float
        Certainty of the whole set from which the panel is decided, ½ to 1.

    Raises
    ------
    InputError
        A number is out of its range.
    """
    if not 0.5 <= level < 1:
        raise InputError(f"The panel is to be decided at a certainty of {level}.", "Give 0.5 or more, below 1.")
    rows = dataset.annotations_of(case)
    n_readers = len(np.unique(dataset.rater[rows])) if dataset.raters_identified else len(rows)
    if not n_readers:
        return PanelWord(UNDETERMINED, 0.0, 0.0, 0, level, "nobody has annotated")
    found = label_set_certainty(dataset, model, reliability=reliability, cases=range(case, case + 1))
    certainty, applies = float(found.whole[0]), np.flatnonzero(found.applies[0])
    why = ""
    if n_readers < FEWEST_READERS:
        why = "one reader has annotated"
    elif certainty < level:
        why = f"no set of labels has a certainty of {percent(level)}"
    elif not applies.size:
        why = "no label is named by more than half"
    opinion = Opinion.of_labels(dataset.classes[code] for code in applies) if not why else UNDETERMINED
    if why:
        opinion = replace(UNDETERMINED, plausible=_plausible_labels(dataset, case, found, reliability, model))
    return PanelWord(opinion, certainty, 0.0, n_readers, level, why)


def _first_places(
    model: PlausibilityModel, dataset: Dataset, case: int, reliability: float, n_draws: int, seed: int, level: float
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Named classes, P(each is first) with all others last, draws that count (inf if exact), and whether these tell."""
    part = dataset.select(cases=[dataset.cases[case]])
    # Raters' severity is known from all cases; counts need no more than their own.
    of_all = isinstance(model, OrdinalTruth)
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
    """Standard error of a probability, at least that of ``level``: of few draws all may be alike."""
    return float(np.sqrt(max(chance * (1 - chance), level * (1 - level)) / ess))


def _plausible(named: np.ndarray, ess: float) -> list[int]:
    """Places of the fewest classes that are together first with `PLAUSIBLE_SET`; all if they do not reach it.

    Classes that only simulation error sets apart from the last of them come along.
    """
    order = np.argsort(-named, kind="stable")
    n = int(np.searchsorted(np.cumsum(named[order]), PLAUSIBLE_SET - _EQUAL)) + 1
    least = float(named[order[:n]].min())
    slack = _EQUAL + STANDARD_ERRORS * np.sqrt(least * (1 - least) / ess)
    return [int(place) for place in order if named[place] >= least - slack]


def _plausible_labels(
    dataset: Dataset, case: int, found: LabelSetCertainty, reliability: float, model: DirichletCounts | None
) -> tuple[str, ...]:
    """Labels that somebody named on the case and that may apply; of labels that exclude each other as of classes."""
    if found.exclusive:
        view, _ = dataset.select(cases=[dataset.cases[case]]).as_classes()
        codes, chance = exact_first_place(model or DirichletCounts(), view, 0, reliability) or ((), np.ones(1))
        return tuple(view.classes[codes[place]] for place in _plausible(chance[:-1], np.inf))
    chance = np.where(found.applies[0], found.certainty[0], 1 - found.certainty[0])
    rows = dataset.annotations_of(case)
    named = dataset.entry_class[dataset.entry_ptr[rows[0]] : dataset.entry_ptr[rows[-1] + 1]]
    return tuple(dataset.classes[code] for code in np.unique(named) if chance[code] > 1 - PLAUSIBLE_SET)


def _undecided(chance: np.ndarray, names: list[str], level: float) -> Opinion:
    """The fewest classes that together are first with a certainty of ``level``, as a tie."""
    order = np.argsort(-chance, kind="stable")
    n = int(np.searchsorted(np.cumsum(chance[order]), level - 1e-12)) + 1
    tied = [names[place] for place in order[:n] if place < len(names)]
    return Opinion.of_ranking([tied]) if len(tied) > 1 else UNDETERMINED
