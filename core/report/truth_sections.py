"""Sections on the truth: gold, certainty of cases, classifiers against it, and the methods in words."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from ..agreement.applicable_coefficients import coefficients_for
from ..agreement.benchmark_labels import before_opinions
from ..agreement.coefficient_methods import any_coefficient
from ..analyses.blocks import Grid, Heading, Words
from ..analyses.cases import CASES, CertaintyOptions, view_of
from ..analyses.cases.certainty import fitted_once, of_sweep
from ..analyses.inputs import Inputs
from ..analyses.models import MODELS
from ..analyses.models.fits import of_fits
from ..analyses.models.gold import of_one_class
from ..analyses.reliability import RELIABILITY, MetricOptions, SweepOptions
from ..analyses.reliability import models as two_models
from ..analyses.reliability import plausibilities as soft_labels
from ..analyses.reliability.prediction_sets import at_possible_promise, promises, scored
from ..annotations.dataset import Dataset
from ..certainty.p_correct import of_average
from ..certainty.shares import CertaintyShares
from ..certainty.top_sets import CertaintyResult
from ..errors import NotApplicableError
from ..evaluation.metrics import TOP
from ..evaluation.prediction_sets import majority_votes
from ..evaluation.sweep_table import (
    SweepPart,
    SweepTable,
    growing_sweep,
    kept_plausibilities,
    plausibilities_of,
    reliability_sweep,
    sweep_part,
)
from ..methods import as_taken, method_named
from ..models.average import METHOD as AVERAGE
from ..models.catalogue import Fitted
from ..models.gold import gold_cases
from ..models.gold_measures import GoldMeasure, gold_measures
from ..plausibility.protocol import PlausibilityMethod
from ..raters.accuracy_threshold import gold_rates
from ..reducers.top_draws import can_keep
from ..review.filters import open_cases
from ..text import percent_with_interval, plural, shorten
from .methods import methods_text
from .page import printed
from .part_sections import of_parts

_FIRST, _TOP = 6, 3


def certainty(request, sections, token, progress) -> list:
    """Return the certainty of all cases at one reliability, sorted, with the least certain ones listed.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    part, options = CASES.part("certainty"), CertaintyOptions(request.threshold, _TOP, request.n_draws, request.seed)
    asked = Inputs(request.dataset, settings=request.settings)
    view = view_of(asked, options)
    model = fitted_once(request.model, view)
    found = of_sweep(_sweep(request, view, (request.reliability,), (), token, progress), model, view, token)
    classes = request.dataset.as_classes(request.threshold)[0]
    if (averaged := request.settings.average(classes, token)) is not None:
        found = replace(found, correct=of_average(averaged, classes))
    blocks = part.blocks(found, asked, options)
    asked_about = (
        _ask_about(view, _open_cases(request, found.certainty, shares), shares) if (shares := found.shares) else ()
    )
    return [blocks[0], *asked_about, *blocks[1:], *_plausible(request, view, token)]


def _plausible(request, view: Dataset, token) -> list:
    """Return the shape of soft labels, and certainty under another plausibility model; nothing for large data."""
    if view.kind not in ("class", "ranking") or not can_keep(view.n_cases, request.n_draws, TOP):
        return []
    how = {"reliability": request.reliability, "n_draws": request.n_draws, "seed": request.seed, "token": token}
    model = fitted_once(request.model, view)
    blocks = [Heading("Soft labels"), *soft_labels.shape(soft_labels.plausibilities(model, view, **how))]
    inputs = Inputs(view, settings=replace(request.settings, plausibility=model))
    options = SweepOptions((request.reliability,), request.n_draws, request.seed)
    sweep = _sweep(request, view, (request.reliability,), (), token, None)
    if (both := two_models.beside(sweep, inputs, options)) is not None:
        blocks += [two_models.heading(both.models[1]), *two_models.by_case(both, inputs), two_models.CAUTION]
    return blocks


def _open_cases(request, result: CertaintyResult, shares: CertaintyShares) -> list[str]:
    """Return the uncertain cases that are still open, the least certain first."""
    listed = shares.uncertain & open_cases(request.dataset, request.reviews)
    order = shares.order(result.certainty[:, 0])
    return [result.cases[case] for case in order[listed[order]]]


def _ask_about(view: Dataset, cases: list[str], shares: CertaintyShares) -> list[Words]:
    """Return which of the open cases to review, if any; or what to do before a review."""
    below = len(cases)
    if not shares.any_known:
        return [Words(f"Add a second annotation to {plural(len(view.cases), 'case')}.", "todo")]
    if not shares.unsettled:
        return []
    if any_coefficient(view).possible and (first := before_opinions(coefficients_for(view).quoted)):
        return [Words("; ".join(first) + ".", "todo")]
    if not below:
        return []
    named = ", ".join(shorten(case, 30) for case in cases[:_FIRST])
    whole = shares.n_uncertain
    which = plural(below, "case") if below == whole else f"{below:,} of {plural(whole, 'uncertain case')}"
    more = ", the least certain first" if below > 1 else ""
    return [Words(f"Ask for another opinion on {which}{more}: {named}{' …' * (below > _FIRST)}", "todo")]


def classifiers(request, sections, token, progress) -> list:
    """Return whether the best classifier depends on γ, as on the Reliability page.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if not request.classifiers:
        return []
    view = as_taken(method_named(PlausibilityMethod, request.model.name), request.dataset, request.threshold)[0]
    sweep = _sweep(request, view, request.reliabilities, request.classifiers, token, progress)
    inputs = Inputs(view, predictions=request.classifiers, settings=request.settings)
    options = MetricOptions(n_draws=request.n_draws, seed=request.seed)
    further = of_parts(request, [RELIABILITY.part("metrics")], inputs, options, token=token)
    part = RELIABILITY.part("evidence")
    asked = SweepOptions((request.reliability,), request.n_draws, request.seed)
    evidence = of_parts(request, [part] if part.applicable(inputs).possible else [], inputs, asked, token=token)
    return [*RELIABILITY.part("classifiers").blocks(sweep, inputs), Heading("Further metrics"), *further, *evidence]


def sets(request, sections, token, progress) -> list:
    """Return coverage, size and content of prediction sets at the report's reliability.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    if not request.classifiers:
        return []
    usable = scored(request.classifiers)
    if not usable:
        return [Words("Prediction sets are not available: the predictions have no class scores.")]
    view = as_taken(method_named(PlausibilityMethod, request.model.name), request.dataset, request.threshold)[0]
    if request.part is not None:
        kept = plausibilities_of(request.part(request.reliability, token, progress))
    else:
        how = {"n_draws": request.n_draws, "seed": request.seed, "token": token, "progress": progress}
        kept = kept_plausibilities(request.model, view, request.reliability, **how)
    votes = majority_votes(request.model, view)
    try:
        found = [at_possible_promise(one, view, kept, votes, request.seed) for one in usable]
    except NotApplicableError as error:
        return [Words(str(error))]
    return promises(found, request.reliability)


def methods(request, sections, token, progress) -> list:
    """Return a description of the analysis, for a paper.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    parts = []
    if "agreement" in sections:
        parts.append("agreement")
    if "guideline" in sections and request.dataset.n_classes > 2:
        parts.append("guideline")
    if "raters" in sections:
        parts += ["rater models", "monitoring"]
    if "machines" in sections and (request.machines or (request.classifiers and request.dataset.kind == "class")):
        parts.append("machines")
        if len(request.machines) > 1 and request.dataset.kind == "class":
            parts.append("panel")
    if {"certainty", "classifiers", "sets"} & set(sections):
        parts.append(request.model.name)
    if "certainty" in sections:
        parts.append("certainty")
    if "classifiers" in sections and request.classifiers:
        parts.append("classifiers")
    if "sets" in sections and request.classifiers:
        parts.append("sets")
    return [Words(methods_text(parts) if parts else "The chosen sections contain no numbers.")]


def drawn_once(request) -> Callable | None:
    """Return a function for reduced draws at a reliability, drawn once for all sections; None if too large to store.

    Parameters
    ----------
    request : ReportRequest
    """
    view = as_taken(method_named(PlausibilityMethod, request.model.name), request.dataset, request.threshold)[0]
    if request.part is not None or not can_keep(view.n_cases, request.n_draws, TOP):
        return request.part
    known: dict[float, SweepPart] = {}

    def part(reliability: float, token, progress) -> SweepPart:
        if reliability not in known:
            how = {"n_draws": request.n_draws, "max_top": TOP, "seed": request.seed}
            known[reliability] = sweep_part(request.model, view, reliability, **how, token=token, progress=progress)
        return known[reliability]

    return part


def _sweep(request, view, reliabilities, classifiers, token, progress) -> SweepTable:
    how = {"max_top": TOP, "n_draws": request.n_draws, "seed": request.seed, "token": token}
    if request.part is None:
        return reliability_sweep(request.model, view, reliabilities, classifiers=classifiers, **how, progress=progress)

    def part(reliability: float, told) -> SweepPart:
        return request.part(reliability, token, told)

    asked = {"classifiers": classifiers, "progress": progress, **how}
    *_, found = growing_sweep(request.model, view, reliabilities, part, **asked)
    return found


def gold(request, sections, token, progress) -> list:
    """Return accuracy, log loss, Brier, ECE and share correct at 0.99 or more of the rater model, and raters by gold.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    view = request.dataset.as_classes(request.threshold)[0]
    n = len(gold_cases(view))
    if not n:
        return []
    blocks = [_raters(view)] if view.raters_identified else []
    model = request.settings.rater_model
    fit = request.settings.weigh(view, token) if view.n_classes > 1 else None
    if model is None or fit is None:
        return [Words(f"Gold is known for {plural(n, 'case')}.", "lead"), *blocks]
    title, measured = model.title, gold_measures(view, fit, seed=request.seed)
    part = MODELS.part("calibration")
    same = request.dataset.kind == "class"  # else certainty is of other data than single classes
    options = part.resolve(plausibility=request.model, reliability=request.reliability) if same else part.resolve()
    models = of_fits([Fitted(model, view, fit, None, 0.0)])
    rows = [
        ("accuracy", measured.accuracy, n),
        ("log loss", measured.log_loss, n),
        ("Brier score", measured.brier, n),
        ("expected calibration error", measured.ece, n),
        ("share correct if P(correct) is 99% or more", measured.certain_right, measured.n_certain),
    ]
    frame = pd.DataFrame(
        [
            {"measure": name, "value": one.value, "ci_low": one.low, "ci_high": one.high, "cases": cases}
            for name, one, cases in rows
            if one is not None
        ]
    )
    return [
        Words(_lead(title, measured.accuracy, n), "lead"),
        *of_one_class(view),
        Words(_certain(measured.n_certain, measured.certain_right)),
        Grid(frame, f"{title}, the default model for these data, compared with gold (95% intervals over cases)."),
        *printed(part.blocks(part.answer(view, options, models), view, options)),
        *blocks,
    ]


def _lead(title: str, accuracy: GoldMeasure, n: int) -> str:
    said = percent_with_interval(accuracy.value, accuracy.low, accuracy.high)
    name = "the average of the rater models" if title == AVERAGE.title else title
    return f"Compared with gold, {name} is correct on {said} of {plural(n, 'case')}. The fit did not use gold."


def _certain(n_certain: int, right: GoldMeasure | None) -> str:
    if right is None:
        return "No gold case has P(correct) of 99% or more."
    said = percent_with_interval(right.value, right.low, right.high)
    cases = plural(n_certain, "gold case")
    return f"The most likely class is correct on {said} of {cases} with P(correct) of 99% or more."


def _raters(view) -> Grid:
    rates = gold_rates(view)
    judged = np.flatnonzero(rates.n > 0)
    frame = pd.DataFrame(
        {
            "rater": [view.raters[rater] for rater in judged],
            "gold annotations": rates.n[judged],
            "right by gold": rates.value[judged],
            "right ci_low": rates.low[judged],
            "right ci_high": rates.high[judged],
        }
    )
    caption = (
        "Each rater's share of correct annotations on gold cases, with Wilson intervals. Unlike the raters' accuracy "
        "elsewhere in this report, these shares are not shrunk towards the mean of all raters."
    )
    return Grid(frame, caption, 40)
