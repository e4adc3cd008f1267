"""Labels: the label of each case with its certainty and who decided it, as a file to use or to train on."""

from collections import Counter
from dataclasses import replace

import streamlit as st

from core.analyses.blocks import Download, Grid
from core.analyses.inputs import Inputs
from core.analyses.labels import LABELS, LabelsOptions, ScoreLabelsOptions
from core.analyses.labels.evidence import LabelEvidence, of_classes, of_sets
from core.analyses.labels.labels import labels_of
from core.analyses.models import MODELS, LabelOptions
from core.analyses.models.labels import fit_every_label
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.belongings import case_link
from core.errors import NotApplicableError
from core.ingest.case_facts import contents
from core.plausibility.dirichlet import DirichletCounts
from core.report.methods import methods_text
from core.runtime.jobs import Job
from core.text import markdown, plural, typed
from pages.shared.cache import access, visit
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.kit import (
    blocks,
    gold_of_reviews,
    job_progress,
    navigation,
    opening,
    plausibility_models,
    provenance,
    reliability_slider,
    scores,
    state,
    trusted_raters,
    widgets,
)

_MOST_ROWS = 1000


def _every_label(dataset: Dataset):
    """Return the fits of every label of sets, which the Models page shares; None while they are computed."""

    def work(job: Job):
        return fit_every_label(dataset.coded, options, token=job.token, progress=job.report)

    options = LabelOptions()
    key = (dataset.content_digest, MODELS.part("labels").name, options)
    return job_progress.result_of(key, "Fitting every label", work, of=dataset)


def _of_sets(dataset: Dataset) -> tuple[LabelEvidence, AnalysisSettings] | None:
    model = plausibility_models.made(DirichletCounts.name, dataset)
    settings = reliability_slider.in_use(dataset, model)
    every = _every_label(dataset) if dataset.raters_identified else None
    if every is None and dataset.raters_identified:
        return None
    certain = cached_cases.label_sets(dataset, model, settings.reliability)
    return of_sets(dataset, certain, None if every is None else every.fits), settings


def _of_classes(dataset: Dataset) -> tuple[LabelEvidence, AnalysisSettings] | None:
    model = plausibility_models.as_chosen(dataset)
    settings = reliability_slider.in_use(dataset, model, waits=True)
    if settings.reliability_open or settings.rater_model_open:
        st.caption(opening.CHOOSING if settings.reliability_open else opening.CHOOSING_RATERS)
        return None
    classes = cached.class_view(dataset, None)[0]
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    model = trusted_raters.asked_for(view, model)
    certain = None if model is None else plausibility_models.case_certainty(view, model, settings.reliability)
    if certain is None:
        return None
    judged = opening.choice(classes)
    return of_classes(dataset, classes, certain, None if judged is None else judged.averaged), settings


def _content() -> dict[str, dict[str, str]]:
    """Return text and link of the cases; the address of the viewer, if one is set, is the link."""
    reading, template = state.whole(), access.ReadRight(visit.data).link()
    found = contents(reading.facts)
    if template:
        found["link"] = {case: case_link(template, case) for case in reading.dataset.cases}
    return found


def _command(options: LabelsOptions | ScoreLabelsOptions, settings: AnalysisSettings, dataset: Dataset) -> str:
    """Return the command that gives the same labels, with FILE in the place of the file."""
    given = [f"--rule {options.rule}"]
    if isinstance(options, LabelsOptions):
        given += [f"--bar {typed(options.bar)}", f"--below {options.below}"]
        given += [f"--samples {options.samples}"] if options.samples else []
    flags = ("soft_labels", "weights", "text")
    given += [f"--{name.replace('_', '-')}" for name in flags if getattr(options, name, False)]
    model, prior = settings.plausibility, ""
    if not dataset.traits.needs_split:
        prior = plausibility_models.options_of(model, plausibility_models.data_for(model.name, dataset, quietly=True))
    named = "" if dataset.kind == "set" else f" --model {model.name}"
    return f"labels FILE {' '.join(given)}{named}{prior} --reliability {typed(settings.reliability)}"


def _found(dataset: Dataset, inputs, options) -> tuple | None:
    """Return the labels and the settings behind them; None while they are computed."""
    if dataset.kind == "score":
        fitted = scores.model(dataset, None)
        if fitted is None:
            return None
        settings = reliability_slider.in_use(dataset, fitted[0])
        asked = inputs(settings)
        return LABELS.part("score_labels").answer(asked, options), asked
    known = _of_sets(dataset) if dataset.kind == "set" else _of_classes(dataset)
    if known is None:
        return None
    evidence, settings = known
    asked = inputs(settings)
    return labels_of(asked, options, evidence), asked


def _table(grid: Grid, n_cases: int) -> None:
    """Draw the rows with the chosen statuses; the file keeps all rows."""
    table, counts = grid.table, Counter(grid.table["status"])
    about = "Shows only cases with the chosen statuses, for example to check them. Downloads are not filtered."
    how = {"help": about, "persist_state": "session"}
    if chosen := widgets.kinds(st, "Status", counts, "label_status", **how) if len(counts) > 1 else []:
        table = table[table["status"].isin(chosen)]
    table = table.head(_MOST_ROWS)
    if len(counts) > 1 or len(table) < n_cases:
        st.caption(f"{len(table):,} of {plural(n_cases, 'case')}")
    blocks.show([replace(grid, table=table)])


def _page() -> None:
    dataset = gold_of_reviews.applied(widgets.require_data().dataset)
    title = st.empty()
    title.title(LABELS.question)
    part = LABELS.part("score_labels" if dataset.kind == "score" else "labels")
    narrow, wide = st.columns([1, 3], gap="medium")
    with narrow.container(border=True):
        options = blocks.controls(part)
        place = st.container()
    reviews, n_kept_back = access.reviews_to_show(state.whole().dataset.digest)
    content = _content() if options.text else {}

    def inputs(settings: AnalysisSettings) -> Inputs:
        return Inputs(dataset, reviews=reviews, settings=settings, content=content)

    with wide:
        try:
            known = _found(dataset, inputs, options)
        except NotApplicableError as error:
            st.info(markdown(str(error)))
            known = None
    if known is None:
        return
    found, asked = known
    title.title(markdown(found.headline(getattr(options, "bar", None))))
    drawn = part.blocks(found, asked, options)
    with wide:
        own = {"labels_table": lambda grid: _table(grid, dataset.n_cases)}
        blocks.show((block for block in drawn if not isinstance(block, Download)), own)
        if dataset.kind != "score" and found.n_ready < len(found.labels):
            n_left = plural(len(found.labels) - found.n_ready, "other case")
            label = "Review all cases" if not found.n_ready else f"Review the {n_left}"
            st.page_link("pages/review.py", label=label, icon=":material/rate_review:")
        if n_kept_back and options.rule == "review":
            these = "this case" if n_kept_back == 1 else "these cases"
            st.caption(
                f"Reviews of {plural(n_kept_back, 'case')} are hidden, because you can still review {these} blind."
            )
    with place:
        methods = {"methods": methods_text(found.methods(asked))}
        blocks.show((block for block in drawn if isinstance(block, Download)), {"labels_file": lambda _: methods})
        st.caption(
            "The download menu also has “Settings”: a file of methods, settings, version, data digest and counts."
        )
        provenance.show(dataset, found.methods(asked), _command(options, asked.settings, dataset), {}, "labels")


navigation.through_app()
_page()
