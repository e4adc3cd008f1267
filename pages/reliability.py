"""Reliability: how certain the truth is, and how good classifiers are, against how much the raters are trusted."""

from dataclasses import replace

import streamlit as st

from core.analyses.cases import of_label
from core.analyses.groups import GROUPS
from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, MetricOptions, SweepOptions, other_model
from core.analyses.reliability import certainty as certainty_analysis
from core.analyses.reliability import models as another_model
from core.analyses.reliability import set_classifiers as analysis
from core.analyses.reliability.classifiers import lines
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.certainty.classifier_prior import ClassifierPrior
from core.certainty.plausibilities import Plausibilities, plausibilities
from core.certainty.shares import certainty_shares
from core.errors import PluralityError
from core.evaluation.further_metrics import FurtherMetrics, further_metrics
from core.evaluation.metrics import TOP, PointScores, first_metric
from core.evaluation.set_metrics import SetMetrics, set_metrics
from core.evaluation.set_predictions import known_sets
from core.evaluation.sweep_table import SweepTable
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.jobs import Job
from core.text import exact, markdown, plural, typed
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import (
    blocks,
    class_order,
    evidence,
    expected,
    gold_of_reviews,
    groups,
    job_progress,
    navigation,
    own_predictions,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    trusted_raters,
    widgets,
)
from pages.shared.kit import sweep as sweeps
from pages.shared.reliability import anchors, prediction_sets
from pages.shared.reliability import scores as score_view

_KNOWN, _PLAUSIBLE = "Known sets (gold)", "Plausible truths"
_PER_CASE = 4e-4  # seconds of 1,000 draws of a case and classifier


def _show_set_classifiers(inputs: Inputs, options: SweepOptions) -> None:
    """How good the sets of each classifier are, as a whole and by label."""
    gold = known_sets(inputs.dataset)
    if gold is not None and _asked_for_gold():
        inputs = replace(inputs, gold=gold)
    elif not isinstance(inputs.settings.plausibility, DirichletCounts):
        st.info("To evaluate predicted sets, choose Dirichlet counts as the model above.", icon=":material/info:")
        return
    found = _set_metrics(inputs, options)
    if found is not None:
        blocks.show(RELIABILITY.part("set_classifiers").blocks(found, inputs, options))


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


def _set_metrics(inputs: Inputs, options: SweepOptions) -> SetMetrics | None:
    dataset, found, gold, reliability = inputs.dataset, inputs.predictions, inputs.gold, inputs.settings.reliability
    if gold is not None and not any((one.predicted & gold.predicted).any() for one in found):
        st.info("No case has both a prediction and a gold set.", icon=":material/info:")
        return None
    counts = analysis.counts(inputs)

    def work(job: Job) -> SetMetrics:
        return cached.run(
            job, set_metrics, dataset.coded, dataset.coded, found, model=counts, reliability=reliability, gold=gold,
            n_draws=options.n_draws, seed=options.seed, seconds=_PER_CASE * dataset.n_cases * len(found),
        )  # fmt: skip

    who = tuple((one.name, predictions.fingerprint_of(one.applies, one.predicted)) for one in found)
    what = "set metrics" if gold is None else "Set metrics by gold"
    key = plausibility_models.job_key(dataset, counts, what, reliability, who)
    return job_progress.result_of(key, "Predicted sets", work, of=dataset)


def _show_plausibilities(inputs: Inputs, options: SweepOptions) -> None:
    """Plausibilities at the γ that the data open with, to download."""
    dataset, model, reliability = inputs.dataset, inputs.settings.plausibility, inputs.settings.reliability

    def work(job: Job) -> Plausibilities:
        return cached.run(
            job, plausibilities, dataset.coded, model, dataset.coded, reliability=reliability,
            n_draws=options.n_draws, seed=options.seed, seconds=expected.of_draws(dataset, model, 1),
        )  # fmt: skip

    key = plausibility_models.job_key(dataset, model, "plausibilities", reliability)
    found = job_progress.result_of(key, "Plausibilities", work, of=dataset)
    if found is not None:
        blocks.show(RELIABILITY.part("plausibilities").blocks(found, inputs, options))


def _show_metrics(inputs: Inputs) -> None:
    """Rankings and probabilities of the classifiers, at the γ that the data open with."""
    part = RELIABILITY.part("metrics")
    options = blocks.controls(part)
    found = _further_metrics(inputs, options)
    if found is not None:
        blocks.show(part.blocks(found, inputs, options))


def _further_metrics(inputs: Inputs, options: MetricOptions) -> FurtherMetrics | None:
    dataset, found, model = inputs.dataset, inputs.predictions, inputs.settings.plausibility

    def work(job: Job) -> FurtherMetrics:
        return cached.run(
            job, further_metrics, dataset.coded, model, dataset.coded, found,
            reliability=inputs.settings.reliability, top=options.k, target=min(options.j, options.k),
            n_draws=options.n_draws, seed=options.seed, seconds=expected.of_draws(dataset, model, 1),
        )  # fmt: skip

    who = tuple((one.name, predictions.fingerprint(one)) for one in found)
    key = plausibility_models.job_key(
        dataset, model, "further metrics", inputs.settings.reliability, options.k, options.j, who
    )
    return job_progress.result_of(key, "Further metrics", work, of=dataset)


def _settings(dataset: Dataset):
    left, middle, more = reliability_slider.places()
    name = plausibility_models.choose_model(middle, dataset)
    offer = plausibility_models.method(name).reliability
    opened = reliability_slider.opens(dataset, plausibility_models.as_chosen(dataset))
    default = sweeps.reliabilities(name, opened)
    chosen = left.pills(
        "Values of γ",
        sorted({*offer.choices, opened}),
        default=default,
        selection_mode="multi",
        format_func=exact,
        key=f"reliabilities-{name}" + ("" if default == offer.sweep else f"-{typed(opened)}"),
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    model = plausibility_models.as_chosen(dataset)
    if plausibility_models.has_prior(name, dataset):
        with more.popover("More", key="more_reliability"):
            model = plausibility_models.choose_prior(st, name, dataset)
    reliability_slider.marks(dataset, model)
    class_order.say(dataset, name)
    return model, tuple(sorted(chosen)), opened


def _so_far(found: SweepTable | PointScores | None, reliabilities: tuple[float, ...], n_classes: int) -> None:
    """Draw the figures of the first tab for the reliabilities that are done; sentences need all of them."""
    if found is None:
        return
    sweep, scores = (found, None) if isinstance(found, SweepTable) else (SweepTable((), ()), found)
    n = plural(len(reliabilities), "value of γ", "values of γ")
    more = " ×: score against a single label per case, which does not depend on γ." if scores else ""
    st.caption(f"{len(sweep.reliabilities):,} of {n} computed.{more}")
    if sweep.evaluation or scores:
        metric = visit.choice["metric"] or first_metric(TOP, n_classes)
        blocks.show([lines(reliabilities, sweep.evaluation, metric, scores)])
    else:
        blocks.show([certainty_analysis.figures_of(sweep, reliabilities)])


def _classifiers(dataset: Dataset, view: Dataset, first, last) -> tuple[tuple, tuple]:
    """Classifiers of classes, and those of sets; files of them are taken in. Certainty of sets is of one label.

    Where a session finds some already, what is asked of them comes first, and the card for further ones below it. It
    stays there: one that moved while a file is chosen would close.
    """
    judged = dataset if dataset.kind == "set" else view
    with last if visit.flag.begin(f"_card_below-{visit.data}", bool(predictions.classifiers(judged))) else first:
        own_predictions.add_classifiers(judged)
    found = predictions.classifiers(judged)
    if dataset.kind == "set":
        return (), found
    with first:
        evidence.none_here(one.name for one in found)
    return found, ()


def _page() -> None:
    dataset = gold_of_reviews.applied(widgets.require_data().dataset)
    title = st.empty()
    title.title("How does certainty change with γ?")
    if dataset.kind == "score":
        score_view.show(dataset, title)
        return
    label = st.container()
    model, reliabilities, opened = _settings(dataset)
    with label:
        view = plausibility_models.data_for(model.name, dataset)
    if not reliabilities:
        st.info("Choose at least one value of γ.")
        return
    model = trusted_raters.asked_for(view, model, len(reliabilities))
    if model is None:
        return
    first, found, last = st.container(), st.container(), st.container()
    classifiers, sets = _classifiers(dataset, view, first, last)
    with found:
        sweep = sweeps.sweep(view, model, reliabilities, classifiers)
        if sweep is None:
            _so_far(sweeps.so_far(view, model, reliabilities, classifiers), reliabilities, view.n_classes)
            return
        shares = certainty_shares(view, model, sweep.certainty[0], reliability=reliabilities[0])
        title.title(certainty_analysis.over_trust(sweep, shares, of_label(dataset, view, markdown)))
        inputs = Inputs(view, predictions=classifiers, settings=AnalysisSettings(model, opened))
        _found(dataset, inputs, sweep, sets)


def _found(dataset: Dataset, inputs: Inputs, sweep: SweepTable, sets: tuple) -> None:
    """Draw the headline of the sweep, and a tab for each question."""
    model, classifiers, reliabilities = inputs.settings.plausibility, inputs.predictions, sweep.reliabilities
    provenance.show(
        dataset,
        [model.name, "certainty", *(["classifiers"] if classifiers else [])],
        f"sweep {model.name} FILE{plausibility_models.options_of(model, inputs.dataset)} "
        f"--reliabilities {','.join(f'{typed(value)}' for value in reliabilities)}",
        {"model": model.name, **model.settings(), "reliabilities": list(reliabilities), **plausibility_models.SAMPLING},
        "reliability",
    )
    options = SweepOptions(reliabilities, plausibility_models.N_DRAWS, plausibility_models.SEED)

    def part(name: str) -> None:
        blocks.show(RELIABILITY.part(name).blocks(sweep, inputs, options))

    tabs = {}
    if sets:
        of_sets = Inputs(dataset, predictions=sets, settings=inputs.settings)
        tabs["Classifiers"] = lambda: _show_set_classifiers(of_sets, options)
    elif classifiers:
        tabs["Classifiers"] = lambda: part("classifiers")
    tabs["Certainty"] = lambda: part("certainty")
    if classifiers:
        tabs["Further metrics"] = lambda: _show_metrics(inputs)
        tabs["Prediction sets"] = lambda: prediction_sets.show(inputs, reliabilities)
    if classifiers and GROUPS.parts[0].applicable(inputs.dataset).possible:
        tabs[GROUPS.title] = lambda: _groups(inputs)
    if sweep.risk:
        tabs["Risk"] = lambda: part("risk")
    tabs["Relations"] = lambda: _relations(dataset, inputs, sweep, options)
    if not inputs.dataset.traits.needs_split:
        tabs["Soft labels"] = lambda: _show_plausibilities(inputs, options)
    tabs["How γ is chosen"] = lambda: anchors.show(inputs.dataset, model)
    # Only the open tab is worked out: another model on many cases takes a while, and other pages wait for it.
    for name, tab in zip(tabs, widgets.tabs(list(tabs), "reliability_tabs"), strict=True):
        if tab.open:
            with tab:
                tabs[name]()


def _groups(inputs: Inputs) -> None:
    """Classifiers measured by each group of raters."""
    facts = groups.ask(inputs.dataset)
    if facts is None:
        return
    part = RELIABILITY.part("groups").with_options(facts=facts)
    try:
        blocks.show(part.blocks(part.answer(inputs), inputs))
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")


def _relations(dataset: Dataset, inputs: Inputs, sweep: SweepTable, options: SweepOptions) -> None:
    """Certainty against agreement, and against another model, which is a sweep of its own."""
    left, right = st.columns(2, gap="large")
    with left:
        blocks.show(RELIABILITY.part("relations").blocks(sweep, inputs, options))
    own = inputs.settings.plausibility.name
    other = other_model(plausibility_models.offered(dataset), own)
    if other is not None:
        _another_model(dataset, inputs, sweep, options, other, right)
    _evidence(inputs, options)


def _another_model(
    dataset: Dataset, inputs: Inputs, sweep: SweepTable, options: SweepOptions, other: str, right
) -> None:
    """Certainty and classifiers under another model, next to those under the chosen one."""
    own = inputs.settings.plausibility.name
    with right:
        rival = plausibility_models.made(other, dataset)
        blocks.show([another_model.heading(other)])
        eaten = plausibility_models.data_for(other, dataset, quietly=True)
        both = predictions.classifiers(eaten) if inputs.predictions else ()
        second = sweeps.sweep(eaten, rival, another_model.scale_of(other), both, "Certainty under another model")
        if second is None:
            return
        found = another_model.compared(own, sweep, rival, second)
        blocks.show(another_model.by_case(found, inputs))
    blocks.show([another_model.over_reliabilities(found, inputs, options), another_model.CAUTION])


def _evidence(inputs: Inputs, options: SweepOptions) -> None:
    """Certainty with each classifier as evidence for plausibilities."""
    part = RELIABILITY.part("evidence")
    if not part.applicable(inputs).possible:
        return

    def work(job: Job) -> tuple[ClassifierPrior, ...]:
        return part.answer(inputs, options, token=job.token, progress=job.report)

    who = tuple((one.name, predictions.fingerprint(one)) for one in inputs.predictions)
    model, reliability = inputs.settings.plausibility, inputs.settings.reliability
    key = plausibility_models.job_key(inputs.dataset, model, "classifier as evidence", reliability, who)
    found = job_progress.result_of(key, "Classifier as evidence", work, of=inputs.dataset)
    if found is not None:
        blocks.show(part.blocks(found, inputs, options))


navigation.through_app()
_page()
