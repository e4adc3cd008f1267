"""What the panel says of a case, for a reviewer to be compared with: no more than its annotations can tell.

A class is the panel's class only where it is the most plausible one with a certainty of `DECIDED` at the reliability
shown, and two readers or more have annotated. That is exact for Dirichlet counts and PrIRN; otherwise draws are added
until two Monte Carlo standard errors do not reach `DECIDED`, and where that is not to be had the panel is undecided.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.first_place import exact_first_place
from ..certainty.label_sets import label_set_certainty
from ..errors import InputError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.protocol import PlausibilityModel, check_sampling
from ..text import percent
from .opinions import UNDETERMINED, Opinion

DECIDED = 0.80
FEWEST_READERS = 2
STANDARD_ERRORS = 2.0
MOST_DRAWS = 64_000
_MORE = 4


@dataclass(frozen=True, slots=True)
class PanelWord:
    """What the panel says of one case.

    Attributes
    ----------
    opinion : Opinion
        One class where the panel is decided. Else the classes that are together most plausible with a certainty of
        ``level``, as a tie, or `UNDETERMINED` where those are not two or more that were named.
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
    level: float = DECIDED,
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
        raise InputError(f"The panel is to be decided at a certainty of {level}.", "Give .5 or more, below 1.")
    check_sampling(reliability, n_draws)
    rows = dataset.annotations_of(case)
    n_readers = len(np.unique(dataset.rater[rows])) if dataset.raters_identified else len(rows)
    if not n_readers:
        return PanelWord(UNDETERMINED, 0.0, 0.0, 0, level, "nobody has annotated")
    classes, chance, error, sure = _first_places(model, dataset, case, reliability, n_draws, seed, level)
    if not classes.size:
        return PanelWord(UNDETERMINED, 0.0, 0.0, n_readers, level, "no class was named")
    best = int(chance[:-1].argmax())
    certainty = float(chance[best])
    why = ""
    if n_readers < FEWEST_READERS:
        why = "one reader has annotated"
    elif certainty < level:
        why = f"no class is the most plausible with a certainty of {percent(level)}"
    elif not sure:
        why = f"the draws do not tell whether the certainty is {percent(level)}"
    names = [getattr(model, "classes", dataset.classes)[code] for code in classes]
    opinion = _undecided(chance, names, level) if why else Opinion.of_class(names[best])
    return PanelWord(opinion, certainty, error, n_readers, level, why)


def panel_score(model: GaussianScores, dataset: Dataset, case: int, *, reliability: float) -> Opinion:
    """What the panel says of a case's score: its plausible score, and where a colleague's would lie with 95%.

    A colleague's score beyond that is no disagreement by chance. `UNDETERMINED` with fewer than two readers.

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
    if n_readers < FEWEST_READERS:
        return UNDETERMINED
    posterior = model.posterior(dataset, reliability, range(case, case + 1))
    low, high = posterior.of_colleague()
    return Opinion.of_score(float(posterior.m[0]), (float(low[0]), float(high[0])))


def panel_set(
    dataset: Dataset,
    case: int,
    *,
    reliability: float,
    model: DirichletCounts | None = None,
    level: float = DECIDED,
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
        raise InputError(f"The panel is to be decided at a certainty of {level}.", "Give .5 or more, below 1.")
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
    opinion = UNDETERMINED if why else Opinion.of_labels(dataset.classes[code] for code in applies)
    return PanelWord(opinion, certainty, 0.0, n_readers, level, why)


def _first_places(
    model: PlausibilityModel, dataset: Dataset, case: int, reliability: float, n_draws: int, seed: int, level: float
) -> tuple[np.ndarray, np.ndarray, float, bool]:
    """Named classes, P(each is first) with all others last, the error of the largest, and whether that tells."""
    part = dataset.select(cases=[dataset.cases[case]])
    # Raters' severity is known from all cases; counts need no more than their own.
    of_all = isinstance(model, OrdinalTruth)
    exact = exact_first_place(model, dataset if of_all else part, case if of_all else 0, reliability)
    if exact is not None:
        return *exact, 0.0, True
    while True:
        _, draws = next(model.draws(part, reliability=reliability, n_draws=n_draws, seed=seed, cases=range(1)))
        n_named = len(draws.classes)
        chance = np.bincount(draws.top[:, 0], minlength=n_named + 1) / draws.n_draws
        best = chance[:-1].max(initial=0.0)
        # Of few draws all may be alike: the error is at least that of a class whose certainty is just the level.
        error = float(np.sqrt(max(best * (1 - best), level * (1 - level)) / draws.ess))
        sure = abs(best - level) > STANDARD_ERRORS * error
        if sure or not n_named or n_draws * _MORE > MOST_DRAWS:
            return draws.classes, chance, error, sure
        n_draws *= _MORE


def _undecided(chance: np.ndarray, names: list[str], level: float) -> Opinion:
    """The fewest classes that together are first with a certainty of ``level``, as a tie."""
    order = np.argsort(-chance, kind="stable")
    n = int(np.searchsorted(np.cumsum(chance[order]), level - 1e-12)) + 1
    tied = [names[place] for place in order[:n] if place < len(names)]
    return Opinion.of_ranking([tied]) if len(tied) > 1 else UNDETERMINED
