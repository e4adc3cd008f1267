"""Classifiers of sets of labels: Jaccard and the metrics of each label over plausible truths."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.evaluation.set_metrics import WHOLE, SetMetrics, set_metrics
from core.evaluation.set_predictions import SetPredictions, known_sets
from core.extremes import clearly_most
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import PlausibilityModel
from core.runtime.jobs import Job
from core.text import exact, markdown, number, plural, with_interval
from pages.shared.cache import datasets as cached
from pages.shared.kit import columns, job_progress, own_predictions, plausibility_models, predictions, widgets

TITLES = {
    "jaccard": "Jaccard, mean over cases", "exact": "the very set", "micro_f1": "F1 over all labels",
    "macro_f1": "F1, mean over labels",
}  # fmt: skip
_KNOWN, _PLAUSIBLE = "Known sets (gold)", "Plausible truths"
_PER_CASE = 4e-4  # seconds of 1,000 draws of a case and classifier


def add(dataset: Dataset) -> None:
    """Take in a file of predicted sets, and say what does not match."""
    own_predictions.add(
        dataset,
        "Add predictions of classifiers",
        "CSV, TSV or Parquet: one row per case with all labels in a cell (case, labels, perhaps classifier), or a "
        "column for each label with 0 and 1 or probabilities",
    )


def show(dataset: Dataset, model: PlausibilityModel, found: tuple[SetPredictions, ...], reliability: float) -> None:
    """How good the sets of each classifier are, as a whole and by label."""
    gold = known_sets(dataset)
    by_gold = gold is not None and _asked_for_gold()
    if not by_gold and not isinstance(model, DirichletCounts):
        st.info("Predicted sets are judged by Dirichlet counts: choose them above.", icon=":material/info:")
        return
    result = _metrics(dataset, model, found, reliability, gold if by_gold else None)
    if result is None:
        return
    st.subheader(markdown(verdict(result, by_gold)), anchor=False)
    frame = result.to_frame()
    whole = frame[frame["metric"].isin(WHOLE)].assign(metric=lambda rows: rows["metric"].map(TITLES))
    labels = {"mean": "mean", "low": "95% from", "high": "to", "total_low": "with cases, from", "total_high": "to "}
    shown = {name: st.column_config.NumberColumn(label, format=columns.THREE) for name, label in labels.items()}
    shown |= columns.counts(n_cases="cases")
    widgets.heading("The sets, against gold" if by_gold else f"The sets, at γ = {exact(reliability)}")
    st.dataframe(whole, hide_index=True, key="set_metrics", column_config=shown)
    widgets.heading("Each label")
    each = frame[~frame["metric"].isin(WHOLE)]
    each = each.assign(metric=each["metric"].str.replace("^f1", "F1", regex=True))
    st.dataframe(each, hide_index=True, key="label_metrics", column_config=shown)
    st.caption(
        "With cases: over which cases are in the data; gold is taken for certain, so from and to are the mean itself."
        if by_gold
        else "From and to: over plausible truths; with cases: also over which cases are in the data. Labels are taken "
        "as independent; “none of these” applies where no other does. Against an uncertain truth nothing scores 1."
    )
    widgets.download(frame, "Metrics", "set_metrics", "set_metrics_file")


def _asked_for_gold() -> bool:
    asked = st.segmented_control(
        "Judged against",
        [_KNOWN, _PLAUSIBLE],
        default=_KNOWN,
        required=True,
        key="sets_against",
        persist_state="session",
    )
    return asked == _KNOWN


def verdict(result: SetMetrics, by_gold: bool = False) -> str:
    """Which classifier clearly has the largest mean Jaccard, with its interval; or that the best two do not differ."""
    what = "the known sets" if by_gold else "what the labels"
    mean, low, high = result.mean[:, 0], result.total_low[:, 0], result.total_high[:, 0]
    best = int(mean.argmax())
    ends = with_interval(mean[best], low[best], high[best])
    said = f"{result.classifiers[best]} has a Jaccard of {ends}"
    cases = plural(int(result.n_cases[best]), "case")
    others = [who for who in range(len(mean)) if who != best]
    if not others:
        return f"{said} with {what} of {cases}{'' if by_gold else ' could be'}"
    others.sort(key=lambda who: -mean[who])
    near = [who for who in others if clearly_most(*(part[[best, who]] for part in (mean, low, high))) is None]
    second = (near or others)[0]
    if near:
        other = f"{result.classifiers[second]} ({number(mean[second])})"
        return f"{result.classifiers[best]} and {other} do not clearly differ: Jaccard {ends}"
    return f"{said}, {result.classifiers[second]} {number(mean[second])}"


def _metrics(
    dataset: Dataset, model: PlausibilityModel, found, reliability: float, gold: SetPredictions | None
) -> SetMetrics | None:
    if gold is not None and not any((one.predicted & gold.predicted).any() for one in found):
        st.info("No case has both a prediction and a known set.", icon=":material/info:")
        return None
    counts = model if isinstance(model, DirichletCounts) else DirichletCounts()

    def work(job: Job) -> SetMetrics:
        return cached.run(
            job, set_metrics, dataset.coded, dataset.coded, found, model=counts, reliability=reliability, gold=gold,
            n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED,
            seconds=_PER_CASE * dataset.n_cases * len(found),
        )  # fmt: skip

    who = tuple((one.name, predictions.fingerprint_of(one.applies, one.predicted)) for one in found)
    what = "set metrics" if gold is None else "set metrics by gold"
    key = plausibility_models.job_key(dataset, counts, what, reliability, who)
    return job_progress.result_of(key, "Predicted sets", work, of=dataset)
