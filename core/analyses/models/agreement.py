"""Agreement of models with each other and with the majority vote."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...annotations.dataset import Dataset
from ...errors import PluralityError
from ...models.comparison import ModelAgreement, compare_fits
from ...models.joint import KappaCheck, kappa_check
from ...models.result import RaterModelFit
from ...models.tap import METHODS as TAP
from ...text import number, percent, plural, with_interval
from ..blocks import Block, Download, Grid, Heading, Name, Span, Strong, Words
from ..schema import Column
from .fits import FittedModels, label


@dataclass(frozen=True, slots=True, eq=False)
class AgreementOfModels:
    """Agreement of every two models.

    Attributes
    ----------
    names : tuple of str
        Names of the models, the majority vote first.
    found : ModelAgreement
    kappa : KappaCheck or None
        Check of κ for a t-a-p model in detail.
    """

    names: tuple[str, ...]
    found: ModelAgreement
    kappa: KappaCheck | None


def with_vote(models: FittedModels) -> dict[str, RaterModelFit]:
    """Return the majority vote and the models of the same classes by label.

    Parameters
    ----------
    models : FittedModels
    """
    return {"Majority vote": models.vote} | {label(one): one.fit for one in models.same}


def compute(models: FittedModels, options) -> AgreementOfModels:
    """Compare every two models, and a t-a-p model with Fleiss κ."""
    fits, shown, kappa = with_vote(models), models.shown, None
    if shown.request.method.command == TAP[0].command:
        try:
            kappa = kappa_check(shown.dataset, shown.fit)
        except PluralityError:  # the variant has no check, or there are no pairs
            kappa = None
    return AgreementOfModels(tuple(fits), compare_fits(shown.dataset, list(fits.values())), kappa)


def present(found: AgreementOfModels, dataset: Dataset, options) -> list[Block]:
    """Show a row and a column for each model."""
    names, same = found.names, found.found.same_top
    low = np.unravel_index(np.argmin(same), same.shape)
    words: tuple[Span, ...]
    if same[low] == 1:
        words = ("All models agree on the most likely class of every case.",)
    else:
        least = percent(float(same[low]))
        words = ("Least similar: ", Name(names[low[0]]), " and ", Name(names[low[1]]), f", {least}.")
    columns = [Column("model"), *(Column(name, unit="rate") for name in names)]
    return [
        Heading("Comparison of models", "model agreement"),
        Words(f"Share of {plural(found.found.n_cases, 'case')} on which two models agree.", "note"),
        Grid(_matrix(names, same), "Share of cases on which two models agree.", 40, columns, "model_agreement"),
        Download(
            table_of(found, dataset, options), "Mean distance between class probabilities", "model_distance",
            "model_distance_table",
        ),
        Words(words, "note"),
        *_kappa(found.kappa),
    ]  # fmt: skip


def table_of(found: AgreementOfModels, dataset: Dataset, options) -> pd.DataFrame:
    """Return the mean distance of the class probabilities, a row and a column for each model."""
    return _matrix(found.names, found.found.distance)


def _matrix(names: tuple[str, ...], values: np.ndarray) -> pd.DataFrame:
    frame = pd.DataFrame(values, columns=list(names))
    frame.insert(0, "model", list(names))
    return frame


def _kappa(found: KappaCheck | None) -> list[Block]:
    if found is None:
        return []
    return [
        Heading("Fleiss κ compared with accuracies", TAP[0]),
        Words(
            (
                "Observed κ is ", Strong(with_interval(found.observed, found.low, found.high)),
                "; expected under the model: ", Strong(number(found.expected)),
                f". The mean product of two raters' accuracies, a², is {number(found.a_squared)}. Expected κ equals a² "
                "if raters guess in proportion to prevalence.",
            )
        ),
    ]  # fmt: skip
