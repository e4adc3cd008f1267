"""The matrix of raters two by two against pure Python."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from core.agreement.pairs import pair_matrix
from core.errors import LimitError, NotApplicableError


def random_rows(seed, n_cases=30, n_raters=6, n_classes=3):
    """Gaps, and now and then a rater who answers a case twice."""
    rng = np.random.default_rng(seed)
    return [
        (case, rater, int(rng.integers(n_classes)))
        for case in range(n_cases)
        for rater in range(n_raters)
        for _ in range(rng.choice(3, p=(0.5, 0.4, 0.1)))
    ]


@pytest.mark.parametrize("seed", range(5))
def test_every_cell_counts_the_pairs_of_answers_of_two_raters_on_one_case(seed, build):
    rows = random_rows(seed)
    found = pair_matrix(build(rows, 3, 30, 6))
    for i in range(6):
        for j in range(6):
            pairs = [(a, b) for c, r, a in rows for d, s, b in rows if i != j and c == d and (r, s) == (i, j)]
            assert found.n[i, j] == len(pairs)
            assert found.agree[i, j] == sum(a == b for a, b in pairs)
            if pairs:
                assert found.share[i, j] == found.agree[i, j] / len(pairs)
            else:
                assert np.isnan(found.share[i, j])


def test_the_interval_of_a_cell_inverts_the_score_test(build):
    found = pair_matrix(build(random_rows(1), 3, 30, 6))
    p, n, z = found.share[0, 1], found.n[0, 1], norm.ppf(0.975)
    for end in found.interval(0, 1):
        assert (p - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / n, rel=1e-9)


def test_raters_who_never_meet_have_no_interval(build):
    found = pair_matrix(build([(0, 0, 1), (1, 1, 1)], 2))
    assert found.n.sum() == 0
    assert found.interval(0, 1) is None


def test_reordering_the_raters_reorders_the_matrix(build):
    rows = random_rows(2)
    order = np.random.default_rng(0).permutation(6)
    plain = pair_matrix(build(rows, 3, 30, 6))
    other = pair_matrix(build([(c, int(order[r]), a) for c, r, a in rows], 3, 30, 6))
    assert (other.n[np.ix_(order, order)] == plain.n).all()
    assert (other.agree[np.ix_(order, order)] == plain.agree).all()


def test_anonymous_answers_and_scores_are_refused(build):
    dataset = build(random_rows(3), 3)
    with pytest.raises(NotApplicableError, match="anonymous"):
        pair_matrix(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="single classes"):
        pair_matrix(replace(dataset, kind="score"))


def test_more_raters_than_a_matrix_can_hold_are_refused_with_what_to_do(build, monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "35")
    with pytest.raises(LimitError, match="Select fewer raters"):
        pair_matrix(build(random_rows(4), 3, 30, 6))
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "36")
    assert pair_matrix(build(random_rows(4), 3, 30, 6)).n.shape == (6, 6)
