"""Sets of labels on the command line: truth and certainty of every label, if no label is chosen."""

from typing import Any

import numpy as np
import pandas as pd

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..models.catalogue import Request, em_model
from ..models.em_model import EmModel
from ..models.label_fits import fit_labels
from ..plausibility.dirichlet import METHOD as COUNTS
from ..plausibility.dirichlet import DirichletCounts
from .inputs import progress, stamp, write_table


def of_all_labels(options, dataset: Dataset) -> bool:
    """Return whether the command covers every label: annotations have several labels, and no label is chosen."""
    return dataset.kind == "set" and options.label is None and len(dataset.entry_class) > dataset.n_annotations


def fit_of_labels(options, dataset: Dataset, asked: Request) -> tuple[dict, pd.DataFrame]:
    """Fit every label, with a reliability of raters that the labels share; the table has the labels of each case.

    Parameters
    ----------
    options
        Options of the command.
    dataset : Dataset
        Dataset of sets.
    asked : Request
        Model of one label.
    """
    model = em_model(asked) if asked.way == "em" else None
    if not isinstance(model, EmModel):
        raise InputError(
            f"Could not fit {asked.title} to all labels at once: it is not fitted by expectation-maximisation.",
            "Choose a label (--label NAME), or use a model such as dawid-skene.",
        )
    for name in ("restarts", "intervals", "gold", "part"):
        if getattr(options, name):
            raise InputError(
                f"Could not use --{name}: it is available only for a single label.", "Choose a label (--label NAME)."
            )
    found = fit_labels(dataset, model, shared=not options.own_trust, progress=progress)
    table = found.to_frame("cases")
    write_table(options.cases_out, table)
    labels: list[dict[str, Any]] = [
        {
            "label": label,
            "prevalence": float(fit.prevalence[1]),
            "log_likelihood": fit.log_likelihood,
            "n_iterations": len(fit.objective),
            "converged": fit.converged,
            "notes": list(fit.notes),
        }
        for label, fit in zip(found.labels, found.fits, strict=True)
    ]
    accuracy = found.accuracy()
    raters = [
        {
            "rater": rater,
            "n": int(found.fits[0].n_annotations[place]),
            "accuracy": float(accuracy[place]),
            "odds_without": float(np.exp(found.log_factor[place, 0])),
            "odds_with": float(np.exp(found.log_factor[place, 1])),
        }
        for place, rater in enumerate(found.raters)
    ]
    answer = {
        "model": options.model,
        "method": "em",
        "shared_trust": found.shared,
        "converged": found.converged,
        "settings": found.fits[0].settings,
        "labels": labels,
        "raters": raters,
        "left_out": 0,
        **stamp(options, dataset),
    }
    return answer, table


def counts_of_sets(options) -> DirichletCounts:
    """Return the model of each label with its prior; raise `InputError` if another model is named."""
    if options.model != COUNTS.name:
        raise InputError(
            f"Could not use {options.model}: it does not estimate the certainty of label sets.",
            f"Use {COUNTS.name}, or choose a label (--label NAME).",
        )
    alpha = getattr(options, "alpha", None)
    return DirichletCounts() if alpha is None else DirichletCounts(alpha)
