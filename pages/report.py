"""Report: choose sections, see it as it will be, export it as one file that opens by double-click."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from core.analyses.comparisons import ORDER
from core.analysis_settings import AnalysisSettings, compute_settings
from core.annotations.dataset import Dataset
from core.evaluation.metrics import TOP
from core.ingest.samples import SAMPLES
from core.methods import as_taken
from core.plausibility.gaussian_prior import fit_prior
from core.plausibility.protocol import PlausibilityModel, offered
from core.reducers.top_draws import can_keep
from core.report.build import SECTIONS, OtherQuestion, ReportRequest, build_report
from core.report.hidden_names import hidden
from core.report.reference_standard import TO_WRITE, build_reference_standard
from core.review.random_sample import ReviewedBy, reviewed_by
from core.review.states import CaseReview
from core.runtime.chunks import CancelToken
from core.runtime.jobs import Job
from core.text import markdown, number, plural
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import (
    covariates,
    gate,
    gold_of_reviews,
    groups,
    job_progress,
    navigation,
    opening,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    scores,
    state,
    studies,
    sweep,
    trusted_raters,
    widgets,
)

_DOCUMENTS = {
    "docx": ("Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    "html": ("HTML", "text/html"),
}


def _request(
    reading, dataset: Dataset, settings: AnalysisSettings, sweep: tuple[float, ...], threshold: float | str | None
) -> ReportRequest:
    view = as_taken(plausibility_models.method(settings.plausibility.name), dataset, threshold)[0]
    chosen, whole = state.counted(), state.whole()
    reviews, n_kept_back = access.reviews_to_show(whole.dataset.digest)
    beside, marked = state.with_machines() or (reading, ())
    out = state.machines_left_out()
    return ReportRequest(
        dataset=dataset,
        source=visit.data if _is_sample() else whole.dataset.name,
        settings=settings,
        reliabilities=sweep,
        report=reading.report,
        selection=chosen,
        selected="" if chosen.everything else chosen.words(whole.dataset),
        threshold=threshold,
        classifiers=predictions.classifiers(view),
        reviews=reviews,
        n_kept_back=n_kept_back,
        n_draws=plausibility_models.N_DRAWS,
        seed=plausibility_models.SEED,
        record=access.head_of_reviews(whole.dataset.digest),
        machines=tuple(one.name for one in marked) if out else (),
        with_machines=beside.dataset if out else None,
        marks=tuple(marked),
        assigned=access.assigned(whole.dataset.digest),
        reviewed=_came_by(reviews, whole.dataset.digest),
        study=studies.in_use(whole.dataset),
        **gate.options(),
        facts=groups.facts(dataset),
        covariates=None
        if dataset.kind == "score" and threshold is None
        else covariates.chosen_columns(dataset.as_classes(threshold)[0]),
    )


def _came_by(reviews: Mapping[str, CaseReview], digest: str) -> ReviewedBy | None:
    """Return how the reviewed cases were selected (random sample or queue); None if there are none."""
    return reviewed_by(reviews, access.store().sessions_of_others(digest, "")) if reviews else None


def _other(name: str, digest: str, reliabilities: tuple[float, ...]) -> OtherQuestion:
    """Another question of the upload with what was chosen for it; its settings are computed when they are needed."""
    with state.looking_at(digest):
        reading = state.current()
        dataset = gold_of_reviews.applied(reading.dataset)
        threshold = None if dataset.kind == "score" else state.split(dataset)
        chosen = access.ReadRight(digest).chosen()
        model = offered(dataset)[0].make()
        request = _request(
            reading, dataset, AnalysisSettings(model, model.default_reliability), reliabilities, threshold
        )

    def made(token: CancelToken) -> ReportRequest:
        how = {"name": chosen.get("model")}
        if dataset.kind == "score":
            prior = fit_prior(dataset).model(None)
            how = {"name": prior.name, "make": lambda _: prior}
        computed = compute_settings(dataset, threshold, token=token, **how)
        return replace(request, settings=replace(computed, reliability=chosen.get("reliability", computed.reliability)))

    return OtherQuestion(name, dataset, made)


def _questions() -> dict[str, str]:
    """Return the questions of the upload, the current one first, if all are to be reported; otherwise none."""
    found = cached.questions(visit.data)
    own = next((name for name, digest in found.items() if digest == visit.data), None)
    if own is None:
        return {}
    wanted = st.toggle(
        f"All {plural(len(found), 'question')} in this upload",
        key="report_questions",
        persist_state="session",
        help="Compares the questions and adds the sections of each question.",
    )
    return {own: found.pop(own), **found} if wanted else {}


def _work(request: ReportRequest, view, sections: list[str], question: str, others: list[OtherQuestion]):
    """Return the job that writes the report; each of its answers is on screen as soon as it is known."""
    keeps = can_keep(view.n_cases, plausibility_models.N_DRAWS, TOP)
    part_of = sweep.parts(view, request.model, len(request.reliabilities))

    def work(job: Job) -> tuple[bytes, tuple[tuple[str, str], ...]]:
        answers: list[tuple[str, str]] = []

        def answered(*answer: str) -> None:
            answers.append(answer)
            job.partial = tuple(answers)

        def part(reliability: float, token, progress):
            return part_of(reliability, job, progress or job.report)

        asked = replace(request, part=part if keeps else None)
        how = {"token": job.token, "progress": job.report, "answered": answered, "question": question, "others": others}
        return build_report(asked, tuple(sections), **how), tuple(answers)

    return work


def _key(request: ReportRequest, name: str, threshold: float | str | None, sections: list[str]) -> tuple:
    who = tuple((one.name, predictions.fingerprint(one)) for one in request.classifiers)
    # Names stand in a report; it goes with the data that were opened, of which it may show a part.
    of = (visit.data, request.dataset.digest, request.dataset.names_digest, request.selected, who)
    # Whoever sees other reviews gets another report.
    seen = tuple((case, len(review.events)) for case, review in sorted(request.reviews.items()))
    seen = (*seen, request.reviewed and request.reviewed.words())
    given = () if request.assigned is None else tuple(request.assigned["number"])
    of = (
        *of,
        request.record.hash if request.record else "",
        seen,
        request.n_kept_back,
        request.machines,
        request.marks,
        given,
        request.study.digest if request.study else "",
        request.requirements,
        request.confident,
        request.look,
        request.facts,
        request.covariates,
    )
    settings = tuple(sorted(request.model.settings().items()))
    asked = request.reliability, request.settings.rater_model
    return ("report", *of, name, settings, *asked, threshold, tuple(sections))


def _is_sample() -> bool:
    return any(sample.name == visit.data for sample in SAMPLES)


def _model(dataset: Dataset, place, threshold: float | str | None) -> PlausibilityModel | None:
    """Return the chosen plausibility model; for scores, with the prior of all of them, or None until it is known."""
    if dataset.kind == "score":
        found = scores.model(dataset, threshold)
        return None if found is None else found[0]
    plausibility_models.choose_model(place, dataset)
    return plausibility_models.as_chosen(dataset)


def _sections(dataset: Dataset) -> list[str]:
    """Draw the sections as a check list; return the chosen ones in their order."""
    st.markdown("**Sections**")
    with st.container(gap=None):
        return [
            name
            for name, title in SECTIONS.items()
            if name != ORDER.name or dataset.compares
            if st.checkbox(title, value=True, key=f"report_section-{name}", persist_state="session")
        ]


def _page() -> None:
    reading = widgets.require_data()
    dataset = gold_of_reviews.applied(reading.dataset)
    st.title("Export a report")
    left, right = st.columns([64, 36], gap="medium")
    with right:
        split = None if dataset.kind == "score" else widgets.split(dataset)
        place = st.container()
        threshold = scores.threshold(st) if dataset.kind == "score" else split
        model = _model(dataset, st, threshold)
        if model is None:
            return
        slider, below = st.container(), st.container()
        reliability_slider.choose(slider, below, dataset, model)
        questions = _questions()
        hide = st.toggle(
            "Hide names",
            key="report_hides_names",
            persist_state="session",
            help="Raters, AI raters, readers and reviewers are numbered. Reviewers' notes are left out.",
        )
        sections = _sections(dataset)
        standard = st.container()
    if not sections:
        left.info("Choose at least one section.")
        return
    with left:
        known = _made(reading, dataset, model, threshold, questions, hide, standard)
        if known is None:
            return
        key, work = known(sections)
        done = job_progress.result_of(key, "Report", work)
        if done is None:
            _answers(job_progress.so_far(key) or ())
            return
        _preview(*done)
    with place:
        _download(done[0])


def _made(reading, dataset: Dataset, model: PlausibilityModel, threshold, questions: dict[str, str], hide: bool, place):
    """Return a function from sections to the key and the work of the report; None while something is computed.

    Draws the download of the document on the reference standard in ``place``.
    """
    name, offer = model.name, plausibility_models.method(model.name).reliability
    view = plausibility_models.data_for(name, dataset, quietly=True)
    trusted = trusted_raters.asked_for(view, model, len(offer.sweep))
    if trusted is None:
        return None
    settings = reliability_slider.in_use(dataset, trusted, waits=True)
    if settings.reliability_open or settings.rater_model_open:
        st.caption(opening.CHOOSING if settings.reliability_open else opening.CHOOSING_RATERS)
        return None
    request = _request(reading, dataset, replace(settings, plausibility=trusted), offer.sweep, threshold)
    own, *others = [*questions] or [""]
    beside = [_other(one, questions[one], offer.sweep) for one in others]
    if hide:
        request, beside = hidden(request, beside)
    with place:
        _reference_standard(request)

    def of(sections: list[str]):
        key = (
            *_key(request, name, threshold, sections),
            hide,
            *((one.name, one.dataset.names_digest) for one in beside),
        )
        return key, _work(request, view, sections, own, beside)

    return of


def _download(content: bytes) -> None:
    st.download_button(
        "Download report",
        lambda: content,  # made by the press, which is in the record of access
        file_name=provenance.file_name("report", "html"),
        mime="text/html",
        icon=":material/download:",
        type="primary",
        on_click="ignore",
        key="take_report",
        width="stretch",
    )
    st.caption(f"One HTML file ({number(len(content) / 1e6, 1)} MB) that works offline and can be printed.")


def _preview(content: bytes, answers: tuple[tuple[str, str], ...]) -> None:
    """Draw the report as it will be, or the first sentence of each section."""
    if st.toggle("Preview", key="show_report", persist_state="session"):
        st.iframe(content.decode(), height=900, alt="Preview of the report")
    else:
        _answers(answers)


def _reference_standard(request: ReportRequest) -> None:
    """Draw the document on how the reference standard was made, as Word and HTML, and the way to the labels."""
    st.page_link("pages/labels.py", label="Labels of all cases", icon=":material/label:")
    if request.no_classes:
        return
    with st.expander("Reference standard"):
        st.markdown(
            "How the reference standard was established: raters, process, blinding, agreement before adjudication and "
            "cases with an undetermined truth. Includes the STARD 2015, CLAIM 2024 and GRRAS 2011 checklists. "
            f"Items that cannot be completed from the data are marked “{TO_WRITE}”."
        )
        with st.container(horizontal=True):
            for ending, (label, mime) in _DOCUMENTS.items():
                st.download_button(
                    f"Download {label}",
                    partial(build_reference_standard, request, ending),
                    file_name=provenance.file_name("reference_standard", ending),
                    mime=mime,
                    icon=":material/description:",
                    on_click="ignore",
                    key=f"take_standard_{ending}",
                )


def _answers(answers: tuple[tuple[str, str], ...]) -> None:
    """List the first sentences of the sections, in their order, then the sections without content."""
    with st.container(key="report_answers"):
        for question, answer in answers:
            if answer:
                st.markdown(f"**{markdown(question)}**  \n{markdown(answer)}")
        if empty := [question for question, answer in answers if not answer]:
            listed = "\n".join(f"- {markdown(question)}" for question in empty)
            st.caption(f"{plural(len(empty), 'section')} left out: nothing to report.", help=listed)


navigation.through_app()
_page()
