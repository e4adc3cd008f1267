"""Fits of rater models: quick ones at once; samplers in the background, with a quick result first."""

from dataclasses import replace

import streamlit as st

from core.analysis_settings import SEED
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.models.average import METHOD as AVERAGE
from core.models.average import AveragedModels
from core.models.catalogue import Fitted, Request, em_model, fit_request
from core.models.precision import N_REPLICATES, precision_of
from core.models.result import RaterModelFit, Uncertainty
from core.raters.truth_draws import uncertainty_of
from core.runtime.identity_cache import cache_by_identity
from core.runtime.jobs import Job
from core.runtime.work import job_name
from core.text import markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import expected, job_progress, opening

MOST_LISTED = 6
_PART = "/models"
_WORK, _SAMPLE = "Fitting ", "Sampling "


def fits(view: Dataset, requests: list[Request]) -> list[Fitted]:
    """Return the fits done so far, in the requested order; a sampler's posterior mode replaces it until it is done."""
    found: dict[Request, Fitted] = {}
    titles = {_WORK + request.title for request in requests}
    titles |= {_SAMPLE + request.title for request in requests if request.way == "nuts"}
    for prefix in (_WORK, _SAMPLE):
        job_progress.leave_others(prefix, titles)
    first = _Queue(view, _WORK, "pages")
    for request in requests:
        if request.method is AVERAGE and (job := opening.choice_job(view)) is not None and job.state != "failed":
            if (averaged := _averaged(view, job)) is not None:
                found[request] = Fitted(request, view, averaged.fit, None, job.seconds)
            continue
        quick = request if request.way != "nuts" else request.by(request.method.ways[0])
        if (done := first.fit(quick)) is not None:
            found[request] = done
    samplers = _Queue(view, _SAMPLE, "samplers")
    for request in requests:
        if request.way == "nuts" and (sampled := samplers.fit(request)) is not None:
            found[request] = sampled
    first.say()
    samplers.say()
    _leave_unwanted(first.keys + samplers.keys)
    return [found[request] for request in requests if request in found]


def _averaged(view: Dataset, job: Job) -> AveragedModels | None:
    """Return the average of models; None while they are scored, with the progress on screen."""
    if (judged := opening.choice(view)) is not None:
        return judged.averaged
    job_progress.redraw_after(job)
    return None


class _Queue:
    """The fits of one lane: all are under way, and only the one at work is waited for and shown.

    With eighteen models a progress bar and a moment's wait for each would fill the screen and hold up every click.
    """

    def __init__(self, view: Dataset, prefix: str, lane: str):
        self.view, self.prefix, self.lane = view, prefix, lane
        self.at_work: Job | None = None
        self.waiting: list[Job] = []
        self.stopped: dict[tuple, Request] = {}
        self.keys: list[tuple] = []

    def fit(self, request: Request) -> Fitted | None:
        """Return the fit if it is done; otherwise show its progress, once for the lane."""
        key, title = (self.view.content_digest, "model", request), self.prefix + request.title

        content = self.view.coded

        def work(job: Job) -> Fitted:
            seconds = 0.0 if request.way == "nuts" else expected.of_fits(content)  # chains have children of their own
            return cached.run(job, fit_request, content, request, content, seconds=seconds)

        job = cached.job(key, title, work, self.lane, self.view)
        self.keys.append(key)
        if job.state == "cancelled":
            self.stopped[key] = request
            return None
        if not job.finished and self.at_work is not None:
            self.waiting.append(job)
            return None
        found = job_progress.result_of(key, title, work, self.lane, self.view)
        if not job.finished:
            self.at_work = job
        return found

    def say(self) -> None:
        """Which models wait and a way to stop them all; which were stopped, and a way to take them up again."""
        if self.stopped:
            names = [request.title for request in self.stopped.values()]
            st.info(f"{markdown(self.prefix)} {_listed(names)}: cancelled.", icon=":material/cancel:")
            st.button("Try again", on_click=_again, args=(list(self.stopped),), key=f"again-{self.lane}")
        if not self.waiting:
            return
        names = [job.title.removeprefix(self.prefix) for job in self.waiting]
        waiting = plural(len(names), "computation is", "computations are")
        st.caption(f"{waiting} waiting for the running one to finish: {_listed(names)}.")
        st.button(
            "Cancel both computations" if len(names) == 1 else f"Cancel all {len(names) + 1:,} computations",
            on_click=job_progress.cancel,
            args=([self.at_work, *self.waiting],),
            key=f"cancel-{self.lane}",
            type="tertiary",
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_LISTED])
    return markdown(shown) + (f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else "")


def _again(keys: list[tuple]) -> None:
    for key in keys:
        cached.restart(job_name(key))


def _leave_unwanted(wanted: list[tuple]) -> None:
    """Cancel fits that this session requested and no longer needs, if no other session needs them."""
    for key in set(visit.models_asked) - set(wanted):
        cached.leave(key, _PART)
    for key in wanted:
        cached.watch(key, _PART)
    visit.models_asked = tuple(wanted)


def with_precision(shown: Fitted) -> Fitted:
    """Return an average, or a fit by expectation-maximisation, with its intervals, once they are computed."""
    if shown.request.method is AVERAGE and (judged := opening.choice(shown.dataset)) is not None:
        found = job_progress.result_of(
            (shown.dataset.content_digest, "intervals", AVERAGE.name, SEED),
            f"{shown.title}: intervals",
            lambda job: uncertainty_of(
                with_codes(judged.averaged, shown.dataset), shown.dataset.coded, seed=SEED, token=job.token
            ),
            of=shown.dataset,
        )
        return shown if found is None else replace(shown, fit=_with_uncertainty(shown.fit, found))
    if shown.request.way != "em" or shown.fit.uncertainty is not None:
        return shown
    model, content = em_model(shown.request), with_codes(shown, shown.dataset)
    start = shown.fit.settings.get("start", "")
    found = job_progress.result_of(
        (shown.dataset.content_digest, "precision", shown.request, start),
        f"{shown.title}: intervals",
        lambda job: cached.run(
            job,
            precision_of,
            shown.dataset.coded,
            model,
            content.dataset,
            content.fit,
            seconds=expected.of_fits(shown.dataset, N_REPLICATES),
        ),
        of=shown.dataset,
    )
    return shown if found is None else replace(shown, fit=_with_uncertainty(shown.fit, found))


@cache_by_identity
def _with_uncertainty(fit: RaterModelFit, uncertainty: Uncertainty) -> RaterModelFit:
    """Return the same fit in each run of the page, so that results computed from it are found again."""
    return replace(fit, uncertainty=uncertainty)


def restarted(shown: Fitted, n_restarts: int):
    """Return the result of random restarts, or None."""
    if not n_restarts or shown.request.way != "em":
        return None
    model, content = em_model(shown.request), with_codes(shown, shown.dataset)
    return job_progress.result_of(
        (shown.dataset.content_digest, "restarts", shown.request, n_restarts),
        f"{n_restarts:,} restarts",
        lambda job: cached.run(
            job,
            type(model).restarts,
            shown.dataset.coded,
            model,
            content.dataset,
            content.fit,
            n_restarts,
            seconds=expected.of_fits(shown.dataset, n_restarts),
        ),
        of=shown.dataset,
    )


def vote_of(shown: Fitted):
    """Majority vote of the classes that a fit has."""
    return cached.majority(shown.dataset)
