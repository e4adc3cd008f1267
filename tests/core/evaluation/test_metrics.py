"""Metrics with their errors against numpy, and metrics of one point against plain ones with every tie spelled out."""

from collections import Counter
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from scipy import stats

import core
from core.evaluation.metrics import evaluate, metric_names, point_scores, tied_orders
from core.evaluation.predictions import match_predictions
from core.plausibility.protocol import CaseDraws
from core.reducers.metrics import Metrics


@dataclass
class Lists:
    """A named classifier from one list of blocks of tied classes per case; None where it predicts nothing."""

    name: str
    blocks: list

    def __post_init__(self):
        cases = [[] if one is None else one for one in self.blocks]
        self.ptr = np.cumsum([0, *(sum(map(len, one)) for one in cases)])
        self.class_code = np.array([k for one in cases for block in one for k in block], np.int32)
        self.group = np.array([place for one in cases for place, block in enumerate(one) for _ in block], np.int32)


def plain(truth, predicted, k):
    """The five metrics of one order of classes against another, as anyone would write them."""
    truth, predicted = truth[:k], predicted[:k]
    overlap = [len(set(truth[:j]) & set(predicted[:j])) / j for j in range(1, k + 1)]
    same = len(truth) == len(predicted) == k and set(truth) == set(predicted)
    return np.array([truth[0] == predicted[0], truth[0] in predicted, same, overlap[-1], sum(overlap) / k], float)


def orders_of(blocks):
    """Every order that ties allow."""
    return [sum(parts, ()) for parts in product(*map(permutations, blocks))]


def slow_point(shares, blocks, k):
    """Mean over all orders of classes with equal shares and of classes with equal scores."""
    levels = sorted(set(shares), reverse=True)
    truth = orders_of([[c for c, share in enumerate(shares) if share == level] for level in levels])
    return np.mean([plain(y, c, k) for y in truth for c in orders_of(blocks)], axis=0)


def random_blocks(rng, n_classes):
    order = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
    cuts = np.flatnonzero(rng.random(len(order) - 1) < 0.5) + 1
    return [part.tolist() for part in np.split(order, cuts)]


def sparse(rows):
    """CSR of the shares above 0, the rest left out."""
    named = [np.flatnonzero(row) for row in rows]
    shares = [np.asarray(row, float)[codes] for row, codes in zip(rows, named, strict=True)]
    return np.cumsum([0, *map(len, named)]), np.concatenate(named).astype(np.int32), np.concatenate(shares)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5])
def test_point_scores_are_means_over_all_orders_of_equal_shares_and_equal_scores(n_classes, k):
    """Shares of 0 are classes that nobody named; now and then that is all of them."""
    rng = np.random.default_rng([n_classes, k])
    rows = [(rng.integers(0, 4, n_classes) / 10).tolist() for _ in range(40)]
    blocks = [random_blocks(rng, n_classes) for _ in rows]
    found = point_scores(Metrics((Lists("A", blocks),), k), *sparse(rows), n_classes)
    for case, (row, own) in enumerate(zip(rows, blocks, strict=True)):
        assert found[case, 0] == pytest.approx(slow_point(row, own, k), abs=1e-12), (row, own)


def test_a_share_of_0_ties_a_named_class_with_those_that_nobody_named():
    ptr, codes, shares = np.array([0, 2]), np.array([1, 3], np.int32), np.array([0.0, 1.0])
    blocks = [[3], [1, 0], [2]]
    for k in (1, 2, 3):
        found = point_scores(Metrics((Lists("A", [blocks]),), k), ptr, codes, shares, 5)
        assert found[0, 0] == pytest.approx(slow_point([0, 0, 0, 1, 0], blocks, k), abs=1e-12)


def test_shares_that_differ_by_rounding_are_equal_and_others_are_not():
    blocks = [[0], [1]]
    for step, accuracy in ((1e-9, 0.5), (1e-5, 0.0)):
        ptr, codes, shares = sparse([[0.5, 0.5 + step, 0, 0]])
        found = point_scores(Metrics((Lists("A", [blocks]),), 1), ptr, codes, shares, 4)
        assert found[0, 0, 0] == accuracy


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_without_ties_the_point_scores_are_the_usual_top_k_accuracy(k):
    """Written for whole arrays: how often the best class of the truth is among the k best scores."""
    rng = np.random.default_rng(k)
    truth, scores = rng.dirichlet(np.ones(9), 200), rng.random((200, 9))
    ranked = np.argsort(-scores, axis=1)
    best = truth.argmax(axis=1)
    classifier = Lists("A", [[[c] for c in row] for row in ranked.tolist()])
    found = point_scores(Metrics((classifier,), k), *sparse(truth), 9).mean(axis=0)[0]
    assert found[0] == pytest.approx(np.mean(ranked[:, 0] == best), abs=1e-12)
    assert found[1] == pytest.approx(np.mean((ranked[:, :k] == best[:, None]).any(axis=1)), abs=1e-12)
    first = np.argsort(-truth, axis=1)[:, :k]
    assert found[2] == pytest.approx(np.mean((np.sort(first) == np.sort(ranked[:, :k])).all(axis=1)), abs=1e-12)


def test_a_large_tie_is_counted_without_spelling_it_out():
    """80 of 419 classes share everything: 24 million sets of five, 2.9 billion orders."""
    row = np.zeros(419)
    row[100:180] = 1 / 80
    blocks = [[[100], [101], [102], [103], [0]], [[100, 101, 102, 103, 104]]]
    ptr, codes, shares = sparse([row, row])
    found = point_scores(Metrics((Lists("A", blocks),), 5), ptr, codes, shares, 419)
    assert found[0, 0, :4] == pytest.approx([1 / 80, 4 / 80, 0, 4 / 80], abs=1e-12)
    assert found[1, 0, :4] == pytest.approx([1 / 80, 5 / 80, 1 / comb(80, 5), 5 / 80], rel=1e-9)


def test_many_places_that_are_all_one_tie_are_counted_without_spelling_them_out():
    """Ten classes tied in the first ten places have 3.6 million orders."""
    ptr, codes, shares = sparse([[0.1] * 10 + [0] * 5])
    found = point_scores(Metrics((Lists("A", [[[c] for c in range(10)]]),), 10), ptr, codes, shares, 15)
    assert found[0, 0] == pytest.approx([0.1, 1, 1, 1, np.mean([j / 10 for j in range(1, 11)])], abs=1e-12)


@pytest.mark.parametrize("shares", [(0.2, 0.2, 0.2, 0.4), (0.3, 0.3, 0.2, 0.2), (0.5, 0.2, 0.2, 0.1), (0.25,) * 4])
def test_orders_hold_each_class_at_each_place_as_often_as_all_orders_do(shares):
    """Places of the tie across the last place are held by its classes in equal parts."""
    levels = sorted(set(shares), reverse=True)
    everything = np.array(orders_of([[k for k in range(4) if shares[k] == level] for level in levels]))[:, :3]
    orders, weights = tied_orders(np.array(shares), 0, 3)
    across = [k for k in np.unique(everything) if k not in orders]
    assert weights.sum() == pytest.approx(1)
    for place in range(3):
        found = np.bincount(orders[:, place], weights, minlength=5)
        found[across] += found[4] / max(len(across), 1)
        assert found[:4] == pytest.approx(np.bincount(everything[:, place], minlength=4) / len(everything))


def point_draws(row, n_draws=4, depth=3):
    """Every draw is the same point; ``row`` names all classes."""
    order = np.argsort(-np.array(row), kind="stable")[:depth].astype(np.int32)
    return CaseDraws(
        np.arange(len(row), dtype=np.int32),
        np.tile(row, (n_draws, 1)),
        np.zeros(n_draws),
        np.tile(order, (n_draws, 1)),
        0,
        1.0,
        float(n_draws),
        0,
    )


def evaluated(classifiers, all_draws, top=3, risk=None, point=None, seed=0):
    reducer = Metrics(tuple(classifiers), top, risk)
    state = reducer.init(len(all_draws), all_draws[0].n_draws)
    for case, draws in enumerate(all_draws):
        reducer.update(state, case, case, draws)
    point = np.full(state.per_case.shape, 0.5) if point is None else point
    return evaluate(reducer.merge([state]), reducer, point, seed)


def test_draws_of_one_point_give_the_usual_metric_without_uncertainty():
    rng = np.random.default_rng(1)
    truth = rng.dirichlet(np.ones(6), 30)
    classifier = Lists("A", [random_blocks(rng, 6) for _ in truth])
    usual = np.array([slow_point(row, blocks, 3) for row, blocks in zip(truth, classifier.blocks, strict=True)])
    point = point_scores(Metrics((classifier,), 3), *sparse(truth), 6)
    found = evaluated([classifier], [point_draws(row) for row in truth], point=point)
    for place, metric in enumerate(metric_names(3)):
        value, exact = found.values["A"][metric], usual[:, place].mean()
        for number in (value.mean, value.ci_low, value.ci_high, value.min, value.max, value.point):
            assert number == pytest.approx(exact, abs=1e-12)
        assert value.sd == pytest.approx(0, abs=1e-12)
        assert value.total_se == pytest.approx(value.case_se, abs=1e-12)


N_CASES, N_DRAWS = 60, 300


@pytest.fixture(scope="module")
def all_draws():
    rng = np.random.default_rng(2)
    found = []
    for case in range(N_CASES):
        share = rng.dirichlet(0.3 + 5 * (np.arange(6) // 2 == case % 3), N_DRAWS)
        top = np.argsort(-share, axis=1)[:, :3].astype(np.int32)
        found.append(CaseDraws(np.arange(6, dtype=np.int32), share, np.zeros(N_DRAWS), top, 0, 1.0, 300.0, 0))
    return found


@pytest.fixture(scope="module")
def classifiers():
    """One predicts all cases, one the first 40, one the last 30, one the first 10."""
    rng = np.random.default_rng(3)
    blocks = [[random_blocks(rng, 6) for _ in range(N_CASES)] for _ in range(4)]
    blocks[1][40:] = [None] * 20
    blocks[2][:30] = [None] * 30
    blocks[3][10:] = [None] * 50
    return [Lists(name, one) for name, one in zip("ABCD", blocks, strict=True)]


@pytest.fixture(scope="module")
def by_hand(all_draws, classifiers):
    """Scores of every classifier, case, metric and draw; NaN without a prediction."""
    scores = np.full((4, N_CASES, 5, N_DRAWS), np.nan)
    for number, one in enumerate(classifiers):
        for case, draws in enumerate(all_draws):
            if one.blocks[case] is None:
                continue
            heads = Counter(order[:3] for order in orders_of(one.blocks[case]))
            drawn = list(map(tuple, draws.top.tolist()))
            mean = {
                truth: sum(times * plain(truth, head, 3) for head, times in heads.items()) / heads.total()
                for truth in set(drawn)
            }
            scores[number, case] = np.array([mean[truth] for truth in drawn]).T
    return scores


def test_values_are_those_of_numpy_over_the_draws(all_draws, classifiers, by_hand):
    point = np.random.default_rng(0).random((N_CASES, 4, 5))
    found = evaluated(classifiers, all_draws, point=point)
    assert found.classifiers == ("A", "B", "C", "D")
    assert found.metrics == ("top1_accuracy", "top3_accuracy", "set_accuracy_3", "overlap_3", "average_overlap_3")
    for number, name in enumerate("ABCD"):
        seen = np.isfinite(by_hand[number, :, 0, 0])
        draws = by_hand[number, seen].mean(axis=0)
        assert found.by_draw[number] == pytest.approx(draws, abs=1e-12)
        assert np.isnan(found.by_case[~seen, number]).all()
        assert found.by_case[seen, number] == pytest.approx(by_hand[number, seen].mean(axis=2), abs=1e-12)
        for place, metric in enumerate(found.metrics):
            value = found.values[name][metric]
            assert value.n_cases == seen.sum()
            assert value.mean == pytest.approx(draws[place].mean(), abs=1e-12)
            assert value.sd == pytest.approx(np.std(draws[place], ddof=1), abs=1e-12)
            assert [value.ci_low, value.ci_high] == pytest.approx(np.percentile(draws[place], [2.5, 97.5]), abs=1e-12)
            assert [value.min, value.max] == pytest.approx([draws[place].min(), draws[place].max()], abs=1e-12)
            assert value.point == pytest.approx(point[seen, number, place].mean(), abs=1e-12)
            assert value.total_se == pytest.approx(np.sqrt(value.sd**2 + value.case_se**2), abs=1e-15)


def test_the_error_over_cases_is_the_sd_over_the_root_of_their_number(all_draws, classifiers, by_hand):
    """An sd of 1,000 resamples has a relative error of 1/√2000: 4.5 of them are 0.1."""
    found = evaluated(classifiers, all_draws)
    for number, name in enumerate("ABCD"):
        per_case = by_hand[number].mean(axis=2)
        per_case = per_case[np.isfinite(per_case[:, 0])]
        exact = per_case.std(axis=0) / np.sqrt(len(per_case))
        assert [found.values[name][m].case_se for m in found.metrics] == pytest.approx(exact, rel=0.1)


def test_the_error_over_cases_follows_its_seed(all_draws, classifiers):
    one, same, other = (evaluated(classifiers, all_draws, seed=seed).values["A"]["overlap_3"] for seed in (1, 1, 2))
    assert one.case_se == same.case_se != other.case_se


def test_p_better_counts_draws_on_common_cases_and_half_of_the_ties(all_draws, classifiers, by_hand):
    found = evaluated(classifiers, all_draws)
    for a, b in combinations(range(4), 2):
        common = np.isfinite(by_hand[a, :, 0, 0]) & np.isfinite(by_hand[b, :, 0, 0])
        if not common.any():
            assert (a, b) == (2, 3)
            assert np.isnan(found.better[a, b]).all() and np.isnan(found.better[b, a]).all()
            continue
        gap = (by_hand[a, common] - by_hand[b, common]).sum(axis=0)
        exact = [np.mean([1.0 if g > 1e-9 else 0.5 if g > -1e-9 else 0.0 for g in row]) for row in gap]
        assert found.better_for_these[a, b] == pytest.approx(exact, abs=1e-12)
        per_case = (by_hand[a, common] - by_hand[b, common]).mean(axis=2)
        n, se = len(per_case), per_case.std(axis=0, ddof=1) / np.sqrt(len(per_case))
        sampled = [
            stats.t.cdf(of_metric / n / error, n - 1).mean() if error > 1e-12 else share
            for of_metric, error, share in zip(gap, se, exact, strict=True)
        ]
        assert found.better[a, b] == pytest.approx(sampled, abs=1e-9)
        assert found.better[a, b] + found.better[b, a] == pytest.approx(np.ones(5), abs=1e-12)
    assert np.isnan(found.better[range(4), range(4)]).all()


def test_a_classifier_is_better_than_its_double_in_half_of_the_draws(all_draws, classifiers):
    double = Lists("double", classifiers[0].blocks)
    found = evaluated([classifiers[0], double], all_draws)
    assert (found.better[0, 1] == 0.5).all() and (found.better[1, 0] == 0.5).all()


def test_two_classifiers_that_guess_do_not_lead_for_sure_however_certain_the_truth_is():
    """One is right on a few cases more; on other cases like these it need not be."""
    rng = np.random.default_rng(5)
    n = 60
    truth = rng.integers(0, 4, n)
    draws = [point_draws(np.eye(4)[code] * 0.97 + 0.01) for code in truth]
    guesses = [[[[int(k)] for k in rng.permutation(4)[:3]] for _ in range(n)] for _ in range(2)]
    found = evaluated([Lists(name, lists) for name, lists in zip("ab", guesses, strict=True)], draws)
    gap = found.values["a"]["top1_accuracy"].mean - found.values["b"]["top1_accuracy"].mean
    assert abs(gap) > 1e-9 and found.better_for_these[0, 1, 0] in (0.0, 1.0)
    assert 0.02 < found.better[0, 1, 0] < 0.98


def test_a_classifier_that_is_always_right_is_better_for_sure():
    rows = [[0.5, 0.3, 0.15, 0.05]] * 5
    right, wrong = Lists("right", [[[0], [1], [2]]] * 5), Lists("wrong", [[[3], [2], [1]]] * 5)
    found = evaluated([wrong, right], [point_draws(row) for row in rows])
    assert (found.better[1, 0] == 1).all() and (found.better[0, 1] == 0).all()


def test_means_by_risk_are_those_of_the_cases_in_the_bin(all_draws, classifiers, by_hand):
    risk = np.array([0, 0, 1, 1, 2, 2], np.int8)
    found = evaluated(classifiers, all_draws, risk=risk)
    expected = np.array([(draws.share @ risk).mean() for draws in all_draws])
    bins = np.digitize(expected, [0.5, 1.5])
    assert set(bins) == {0, 1, 2}
    for number in range(4):
        for where in range(3):
            inside = (bins == where) & np.isfinite(by_hand[number, :, 0, 0])
            assert found.n_by_risk[number, where] == inside.sum()
            if not inside.any():
                assert np.isnan(found.by_risk[number, where]).all()
                continue
            mean = by_hand[number, inside].mean(axis=(0, 2))
            assert found.by_risk[number, where] == pytest.approx(mean, abs=1e-12)


def test_without_levels_there_is_nothing_by_risk(all_draws, classifiers):
    found = evaluated(classifiers, all_draws)
    assert found.by_risk is None and found.n_by_risk is None


def test_a_classifier_without_any_case_has_no_numbers_and_harms_nobody(all_draws, classifiers):
    none = Lists("none", [None] * N_CASES)
    found = evaluated([none, classifiers[0]], all_draws)
    for value in found.values["none"].values():
        assert value.n_cases == 0
        assert np.isnan([value.mean, value.sd, value.ci_low, value.min, value.point, value.case_se]).all()
    alone = evaluated([classifiers[0]], all_draws)
    assert found.values["A"]["overlap_3"].mean == alone.values["A"]["overlap_3"].mean
    assert np.isnan(found.better).all()


def test_an_error_over_one_case_or_one_draw_is_not_estimable(all_draws, classifiers):
    one_case = evaluated(classifiers[:1], all_draws[:1]).values["A"]["top1_accuracy"]
    assert np.isnan(one_case.case_se) and np.isnan(one_case.total_se)
    one_draw = evaluated(classifiers[:1], [point_draws([0.5, 0.3, 0.1, 0.05, 0.03, 0.02], 1)] * 2)
    assert np.isnan(one_draw.values["A"]["top1_accuracy"].sd)


def test_no_classifiers_give_an_empty_evaluation(all_draws):
    found = evaluated([], all_draws)
    assert found.classifiers == () and found.values == {}
    assert found.by_draw.shape == (0, 5, N_DRAWS)


# Uncertainty adjusted: The public functions of one classifier and one reliability give what the sweep gives.


@pytest.fixture
def some():
    """Forty cases of the skin sample, and a classifier that always guesses the same three."""
    dataset = core.load_sample("skin")
    dataset = dataset.select(cases=dataset.cases[:40])
    names = [dataset.classes[code] for code in (0, 1, 2)]
    cases = [case for case in dataset.cases for _ in names]
    return dataset, match_predictions(dataset, cases, names * 40, np.tile([3.0, 2, 1], 40), "same three")


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        (core.ua_topk_accuracy, "top3_accuracy"),
        (core.ua_set_accuracy, "set_accuracy_3"),
        (core.ua_average_overlap, "average_overlap_3"),
    ],
)
def test_each_is_the_metric_of_the_sweep(measure, metric, some):
    dataset, predictions = some
    model = core.PlackettLuce()
    sweep = core.reliability_sweep(model, dataset, [2.0], classifiers=[predictions], n_draws=100, seed=5)
    found = measure(model, dataset, predictions, reliability=2.0, n_draws=100, seed=5)
    assert found == sweep.evaluation[0].values["same three"][metric]


def test_the_usual_reliability_is_the_models_own(some):
    dataset, predictions = some
    model = core.PrIRN()
    usual = core.ua_topk_accuracy(model, dataset, predictions, n_draws=50)
    assert usual == core.ua_topk_accuracy(model, dataset, predictions, n_draws=50, reliability=30.0)


def test_expected_risk_is_that_of_the_sweep(some):
    dataset, _ = some
    model = core.PlackettLuce()
    found = core.expected_risk(model, dataset, reliability=3.0, n_draws=100, seed=1)
    sweep = core.reliability_sweep(model, dataset, [3.0], n_draws=100, seed=1)
    assert (found.expected == sweep.risk[0].expected).all()
    assert (found.summed == sweep.risk[0].summed).all()


@pytest.mark.parametrize("name", core.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(core, name) is not None
