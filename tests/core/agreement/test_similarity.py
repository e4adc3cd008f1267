"""The order of raters by similarity, on panels whose groups are known."""

import numpy as np
import pytest

from core.agreement.pairs import MOST_FOR_OPTIMAL, PairMatrix, pair_matrix, similarity_order
from tests.core.agreement.examples import dataset_of


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
