"""What Home knows of the data in use: agreement, certainty of cases, classifiers, raters, each worked out once."""

from dataclasses import dataclass

import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.intervals import Share
from core.analyses.agreement import AGREEMENT
from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult
from core.evaluation.sweep_table import SweepTable
from core.methods import any_of
from core.models.catalogue import em_model
from core.models.one_class_raters import one_class_raters
from core.models.precision import MOST_PARAMETERS, N_REPLICATES, precision_of
from core.models.unanimous import unanimous_cases
from core.plausibility.protocol import PlausibilityModel
from core.raters.acceptable import why_not
from core.raters.flags import FALSE_ALARMS
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import RaterTable, default_request, monitor
from core.raters.own_classes import own_classes
from core.raters.to_act_on import ToActOn, raters_to_act_on
from pages.shared.cache import analyses
from pages.shared.cache import datasets as cached
from pages.shared.cache import home as cached_home
from pages.shared.kit import (
    expected,
    job_progress,
    opening,
    plausibility_models,
    predictions,
    reliability_slider,
    state,
    trusted_raters,
)
from pages.shared.kit import sweep as sweeps

SEED = 0
# Cases up to which Home computes something without being asked: about ten seconds of two cores at most.
MOST_SWEPT = 2_000
MOST_MONITORED = 300_000
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
        What ``model`` eats.
    model : PlausibilityModel
        As chosen on the Cases page, else the default for the kind of annotations.
    classifiers : tuple of Predictions
    """

    dataset: Dataset
    classes: Dataset
    plausible: Dataset
    model: PlausibilityModel
    classifiers: tuple

    @property
    def reliability(self) -> float:
        """The trust in the raters as the Cases page has it: as chosen there, else the one that pages open with."""
        return reliability_slider.in_use(self.dataset, self.model, waits=True)

    @property
    def provisional(self) -> bool:
        """Whether that trust, or the model, is still being chosen from the data."""
        return reliability_slider.may_move(self.dataset, self.model)

    @property
    def opened(self) -> float:
        """The trust that pages open with, about which classifiers are compared."""
        return opening.reliability(self.plausible, self.model, self.classes)[0]


def views_of(dataset: Dataset) -> Views:
    """Views of the data in use; scores need ``threshold`` in the session's state."""
    model = trusted_raters.or_default(dataset, plausibility_models.as_chosen(dataset))
    classes, _ = cached.class_view(dataset, state.split(dataset))
    plausible = plausibility_models.data_for(model.name, dataset, quietly=True)
    return Views(dataset, classes, plausible, model, predictions.classifiers(plausible))


def agreement(dataset: Dataset) -> ApplicableCoefficients | None:
    """The coefficients that suit the annotations; None where nothing can be compared."""
    part = AGREEMENT.part("coefficients")
    return analyses.result(part, dataset) if part.applicable(dataset).possible else None


def certainty(views: Views) -> CertaintyResult | None:
    """Certainty of every case, as the Cases page has it; None while it is worked out, or until it is asked for."""
    if not views.plausible.n_annotations:
        return None
    if not _wanted(
        views.plausible, "certainty", views.plausible.n_cases, plausibility_models.method(views.model.name).most_cases
    ):
        return None
    return plausibility_models.certainty(views.plausible, views.model, views.reliability)


def sweep(views: Views) -> SweepTable | None:
    """Classifiers at every default reliability; None as above."""
    reliabilities = sweeps.reliabilities(views.model.name, views.opened)
    if not _wanted(views.plausible, "classifiers", views.plausible.n_cases, MOST_SWEPT):
        return None
    return sweeps.sweep(views.plausible, views.model, reliabilities, views.classifiers, "Classifiers", _LANE)


def raters(views: Views) -> tuple[RaterTable, ToActOn] | None:
    """The raters and what speaks against them, as the Raters page has them; None as above."""
    view = views.classes
    if not _wanted(view, "raters", view.n_annotations, MOST_MONITORED):
        return None

    def work(job):
        options = {"false_alarms": FALSE_ALARMS, "seed": SEED, "seconds": expected.of_monitoring(view)}
        table = cached.run(job, monitor, view.coded, view.coded, **options)
        return table, raters_to_act_on(table, token=job.token)

    return job_progress.result_of(
        (view.content_digest, "raters to act on", FALSE_ALARMS, SEED),
        "Looking at the raters",
        work,
        of=view,
    )


def prevalence(views: Views) -> tuple[tuple[Share, ...], str]:
    """Share of each class with its interval, and by what: a model of raters where that is quick, else the vote.

    The vote also where annotations alone do not tell who is wrong, where most raters give one class, where the model
    flips unanimous cases, and where the classes of the model are not those that raters name. The vote is there while
    the model is fitted.
    """
    view = views.classes
    by_vote = cached_home.vote_shares(view), "majority vote"
    n_parameters = view.n_raters * view.n_classes * (view.n_classes - 1)
    if not any_of("rater model", view).possible or view.n_classes < 2:
        return by_vote
    if view.n_annotations > MOST_FITTED or n_parameters > MOST_PARAMETERS:
        return by_vote

    def work(job):
        cached.preparation().wait(("models",))
        model = em_model(default_request(view))
        fit = model.fit(view.coded, token=job.token)
        seconds = expected.of_fits(view, N_REPLICATES)
        spread = cached.run(
            job, precision_of, view.coded, model, view.coded, fit, seed=SEED, seconds=seconds
        ).prevalence
        rows = zip(fit.prevalence.tolist(), spread.low.tolist(), spread.high.tolist(), strict=True)
        flips = one_class_raters(view).most or unanimous_cases(view).why_not(fit)
        known = fit.converged and not why_not(view) and not flips
        return tuple(rows), known and own_classes(panel_of(view.coded, fit, token=job.token)).judge

    found = job_progress.result_of((view.content_digest, "prevalence", SEED), "Prevalence", work, _LANE, view)
    if found is None or not found[1] or any(low != low for _, low, _ in found[0]):
        return by_vote
    return tuple(Share(*row, by_vote[0][0].n) for row in found[0]), "a model of raters"


def _wanted(dataset: Dataset, what: str, size: int, most: int) -> bool:
    """Whether something is worked out: small at once, large when somebody asks for it."""
    key = f"home-{what}-{dataset.content_digest}"
    if size <= most or st.session_state.get(key):
        return True
    st.caption("With data of this size this takes a while.")
    st.button("Compute", on_click=st.session_state.__setitem__, args=(key, True), key=f"ask-{key}")
    return False
