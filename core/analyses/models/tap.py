"""Parts of agreement by t-a-p: accurate, mixed and guessed, with the accuracy and the guesses of each rater."""

import pandas as pd

from ...annotations.dataset import Dataset
from ...methods import method_named
from ...models.rater_methods import RaterModelMethod
from ...models.tap_agreement import TapAgreement, tap_agreement
from ...text import number, percent, percent_with_interval, with_interval
from ..blocks import Block, Download, Finding, Grid, Heading, Name, Words
from ..schema import Column, frame_of

_KINDS = (
    ("accurate", "Both raters know the class"),
    ("mixed", "One rater knows it, the other guesses"),
    ("inaccurate", "Both raters guess the same class"),
    ("total", "Expected agreement"),
    ("chance", "Agreement by chance"),
)
RATES = (Column("part", hidden=True), Column("agreement"), Column("share", unit="rate"))
RATERS = (
    Column("rater"),
    Column("n_annotations", "annotations", "count"),
    Column("accuracy", "accuracy a", "rate", "accuracy_low", "accuracy_high", "95% interval"),
    Column("accuracy_low", "95% low", "rate"),
    Column("accuracy_high", "95% high", "rate"),
    Column("class", "guessed above prevalence"),
    Column("prevalence", "its prevalence t", "rate"),
    Column("guesses", "its guesses p", "rate"),
    Column("guesses_low", "95% low", "rate"),
    Column("guesses_high", "95% high", "rate"),
)


def compute(dataset: Dataset, options) -> TapAgreement:
    """Fit t-a-p and take agreement apart."""
    return tap_agreement(dataset)


def present(found: TapAgreement, dataset: Dataset, options) -> list[Block]:
    """Show the parts of expected agreement, guesses against the prevalence, and the table of raters."""
    rates, table = found.rates, table_of(found, dataset, options)
    parts = frame_of(((name, title, getattr(rates, name)) for name, title in _KINDS), RATES)
    most = (table["guesses"] - table["prevalence"]).groupby(table["rater"], sort=False).idxmax()
    return [
        Finding(
            f"Expected agreement: {percent(rates.total)} (both know: {percent(rates.accurate)}; one knows: "
            f"{percent(rates.mixed)}; both guess: {percent(rates.inaccurate)})"
        ),
        Words((Name(_fit_of(found)),)),
        Words((Name(f"{found.test.words}."),)),
        Words(
            "The test assumes that raters are alike and that annotations of a case are independent given its class.",
            "note",
        ),
        Grid(parts, "Agreement by t-a-p.", columns=RATES, key="tap_rates"),
        Download(parts, "Parts of agreement", "tap_agreement", "tap_rates_table"),
        Heading("Knowledge and guesses of each rater", method_named(RaterModelMethod, "tap")),
        Grid(
            table.loc[most].reset_index(drop=True),
            "Accuracy of each rater, and the class whose share of guesses most exceeds its prevalence.",
            columns=RATERS,
            key="tap_raters",
        ),
        Words(
            "An interval is missing if an estimate is at its limit, or if the model has too many parameters. "
            "Accuracy a is the probability of knowing the class; a guess can also be correct.",
            "note",
        ),
        *([Words((Name(" ".join(found.notes)),), "warning")] if found.notes else []),
        Download(table, "Accuracy and guesses", "tap_raters", "tap_raters_table"),
    ]


def _fit_of(found: TapAgreement) -> str:
    observed, kappa = found.observed, found.kappa
    expected = "undefined" if found.rates.kappa is None else number(found.rates.kappa)
    return (
        f"Observed agreement: {percent_with_interval(observed.value, observed.ci_low, observed.ci_high)}. Fleiss' "
        f"κ: {with_interval(kappa.value, kappa.ci_low, kappa.ci_high)}; expected under the model: {expected}."
    )


def table_of(found: TapAgreement, dataset: Dataset, options) -> pd.DataFrame:
    """Return the table with one row per rater and class."""
    rows = (
        (
            rater, int(found.n_annotations[j]), found.accuracy[j], found.a_low[j], found.a_high[j], name,
            found.prevalence[k], found.guesses[j, k], found.p_low[j, k], found.p_high[j, k],
        )
        for j, rater in enumerate(dataset.raters)
        for k, name in enumerate(found.fit.classes)
    )  # fmt: skip
    return frame_of(rows, RATERS)
