"""Common parts of models fitted by expectation-maximisation: options, the fit from the votes, and restarts."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..options import check_choice, check_flag, check_whole, shown
from ..runtime.chunks import CancelToken
from ..text import number
from .design import Design, Repeats, design
from .em import Family, Prior, Summit, climb
from .majority import normalised
from .restarts import Restarts, random_restarts
from .result import RaterModelFit, worse_than_chance
from .smoothing import NO_SHRINKAGE
from .stopping import StoppingRule
from .tempering import (
    OPTION,
    check_beta,
    check_doubt,
    dependence_note,
    doubt_note,
    prevalence_note,
    tempered_posterior,
)

_USUAL = StoppingRule()
_NOT_CONVERGED = "Not converged: results may still change. Allow more iterations."
_MET, _THIN, _FEWEST_CLASSES = 0.5, 2.0, 3
_SAID_BY = dict.fromkeys(("pooled", "empirical"), "their values come mostly from data pooled over all raters")


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Dataset, model of its raters, and prior of the parameters."""

    data: Design
    family: Family
    prior: Prior
    settings: dict
    notes: tuple[str, ...] = ()
    beta: float = 1.0
    doubt: float = 0.0
    temper_prevalence: bool = False

    @property
    def shown_at(self) -> tuple[float, float, bool]:
        """Settings of class probabilities: β, doubt, and whether β tempers the prevalence."""
        return self.beta, self.doubt, self.temper_prevalence

    def posterior(self, top: Summit) -> np.ndarray:
        """Compute class probabilities at the end of a climb, (n_cases, n_classes), with weight ``beta``."""
        if (self.beta == 1 and not self.doubt) or not len(top.posterior):
            return top.posterior
        return tempered_posterior(self.data, top.point, *self.shown_at)

    def fit_from(
        self,
        start: np.ndarray,
        stopping: StoppingRule,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RaterModelFit:
        """Fit by a climb from class probabilities.

        Parameters
        ----------
        start : ndarray, shape (n_cases, n_classes)
            Class probabilities.
        stopping : StoppingRule
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1.
        """
        top = climb(self.data, self.family, self.prior, start, stopping, token=token, progress=progress)
        return self.fit_at(top, {"max_iterations": stopping.max_iterations})

    def fit_at(self, top: Summit, settings: dict) -> RaterModelFit:
        """Convert the end of a climb to a fit."""
        dataset = self.data.dataset
        n_classes = dataset.n_classes
        confusion = np.exp(top.point.log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
        _, evidence = normalised(top.counts, dataset)
        prevalence = np.exp(top.point.log_prevalence)
        return RaterModelFit(
            model=self.family.name,
            method="em",
            cases=dataset.cases,
            raters=dataset.raters,
            classes=dataset.classes,
            prevalence=prevalence,
            confusion=np.ascontiguousarray(confusion),
            evidence=evidence,
            class_probability=self.posterior(top),
            n_annotations=dataset.annotations_of_raters,
            log_likelihood=top.log_likelihood,
            objective=tuple(top.objective),
            converged=top.converged,
            settings={**self.settings, **settings},
            notes=(
                *(() if top.converged else (_NOT_CONVERGED,)),
                *worse_than_chance(prevalence, confusion),
                *(_thin_rows(evidence, self.settings["smoothing"]) if getattr(self.family, "by_class", True) else ()),
                *self._of_data(),
                *dependence_note(dataset, self.beta),
                *prevalence_note(self.beta, self.temper_prevalence),
                *doubt_note(self.doubt),
            ),
            parameters=top.point.parameters,
        )

    def _of_data(self) -> tuple[str, ...]:
        n = self.data.n_repeats
        if not n or self.data.repeats != "independent":
            return self.notes
        repeat, count = ("repeats", "It counts") if n == 1 else ("repeat", "They count")
        looks = "this case looks more certain than it is" if n == 1 else "these cases look more certain than they are"
        return (
            *self.notes,
            f"{n:,} of {self.data.dataset.n_annotations:,} annotations {repeat} an earlier one by the same rater on "
            f"the same case. {count} as independent, so {looks}.",
        )


@dataclass(frozen=True, slots=True)
class EmModel(ABC):
    """Options that all models of this family take.

    Parameters
    ----------
    smoothing : str, optional
        Pseudo-counts, by model; "pooled" if omitted.
    stopping : StoppingRule
    use_gold : bool
        Hold gold cases fixed at their class. They count for prevalence too, as if drawn like all others.
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on the same case.
    beta : float
        How much of an independent annotation each is worth once the model is fitted, above 0 to 1: class probabilities
        are in proportion to π_z Π θ^β. It does not touch the parameters.
    doubt : float
        Share of cases whose annotations as a whole may say nothing of the truth, from 0 to below 1: class
        probabilities are (1 − doubt) P_β + doubt π. It does not touch the parameters either.
    temper_prevalence : bool
        Class probabilities in proportion to (π_z Π θ)^β: the prevalence counts for less as the annotations do.
    """

    smoothings: ClassVar[tuple[str, ...]] = ("none", "pooled")
    smoothing: str | None = None
    stopping: StoppingRule = _USUAL
    use_gold: bool = False
    repeats: Repeats = "independent"
    beta: float = 1.0
    doubt: float = 0.0
    temper_prevalence: bool = False

    @property
    def shown_at(self) -> tuple[float, float, bool]:
        """Settings of class probabilities, see `Problem`."""
        return self.beta, self.doubt, self.temper_prevalence

    def settings(self, smoothing: str) -> dict:
        """Return the settings that a fit reports."""
        names = ("use_gold", "repeats", "beta", "doubt", *([OPTION] if self.temper_prevalence else []))
        return {"smoothing": smoothing} | {name: getattr(self, name) for name in names}

    def __post_init__(self) -> None:
        check_beta(self.beta)
        check_doubt(self.doubt)
        check_flag(self.temper_prevalence, OPTION)
        if self.smoothing is not None:
            check_choice(self.smoothing, "The smoothing", self.smoothings)
        if not isinstance(self.stopping, StoppingRule):
            raise InputError(f"Could not use the stopping rule {shown(self.stopping)}.", "Use a StoppingRule object.")
        check_flag(self.use_gold, "use_gold")
        check_choice(self.repeats, "The rule for repeats", get_args(Repeats))

    @abstractmethod
    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the problem of a design with the model's prior."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name in messages."""

    def problem(self, dataset: Dataset, token: CancelToken | None = None) -> Problem:
        """Prepare the dataset.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes or are anonymous; every case has at most one and none is known; gold
            is to be used and there is none; repeats are to be refused and there are some.
        LimitError
            The tables would not fit into memory.
        """
        return self.problem_of(design(self.title, dataset, self.use_gold, self.repeats), token)

    def fit(
        self,
        dataset: Dataset,
        *,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RaterModelFit:
        """Fit from the soft vote shares (ties split, never to the lowest class).

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes, with raters who are identified.
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes or are anonymous; every case has at most one and none is known; gold
            is to be used and there is none; repeats are to be refused and there are some.
        LimitError
            The tables would not fit into memory.
        """
        problem = self.problem(dataset, token)
        fit = problem.fit_from(problem.data.start, self.stopping, token, progress)
        return replace(fit, settings={**fit.settings, "start": "vote"})

    def restarts(
        self,
        dataset: Dataset,
        fit: RaterModelFit,
        n_restarts: int,
        *,
        seed: int = 0,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Restarts:
        """Run random starts to the end, align each to the classes of the majority-vote start, and compare them.

        Parameters
        ----------
        dataset : Dataset
        fit : RaterModelFit
            The vote start's fit of the same data.
        n_restarts : int
        seed : int
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        check_whole(n_restarts, "The number of restarts", 0)
        check_whole(seed, "The seed", 0)
        problem = self.problem(dataset, token)

        def climb_from(start: np.ndarray) -> RaterModelFit:
            return problem.fit_from(start, self.stopping, token)

        return random_restarts(climb_from, problem.data, fit, n_restarts, seed, token, progress)


def unshrunk(smoothing: str) -> tuple[str, ...]:
    """Return the note of a fit by maximum likelihood."""
    return (NO_SHRINKAGE,) if smoothing == "none" else ()


def _thin_rows(evidence: np.ndarray, smoothing: str) -> tuple[str, ...]:
    """Note that half of the used rows of confusion matrices have hardly any annotations.

    Parameters
    ----------
    evidence : ndarray, shape (n_raters, n_classes)
        Expected annotations of each rater on cases of each class.
    smoothing : str
        Where the rest of what a row says comes from.
    """
    met = evidence[evidence > _MET]
    if not met.size or evidence.shape[1] < _FEWEST_CLASSES or float(np.median(met)) >= _THIN:
        return ()
    return (
        f"Half of the {met.size:,} rows of the confusion matrices are based on fewer than {number(_THIN, 0)} "
        f"annotations, so {_SAID_BY.get(smoothing, 'they contain almost no information about these raters')}.",
    )
