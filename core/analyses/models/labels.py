"""Sets of labels: the truth of every label, with a reliability of raters that labels share."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...annotations.dataset import Dataset
from ...evaluation.set_metrics import SetMetrics, set_metrics
from ...evaluation.set_predictions import SetPredictions, known_sets
from ...models.dawid_skene import DawidSkene
from ...models.label_fits import LabelFits, fit_labels, with_label_dependence
from ...models.tempering import dependence_note, doubt_note
from ...runtime.chunks import CancelToken
from ...text import plural, probability, with_interval
from ..blocks import Block, Download, Grid, Name, Row, Stack, Strong, Words
from ..schema import Column
from . import SHARED

SEED = 0
_RESAMPLES = 400
ABOUT = (
    "A Dawid-Skene model is fitted to each label (present or absent), whichever models are selected above. If "
    "information is shared between labels, a rater's tendency to miss or add labels carries over to labels with few "
    "annotations."
)
_LABELS = (Column("label"), Column("prevalence", unit="share"), Column("converged"))
_RATERS = (
    Column("rater"),
    Column("n_annotations", "annotations", "count"),
    Column("accuracy", "accuracy, all labels", "share"),
)
_ODDS = (Column("without", "odds, absent", "coefficient"), Column("with", "odds, present", "coefficient"))


@dataclass(frozen=True, slots=True, eq=False)
class EveryLabel:
    """Fits of every label.

    Attributes
    ----------
    fits : LabelFits
    by_gold : SetMetrics or None
        Metrics of the most probable sets against the known ones, which the fits do not use.
    """

    fits: LabelFits
    by_gold: SetMetrics | None


def fit_every_label(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> EveryLabel:
    """Fit every label at the β estimated from held-out annotations of all labels.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets, by raters who are identified.
    options : LabelOptions
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """

    def first(share: float) -> None:
        if progress is not None:
            progress(0.8 * share)

    def then(share: float) -> None:
        if progress is not None:
            progress(0.8 + 0.2 * share)

    model = with_label_dependence(dataset, DawidSkene(), seed=SEED, token=token, progress=first)
    fits = fit_labels(dataset, model, shared=options.trust == SHARED, token=token, progress=then)
    return EveryLabel(fits, _measured(dataset, fits))


def _measured(dataset: Dataset, fits: LabelFits) -> SetMetrics | None:
    gold = known_sets(dataset)
    if gold is None:
        return None
    own = SetPredictions("fit", dataset.cases, dataset.classes, fits.applies, np.diff(dataset.case_ptr) > 0, ())
    if not (own.predicted & gold.predicted).any():
        return None
    return set_metrics(dataset, [own], reliability=1.0, gold=gold, n_draws=_RESAMPLES)


def compute(every: EveryLabel, options) -> EveryLabel:
    """Return the fits unchanged."""
    return every


def present(every: EveryLabel, dataset: Dataset, options) -> list[Block]:
    """Show how frequent every label is, and what labels share for each rater."""
    found = every.fits
    labels, raters = found.to_frame("labels"), found.to_frame("raters")
    blocks: list[Block] = []
    if not found.converged:
        blocks.append(
            Words("The models for some labels have not converged, so their estimates may still change.", "warning")
        )
    columns = (*_RATERS, *(_ODDS if found.shared else ()))
    left: list[Block] = [
        Grid(labels.assign(converged=np.where(labels["converged"], "yes", "no")), "Labels.", 60, _LABELS, "label_fits"),
        Download(labels, "Labels", "labels", "labels_table"),
        Download(found.to_frame("cases"), "Labels of every case", "labels_by_case", "labels_cases"),
    ]
    right: list[Block] = [
        Grid(raters, "Raters, over all labels.", 40, columns, "label_raters"),
        Download(raters, "Raters over all labels", "label_raters", "label_raters_table"),
    ]
    blocks.append(Row((Stack(2, left), Stack(3, right))))
    if found.shared:
        blocks.append(
            Words(
                "Odds of being correct about a label, relative to all raters. Odds below 1 for present labels: the "
                "rater misses labels too often. Odds below 1 for absent labels: the rater adds labels too often. "
                "Intervals are not available.",
                "note",
            )
        )
    follows = () if found.none is None else (" and “", Name(found.none), "” applies only if no other does")
    settings = found.fits[0].settings  # number of independent annotations that those of a case are worth
    worth = (*dependence_note(dataset, settings["beta"]), *doubt_note(settings["doubt"]))
    mean = probability(float(found.set_probability.mean()))
    return [
        *blocks,
        *_by_gold(every.by_gold),
        Words(
            (
                "If labels are independent given the annotations",
                *follows,
                f", the most likely label set of a case is fully correct with a mean probability of {mean} "
                f"(n = {plural(len(found.cases), 'case')}).",
                *(f" {note}" for note in worth),
            ),
            "note",
        ),
    ]


def _by_gold(measured: SetMetrics | None) -> list[Block]:
    if measured is None:
        return []
    values = zip(measured.mean[0], measured.total_low[0], measured.total_high[0], strict=True)
    said = dict(zip(measured.metrics, (with_interval(*one) for one in values), strict=True))
    return [
        Words(
            (
                f"Compared with the gold sets of {plural(int(measured.n_cases[0]), 'case')} (not used by the fit), "
                "the most likely sets have a Jaccard index of ",
                Strong(said["jaccard"]),
                " and are identical for ",
                Strong(said["exact"]),
                " of cases.",
            )
        )
    ]


def table_of(every: EveryLabel, dataset: Dataset, options):
    """Return one row per label."""
    return every.fits.to_frame("labels")
