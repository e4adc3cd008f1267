"""Predictive checks: their statistics by hand, their calibration under the true model, and what they find."""

from collections import Counter

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import Cancelled, InputError, NotApplicableError
from core.models.checks import outcome, predictive_checks, psis_loo, replicates_for
from core.runtime.chunks import CancelToken


class Coins:
    """A stand-in for a model: every annotation is drawn alike, by the class shares of the draw."""

    def __init__(self, n_annotations):
        self.n_annotations = n_annotations

    def simulate(self, theta, seed):
        share = np.append(theta, 1 - theta.sum())[::-1]
        return np.random.default_rng(seed).choice(len(share), self.n_annotations, p=share)


class Repeats:
    """A stand-in that always gives the same annotations."""

    def __init__(self, answer):
        self.answer = np.array(answer)

    def simulate(self, theta, seed):
        return self.answer


class HardCases(Coins):
    """Half of the cases are all positive and half are not, with as many positive ones as `Coins` at 0.5."""

    def __init__(self, n_cases, n_raters):
        self.shape = (n_cases, n_raters)

    def simulate(self, theta, seed):
        rng = np.random.default_rng(seed)
        positive = np.where(rng.random(self.shape[0]) < 0.5, 0.9, 0.1)
        return (rng.random(self.shape) < positive[:, None]).astype(np.int32).ravel()


def full_design(build, answers, n_classes=2):
    """Every rater on every case, ``answers`` of shape (n_cases, n_raters)."""
    rows = [(i, j, k) for (i, j), k in np.ndenumerate(answers)]
    return build(rows, n_classes, n_cases=answers.shape[0], n_raters=answers.shape[1])


def counted_by_hand(dataset, answer, classes):
    """Annotations per rater and histogram of votes per case, class by class."""
    per_rater, histogram = [], []
    for k in classes:
        votes = Counter()
        positives = Counter()
        for case in range(dataset.n_cases):
            mine = dataset.annotations_of(case)
            if len(mine):
                votes[sum(int(answer[a] == k) for a in mine)] += 1
            positives.update(int(dataset.rater[a]) for a in mine if answer[a] == k)
        per_rater += [positives[j] for j in range(dataset.n_raters) if j in dataset.rater]
        histogram += [votes[m] for m in range(int(np.diff(dataset.case_ptr).max()) + 1)]
    return per_rater, histogram


@pytest.mark.parametrize("n_classes", [2, 4])
def test_statistics_are_those_counted_by_hand(build, n_classes):
    """Cases of different length, one of them and one rater without annotations."""
    rng = np.random.default_rng(1)
    rows = [(i, j, rng.integers(n_classes)) for i in range(30) if i != 4 for j in rng.permutation(6)[: 1 + i % 5]]
    data = build(rows, n_classes, n_cases=30, n_raters=8)
    raters, votes = predictive_checks(Repeats(data.answer), np.zeros((1, 1)), data)
    classes = [1] if n_classes == 2 else range(n_classes)
    by_hand = counted_by_hand(data, data.answer, classes)
    assert raters.observed.tolist() == by_hand[0]
    assert votes.observed.tolist() == by_hand[1]
    assert votes.observed.sum() == 29 * len(classes) and set(votes.total) == {29}
    assert raters.n_statistics == len(raters.labels) == 6 * len(classes)
    assert raters.total.sum() == len(rows) * len(classes)
    assert set(raters.class_code) == set(classes) and votes.place.max() == 5


def test_labels_name_the_class_only_where_there_are_more_than_two(build):
    two = build([(0, 0, 1), (0, 1, 0)], 2)
    three = build([(0, 0, 1), (0, 1, 2)], 3)
    raters, votes = predictive_checks(Repeats(two.answer), np.zeros((1, 1)), two)
    assert raters.labels == ("rater 0", "rater 1") and votes.labels == ("0", "1", "2")
    assert raters.title == "Annotations class 1 per rater"
    raters, votes = predictive_checks(Repeats(three.answer), np.zeros((1, 1)), three)
    assert raters.labels[:3] == ("rater 0 · class 0", "rater 1 · class 0", "rater 0 · class 1")
    assert votes.labels[-1] == "2 · class 2"


def test_ties_count_one_half(build):
    """A replicate equal to the data says neither too many nor too few."""
    data = build([(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)], 2)
    for check in predictive_checks(Repeats(data.answer), np.zeros((1, 1)), data):
        assert check.p.tolist() == [0.5] * check.n_statistics
        assert check.headline == 0.5 and check.fails is False
        assert np.array_equal(check.low, check.observed) and np.array_equal(check.high, check.observed)


def test_p_and_band_are_those_of_the_replicates(build):
    """One rater, one annotation: the statistic is a coin of known chance."""
    data = build([(0, 0, 1)], 2)
    raters, votes = predictive_checks(Coins(1), np.array([[0.3]]), data, n_replicates=4_000, seed=5)
    assert raters.p[0] == pytest.approx(0.15, abs=4 * 0.5 * np.sqrt(0.3 * 0.7 / 4_000))  # never above, equal in 30%
    assert votes.p[0] == pytest.approx(1 - raters.p[0])  # 0 votes where the data have none: above in 70%
    assert (raters.low[0], raters.median[0], raters.high[0]) == (0, 0, 1)
    assert raters.n_replicates == 4_000


def test_a_class_that_the_model_never_gives_fails(build):
    data = full_design(build, np.ones((20, 3), np.int64))
    raters, votes = predictive_checks(Repeats(np.zeros(60, np.int64)), np.zeros((1, 1)), data)
    assert raters.p.tolist() == [0, 0, 0] and raters.fails is True
    assert votes.p.tolist() == [1, 0.5, 0.5, 0] and votes.headline == 0 and votes.fails is True


def test_p_is_calibrated_when_the_data_come_from_the_model(build):
    """Mean one half, and the checks fail in no more than 5% of datasets, within Monte Carlo error."""
    n_datasets, answers = 300, np.zeros((12, 3), np.int64)
    rng = np.random.default_rng(2)
    p, fails = [], []
    for _ in range(n_datasets):
        data = full_design(build, (rng.random(answers.shape) < 0.4).astype(np.int64))
        raters, votes = predictive_checks(
            Coins(answers.size), np.array([[0.4]]), data, n_replicates=160, seed=int(rng.integers(2**31))
        )
        p.append(np.concatenate([raters.p, votes.p]))
        fails.append([raters.fails, votes.fails])
    error = 1 / np.sqrt(12 * n_datasets)  # a tied p varies less than a uniform one
    assert np.abs(np.mean(p, axis=0) - 0.5).max() < 4 * error
    assert np.mean(fails, axis=0).max() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_datasets)


def test_a_model_without_hard_cases_fails_the_votes_and_passes_the_raters(build):
    """Annotations per rater are as the model says; the spread of votes over cases is not."""
    n_cases, n_raters = 300, 5
    answers = HardCases(n_cases, n_raters).simulate(None, 3).reshape(n_cases, n_raters)
    data = full_design(build, answers)
    draws = np.random.default_rng(4).beta(answers.sum() + 1, answers.size - answers.sum() + 1, (400, 1))
    raters, votes = predictive_checks(Coins(answers.size), draws, data)
    assert raters.fails is False and votes.fails is True
    raters, votes = predictive_checks(HardCases(n_cases, n_raters), draws, data)
    assert raters.fails is False and votes.fails is False


def test_the_same_seed_gives_the_same_check_whatever_the_threads(build, monkeypatch):
    data = full_design(build, np.random.default_rng(6).integers(0, 2, (15, 4)))
    draws = np.full((70, 1), 0.5)
    first = predictive_checks(Coins(60), draws, data, seed=9)
    monkeypatch.setattr("core.models.checks.CHUNK", 10_000)
    second = predictive_checks(Coins(60), draws, data, seed=9)
    other = predictive_checks(Coins(60), draws, data, seed=10)
    for one, two, three in zip(first, second, other, strict=True):
        assert np.array_equal(one.p, two.p) and np.array_equal(one.low, two.low)
        assert not np.array_equal(one.p, three.p)


def test_replicates_grow_with_the_statistics_and_stop_at_the_work_they_cost():
    assert replicates_for(6, 500, 19_345) == 500
    assert replicates_for(164, 500, 8_000) == 40 * 164
    assert replicates_for(500, 500, 1_000_000) == 500
    assert replicates_for(50, 500, 400_000) == 1_000


def test_what_too_few_replicates_cannot_tell_is_left_open():
    p = np.array([0.0, 0.4, 0.5])
    assert outcome(p, 120) == (0.0, 0.025 / 3, True)
    assert outcome(p, 119) == (0.0, 0.025 / 3, None)
    assert outcome(p + 0.01, 10)[2] is False


@pytest.mark.parametrize(
    ("p", "headline"),
    [
        ([0.462, 0.5045, 0.481, 0.476, 0.495], 0.462),  # ABC, raters
        ([0.468, 0.5045, 0.4715, 0.479, 0.4755], 0.468),  # AB, raters
        ([0.593, 0.346, 0.5715, 0.6245, 0.2175, 0.668], 0.218),  # AB, votes
        ([0.579, 0.3755, 0.5205, 0.633, 0.2875, 0.5835], 0.289),  # A, votes
        ([0.723, 0.0775, 0.9535, 0.556, 0.019, 0.9555], 0.019),  # ABCE, votes
        ([0.405, 0.4925, 0.445, 0.5055, 0.5615], 0.405),  # AC, raters
    ],
)
def test_the_headline_is_the_one_of_table_2(p, headline):
    """P-values per statistic of the authors' own caries run, and what table 2 of Han et al. prints for them."""
    assert outcome(np.array(p), 4_000)[0] == pytest.approx(headline, abs=0.0016)


def test_cancelling_stops_the_replicates(build):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        predictive_checks(Coins(2), np.array([[0.5]]), build([(0, 0, 1), (0, 1, 0)], 2), token=token)


def test_what_cannot_be_checked_is_said(build):
    data = build([(0, 0, 0), (0, 1, 0)], 1)
    with pytest.raises(
        NotApplicableError,
        match="at least two classes",
    ):
        predictive_checks(Coins(2), np.array([[0.5]]), data)
    with pytest.raises(InputError, match="Cannot simulate replicates"):
        predictive_checks(Coins(2), np.empty((0, 1)), build([(0, 0, 0), (0, 1, 1)], 2))


def test_a_model_without_parameters_is_checked_too(build):
    """Its draws have no coordinates."""
    data = build([(0, 0, 1), (0, 1, 0)], 2)
    raters, _ = predictive_checks(Repeats(data.answer), np.empty((10, 0)), data)
    assert raters.p.tolist() == [0.5, 0.5]


def test_leave_one_out_is_found_beside_the_checks():
    assert psis_loo.__module__ == "core.models.loo"


def test_the_band_is_the_middle_95_percent_of_the_replicates_with_their_median():
    class Counted:
        def simulate(self, draw, seed):
            return (np.arange(40) < draw[0]).astype(np.int32)

    rows = np.arange(40)
    data = Dataset.from_classes("d", [str(n) for n in rows], ["r"], ["n", "y"], rows, 0 * rows, (rows < 12).astype(int))
    named = (np.arange(200) ** 2 // 1000).astype(float)
    raters, votes = predictive_checks(Counted(), named[:, None], data, n_replicates=200)
    assert (raters.observed[0], raters.n_replicates) == (12, 200)
    ends = np.quantile(named, [0.025, 0.5, 0.975])
    assert (raters.low[0], raters.median[0], raters.high[0]) == pytest.approx(tuple(ends))
    assert raters.p[0] == pytest.approx((named > 12).mean() + (named == 12).mean() / 2)
    assert (votes.low[1], votes.median[1], votes.high[1]) == pytest.approx(tuple(ends))
    assert (votes.low[0], votes.median[0], votes.high[0]) == pytest.approx(tuple(40 - ends[::-1]))
