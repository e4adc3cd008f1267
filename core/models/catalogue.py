"""All rater models by name, and one way to fit any of them: for pages and commands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from shlex import quote
from typing import Literal

from core.annotations.dataset import Dataset
from core.chunks import CancelToken
from core.errors import InputError
from core.models.dawid_skene import DawidSkene
from core.models.difficulty.binary import one_against_rest
from core.models.difficulty.model import DifficultyModel
from core.models.difficulty.names import TAGS
from core.models.em_model import EmModel
from core.models.majority import MajorityVote
from core.models.nuts.result import BayesianFit
from core.models.one_coin import ClassConditional, OneCoin
from core.models.result import RaterModelFit
from core.models.tap import TAP

Method = Literal["vote", "em", "map", "nuts"]
Progress = Callable[..., None]

TITLES = {
    "majority": "Majority vote",
    "one-coin": "One coin",
    "class-conditional": "Class-conditional",
    "dawid-skene": "Dawid-Skene",
    "tap": "t-a-p",
    "tap-common": "t-a-p, common",
    "bayesian-dawid-skene": "Dawid-Skene, Bayesian",
    "hierarchical": "Hierarchical Dawid-Skene",
} | {f"difficulty-{tag}": f"Difficulty {tag}" for tag in TAGS}
EM = {
    "one-coin": OneCoin,
    "class-conditional": ClassConditional,
    "dawid-skene": DawidSkene,
    "tap": TAP,
    "tap-common": TAP,
}
BAYESIAN = tuple(name for name in TITLES if name not in EM and name != "majority")
# The baseline without a parameter: it is compared, and its answers are never taken for the truth.
NOT_TRUTH = ("difficulty-ABDE",)


@dataclass(frozen=True, slots=True)
class Request:
    """What to fit, and how; equal requests on equal data give equal fits.

    Attributes
    ----------
    model : str
        One of `TITLES`.
    method : {"vote", "em", "map", "nuts"}
    smoothing : str or None
        Of models by expectation-maximisation; None lets the model choose.
    beta : float
        How much of an independent annotation each counts for (expectation-maximisation, difficulty at the mode).
    doubt : float
        Share of cases whose annotations as a whole may say nothing of the truth (the same models).
    use_gold : bool
        Hold cases of known class fixed (expectation-maximisation).
    repeats : {"independent", "first", "refuse"}
    positive : str or None
        The class that difficulty models tell apart; the second of two where not given.
    cooperative, as_published : bool
        Of difficulty models.
    n_draws, n_tune, n_chains, seed : int
    """

    model: str
    method: Method
    smoothing: str | None = None
    use_gold: bool = False
    repeats: str = "independent"
    positive: str | None = None
    cooperative: bool = True
    as_published: bool = False
    n_draws: int = 1000
    n_tune: int = 1000
    n_chains: int = 4
    seed: int = 0
    beta: float = 1.0
    doubt: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A fit with the data it is of.

    Attributes
    ----------
    request : Request
    dataset : Dataset
        What the fit's cases and classes are those of: two classes for difficulty models.
    fit : RaterModelFit
    bayes : BayesianFit or None
    seconds : float
    """

    request: Request
    dataset: Dataset
    fit: RaterModelFit
    bayes: BayesianFit | None
    seconds: float

    @property
    def title(self) -> str:
        """Name on screen."""
        return TITLES[self.request.model]


def usual_method(model: str) -> Method:
    """The quickest way to an answer."""
    return "vote" if model == "majority" else "em" if model in EM else "map"


def command_of(request: Request) -> str:
    """The request on the command line, with FILE in the place of the file."""
    model, options = request.model, ""
    if model.startswith("difficulty-"):
        model, options = "difficulty", f" --model {request.model.removeprefix('difficulty-')}"
        options += f" --positive {quote(request.positive)}" if request.positive else ""
    elif model == "tap-common":
        model, options = "tap", " --raters common"
    if request.smoothing:
        options += f" --smoothing {request.smoothing}"
    if request.beta != 1:
        options += f" --beta {request.beta:g}"
    if request.doubt:
        options += f" --doubt {request.doubt:g}"
    if request.method in ("map", "nuts"):
        options += f" --method {request.method}"
    if request.method == "nuts":
        options += (
            f" --draws {request.n_draws} --tune {request.n_tune} --chains {request.n_chains} --seed {request.seed}"
        )
    return f"fit {model} FILE{options}"


def em_model(request: Request) -> EmModel:
    """The model object of a request by expectation-maximisation."""
    options = {name: getattr(request, name) for name in ("smoothing", "use_gold", "repeats", "beta", "doubt")}
    if request.smoothing in ("diagonal", "empirical") and request.model != "dawid-skene":
        raise InputError(f"{TITLES[request.model]} has no {request.smoothing} prior.", "Use none or pooled.")
    if request.model.startswith("tap"):
        return TAP(**options, raters="common" if request.model == "tap-common" else "own")
    return EM[request.model](**options)


def fit_request(
    request: Request, dataset: Dataset, *, token: CancelToken | None = None, progress: Progress | None = None
) -> Fitted:
    """Fit any model.

    Parameters
    ----------
    progress : callable, optional
        Told the share done, 0 to 1, and by samplers also what is being done.

    Raises
    ------
    InputError
        There is no such model, or it cannot be fitted that way.
    PluralityError
        As the model's own ``fit``.
    """
    if request.model not in TITLES:
        raise InputError(f"There is no model {request.model!r}.", f"The models are {', '.join(TITLES)}.")
    methods = ("vote",) if request.model == "majority" else ("em",) if request.model in EM else ("map", "nuts")
    if request.method not in methods:
        raise InputError(
            f"{TITLES[request.model]} cannot be fitted by {request.method!r}.", f"Use {' or '.join(methods)}."
        )
    started = time.perf_counter()
    if request.model == "majority":
        if request.beta != 1 or request.doubt:
            raise InputError("Majority vote takes no β and no doubt.", "Leave them out.")
        return _timed(request, dataset, MajorityVote().fit(dataset), None, started)
    if request.model in EM:
        fit = em_model(request).fit(dataset, token=token, progress=progress)
        return _timed(request, dataset, replace(fit, model=request.model), None, started)
    model, view = _bayesian(request), dataset
    if isinstance(model, DifficultyModel):
        view = one_against_rest(dataset, request.positive)[0]
    found = model.fit(
        dataset,
        method=request.method,
        n_draws=request.n_draws,
        n_tune=request.n_tune,
        n_chains=request.n_chains,
        seed=request.seed,
        token=token,
        progress=progress,
    )
    if request.beta != 1 or request.doubt:
        found = _tempered(request, view, found, token)
    return _timed(request, view, found.fit, found, started)


def _tempered(request: Request, view: Dataset, found: BayesianFit, token: CancelToken | None) -> BayesianFit:
    if not request.model.startswith("difficulty-") or request.method != "map":
        raise InputError(
            f"{TITLES[request.model]} by {request.method} takes no β.",
            "β is for EM and for difficulty models at the mode.",
        )
    from core.models.difficulty.tempering import tempered_at_mode

    return replace(found, fit=tempered_at_mode(found.fit, view, request.beta, token, doubt=request.doubt))


def _bayesian(request: Request):
    if request.model == "hierarchical":
        from core.models.hierarchical import HierarchicalDawidSkene

        return HierarchicalDawidSkene()
    if request.model == "bayesian-dawid-skene":
        from core.models.bayesian_dawid_skene import BayesianDawidSkene

        return BayesianDawidSkene()
    tag = request.model.removeprefix("difficulty-")
    return DifficultyModel(tag, request.cooperative, request.as_published, request.positive)


def _timed(request, dataset, fit, bayes, started) -> Fitted:
    return Fitted(request, dataset, fit, bayes, time.perf_counter() - started)
