"""Whoever points at a mark reads its own name and numbers, each under its own word and in its own place.

Each row: a figure made of numbers that differ, which of its traces, and the sentences at its points as they are read.
"""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.agreement.benchmark_labels import Band
from core.agreement.intervals import Coefficient
from core.agreement.over_time import OverTime, Window
from core.agreement.precision import PrecisionPoint
from core.certainty.calibration import ReliabilityBin
from core.certainty.regions import Region
from core.certainty.score_trust import ScoreTrust
from core.figures import (
    agreement,
    agreement_parts,
    anchors,
    cases,
    checks,
    classifiers,
    machines,
    models,
    rater_models,
    raters,
    reliability,
    scores,
    studies,
    theme,
)
from core.figures import prediction_sets as sets
from core.figures.estimates import estimates
from core.figures.theme import LIGHT
from core.machines.equivalent_readers import EquivalentReaders
from core.machines.subgroup_differences import SubgroupDifference
from core.models.loo import LooRow
from core.raters.score_drift import ScoreDrift
from core.raters.score_gold import ScoreGold
from core.raters.score_raters import ScoreRaters
from core.raters.shared_errors import SharedErrors
from core.studies.analysis import StudyEstimate
from core.studies.roc import AveragePoint, RocCurves, RocPoint
from core.text import number
from tests.core.figures import test_classifiers, test_machines, test_raters, test_reliability
from tests.core.figures.fits import fit
from tests.core.figures.hovers import hovers
from tests.core.figures.test_checks import VOTES, check


def coefficient(value, low, high, n_cases, n_annotations):
    return Coefficient("percent", "identity", value, 0.1, low, high, n_cases, n_annotations)


ONE, OTHER = coefficient(0.71, 0.52, 0.75, 11, 31), coefficient(0.43, 0.4, 0.61, 1200, 34567)


def agreements():
    yield (
        agreement.forest([ONE], LIGHT, ""),
        0,
        ["Percent agreement: 0.710 / interval 0.520 to 0.750 / 11 cases, 31 annotations"],
    )
    yield (
        agreement.case_agreement_histogram(np.array([0.11, 0.12, 0.95]), LIGHT, ""),
        0,
        [
            f"agreement {low / 10:.1f} to {low / 10 + 0.1:.1f}: {n} case{'s' * (n != 1)}"
            for low, n in enumerate([0, 2, 0, 0, 0, 0, 0, 0, 0, 1])
        ],
    )
    yield (
        agreement.annotations_per_case(np.array([4, 4, 7, 4]), LIGHT, ""),
        0,
        [
            "4 annotations: 3 cases",
            "7 annotations: 1 case",
        ],
    )
    yield (
        agreement_parts.named_forest(["a", "b"], [ONE, OTHER], LIGHT, "", ""),
        0,
        [
            "b: 0.430 / 0.400 to 0.610 / 1,200 cases, 34,567 annotations",
            "a: 0.710 / 0.520 to 0.750 / 11 cases, 31 annotations",
        ],
    )
    over_time = OverTime("month", (Window("May", 0, 1, 5, (ONE,)), Window("June", 1, 2, 6, (OTHER,))), 0)
    words = agreement_parts.band_bar([Band("fair", 0.2, 0.4, 0.315, "")], LIGHT, "")
    yield words, 0, ["fair (0.2 to 0.4): 31.5%"]
    points = (
        PrecisionPoint(150, 1300, 2600, None, None, (0.02, 0.03), (0.11, 0.22)),
        PrecisionPoint(2000, 1400, 2800, None, None, (0.01, 0.04), (0.05, 0.1)),
    )
    curve = Made(how="new_cases", points=points)
    yield (
        agreement_parts.weight_curves(
            np.array([2, 1234]), {"flat": np.array([1.0, 0.25]), "same": np.array([1.0, 0.25])}, LIGHT, ""
        ),
        0,
        ["2 annotations: weight 1.000 | flat = same", "1234 annotations: weight 0.250 | flat = same"],
    )
    yield (
        agreement_parts.precision_figure([curve], LIGHT, ""),
        1,
        [
            "150 more: interval 0.220 wide / 1,300 cases, 2,600 annotations",
            "2,000 more: interval 0.100 wide / 1,400 cases, 2,800 annotations",
        ],
    )
    yield (
        agreement_parts.agreement_over_time(over_time, LIGHT, ""),
        0,
        [
            "May: 0.710 / 0.520 to 0.750 / 11 cases",
            "June: 0.430 / 0.400 to 0.610 / 1,200 cases",
        ],
    )


def of_machines():
    one = test_machines.standing("m", 0.7, test_machines.against("ann", 0.8, False, 41),
                                 test_machines.against("bob", 0.4, True, 1052))  # fmt: skip
    yield (
        machines.against_raters([one], 0.2, LIGHT, ""),
        0,
        [
            "ann: ρ 0.80, 41 cases, p 0.0123",
            "bob: ρ 0.40, 1,052 cases, p 0.0123",
        ],
    )
    curve = np.where(machines.CURVE < 0.25, 0.125, 0.875)
    yield (
        machines.over_epsilon([replace(one, curve=curve)], 0.2, LIGHT, ""),
        0,
        [f"ε {value:.2f}: ω {0.12 if value < 0.25 else 0.88:.2f}" for value in machines.CURVE],
    )
    three = replace(one, raters=(*one.raters, test_machines.against("cem", 0.9, True)))
    yield machines.beside_people([three], [], LIGHT, ""), 1, ["m: ρ 0.70, not worse than 2 of 3"]
    panel = np.array([0.41, 0.52])
    worth = EquivalentReaders(
        "m", "log", 30, 1, panel, panel - 0.1, panel + 0.05, 0.47, 0.4, 0.6, 0.8, 0.5, np.inf, 0.95
    )
    figure = machines.worth_in_readers([worth], LIGHT, "")
    yield figure, 1, ["0 people: 0.410", "1 person: 0.520"]
    yield figure, 3, ["m: 0.470, worth 0.8 (0.5 to more than 1)"] * 2
    value = np.array([[1, 0.31], [0.31, 1]])
    n_common = np.array([[90, 2017], [2017, 80]])
    nothing = np.zeros((2, 2))
    shared = SharedErrors(("ann", "bob"), np.zeros(2, bool), n_common, nothing, value, nothing, nothing > 0, 0.05, 3.0,
                          2, 1)  # fmt: skip
    yield (
        machines.shared_errors_matrix(shared, [1, 0], ["", ""], LIGHT, ""),
        0,
        [
            "bob and bob: nan, 80 cases",
            "bob and ann: 0.31, 2,017 cases",
            "ann and bob: 0.31, 2,017 cases",
            "ann and ann: nan, 90 cases",
        ],
    )
    versions = tuple(Made(machine=f"m-{place}", agreement=value, low=value - 0.25, high=value + 0.125)
                     for place, value in enumerate((0.5, 0.625)))  # fmt: skip
    drift = Made(versions=versions, family="m", people=0.75, score="accuracy")
    yield machines.versions_in_order(drift, LIGHT, ""), 0, ["m-0: 0.500", "m-1: 0.625"]
    lead = SubgroupDifference("m", "class", "x", 3030, 0.9, 0.05, 0.01, 0.12)
    yield machines.leads_by_part([lead], 0.2, LIGHT, ""), 0, ["x: 0.05, 3,030 cases"]


def of_raters():
    table = test_raters.raters([0.8, 0.6], [10, 2000])
    yield (
        raters.accuracy_against_pool(table, LIGHT, ""),
        0,
        [
            "rater 1: 0.60 (0.55 to 0.62) / 2,000 annotations",
            "rater 0: 0.80 (0.75 to 0.82) / 10 annotations",
        ],
    )
    draws = np.array([[[0.9, 0.2], [0.8, 0.4], [0.7, 0.3]]])
    trust = test_raters.rater_trust(("a", "b"), np.array([5, 2000]), draws, (3.0, 2.0), 1.0, held=True)
    low, high = np.quantile(draws[0], [0.025, 0.975], axis=0)
    yield (
        raters.trust_of_raters(trust, LIGHT, ""),
        0,
        [
            f"b: 0.30 ({low[1]:.2f} to {high[1]:.2f}) / 2,000 annotations",
            f"a: 0.80 ({low[0]:.2f} to {high[0]:.2f}) / 5 annotations",
        ],
    )
    over_time = raters.rater_over_time(test_raters.drift(), LIGHT, "")
    yield (
        over_time,
        0,
        [
            "1970-01-14: 80% (65% to 83%), 4 annotations",
            "1970-02-03: 50% (42% to 70%), 1,205 annotations",
        ],
    )
    drift = test_raters.drift()
    yield (
        over_time,
        1,
        [
            f"{np.datetime64(int(time), 's').astype('datetime64[D]')}: {value:.2f}"
            for time, value in zip(drift.time, drift.chart, strict=True)
        ],
    )
    found = test_raters.Forecast(
        goal=test_raters.Goal("agreement", 0.35), policy="fewest", extra=np.array([100, 1000]),
        value=np.array([0.7, 0.4]), low=np.array([0.55, 0.1]), high=np.array([0.8, 0.6]), now=0.9, needed=None,
        needed_low=None, needed_high=None, share_met=0.2, first_cases=(), by_rater=np.zeros(2), level=0.8, n_worlds=20,
        seed=0, notes=(),
    )  # fmt: skip
    yield (
        raters.plan_forecast(found, LIGHT, ""),
        1,
        [
            "100 more: 0.700 (0.550 to 0.800)",
            "1,000 more: 0.400 (0.100 to 0.600)",
        ],
    )


def of_trust():
    sweep = test_reliability.SWEEP
    error = [1.96 * (one.mean_se(2) or 0) for one in sweep.certainty]
    yield (
        reliability.mean_certainty(sweep, LIGHT, ""),
        1,
        [
            f"γ {value:g}: {mean:.1%} ± {se:.2%} | top-2"
            for value, mean, se in zip((0.5, 4, 25), (0.5, 0.6, 0.65), error, strict=True)
        ],
    )
    first, second = np.array([0.1, 0.5]), np.array([0.3, 0.2])
    yield (
        reliability.model_against_model(first, second, ("one", "other"), ("a", "b"), LIGHT, ""),
        1,
        [
            "a: 10% and 30%",
            "b: 50% and 20%",
        ],
    )
    yield (
        reliability.risk_certainty(test_reliability.risk(2), LIGHT, ""),
        0,
        [f"{at:.0%} of cases are below {value:.2f} | of the leading class" for at, value in ((0.25, 0.4), (0.75, 0.9))],
    )
    yield (
        reliability.expected_risk(test_reliability.risk(), LIGHT, ""),
        2,
        [f"expected risk about {1.55 + 0.1 * step:.2f}: {'0 cases' if step else '1 case'} | high" for step in range(5)],
    )
    levels = [np.array([3, 3, 5, 3]), np.array([], int), np.array([2])]
    yield reliability.by_risk(levels, LIGHT, "", ""), 0, ["3: 75% of cases | low", "5: 25% of cases | low"]
    # The dots are shifted so that they can be told apart; what is said of them is not.
    agreed, sure = np.array([0.204, 0.506]), np.array([0.31, 0.92])
    yield (
        reliability.certainty_and_agreement(agreed, sure, (0.2, 0.5), LIGHT, ""),
        0,
        [
            "agreement 0.20, certainty 31%",
            "agreement 0.51, certainty 92%",
        ],
    )
    bins = (ReliabilityBin(0.5, 0.6, 1200, 0.58, 0.40, 0.22, 0.71),)
    yield anchors.reliability_diagram(bins, LIGHT, ""), 1, ["certainty 58%: correct in 40% of 1,200 cases"]


def of_classifiers():
    steps = tuple(test_classifiers.evaluation(step) for step in range(2))
    figure = classifiers.metric_against_reliability((1.0, 4.0), steps, "top1_accuracy", LIGHT, "")
    yield (
        figure,
        1,
        [
            "γ 1: 40.0% (35.0% to 43.0%), 70 cases | net",
            "γ 4: 41.1% (36.1% to 44.1%), 70 cases | net",
        ],
    )
    yield figure, 2, ["with the point estimate as the truth: 33.0% | net"]
    by_draw = np.full((2, 2, 4), 0.5)
    by_draw[0, 0] = 0.1, 0.1, 0.1, 0.5
    figure = classifiers.draws_histogram(test_classifiers.evaluation(0, by_draw), "top1_accuracy", LIGHT, "")
    edge = 0.4 / 80
    yield (
        figure,
        0,
        [
            f"{0.1 + edge + 2 * edge * step:.1%}: {({0: 0.75, 39: 0.25}).get(step, 0):.1%} of draws | net"
            for step in range(40)
        ],
    )
    by_case = np.array([[[0.9, 0.0], [0.2, 0.0]], [[0.3, 0.0], [0.6, 0.0]]])
    figure = classifiers.metric_per_case(test_classifiers.evaluation(0, None, by_case), "top1_accuracy", LIGHT, "")
    yield figure, 0, ["25% of cases are below 30%", "75% of cases are below 90%"]


def of_models():
    known = fit(n_classes=3)
    marks = [f"class {code}: {known.prevalence[code]:.1%} ({known.uncertainty.prevalence.low[code]:.1%} to "
             f"{known.uncertainty.prevalence.high[code]:.1%}), 30 cases | A" for code in (2, 0)]  # fmt: skip
    figure = models.prevalence_by_model({"A": known}, np.array([0.5, 0.2, 0.3]), LIGHT, "", [2, 0])
    yield figure, 2, marks
    yield figure, 0, ["class 2: 0.300 of 46 annotations"] * 2
    yield (
        models.objective_path(replace(fit(), objective=(-1030.5, -20.25)), LIGHT, ""),
        0,
        [
            "iteration 1: -1,030.5000",
            "iteration 2: -20.2500",
        ],
    )
    numbers = [np.array([values]) for values in (0.31, 0.42, 0.23, 0.74, 1500)]
    figure = models.calibration_curve(*numbers, LIGHT, "")
    yield figure, 1, ["probability 31%: true in 42% (23% to 74%) of 1,500 cases"]
    yield figure, 2, ["probability 31%: 1,500 cases"]
    bars = models.calibration_bars(*numbers, LIGHT, "")
    yield bars, 0, ["true in 42% (23% to 74%)"]
    yield bars, 1, ["mean probability 31%"]
    two = fit(n_raters=1)
    right = two.confusion[0].diagonal()
    yield (
        rater_models.sensitivity_specificity(two, LIGHT, ""),
        1,
        [
            f"rater 0, 10 annotations / sensitivity {right[1]:.0%} ({right[1] - 0.05:.0%} to {right[1] + 0.03:.0%})"
            f" / specificity {right[0]:.0%} ({right[0] - 0.05:.0%} to {right[0] + 0.03:.0%})"
        ],
    )
    accuracy = two.accuracy()[0]
    figure = rater_models.accuracy_by_rater(two, LIGHT, "")
    yield figure, 1, [f"rater 0: {accuracy:.0%} ({accuracy - 0.05:.0%} to {accuracy + 0.03:.0%}) / 10 annotations"]
    yield figure, 2, [f"always choosing the most frequent class: {two.prevalence.max():.0%}"] * 2
    two = fit(n_cases=2)
    (effect,) = two.effects
    yield (
        rater_models.effect_against_probability(two, effect, np.array([3, 1400]), LIGHT, ""),
        0,
        [
            f"case {case}, {('3', '1,400')[case]} annotations / P(class 1) {two.class_probability[case, 1]:.0%} / "
            f"difficulty {number(effect.mean[case], 3)} ({number(effect.spread.low[case], 3)} to "
            f"{number(effect.spread.high[case], 3)})"
            for case in np.argsort(effect.mean)
        ],
    )


def of_checks():
    figure = checks.vote_bands({"m": replace(VOTES, median=np.array([46.0, 19.0, 26.0]))}, LIGHT, "")
    yield figure, 0, [f"{votes} votes: {n} of 100 cases | observed" for votes, n in enumerate((50, 30, 20))]
    ends = ((45, 55, 46, 50, 0.1), (10, 20, 19, 30, 0.5), (25, 35, 26, 20, 0.9))
    for trace in (1, 2):
        yield (
            figure,
            trace,
            [
                f"{votes} votes: {low} to {high} cases replicated (median {median}) / "
                f"observed {n} of 100, p {p:.3f} | m"
                for votes, (low, high, median, n, p) in enumerate(ends)
            ],
        )
    of_raters = check("raters", [30, 2010], [25, 8], [35, 12], [100, 5050], ["a", "b"])
    figure = checks.rater_bands(of_raters, LIGHT, "")
    yield figure, 1, ["a: 30 of 100 annotations / replicated 25 to 35, p 0.100"]
    yield figure, 2, ["b: 2,010 of 5,050 annotations / replicated 8 to 12, p 0.900"]
    rows = (LooRow("A", -100.0, 9.0, 0.0, 0.0, 3.0, 0, 50), LooRow("B", -104.5, 8.0, -4.5, 2.0, 6.0, 7, 51))
    yield (
        checks.loo_forest(rows, LIGHT, ""),
        0,
        [
            "A: best / elpd −100.0 ± 9.0 over 50 cases, p_loo 3.0",
            "B: −4.5 ± 2.0 / elpd −104.5 ± 8.0 over 51 cases, p_loo 6.0 / k too high for 7 cases",
        ],
    )


def of_cases():
    bars = cases.plausibility_bars(
        ["a", "b"], np.array([0.6, 0.4]), np.array([0.55, 0.35]), np.array([0.31, 0.12]), np.array([0.82, 0.5]),
        np.array([[0.5, 0.3]]), ["#111111", "#222222"], LIGHT, "",
    )  # fmt: skip
    yield (
        bars,
        0,
        [
            "a: point estimate 60.0% / draws 55.0% (31.0% to 82.0%)",
            "b: point estimate 40.0% / draws 35.0% (12.0% to 50.0%)",
        ],
    )
    scale = cases.class_scale(
        ["a", "b"], np.array([0.7, 0.3]), np.array([4, 3]), (1.3, 1.0, 2.0), ["#111111", "#222222"], LIGHT, ""
    )
    yield scale, 0, ["a: probability 0.700 / named by 4", "b: probability 0.300 / named by 3"]
    yield scale, 2, ["expected class a to b"]
    corners = np.array([[0.7, 0.2, 0.1], [0.5, 0.2, 0.3]])
    region = Region((corners,), 0.95)
    figure = cases.triangle(["a", "b", "c"], corners, region, LIGHT, "")
    yield figure, len(figure.data) - 2, ["a 70% / b 20% / c 10% | draw", "a 50% / b 20% / c 30% | draw"]
    yield figure, len(figure.data) - 1, ["a 60% / b 20% / c 20% | mean"]
    line = cases.interval(("a", "b"), np.array([0.25, 0.5, 0.9]), LIGHT, "")
    yield line, 1, ["0.25 | draw", "0.50 | draw", "0.90 | draw"]
    yield line, 2, ["0.550 | mean"]


def trusts(n_cases=1):
    m = np.array([[2.5, 3.5], [2.75, 3.75]])[:, :n_cases]
    above = np.array([[0.31, 0.62], [0.43, 0.74]])[:, :n_cases]
    return ScoreTrust(3.0, np.array([0.5, 4.0]), m, m - 1.125, m + 0.5, above)


def of_scores():
    x = np.linspace(0, 4, 5)
    density = np.array([0.1, 0.3, 0.5, 0.4, 0.2])
    found = Made(threshold=3.0, m=2.25, low=1.5, high=3.75, x=x, density=density, score=np.array([2.0, 3.5]),
                 rater=("ann", "bob"))  # fmt: skip
    figure = scores.score_density(found, LIGHT, "", predictions=(("net", 3.125),))
    yield figure, 1, [f"plausible score {value:.4g}" for value in x]
    yield figure, 2, ["mean 2.25 (1.5 to 3.75)"]
    yield figure, 3, ["2: ann", "3.5: bob"]
    yield figure, 4, ["net: 3.125 | predicted"]
    yield (
        scores.score_against_trust(trusts(), 1.0, LIGHT, ""),
        1,
        [
            "γ 0.5: 2.5 (1.375 to 3)",
            "γ 4: 2.75 (1.625 to 3.25)",
        ],
    )
    yield scores.above_against_trust(trusts(), 1.0, LIGHT, ""), 0, ["γ 0.5: 0.310", "γ 4: 0.430"]
    wider = trusts(2)
    wider = replace(wider, high=wider.high + np.array([[0, 1], [0, 3]]))
    low, middle, high = np.quantile(wider.high - wider.low, [0.25, 0.5, 0.75], axis=1)
    yield (
        scores.widths(wider, LIGHT, ""),
        1,
        [
            f"γ {value}: {b:.4g} ({a:.4g} to {c:.4g})"
            for value, a, b, c in zip(("0.5", "4"), low, middle, high, strict=True)
        ],
    )
    yield (
        scores.sides(trusts(2), LIGHT, ""),
        1,
        [
            "25% of cases are below 0.43 | γ = 4",
            "75% of cases are below 0.74 | γ = 4",
        ],
    )
    n = np.array([12, 1300, 14, 15])
    value = np.array([0.5, -1.25, 2.0, 0.75])
    clear = np.array([False, True, False, False])
    found = ScoreRaters(("a", "b", "c", "d"), n, n, value, value - 0.25, value + 0.5, value + 3, value + 2.75,
                        value + 4, clear, ~clear, *[value] * 6, clear, 1.0, 1.0, 1.0, 0.95, True)  # fmt: skip
    figure = scores.severities(found, LIGHT, "")
    yield (
        figure,
        0,
        [
            "a: 0.5 (0.25 to 1) / 12 scores",
            "d: 0.75 (0.5 to 1.25) / 15 scores",
            "c: 2 (1.75 to 2.5) / 14 scores",
        ],
    )
    yield figure, 1, ["b: -1.25 (-1.5 to -0.75) / 1,300 scores"]
    yield scores.spreads(found, LIGHT, ""), 0, ["b: 1.75 (1.5 to 2.75) / 1,300 scores"]
    off = np.array([0.5, -1.25])
    bias = ScoreGold(("a", "b"), n[:2], off, off - 0.25, off + 0.5, off + 3, off + 2.75, off + 4, 0.95)
    stretch = np.array([[0.5, 0.25, 1.0, 0, 172_800, 1204], [1.5, 1.25, 2.0, 172_800, 345_600, 12]])
    moments, above = np.array([0, 86_400, 172_800]), np.array([0.25, -0.5, 1.5])
    moved = ScoreDrift(np.arange(3), moments, above, above, 0.01, 2, 1, 2, (0.5, 0.25, 1.0), (1.5, 1.25, 2.0), stretch)
    over_time = scores.severity_over_time(moved, LIGHT, "")
    yield (
        over_time,
        0,
        [f"1970-01-0{day}: {value:.4g} above the others" for day, value in zip((1, 2, 3), above, strict=True)],
    )
    yield (
        over_time,
        1,
        ["1970-01-02: 0.5 (0.25 to 1) / 1,204 scores", "1970-01-04: 1.5 (1.25 to 2) / 12 scores"],
    )
    yield over_time, 2, ["before: 0.5 (0.25 to 1)"] * 2
    known = scores.biases(bias, LIGHT, "")
    yield known, 0, ["b: -1.25 (-1.5 to -0.75) / 1,300 scores", "a: 0.5 (0.25 to 1) / 12 scores"]


class Made:
    """A result that holds no more than what is read of it."""

    def __init__(self, **own):
        self.__dict__.update(own)


def of_sets():
    share, vote = Made(value=0.81, low=0.72, high=0.93, n=1204), Made(value=0.61, low=0.52, high=0.66, n=1100)
    shares = dict.fromkeys(sets.TITLES) | {"aggregated": share, "voted": vote}
    one = Made(alpha=0.2, mean_size=2.25, threshold=0.12345, n_test=1007, **shares)
    figure = sets.coverage_against_reliability((3.0,), (one,), LIGHT, "")
    yield figure, 1, [f"γ 3: 0.810 (0.720 to 0.930), 1,204 test cases | {sets.TITLES['aggregated']}"]
    yield figure, 3, [f"γ 3: 0.610 (0.520 to 0.660), 1,100 test cases | {sets.TITLES['voted']}"]
    figure = sets.size_against_reliability((3.0,), {"net": (one,)}, LIGHT, "")
    yield figure, 0, ["γ 3: 2.25 classes, threshold 0.1235, 1,007 test cases | net"]
    groups = (Made(by="group", value="x", n=5, aggregated=share, voted=None, mean_size=1.5),
              Made(by="group", value="y", n=6, aggregated=vote, voted=vote, mean_size=2.75))  # fmt: skip
    figure = sets.conditional_coverage(groups, 0.8, LIGHT, "")
    yield (
        figure,
        0,
        [
            "0.810 (0.720 to 0.930), mean size 1.50 | the truth (aggregated)",
            "0.610 (0.520 to 0.660), mean size 2.75 | the truth (aggregated)",
        ],
    )
    yield figure, 1, ["0.610 (0.520 to 0.660), mean size 2.75 | the majority vote"]


def of_anchors():
    numbers = {
        "reliability": np.array([0.5, 3.0]),
        "log_loss": np.array([0.61, 0.72]),
        "log_loss_low": np.array([0.5, 0.6]),
        "log_loss_high": np.array([0.7, 0.8]),
        "ece": np.array([0.13, 0.24]),
        "low": 0.5,
        "high": 3.0,
        "best": 0.5,
    }
    figure = anchors.certainty_loss(Made(scored="certainty", **numbers), LIGHT, "")
    yield figure, 1, ["γ 0.5: 0.610, ECE 0.130", "γ 3: 0.720, ECE 0.240"]
    held_out = numbers | {"diff": np.array([-0.2, 0.0]), "diff_se": np.array([0.01, 0.02])}
    figure = anchors.held_out_readers(Made(score=np.array([-1.625, -1.375]), **held_out), LIGHT, "")
    yield figure, 1, ["γ 0.5: -1.625 nats per rater", "γ 3: -1.375 nats per rater"]


def of_errors():
    found = tuple(
        Made(reliability=value, predictors=("net",), metrics=("bias",), mean=np.array([[mean]]),
             low=np.array([[mean - 0.5]]), high=np.array([[mean + 0.25]]), point=np.array([[mean + 2]]))
        for value, mean in ((1.0, 0.125), (3.0, 1.5))
    )  # fmt: skip
    figure = scores.errors_against_trust(found, "bias", LIGHT, "")
    yield figure, 1, ["γ 1: 0.125 (-0.375 to 0.375) | net", "γ 3: 1.5 (1 to 1.75) | net"]
    yield figure, 2, ["with the mean plausible scores as the truth: 3.5 | net"]


def of_estimates():
    figure = estimates([("all", 0.5, 0.25, 0.75), ("one", 0.375, 0.125, 0.5)], LIGHT, "", "accuracy", strong=1)
    yield figure, 0, ["all: 0.500 / 0.25 to 0.75"]
    yield figure, 1, ["one: 0.375 / 0.12 to 0.50"]


def of_studies():
    def one(reader, modality, *value):
        return StudyEstimate("gold", modality, "", reader, *value, float("nan"))

    figure = studies.forest(
        [one("", "CT", 0.5, 0.125, 9.0, 0.25, 0.75), one("Ann", "CT", 0.625, 0.1, 9.0, 0.375, 0.875)], LIGHT, "", "AUC"
    )
    yield figure, 0, ["mean over readers: 0.500 / 0.25 to 0.75 | CT", "Ann: 0.625 / 0.38 to 0.88 | CT"]
    curves = RocCurves(
        (AveragePoint("CT", 0.25, 0.75),), (RocPoint("CT", "Ann", 3.5, 0.125, 0.625), RocPoint("CT", "Ann", 1.0, 1, 1))
    )
    figure = studies.roc(curves, LIGHT, "")
    yield figure, 1, ["from score 3.5: sensitivity 0.625, 1 − specificity 0.125 | Ann"]
    yield figure, 2, ["mean of readers: 0.750 at 0.250 | CT"]


GROUPS = (
    agreements, of_machines, of_raters, of_trust, of_classifiers, of_models, of_checks, of_cases, of_scores, of_sets,
    of_anchors, of_errors, of_estimates, of_studies,
)  # fmt: skip


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_every_mark_says_its_own_name_and_numbers(group):
    for figure, place, said in group():
        assert hovers(figure.data[place]) == said


WORDS_ALONE = ("%{text}", "%{hovertext}", "%{customdata}")  # which the tests of these figures read themselves


def test_no_hover_of_a_figure_is_without_a_test():
    read = [figure.data[place].hovertemplate for group in GROUPS for figure, place, _ in group()]
    for path in Path(theme.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "%{" in node.value:
                alone = node.value.removesuffix("<extra></extra>") in WORDS_ALONE
                assert alone or any(node.value in one for one in read), f"{path.name}:{node.lineno}: {node.value}"
