"""How far annotations of labels are worth less than independent ones, by held-out annotations of all together."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..annotations.dataset import Dataset
from ..annotations.none_of_these import label_of_none
from ..errors import NotApplicableError
from ..runtime.chunks import CancelToken
from .em_model import EmModel
from .held_out import HeldOut, better_tempering, both_temperings, prepare
from .tempering import truth_beta, truth_doubt

Model = TypeVar("Model", bound=EmModel)


def with_label_dependence(
    dataset: Dataset,
    model: Model,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Model:
    """The model with one β and one doubt for all labels: those of the summed held-out scores of every label alone.

    A rater who shares mistakes with others on one label does so on the next, and most labels are too rare to tell by
    themselves. Without a label that can be held out the model is given back as it is.

    Parameters
    ----------
    dataset : Dataset
        Of sets, by raters who are identified.
    model : EmModel
        Of the raters on one label.
    seed : int
        Of the folds.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    Cancelled
    """
    none = label_of_none(dataset)
    labels = [label for label in dataset.classes if label != none]
    scores, most = [], 1.0
    for place, label in enumerate(labels, 1):
        try:
            data = prepare(dataset.as_classes(label)[0], seed=seed, token=token)
            scores.append(both_temperings(data, model, token=token))
        except NotApplicableError:
            continue
        finally:
            if progress is not None:
                progress(place / len(labels))
        most = min(most, data.independent)
    if not scores:
        return model
    held = better_tempering(*(_summed(kind) for kind in zip(*scores, strict=True)))
    return replace(
        model,
        beta=truth_beta(min(held.middle_beta, most)),
        doubt=truth_doubt(min(held.beta, most)),
        temper_prevalence=held.temper_prevalence,
    )


def _summed(scores: tuple[HeldOut, ...]) -> HeldOut:
    """One score of all labels, whose annotations of a case stand or fall together."""
    return replace(
        scores[0],
        by_case=sum((one.by_case for one in scores[1:]), scores[0].by_case),
        n_of_case=sum((one.n_of_case for one in scores[1:]), scores[0].n_of_case),
    )
