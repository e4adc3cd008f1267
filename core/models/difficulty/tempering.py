"""Class probabilities of a difficulty model at its mode, with annotations that are not independent."""

from dataclasses import replace

import numpy as np

from ...annotations.dataset import Dataset
from ...errors import InputError
from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..result import RaterModelFit
from ..tempering import check_beta, check_doubt, dependence_note, doubt_note
from ._tempered_kernels import log_table, tempered_positive
from .names import switches
from .nodes import NodeCounts, nodes

CHUNK_CASES = 8192


def tempered_at_mode(
    fit: RaterModelFit, dataset: Dataset, beta: float, token: CancelToken | None = None, *, doubt: float = 0.0
) -> RaterModelFit:
    """The same fit, its class probabilities under ``P_β(z | y) ∝ π_z ∫ p(e) Π p(y | z, e)^β de``; effects stay.

    Parameters
    ----------
    fit : RaterModelFit
        Of a difficulty model by its mode ("map").
    dataset : Dataset
        Of two classes, as it was fitted.
    beta : float
        What an annotation counts for, above 0 and at most 1.
    token : CancelToken, optional
    doubt : float
        As in `core.models.tempering.tempered`.

    Raises
    ------
    InputError
        β is not above 0 and at most 1, or the fit is not of these data at its mode.
    """
    check_beta(beta)
    check_doubt(doubt)
    tag = fit.settings.get("tag")
    if fit.method != "map" or tag is None or fit.cases != dataset.cases or fit.raters != dataset.raters:
        raise InputError(
            f"{fit.model} by {fit.method} takes no β here.", "Use a difficulty model of these data at its mode."
        )
    on, code = switches(tag), dataset.classes.index(fit.settings["positive"])
    names = ("alpha_spec", "alpha_sens") if on.bias else ("alpha", "alpha")
    alpha = np.stack([fit.parameters[name] for name in names], axis=1)
    grid = nodes(on, NodeCounts(**fit.settings["nodes"]))
    table = log_table(alpha, grid.delta, grid.table)
    cell = (2 * dataset.rater + (dataset.answer == code)).astype(np.int32)
    with np.errstate(divide="ignore"):
        logit = float(np.log(fit.prevalence[code]) - np.log(fit.prevalence[1 - code]))
    positive = np.empty(dataset.n_cases)

    def work(chunk: tuple[int, int]) -> None:
        tempered_positive(logit, table, grid.table, dataset.case_ptr, cell, beta, *chunk, positive)

    for _ in map_chunks(work, chunk_ranges(dataset.n_cases, CHUNK_CASES), token=token):
        pass
    old = (*dependence_note(dataset, fit.beta), *doubt_note(fit.settings.get("doubt", 0.0)))
    probability = np.stack([1 - positive, positive] if code == 1 else [positive, 1 - positive], axis=1)
    return replace(
        fit,
        class_probability=(1 - doubt) * probability + doubt * fit.prevalence,
        settings={**fit.settings, "beta": beta, "doubt": doubt},
        notes=(
            *(note for note in fit.notes if note not in old),
            *dependence_note(dataset, beta),
            *doubt_note(doubt),
        ),
    )
