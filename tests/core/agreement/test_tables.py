"""Tables of counts give what the raw annotations give."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement.coefficients import agreement_table
from core.agreement.cohen_conger import cohen_kappa
from core.agreement.intervals import wilson
from core.agreement.krippendorff import METRICS, krippendorff_alpha
from core.agreement.pairs import MOST_FOR_OPTIMAL, PairMatrix, pair_matrix, similarity_order
from core.agreement.probability import spa
from core.agreement.specific import specific_agreement
from core.agreement.tables import from_contingency, from_count_table
from core.annotations.counts import class_counts
from core.errors import InputError
from tests.core.agreement.examples import answers_of, counts_of, dataset_of, random_cases, random_panel


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", ["identity", "quadratic"])
def test_a_table_of_cases_by_classes_gives_every_coefficient_of_the_annotations(seed, weights):
    """Cases without any annotation are rows of zeros."""
    panel = random_panel(seed, gaps=0.7)
    raw = class_counts(dataset_of(panel, 4))
    table = from_count_table([[answers.count(k) for k in range(4)] for answers in answers_of(panel)])
    assert [] in panel
    assert agreement_table(raw, weights=weights) == agreement_table(table, weights=weights)
    for metric in METRICS:
        assert krippendorff_alpha(raw, metric=metric) == krippendorff_alpha(table, metric=metric)
    assert specific_agreement(raw) == specific_agreement(table)


@pytest.mark.parametrize("seed", range(4))
def test_a_contingency_table_gives_every_coefficient_of_its_two_raters(seed):
    panel = random_panel(seed, n_raters=2, gaps=0)
    raw = dataset_of(panel, 4)
    table = np.zeros((4, 4), int)
    for (_, a), (_, b) in panel:
        table[a, b] += 1
    made = from_contingency(table)
    plain = agreement_table(class_counts(raw), dataset=raw, weights="linear")
    other = agreement_table(class_counts(made), dataset=made, weights="linear")
    assert [one.name for one in other][3:5] == ["cohen_kappa", "scott_pi"]
    for one, two in zip(plain, other, strict=True):
        assert (one.name, one.weights, one.n_cases, one.note) == (two.name, two.weights, two.n_cases, two.note)
        for field in ("value", "se", "ci_low", "ci_high"):
            assert getattr(one, field) == pytest.approx(getattr(two, field), abs=1e-12)


def test_rows_and_columns_of_a_contingency_table_may_change_places():
    table = np.array([[5, 2, 0], [1, 7, 3], [0, 0, 4]])
    one, two = cohen_kappa(from_contingency(table)), cohen_kappa(from_contingency(table.T))
    assert (one.value, one.se) == pytest.approx((two.value, two.se), abs=1e-12)


def test_a_contingency_table_names_its_raters_and_classes():
    found = from_contingency([[1, 2], [0, 3]], classes=("no", "yes"), raters=("Ann", "Bea"))
    assert (found.raters, found.classes, found.n_cases) == (("Ann", "Bea"), ("no", "yes"), 6)
    assert found.answer.reshape(-1, 2).tolist() == [[0, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 1]]


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], np.zeros((0, 3))])
def test_empty_tables_have_no_coefficient_and_say_why(table):
    for found in agreement_table(from_count_table(table)):
        assert found.value is None and "no case has two annotations" in found.note


@pytest.mark.parametrize("build", [from_count_table, from_contingency])
@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2], [3, -4]], "Could not read the table: row 2, column 2 contains -4"),
        ([[1, 2.5], [3, 4]], "Could not read the table: row 1, column 2 contains 2.5"),
        ([[1, np.nan], [3, 4]], "row 1, column 2"),
        ([[1, np.inf], [3, 4]], "row 1, column 2"),
        ([1, 2], "not two-dimensional"),
        ([["a", 1], [2, 3]], "not a number"),
    ],
)
def test_what_is_no_table_of_counts_is_refused_with_its_place(build, table, message):
    with pytest.raises(InputError, match=message):
        build(table)


def test_a_contingency_table_must_be_square_and_its_names_must_fit():
    with pytest.raises(InputError, match="2 rows but 3 columns"):
        from_contingency([[1, 2, 3], [4, 5, 6]])
    for classes in (("a",), ("a", "a")):
        with pytest.raises(InputError, match="different names"):
            from_contingency([[1, 2], [3, 4]], classes=classes)
    with pytest.raises(InputError, match="two raters need two different names"):
        from_contingency([[1, 2], [3, 4]], raters=("a", "a"))


# Similarity: The order of raters by similarity, on panels whose groups are known.


def matrix_of(value, n):
    value = np.array(value, float)
    np.fill_diagonal(value, np.nan)
    n = np.array(np.broadcast_to(n, value.shape), np.int64)
    np.fill_diagonal(n, 0)
    names = tuple(f"rater {i}" for i in range(len(value)))
    return PairMatrix(names, n, n, "scott_pi", value, value, 0.95, -1.0)


def two_camps(rng, n_raters, n_cases=60, gaps=0.3):
    """Raters of even number give one thing, those of odd number another; nobody always."""
    return [
        [(rater, (rater + (rng.random() < 0.1)) % 2) for rater in range(n_raters) if rng.random() > gaps]
        for _ in range(n_cases)
    ]


@pytest.mark.parametrize("coefficient", ["percent", "gwet_ac"])
@pytest.mark.parametrize("seed", range(3))
def test_raters_of_one_camp_stand_side_by_side(seed, coefficient):
    panel = two_camps(np.random.default_rng(seed), 9)
    camp = similarity_order(pair_matrix(dataset_of(panel, 2, 9), coefficient)) % 2
    assert np.count_nonzero(np.diff(camp)) == 1


def test_the_order_is_the_same_whatever_raters_are_called():
    panel = two_camps(np.random.default_rng(4), 8)
    rename = np.random.default_rng(0).permutation(8)
    plain = similarity_order(pair_matrix(dataset_of(panel, 2, 8)))
    other = similarity_order(pair_matrix(dataset_of([[(int(rename[r]), a) for r, a in case] for case in panel], 2, 8)))
    assert sorted(plain) == list(range(8))
    assert (rename[plain] == other).all()


def test_leaves_are_turned_so_that_neighbours_are_alike():
    """Raters on a line, agreeing the more the nearer they stand: their order, from either end."""
    place = np.random.default_rng(1).permutation(12)
    found = similarity_order(matrix_of(1 - np.abs(place[:, None] - place) / 12, 100))
    assert place[found].tolist() in (list(range(12)), list(range(12))[::-1])


def test_the_end_with_more_agreement_comes_first():
    value = np.full((6, 6), 0.2)
    value[:3, :3] = 0.5
    value[3:, 3:] = 0.9
    assert set(similarity_order(matrix_of(value, 50))[:3]) == {3, 4, 5}


def test_cells_of_one_answer_count_for_little():
    """Two camps of three; each rater also agreed once of once with one of the other camp."""
    camp = np.arange(6) // 3
    value, n = np.where(camp[:, None] == camp, 0.9, 0.2), np.full((6, 6), 100)
    for a, b in ((0, 5), (1, 4), (2, 3)):
        value[a, b] = value[b, a] = 1.0
        n[a, b] = n[b, a] = 1
    assert np.count_nonzero(np.diff(camp[similarity_order(matrix_of(value, n))])) == 1
    assert np.count_nonzero(np.diff(camp[similarity_order(matrix_of(value, 100))])) > 1


def test_raters_who_meet_nobody_stand_last_and_two_or_none_keep_their_order():
    meets = dataset_of([[(0, 0), (2, 0)], [(0, 1), (2, 0)], [(1, 0)]], 2)
    assert similarity_order(pair_matrix(meets)).tolist() == [0, 2, 1]
    alone = dataset_of([[(0, 0)], [(1, 0)]], 2)
    assert similarity_order(pair_matrix(alone)).tolist() == [0, 1]
    assert similarity_order(pair_matrix(dataset_of([[(0, 0)]], 2))).tolist() == [0]


def test_undefined_cells_do_not_matter():
    panel = [[(rater, 0) for rater in range(5)]] * 4
    assert sorted(similarity_order(pair_matrix(dataset_of(panel, 2), "scott_pi"))) == list(range(5))


def test_very_many_raters_are_still_clustered():
    n = MOST_FOR_OPTIMAL + 10
    camp = np.arange(n) % 2
    found = similarity_order(matrix_of(np.where(camp[:, None] == camp, 0.9, 0.1), 20))
    assert np.count_nonzero(np.diff(camp[found])) == 1


# Specific: Specific agreement against pairs of annotations, literal deletion of cases and the percent that it
# averages to.


def pairs_of(answers, k):
    """Ordered pairs that begin with class k, and how many of them end with it."""
    mine = [b == k for a, b in permutations(answers, 2) if a == k]
    return len(mine), sum(mine)


def slow_specific(cases, k):
    counted = [pairs_of(answers, k) for answers in cases]
    return sum(same for _, same in counted) / sum(n for n, _ in counted)


def slow_error(cases, k):
    """Deleting each case that has the class, deviations from the full estimate; and how many cases those are."""
    having = [answers for answers in cases if pairs_of(answers, k)[0]]
    whole, m = slow_specific(having, k), len(having)
    squares = sum((slow_specific(having[:i] + having[i + 1 :], k) - whole) ** 2 for i in range(m))
    return np.sqrt((m - 1) / m * squares), m


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_share_of_pairs_that_begin_and_end_with_the_class(seed):
    cases = random_cases(seed)
    found = specific_agreement(counts_of(cases, 4))
    for k in range(4):
        error, m = slow_error(cases, k)
        assert found[k].value == pytest.approx(slow_specific(cases, k), abs=1e-12)
        assert found[k].se == pytest.approx(error, abs=1e-9)
        assert found[k].n_cases == m
        assert found[k].n_annotations == sum(case.count(k) for case in cases if len(case) >= 2)


def test_the_interval_is_wilsons_on_the_effective_number_of_cases():
    for found in specific_agreement(counts_of(random_cases(1), 4), 0.9):
        t = student.ppf(0.95, found.n_cases - 1)
        n_eff = found.value * (1 - found.value) / found.se**2
        assert (found.ci_low, found.ci_high) == pytest.approx(wilson(found.value, n_eff, t), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_by_their_pairs_classes_average_to_the_agreement_of_all_pairs(seed):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    weight = [sum(pairs_of(answers, k)[0] for answers in cases) for k in range(4)]
    mean = sum(w * one.value for w, one in zip(weight, specific_agreement(counts), strict=True)) / sum(weight)
    assert mean == pytest.approx(spa(counts, "edges").value, abs=1e-12)


def test_two_raters_give_the_positive_and_negative_agreement_of_a_fourfold_table():
    """2a / (2a + b + c) and 2d / (2d + b + c) with a, b, c, d = 20, 5, 10, 15."""
    cases = [[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15
    negative, positive = specific_agreement(counts_of(cases, 2))
    assert (negative.value, positive.value) == pytest.approx((30 / 45, 40 / 55), abs=1e-12)


def test_a_class_nobody_could_agree_on_is_undefined_with_the_reason():
    found = specific_agreement(counts_of([[0, 0], [0, 1], [2]], 4))
    for k in (2, 3):
        assert found[k].value is None and found[k].n_cases == 0
        assert "no case with two annotations has this class" in found[k].note


def test_one_case_gives_a_value_without_an_interval():
    found = specific_agreement(counts_of([[0, 0], [0, 0], [0, 1, 1]], 2))[1]
    assert found.value == 0.5 and found.ci_low is None and "only one case" in found.note


@pytest.mark.parametrize("case", [[0, 0, 0], [0, 0, 0, 1]])
def test_cases_that_agree_alike_have_no_error_and_an_interval_with_width(case):
    for m in (2, 7, 49, 100):
        found = specific_agreement(counts_of([case] * m, 2))[0]
        assert found.se == 0
        assert found.ci_high - found.ci_low > 1e-3
