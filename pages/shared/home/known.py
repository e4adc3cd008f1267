"""What Home knows of the data in use: agreement, certainty of cases, classifiers, raters, each worked out once."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.intervals import Share
from core.analyses.agreement import AGREEMENT
from core.analyses.cases.certainty import CaseCertainty
from core.analyses.raters.table import AssessedRaters
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.evaluation.sweep_table import SweepTable
from core.models.average import METHOD as AVERAGE
from core.models.average import AveragedModels
from core.models.catalogue import em_model, fit_request
from core.models.one_class_raters import one_class_raters
from core.models.precision import MOST_PARAMETERS, N_REPLICATES, precision_of
from core.models.unanimous import unanimous_cases
from core.plausibility.protocol import PlausibilityModel
from core.raters.accuracy_threshold import why_not
from core.raters.leave_one_rater_out import panel_of
from core.raters.own_classes import own_classes, own_classes_of
from core.raters.truth_draws import prevalence_interval
from pages.shared.cache import analyses, visit
from pages.shared.cache import datasets as cached
from pages.shared.cache import home as cached_home
from pages.shared.kit import (
    expected,
    job_progress,
    opening,
    plausibility_models,
    predictions,
    rater_accuracy,
    reliability_slider,
    state,
    trusted_raters,
)
from pages.shared.kit import sweep as sweeps

SEED = 0
# Cases up to which Home computes something without being asked: about ten seconds of two cores at most.
MOST_SWEPT = 2_000
MOST_FITTED = 120_000
# What no other page has a use for stands in another queue, so that pages opened meanwhile do not wait for it.
_LANE = "samplers"


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The data as methods take them.

    Attributes
    ----------
    dataset : Dataset
    classes : Dataset
        Single classes: first choices of rankings, scores by the threshold.
    plausible : Dataset
        Data that ``model`` takes.
    model : PlausibilityModel
        As chosen on the Cases page, else the default for the kind of annotations.
    classifiers : tuple of Predictions
    settings : AnalysisSettings
        As on all pages.
    """

    dataset: Dataset
    classes: Dataset
    plausible: Dataset
    model: PlausibilityModel
    classifiers: tuple
    settings: AnalysisSettings

    @property
    def reliability(self) -> float:
        """The trust in the raters as the Cases page has it: as chosen there, else the one that pages open with."""
        return self.settings.reliability

    @property
    def opened(self) -> float:
        """The trust that pages open with, about which classifiers are compared."""
        return reliability_slider.opens(self.dataset, self.model)


def views_of(dataset: Dataset) -> Views:
    """Return views of the data in use; scores need ``threshold`` in the session's state."""
    model = trusted_raters.or_default(dataset, plausibility_models.as_chosen(dataset))
    classes, _ = cached.class_view(dataset, state.split(dataset))
    plausible = plausibility_models.data_for(model.name, dataset, quietly=True)
    settings = reliability_slider.in_use(dataset, model, waits=True)
    return Views(dataset, classes, plausible, model, predictions.classifiers(plausible), settings)


def agreement(dataset: Dataset) -> ApplicableCoefficients | None:
    """Return the coefficients that suit the annotations; None if nothing can be compared."""
    part = AGREEMENT.part("coefficients")
    return analyses.result(part, dataset) if part.applicable(dataset).possible else None


def certainty(views: Views) -> CaseCertainty | None:
    """Return the certainty of every case as on Cases; None while it or γ is computed, or until it is requested."""
    if not views.plausible.n_annotations or views.settings.reliability_open:
        return None
    if not _wanted(
        views.plausible, "certainty", views.plausible.n_cases, plausibility_models.method(views.model.name).most_cases
    ):
        return None
    return plausibility_models.case_certainty(views.plausible, views.model, views.reliability)


def sweep(views: Views) -> SweepTable | None:
    """Classifiers at every default reliability; None as above."""
    if views.settings.reliability_open:
        return None
    reliabilities = sweeps.reliabilities(views.model.name, views.opened)
    if not _wanted(views.plausible, "classifiers", views.plausible.n_cases, MOST_SWEPT):
        return None
    return sweeps.sweep(views.plausible, views.model, reliabilities, views.classifiers, "Classifiers", _LANE)


def raters(views: Views) -> AssessedRaters | None:
    """Return the raters with their flags, as on the Raters page; None while it is computed, or until requested."""
    view = views.classes
    if (job := opening.without_result(view)) is not None:
        job_progress.say_ended(job, view)
        return None
    if not _wanted(view, "raters", view.n_annotations, rater_accuracy.MOST_ANNOTATIONS) or rater_accuracy.is_open(view):
        return None
    return rater_accuracy.judged(view)


def prevalence(views: Views) -> tuple[tuple[Share, ...], str] | None:
    """Share of each class with its interval, and by what: the rater model of the settings, else the vote.

    The average of models has the interval of draws of the truth; a posterior mode has none. The vote if the model takes
    long, if annotations alone do not tell who is wrong, if most raters give one class, if the model flips unanimous
    cases, and if the classes of the model are not those
    that raters name. None while the model is chosen.
    """
    view, asked = views.classes, views.settings.rater_model
    by_vote = cached_home.vote_shares(view), "majority vote"
    n_parameters = view.n_raters * view.n_classes * (view.n_classes - 1)
    if (
        asked is None
        or asked.way == "vote"
        or opening.without_result(view) is not None
        or view.n_classes < 2
        or view.n_annotations > MOST_FITTED
        or n_parameters > MOST_PARAMETERS
    ):
        return by_vote
    if views.settings.rater_model_open:
        return None
    if asked.method is AVERAGE:
        return by_vote if (known := _averaged(views)) is None else _by_average(view, known)

    def work(job):
        cached.preparation().wait(("models",))
        fit = fit_request(asked, view.coded, token=job.token).fit
        flips = one_class_raters(view).most or unanimous_cases(view).why_not(fit)
        known = fit.converged and not why_not(view) and not flips
        if asked.way == "map":
            return tuple((share, np.nan, np.nan) for share in fit.prevalence.tolist()), known
        seconds = expected.of_fits(view, N_REPLICATES)
        asked_for = view.coded, em_model(asked), view.coded, fit
        spread = cached.run(job, precision_of, *asked_for, seed=SEED, seconds=seconds).prevalence
        rows = zip(fit.prevalence.tolist(), spread.low.tolist(), spread.high.tolist(), strict=True)
        return tuple(rows), known and own_classes(panel_of(view.coded, fit, token=job.token)).judge

    key = (view.content_digest, "prevalence", SEED, asked)
    found = job_progress.result_of(key, "Prevalence", work, _LANE, view)
    if found is None:
        return None
    if not found[1] or (asked.way == "em" and any(low != low for _, low, _ in found[0])):
        return by_vote
    return tuple(Share(*row, by_vote[0][0].n) for row in found[0]), asked.title


def _averaged(views: Views) -> AveragedModels | None:
    """Return the average of models; None if its prevalence is not reliable."""
    view, averaged = views.classes, views.settings.averaged
    if averaged is None or not averaged.members or why_not(view) or unanimous_cases(view).why_not(averaged.fit):
        return None
    return averaged if own_classes_of(view, averaged.fit).judge else None


def _by_average(view: Dataset, averaged: AveragedModels) -> tuple[tuple[Share, ...], str] | None:
    """Prevalence by the average, with the interval of draws of the truth; None while they are drawn."""
    key = (view.content_digest, "prevalence", SEED, AVERAGE.name)
    found = job_progress.result_of(
        key,
        "Prevalence",
        lambda job: prevalence_interval(with_codes(averaged, view), view.coded, seed=SEED, token=job.token),
        _LANE,
        view,
    )
    if found is None:
        return None
    rows = zip(averaged.fit.prevalence.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    n = int((np.diff(view.case_ptr) > 0).sum())
    return tuple(Share(*row, n) for row in rows), AVERAGE.title


def _wanted(dataset: Dataset, what: str, size: int, most: int) -> bool:
    """Return True if a result is to be computed: small ones at once, large ones when the user requests them."""
    key = f"home-{what}-{dataset.content_digest}"
    if size <= most or visit.flag[key]:
        return True
    st.caption("This takes a while with data of this size.")
    st.button("Compute", on_click=visit.flag.__setitem__, args=(key, True), key=f"ask-{key}")
    return False
