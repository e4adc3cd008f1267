"""No interval of a coefficient reaches beyond what the coefficient can be."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.coefficients import brennan_prediger, fleiss_kappa, gwet_ac, percent_agreement
from core.agreement.cohen_conger import cohen_kappa_classic
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.pairs import pair_coefficients, pair_matrix
from core.agreement.probability import SPA_WEIGHTINGS, spa
from core.agreement.ranges import of_negative_type
from core.agreement.tables import from_count_table
from core.agreement.weights import WEIGHT_FAMILIES, weight_matrix
from core.annotations.dataset import Dataset
from tests.core.kinds import as_rankings, as_sets

KINDS = ("noise", "unanimous", "one class per rater", "one rare class", "gaps", "two cases", "one case", "contrary")
FIXED_CHANCE = ("gwet_ac", "brennan_prediger")  # with weights it can be above a half
SHARES = ("percent", "spa", "mean_average_overlap", "leave_one_out_top1")
WEIGHTED = (fleiss_kappa, gwet_ac, brennan_prediger, percent_agreement)


def annotations(kind, rng):
    """Cases, raters and classes of a small dataset of a kind, and how many of each there are."""
    n_cases = {"two cases": 2, "one case": 1}.get(kind, int(rng.integers(2, 8)))
    n_raters, n_classes = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    case, rater = np.divmod(np.arange(n_cases * n_raters), n_raters)
    answer = rng.integers(0, n_classes, case.size)
    if kind == "unanimous":
        answer = rng.integers(0, n_classes, n_cases)[case]
    elif kind == "one class per rater":
        answer = rater % n_classes
    elif kind == "one rare class":
        answer = (np.arange(case.size) == rng.integers(case.size)).astype(np.int64)
    elif kind == "contrary":
        answer = (case + rater) % n_classes
    kept = rng.random(case.size) < 0.6 if kind == "gaps" else np.ones(case.size, bool)
    kept[:2] = True
    return case[kept], rater[kept], answer[kept], (n_cases, n_raters, n_classes)


def dataset_of(case, rater, answer, sizes, **more):
    names = [[f"{letter}{place}" for place in range(size)] for letter, size in zip("crk", sizes, strict=True)]
    return Dataset.from_classes("small", *names, case, rater, answer, **more)


def fault_of(found):
    """What is wrong with an interval; empty where nothing is."""
    if found.value is None or found.ci_low is None:
        return ""
    if not (found.ci_low - 1e-12 <= found.value <= found.ci_high + 1e-12 and found.ci_high <= 1):
        return f"{found.ci_low} to {found.ci_high} around {found.value}"
    if found.ci_low == found.ci_high:
        return "an interval without width"
    return f"a share from {found.ci_low}" if found.name in SHARES and found.ci_low < 0 else ""


@pytest.mark.parametrize("kind", KINDS)
def test_interval_ends_of_classes_stay_in_range_for_small_and_degenerate_data(kind):
    rng = np.random.default_rng(45)
    for _ in range(40):
        case, rater, answer, sizes = annotations(kind, rng)
        for ordinal in (False, True):
            data = dataset_of(case, rater, answer, sizes, ordinal=ordinal)
            complete = case.size == sizes[0] * sizes[1]
            for one in coefficients_for(data).coefficients:
                assert not fault_of(one), (kind, one)
                if complete and one.ci_low is not None and (one.name not in FIXED_CHANCE or not ordinal):
                    assert one.ci_low >= -1, (kind, one)


@pytest.mark.parametrize("kind", KINDS)
def test_interval_ends_of_sets_and_rankings_stay_in_range_for_small_and_degenerate_data(kind):
    rng = np.random.default_rng(46)
    for _ in range(20):
        data = dataset_of(*annotations(kind, rng))
        for one in (*coefficients_for(as_sets(data)).coefficients, *coefficients_for(as_rankings(data)).coefficients):
            assert not fault_of(one), (kind, one)
            if kind != "gaps" and one.ci_low is not None:
                assert one.ci_low >= -1, (kind, one)


@pytest.mark.parametrize("weights", WEIGHT_FAMILIES)
def test_interval_ends_with_weights_are_at_least_the_least_value_of_any_such_data(weights):
    """All data of two cases, three raters and three classes: the least value of any is the least end of any."""
    sets = list(combinations_with_replacement(range(3), 3))
    tables = [np.array([np.bincount(one, minlength=3) for one in pair]) for pair in product(sets, sets)]
    for coefficient in WEIGHTED:
        found = [coefficient(from_count_table(table), weights=weights) for table in tables]
        ends = [one.ci_low for one in found if one.ci_low is not None]
        least = min(one.value for one in found if one.value is not None)
        if coefficient is fleiss_kappa or coefficient is gwet_ac:
            least = min(least, -0.5) if coefficient is fleiss_kappa else least_of_gwet(weights)
        assert min(ends) >= least - 1e-9, coefficient


def least_of_gwet(weights):
    """AC2 of three raters where no two differ less than they must and chance is highest."""
    matrix = weight_matrix(weights, 3)
    chance = matrix.sum() / 9
    agreed = min((matrix[a, b] + matrix[a, c] + matrix[b, c]) / 3 for a, b, c in product(range(3), repeat=3))
    return (agreed - chance) / (1 - chance)


def test_every_family_of_weights_is_of_negative_type_and_a_ring_of_five_is_not():
    for family, n_classes in product(WEIGHT_FAMILIES, (2, 3, 5, 9)):
        assert of_negative_type(1 - weight_matrix(family, n_classes))
    far = np.array([[0, 0, 0, 1, 1]])
    assert not of_negative_type(((far == far.T) & ~np.eye(5, dtype=bool)).astype(float))


def test_weights_of_ones_own_reach_as_low_as_chance_as_observed_allows():
    """A distance that is no metric: classes 0 and 1 differ, and neither differs from 2."""
    far = np.zeros((3, 3))
    far[0, 1] = far[1, 0] = 1
    found = fleiss_kappa(from_count_table(np.array([[1, 1, 0], [0, 0, 2], [0, 0, 2]])), weights=1 - far)
    assert found.value < -1 and found.ci_low <= found.value


def test_gwets_and_fleiss_coefficient_of_two_cases_end_at_minus_one():
    """Student's t with one degree of freedom: they ended at -10.27 and -4.51."""
    counts = from_count_table(np.array([[1, 1], [2, 0]]))
    for one in (gwet_ac(counts), fleiss_kappa(counts), krippendorff_alpha(counts)):
        assert one.ci_low is None or -1 <= one.ci_low <= one.value


def scores(kind, rng):
    """Scores of a few cases and raters."""
    n_cases, n_raters = {"one case": 1, "two cases": 2}.get(kind, int(rng.integers(2, 6))), int(rng.integers(2, 4))
    case, rater = np.divmod(np.arange(n_cases * n_raters), n_raters)
    score = rng.choice([0.0, 1.0, 2.5, 40.0], case.size)
    if kind == "unanimous":
        score = score[:n_cases][case]
    elif kind == "one class per rater":
        score = rater + 0.0
    elif kind == "contrary":
        score = np.where(rater == 0, case, -case) + 0.0
    kept = rng.random(case.size) < 0.7 if kind == "gaps" else np.ones(case.size, bool)
    kept[:2] = True
    sizes = zip("cr", (n_cases, n_raters), strict=True)
    names = [[f"{letter}{place}" for place in range(size)] for letter, size in sizes]
    return Dataset.from_scores("s", *names, case[kept], rater[kept], score[kept])


@pytest.mark.parametrize("kind", KINDS)
def test_interval_ends_of_scores_stay_in_range_for_small_and_degenerate_data(kind):
    rng = np.random.default_rng(3)
    for _ in range(25):
        data = scores(kind, rng)
        for one in coefficients_for(data).coefficients:
            assert not fault_of(one), (kind, one)
            if one.ci_low is not None and not one.name.endswith("k"):  # of a mean of k there is no least value
                assert one.ci_low >= -1 - 1e-12, (kind, one)


def test_pairs_of_raters_and_the_classic_error_of_kappa_stay_in_range():
    rng = np.random.default_rng(5)
    for _ in range(40):
        case, rater, answer, sizes = annotations("noise", rng)
        data = dataset_of(case, rater, answer, sizes)
        for name in pair_coefficients():
            ends = pair_matrix(data, name).interval(0, 1)
            least = 0 if name == "percent" else -1 / (sizes[2] - 1) if name == "gwet_ac" else -1
            assert ends is None or least <= ends[0] <= ends[1] <= 1
        if sizes[1] == 2:
            one = cohen_kappa_classic(data)
            assert one.ci_low is None or -1 <= one.ci_low <= one.ci_high <= 1


def test_percent_agreement_has_the_interval_of_spa_where_all_cases_agree_alike():
    for table in ([[2, 0]] * 6, [[3, 0], [0, 3], [0, 3], [3, 0]], [[1, 1]] * 5):
        counts = from_count_table(np.array(table))
        percent, flat = percent_agreement(counts), spa(counts, SPA_WEIGHTINGS[1])
        assert (percent.value, percent.ci_low, percent.ci_high) == (flat.value, flat.ci_low, flat.ci_high)
        assert percent.ci_low < percent.ci_high
