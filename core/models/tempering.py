"""Tempering of a fit by β, because annotations of one case are not independent.

Raters share what misleads them, so n annotations of a case hold less than n independent ones. After a fit whose
parameters are left alone, ``P_β(z | y_i) ∝ π_z Π_n θ[rater n, z, y_n]^β`` counts each as β of an independent one. β in
the expectation-maximisation would blur what tells raters apart. A power likelihood: Grünwald & van Ommen (2017),
doi:10.1214/17-BA1085. π stays at full weight, unless held-out annotations are predicted better by more than one
standard error with ``(π_z Π_n θ)^β``, a temperature. That keeps the most likely class of the fit, where the other
moves it towards common classes (a point of accuracy and 0.03 nats on one public crowd); where a class is rare it takes
its prevalence away from the cases that mislead raters: up to 3.4 points of accuracy and 0.09 nats on simulated crowds.
"""

from dataclasses import replace

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..methods import methods
from ..runtime.chunks import CancelToken
from ..text import number, percent, significant
from .design import Design, design
from .em import Point, expect
from .rater_methods import RaterModelMethod
from .result import RaterModelFit

SHARED_DOUBT = 0.1
OPTION = "temper_prevalence"
PREVALENCE_NOTE = "β lowers the weight of the prevalence as well as that of the annotations."
_INDEPENDENT = 0.9 - 1e-9
_NO_SIGN = 0.8 - 1e-9
_SPEAKS_OF = 3.0


def check_beta(beta: float) -> None:
    """Raise `InputError` unless 0 < ``beta`` <= 1."""
    if not 0 < beta <= 1:
        raise InputError(f"β must be above 0 and at most 1; got {beta}.", "Use a number such as 0.5.")


def check_doubt(doubt: float) -> None:
    """Raise `InputError` unless 0 <= ``doubt`` < 1."""
    if not 0 <= doubt < 1:
        raise InputError(f"The doubt must be at least 0 and below 1; got {doubt}.", "Use a number such as 0.02.")


def tempered_posterior(
    data: Design,
    point: Point,
    beta: float,
    doubt: float = 0.0,
    temper_prevalence: bool = False,
    token: CancelToken | None = None,
) -> np.ndarray:
    """Compute class probabilities (1 − doubt) P_β + doubt π, (n_cases, n_classes); a gold class stays certain.

    Parameters
    ----------
    data : Design
    point : Point
    beta : float
        Weight of an annotation, above 0 and at most 1.
    doubt : float
        Share of the prevalence in what is believed of a case, 0 to below 1.
    temper_prevalence : bool
        π to the power of β too.
    token : CancelToken, optional
    """
    posterior = np.empty((data.dataset.n_cases, data.dataset.n_classes))
    log_theta = point.log_theta if beta == 1 else beta * point.log_theta
    expect(data, Point(point.log_prevalence * (beta if temper_prevalence else 1), log_theta), posterior, token=token)
    if doubt:
        free = data.known < 0 if data.known.size else slice(None)
        posterior[free] = (1 - doubt) * posterior[free] + doubt * np.exp(point.log_prevalence)
    return posterior


def tempered(
    fit: RaterModelFit,
    dataset: Dataset,
    beta: float,
    token: CancelToken | None = None,
    *,
    doubt: float = 0.0,
    temper_prevalence: bool | None = None,
) -> RaterModelFit:
    """Return the same fit with its annotations counted as ``beta`` of an independent one each.

    Parameters
    ----------
    fit : RaterModelFit
        Fit of ``dataset``, by expectation-maximisation or by a model that tempers its own fits.
    dataset : Dataset
    beta : float
        Weight of an annotation, above 0 and at most 1.
    token : CancelToken, optional
    doubt : float
        Share of cases whose annotations as a whole may say nothing of the truth: their class has prevalence π.
    temper_prevalence : bool, optional
        π to the power of β too; as the fit has it if omitted. Only for a fit by expectation-maximisation.

    Raises
    ------
    InputError
        β is not above 0 and at most 1; the fit is of other cases or raters, or takes no β here.
    """
    check_beta(beta)
    check_doubt(doubt)
    method = methods(RaterModelMethod).get(fit.model) if fit.method == "map" else None
    own = None if method is None else getattr(method.make(), "tempered", None)
    if fit.method != "em" and own is None:
        raise InputError(
            f"Could not use β: {fit.model} with the method {fit.method} does not support it.",
            "Use a fit by expectation-maximisation.",
        )
    if fit.cases != dataset.cases or fit.raters != dataset.raters or fit.classes != dataset.classes:
        raise InputError(
            f"Could not use the fit of {fit.model}: it was made with different data.", "Fit the model to these data."
        )
    if own is not None:
        return own(fit, dataset, beta=beta, doubt=doubt, token=token)
    data = design(fit.model, dataset, fit.settings["use_gold"], fit.settings["repeats"])
    both = bool(fit.settings.get(OPTION, False) if temper_prevalence is None else temper_prevalence)
    old = (*dependence_note(data.dataset, fit.beta), *doubt_note(fit.settings.get("doubt", 0.0)), PREVALENCE_NOTE)
    settings = {name: value for name, value in fit.settings.items() if name != OPTION} | {"beta": beta, "doubt": doubt}
    return replace(
        fit,
        class_probability=tempered_posterior(data, point_of(fit), beta, doubt, both, token),
        settings=settings | ({OPTION: True} if both else {}),
        notes=(
            *(note for note in fit.notes if note not in old),
            *dependence_note(data.dataset, beta),
            *prevalence_note(beta, both),
            *doubt_note(doubt),
        ),
    )


def point_of(fit: RaterModelFit) -> Point:
    """Return a fit's parameters in the form of the E step."""
    n_classes = len(fit.classes)
    with np.errstate(divide="ignore"):
        log_theta = np.log(fit.confusion.transpose(0, 2, 1)).reshape(-1, n_classes)
        return Point(np.log(fit.prevalence), np.ascontiguousarray(log_theta), fit.parameters)


def dependence_note(dataset: Dataset, beta: float) -> tuple[str, ...]:
    """Describe the meaning of β for these data; empty if β is 1 or no case has two annotations."""
    several = dataset.cases_by_size[2:]
    n = int(several.sum())
    if beta >= 1 or not n:
        return ()
    middle = np.searchsorted(np.cumsum(several), [(n + 1) // 2, n // 2 + 1]) + 2
    typical = int(middle.sum()) // 2
    worth = beta * typical
    return (
        f"For this model, {typical:,} annotations of a case are worth {_independent(worth)} (β "
        f"{significant(beta, 2)}).",
    )


def _independent(worth: float) -> str:
    said = number(worth, 0) if worth >= _SPEAKS_OF else number(worth, 1).removesuffix(".0")
    if worth < 1 and said != "1":
        return "less than a single independent one"
    return f"about {said} independent {'one' if said == '1' else 'ones'}"


def prevalence_note(beta: float, temper_prevalence: bool) -> tuple[str, ...]:
    """Note that β applies to the prevalence, too; empty if it does not, or if β is 1."""
    return (PREVALENCE_NOTE,) if temper_prevalence and beta < 1 else ()


def doubt_note(doubt: float, rest: str = "the prevalence of classes") -> tuple[str, ...]:
    """Describe the meaning of the doubt; empty if it is 0.

    Parameters
    ----------
    doubt : float
    rest : str
        Source of the rest of the class probabilities of a case, in words.
    """
    if not doubt:
        return ()
    share = percent(doubt)
    return (f"In every case, about {share} of the probability comes from {rest}.",)


def truth_beta(beta: float, *, case_effect: bool = False, excess: float = 0.0) -> float:
    """Convert the β of held-out annotations (`core.models.held_out.HeldOut.middle_beta`) for class probabilities.

    A held-out colleague shares the others' mistakes, so that β is too high for the truth, by an amount which no
    annotation shows. It is an upper end; 0.72 of it is taken. From 0.8 on this gives way to 1, linearly, because raters
    without any sign of dependence may well be independent: max(0.72 β, 1 − 2.2 (1 − β)). The factor is an experience,
    not a theorem: on public crowds with known truth the log loss was best at about half of the held-out β, where
    accuracy had begun to fall; simulated raters that are independent are best left at 1.

    Parameters
    ----------
    beta : float
        Above 0 to 1.
    case_effect : bool
        The model has a difficulty of cases, which is part of the dependence: half as much is subtracted.
    excess : float
        Least share of ``beta`` by what independent raters would have in the same design, 0 to 1, where that is known
        (`core.models.redrawn`). What they would have does not indicate dependence: from 0.8 on ``excess`` takes the
        place of ``beta`` in the factor.
    """
    sign = max(beta, excess)
    less = beta * max(0.72, (1 - 2.2 * (1 - sign)) / sign)
    return round((beta + less) / 2 if case_effect else less, 6)


def truth_doubt(beta: float, *, excess: float = 0.0) -> float:
    """Return the probability that all annotations of a case mislead: 0.1 (1 − β), 0 from β = 0.9 on.

    Where raters share mistakes, all of them may be wrong together, and how often that is no annotation tells: held-out
    annotations are predicted best without any doubt. The more dependent annotations look, the likelier it is; raters
    that look independent leave none, and 0.9 is within the noise of 1. No number of annotations makes a class surer
    than 1 − d + d π. The tenth is an experience, as is the factor of `truth_beta`: on 32 crowds with known truth, 28 of
    them simulated, any factor from 0.05 to 0.12 gives the same mean log loss to 0.001. Without doubt fewer than 0.95 of
    the cases at 0.99 and above are right on eight of them, with it on one.

    Parameters
    ----------
    beta : float
        Above 0 to 1.
    excess : float
        See `truth_beta`; from 0.8 on it takes the place of ``beta`` where it is larger.
    """
    sign = max(beta, excess) if excess >= _NO_SIGN else beta
    return round(SHARED_DOUBT * (1 - sign), 6) if sign < _INDEPENDENT else 0.0
