"""The weight families against hand calculation, and the refusal of matrices that are no weights."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from core.agreement.intervals import wilson
from core.agreement.ordered import ranking_agreement
from core.agreement.probability import SPA_WEIGHTINGS, case_agreement, spa, weights_of_sizes
from core.agreement.weightings import WeightingComparison, _errors, compare_weightings, weight_curve
from core.agreement.weights import WEIGHT_FAMILIES, checked_weights, resolve_weights, weight_matrix
from core.analyses.agreement import AGREEMENT
from core.analyses.agreement.weightings import verdict
from core.analyses.blocks import Download, Words
from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import InputError, LimitError, NotApplicableError
from core.figures.agreement_parts import weight_curves
from core.figures.theme import LIGHT
from core.rankings.leave_one_out import leave_one_out
from core.rankings.overlap import mean_ao
from tests.core.agreement.examples import dataset_of
from tests.core.analyses.test_contract import every
from tests.core.kinds import as_scores

PAIRS = (0, 0, 1), (1, 2, 2)


@pytest.mark.parametrize(
    ("family", "labels", "expected"),
    [
        ("identity", None, (0, 0, 0)),
        ("linear", None, (0.5, 0, 0.5)),
        ("quadratic", None, (0.75, 0, 0.75)),
        ("ordinal", None, (2 / 3, 0, 2 / 3)),
        ("radical", None, (1 - 0.5**0.5, 0, 1 - 0.5**0.5)),
        ("bipolar", None, (2 / 3, 0, 2 / 3)),
        ("circular", None, (0, 0, 0)),
        ("ratio", None, (5 / 9, 0, 0.84)),
        ("ratio", (0, 1, 2), (0, 0, 8 / 9)),
        ("linear", (0, 1, 4), (0.75, 0, 0.25)),
        ("ordinal", (0, 1, 4), (2 / 3, 0, 2 / 3)),
    ],
)
def test_weights_of_three_classes_are_what_hand_calculation_gives(family, labels, expected):
    assert weight_matrix(family, 3, labels)[PAIRS] == pytest.approx(expected, abs=1e-12)


def test_circular_weights_bring_the_ends_of_the_scale_together():
    """Of four classes on a circle neighbours are half apart: sin²(π/4) / sin²(π/2)."""
    assert weight_matrix("circular", 4)[0] == pytest.approx((1, 0.5, 0, 0.5), abs=1e-12)


def test_bipolar_weights_punish_a_step_at_the_ends_more_than_one_in_the_middle():
    """Labels 1 to 4: d²/[(x + y − 2)(8 − x − y)] is 1/5 at the ends, 1/9 in the middle and 1 for the whole scale."""
    found = weight_matrix("bipolar", 4)
    assert (found[0, 1], found[1, 2], found[0, 3]) == pytest.approx((4 / 5, 8 / 9, 0), abs=1e-12)


@given(
    st.sampled_from(WEIGHT_FAMILIES),
    st.lists(st.floats(0, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=7, unique=True),
)
def test_every_family_gives_weights_that_would_be_accepted_as_ones_own(family, labels):
    found = weight_matrix(family, len(labels), labels)
    assert (checked_weights(found, len(labels)) == found).all()


@pytest.mark.parametrize("family", WEIGHT_FAMILIES)
def test_reordering_classes_with_their_labels_reorders_the_weights(family):
    labels, order = np.array([1, 2, 5, 9.5]), [2, 0, 3, 1]
    plain = weight_matrix(family, 4, labels)
    assert weight_matrix(family, 4, labels[order]) == pytest.approx(plain[np.ix_(order, order)], abs=1e-15)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((1, 2), "2 labels for 3 classes"),
        ((1, 2, 2), "same label"),
        ((1, 2, np.nan), "finite"),
        ((1, 2, np.inf), "finite"),
        ((1, 2, "x"), "not numbers"),
    ],
)
def test_labels_that_are_no_scale_are_refused(labels, message):
    with pytest.raises(InputError, match=message):
        weight_matrix("linear", 3, labels)


def test_a_negative_label_is_refused_for_ratios_alone():
    with pytest.raises(InputError, match="-1: it is negative"):
        weight_matrix("ratio", 3, (-1, 1, 2))
    assert weight_matrix("linear", 3, (-1, 1, 2))[0, 2] == 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0, 1]], r"\(2, 2\)"),
        ([[1, 0, 0], [0, 1, 0.5], [0, 0.4, 1]], "not symmetric"),
        ([[1, 0, 0], [0, 0.9, 0], [0, 0, 1]], "diagonal"),
        ([[1, 0, 2], [0, 1, 0], [2, 0, 1]], "outside the range 0 to 1"),
        ([[1, 0, -0.1], [0, 1, 0], [-0.1, 0, 1]], "outside the range 0 to 1"),
        ([[1, 0, np.nan], [0, 1, 0], [np.nan, 0, 1]], "outside the range 0 to 1"),
        ([["a", 0, 0], [0, 1, 0], [0, 0, 1]], "not a table of numbers"),
    ],
)
def test_a_matrix_that_is_no_weights_is_refused_with_the_reason(matrix, message):
    with pytest.raises(InputError, match=message):
        checked_weights(matrix, 3)


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="'cubic'"):
        weight_matrix("cubic", 3)


def test_identity_of_any_number_of_classes_needs_no_matrix_and_other_weights_have_a_limit():
    for weights in (None, "identity"):
        assert resolve_weights(weights, 1_000_000) == ("identity", None)
    with pytest.raises(LimitError, match="Use identity"):
        resolve_weights("linear", 1_000_000)


# Weightings: Weights of cases and variance of SPA under each weighting; strongly and weakly agreeing cases.


def votes(*cases):
    """Cases as strings of classes, a letter for each rater."""
    rows = [(case, rater, ord(letter) - 97) for case, names in enumerate(cases) for rater, letter in enumerate(names)]
    case, rater, answer = (np.array(part) for part in zip(*rows, strict=True))
    return Dataset.from_classes("v", [f"c{i}" for i in range(len(cases))], [f"r{j}" for j in range(9)],
                                list("abcd"), case, rater, answer)  # fmt: skip


def enumerated_variance(n, shares):
    """Variance of the agreement of n annotations, over all that they could be [SPA, equation 22]."""
    mean = square = 0.0
    for answer in product(range(len(shares)), repeat=n):
        p = np.prod([shares[k] for k in answer])
        pairs = sum(answer[i] == answer[j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
        mean, square = mean + p * pairs, square + p * pairs**2
    return square - mean**2


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.6, 0.3, 0.1]])
def test_inverse_variance_weights_are_those_of_all_annotations_enumerated(shares):
    sizes = np.arange(2, 7)
    inverse = np.array([1 / enumerated_variance(n, shares) for n in sizes])
    np.testing.assert_allclose(weight_curve("inv_var_class", sizes, np.array(shares)), inverse / inverse.max())


def test_curves_are_ordered_as_in_figures_4_and_5():
    """The paper: inv_var is edges, and inv_var_class is from annotations to edges by the class distribution."""
    sizes, rng = np.arange(2, 11), np.random.default_rng(0)
    edges, annotations = (weight_curve(name, sizes, np.array([1.0])) for name in ("edges", "annotations"))
    np.testing.assert_allclose(weight_curve("inv_var", sizes, np.array([1.0])), edges)
    for k in range(2, 11):
        np.testing.assert_allclose(weight_curve("inv_var_class", sizes, np.full(k, 1 / k)), edges)
        logits = rng.uniform(-2, 4, k)
        curve = weight_curve("inv_var_class", sizes, np.exp(logits) / np.exp(logits).sum())
        assert (curve >= edges - 1e-9).all() and (curve <= 1 + 1e-9).all()
        assert curve.sum() <= weight_curve("flat", sizes, np.array([1.0])).sum()
    assert (annotations > edges)[:-1].all()


def test_errors_are_those_of_the_coefficient_also_of_resampled_cases():
    rng = np.random.default_rng(5)
    cases = ["".join(rng.choice(list("abc"), rng.integers(2, 6), p=[0.6, 0.3, 0.1])) for _ in range(40)]
    dataset = votes(*cases)
    found = compare_weightings(dataset)
    assert [one.se for one in found.values] == [spa(dataset, name).se for name in SPA_WEIGHTINGS]
    assert found.sizes.tolist() == [2, 3, 4, 5] and found.p_least.sum() == pytest.approx(1)
    drawn = rng.multinomial(40, np.full(40, 1 / 40), 5)
    agreement, n = case_agreement(dataset)
    for name in ("flat", "annotations", "edges"):
        errors = _errors(weights_of_sizes(n, name), agreement, drawn)
        again = [votes(*(case for case, times in zip(cases, one, strict=True) for _ in range(times))) for one in drawn]
        np.testing.assert_allclose(errors, [spa(one, name).se for one in again])


def test_the_sentence_names_the_weighting_only_where_it_is_clear():
    # Cases of three all agree in a third, cases of nine wholly or hardly: weights of large cases raise the variance.
    clear = votes(*["aab"] * 40, *["a" * 9] * 2, *["abcdabcda"] * 6)
    found = compare_weightings(clear)
    assert verdict(found).startswith("flat has the lowest variance in these data (standard error ")
    unclear = WeightingComparison(found.weightings, found.values, np.full(6, 1 / 6), found.sizes, found.class_shares)
    assert verdict(unclear).startswith("No weighting clearly has the lowest variance")
    same = votes("ab", "aa", "ba", "cc")
    assert verdict(compare_weightings(same)).endswith("all cases have the same number of annotations")
    assert verdict(compare_weightings(votes("ab", "a"))).startswith("Cannot determine")
    assert verdict(compare_weightings(votes("aa", "aaa", "bb"))).endswith("all cases have the same agreement")
    with pytest.raises(NotApplicableError):
        compare_weightings(votes("a", "b"))


def test_the_figure_has_a_line_for_each_curve_that_differs():
    sizes = np.arange(2, 6)
    curves = {name: weight_curve(name, sizes, np.array([0.7, 0.3])) for name in SPA_WEIGHTINGS}
    names = ["annotations_m1", "flat", "annotations", "edges = inv_var", "inv_var_class"]
    figure = weight_curves(sizes, curves, LIGHT, "Weights")
    assert [trace.name for trace in figure.data] == names
    for trace in figure.data:
        assert list(trace.y) == pytest.approx(curves[trace.name.split(" = ")[0]].tolist())
        assert list(trace.x) == sizes.tolist()


def test_strongly_and_weakly_agreeing_cases_are_counted():
    """Two thirds of three are strong; a unique plurality is weak; a tie and a single annotation are neither."""
    dataset = votes("aab", "aaab", "aabbc", "aabc", "ab", "a", "aa")
    part = AGREEMENT.part("cases")
    found = part.answer(dataset)
    assert found.strong.tolist() == [True, True, False, False, False, False, True]
    assert found.weak.tolist() == [True, True, False, True, False, False, True]
    words = next(one for one in part.blocks(found, dataset) if isinstance(one, Words)).plain
    assert words.startswith("Raters agree strongly on 3 of 6 cases (50%): ") and "at least weakly on 4 (67%): " in words
    kinds = ["two thirds", "two thirds", "tied", "plurality", "tied", "", "two thirds"]
    assert part.frame(found, dataset)["leading"].tolist() == kinds


def test_the_command_and_the_downloads_have_weights_and_errors(capsys):
    assert main(["agreement", "caries", "--part", "weightings", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "weighting,value,ci_low,ci_high,se,p_least" and len(lines) == 7
    assert main(["agreement", "dermatology", "--part", "weightings"]) == 0  # rankings by their first classes
    dataset = votes("aab", "ab", "aaaa")
    part = AGREEMENT.part("weightings")
    blocks = part.blocks(part.answer(dataset), dataset)
    frames = {one.key: one.frame for one in every(blocks) if isinstance(one, Download)}
    assert len(frames["weight_curves_table"]) == 3 * 6 * 3


# Ordered: Agreement of partial rankings as coefficients, against their means over cases.


def ranked(cases, n_classes):
    """A dataset from one list per case of (rater, blocks)."""
    rows = [(case, rater, blocks) for case, answers in enumerate(cases) for rater, blocks in answers]
    ptr, code, rank = [0], [], []
    for _, _, blocks in rows:
        for place, block in enumerate(blocks):
            code += block
            rank += [place] * len(block)
        ptr.append(len(code))
    case, rater = (np.array([row[i] for row in rows]) for i in (0, 1))
    names = [f"c{i}" for i in range(len(cases))], [f"r{j}" for j in range(max(rater) + 1)]
    names = *names, [f"k{k}" for k in range(n_classes)]
    return Dataset.from_rankings("test", *names, case, rater, np.array(ptr), np.array(code), np.array(rank, float))


def random_rankings(seed, n_cases=40, n_classes=5):
    rng = np.random.default_rng(seed)
    return [
        [(rater, [[int(k)] for k in rng.permutation(n_classes)[: rng.integers(1, 4)]]) for rater in range(size)]
        for size in rng.integers(1, 5, n_cases)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_every_coefficient_is_the_mean_over_cases_with_two_raters(seed):
    cases = random_rankings(seed)
    dataset = ranked(cases, 5)
    found = ranking_agreement(dataset, (1, 2, 4))
    usable = [case for case in cases if len(case) > 1]
    assert [(one.name, one.weights) for one in found] == [
        ("leave_one_out_top1", "ties split"),
        ("mean_average_overlap", "L = 1"),
        ("mean_average_overlap", "L = 2"),
        ("mean_average_overlap", "L = 4"),
    ]
    assert found[0].value == pytest.approx(leave_one_out(dataset).mean, abs=1e-12)
    for one, depth in zip(found[1:], (1, 2, 4), strict=True):
        values = [
            np.mean([mean_ao(a, b, 5, depth) for i, (_, a) in enumerate(case) for _, b in case[:i]]) for case in usable
        ]
        assert one.value == pytest.approx(np.mean(values), abs=1e-9)
        assert one.se == pytest.approx(np.std(values, ddof=1) / np.sqrt(len(values)), rel=1e-9)
        n_eff = one.value * (1 - one.value) / one.se**2
        ends = wilson(one.value, n_eff, student.ppf(0.975, len(values) - 1))
        assert (one.ci_low, one.ci_high) == pytest.approx(ends, abs=1e-9)
    for one in found:
        assert (one.n_cases, one.n_annotations) == (len(usable), sum(map(len, usable)))


def test_equal_rankings_agree_fully_with_an_interval_that_has_width():
    for one in ranking_agreement(ranked([[(0, [[0], [1]]), (1, [[0], [1]])]] * 30, 3)):
        assert one.value == pytest.approx(1) and one.ci_low < 1


def test_of_single_classes_the_overlap_of_first_places_is_percent_agreement():
    dataset = dataset_of([[(0, 0), (1, 0)]] * 3 + [[(0, 0), (1, 1)]], 3)
    assert ranking_agreement(dataset, (1,))[1].value == pytest.approx(0.75)


def test_names_and_order_of_raters_cases_and_classes_do_not_matter():
    cases = random_rankings(5)
    other = [[(9 - r, [[4 - k for k in block] for block in blocks]) for r, blocks in case] for case in cases[::-1]]
    one, two = (ranking_agreement(ranked(some, 5)) for some in (cases, other))
    assert [c.value for c in two] == pytest.approx([c.value for c in one], abs=1e-12)
    assert [c.ci_low for c in two] == pytest.approx([c.ci_low for c in one], abs=1e-12)


def test_depths_beyond_the_classes_are_left_out_and_those_below_1_refused():
    dataset = ranked(random_rankings(0), 5)
    assert [one.weights for one in ranking_agreement(dataset, (5, 6, 7))[1:]] == ["L = 5"]
    with pytest.raises(InputError, match="got 0"):
        ranking_agreement(dataset, (0,))


def test_one_rater_is_undefined_and_one_case_has_no_interval():
    for one in ranking_agreement(ranked([[(0, [[0], [1]])], [(0, [[2]])]], 3)):
        assert one.value is None and "no case has two raters" in one.note
    for one in ranking_agreement(ranked([[(0, [[0], [1]]), (1, [[0]])]], 3)):
        assert one.value is not None and one.ci_low is None and "only one case" in one.note


def test_anonymous_raters_of_a_case_are_still_different_raters():
    dataset = ranked(random_rankings(1), 5)
    assert ranking_agreement(replace(dataset, raters_identified=False)) == ranking_agreement(dataset)


def test_scores_are_refused():
    with pytest.raises(NotApplicableError, match="scores"):
        ranking_agreement(as_scores(dataset_of([[(0, 1), (1, 1)]], 2)))
