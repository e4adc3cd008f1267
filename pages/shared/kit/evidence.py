"""Classifier as evidence in the class probabilities of Models, and a note on pages that evaluate it without."""

from collections.abc import Iterable
from dataclasses import replace
from shlex import quote

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.evaluation.predictions import Predictions
from core.models.catalogue import Fitted, em_model
from core.models.classifier_evidence import CLASSIFIER, EvidenceWeight, evidence_weight, with_classifier
from core.runtime.jobs import Job
from core.text import markdown, shorten
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import expected, job_progress, opening, predictions, widgets

TERM = "classifier as evidence"
_REFITS = 20


def ask(view: Dataset) -> None:
    """Draw the choice of the classifier that counts, if any gives probabilities; raters of the data cannot be chosen.

    Parameters
    ----------
    view : Dataset
        Data with one class per annotation.
    """
    if known := [one.name for one in _able(view)]:
        st.selectbox(
            "Classifier to use as evidence", known, index=None, placeholder="None", key="model_evidence",
            help=widgets.explained(TERM), persist_state="session",
        )  # fmt: skip


def _able(view: Dataset) -> list[Predictions]:
    return [
        one
        for one in predictions.classifiers(view)
        if one.name not in view.raters and one.probabilities(view.n_classes) is not None
    ]


def counted(one: Fitted) -> tuple[Fitted, EvidenceWeight | None]:
    """Return a fit with the chosen classifier as evidence, and its weight; None if none is chosen or known.

    Parameters
    ----------
    one : Fitted
    """
    name = visit.choice["model_evidence"]
    if name is None or one.request.way != "em":
        return one, None
    chosen = next((each for each in _able(one.dataset) if each.name == name), None)
    probability = None if chosen is None else chosen.probabilities(one.dataset.n_classes)
    if chosen is None or probability is None:
        return one, None
    found = _weight(one, chosen, probability)
    if found is None:
        return one, None
    return replace(one, fit=with_classifier(one.fit, one.dataset, found, probability)), found


def _weight(one: Fitted, chosen: Predictions, probability: np.ndarray) -> EvidenceWeight | None:
    """Compute the weight at the held-out β of the model, if known, so that it compares with the models' scores."""
    judged = opening.choice(one.dataset)
    standings = () if judged is None else judged.choice.standings
    held = next((each.held for each in standings if each.candidate.name == one.request.model and each.held), None)
    beta, both = (one.fit.beta, False) if held is None else (held.beta, held.temper_prevalence)
    content, model = one.dataset.coded, em_model(one.request)

    def work(job: Job) -> EvidenceWeight:
        how = {"beta": beta, "temper_prevalence": both, "seed": opening.SEED}
        seconds = expected.of_fits(content, _REFITS)
        return cached.run(job, evidence_weight, content, content, model, "", probability, **how, seconds=seconds)

    key = (one.dataset.content_digest, TERM, one.request, predictions.fingerprint(chosen), beta, both)
    found = job_progress.result_of(key, f"Weight of {shorten(chosen.name, 40)}", work, of=one.dataset)
    return None if found is None else replace(found, classifier=chosen.name)


def say(shown: Fitted, found: EvidenceWeight | None) -> None:
    """Draw a note on whether the chosen classifier counts in the model in detail, and why; nothing if none is chosen.

    Parameters
    ----------
    shown : Fitted
    found : EvidenceWeight or None
        Result of `counted`.
    """
    chosen = visit.choice["model_evidence"]
    visit.model_evidence_counts = shown.request.way == "em" and (found is None or found.weight > 0)
    if chosen is None:
        return
    if found is not None:
        st.markdown(markdown(found.words()), help=widgets.explained(TERM))
    elif shown.request.way != "em":
        st.caption(
            f"{markdown(chosen)} is not used as evidence: {shown.title} was fitted without expectation-maximisation, "
            "which evidence requires."
        )


def command_part(shown: Fitted) -> str:
    """Return the last part of the command of a fit; empty without a classifier in it.

    Parameters
    ----------
    shown : Fitted
    """
    name = shown.fit.settings.get(CLASSIFIER)
    return "" if name is None else f" --evidence {quote(name)}=PREDICTIONS"


def none_here(judged: Iterable[str]) -> None:
    """Draw a note that a classifier used as evidence on Models does not count when it is itself evaluated.

    Parameters
    ----------
    judged : iterable of str
        Names of the classifiers that a page judges.
    """
    chosen = visit.choice["model_evidence"]
    if chosen in set(judged) and visit.model_evidence_counts:
        st.caption(
            f"The Models page uses {markdown(chosen)} as evidence. This page does not, because {markdown(chosen)} "
            "would be compared with itself."
        )
