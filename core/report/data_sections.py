"""Sections on the data themselves: agreement, raters, and origin of the data."""

import json
from itertools import takewhile
from shlex import quote

import pandas as pd

from ..analyses.agreement import AGREEMENT
from ..analyses.blocks import Grid, Heading, Words
from ..analyses.models import MODELS
from ..analyses.models.explore import values_of
from ..analyses.models.fits import headline, of_fits
from ..analyses.raters import RATERS
from ..analyses.raters.planning import pairs_to_ask
from ..analyses.raters.table import whom_to_look_at
from ..annotations.dataset import Dataset
from ..annotations.ordering import order_in_words
from ..errors import NotApplicableError, PluralityError
from ..methods import can_use
from ..models.average import AveragedModels
from ..models.catalogue import Fitted, command_of
from ..models.dawid_skene import METHOD as DAWID_SKENE
from ..text import exact, plural, typed
from ..version import __version__
from .page import printed

_OPTIONS = ("alpha", "ties", "epsilon")


def agreement(request, sections, token, progress) -> list:
    """Return coefficients with intervals, and agreement case by case.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    part, dataset = AGREEMENT.part("coefficients"), request.dataset
    verdict = part.applicable(dataset)
    if not verdict.possible:
        return [Words(f"Not possible: {verdict.reason}.")]
    found = part.answer(dataset)
    blocks = [
        Words(f"{found.words()}.", "lead"),
        Words(f"Report these: {found.reason}."),
        *part.blocks(found, dataset),
    ]
    if dataset.kind == "score" or (dataset.kind == "set" and request.threshold is None):
        return blocks
    view, words = single_classes(request)
    blocks += words
    for part in (AGREEMENT.part(name) for name in ("cases", "weightings")):
        if part.name == "cases" or part.applicable(view).possible:
            blocks += printed(part.blocks(part.answer(view), view))
    return blocks


def raters(request, sections, token, progress) -> list:
    """Return raters against the acceptable accuracy, as on the Raters page, and the effect of weighting on the vote.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    view, words = single_classes(request)
    if view.n_annotations == 0:
        return [*words, Words("No annotation can be used.")]
    verdict = can_use(DAWID_SKENE, view)
    if not verdict.possible:
        return [*words, Words(f"Cannot fit rater models: {verdict.reason}."), *_votes_alone(view)]
    part = RATERS.part("raters")
    options = part.resolve(seed=request.seed)
    averaged = request.settings.average(view, token)
    found = part.answer(view, options, averaged=averaged, token=token, progress=progress)
    flagged = [found.act.raters[rater] for rater in found.act.flagged()]
    return [
        Words(found.act.words(), "lead"),
        *whom_to_look_at(flagged),
        *words,
        *_weighed(request, view, token, found.act.acceptable.own_classes),
        *part.blocks(found, view, options),
        *_knowledge(view),
        *_to_ask(averaged, view),
    ]


def _knowledge(view: Dataset) -> list:
    """Return how much agreement comes from knowledge by t-a-p, and simulated ratings like it; nothing if it fails.

    The page adds each rater, whose intervals are simulated.
    """
    part = MODELS.part("tap")
    if not part.applicable(view).possible:
        return []
    try:
        found = part.answer(view)
    except PluralityError:
        return []
    parts = takewhile(lambda block: not isinstance(block, Heading), part.blocks(found, view))
    return [Heading(part.title), *printed(parts), *_simulated(view, values_of(found))]


def _simulated(view: Dataset, values: dict[str, float]) -> list:
    """Return what coefficients and models make of ratings simulated with t, a and p of an average rater."""
    part = MODELS.part("explore")
    options = part.resolve(classes=view.n_classes, **values)
    try:
        found = part.blocks(part.answer(view, options), view, options)
    except PluralityError:
        return []
    told = ", ".join(f"{name} = {exact(value)}" for name, value in values.items())
    return [Heading(f"Ratings simulated for an average rater ({told})"), *printed(found)]


def _to_ask(averaged: AveragedModels | None, view: Dataset) -> list:
    """Return whom to ask about which case next; nothing if nobody can be asked."""
    part = RATERS.part("ask-next")
    options = part.resolve()
    try:
        return [Heading(part.title), *part.blocks(pairs_to_ask(averaged, view, options), view, options)]
    except NotApplicableError:
        return []


def _weighed(request, view: Dataset, token, own_classes: bool) -> list:
    """Return the effect of weighting raters on the vote, by the settings' rater model; only the vote without one."""
    model = request.settings.rater_model
    fit = request.settings.weigh(view, token) if own_classes and model is not None and model.way != "vote" else None
    if fit is None:
        return _votes_alone(view)
    models, part = of_fits([Fitted(model, view, fit, None, 0.0)]), MODELS.part("prevalence")
    said = [Words(f"{words.removesuffix('.')}.") for words in headline(models) if words]
    return [*said, *printed(part.blocks(part.answer(view, needed=models), view))]


def _votes_alone(view: Dataset) -> list:
    """Return classes by the share of cases that they win, if no model can add to it."""
    part = MODELS.part("vote")
    return list(printed(part.blocks(part.answer(view), view)))


def provenance(request, sections, token, progress) -> list:
    """Return rows used and left out, digest, versions, and commands that reproduce the numbers.

    Parameters
    ----------
    request, sections, token, progress
        See `core.report.build`; the same for every section.
    """
    dataset = request.dataset
    raters = f"{dataset.n_raters:,}" if dataset.raters_identified else "not named"
    rows = [
        ("name", dataset.name),
        ("digest of the content", dataset.digest),
        ("cases, raters, annotations", f"{dataset.n_cases:,}, {raters}, {dataset.n_annotations:,}"),
        ("selection", request.selected or "all annotations"),
        *([("order of classes, low to high", order_in_words(dataset.classes))] if dataset.ordinal else []),
        ("version", __version__),
        ("seed", str(request.seed)),
    ]
    if request.record is not None:
        rows.append(("record of reviews", f"{plural(request.record.number, 'event')}, last hash {request.record.hash}"))
    blocks: list = []
    if request.report is not None:
        rows.append(("rows used", f"{request.report.n_kept:,} of {request.report.n_rows:,}"))
        blocks += _left_out(request.report)
    rater_model = request.settings.rater_model
    settings = {
        "digest": dataset.digest,
        "model": request.model.name,
        **request.model.settings(),
        "reliability": request.reliability,
        "rater model": None if rater_model is None else rater_model.model,
        "reliabilities": list(request.reliabilities),
        "draws": request.n_draws,
        "seed": request.seed,
        "threshold": request.threshold,
        "select": request.selection.to_text(),
        "sections": list(sections),
        "version": __version__,
    }
    return [
        Grid(pd.DataFrame(rows, columns=["what", "value"]), "Source of the numbers."),
        *blocks,
        Words("Settings:", "note"),
        Words(json.dumps(settings, indent=1, ensure_ascii=False), "code"),
        Words("On the command line (replace FILE with your file):", "note"),
        Words("\n".join(_commands(request)), "code"),
    ]


def _left_out(report) -> list:
    """Return the warnings on the file, and its rows that were left out."""
    blocks: list = [Words(warning, "note") for warning in report.warnings]
    if report.dropped:
        left_out = pd.DataFrame(report.dropped, columns=["line", "reason"])
        blocks.append(Grid(left_out, "Rows left out, with reasons."))
        blocks.append(Words(f"Check the {plural(len(left_out), 'row that was', 'rows that were')} left out.", "todo"))
    return blocks


def _commands(request) -> list[str]:
    source = quote(request.source)
    more = f" --threshold {typed(request.threshold)}" if isinstance(request.threshold, float) else ""
    if isinstance(request.threshold, str):
        more = f" --label {quote(request.threshold)}"
    ordinal = f" --ordinal --classes {quote(','.join(request.dataset.classes))}" if request.dataset.ordinal else ""
    if not request.selection.everything:
        more += f" --select {quote(request.selection.to_text())}"
    sweep = ",".join(typed(value) for value in request.reliabilities)
    prior = "".join(f" --{key} {value}" for key, value in request.model.settings().items() if key in _OPTIONS)
    model = f"{request.model.name} {source}{more}{prior} --draws {request.n_draws:d} --seed {request.seed}"
    weighing = request.settings.rater_model
    if request.no_classes:
        return [
            f"python -m core agreement {source}{more}",
            f"python -m core raters {source}{more}",
            f"python -m core certainty {request.model.name} {source}{more} --reliability {typed(request.reliability)}",
        ]
    return [
        f"python -m core agreement {source}{more}{ordinal}",
        *([] if weighing is None else [f"python -m core {command_of(weighing).replace('FILE', source + more)}"]),
        f"python -m core certainty {model} --reliability {typed(request.reliability)}",
        f"python -m core sweep {model} --reliabilities {sweep}",
    ]


def of_label(label: str) -> str:
    """Return a sentence on the label that is counted, for sets of labels.

    Parameters
    ----------
    label : str
        Label that sets have, or do not have.
    """
    return f"This report covers only the label {label}. Each annotation either has this label or does not."


def single_classes(request) -> tuple[Dataset, list]:
    """Return the data as single classes, and what a reader of the report must know about it.

    Parameters
    ----------
    request : ReportRequest
    """
    view, left_out = request.dataset.as_classes(request.threshold)
    words = []
    if request.dataset.kind == "ranking":
        words.append(
            Words(
                "Only the first choice of each ranking counts. "
                f"{plural(left_out, 'ranking with a tied first choice was', 'rankings with a tied first choice were')} "
                "left out.",
                "note",
            )
        )
    elif request.dataset.kind == "set" and request.threshold is not None:
        words.append(Words(of_label(request.threshold), "note"))
    elif request.dataset.kind == "score":
        limit = exact(request.threshold)
        words.append(Words(f"Scores are split into two classes: at most {limit}, and above {limit}.", "note"))
    return view, words
