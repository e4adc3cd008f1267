"""Estimates of rater models for the truth, raters and cases: the parts of the analysis, with their options."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...annotations.dataset import Dataset
from ...methods import Verdict, can_use
from ...models.catalogue import Request
from ...models.gold import gold_cases
from ...models.majority import METHOD as MAJORITY
from ...models.rater_methods import any_rater_model
from ...plausibility.protocol import PlausibilityModel
from ...raters.groups import RaterFacts
from ..base import Analysis, AnalysisPart, LongWork, NoOptions, declared_in, option, part_of

SHARED, OWN = "Shared by all labels", "Separate for each label"


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of parts that depend on fits of single classes.

    Attributes
    ----------
    requests : tuple of Request
        Models to fit, the one in detail first; that of the settings if empty.
    """

    requests: tuple[Request, ...] = ()


@dataclass(frozen=True, slots=True)
class CasesOptions(ModelOptions):
    """Options of the table of cases."""

    every: bool = option(
        False,
        "All cases",
        key="all_cases",
        flag=True,
        help="List all cases, not only cases whose most likely class differs from the majority vote",
    )


@dataclass(frozen=True, slots=True)
class CalibrationOptions(ModelOptions):
    """Options of calibration.

    Attributes
    ----------
    plausibility : PlausibilityModel, optional
        Model of certainty; counts with the settings of the data if omitted.
    reliability : float
        Its γ.
    origin : str
        Source of gold, if it is not in the file.
    """

    plausibility: PlausibilityModel | None = None
    reliability: float = 1.0
    origin: str = ""


@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Options for sets of labels."""

    trust: str = option(SHARED, "Rater accuracy", (SHARED, OWN), key="label_trust", look="side by side")


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """Options of ratings that are simulated under t-a-p."""

    t: float = option(
        0.3, "t: prevalence of class 1", kind="number", key="explore_t", help="Prevalence of class 1, 0 to 1"
    )
    a: float = option(
        0.7,
        "a: accuracy of raters",
        kind="number",
        key="explore_a",
        help="Probability that a rater knows the class, 0 to 1",
    )
    p: float = option(
        0.3, "p: guesses of class 1", kind="number", key="explore_p", help="Share of guesses that are class 1 (0 to 1)"
    )
    classes: int = option(
        2,
        "Number of classes",
        kind="integer",
        low=2,
        key="explore_classes",
        help="Number of classes; classes after the first have equal prevalence",
    )
    cases: int = option(200, "Number of cases", kind="integer", low=2, key="explore_cases", help="Number of cases")
    raters: int = option(5, "Number of raters", kind="integer", low=2, key="explore_raters", help="Number of raters")
    seed: int = 0


WAYS = {"map": "Posterior mode", "nuts": "Full posterior (NUTS)"}


@dataclass(frozen=True, slots=True)
class CovariateOptions:
    """Options of effects of columns.

    Attributes
    ----------
    method, positive : str
    level : float
    of_raters, of_cases : RaterFacts
        Chosen columns: facts of the raters and of the cases of the dataset, in their order.
    seed : int
    """

    method: str = option(
        "map", "Estimation", tuple(WAYS), WAYS.__getitem__, key="covariate_method", look="side by side",
        help="Posterior mode with Laplace's approximation, or chains drawn by NUTS [map]",
    )  # fmt: skip
    positive: str = option(
        "",
        "Positive class",
        kind="text",
        help="Class to compare with all others; needed if there are more than two classes",
    )
    level: float = option(0.95, "The confidence level of the intervals", help="Confidence level [0.95]")
    of_raters: RaterFacts = field(default_factory=RaterFacts)
    of_cases: RaterFacts = field(default_factory=RaterFacts)
    seed: int = 0


def _covariates(dataset: Dataset) -> Verdict:
    why = "the annotations are anonymous" if not dataset.raters_identified else ""
    return _unless("there is one class" if dataset.n_classes < 2 else why, dataset)


def covariate_seconds(dataset: Dataset) -> float:
    """Return the estimated time of a fit by its mode, on one core.

    Parameters
    ----------
    dataset : Dataset
    """
    return 1.5 + 1.2e-6 * dataset.n_annotations * (100 + 2 * dataset.n_raters)


def _tap(dataset: Dataset) -> Verdict:
    found = any_rater_model(dataset)
    if found.possible and dataset.kind == "class" and dataset.n_classes < 2:
        return Verdict(found.method, found.title, False, "there is one class")
    return _unless(
        "" if dataset.kind != "class" or (np.diff(dataset.case_ptr) > 1).any() else "no case has two annotations",
        dataset,
    )


def _always(dataset: Dataset) -> Verdict:
    return Verdict("explore", "Explore t-a-p", True, "")


def _unless(why: str, dataset: Dataset) -> Verdict:
    found = any_rater_model(dataset)
    return Verdict(found.method, found.title, False, why) if why and found.possible else found


def _by_gold(dataset: Dataset) -> Verdict:
    known = dataset.kind == "class" and gold_cases(dataset).size
    return _unless("" if known else "no case with an annotation has a gold class", dataset)


def _votes(dataset: Dataset) -> Verdict:
    return can_use(MAJORITY, dataset)


def _labels(dataset: Dataset) -> Verdict:
    why = dataset.not_of_kind("set") or ("" if dataset.raters_identified else "the annotations are anonymous")
    return Verdict("labels", "All labels", not why, why)


def _part(
    name: str,
    title: str,
    options: type = ModelOptions,
    applicable: Callable[[Dataset], Verdict] = any_rater_model,
    needs: str = "fits:fit_models",
    work: LongWork | None = None,
) -> AnalysisPart:
    needs = needs and f"{__name__}.{needs}"
    return part_of(f"{__name__}.{name}", name, title, applicable, options, needs=needs, work=work)


MODELS = Analysis(
    "models",
    "Models",
    "Which class is correct, and which raters are accurate?",
    (
        _part("cases", "Cases", CasesOptions),
        _part("raters", "Raters"),
        _part("prevalence", "Prevalence"),
        _part("checks", "Checks"),
        _part("soft_labels", "Soft labels"),
        _part("summary", "Models"),
        _part("agreement", "Comparison of models"),
        _part("gold", "Against gold", applicable=_by_gold),
        _part("calibration", "Calibration", CalibrationOptions, _by_gold),
        _part("details", "Fit details"),
        _part("tap", "t-a-p", applicable=_tap, options=NoOptions, needs=""),
        _part("explore", "Explore t-a-p", ExploreOptions, _always, needs=""),
        _part(
            "covariates",
            "Covariates",
            CovariateOptions,
            _covariates,
            "",
            LongWork("Estimating the effects of covariates", covariate_seconds),
        ),
        _part("scores", "Held-out scores", needs="scores:score_models"),
        _part("average", "Average of models", needs="scores:score_models"),
        _part("labels", "All labels", LabelOptions, _labels, "labels:fit_every_label"),
        _part("vote", "Majority vote", applicable=_votes, needs=""),
        *declared_in(__name__),
    ),
)
OF_A_FIT = tuple(part.name for part in MODELS.parts if part.needs.endswith("fit_models"))
