"""Benchmarks as probabilities, against the truncated normal of scipy."""

import pytest
from scipy.stats import truncnorm

from core.agreement.benchmark_labels import SCALES, before_opinions, benchmark_labels
from core.agreement.coefficient_methods import CoefficientMethod
from core.agreement.coefficients import fleiss_kappa, percent_agreement
from core.agreement.intervals import Coefficient, undefined
from core.agreement.probability import spa
from core.methods import methods
from tests.core.agreement.examples import FLEISS, counts_of


def kappa(value, se, name="fleiss_kappa"):
    return Coefficient(name, "identity", value, se, None, None, 100, 400)


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (0.3, 0.1, 0.5, None),
        (0.3, -0.1, 0.7, "Cannot determine agreement beyond chance"),
        (0.05, -0.1, 0.19, "Agreement is barely above chance"),
        (-0.1, -0.3, 0.1, "Agreement is barely above chance"),
        (-0.5, -0.6, -0.4, "Raters contradict each other"),
        (-0.5, None, None, "Cannot determine agreement beyond chance"),
        (-0.6, None, None, "Raters contradict each other"),
    ],
)
def test_before_further_opinions_come_instructions_where_agreement_is_not_surely_beyond_chance(value, low, high, said):
    found = before_opinions(Coefficient("fleiss_kappa", "identity", value, 0.1, low, high, 100, 400))
    assert found == said or (found is not None and found[0] == said)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("value", "se"), [(0.43, 0.05), (0.95, 0.2), (-0.4, 0.5), (0.2, 1e-3), (0.999, 1e-4), (1, 3)])
def test_probabilities_are_those_of_a_normal_cut_at_both_ends_and_sum_to_1(scale, value, se):
    found = benchmark_labels(kappa(value, se), scale)
    normal = truncnorm((-1 - value) / se, (1 - value) / se, value, se)
    assert sum(band.probability for band in found) == pytest.approx(1, abs=1e-12)
    assert (found[0].low, found[-1].high) == (-1, 1)
    for band in found:
        assert band.probability == pytest.approx(normal.cdf(band.high) - normal.cdf(band.low), abs=1e-9)


def test_fleiss_example_is_moderate_by_landis_and_koch_with_a_little_doubt():
    """κ = 0.430 ± 0.054: to 1 − Φ((0.4 − 0.430)/.054) moderate or more."""
    found = {band.name: band.probability for band in benchmark_labels(fleiss_kappa(counts_of(FLEISS, 5)))}
    assert list(found) == ["poor", "slight", "fair", "moderate", "substantial", "almost perfect"]
    assert found["moderate"] == pytest.approx(0.711, abs=2e-3)
    assert found["fair"] == pytest.approx(0.288, abs=2e-3)


def test_bands_join_without_gaps_from_the_lowest_up():
    for scale in SCALES:
        found = benchmark_labels(kappa(0.5, 0.1), scale)
        assert [band.high for band in found[:-1]] == [band.low for band in found[1:]]


@pytest.mark.parametrize(
    ("coefficient", "why"),
    [
        (undefined("fleiss_kappa", "identity", "no case has two annotations"), "no case has two annotations"),
        (kappa(0.4, None), "no standard error"),
        (kappa(0.4, 0.0), "same on all cases"),
        (percent_agreement(counts_of(FLEISS, 5)), "chance-corrected"),
    ],
)
def test_without_an_error_or_beyond_their_purpose_there_are_no_probabilities_but_the_reason(coefficient, why):
    for band in benchmark_labels(coefficient):
        assert band.probability is None and why in band.note


def test_every_coefficient_of_classes_or_sets_but_raw_agreement_is_beyond_chance_and_none_of_scores_or_rankings():
    found = {
        name
        for name in methods(CoefficientMethod)
        if benchmark_labels(kappa(0.5, 0.1, name))[0].probability is not None
    }
    raw = {percent_agreement(counts_of(FLEISS, 5)).name, spa(counts_of(FLEISS, 5)).name}
    takes = {name: one.takes for name, one in methods(CoefficientMethod).items()}
    assert found == {name for name, kinds in takes.items() if {"class", "set"} & set(kinds)} - raw
    assert benchmark_labels(kappa(0.5, 0.1, "no such coefficient"))[0].probability is None


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="landis_koch"):
        benchmark_labels(kappa(0.4, 0.1), "mine")


@pytest.mark.parametrize(("value", "whole"), [(9, -1), (-9, 0)])
def test_what_is_far_outside_of_the_scale_lies_wholly_in_the_band_at_that_end(value, whole):
    for scale in SCALES:
        expected = [0.0] * len(SCALES[scale][0])
        expected[whole] = 1.0
        assert [band.probability for band in benchmark_labels(kappa(value, 0.1), scale)] == expected
