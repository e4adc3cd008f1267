"""Quality of the raters: the parts of the analysis, with their options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ...agreement.pairs import METHOD as PAIRS
from ...annotations.dataset import Dataset
from ...methods import Verdict, can_use
from ...models.catalogue import Request
from ...models.gold import gold_cases
from ...plausibility.plackett_luce.trust import METHOD as TRUST
from ...raters.plan_world import POLICIES, QUANTITIES
from ..base import Analysis, AnalysisPart, LongWork, NoOptions, declared_in, option, part_of

_FIT, _FITS = 1e-6, 5  # seconds of a fit, an annotation and class; fits that looking at all raters is worth
_SCORE, _LONG = 2e-5, 60.0  # seconds of a score, and of what always takes long


def _integer(default: int, label: str, low: int = 0, key: str = "", words: str = "") -> Any:
    return option(default, label, kind="integer", low=low, key=key, help=words)


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Options of the acceptable accuracy, and of the judge of raters.

    Attributes
    ----------
    acceptable : float, optional
        Accuracy, or correlation with the case; from the data if omitted.
    fdr : float
        False discovery rate of raters flagged as below it.
    judged_by : {"gold", "model"}, optional
    level : float
    """

    acceptable: float | None = option(None, "The acceptable accuracy or correlation")
    fdr: float = option(0.05, "The false discovery rate")
    judged_by: Literal["gold", "model"] | None = option(None, "Who judges", choices=("gold", "model"))
    level: float = option(0.95, "The confidence level of the intervals")


@dataclass(frozen=True, slots=True)
class AssessedOptions(ScoreOptions):
    """Options of the assessment of all raters.

    Attributes
    ----------
    model : str or Request
        Rater model; "usual" is the default, a request is one whose draws exist.
    false_alarms : float
        Largest probability that careful raters raise any other flag.
    seed : int
    """

    model: str | Request = "usual"
    false_alarms: float = 0.05
    seed: int = 0


@dataclass(frozen=True, slots=True)
class OneRaterOptions(AssessedOptions):
    """Options of one rater; the one flagged first if nobody is named."""

    who: str = option("", "The rater", kind="text", help="Name of the rater")


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """Options of shared errors."""

    machines: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PlansOptions:
    """Options of plans side by side: their sizes, the cost of an annotation, and whether accuracy is shown."""

    new_raters: int = _integer(3, "The number of new raters")
    new_cases: int = _integer(20, "The number of new cases")
    least_certain: int = _integer(100, "The number of least certain cases")
    each: int = _integer(2, "The number of annotations on each case", 1, words="Number of annotations per case")
    cost: float | None = option(None, "The cost per annotation", kind="number")
    right: bool = True
    n_worlds: int = 100
    seed: int = 0


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Options of one plan: its target, for which rater or class, and on which cases."""

    quantity: str = option("certainty", "The quantity", choices=tuple(QUANTITIES), help="Quantity to plan for")
    target: float = option(0.9, "The target", help="Target for that quantity")
    name: str = option("", "The rater or class", kind="text", help="Rater or class whose interval you want to narrow")
    policy: str = option("random", "Which cases", choices=POLICIES, help="Choice of the cases to annotate")
    budget: int = _integer(1000, "The number of annotations", 1)
    n_worlds: int = 100
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AskNextOptions:
    """Options of whom to ask next; costs are pairs of a rater and the cost of an annotation, for all raters or none."""

    pairs: int = _integer(20, "Annotations to ask for", 1, "ask_pairs", "Number of annotations to ask for")
    most_each: int = _integer(5, "Maximum annotations per rater", 1, "ask_each", "Maximum annotations per rater")
    costs: tuple[tuple[str, float], ...] = option((), "The costs", kind="text", help="Table of raters and their costs")


@dataclass(frozen=True, slots=True)
class TrustOptions:
    """Options of the reliability of each rater."""

    n_draws: int = 1000
    seed: int = 0


def _classes(dataset: Dataset) -> Verdict:
    found = can_use(PAIRS, dataset)
    if found.possible and dataset.kind != "class":
        return Verdict(
            found.method,
            found.title,
            False,
            f"it needs one class per annotation; these are {dataset.traits.plural}",
        )
    return found


def _of_scores(dataset: Dataset) -> Verdict:
    def verdict(why: str) -> Verdict:
        return Verdict("score raters", "Severity and spread", not why, why)

    if dataset.kind != "score":
        return verdict("it needs scores")
    if not dataset.raters_identified:
        return verdict("the raters are anonymous")
    return verdict("all scores are equal, so raters do not differ" if not _differ(dataset) else "")


def _differ(dataset: Dataset) -> bool:
    return bool(dataset.n_annotations and (dataset.score != dataset.score[0]).any())


def _needing(first: Callable[[Dataset], Verdict], has: Callable[[Dataset], bool], why: str) -> Callable:
    def verdict(dataset: Dataset) -> Verdict:
        found = first(dataset)
        return Verdict(found.method, found.title, False, why) if found.possible and not has(dataset) else found

    return verdict


def _trusted(dataset: Dataset) -> Verdict:
    return can_use(TRUST, dataset)


def _fits(dataset: Dataset) -> float:
    return dataset.n_annotations * dataset.n_classes * _FIT


def _monitoring(dataset: Dataset) -> float:
    return _FITS * _fits(dataset)


def _long(dataset: Dataset) -> float:
    return _LONG


def _part(
    module: str, title: str, applicable: Callable[[Dataset], Verdict], options: type, work: LongWork | None = None,
    name: str = "", of: str = "",
) -> AnalysisPart:  # fmt: skip
    """Return a part from the functions of a module, which end in ``of`` if it has several parts."""
    return part_of(f"{__name__}.{module}", name or module, title, applicable, options, of=of, work=work)


RATERS = Analysis(
    "raters",
    "Raters",
    "How are the raters doing?",
    (
        _part(
            "table", "All raters", _classes, AssessedOptions, LongWork("Evaluating the raters", _monitoring), "raters"
        ),
        _part("rater", "One rater", _classes, OneRaterOptions, LongWork("Evaluating the raters", _monitoring)),
        _part("coverage", "Shared cases", _classes, NoOptions, LongWork("Shared cases of raters", _fits)),
        _part(
            "shared_errors", "Shared errors", _classes, SharedOptions, LongWork("Shared errors", _fits), "shared-errors"
        ),
        _part(
            "planning", "Plans", _classes, PlansOptions, LongWork("Simulating the plans", _long, "samplers"), "plans",
            "_plans",
        ),
        _part(
            "planning", "Planning", _classes, PlanOptions, LongWork("Simulating the plan", _long, "samplers"), "plan"
        ),
        _part(
            "planning", "Whom to ask next", _classes, AskNextOptions,
            LongWork("Whom to ask next", _monitoring), "ask-next", "_ask_next",
        ),
        _part("trust", "Trust", _trusted, TrustOptions, LongWork("Weight of each rater", _long)),
        _part(
            "scores", "Severity and spread", _of_scores, ScoreOptions,
            LongWork("Severity and spread", lambda dataset: _SCORE * dataset.n_annotations),
        ),
        _part(
            "scores", "Against gold",
            _needing(_of_scores, lambda dataset: len(gold_cases(dataset)) > 0, "no score is available"), ScoreOptions,
            name="score-gold", of="_gold",
        ),
        _part(
            "scores", "Over time",
            _needing(_of_scores, lambda dataset: dataset.time is not None,
                     "these scores have no dates, so changes over time cannot be shown"), ScoreOptions,
            name="score-time", of="_time",
        ),
        *declared_in(__name__),
    ),
)  # fmt: skip
