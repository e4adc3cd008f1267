"""Reliability of scores: how well they are known against the trust, and predictors over plausible truths."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.score_trust import ScoreTrust, score_trust
from core.certainty.scores_by_gold import scores_by_gold
from core.evaluation.score_errors import ScoreErrors, errors_verdict, score_errors
from core.figures import scores as figures
from core.models.gold import gold_cases
from core.plausibility.gaussian import METHOD, GaussianScores
from core.runtime.jobs import Job
from core.text import exact, markdown, number, plural, typed
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import datasets as cached
from pages.shared.kit import (
    columns,
    job_progress,
    own_predictions,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    scores,
    widgets,
)
from pages.shared.reliability import anchors

_PER_CASE = 1e-4  # seconds, of 1,000 draws of a case


def show(dataset: Dataset, title, theme) -> None:
    """The page. ``title`` is the place of its first sentence."""
    left, middle, more = st.columns([5, 3, 2], vertical_alignment="bottom")
    at = scores.threshold(middle)
    found = scores.model(dataset, at)
    if found is None:
        return
    model, prior = found
    opened = reliability_slider.opens(dataset, model)
    default = sorted({*METHOD.reliability.sweep, opened})
    chosen = left.pills(
        "Reliabilities γ",
        sorted({0.3, 0.5, 5.0, 10.0, *METHOD.reliability.choices, opened}),
        default=default,
        selection_mode="multi",
        format_func=exact,
        key=f"reliabilities-{METHOD.name}-{typed(opened)}",
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    with more.popover("More", key="more_reliability"):
        scores.about_prior(prior)
    reliability_slider.marks(dataset, model)
    if not chosen:
        st.info("Choose at least one reliability.")
        return
    trust = score_trust(dataset, model, chosen)
    title.title(_sentence(trust))
    predictors = predictions.classifiers(dataset)
    _provenance(dataset, model, trust, bool(predictors))
    names = ["Certainty", *(["Predictors"] if predictors else []), "What anchors γ"]
    tabs = dict(zip(names, widgets.tabs(names, "reliability_tabs"), strict=True))
    if tabs["Certainty"].open:
        with tabs["Certainty"]:
            _certainty(dataset, model, trust, theme)
    if predictors and tabs["Predictors"].open:
        with tabs["Predictors"]:
            _predictors(dataset, model, predictors, trust, opened, theme)
    if tabs["What anchors γ"].open:
        with tabs["What anchors γ"]:
            anchors.of_scores(dataset, model, theme)
    _add(dataset)


def _provenance(dataset: Dataset, model: GaussianScores, trust: ScoreTrust, judged: bool) -> None:
    values = [float(value) for value in trust.reliability]
    given = scores.settings(model, values[0]) | {"reliabilities": values}
    given.pop("reliability")
    more = plausibility_models.SAMPLING if judged else {}
    line = f"sweep {METHOD.name} FILE --reliabilities {','.join(f'{typed(value)}' for value in values)}"
    provenance.show(dataset, [METHOD.name], line, given | more, "reliability")


def _sentence(trust: ScoreTrust) -> str:
    """What the trust does, over all cases."""
    first, last = trust.reliability[0], trust.reliability[-1]
    if trust.above is None:
        digits = scores.digits_of(trust.width[-1])
        wide = [scores.written(float(np.median(width)), digits) for width in (trust.width[0], trust.width[-1])]
        if len(trust.reliability) == 1:
            return f"The interval of the median case is {wide[0]} wide at γ = {exact(first)}"
        return (
            f"The interval of the median case is {wide[0]} wide at γ = {exact(first)}, {wide[1]} at γ = {exact(last)}"
        )
    below = (trust.certainty < UNCERTAIN_BELOW).sum(axis=1)
    n, t = trust.m.shape[1], exact(trust.threshold)
    stays = f"whether it lies above {t} stays uncertain"
    if len(trust.reliability) == 1:
        return f"In {below[0]:,} of {plural(n, 'case')} {stays} at γ = {exact(first)}"
    return (
        f"In {below[0]:,} of {plural(n, 'case')} {stays} at γ = {exact(first)}, in {below[-1]:,} at γ = {exact(last)}"
    )


def _certainty(dataset: Dataset, model: GaussianScores, trust: ScoreTrust, theme) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        figure = figures.widths(trust, theme, "Line: median case · band: the middle half of the cases")
        widgets.plot(figure, "score_widths", "Width of the intervals against reliability")
    with right:
        if trust.above is None:
            st.caption("Set a threshold to see how sure each case lies above it or not.")
        else:
            figure = figures.sides(trust, theme, f"Above {exact(trust.threshold)} or not, every case")
            widgets.plot(figure, "score_sides", "Probability of lying above the threshold, all cases sorted")
    table = table_of(dataset, trust)
    widgets.heading("The numbers", METHOD)
    digits = scores.digits_of(trust.width[0]) + 1
    if "error" in table:
        at = int(np.argmin(np.abs(np.log(trust.reliability / reliability_slider.opens(dataset, model)))))
        st.markdown(markdown(scores_by_gold(dataset, trust).words(at, digits)))
    shown = {
        "reliability": st.column_config.NumberColumn("reliability γ", format="%g"),
        "certainty": st.column_config.NumberColumn("mean certainty", format=columns.THREE),
        **{name: scores.column(label, digits) for name, label in (_WIDTHS | _ERRORS).items()},
        **{name: st.column_config.NumberColumn(label, format=columns.TWO) for name, label in _HELD.items()},
        **columns.counts(**{name: name for name in table if name.startswith("below ")}),
    }
    st.dataframe(table, hide_index=True, key="sweep_table", column_config=shown)
    widgets.download(table, "Sweep", "sweep", "sweep")
    cases = pd.DataFrame({"case": list(dataset.cases)})
    for place, reliability in enumerate(trust.reliability):
        for name in ("m", "low", "high", *([] if trust.above is None else ["above"])):
            cases[f"{_CASES[name]} at {typed(reliability)}"] = getattr(trust, name)[place]
    widgets.download(cases, "Score of every case", "scores_by_case", "sweep_cases")


_WIDTHS = {"width_quarter": "width, quarter", "width_median": "median", "width_three_quarters": "three quarters"}
_CASES = {"m": "score", "low": "95% from", "high": "95% to", "above": "P(above)"}


_ERRORS = {"error": "off from gold", "error_low": "95% from", "error_high": "to"}
_HELD = {"held": "intervals that hold it", "held_low": "95% from ", "held_high": "to "}


def table_of(dataset: Dataset, trust: ScoreTrust) -> pd.DataFrame:
    """One row for each γ."""
    quarter, median, three = trust.quartiles
    columns_ = {"reliability": trust.reliability, "width_quarter": quarter, "width_median": median}
    table = pd.DataFrame(columns_ | {"width_three_quarters": three})
    if trust.above is not None:
        table["certainty"] = trust.certainty.mean(axis=1)
        for level in (0.9, 0.99):
            table[f"below {number(level)}"] = (trust.certainty < level).sum(axis=1)
    if len(gold_cases(dataset)):
        for name, values in scores_by_gold(dataset, trust).to_frame().items():
            table[name] = values.to_numpy()
    return table


def _errors(dataset: Dataset, model: GaussianScores, found: tuple, trust: ScoreTrust) -> tuple[ScoreErrors, ...] | None:
    values = tuple(float(value) for value in trust.reliability)

    def work(job: Job) -> tuple[ScoreErrors, ...]:
        done = []
        for place, value in enumerate(values):
            done.append(
                cached.run(
                    job, score_errors, dataset.coded, dataset.coded, model, found, reliability=value,
                    n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED,
                    seconds=_PER_CASE * dataset.n_cases,
                )
            )  # fmt: skip
            job.report((place + 1) / len(values))
        return tuple(done)

    who = tuple((one.name, predictions.fingerprint(one)) for one in found)
    key = plausibility_models.job_key(dataset, model, "score errors", values, who)
    return job_progress.result_of(key, "Errors of predictors", work, of=dataset)


def _predictors(dataset: Dataset, model: GaussianScores, found, trust: ScoreTrust, opened: float, theme) -> None:
    errors = _errors(dataset, model, found, trust)
    if errors is None:
        return
    metric = st.segmented_control(
        "Error",
        errors[0].metrics,
        default=errors[0].metrics[0],
        required=True,
        format_func=figures.METRIC_TITLES.get,
        key="score_metric",
        persist_state="session",
    )
    st.subheader(markdown(errors_verdict(errors)), anchor=False)
    widgets.plot(
        figures.errors_against_trust(
            errors,
            metric,
            theme,
            "Line: mean over plausible truths · band: 95% of them · ×: against the mean plausible scores",
        ),
        "score_errors",
        "Error of each predictor against reliability",
    )
    nearest = min(errors, key=lambda one: abs(np.log(one.reliability / opened)))
    frame = nearest.to_frame()
    frame["metric"] = frame["metric"].map(figures.METRIC_TITLES)
    widgets.heading(f"At γ = {exact(nearest.reliability)}")
    labels = {"mean": "mean", "low": "95% from", "high": "to", "total_low": "with cases, from", "total_high": "to ",
              "point": "against the means"}  # fmt: skip
    shown = {name: st.column_config.NumberColumn(label, format=columns.THREE) for name, label in labels.items()}
    st.dataframe(
        frame, hide_index=True, key="score_errors_table", column_config=shown | columns.counts(n_cases="cases")
    )
    st.caption(
        "From and to: over plausible truths; with cases: also over which cases are in the data. An error against "
        "uncertain truth is never 0: it holds what is not known of the truth."
    )
    every = pd.concat([one.to_frame().assign(reliability=one.reliability) for one in errors], ignore_index=True)
    widgets.download(every, "Errors", "score_errors", "score_errors_file")
    if len(nearest.predictors) > 1:
        names = list(nearest.predictors)
        better = pd.DataFrame(nearest.better, columns=names, index=pd.Index(names))
        widgets.heading("P(row has the lower absolute error than column)", "better")
        st.dataframe(better, column_config=columns.fine(*names), placeholder="–", key="better")
        better.insert(0, "predictor", names, allow_duplicates=True)
        widgets.download(better, "P(better)", "better", "better")


def _add(dataset: Dataset) -> None:
    own_predictions.add(
        dataset,
        "Add predicted scores",
        "CSV, TSV or Parquet: one row per case (case, score, perhaps predictor), or a column for each predictor",
    )
