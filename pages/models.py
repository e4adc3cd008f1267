"""Models: who is right, which raters are accurate, which cases are hard, and may the model be believed."""

from dataclasses import replace

import streamlit as st

from core.analyses.models import MODELS, covariate_seconds
from core.analyses.models.fits import (
    FittedModels,
    headline,
    most_and_least_accurate,
    remarks,
    restarts_in_words,
)
from core.analyses.models.labels import ABOUT, fit_every_label
from core.analyses.models.summary import badges
from core.annotations.dataset import Dataset
from core.models.average import METHOD as AVERAGE
from core.models.catalogue import Fitted, command_of
from core.models.classifier_evidence import evidence_settings
from core.models.rater_methods import any_rater_model
from core.plausibility.dirichlet import DirichletCounts
from core.raters.accuracy_threshold import why_not
from core.runtime.jobs import Job
from core.text import markdown
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import (
    blocks,
    covariates,
    evidence,
    gold_of_reviews,
    job_progress,
    navigation,
    opening,
    plausibility_models,
    provenance,
    rater_accuracy,
    reliability_slider,
    trusted_raters,
    widgets,
)
from pages.shared.models import choose as models_choose
from pages.shared.models import jobs as models_jobs

MOST_SIDE_BY_SIDE = 6
_TABS = (
    "Cases",
    "Raters",
    "Prevalence",
    "Checks",
    "Soft labels",
    "Models compared",
    "Calibration",
    "Fit details",
    "t-a-p",
    "Explore t-a-p",
    "Covariates",
)


def _restarts(shown: Fitted, n_restarts: int) -> Fitted:
    """Return the fit from the majority-vote start, or the best restart if it differs and the user chose it."""
    found = models_jobs.restarted(shown, n_restarts)
    if found is None:
        return shown
    blocks.show([restarts_in_words(shown.fit, found)])
    if not found.differs:
        return shown
    which = st.segmented_control(
        "Show",
        ["Fit from the majority vote", "Best restart"],
        default="Fit from the majority vote",
        required=True,
        key="which",
    )
    return replace(shown, fit=found.best) if which == "Best restart" else shown


def _shown(fitted: list[Fitted], n_restarts: int) -> Fitted:
    """Return the model that the tabs show, and draw the remarks on it."""
    titles = [one.title for one in fitted]
    place = 0
    if len(fitted) > 1:
        options = {"key": "model_shown", "help": "Model shown in the tabs", "persist_state": "session"}
        if visit.choice["model_shown"] not in titles:
            visit.choice["model_shown"] = titles[0]
        if len(titles) > MOST_SIDE_BY_SIDE:
            title = st.selectbox("In detail", titles, width=420, **options)
        else:
            title = st.segmented_control("In detail", titles, required=True, **options)
        place = titles.index(title) if title in titles else 0
    shown = _restarts(fitted[place], n_restarts)
    blocks.show(remarks(shown))
    return models_jobs.with_precision(shown)


def _covariates(view: Dataset) -> None:
    """Effects of columns about raters and cases, computed in the background."""
    part = MODELS.part("covariates")
    if not part.applicable(view).possible:
        blocks.answer(part, view)
        return
    options = covariates.choose(view)
    if options is None:
        return
    content = view.coded
    seconds = 0.0 if options.method == "nuts" else covariate_seconds(content)  # chains have children of their own

    def work(job: Job):
        return cached.run(job, part.function, content, content, options, seconds=seconds)

    key = (view.content_digest, part.compute, options)
    if (found := job_progress.result_of(key, part.work.title, work, of=view)) is not None:
        blocks.show(part.blocks(found, view, options))


def _headline(title, about: str, view: Dataset, models: FittedModels) -> None:
    """Draw the title: what weighing raters changes, or why the correct class cannot be determined.

    Parameters
    ----------
    title : DeltaGenerator
        Place of the title.
    about : str
        Text before the title.
    view : Dataset
        Data of single classes.
    models : FittedModels
    """
    first, second = headline(models)
    title.title(markdown(f"{about}{first}"))
    if second:
        st.markdown(markdown(second))
    elif why := why_not(models.shown.dataset):
        st.markdown(f"Cannot determine rater accuracy: {markdown(why)}.")
    else:
        _who_is_accurate(view)


def _who_is_accurate(view: Dataset) -> None:
    """Summarise in one line who is most accurate, as the Raters page does."""
    if view.n_annotations > rater_accuracy.MOST_ANNOTATIONS or not view.raters_identified:
        return
    found = rater_accuracy.judged(view)
    if found is None or found.act.following is not None:
        return
    if words := most_and_least_accurate(view.raters, found.act.acceptable.accuracy):
        blocks.show([words])


def _vote_alone(view: Dataset) -> None:
    """Draw the share of each class by majority vote."""
    blocks.answer(MODELS.part("vote"), view)
    st.page_link("pages/cases.py", label="Which cases are uncertain?", icon=":material/view_list:")


def _held_out_scores(view: Dataset) -> None:
    """Held-out scores of all models; nothing until they are done."""
    if (judged := opening.choice(view)) is not None:
        blocks.answer(MODELS.part("scores"), view, needed=judged)


def _compared(view: Dataset, models: FittedModels) -> None:
    """All models by their held-out scores, those that were fitted, and how far they agree."""
    _held_out_scores(view)
    names = ["agreement", *(["gold"] if MODELS.part("gold").applicable(models.shown.dataset).possible else [])]
    for name in ["summary", *names] if len(models.fitted) == 1 else names:
        blocks.answer(MODELS.part(name), view, needed=models)


def _every_label(dataset: Dataset) -> None:
    """Every label of sets at once, fitted in the background."""
    st.caption(ABOUT)
    part = MODELS.part("labels")
    options = blocks.controls(part)

    def work(job: Job):
        return fit_every_label(dataset.coded, options, token=job.token, progress=job.report)

    key = (dataset.content_digest, part.name, options)
    if (found := job_progress.result_of(key, "Fitting every label", work, of=dataset)) is not None:
        blocks.show(part.blocks(found, dataset, options))


def _page() -> None:
    dataset = widgets.require_data().dataset
    title = st.empty()
    title.title(MODELS.question)
    dataset = gold_of_reviews.switched(dataset)
    view = widgets.class_view(dataset)
    verdict = any_rater_model(view)
    if not verdict.possible:
        title.title("Only a majority vote is possible with these data")
        st.info(f"Cannot fit rater models: {markdown(verdict.reason)}.", icon=":material/block:")
        _vote_alone(view)
        return
    requests, n_restarts = models_choose.choose(view)
    fitted = models_jobs.fits(view, requests)
    if not fitted:
        if models_choose.vote_opens(view):
            title.title("Majority vote: these data cannot show how good a rater model is")
            _vote_alone(view)
            _held_out_scores(view)
        elif not requests:
            st.info("Choose at least one model.")
        return
    shown = _shown(fitted, n_restarts)
    fitted = [shown if one.request == shown.request else models_jobs.with_precision(one) for one in fitted]
    both = [evidence.counted(one) for one in fitted]
    shown, weight = next(pair for pair, one in zip(both, fitted, strict=True) if one is shown)
    models = FittedModels(tuple(one for one, _ in both), shown, models_jobs.vote_of(shown))
    models_choose.keep_choice(view, shown.request)
    if not models_choose.is_open(view):
        _headline(title, f"“{view.classes[1]}”: " if dataset.kind == "set" else "", view, models)
    if shown.request.method is AVERAGE:
        blocks.answer(MODELS.part("average"), view, needed=opening.choice(view))
    evidence.say(shown, weight)
    if len(fitted) > 1:
        blocks.answer(MODELS.part("summary"), view, needed=models)
    blocks.show(badges(models))
    _tabs(dataset, view, models)
    provenance.show(
        dataset,
        ["rater models"],
        command_of(shown.request) + evidence.command_part(shown),
        {"model": shown.request.model, "method": shown.request.way, **dict(shown.request.options)}
        | evidence_settings(shown.fit),
        "models",
    )


def _soft_labels(view: Dataset, models: FittedModels) -> None:
    """Probabilities of the model in detail, and the way to the labels of the average."""
    blocks.answer(MODELS.part("soft_labels"), view, needed=models)
    st.page_link(
        "pages/labels.py", label="Labels of all cases, with certainty and review status", icon=":material/label:"
    )


def _calibration(dataset: Dataset, view: Dataset, models: FittedModels) -> None:
    """P(correct) of the model in detail and certainty, as on the Cases page, against gold."""
    if dataset.kind == "class":
        model = trusted_raters.or_default(dataset, plausibility_models.as_chosen(dataset))
        settings = reliability_slider.in_use(dataset, model, waits=True)
    else:  # Certainty on the Cases page may be of other data than single classes.
        settings = opening.settings(view, DirichletCounts(), view)
    part = MODELS.part("calibration").with_options(
        plausibility=settings.plausibility, reliability=settings.reliability, origin=gold_of_reviews.origin()
    )
    blocks.answer(part, view, needed=models)


def _tabs(dataset: Dataset, view: Dataset, models: FittedModels) -> None:
    """Draw a tab for each part that depends on the fits."""
    own = {
        "All labels": lambda: _every_label(dataset),
        "Models compared": lambda: _compared(view, models),
        "Calibration": lambda: _calibration(dataset, view, models),
        "Soft labels": lambda: _soft_labels(view, models),
        "Covariates": lambda: _covariates(view),
    }
    for part in (MODELS.part("tap"), MODELS.part("explore"), *MODELS.declared):
        own[part.title] = lambda part=part: blocks.answer(part, view)
    parts = {part.title: part for part in MODELS.parts}
    every = dataset.kind == "set" and dataset.raters_identified
    left_out = {"Raters"} if models.shown.request.way == "vote" else set()
    if not MODELS.part("calibration").applicable(models.shown.dataset).possible:
        left_out.add("Calibration")
    names = [name for name in (*_TABS, *(part.title for part in MODELS.declared)) if name not in left_out]
    names = ["All labels", *names] if every else names
    for name, tab in zip(names, widgets.tabs(names, "model_tabs"), strict=True):
        if tab.open:
            with tab:
                if name in own:
                    own[name]()
                else:
                    blocks.answer(parts[name], view, needed=models)


navigation.through_app()
_page()
