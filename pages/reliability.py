"""Reliability: how certain the truth is, and how good classifiers are, against how much the raters are trusted."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.evaluation.metrics import PointScores, first_metric
from core.evaluation.sweep_table import SweepTable
from core.figures import reliability as figures
from core.models.expected_class import within_one
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.protocol import PlausibilityModel
from core.text import exact, number, plural, typed
from core.thresholds import CERTAIN_LEVELS
from pages.shared.cache import cases as cached_cases
from pages.shared.kit import (
    class_order,
    columns,
    evidence,
    gold_of_reviews,
    navigation,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    trusted_raters,
    widgets,
)
from pages.shared.kit import style as look
from pages.shared.kit import sweep as sweeps
from pages.shared.reliability import anchors, headline, set_classifiers
from pages.shared.reliability import classifiers as classifier_view
from pages.shared.reliability import prediction_sets as set_view
from pages.shared.reliability import relations as relation_view
from pages.shared.reliability import scores as score_view


def _settings(dataset: Dataset):
    left, middle, more = st.columns([5, 3, 2], vertical_alignment="bottom")
    name = plausibility_models.choose_model(middle, dataset)
    offer = plausibility_models.method(name).reliability
    opened = reliability_slider.opens(dataset, plausibility_models.as_chosen(dataset))
    default = sweeps.reliabilities(name, opened)
    chosen = left.pills(
        "Reliabilities γ",
        sorted({*offer.choices, opened}),
        default=default,
        selection_mode="multi",
        format_func=exact,
        key=f"reliabilities-{name}" + ("" if default == offer.sweep else f"-{typed(opened)}"),
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    with more.popover("More", key="more_reliability"):
        model = plausibility_models.choose_prior(st, name)
    reliability_slider.marks(dataset, model)
    class_order.say(dataset, name)
    return model, tuple(sorted(chosen)), opened


def _table(view: Dataset, model: PlausibilityModel, sweep: SweepTable) -> pd.DataFrame:
    rows = []
    for place, (reliability, result) in enumerate(zip(sweep.reliabilities, sweep.certainty, strict=True)):
        row = {"reliability": reliability, "n_cases": len(result.cases)}
        for top in (1, 2, 3):
            row[f"top{top}"], row[f"top{top}_se"] = result.mean(top), result.mean_se(top)
        if isinstance(model, OrdinalTruth):
            row["within one"] = within_one(cached_cases.class_probability(view, model, reliability)).mean()
        if sweep.risk:
            row["risk of top-1"], row["risk summed"] = sweep.risk[place].of_top1.mean(), sweep.risk[place].summed.mean()
        rows.append(row | {f"below {level}": result.n_below(level) for level in CERTAIN_LEVELS})
    return pd.DataFrame(rows)


def _columns() -> dict:
    """What the columns are called and how exactly they are shown on screen; files keep their names and digits."""
    shown = {"reliability": ("reliability γ", "%g")}
    for top in (1, 2, 3):
        shown |= {f"top{top}": (f"top-{top}", columns.THREE), f"top{top}_se": (f"top-{top} SE", "%.4f")}
    shown |= {name: (name, columns.THREE) for name in ("risk of top-1", "risk summed")}
    shown["within one"] = ("within one class", columns.THREE)
    numbers = {name: st.column_config.NumberColumn(label, format=digits) for name, (label, digits) in shown.items()}
    below = {f"below {level}": f"below {number(level)}" for level in CERTAIN_LEVELS}
    return numbers | columns.counts(n_cases="cases", **below)


def _so_far(found: SweepTable | PointScores | None, reliabilities: tuple[float, ...], n_classes: int, theme) -> None:
    """The figures of what opens, of the reliabilities that are done; no sentence, for that needs all of them."""
    if found is None:
        return
    sweep, scores = (found, None) if isinstance(found, SweepTable) else (SweepTable((), ()), found)
    n = plural(len(reliabilities), "reliability", "reliabilities")
    more = " Each × is a score against one label a case, and stays." if scores else ""
    st.caption(f"{len(sweep.reliabilities):,} of {n} so far.{more}")
    if sweep.evaluation or scores:
        metric = st.session_state.get("metric") or first_metric(classifier_view.TOP, n_classes)
        classifier_view.lines(reliabilities, sweep.evaluation, metric, theme, scores)
    else:
        _figures(sweep, theme, reliabilities)


def _certainty(view: Dataset, model: PlausibilityModel, sweep: SweepTable, theme) -> None:
    _figures(sweep, theme)
    _numbers(view, model, sweep)


def _figures(sweep: SweepTable, theme, reliabilities: tuple[float, ...] | None = None) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.mean_certainty(sweep, theme, "Mean certainty against trust in the raters", reliabilities),
            "mean_certainty",
            "Mean annotation certainty against reliability",
        )
    with right:
        widgets.plot(
            figures.sorted_certainty(sweep, theme, "Certainty of every case, sorted"),
            "sorted_certainty",
            "Sorted certainty of all cases for each reliability",
        )


def _numbers(view: Dataset, model: PlausibilityModel, sweep: SweepTable) -> None:
    table = _table(view, model, sweep)
    widgets.heading("The numbers", "annotation certainty")
    shown = table.dropna(axis=1, how="all")  # with two classes there is no third place
    st.dataframe(shown, hide_index=True, key="sweep_table", column_config=_columns())
    widgets.download(table, "Sweep", "sweep", "sweep")
    at = zip(sweep.reliabilities, sweep.certainty, strict=True)
    every = partial(_by_case, view.cases, {typed(reliability): result.certainty[:, 0] for reliability, result in at})
    widgets.download(every, "Certainty of every case", "certainty_by_case", "sweep_cases", n_rows=view.n_cases)


def _by_case(cases: tuple[str, ...], certainty: dict[str, np.ndarray]) -> pd.DataFrame:
    """The certainty of every case at each reliability, as it is downloaded."""
    return pd.DataFrame({"case": list(cases)} | {f"certainty at {name}": each for name, each in certainty.items()})


def _classifiers(dataset: Dataset, view: Dataset, first, last) -> tuple[tuple, tuple]:
    """Classifiers of classes, and those of sets; files of them are taken in. Certainty of sets is of one label.

    Where a session finds some already, what is asked of them comes first, and the card for further ones below it. It
    stays there: one that moved while a file is chosen would close.
    """
    judged = dataset if dataset.kind == "set" else view
    key = f"_card_below-{st.session_state['data']}"
    with last if st.session_state.setdefault(key, bool(predictions.classifiers(judged))) else first:
        if dataset.kind == "set":
            set_classifiers.add(dataset)
        else:
            classifier_view.add_predictions(view)
    found = predictions.classifiers(judged)
    if dataset.kind == "set":
        return (), found
    with first:
        evidence.none_here(one.name for one in found)
    return found, ()


def _page() -> None:
    dataset = gold_of_reviews.applied(widgets.require_data().dataset)
    theme = look.theme()
    title = st.empty()
    title.title("How certain is the truth, and does trust change it?")
    if dataset.kind == "score":
        score_view.show(dataset, title, theme)
        return
    model, reliabilities, opened = _settings(dataset)
    view = plausibility_models.data_for(model.name, dataset)
    if not reliabilities:
        st.info("Choose at least one reliability.")
        return
    model = trusted_raters.asked_for(view, model, len(reliabilities))
    if model is None:
        return
    first, found, last = st.container(), st.container(), st.container()
    classifiers, sets = _classifiers(dataset, view, first, last)
    with found:
        sweep = sweeps.sweep(view, model, reliabilities, classifiers)
        if sweep is None:
            _so_far(sweeps.so_far(view, model, reliabilities, classifiers), reliabilities, view.n_classes, theme)
            return
        title.title(headline.over_trust(sweep))
        _found(dataset, view, model, reliabilities, opened, sweep, classifiers, sets, theme)


def _found(dataset, view, model, reliabilities, opened, sweep, classifiers, sets, theme) -> None:
    """What the sweep says, a tab for each question."""
    provenance.show(
        dataset,
        [model.name, "certainty", *(["classifiers"] if classifiers else [])],
        f"sweep {model.name} FILE{plausibility_models.options_of(model)} "
        f"--reliabilities {','.join(f'{typed(value)}' for value in reliabilities)}",
        {"model": model.name, **model.settings(), "reliabilities": list(reliabilities), **plausibility_models.SAMPLING},
        "reliability",
    )
    names = (
        (["Classifiers"] if sets or classifiers else [])
        + ["Certainty"]
        + (["Prediction sets"] if classifiers else [])
        + (["Risk"] if sweep.risk else [])
        + ["Relations", "What anchors γ"]
    )
    tabs = dict(zip(names, widgets.tabs(names, "reliability_tabs"), strict=True))
    # Only the open tab is worked out: another model on many cases takes a while, and other pages wait for it.
    if tabs["Certainty"].open:
        with tabs["Certainty"]:
            _certainty(view, model, sweep, theme)
    if classifiers and tabs["Classifiers"].open:
        with tabs["Classifiers"]:
            classifier_view.show(sweep, view, classifiers, opened, theme)
    if sets and tabs["Classifiers"].open:
        with tabs["Classifiers"]:
            set_classifiers.show(dataset, model, sets, opened)
    if classifiers and tabs["Prediction sets"].open:
        with tabs["Prediction sets"]:
            set_view.show(view, model, reliabilities, classifiers, opened, theme)
    if sweep.risk and tabs["Risk"].open:
        with tabs["Risk"]:
            relation_view.show_risk(view, sweep, theme)
    if tabs["What anchors γ"].open:
        with tabs["What anchors γ"]:
            anchors.show(view, model, theme)
    if tabs["Relations"].open:
        with tabs["Relations"]:
            relation_view.show_relations(dataset, view, sweep, model, sweeps.sweep, theme)


navigation.through_app()
_page()
