"""The matrix of pairs of raters against pure Python."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from core.agreement.coefficients import gwet_ac, percent_agreement, scott_pi
from core.agreement.cohen_conger import cohen_kappa
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.pairs import cases_of_disagreement, pair_coefficients, pair_matrix
from core.agreement.tables import from_contingency
from core.annotations.dataset import keep_only
from core.errors import LimitError, NotApplicableError, NotFoundError
from tests.core.agreement.examples import dataset_of, random_panel
from tests.core.kinds import as_scores


def random_rows(seed, n_cases=30, n_raters=6, n_classes=3):
    """Gaps, and now and then a rater who annotates a case twice."""
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
    assert "no cases in common" in found.why(0, 1)


def only_two(dataset, i, j):
    """The cases that both raters annotated, with their annotations alone."""
    both = [np.bincount(dataset.case_of_annotation, dataset.rater == r, dataset.n_cases) > 0 for r in (i, j)]
    return keep_only(dataset, np.isin(dataset.rater, (i, j)) & (both[0] & both[1])[dataset.case_of_annotation])


OF_TWO = {
    "percent": percent_agreement,
    "cohen_kappa": cohen_kappa,
    "scott_pi": scott_pi,
    "gwet_ac": gwet_ac,
    "krippendorff_alpha": krippendorff_alpha,
}


@pytest.mark.parametrize("coefficient", pair_coefficients())
@pytest.mark.parametrize("seed", range(3))
def test_a_cell_is_the_coefficient_of_the_two_raters_on_their_common_cases(seed, coefficient):
    dataset = dataset_of(random_panel(seed, n_cases=60), 4, 5)
    found = pair_matrix(dataset, coefficient, 0.9)
    assert found.coefficient == coefficient
    for i in range(5):
        for j in range(5):
            if i == j:
                assert "themselves" in found.why(i, j) and np.isnan(found.value[i, j])
                continue
            alone = OF_TWO[coefficient](only_two(dataset, i, j), 0.9)
            assert found.n[i, j] == alone.n_cases
            assert found.value[i, j] == pytest.approx(alone.value, abs=1e-12)
            assert found.why(i, j) == ""
            if coefficient != "percent":
                assert found.se[i, j] == pytest.approx(alone.se, rel=1e-9)
                assert found.interval(i, j) == pytest.approx((alone.ci_low, alone.ci_high), abs=1e-9)


def test_the_kappa_of_two_abstractors_is_the_published_one():
    """Gwet's 3 × 3 table: κ 0.7964094, π 0.7962397, AC1 0.8493305."""
    dataset = from_contingency([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    for coefficient, value in (("cohen_kappa", 0.7964094), ("scott_pi", 0.7962397), ("gwet_ac", 0.8493305)):
        assert pair_matrix(dataset, coefficient).value[0, 1] == pytest.approx(value, abs=5e-8)


def test_one_class_throughout_leaves_chance_correction_undefined():
    found = pair_matrix(dataset_of([[(0, 1), (1, 1)]] * 5, 2), "cohen_kappa")
    assert np.isnan(found.value[0, 1]) and found.interval(0, 1) is None
    assert "undefined: both raters used only one class, the same for all cases" in found.why(0, 1)


def test_one_common_case_gives_a_value_without_an_interval():
    found = pair_matrix(dataset_of([[(0, 0), (1, 1)]], 2), "cohen_kappa")
    assert found.value[0, 1] == 0 and found.interval(0, 1) is None


@pytest.mark.parametrize("seed", range(3))
def test_cases_of_disagreement_are_all_pairs_of_different_answers(seed, build):
    rows = random_rows(seed)
    dataset = build(rows, 3, 30, 6)
    found = cases_of_disagreement(dataset, "rater 4", "rater 1")
    pairs = [(c, a, b) for c, r, a in rows for d, s, b in rows if c == d and (r, s) == (4, 1)]
    assert found.n == len(pairs)
    listed = zip(found.case.tolist(), found.answer_a.tolist(), found.answer_b.tolist(), strict=True)
    assert sorted(listed) == sorted(pair for pair in pairs if pair[1] != pair[2])


def test_disagreements_of_raters_who_are_not_there_or_one_are_refused(build):
    dataset = build(random_rows(0), 3, 30, 6)
    with pytest.raises(NotFoundError, match="nobody"):
        cases_of_disagreement(dataset, "rater 1", "nobody")
    with pytest.raises(NotApplicableError, match="two different"):
        cases_of_disagreement(dataset, "rater 1", "rater 1")


def test_an_unknown_coefficient_is_refused(build):
    with pytest.raises(ValueError, match="cohen_kappa"):
        pair_matrix(build(random_rows(0), 3), "conger_kappa")


def test_reordering_the_raters_reorders_the_matrix(build):
    rows = random_rows(2)
    order = np.random.default_rng(0).permutation(6)
    plain = pair_matrix(build(rows, 3, 30, 6))
    other = pair_matrix(build([(c, int(order[r]), a) for c, r, a in rows], 3, 30, 6))
    assert (other.n[np.ix_(order, order)] == plain.n).all()
    assert (other.agree[np.ix_(order, order)] == plain.agree).all()
    for coefficient in pair_coefficients()[1:]:
        one = pair_matrix(build(rows, 3, 30, 6), coefficient).value
        two = pair_matrix(build([(c, int(order[r]), a) for c, r, a in rows], 3, 30, 6), coefficient).value
        np.testing.assert_allclose(two[np.ix_(order, order)], one, atol=1e-12)


def test_anonymous_answers_and_scores_are_refused(build):
    dataset = build(random_rows(3), 3)
    with pytest.raises(NotApplicableError, match="anonymous"):
        pair_matrix(replace(dataset, raters_identified=False))
    with pytest.raises(NotApplicableError, match="not single classes"):
        pair_matrix(as_scores(dataset))


def test_more_raters_than_a_matrix_can_hold_are_refused_with_what_to_do(build, monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "35")
    with pytest.raises(LimitError, match="Select fewer raters"):
        pair_matrix(build(random_rows(4), 3, 30, 6))
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "36")
    assert pair_matrix(build(random_rows(4), 3, 30, 6)).n.shape == (6, 6)
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "323")
    with pytest.raises(LimitError, match="use percent agreement"):
        pair_matrix(build(random_rows(4), 3, 30, 6), "scott_pi")
