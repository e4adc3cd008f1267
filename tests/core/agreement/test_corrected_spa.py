"""Chance-corrected SPA against pairs of annotations of different cases, and its interval against Fieller's theorem."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

from core.agreement.coefficients import agreement_table, fleiss_kappa
from core.agreement.probability import SPA_WEIGHTINGS, _disagreements, _fieller, spa, spa_corrected
from core.agreement.tables import from_count_table
from tests.core.agreement.examples import counts_of, jackknife, random_cases


def chance(cases):
    """Share of equal pairs among all pairs of annotations of different cases."""
    rows = [(i, answer) for i, answers in enumerate(cases) for answer in answers]
    pairs = [a == b for (i, a), (j, b) in combinations(rows, 2) if i != j]
    return sum(pairs) / len(pairs)


def disagreement(cases):
    """1 − P with the weighting annotations_m1, whose weights do not depend on other cases."""
    paired = [answers for answers in cases if len(answers) >= 2]
    weight = [len(answers) - 1 for answers in paired]
    share = [
        sum(a == b for a, b in permutations(answers, 2)) / (len(answers) * (len(answers) - 1)) for answers in paired
    ]
    return 1 - sum(w * s for w, s in zip(weight, share, strict=True)) / sum(weight)


def slow_fieller(cases, level):
    """Ratio of the disagreements within and between cases, and the ratios D that t cannot tell from it."""
    rated = [case for case in cases if case]
    n = len(rated)
    x, y = disagreement(rated), 1 - chance(rated)
    without = [rated[:i] + rated[i + 1 :] for i in range(n)]
    v = (n - 1) ** 2 / n * np.cov([disagreement(c) for c in without], [1 - chance(c) for c in without])
    t2 = student.ppf((1 + level) / 2, n - 1) ** 2
    return x, y, v, t2


@pytest.mark.parametrize("weighting", SPA_WEIGHTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_spa_beyond_the_agreement_of_different_cases(weighting, seed):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    p, p_e = spa(counts, weighting).value, chance(cases)
    found = spa_corrected(counts, weighting)
    assert found.value == pytest.approx((p - p_e) / (1 - p_e), abs=1e-12)
    assert (found.name, found.weights) == ("spa_corrected", weighting)
    paired = [case for case in cases if len(case) >= 2]
    assert (found.n_cases, found.n_annotations) == (len(paired), sum(map(len, paired)))


def accepted(cases, level):
    """The least and the greatest κ that the t test on x − D y accepts, found by trying."""
    x, y, v, t2 = slow_fieller(cases, level)

    def excess(kappa):
        d = 1 - kappa
        return (x - d * y) ** 2 - t2 * (v[0, 0] - 2 * d * v[0, 1] + d * d * v[1, 1])

    value = 1 - x / y
    return brentq(excess, value - 1000, value), brentq(excess, value, value + 1000)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_ends_are_what_the_t_test_accepts_of_the_data_or_of_one_case_more(seed, level):
    """Upwards a case agreed on the rarest class, downwards one split between it and the commonest."""
    cases = random_cases(seed)
    answers = [answer for case in cases for answer in case]

    def rarity(k):
        mine = [(case.count(k), sum(map(answers.count, case))) for case in cases]
        return answers.count(k), sum(n * n for n, _ in mine), sum(n * near for n, near in mine)

    rarest, *_, commonest = sorted(set(answers), key=rarity)
    paired = [len(case) for case in cases if len(case) > 1]
    size = round(sum(paired) / len(paired))
    low, high = accepted(cases, level)
    _, above = accepted([*cases, [rarest] * size], level)
    below, _ = accepted([*cases, [rarest] * (size // 2) + [commonest] * (size - size // 2)], level)
    found = spa_corrected(counts_of(cases, 4), level=level)
    assert (found.ci_low, found.ci_high) == pytest.approx((min(low, below), min(1, max(high, above))), abs=1e-9)
    assert found.ci_low < found.value < found.ci_high


@pytest.mark.parametrize("seed", range(3))
def test_names_and_order_of_the_classes_do_not_move_the_interval_where_classes_are_equally_rare(seed):
    rng = np.random.default_rng(seed)
    cases = [[0] * 4] * 6 + [[0, 0, 1], [1, 1, 1], [2, 2], [0, 2, 2], [3, 0, 0], [3, 3, 1], [2, 3, 3]]
    found = spa_corrected(counts_of(cases, 4))
    for _ in range(5):
        name = rng.permutation(4)
        again = spa_corrected(counts_of([[int(name[answer]) for answer in case] for case in cases], 4))
        assert (again.ci_low, again.ci_high) == pytest.approx((found.ci_low, found.ci_high), abs=1e-12)


def test_data_that_may_have_missed_agreement_on_a_rare_class_do_not_rule_it_out():
    """95% of cases are of one class, on which three raters at times slip; κ is 0.20 and the data show about −0.01."""
    cases = [[0, 0, 0]] * 42 + [[0, 0, 1]] * 8
    found = spa_corrected(counts_of(cases, 2))
    _, y, v, t2 = slow_fieller(cases, 0.95)
    assert y * y > t2 * v[1, 1]
    assert found.value < 0 < 0.3 < found.ci_high
    assert accepted(cases, 0.95)[1] < 0.05


def test_the_standard_error_approaches_the_jackknife_of_the_value():
    cases = random_cases(2, n_cases=300)
    found = spa_corrected(counts_of(cases, 4))
    assert found.se == pytest.approx(jackknife(lambda c: spa_corrected(counts_of(c, 4)).value, cases), rel=10 / 300)


def test_where_chance_may_be_1_the_interval_is_undetermined_and_says_why():
    """Few 1 among 0: the error of the disagreement between cases is about as large as itself."""
    cases = [[0, 0]] * 7 + [[0, 1], [1, 0, 0]]
    _, y, v, t2 = slow_fieller(cases, 0.95)
    assert y * y <= t2 * v[1, 1]
    found = spa_corrected(counts_of(cases, 2))
    assert found.value is not None and found.se is not None
    assert found.ci_low is None and found.ci_high is None
    assert found.note == "no interval: chance agreement may be 1"
    _, y, v, t2 = slow_fieller(cases, 0.5)
    assert y * y > t2 * v[1, 1]
    assert spa_corrected(counts_of(cases, 2), level=0.5).ci_low is not None


def test_full_agreement_is_bounded_from_below_by_the_disagreement_that_may_have_been_missed():
    """The standard error is 0, and the lower end rises with the number of cases."""
    ends = []
    for times in (3, 10, 100):
        found = spa_corrected(counts_of([[0, 0], [1, 1], [2, 2]] * times, 3))
        assert (found.value, found.se, found.ci_high) == (1, 0, 1)
        ends.append(found.ci_low)
    assert 0 < ends[0] < ends[1] < ends[2] < 1


def test_cases_of_which_none_agrees_are_bounded_from_above_by_the_agreement_that_may_have_been_missed():
    found = spa_corrected(counts_of([[0, 1], [1, 0], [0, 1]] * 10, 2))
    assert found.value < -0.9 and found.se < 1e-12
    assert found.value < found.ci_high < 0


def test_too_few_cases_for_chance_between_them_are_answered_with_the_reason():
    alone = spa_corrected(counts_of([[0, 1, 1]], 2))
    assert alone.value is None and "cannot be estimated from one case" in alone.note
    two = spa_corrected(counts_of([[0, 0], [1, 0]], 2))
    assert two.value == pytest.approx(0, abs=1e-12)
    assert two.se is None and "only two cases" in two.note
    one_pair = spa_corrected(counts_of([[0, 0], [1], [0]], 2))
    assert one_pair.value == 1 and "only one case" in one_pair.note


def test_cases_with_one_annotation_count_for_chance():
    paired = [[0, 0], [0, 1], [1, 1], [0, 0]]
    single = [*paired, [2], [2]]
    assert spa_corrected(counts_of(single, 3)).value == pytest.approx(
        1 - disagreement(single) / (1 - chance(single)), abs=1e-12
    )
    assert spa_corrected(counts_of(single, 3)).value > spa_corrected(counts_of(paired, 3)).value


def test_pairs_of_one_case_are_no_chance_so_that_random_answers_have_a_mean_near_0():
    """Two raters who guess on 6 cases, all 4096 outcomes, those of a single class left out.

    Fleiss' kappa has pairs of the same case among chance, which biases it by more than five times as much.
    """
    outcomes = [counts_of([[code >> 2 * i & 1, code >> 2 * i + 1 & 1] for i in range(6)], 2) for code in range(1, 4095)]
    corrected, fleiss = (np.mean([one(counts).value for counts in outcomes]) for one in (spa_corrected, fleiss_kappa))
    assert abs(corrected) < 0.02
    assert fleiss < -5 * abs(corrected)


def test_an_unknown_weighting_is_refused_by_name():
    with pytest.raises(ValueError, match="'heavy'"):
        spa_corrected(counts_of([[0, 0], [1, 0]], 2), "heavy")


def test_the_interval_holds_the_truth_where_fiellers_alone_does_so_in_seven_of_ten_data_sets():
    """20 cases, one in twenty of the second class, five raters who are wrong in 10%: κ = 0.2525.

    The study found 0.999 and, of Fieller's alone, 0.69, with an error of 0.02 for 500 data sets.
    """
    rng = np.random.default_rng(0)
    share = np.array([[0.9, 0.1], [0.1, 0.9]])
    every = np.array([0.95, 0.05]) @ share
    truth = 1 - (1 - 0.82) / (1 - every @ every)
    held = alone = 0
    for _ in range(500):
        counts = from_count_table(rng.multinomial(5, share[(rng.random(20) < 0.05).astype(int)]))
        found = spa_corrected(counts)
        held += found.ci_low is None or found.ci_low <= truth <= found.ci_high
        low, high = _fieller(_disagreements(counts, "annotations_m1"), 0.95)
        alone += low is None or low <= truth <= high
    assert held / 500 >= 0.93
    assert alone / 500 < 0.8


def test_intervals_narrow_like_one_over_the_square_root_of_the_cases():
    """Nine copies of 300 cases: a third of the width, but for terms of order 1/300 and Student's t."""
    cases = random_cases(3, n_cases=300)
    once, nine = (agreement_table(counts_of(cases * times, 4)) for times in (1, 9))
    for one, more in zip(once, nine, strict=True):
        assert (more.ci_high - more.ci_low) / (one.ci_high - one.ci_low) == pytest.approx(1 / 3, rel=0.05), one.name
