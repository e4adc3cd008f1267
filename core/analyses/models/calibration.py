"""Calibration of both numbers of a case by gold: P(correct) of the model in detail, and certainty."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.intervals import Share, share_of
from ...analysis_settings import decide
from ...annotations.dataset import Dataset
from ...certainty.top_sets import annotation_certainty, data_of_cases
from ...figures import models as figures
from ...methods import method_named
from ...models.comparison import FEWEST_FOR_CURVE, Calibration, calibration_of, top_shares
from ...models.gold import judging_gold
from ...plausibility.dirichlet import DirichletCounts
from ...plausibility.protocol import PlausibilityMethod
from ...text import exact, percent, percent_with_interval, plotly, plural
from ...thresholds import CLEAR_CASE
from ..blocks import Block, Download, Figure, Heading, Name, Row, Stack, Words
from ..schema import Column, frame_of
from .fits import FittedModels, label

COLUMNS = (
    Column("number"),
    Column("cases", unit="count"),
    Column("mean", unit="rate"),
    Column("share correct", unit="rate", low="ci_low", high="ci_high", picture="95% interval"),
    Column("ci_low", "95% low", "rate"),
    Column("ci_high", "95% high", "rate"),
)
_HIGH, _N_DRAWS = CLEAR_CASE, 1000
P_CORRECT, CERTAINTY = "P(correct)", "certainty"
_SHARED = ", so it can be high on cases where raters share a mistake"


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """One number of each gold case against whether its class is the gold class.

    Attributes
    ----------
    name : str
        `P_CORRECT` or `CERTAINTY`.
    mean : float
        Mean of the number over gold cases.
    correct : Share
        Share of gold cases whose class by this number is the gold class.
    high : Share or None
        The same among cases in which the number is at least `_HIGH`; None without such a case.
    bins : Calibration
    """

    name: str
    mean: float
    correct: Share
    high: Share | None
    bins: Calibration


@dataclass(frozen=True, slots=True, eq=False)
class CaseCalibration:
    """Both numbers against gold.

    Attributes
    ----------
    model : str
        Label of the model in detail.
    plausibility : str
        Title of the model of certainty.
    reliability : float
        γ of certainty.
    numbers : tuple of Number
        P(correct), then certainty.
    """

    model: str
    plausibility: str
    reliability: float
    numbers: tuple[Number, ...]


def compute(models: FittedModels, options) -> CaseCalibration:
    """Compare both numbers with gold.

    Raises
    ------
    NotApplicableError
        No case with an annotation has gold, or the fit used it.
    """
    shown = models.shown
    cases, truth = judging_gold(shown.dataset, shown.fit)
    p = shown.fit.class_probability[cases]
    numbers = [_number(P_CORRECT, p.max(axis=1), top_shares(p)[np.arange(cases.size), truth])]
    model, reliability = options.plausibility, options.reliability
    if model is None:
        settings = decide(shown.dataset, DirichletCounts(), shown.dataset)
        model, reliability = settings.plausibility, settings.reliability
    some = data_of_cases(model, shown.dataset, cases.tolist())
    found = annotation_certainty(model, some, reliability=reliability, n_draws=_N_DRAWS, max_top=1)
    place = {case: number for number, case in enumerate(found.cases)}
    order = [place[shown.dataset.cases[case]] for case in cases.tolist()]
    numbers.append(_number(CERTAINTY, found.certainty[order, 0], (found.top_class()[order] == truth).astype(float)))
    return CaseCalibration(
        label(shown), method_named(PlausibilityMethod, model.name).title, reliability, tuple(numbers)
    )


def _number(name: str, value: np.ndarray, correct: np.ndarray) -> Number:
    n, high = value.size, value >= _HIGH - 1e-9
    bins = calibration_of(value, correct, 10 if n >= FEWEST_FOR_CURVE else 5)
    at_high = share_of(float(correct[high].sum()), int(high.sum())) if high.any() else None
    return Number(name, float(value.mean()), share_of(float(correct.sum()), n), at_high, bins)


def present(found: CaseCalibration, dataset: Dataset, options) -> list[Block]:
    """Show a sentence and a figure for each number: a curve with enough gold, otherwise bars with intervals."""
    by_model, by_certainty = found.numbers
    shared = _SHARED if by_certainty.mean > by_certainty.correct.high else ""
    blocks: list[Block] = [
        Heading("Calibration against gold", "calibration"),
        Words((Name(f"{sentence(by_model)} Model: {found.model}."),)),
        Words(
            f"{sentence(by_certainty)} Certainty ({found.plausibility}, γ = {exact(found.reliability)}) predicts the "
            f"annotations of more raters, not the truth{shared}."
        ),
    ]
    if options.origin:
        blocks.append(Words((Name(options.origin),), "warning"))
    n = by_model.correct.n
    if n < FEWEST_FOR_CURVE:
        blocks.append(Words(f"No curve is shown: at least {FEWEST_FOR_CURVE} gold cases are needed; n = {n}.", "note"))
    stacks = tuple(Stack(1, [_figure(number)]) for number in found.numbers)
    table = table_of(found, dataset, options)
    return [*blocks, Row(stacks, "large"), Download(table, "Calibration", "calibration", "calibration_download")]


def sentence(number: Number) -> str:
    """Compare the mean of a number with the share of gold cases that are correct: too high, too low, or neither.

    Parameters
    ----------
    number : Number
    """
    correct, high = number.correct, number.high
    name = number.name[0].upper() + number.name[1:]
    said = (
        f"{name} is {percent(number.mean)} on average; the class is correct for "
        f"{percent_with_interval(correct.value, correct.low, correct.high)} of {plural(correct.n, 'gold case')}"
    )
    if number.name == P_CORRECT and not correct.low <= number.mean <= correct.high:
        said += f", so {name} is {'over' if number.mean > correct.high else 'under'}estimated on these cases"
    if high is None:
        return f"{said}. No gold case reaches {percent(_HIGH)}."
    share = percent_with_interval(high.value, high.low, high.high)
    return f"{said}. At {percent(_HIGH)} or above, the class is correct for {share} of {plural(high.n, 'case')}."


def _figure(number: Number) -> Figure:
    bins, enough = number.bins, number.correct.n >= FEWEST_FOR_CURVE
    name = number.name[0].upper() + number.name[1:]
    title = f"{plotly(name)}: mean {percent(number.mean)}, correct {percent(number.correct.value)}"
    key = "calibration_correct" if number.name == P_CORRECT else "calibration_certainty"
    draw = figures.calibration_curve if enough else figures.calibration_bars
    return Figure(
        lambda theme: draw(bins.mean, bins.share, bins.low, bins.high, bins.n, theme, title),
        f"{name} of gold cases compared with the share of correct cases",
        key,
    )


def table_of(found: CaseCalibration, dataset: Dataset, options) -> pd.DataFrame:
    """Return the table with one row per number and bin."""
    rows = (
        (number.name, n, mean, share, low, high)
        for number in found.numbers
        for n, mean, share, low, high in zip(
            number.bins.n.tolist(), number.bins.mean, number.bins.share, number.bins.low, number.bins.high, strict=True
        )
    )
    return frame_of(rows, COLUMNS)
