"""Prediction sets hold the truth as often as they promise, and say where they cannot promise it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.evaluation.prediction_sets import (
    CALIBRATION,
    LEFT_OUT,
    QUARTERS,
    TEST,
    KeptPlausibilities,
    _share,
    corrected_threshold,
    majority_votes,
    possible_promise,
    prediction_sets,
    quarters,
    scores_at,
    sets_table,
    split_threshold,
)
from core.evaluation.predictions import Predictions, match_predictions
from core.evaluation.sweep_table import kept_plausibilities, plausibilities_of, sweep_part
from core.plausibility.dirichlet import DirichletCounts
from core.reducers.mean_shares import MeanShares
from tests.benchmarks.prediction_sets import data_of, interval_coverage, labels_of, simulate, study


def p_value_set(calibration, score, alpha):
    """The definition, class by class: the mean over labels of (1 + #{E_i ≤ E}) / (n + 1) is above α."""
    calibration = calibration if calibration.ndim == 2 else calibration[:, None]
    n, m = calibration.shape
    rho = [np.mean([(1 + (calibration[:, j] <= e).sum()) / (n + 1) for j in range(m)]) for e in score]
    return np.array(rho) > alpha + 1e-12


@given(
    st.integers(1, 25),
    st.integers(1, 4),
    st.sampled_from([0.01, 0.05, 0.07, 0.1, 0.25, 0.29, 0.5, 0.9, 0.99]),
    st.integers(0, 2**32 - 1),
)
def test_a_threshold_gives_the_sets_of_the_p_values_ties_and_whole_ranks_included(n, m, alpha, seed):
    rng = np.random.default_rng(seed)
    calibration = rng.integers(0, 6, (n, m)) / 5.0
    score = np.arange(-1, 8) / 5.0
    np.testing.assert_array_equal(
        score >= split_threshold(calibration, alpha), p_value_set(calibration, score, alpha)
    )  # fmt: skip


@given(st.integers(2, 20), st.integers(1, 3), st.integers(1, 25), st.sampled_from([0.05, 0.1, 0.4]), st.integers(0, 99))
def test_the_correction_is_the_empirical_distribution_of_the_other_half(n_a, m, n_b, alpha, seed):
    rng = np.random.default_rng(seed)
    scores, checks = rng.integers(0, 8, (n_a, m)) / 7.0, rng.integers(0, 8, n_b) / 7.0

    def rho(e):
        return np.mean([(1 + (scores[:, j] <= e).sum()) / (n_a + 1) for j in range(m)])

    of_b = np.array([rho(e) for e in checks])
    grid = np.arange(-1, 9) / 7.0
    wanted = np.array([(of_b <= rho(e) + 1e-12).mean() > alpha + 1e-12 for e in grid])
    if np.floor(alpha * n_b + 1e-9) == 0:  # too few to correct by: no class is left out
        wanted[:] = True
    np.testing.assert_array_equal(grid >= corrected_threshold(scores, checks, alpha), wanted)


@pytest.mark.parametrize("m", [1, 10])
def test_below_one_over_alpha_less_one_cases_no_class_is_left_out(m):
    scores = np.random.default_rng(0).random((19, m))
    assert split_threshold(scores[:18], 0.05) == -np.inf
    assert split_threshold(scores, 0.05) == scores.min()
    assert split_threshold(np.empty((0, m)), 0.05) == -np.inf


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, np.nan])
def test_an_error_of_none_or_all_is_refused(alpha):
    with pytest.raises(InputError):
        split_threshold(np.ones(3), alpha)


def test_voted_labels_break_the_promise_and_drawn_labels_keep_it():
    """A tenth of the study among the benchmarks; bars are four standard errors over its repeats."""
    found = study(20)
    assert found["votes"][0] == pytest.approx(0.696, abs=4 * found["votes"][1])
    for name in ("truth", "one label", "ten labels", "ten labels, ECDF"):
        assert found[name][0] == pytest.approx(0.95, abs=4 * found[name][1] + 0.002)
        assert found[name][2] == pytest.approx(2.03, abs=0.05)
    assert found["votes"][2] == pytest.approx(1.005, abs=0.01)


def test_shares_of_a_case_between_0_and_1_tell_more_than_as_many_that_are_yes_or_no():
    """Wilson's interval of as many yeses and noes as have the variance that the shares have."""
    z, shares = 1.959963984540054, np.tile([0.6, 0.8], 50)
    n = 100 * 0.7 * 0.3 / shares.var(ddof=1)
    centre, half = 0.7 + z**2 / (2 * n), z * np.sqrt(0.7 * 0.3 / n + z**2 / (4 * n**2))
    found = _share(shares, 0.95)
    assert (found.value, found.n) == (pytest.approx(0.7), 100)
    assert [found.low, found.high] == pytest.approx(
        [(centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)]
    )
    either = _share(np.repeat([0.0, 1.0], [30, 70]), 0.95)
    assert either.value == pytest.approx(0.7) and either.high - either.low > 4 * (found.high - found.low)


def test_the_interval_of_aggregated_coverage_holds_that_on_new_cases():
    assert interval_coverage(60, 120) >= 0.9


def test_labels_are_drawn_as_plausibilities_say_those_that_nobody_named_included():
    plausible = np.tile([0.5, 0.2, 0.3], (4000, 1))
    share = np.bincount(labels_of(plausible, 2, 0).ravel(), minlength=3) / 8000
    np.testing.assert_allclose(share, [0.5, 0.2, 0.3], atol=4 * np.sqrt(0.25 / 8000))
    from core.evaluation._set_kernels import draw_labels

    n = 6000  # class 2 of five was named; the others share 0.4
    seeds = np.arange(n, dtype=np.uint32)
    ptr, codes = np.arange(n + 1), np.full(n, 2, np.int32)
    drawn = draw_labels(seeds, ptr, codes, np.full(n, 0.6), np.full(n, 4), 1)
    share = np.bincount(drawn.ravel(), minlength=5) / n
    np.testing.assert_allclose(share, [0.1, 0.1, 0.6, 0.1, 0.1], atol=4 * np.sqrt(0.24 / n))


@pytest.fixture(scope="module")
def simulated():
    _, plausible, score = simulate(400, np.random.default_rng(3))
    return (*data_of(plausible, score), plausible, score)


def test_coverage_and_size_are_those_of_the_sets(simulated):
    dataset, predictions, kept, plausible, score = simulated
    found = prediction_sets(predictions, dataset, kept, alpha=0.1, model=DirichletCounts(), seed=5)
    inside = score >= found.threshold
    test = found.part == TEST
    assert found.n_calibration == found.n_test == 200
    np.testing.assert_array_equal(found.size, inside.sum(axis=1))
    np.testing.assert_allclose(found.covered, (plausible * inside).sum(axis=1))
    assert found.aggregated.value == pytest.approx(found.covered[test].mean())
    assert found.mean_size == pytest.approx(inside[test].sum(axis=1).mean())
    assert found.voted.value == pytest.approx(inside[test, plausible[test].argmax(axis=1)].mean())
    assert found.true is None
    votes = majority_votes(DirichletCounts(), dataset)
    assert prediction_sets(predictions, dataset, kept, alpha=0.1, votes=votes, seed=5).voted == found.voted
    assert prediction_sets(predictions, dataset, kept, alpha=0.1, seed=5).voted is None
    for case in (0, 7, 399):
        own = found.of_case(case)
        assert set(own) == set(np.flatnonzero(inside[case]))
        assert (np.diff(score[case, own]) <= 0).all()
    labels = score[found.part == CALIBRATION]
    assert found.threshold in labels


def test_gold_is_counted_where_it_is_known(simulated):
    dataset, predictions, kept, _, score = simulated
    gold = np.full(400, -1, np.int32)
    gold[::2] = np.arange(200) % 3
    found = prediction_sets(predictions, replace(dataset, gold=gold), kept, alpha=0.1)
    tested = (found.part == TEST) & (gold >= 0)
    assert found.true.n == tested.sum() < found.n_test
    assert found.true.value == pytest.approx((score[tested, gold[tested]] >= found.threshold).mean())
    assert found.voted is None


def test_halves_do_not_depend_on_the_order_of_cases_and_change_with_the_seed(simulated):
    dataset, predictions, kept, plausible, score = simulated
    found = prediction_sets(predictions, dataset, kept, seed=1)
    backward = data_of(plausible[::-1], score[::-1])
    names = tuple(reversed(dataset.cases))
    again = prediction_sets(backward[1], replace(backward[0], cases=names), backward[2], seed=1)
    assert again.threshold == found.threshold
    np.testing.assert_array_equal(again.part[::-1], found.part)
    assert (prediction_sets(predictions, dataset, kept, seed=2).part != found.part).any()


def test_folds_calibrate_each_case_by_others_and_test_all(simulated):
    dataset, predictions, kept, *_ = simulated
    found = prediction_sets(predictions, dataset, kept, alpha=0.1, folds=4)
    assert found.n_test == found.n_calibration == 400
    assert (found.part == TEST).all()
    assert found.aggregated.value == pytest.approx(0.9, abs=0.06)
    with pytest.raises(InputError, match="2 folds"):
        prediction_sets(predictions, dataset, kept, folds=1)


def test_no_case_of_a_fold_is_among_those_that_calibrate_it(simulated):
    """Nine cases are enough for 0.9, six are not: in three folds every case is judged by six others."""
    *_, plausible, score = simulated
    few, predicted, of_few = data_of(plausible[:9], score[:9])
    found = prediction_sets(predicted, few, of_few, alpha=0.1, folds=3)
    assert np.isfinite(found.threshold) and (found.size == 3).all()


def test_votes_that_tie_count_half_each(simulated):
    *_, plausible, score = simulated
    dataset, predictions, kept = data_of(plausible, score)
    other = np.argsort(-plausible, axis=1)[:, 1]  # a second annotation, of the second class
    case = np.repeat(np.arange(400), 2)
    tied = Dataset.from_classes(
        "tied", dataset.cases, ["a", "b"], list("xyz"), case, np.tile([0, 1], 400),
        np.column_stack([plausible.argmax(axis=1), other]).ravel(),
    )  # fmt: skip
    found = prediction_sets(predictions, tied, kept, alpha=0.2, model=DirichletCounts())
    inside, test = score >= found.threshold, found.part == TEST
    both = inside[np.arange(400), plausible.argmax(axis=1)] * 0.5 + inside[np.arange(400), other] * 0.5
    assert found.voted.value == pytest.approx(both[test].mean()) and 0.3 < found.voted.value < 0.9


def test_a_share_calibrates_and_leaves_a_case_to_either_side(simulated):
    dataset, predictions, kept, *_ = simulated
    assert prediction_sets(predictions, dataset, kept, calibrate=0.25).n_calibration == 100
    assert prediction_sets(predictions, dataset, kept, calibrate=0.9999).n_test == 1
    assert prediction_sets(predictions, dataset, kept, calibrate=1e-6).n_calibration == 1
    with pytest.raises(InputError, match="above 0 and below 1"):
        prediction_sets(predictions, dataset, kept, calibrate=1.0)


def test_the_promise_is_said_under_its_trust_and_not_said_where_it_cannot_be_kept(simulated):
    dataset, predictions, kept, *_ = simulated
    one = prediction_sets(predictions, dataset, kept, alpha=0.1)
    assert one.promise(3.0).startswith("On average, at least 0.90 of the sets")
    assert "γ = 3." in one.promise(3.0)
    ten = prediction_sets(predictions, dataset, kept, alpha=0.1, n_labels=10)
    assert "Only 0.80 is guaranteed" in ten.promise(3.0)
    corrected = prediction_sets(predictions, dataset, kept, alpha=0.1, n_labels=10, corrected=True)
    assert "With 95% probability, the share is at least 0.764" in corrected.promise(3.0)  # 0.9 - sqrt(ln 40 / 200)
    few = prediction_sets(predictions, dataset, kept, alpha=0.004)
    assert few.too_few and few.all_classes
    assert few.mean_size == 3 and few.aggregated.value == 1
    words = (
        "200 calibration cases are too few to guarantee 0.996, which needs 249 cases. Every set contains all 3 classes."
    )
    assert few.promise(3.0) == words
    assert not one.too_few and "all 3 classes" not in one.promise(3.0)


def test_a_threshold_within_groups_keeps_the_promise_in_each():
    _, plausible, score = simulate(4000, np.random.default_rng(0))
    dataset, predictions, kept = data_of(plausible, score)
    hard = np.where(plausible.max(axis=1) < 0.6, "hard", "easy")
    grouped = replace(dataset, case_group=tuple(hard.tolist()))
    one = prediction_sets(predictions, grouped, kept, alpha=0.1)
    each = prediction_sets(predictions, grouped, kept, alpha=0.1, within="group")

    def apart(found):
        easy, difficult = (group.aggregated.value for group in found.groups if group.by == "group")
        return abs(easy - difficult)

    assert apart(each) < 0.025 < 0.04 < apart(one)
    assert {stratum.value for stratum in each.strata} == {"easy", "hard"}
    assert np.isnan(each.threshold)
    for case in range(0, 4000, 371):
        tau = next(stratum.threshold for stratum in each.strata if stratum.value == hard[case])
        assert each.size[case] == (score[case] >= tau).sum()
    with pytest.raises(InputError):
        prediction_sets(predictions, dataset, kept, within="group")


def test_quarters_of_certainty_group_the_test_cases(simulated):
    dataset, predictions, kept, *_ = simulated
    found = prediction_sets(predictions, dataset, kept)
    by = [group for group in found.groups if group.by == "certainty"]
    assert [group.value for group in by] == list(QUARTERS)
    assert sum(group.n for group in by) == found.n_test
    assert by[0].mean_size > by[3].mean_size
    equal = quarters(np.array([1.0, 1.0, 1.0, np.nan]))
    assert set(equal[:3].tolist()) == {QUARTERS[0]} and equal[3] == ""


def test_the_plausibility_region_holds_a_draw_as_often_as_promised(simulated):
    dataset, predictions, kept, plausible, score = simulated
    found = prediction_sets(predictions, dataset, kept, alpha=0.2)
    mean = (plausible * score).sum(axis=1)
    calibration = np.sort(mean[found.part == CALIBRATION])
    assert found.region == pytest.approx(calibration[int(0.2 * 201) - 1])
    test = found.part == TEST
    assert found.region_covered.value == pytest.approx((mean[test] >= found.region).mean())


def matched(dataset, rows, name="P"):
    cases, classes, scores = zip(*rows, strict=True)
    return match_predictions(dataset, cases, classes, np.array(scores, float), name, probabilities=True)


@pytest.fixture
def two():
    """Two cases, three raters each who all say a; three classes."""
    case = np.repeat([0, 1], 3)
    return Dataset.from_classes(
        "two", ["1", "2"], list("pqr"), list("abc"), case, np.tile([0, 1, 2], 2), np.zeros(6, int)
    )


@pytest.mark.filterwarnings("error")
def test_two_unanimous_cases_give_all_classes_and_say_so(two):
    whole = [(case, name, score) for case in "12" for name, score in (("a", 0.8), ("b", 0.3), ("c", 0.3))]
    predictions = matched(two, whole)  # sums to 1.4
    kept = kept_plausibilities(DirichletCounts(), two, 1.0, n_draws=50)
    found = prediction_sets(predictions, two, kept, model=DirichletCounts())
    assert found.all_classes and found.mean_size == 3
    assert found.promise(1.0).startswith("1 calibration case is too few to guarantee 0.90, which needs 9 cases.")
    assert found.aggregated.low < 0.5 and found.n_test == 1
    half = prediction_sets(predictions, two, kept, alpha=0.5, model=DirichletCounts())
    assert half.threshold in (0.8, 0.3)


def test_sets_that_hold_every_class_because_scores_are_tied_are_said_to_rule_none_out():
    case, rater = np.divmod(np.arange(120), 3)
    names = [f"c{place}" for place in range(40)]
    data = Dataset.from_classes("d", names, list("pqr"), list("abc"), case, rater, (case + (rater == 2)) % 3)
    kept = kept_plausibilities(DirichletCounts(), data, 1.0, n_draws=50)
    only_a = matched(data, [(one, name, float(name == "a")) for one in names for name in "abc"])
    found = prediction_sets(only_a, data, kept)
    assert not found.all_classes and found.mean_size == 3
    assert found.promise(1.0).startswith("On average, at least 0.90 of the sets")
    assert found.promise(1.0).endswith(
        ". But the set for every test case contains all 3 classes, so no class is excluded."
    )
    half = prediction_sets(only_a, data, kept, alpha=0.9)
    assert half.mean_size == 1 and "excludes none" not in half.promise(1.0)


def test_lists_that_hold_too_little_of_the_truth_give_all_classes(two):
    rows = [("1", "b", 0.9), ("2", "b", 0.9)]
    kept = kept_plausibilities(DirichletCounts(), two, 1.0, n_draws=400)
    found = prediction_sets(matched(two, rows), two, kept, alpha=0.5)
    assert found.listed == pytest.approx(1 / 6, abs=0.05)
    assert found.all_classes and not found.too_few
    assert found.promise(1.0).startswith("P lists only some classes per case. These have 0.1")
    assert found.promise(1.0).endswith("too little to guarantee 0.50. Every set contains all 3 classes.")
    assert sets_table(found, two)["classes"].tolist() == ["b; a; c", "b; a; c"]
    assert found.region == pytest.approx(0.9 * kept.means.last_rest.min(), rel=1) and found.region_covered.n == 1


def test_cases_without_a_prediction_or_an_annotation_neither_calibrate_nor_test(two):
    rows = [("1", "a", 0.9)]
    kept = kept_plausibilities(DirichletCounts(), two, 1.0, n_draws=20)
    with pytest.raises(NotApplicableError, match="predicts 1 annotated case"):
        prediction_sets(matched(two, rows), two, kept)
    case = np.repeat([0, 1], 3)
    more = Dataset.from_classes(
        "more", ["1", "2", "3", "4"], list("pqr"), list("abc"), case, np.tile([0, 1, 2], 2), np.zeros(6, int)
    )
    kept = kept_plausibilities(DirichletCounts(), more, 1.0, n_draws=20)
    found = prediction_sets(matched(more, [(name, "a", 0.9) for name in "124"]), more, kept, alpha=0.5)
    assert (found.part == LEFT_OUT).tolist() == [False, False, True, True]
    assert found.size[2] == 0 and np.isnan(found.covered[2])


def test_the_largest_promise_that_lists_can_keep_is_offered():
    assert possible_promise(1.0) == 0.9 and possible_promise(1.0, 0.99) == 0.99
    assert possible_promise(0.71) == 0.6 and possible_promise(0.725) == 0.7
    assert possible_promise(0.2) == 0.5


def test_scores_at_the_corners_count_unlisted_classes_below_the_listed(two):
    predictions = matched(two, [("1", "a", 0.7), ("1", "c", 0.2), ("2", "b", 0.5)])
    np.testing.assert_array_equal(scores_at(predictions, 0, [0, 1, 2]), [0.7, 0.0, 0.2])
    ranks = matched(two, [("1", "a", -1), ("1", "c", -2), ("2", "b", -1)])
    np.testing.assert_array_equal(scores_at(ranks, 0, [2, 1]), [-2, -3])


def test_an_order_without_scores_gives_no_sets(two):
    predictions = Predictions("P", np.array([0, 1, 2]), np.array([0, 0]), np.array([0, 0]))
    kept = kept_plausibilities(DirichletCounts(), two, 1.0, n_draws=20)
    with pytest.raises(NotApplicableError, match="no scores"):
        prediction_sets(predictions, two, kept)


def test_what_a_sweep_keeps_gives_the_same_sets(two):
    model = DirichletCounts()
    direct = kept_plausibilities(model, two, 2.0, n_draws=30, seed=4)
    part = plausibilities_of(sweep_part(model, two, 2.0, n_draws=30, seed=4))
    for name in MeanShares.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(part.means, name), getattr(direct.means, name))
    np.testing.assert_array_equal(part.certainty, direct.certainty)
    assert isinstance(part, KeptPlausibilities)


def test_the_mean_of_draws_is_the_posterior_mean(two):
    """Dirichlet(3 + 1, 1, 1): 0.667 for a, 0.333 for the two that nobody named."""
    means = kept_plausibilities(DirichletCounts(), two, 1.0, n_draws=4000).means
    np.testing.assert_allclose(means.share, [4 / 6, 4 / 6], atol=0.015)
    np.testing.assert_allclose(means.rest, [2 / 6, 2 / 6], atol=0.015)
    np.testing.assert_array_equal(means.n_rest, [2, 2])
    np.testing.assert_allclose(means.last_share + means.last_rest, 1)


def test_sets_of_all_that_is_plausible_cover_1_and_not_a_hair_less():
    """Plausibilities of ten classes sum to 0.9999999999999998: what is covered is 1, which is what is printed."""
    n = 30
    case, rater = np.divmod(np.arange(n * 2), 2)
    dataset = Dataset.from_classes(
        "d", [f"c{place}" for place in range(n)], ["a", "b"], [f"k{place}" for place in range(10)],
        case, rater, (case + rater) % 10,
    )  # fmt: skip
    kept = kept_plausibilities(DirichletCounts(), dataset, 1.0, n_draws=50, seed=0)
    code = np.tile(np.arange(10, dtype=np.int32), n)
    score = np.full(n * 10, 0.1)
    ones = Predictions("flat", np.arange(0, n * 10 + 1, 10), code, np.zeros(n * 10, np.int32), score=score)
    found = prediction_sets(ones, dataset, kept, alpha=0.2, model=DirichletCounts(), calibrate=0.5)
    assert found.mean_size == 10
    assert set(found.covered.tolist()) == {1.0} and found.aggregated.value == 1.0 and found.listed == 1.0
