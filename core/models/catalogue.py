"""Common interface to fit any rater model, for pages and commands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import method_named, methods
from ..runtime.chunks import CancelToken
from .em_model import EmModel
from .nuts.result import BayesianFit
from .rater_methods import RaterModelMethod
from .result import RaterModelFit

Progress = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Request:
    """Request for a fit; equal requests on equal data give equal fits. Build one with `request`.

    Attributes
    ----------
    model : str
        Name of a rater model.
    way : str
        One of the model's ways of being fitted: "vote", "em", "map" or "nuts".
    options : tuple of (str, value)
        Those that differ from their defaults, in the model's order.
    """

    model: str
    way: str
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def method(self) -> RaterModelMethod:
        """Method of the model."""
        return method_named(RaterModelMethod, self.model)

    @property
    def title(self) -> str:
        """Name on screen."""
        return self.method.title

    def option(self, name: str) -> Any:
        """Return the chosen value of an option, or its default."""
        return dict(self.options).get(name, self.method.option(name).default)

    def by(self, way: str) -> "Request":
        """Return the same model fitted in another way."""
        return request(self.model, way, **dict(self.options))


def request(model: str, way: str | None = None, **options: Any) -> Request:
    """Build a request, and check its parts.

    Parameters
    ----------
    model : str
    way : str, optional
        The quickest of the model if omitted.
    **options
        Options of the model; those that equal their default are left out.

    Raises
    ------
    InputError
        There is no such model, it cannot be fitted that way, or an option is unknown or out of range.
    """
    method = method_named(RaterModelMethod, model)
    way = way or method.ways[0]
    if way not in method.ways:
        raise InputError(f"Could not fit {method.title} with the method {way!r}.", f"Use {' or '.join(method.ways)}.")
    return Request(model, way, tuple(method.checked(options).items()))


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Fit with its data.

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
        return self.request.title


def command_of(request: Request) -> str:
    """Return the command line of the request, with FILE in place of the file."""
    method, parts = request.method, []
    if method.variant is not None and method.name != method.command:
        parts.append(f"--{method.variant.option} {quote(method.variant.value)}")
    if len(method.ways) > 1:
        parts.append(f"--method {request.way}")
    for option in method.options:
        value = request.option(option.name)
        if option.of_run and request.way != "nuts" and value == option.default:
            continue
        if option.type is bool:
            if value != option.default:
                parts.append(option.spelled if value else option.spelled_off)
        elif option.of_run or value != option.default:
            parts.append(f"{option.spelled} {quote(str(value))}")
    return " ".join(["fit", method.command, "FILE", *parts])


def em_model(request: Request) -> EmModel:
    """Build the model of a request by expectation-maximisation."""
    return request.method.make(
        **{name: value for name, value in request.options if not request.method.option(name).of_run}
    )


def em_model_of(fit: RaterModelFit) -> EmModel | None:
    """Return the EM model of a fit, without β and doubt; None for any other fit."""
    method = methods(RaterModelMethod).get(fit.model)
    if fit.method != "em" or method is None:
        return None
    taken = {option.name for option in method.options} & {"smoothing", "use_gold", "repeats"}
    return method.make(**{name: fit.settings[name] for name in taken})


def fit_request(
    request: Request, dataset: Dataset, *, token: CancelToken | None = None, progress: Progress | None = None
) -> Fitted:
    """Fit any model.

    Parameters
    ----------
    request : Request
    dataset : Dataset
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1, and by samplers also what is being done.

    Raises
    ------
    PluralityError
        See the model's own ``fit``.
    """
    started = time.perf_counter()
    method = request.method
    run = {option.name: request.option(option.name) for option in method.options if option.of_run}
    of_model = {name: value for name, value in request.options if name not in run}
    found = method.fit(method.make(**of_model), dataset, request.way, run, token, progress)
    if isinstance(found, BayesianFit):
        fit, bayes = found.fit, found
    else:
        fit, bayes = replace(found, model=request.model), None
    view = method.view(dataset, **of_model)
    return Fitted(request, view, fit, bayes, time.perf_counter() - started)
