"""Weights of cases and variance of SPA under each weighting; strongly and weakly agreeing cases."""

from itertools import product

import numpy as np
import pytest

from core.agreement.probability import SPA_WEIGHTINGS, case_agreement, spa, weights_of_sizes
from core.agreement.weightings import WeightingComparison, _errors, compare_weightings, weight_curve
from core.analyses.agreement import AGREEMENT
from core.analyses.agreement.weightings import verdict
from core.analyses.blocks import Download, Words
from core.annotations.dataset import Dataset
from core.command_line import main
from core.errors import NotApplicableError
from core.figures.agreement_parts import weight_curves
from core.figures.theme import LIGHT
from tests.core.analyses.test_contract import every


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
    assert (
        words.startswith("3 of 6 cases (50%) have strong agreement") and "4 (67%) have at least weak agreement" in words
    )
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
