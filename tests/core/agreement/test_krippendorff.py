"""Alpha under its metrics, of classes and of scores, against coincidences pair by pair and published values."""

import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agreement import krippendorff
from core.agreement.krippendorff import METRICS, krippendorff_alpha
from core.agreement.weights import WEIGHT_FAMILIES, weight_matrix
from core.annotations.validation import LARGEST_SCORE
from core.errors import InputError, LimitError, NotApplicableError
from tests.core.agreement.examples import (
    GWET,
    KRIPPENDORFF,
    counts_of,
    jackknife,
    random_cases,
    scores_of,
)


def metric_of(name, cases, labels):
    """The distance of two classes, as Krippendorff prints it; counts are of the cases with two annotations."""
    paired = [answer for case in cases if len(case) >= 2 for answer in case]
    rank = sorted(range(len(labels)), key=lambda k: labels[k])

    def ordinal(a, b):
        low, high = sorted((rank.index(a), rank.index(b)))
        between = sum(paired.count(rank[place]) for place in range(low, high + 1))
        return (between - (paired.count(a) + paired.count(b)) / 2) ** 2

    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ordinal,
        "interval": lambda a, b: (labels[a] - labels[b]) ** 2,
        "ratio": lambda a, b: ((labels[a] - labels[b]) / (labels[a] + labels[b])) ** 2 if a != b else 0.0,
    }[name]


def slow_alpha(cases, distance):
    """1 − D_o / D_e, over every two annotations of a case and every two of all."""
    usable = [case for case in cases if len(case) >= 2]
    paired = [answer for case in usable for answer in case]
    n = len(paired)
    observed = sum(distance(a, b) / (len(case) - 1) for case in usable for a, b in permutations(case, 2)) / n
    return 1 - observed / (sum(distance(a, b) for a, b in permutations(paired, 2)) / (n * (n - 1)))


@pytest.mark.parametrize(
    ("cases", "n_classes", "expected"),
    [
        (GWET, 5, ((0.743, 5e-4), (0.815, 5e-4), (0.849, 5e-4), (0.797, 5e-4))),
        (KRIPPENDORFF, 4, ((0.691, 5e-4), (0.80672, 5e-6), (0.811, 5e-4), (0.80894, 5e-6))),
    ],
    ids=["Gwet's twelve units", "Krippendorff's fifteen units"],
)
def test_alpha_under_every_metric_is_as_published(cases, n_classes, expected):
    """Krippendorff's metrics by irrCAC and fast-krippendorff; 0.80672 and 0.80894 calculated before."""
    for metric, (value, tolerance) in zip(METRICS, expected, strict=True):
        found = krippendorff_alpha(counts_of(cases, n_classes), metric=metric)
        assert found.value == pytest.approx(value, abs=tolerance)
        assert found.weights == ("nominal" if metric == "nominal" else f"{metric} metric")


def test_the_ordinal_metric_is_not_the_ordinal_weights_and_the_names_say_so():
    """Gwet's twelve units: 0.815 under the metric, 0.834 with the weights."""
    metric = krippendorff_alpha(counts_of(GWET, 5), metric="ordinal")
    weights = krippendorff_alpha(counts_of(GWET, 5), weights="ordinal")
    assert (metric.weights, weights.weights) == ("ordinal metric", "ordinal weights")
    assert (metric.value, weights.value) == (pytest.approx(0.815, abs=5e-4), pytest.approx(0.834, abs=5e-4))


@pytest.mark.parametrize("metric", ["nominal", "interval", "ordinal", "ratio"])
def test_twenty_four_threes_and_a_single_one_have_alpha_0(metric):
    found = krippendorff_alpha(counts_of([[2] * 5] * 4 + [[2, 2, 2, 2, 0]], 3), metric=metric)
    assert found.value == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("labels", [(1, 2, 3, 4), (0, 7, 2.5, 30)])
@pytest.mark.parametrize("metric", METRICS)
def test_alpha_equals_the_sum_over_every_two_annotations(seed, labels, metric):
    cases = random_cases(seed)
    found = krippendorff_alpha(counts_of(cases, 4), metric=metric, labels=labels)
    assert found.value == pytest.approx(slow_alpha(cases, metric_of(metric, cases, labels)), abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("metric", METRICS)
def test_agreement_weights_made_of_the_metric_give_the_same_alpha_and_error(seed, metric):
    """w = 1 − δ / max δ; alpha with weights is a calculation of its own."""
    cases, labels = random_cases(seed), (1, 2, 4, 5)
    distance = metric_of(metric, cases, labels)
    delta = np.array([[distance(a, b) for b in range(4)] for a in range(4)])
    counts = counts_of(cases, 4)
    plain = krippendorff_alpha(counts, metric=metric, labels=labels)
    weighted = krippendorff_alpha(counts, weights=1 - delta / delta.max())
    for field in ("value", "se", "ci_low", "ci_high"):
        assert getattr(plain, field) == pytest.approx(getattr(weighted, field), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", WEIGHT_FAMILIES)
def test_the_interval_is_gwets_linearisation_term_by_term(seed, weights):
    """In weights, as he prints it: the code works with distances."""
    cases, w = random_cases(seed), weight_matrix(weights, 4)
    usable = [np.bincount(case, minlength=4) for case in cases if len(case) >= 2]
    m, total = len(usable), int(sum(map(sum, usable)))
    mean_n, epsilon = total / m, 1 / total
    pi = sum(usable) / total
    p_e = pi @ w @ pi
    p_ai = [n @ (w @ n - 1) / (mean_n * (n.sum() - 1)) for n in usable]
    p_mean = sum(p_ai) / m
    p_a = (1 - epsilon) * p_mean + epsilon
    centre = (p_mean - p_e) / (1 - p_e)
    squares = 0.0
    for n, own in zip(usable, p_ai, strict=True):
        excess = (n.sum() - mean_n) / mean_n
        kappa_i = (own - p_a * excess - p_e) / (1 - p_e)
        p_ei = n @ w @ pi / mean_n - p_e * excess
        squares += (kappa_i - 2 * (1 - centre) * (p_ei - p_e) / (1 - p_e) - centre) ** 2
    found = krippendorff_alpha(counts_of(cases, 4), weights=weights)
    assert found.value == pytest.approx((p_a - p_e) / (1 - p_e), abs=1e-12)
    assert found.se == pytest.approx(np.sqrt(squares / (m * (m - 1))), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", METRICS)
def test_linearised_errors_approach_the_jackknife_of_the_value(seed, metric):
    """They differ in terms of order 1/n; the ordinal metric, which is taken as given, adds no more than that."""
    usable = [case for case in random_cases(seed, n_cases=400) if len(case) >= 2]

    def alpha(cases):
        return krippendorff_alpha(counts_of(cases, 4), metric=metric)

    assert alpha(usable).se == pytest.approx(jackknife(lambda c: alpha(c).value, usable), rel=10 / len(usable))


@pytest.mark.parametrize("seed", range(4))
def test_the_interval_metric_on_equal_steps_is_quadratic_weights(seed):
    counts = counts_of(random_cases(seed), 4)
    for labels in (None, (10, 12, 14, 16)):
        interval = krippendorff_alpha(counts, metric="interval", labels=labels)
        weights = krippendorff_alpha(counts, weights="quadratic")
        assert (interval.value, interval.se) == pytest.approx((weights.value, weights.se), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("metric", METRICS[1:])
def test_scores_give_what_classes_with_these_labels_give(seed, metric):
    labels = (0.5, 1, 2.5, 8)
    cases = [case for case in random_cases(seed) if case]
    classes = krippendorff_alpha(counts_of(cases, 4), metric=metric, labels=labels)
    scores = krippendorff_alpha(scores_of([[labels[a] for a in case] for case in cases]), metric=metric)
    for field in ("value", "se", "ci_low", "ci_high"):
        assert getattr(scores, field) == pytest.approx(getattr(classes, field), abs=1e-12)
    assert (scores.name, scores.weights, scores.n_cases) == ("krippendorff_alpha", classes.weights, classes.n_cases)


def test_interval_alpha_of_scores_does_not_depend_on_their_unit_or_origin():
    """Not even for temperatures in kelvin times ten to the 69, or a spread of a millionth around a million."""
    rng = np.random.default_rng(3)
    cases = [(rng.normal() + rng.normal(size=3)).tolist() for _ in range(30)]
    plain = krippendorff_alpha(scores_of(cases), metric="interval")
    for unit, origin, digits in ((1.8, 32, 1e-12), (1e69, 0, 1e-12), (1e-300, 0, 1e-12), (1e-3, 1e6, 1e-6)):
        moved = [[unit * x + origin for x in case] for case in cases]
        found = krippendorff_alpha(scores_of(moved), metric="interval")
        assert (found.value, found.se) == pytest.approx((plain.value, plain.se), rel=digits)


def test_ordinal_alpha_depends_on_the_order_of_scores_alone():
    rng = np.random.default_rng(4)
    cases = [np.round(rng.normal() + rng.normal(size=4), 1).tolist() for _ in range(30)]
    curved = [np.exp(np.array(case) * 3).tolist() for case in cases]
    plain, other = (krippendorff_alpha(scores_of(data), metric="ordinal") for data in (cases, curved))
    assert plain == other


def test_ratio_alpha_does_not_depend_on_the_unit():
    cases = [[1, 2, 0], [4, 4, 5], [0, 0, 1], [7, 9, 8]]
    plain = krippendorff_alpha(scores_of(cases), metric="ratio")
    other = krippendorff_alpha(scores_of([[1000 * x for x in case] for case in cases]), metric="ratio")
    assert (plain.value, plain.se) == pytest.approx((other.value, other.se), abs=1e-12)


@given(st.lists(st.lists(st.floats(0, LARGEST_SCORE), min_size=1, max_size=4), min_size=1, max_size=6))
def test_no_scores_give_nan_or_a_value_without_its_reason(cases):
    for metric in METRICS[1:]:
        found = krippendorff_alpha(scores_of(cases), metric=metric)
        numbers = [found.value, found.se, found.ci_low, found.ci_high]
        assert all(number is None or np.isfinite(number) for number in numbers)
        assert found.note or None not in numbers


@pytest.mark.parametrize("metric", METRICS[1:])
def test_degenerate_scores_are_answered_with_the_reason(metric):
    alike = krippendorff_alpha(scores_of([[2.5, 2.5], [2.5, 2.5, 2.5], [7]]), metric=metric)
    assert alike.value is None and "only one score was used; raw agreement is 1" in alike.note
    assert (alike.n_cases, alike.n_annotations) == (2, 5)
    alone = krippendorff_alpha(scores_of([[1], [2]]), metric=metric)
    assert alone.value is None and "no case has two annotations" in alone.note
    one = krippendorff_alpha(scores_of([[1, 2]]), metric=metric)
    assert one.value == pytest.approx(0, abs=1e-12) and "only one case" in one.note
    whole = krippendorff_alpha(scores_of([[1, 1], [2, 2]]), metric=metric)
    assert whole.value == 1


@pytest.mark.parametrize("metric", METRICS[1:])
def test_one_class_only_is_undefined_under_every_metric(metric):
    found = krippendorff_alpha(counts_of([[1, 1], [1, 1, 1]], 3), metric=metric)
    assert found.value is None and "only one class was used; raw agreement is 1" in found.note


def test_weights_that_make_all_classes_agree_leave_alpha_undefined():
    found = krippendorff_alpha(counts_of([[0, 1], [1, 1]], 2), weights=np.ones((2, 2)))
    assert found.value is None and "the weights treat all classes used as equal" in found.note


def test_what_makes_no_sense_is_refused_with_the_reason():
    counts, scores = counts_of(GWET, 5), scores_of([[1, -2], [3, 4]])
    with pytest.raises(NotApplicableError, match="one of these metrics: ordinal, interval, ratio"):
        krippendorff_alpha(scores)
    with pytest.raises(NotApplicableError, match="Alpha for scores needs one of"):
        krippendorff_alpha(scores, metric="interval", weights="linear")
    with pytest.raises(InputError, match="-2: it is negative"):
        krippendorff_alpha(scores, metric="ratio")
    with pytest.raises(InputError, match="-1: it is negative"):
        krippendorff_alpha(counts, metric="ratio", labels=(-1, 0, 1, 2, 3))
    with pytest.raises(ValueError, match="'cubic'"):
        krippendorff_alpha(counts, metric="cubic")
    with pytest.raises(ValueError, match="alpha takes either a metric or weights; got both"):
        krippendorff_alpha(counts, metric="interval", weights="linear")


def test_more_different_values_than_ratios_can_compare_are_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(krippendorff, "MOST_RATIO_VALUES", 3)
    assert krippendorff_alpha(scores_of([[1, 2], [3, 1]]), metric="ratio").value is not None
    with pytest.raises(LimitError, match="Round the values"):
        krippendorff_alpha(scores_of([[1, 2], [3, 4]]), metric="ratio")


@pytest.mark.parametrize("metric", ["interval", "ordinal"])
def test_a_hundred_thousand_different_scores_need_no_table_of_values(metric):
    rng = np.random.default_rng(0)
    cases = scores_of((rng.normal(size=(25_000, 1)) + rng.normal(size=(25_000, 4))).tolist())
    tracemalloc.start()
    found = krippendorff_alpha(cases, metric=metric)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.value == pytest.approx(0.5, abs=0.03)  # the normal scores have 0.5, their ranks 0.48
    assert peak < 100_000 * 8 * 20
