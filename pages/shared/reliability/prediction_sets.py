"""Prediction sets, as a part of the Reliability page: what a list must hold so that the truth is on it as promised."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.evaluation.prediction_sets import (
    PROMISES,
    TEST,
    CoveredShare,
    PredictionSets,
    majority_votes,
    possible_promise,
    prediction_sets,
    scores_at,
    sets_table,
)
from core.evaluation.sweep_table import kept_plausibilities, plausibilities_of
from core.figures import cases as case_figures
from core.figures import prediction_sets as figures
from core.reducers.top_draws import can_keep
from core.report.methods import methods_text
from core.runtime.jobs import Job
from core.text import exact, markdown, number, percent, plural, shorten, significant, typed, with_interval
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress, plausibility_models, predictions, provenance, sweep, widgets

TITLE = "Prediction sets"
MOST_LISTED = 200
_HOW = {
    "half": "Half of the cases calibrate, half test",
    "folds": "Ten folds: each is calibrated by the others",
}
_LABELS = {
    "one": "One label a case: the promise holds strictly",
    "ten": "Ten labels a case: steadier, the promise holds nearly",
    "corrected": "Ten labels with ECDF correction",
}
_WITHIN = {"": "one for all", "group": "one in each group", "risk": "one in each level of risk",
           "certainty": "one in each quarter of certainty"}  # fmt: skip
_SETTINGS: dict[str, dict[str, Any]] = {
    "half": {}, "folds": {"folds": 10},
    "one": {}, "ten": {"n_labels": 10}, "corrected": {"n_labels": 10, "corrected": True},
}  # fmt: skip
_FLAGS = {"half": "", "folds": " --folds 10", "one": "", "ten": " --labels 10", "corrected": " --labels 10 --corrected"}

Founds = tuple[tuple[PredictionSets, ...], ...]


def show(view: Dataset, model, reliabilities: tuple[float, ...], classifiers, opened: float, theme) -> None:
    """The promise, what it costs in size against γ, where it fails, the largest sets, and the sets of all cases."""
    usable = tuple(one for one in classifiers if one.score is not None)
    widgets.heading("How long must a list be so that the truth is on it?", "prediction sets")
    left, middle, more = st.columns([3, 5, 2], vertical_alignment="bottom")
    chosen = left.selectbox(
        "Classifier", range(len(usable)), format_func=lambda place: usable[place].name, key="sets_classifier"
    )
    with more.popover("More", key="more_sets"):
        settings, flags = _settings(view)
    alpha = _promise(middle, view, model, reliabilities, usable, chosen, settings)
    if alpha is None:
        return
    found = _job(view, model, reliabilities, usable, {"alpha": alpha, **settings})
    if found is None:
        return
    of_one = tuple(each[chosen] for each in found)
    value = _at(reliabilities, opened)
    sets = of_one[reliabilities.index(value)]
    st.markdown(f"**{markdown(sets.promise(value))}**")
    st.markdown(markdown(_words(sets, value)))
    _against_trust(reliabilities, usable, found, of_one, theme)
    if sets.groups and not sets.all_classes:
        _conditional(sets, value, theme)
    prior = plausibility_models.options_of(model).replace("--alpha", "--prior-alpha")
    command = provenance.command_line(
        view, f"sets FILE --alpha {typed(alpha)} --reliability {typed(value)}{flags} --model {model.name}{prior}"
    )  # fmt: skip
    with st.popover("Method and command", icon=":material/menu_book:", type="tertiary", key="methods-sets"):
        st.code(methods_text([model.name, "sets"]), language=None, wrap_lines=True)
        st.code(command, language="bash", wrap_lines=True)
        st.caption("Files of predictions are given to it by --predictions NAME=FILE.")
    _largest(view, model, usable[chosen], sets, value, {**settings, "command": command}, theme)


def _settings(view: Dataset) -> tuple[dict[str, Any], str]:
    how = st.radio("Calibration", list(_HOW), format_func=_HOW.get, key="sets_how")
    labels = st.radio("Labels", list(_LABELS), format_func=_LABELS.get, key="sets_labels")
    known = {"": True, "group": view.case_group is not None, "certainty": True}
    known["risk"] = view.class_risk is not None and bool((view.class_risk >= 0).all())
    within = st.radio(
        "Threshold", [name for name in _WITHIN if known[name]], format_func=_WITHIN.get, key="sets_within"
    )  # fmt: skip
    if within in ("risk", "certainty"):
        st.caption("A new case has it only once raters have annotated it.")
    flags = f"{_FLAGS[how]}{_FLAGS[labels]}{f' --within {within}' if within else ''}"
    return {**_SETTINGS[how], **_SETTINGS[labels], **({"within": within} if within else {})}, flags


def _promise(place, view: Dataset, model, reliabilities, usable, chosen: int, settings: dict) -> float | None:
    """α; at first that of the largest promise up to .9 that the classifier's lists can keep at every γ."""
    key = f"sets_promise-{usable[chosen].name}"
    if key not in st.session_state:
        first = _job(view, model, reliabilities, usable, {"alpha": 0.1, **settings})
        if first is None:
            return None
        st.session_state[key] = possible_promise(min(each[chosen].listed for each in first))
    promise = place.segmented_control(
        "Promise: this share of the sets holds the truth",
        PROMISES,
        format_func=lambda value: number(value),
        required=True,
        key=key,
        persist_state="session",
    )
    return round(1 - promise, 6)


def _job(view: Dataset, model, reliabilities: tuple[float, ...], usable, settings: dict) -> Founds | None:
    """Sets of all classifiers at every γ, from what the sweep has kept of its draws; drawn where it keeps nothing."""
    who = tuple((one.name, predictions.fingerprint(one)) for one in usable)
    seconds = expected.of_draws(view, model, len(reliabilities))
    part_of = sweep.parts(view, model, len(reliabilities))
    seed = plausibility_models.SEED

    def work(job: Job) -> Founds:
        data, n, found = view.coded, len(reliabilities), []
        how = {"votes": majority_votes(model, data), "seed": seed, **settings}
        for place, value in enumerate(reliabilities):
            if can_keep(view.n_cases, plausibility_models.N_DRAWS, predictions.TOP):
                kept = plausibilities_of(
                    part_of(value, job, lambda share, at=place: job.report((at + 0.8 * share) / n))
                )
            else:
                drawn = {"n_draws": plausibility_models.N_DRAWS, "seed": seed, "seconds": seconds}
                kept = cached.run(job, kept_plausibilities, data, model, data, value, **drawn)
            job.token.check()
            found.append(tuple(prediction_sets(one, data, kept, **how) for one in usable))
            job.report((place + 1) / n)
        return tuple(found)

    more = ("prediction sets", reliabilities, who, tuple(sorted(settings.items())))
    return job_progress.result_of(plausibility_models.job_key(view, model, *more), TITLE, work, of=view)


def _at(reliabilities: tuple[float, ...], opened: float) -> float:
    if len(reliabilities) == 1:
        return reliabilities[0]
    nearest = min(reliabilities, key=lambda value: abs(np.log(value / opened)))
    return st.select_slider("At γ =", reliabilities, value=nearest, key="sets_reliability")


def _words(sets: PredictionSets, value: float) -> str:
    """What was seen on the test cases, in a sentence."""
    share = sets.aggregated
    words = (
        f"On {plural(sets.n_test, 'test case')} at γ = {exact(value)} the sets hold {number(sets.mean_size)} of "
        f"{sets.n_classes:,} classes on average, and the truth in {_share_words(share)}"
    )
    if sets.voted is not None:
        words += f"; the majority vote in {_share_words(sets.voted)}"
    if sets.true is not None:
        words += f"; gold in {_share_words(sets.true)} of {plural(sets.true.n, 'case')}"
    if share.high < 1 - sets.alpha:
        words += (
            f". That is less than promised: the promise is one on average, and by chance the sets of one choice of "
            f"{plural(sets.n_calibration, 'calibration case')} hold the truth more or less often"
        )
    empty = int((sets.size[sets.part == TEST] == 0).sum())
    return f"{words}." + (f" {plural(empty, 'set is', 'sets are')} empty: no class scores enough." if empty else "")


def _share_words(share: CoveredShare) -> str:
    return with_interval(share.value, share.low, share.high, digits=3)


def _against_trust(reliabilities, usable: Sequence, found: Founds, of_one, theme) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.coverage_against_reliability(
                reliabilities, of_one, theme, "Coverage on test cases · dotted: promise"
            ),
            "sets_coverage",
            "Coverage of the truth and of the majority vote against reliability, with intervals",
        )
    with right:
        sizes = {one.name: tuple(each[place] for each in found) for place, one in enumerate(usable)}
        widgets.plot(
            figures.size_against_reliability(reliabilities, sizes, theme, "Mean size of the sets"),
            "sets_size",
            "Mean size of prediction sets against reliability",
        )
    words = "Aggregated coverage counts each class of a set by its plausibility; it is the one to look at."
    if all(one.voted is not None and one.voted.value > one.aggregated.high for one in of_one):
        words += " The majority vote is held more often than the truth: it leaves out what raters dispute."
    st.caption(words, help=widgets.explained("aggregated coverage"))
    frame = _numbers(reliabilities, usable, found)
    with st.expander("The numbers: threshold, size and coverage for each γ and classifier"):
        config = {"reliability": st.column_config.NumberColumn("reliability γ", format="%g")}
        st.dataframe(frame, hide_index=True, column_config=config, key="sets_table")
    widgets.download(frame, "Coverage and size", "prediction_sets_by_reliability", "sets_numbers")


def _numbers(reliabilities, usable, found: Founds) -> pd.DataFrame:
    rows = []
    for value, each in zip(reliabilities, found, strict=True):
        for one, sets in zip(usable, each, strict=True):
            row = {"reliability": value, "classifier": one.name, "alpha": sets.alpha, "threshold": sets.threshold}
            row |= {"mean_size": sets.mean_size, "n_calibration": sets.n_calibration, "n_test": sets.n_test}
            for name in figures.TITLES:
                if (share := getattr(sets, name)) is not None:
                    row |= {name: share.value, f"{name}_low": share.low, f"{name}_high": share.high}
            rows.append(row | {"all_classes": sets.all_classes})
    return pd.DataFrame(rows)


def _conditional(sets: PredictionSets, value: float, theme) -> None:
    widgets.plot(
        figures.conditional_coverage(
            sets.groups, 1 - sets.alpha, theme, f"Where the promise holds, at γ = {exact(value)}"
        ),
        "sets_conditional",
        "Coverage by quarter of certainty, group and expected risk",
    )
    below = [f"{one.by} {one.value}" for one in sets.groups if one.aggregated.high < 1 - sets.alpha]
    words = "The promise is one for all cases together." if not sets.strata else "The promise is for each stratum."
    words += f" It is broken for: {', '.join(below)}." if below else " No group lies clearly below it."
    st.caption(markdown(words))
    frame = pd.DataFrame(
        {
            "by": one.by, "value": one.value, "n": one.n, "mean_size": one.mean_size,
            "aggregated": one.aggregated.value, "aggregated_low": one.aggregated.low,
            "aggregated_high": one.aggregated.high, "voted": None if one.voted is None else one.voted.value,
        }
        for one in sets.groups
    )  # fmt: skip
    widgets.download(frame, "Coverage of groups", "prediction_sets_by_group", "sets_groups")


def _largest(view: Dataset, model, classifier, sets: PredictionSets, value: float, settings: dict, theme) -> None:
    """The cases with the largest sets, one of them on its triangle, and the sets of all cases to export."""
    table = sets_table(sets, view)
    order = np.argsort(-sets.size, kind="stable")[:MOST_LISTED]
    shown = table.iloc[order].drop(columns="classifier")
    shown["classes"] = [shorten(classes, 200) for classes in shown["classes"]]
    left, right = st.columns(2, gap="large")
    with left:
        widgets.heading("The largest sets")
        st.caption(f"{plural(len(shown), 'case')} with the largest sets; a click opens the case.")
        widgets.open_case_table(shown, "sets_largest", ("covered",))
        told = {**settings, "alpha": sets.alpha, "reliability": value, "classifier": classifier.name}
        widgets.download(table, "Sets of all cases", "prediction_sets", "sets_cases", settings=told)
    with right:
        widgets.heading("What the classifier thinks plausible", "plausibility region")
        _cut(view, model, classifier, sets, value, order, theme)


def _cut(view: Dataset, model, classifier, sets: PredictionSets, value: float, order: np.ndarray, theme) -> None:
    if sets.region is None:
        st.caption("There are too many cases and classes for a mean score of each case.")
        return
    case = st.selectbox(
        "Case", order.tolist(), format_func=lambda place: shorten(view.cases[place], 40), key=f"sets_case-{view.digest}"
    )
    try:
        draws, *_ = cached.case_draws(
            view, model, case, reliability=value, n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED
        )
    except PluralityError as error:
        st.caption(markdown(error))
        return
    if len(draws.classes) < 3:
        st.caption("Raters named fewer than three classes on this case: there is no triangle to cut.")
        return
    places = np.argsort(-draws.share.mean(axis=0), kind="stable")[:3][[1, 2, 0]]
    corners = draws.share[:, places]
    outside = 1 - float(corners.sum(axis=1).mean())
    corners = corners / corners.sum(axis=1, keepdims=True)
    codes = draws.classes[places].tolist()
    cut = case_figures.Cut(scores_at(classifier, case, codes), sets.region)
    inside = int(cut.inside.sum())
    beyond = float((corners @ cut.score >= cut.threshold).mean())
    title = {0: "The region leaves none of these three classes", 3: "All of the triangle lies in the region"}.get(
        inside, f"{percent(beyond)} of draws lie in the region"
    )
    widgets.plot(
        case_figures.triangle(
            [view.classes[code] for code in codes], corners, cached.region(view, corners), theme, title, cut=cut
        ),
        "sets_triangle",
        "Draws of the plausibilities on a triangle with the straight cut of the plausibility region",
    )
    share = sets.region_covered
    rest = f" {percent(outside)} of plausibility lies on classes that are no corner." if outside > 0.005 else ""
    st.caption(
        f"Dashed: plausibilities on which the classifier's mean score is {significant(sets.region, 3)} or more. Over "
        "test cases "
        f"{percent(share.value)} of the regions hold the plausibility (promise {percent(1 - sets.alpha)}).{rest}"
    )
