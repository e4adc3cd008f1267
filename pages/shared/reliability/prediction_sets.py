"""Prediction sets on the Reliability page: what is promised, how sets are calibrated, and the region of one case."""

from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SetOptions
from core.analyses.reliability import prediction_sets as analysis
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.evaluation.metrics import TOP
from core.evaluation.prediction_sets import PROMISES, PredictionSets, majority_votes, possible_promise, scores_at
from core.evaluation.sweep_table import kept_plausibilities, plausibilities_of
from core.figures import cases as case_figures
from core.reducers.top_draws import can_keep
from core.report.methods import methods_text
from core.runtime.jobs import Job
from core.text import markdown, number, percent, shorten, significant, typed
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import (
    blocks,
    expected,
    job_progress,
    plausibility_models,
    predictions,
    provenance,
    sweep,
    widgets,
)
from pages.shared.kit import style as look

TITLE = "Prediction sets"
_HOW = {
    "half": "Calibrate on half of the cases, test on the other half",
    "folds": "Ten folds: calibrate on nine, test on the tenth",
}
_LABELS = {
    "one": "One label per case: exact guarantee",
    "ten": "Ten labels per case: steadier sets, approximate guarantee",
    "corrected": "Ten labels with ECDF correction",
}
_WITHIN = {
    "": "Same threshold for all cases",
    "group": "Separate threshold per group",
    "risk": "Separate threshold per risk level",
    "certainty": "Separate threshold per quarter of certainty",
}
_SETTINGS: dict[str, dict[str, Any]] = {
    "half": {}, "folds": {"folds": 10},
    "one": {}, "ten": {"n_labels": 10}, "corrected": {"n_labels": 10, "corrected": True},
}  # fmt: skip
_FLAGS = {"folds": " --folds {}", "n_labels": " --labels {}", "corrected": " --corrected", "within": " --within {}"}


def show(inputs: Inputs, reliabilities: tuple[float, ...]) -> None:
    """Draw the controls and the results of the analysis."""
    usable = analysis.scored(inputs.predictions)
    widgets.heading("How many classes must a set contain to include the truth?", "prediction sets")
    left, middle, more = st.columns([3, 5, 2], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Classifier", range(len(usable)), format_func=lambda place: usable[place].name, key="sets_classifier"
    )
    with more.popover("More", key="more_sets"):
        settings = _settings(inputs.dataset)
    options = SetOptions(reliabilities, plausibility_models.N_DRAWS, plausibility_models.SEED, chosen, **settings)
    alpha = _promise(middle, inputs, options, usable[chosen].name)
    if alpha is None:
        return
    options = SetOptions(**asdict(options) | {"alpha": alpha})
    found = _job(inputs, options)
    if found is None:
        return
    after = {
        "sets_method": partial(_method, inputs),
        "sets_cases": lambda told: {"command": _command(inputs, told)},
        "sets_region": lambda about: _region(inputs, usable[chosen], *about),
    }
    blocks.show(RELIABILITY.part("prediction_sets").blocks(found, inputs, options), after)


def _settings(view: Dataset) -> dict[str, Any]:
    how = st.radio("Calibration", list(_HOW), format_func=_HOW.get, key="sets_how")
    labels = st.radio("Labels", list(_LABELS), format_func=_LABELS.get, key="sets_labels")
    known = {"": True, "group": view.case_group is not None, "certainty": True}
    known["risk"] = view.class_risk is not None and bool((view.class_risk >= 0).all())
    within = st.radio(
        "Threshold", [name for name in _WITHIN if known[name]], format_func=_WITHIN.get, key="sets_within"
    )  # fmt: skip
    if within in ("risk", "certainty"):
        st.caption("For a new case, the threshold is known only after raters have annotated it.")
    return {**_SETTINGS[how], **_SETTINGS[labels], "within": within}


def _promise(place, inputs: Inputs, options: SetOptions, name: str) -> float | None:
    """α; at first that of the largest promise up to 0.9 that the classifier's lists can keep at every γ."""
    key = f"sets_promise-{name}"
    if key not in visit.number:
        first = _job(inputs, options)
        if first is None:
            return None
        visit.number[key] = possible_promise(min(each[options.classifier].listed for each in first))
    promise = place.segmented_control(
        "Guaranteed share of sets that include the truth",
        PROMISES,
        format_func=lambda value: number(value),
        required=True,
        key=key,
        persist_state="session",
    )
    return round(1 - promise, 6)


def _job(inputs: Inputs, options: SetOptions) -> analysis.Found | None:
    """Return sets of all classifiers at every γ, from draws kept by the sweep, or drawn if it keeps none."""
    view, model, reliabilities = inputs.dataset, inputs.settings.plausibility, options.reliabilities
    who = tuple((one.name, predictions.fingerprint(one)) for one in analysis.scored(inputs.predictions))
    seconds = expected.of_draws(view, model, len(reliabilities))
    part_of = sweep.parts(view, model, len(reliabilities))

    def work(job: Job) -> analysis.Found:
        data, n, found = view.coded, len(reliabilities), []
        coded, votes = Inputs(data, predictions=inputs.predictions), majority_votes(model, data)
        for place, value in enumerate(reliabilities):
            if can_keep(view.n_cases, options.n_draws, TOP):
                kept = plausibilities_of(
                    part_of(value, job, lambda share, at=place: job.report((at + 0.8 * share) / n))
                )
            else:
                drawn = {"n_draws": options.n_draws, "seed": options.seed, "seconds": seconds}
                kept = cached.run(job, kept_plausibilities, data, model, data, value, **drawn)
            job.token.check()
            found.append(analysis.at_one(coded, kept, votes, options))
            job.report((place + 1) / n)
        return tuple(found)

    asked = {name: value for name, value in asdict(options).items() if name not in ("classifier", "reliabilities")}
    more = ("prediction sets", reliabilities, who, tuple(sorted(asked.items())))
    return job_progress.result_of(plausibility_models.job_key(view, model, *more), TITLE, work, of=view)


def _command(inputs: Inputs, told: dict[str, Any]) -> str:
    """Return the command that reproduces the sets of all cases."""
    model = inputs.settings.plausibility
    flags = "".join(flag.format(told[name]) for name, flag in _FLAGS.items() if name in told)
    prior = plausibility_models.options_of(model, inputs.dataset).replace("--alpha", "--prior-alpha")
    asked = f"--alpha {typed(told['alpha'])} --reliability {typed(told['reliability'])}{flags}"
    return provenance.command_line(inputs.dataset, f"sets FILE {asked} --model {model.name}{prior}")


def _method(inputs: Inputs, told: dict[str, Any]) -> None:
    with st.popover("Method and command", icon=":material/menu_book:", type="tertiary", key="methods-sets"):
        st.code(methods_text([inputs.settings.plausibility.name, "sets"]), language=None, wrap_lines=True)
        st.code(_command(inputs, told), language=None, wrap_lines=True)
        st.caption("To use a predictions file, add --predictions NAME=FILE.")


def _region(inputs: Inputs, classifier, sets: PredictionSets, value: float) -> None:
    """Draw the draws of a case with a large set on a triangle, and the straight cut of its plausibility region."""
    widgets.heading("Plausible classes according to the classifier", "plausibility region")
    view = inputs.dataset
    if sets.region is None:
        st.caption("Not available: too many cases and classes to compute a mean score for each case.")
        return
    case = st.selectbox(
        "Case", analysis.largest(sets).tolist(), format_func=lambda place: shorten(view.cases[place], 40),
        key=f"sets_case-{view.digest}",
    )  # fmt: skip
    try:
        draws = cached_cases.one_case(view, inputs.settings.plausibility, case, value).draws
    except PluralityError as error:
        st.caption(markdown(error))
        return
    if len(draws.classes) < 3:
        st.caption("Not available: a triangle needs at least three classes, and raters named fewer for this case.")
        return
    places = np.argsort(-draws.share.mean(axis=0), kind="stable")[:3][[1, 2, 0]]
    corners = draws.share[:, places]
    outside = 1 - float(corners.sum(axis=1).mean())
    corners = corners / corners.sum(axis=1, keepdims=True)
    codes = draws.classes[places].tolist()
    cut = case_figures.Cut(scores_at(classifier, case, codes), sets.region)
    beyond = float((corners @ cut.score >= cut.threshold).mean())
    title = {0: "The region contains none of these three classes", 3: "The region covers the whole triangle"}.get(
        int(cut.inside.sum()), f"The region contains {percent(beyond)} of draws"
    )
    names = [view.classes[code] for code in codes]
    widgets.plot(
        case_figures.triangle(names, corners, cached_cases.region(view, corners), look.theme(), title, cut=cut),
        "sets_triangle",
        "Draws of the plausibilities on a triangle, with the straight boundary of the plausibility region",
    )
    share = sets.region_covered
    rest = f" Classes outside the triangle have {percent(outside)} of the plausibility." if outside > 0.005 else ""
    st.caption(
        f"Dashed line: boundary of the plausibility region. Inside it, the mean score is at least "
        f"{significant(sets.region, 3)}. The region contains the plausibilities of {percent(share.value)} of test "
        f"cases (guarantee: {percent(1 - sets.alpha)}).{rest}"
    )
