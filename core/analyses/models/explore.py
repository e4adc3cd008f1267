"""Results of κ, α, AC1 and the models on ratings that are simulated with chosen t, a and p."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.coefficients import fleiss_kappa, gwet_ac, percent_agreement
from ...agreement.intervals import Coefficient, Share, share_of
from ...agreement.krippendorff import krippendorff_alpha
from ...annotations.counts import class_counts
from ...annotations.dataset import Dataset
from ...annotations.write import long_table
from ...errors import InputError
from ...models.dawid_skene import DawidSkene
from ...models.majority import MajorityVote
from ...models.one_coin import OneCoin
from ...models.tap import TAP
from ...models.tap_agreement import MatchRates, TapAgreement, match_rates, simulate_ratings
from ...options import check_number
from ...text import exact, number, percent, with_interval
from ..blocks import Block, Download, Finding, Grid, Heading, Words
from ..schema import Column, frame_of

MOST_RATINGS = 100_000
MOST_CLASSES = 20
COLUMNS = (
    Column("measure"),
    Column("value", unit="coefficient", low="ci_low", high="ci_high", picture="95% interval"),
    Column("ci_low", "95% low", "coefficient"),
    Column("ci_high", "95% high", "coefficient"),
    Column("expected", "expected from t, a and p", "coefficient"),
)
MODELS = {"Majority vote": MajorityVote, "One-coin": OneCoin, "Dawid-Skene": DawidSkene, "t-a-p": TAP}


@dataclass(frozen=True, slots=True, eq=False)
class Explored:
    """Simulated ratings with their coefficients and the results of models.

    Attributes
    ----------
    ratings : Dataset
    truth : ndarray of int64, shape (n_cases,)
    rates : MatchRates
        Expected rates from t, a and p.
    coefficients : dict of str to Coefficient
    correct : dict of str to Share
        Share of cases whose most likely class is the true one, by model; a tie counts in parts.
    """

    ratings: Dataset
    truth: np.ndarray
    rates: MatchRates
    coefficients: dict[str, Coefficient]
    correct: dict[str, Share]


def compute(dataset: Dataset, options) -> Explored:
    """Simulate ratings, whatever the data are, and judge them.

    Raises
    ------
    InputError
        An option is out of range, or there would be too many ratings.
    """
    for name in "tap":
        check_number(getattr(options, name), name, 0, 1)
    if options.cases * options.raters > MOST_RATINGS or options.classes > MOST_CLASSES:
        raise InputError(
            f"Could not simulate {options.cases:,} cases, {options.raters:,} raters and {options.classes:,} classes: "
            "the simulation is too large.",
            f"Use at most {MOST_RATINGS:,} ratings (cases × raters) and {MOST_CLASSES} classes.",
        )
    rest = options.classes - 1
    t, p = (np.array([first, *[(1 - first) / rest] * rest]) for first in (options.t, options.p))
    ratings, truth = simulate_ratings(t, options.a, p, options.cases, options.raters, options.seed)
    counts = class_counts(ratings)
    coefficients = {
        "Percent agreement": percent_agreement(counts),
        "Fleiss' κ": fleiss_kappa(counts),
        "Krippendorff's α": krippendorff_alpha(counts),
        "Gwet's AC1": gwet_ac(counts),
    }
    rates = match_rates(t, np.array([options.a]), p[None])
    correct = {name: _correct(model().fit(ratings).class_probability, truth) for name, model in MODELS.items()}
    return Explored(ratings, truth, rates, coefficients, correct)


def _correct(probability: np.ndarray, truth: np.ndarray) -> Share:
    first = probability >= probability.max(axis=1, keepdims=True) - 1e-9
    share = first[np.arange(len(truth)), truth] / first.sum(axis=1)
    return share_of(float(share.sum()), len(truth))


def values_of(found: TapAgreement) -> dict[str, float]:
    """Return t, a and p of an average rater and the most common class, for a simulation.

    Parameters
    ----------
    found : TapAgreement
    """
    first, n = int(np.argmax(found.prevalence)), found.n_annotations
    a, p = (float(np.average(part, weights=n)) for part in (found.accuracy, found.guesses[:, first]))
    return {name: round(value, 2) for name, value in {"t": float(found.prevalence[first]), "a": a, "p": p}.items()}


def present(found: Explored, dataset: Dataset, options) -> list[Block]:
    """Show κ next to its expected value under t, a and p, and all measures."""
    table, rates = table_of(found, dataset, options), found.rates
    kappa, n = found.coefficients["Fleiss' κ"], len(found.coefficients)
    expected = "undefined" if rates.kappa is None else number(rates.kappa)
    same = ""
    if options.t == options.p and rates.kappa is not None:
        same = " Because raters guess in proportion to prevalence, the expected κ is a²."
    said = "undefined" if kappa.value is None else with_interval(kappa.value, kappa.ci_low, kappa.ci_high)
    frame = long_table(found.ratings)
    frame["truth"] = np.array(found.ratings.classes)[found.truth][found.ratings.case_of_annotation]
    return [
        Words(
            "These ratings are simulated and do not use your data. A rater knows the class with probability a, and "
            "otherwise guesses.",
            "note",
        ),
        Finding(f"Fleiss' κ is {said}; expected at a = {exact(options.a)}: {expected}"),
        Words(
            f"Expected agreement: {percent(rates.total)} (both know: {percent(rates.accurate)}; one knows: "
            f"{percent(rates.mixed)}; both guess: {percent(rates.inaccurate)}).{same}"
        ),
        Heading("Results of measures and models"),
        Grid(table.head(n), "Coefficients.", columns=COLUMNS, key="explored"),
        Grid(
            table.iloc[n:],
            "Cases whose most likely class is the true one.",
            columns=COLUMNS[:-1],
            key="explored_models",
        ),
        Download(table, "Measures", "explored", "explored_table"),
        Download(frame, "Simulated ratings", "simulated_ratings", "simulated_ratings_table"),
    ]


def table_of(found: Explored, dataset: Dataset, options) -> pd.DataFrame:
    """Return the table with one row per coefficient and model."""
    rates, chance = found.rates, found.rates.kappa
    expected = {"Percent agreement": rates.total, "Fleiss' κ": chance, "Krippendorff's α": chance}
    even = (1 - rates.chance) / (options.classes - 1)  # agreement by chance of AC1
    expected["Gwet's AC1"] = (rates.total - even) / (1 - even)
    rows = [(name, one.value, one.ci_low, one.ci_high, expected.get(name)) for name, one in found.coefficients.items()]
    rows += [(f"Correct by {name}", one.value, one.low, one.high, None) for name, one in found.correct.items()]
    return frame_of(rows, COLUMNS)
