"""Raters who name one class only: the exact tail, and who is found."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core.agreement.krippendorff import krippendorff_alpha
from core.annotations.dataset import Dataset
from core.errors import InputError
from core.models.catalogue import em_model
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.multiplicity import benjamini_hochberg
from core.raters import one_class as module
from core.raters.accuracy_threshold import MARGIN, bayesian_discoveries, judge_accuracy
from core.raters.learned_pool import LearnedPool, by_others
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import default_request
from core.raters.one_class import one_class, poisson_binomial_tail
from core.raters.own_classes import own_classes
from core.raters.score_raters import score_raters
from tests.core.raters.raters_simulated import (
    names,
    one_class_each,
    rare,
    ratings,
    rebuilt,
    rows,
    simulated,
    with_spammers,
)


def brute_force(chances, least):
    total = 0.0
    for tosses in product((0, 1), repeat=len(chances)):
        if sum(tosses) >= least:
            total += float(np.prod([p if toss else 1 - p for p, toss in zip(chances, tosses, strict=True)]))
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", ["from above", "from below", "transforms"])
def test_the_tail_is_that_of_all_outcomes(seed, way, monkeypatch):
    """2^n outcomes of up to 10 trials, with chances of 0 and 1 among them, by each of the three ways."""
    rng = np.random.default_rng(seed)
    chances = rng.random(int(rng.integers(2, 11)))
    chances[: seed % 3] = [0.0, 1.0][: seed % 3]
    for least in range(-1, chances.size + 2):
        if way != "from above":
            monkeypatch.setattr(module, "_MOST_STEPS", 0 if way == "transforms" else chances.size * max(least, 0))
        assert poisson_binomial_tail(chances, least) == pytest.approx(brute_force(chances, least), abs=1e-12)


def test_equal_chances_give_the_binomial_tail_far_out():
    from scipy.stats import binom

    assert poisson_binomial_tail(np.full(3000, 0.3), 2900) == pytest.approx(0.0, abs=1e-300)
    for n, p, least in ((3000, 0.3, 1000), (3000, 0.97, 2960), (800, 0.05, 100), (500, 0.5, 499)):
        assert poisson_binomial_tail(np.full(n, p), least) == pytest.approx(binom.sf(least - 1, n, p), rel=1e-9)


def test_many_trials_take_little_time_and_are_right(monkeypatch):
    from scipy.stats import binom

    monkeypatch.setattr(module, "_MOST_STEPS", 1)
    assert poisson_binomial_tail(np.full(20_000, 0.4), 8100) == pytest.approx(binom.sf(8099, 20_000, 0.4), abs=1e-11)


def test_what_is_no_chance_is_refused():
    with pytest.raises(InputError):
        poisson_binomial_tail(np.array([0.5, 1.2]), 1)


def test_expected_counts_are_by_the_others_annotations_on_the_same_cases():
    """By hand, two classes: r0 names class 1 on all; α of all annotations, shares of the others on each case."""
    data, _ = simulated(1, np.full(6, 0.8), n_cases=60, per_case=4, n_classes=2)
    answer = data.answer.copy()
    answer[data.rater == 0] = 1
    data = rebuilt(data, answer)
    found = one_class(data)
    alpha = krippendorff_alpha(data).value
    strength = (1 - alpha) / alpha
    own = data.rater == 0
    share = (data.answer[~own].sum() + 1) / ((~own).sum() + 2)
    chances = []
    for case in data.case_of_annotation[own]:
        others = data.answer[(data.case_of_annotation == case) & ~own]
        chances.append((others.sum() + strength * share) / (others.size + strength))
    assert found.expected[0] == pytest.approx(np.sum(chances), rel=1e-9)
    assert found.p[0] == pytest.approx(2 * poisson_binomial_tail(np.array(chances), int(own.sum())), rel=1e-6, abs=0)
    assert (found.favourite[0], found.n[0], found.n_named[0]) == (1, own.sum(), own.sum())


def test_exactly_who_names_one_class_is_found_and_honest_raters_are_not():
    """Over 6 crowds of 30 raters, 2 of whom name class 2, one of them with one slip in ten."""
    for seed in range(6):
        data, _ = simulated(seed, np.full(30, 0.75), n_cases=400, per_case=5, n_classes=4)
        _, rater, answer = rows(data)
        rng = np.random.default_rng(seed)
        answer[rater == 0] = 2
        answer[(rater == 1) & (rng.random(rater.size) < 0.97)] = 2
        found = one_class(rebuilt(data, answer))
        assert benjamini_hochberg(found.p, 0.05).tolist() == [0, 1]
        assert found.favourite[:2].tolist() == [2, 2]


def test_a_class_that_is_nearly_always_true_makes_nobody_suspicious():
    """Prevalence 0.99: honest raters name one class on 0.98 of their annotations, as the others do."""
    rng = np.random.default_rng(2)
    truth = (rng.random(1500) < 0.01).astype(int)
    case = np.repeat(np.arange(1500), 4)
    rater = rng.random((1500, 12)).argsort(axis=1)[:, :4].ravel()
    answer = np.where(rng.random(case.size) < 0.99, truth[case], 1 - truth[case])
    found = one_class(Dataset.from_classes("x", *names(1500, 12, 2), case, rater, answer))
    assert (found.n_named > 0.9 * found.n).all()
    assert benjamini_hochberg(found.p, 0.05).size == 0


def test_a_mere_leaning_towards_a_class_is_not_one_class_only():
    """Half of what a rater gives is class 0 whatever the case: significant, but not one class only."""
    data, _ = simulated(3, np.full(12, 0.8), n_cases=2000, per_case=4)
    _, rater, answer = rows(data)
    answer[(rater == 0) & (np.random.default_rng(0).random(rater.size) < 0.5)] = 0
    found = one_class(rebuilt(data, answer))
    assert found.p[0] == 1.0
    assert np.isnan(found.expected[0])


def test_few_annotations_and_those_that_nobody_judges_are_no_test():
    data, _ = simulated(4, np.full(6, 0.9), n_cases=100, per_case=3)
    case, rater, answer = rows(data)
    case, rater, answer = np.append(case, [0, 1, 100]), np.append(rater, [6, 6, 7]), np.append(answer, [0, 0, 0])
    found = one_class(Dataset.from_classes("x", *names(101, 8, 4), case, rater, answer))
    assert np.isnan(found.p[6:]).all()
    assert (found.favourite[7], found.n[7]) == (-1, 0)


def test_a_thousand_classes_are_looked_at():
    data, _ = simulated(5, np.full(8, 0.7), n_cases=200, per_case=4, n_classes=1000)
    answer = data.answer.copy()
    answer[data.rater == 3] = 17
    found = one_class(rebuilt(data, answer))
    assert benjamini_hochberg(found.p, 0.05).tolist() == [3]


@pytest.mark.parametrize(
    ("p", "rejected"),
    [
        ([0.01, 0.02, 0.03, 0.5], [0, 1, 2]),  # 0.03 <= 0.05 * 3/4
        ([0.04, 0.04, 0.04, 0.9], []),
        ([0.04, 0.045, 0.05, np.nan], [0, 1, 2]),  # the last passes and takes the others along
        ([np.nan], []),
    ],
)
def test_benjamini_hochberg_steps_up(p, rejected):
    assert benjamini_hochberg(np.array(p), 0.05).tolist() == rejected


# Own classes: Whether the classes of a model are those that raters name: by hand, where they are, and where they
# slide.


def panel(data, model=None):
    return panel_of(data, (model or em_model(default_request(data))).fit(data))


def test_shares_are_those_of_the_expected_annotations_on_each_latent_class():
    data, _ = simulated(1, np.full(6, 0.7), n_cases=80, per_case=4, n_classes=3)
    judged = panel(data)
    found = own_classes(judged)
    for k in range(3):
        row = judged.pool[k] / judged.pool[k].sum()
        assert found.held[k] == pytest.approx(judged.pool[k].sum() / judged.pool.sum())
        assert found.named[k] == pytest.approx(row[k])
        assert found.other_named[k] == pytest.approx(np.delete(row, k).max()) == row[found.other[k]]
    assert found.own.all() and found.judge and found.why_not(data.classes) == ""


def test_the_interval_of_the_ratio_is_that_of_a_bootstrap_over_cases():
    """How often another class is named on k against anywhere, with the fit as it is: 400 resamples of cases."""
    data, _ = simulated(2, np.full(8, 0.6), n_cases=200, per_case=3, n_classes=3)
    judged = panel(data)
    found = own_classes(judged)
    probability, n = judged.fit.class_probability, 3
    count = np.zeros((200, 3))
    np.add.at(count, (data.case_of_annotation, data.answer), 1)
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(400):
        cases = rng.integers(200, size=200)
        p, others = probability[cases], n - count[cases]
        ratios.append((p * others).sum(axis=0) / (n * p.sum(axis=0)) / others.mean(axis=0) * n)
    width = found.ratio_high - (1 - found.named) / (1 - judged.pool.sum(axis=0) / judged.pool.sum())
    assert width == pytest.approx(1.96 * np.std(ratios, axis=0), rel=0.2)


@pytest.mark.parametrize("ordinal", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_where_latent_classes_slide_nobody_is_judged_by_them(seed, ordinal):
    data, _, _ = ratings(seed, ordinal=ordinal)
    judged = panel(data)
    found = own_classes(judged)
    assert found.held[~found.own].sum() > 0.2 and not found.judge
    act = judge_accuracy(judged)
    assert act.why == found.why_not(data.classes) and not act.own_classes
    assert act.why.startswith("on cases that the model assigns to “") and "more often than “" in act.why
    assert ("declare the order" in act.remedy) != ordinal
    for values in (act.accuracy.value, act.model.value, act.chance, act.expected_wrong):
        assert np.isnan(values).all()
    assert (act.acceptable, act.mean, act.n_flagged, act.cost) == (None, None, 0, 0.0)


def test_without_that_question_raters_are_called_wrong_who_follow_the_cases_as_well_as_anybody():
    """The fault that the question is there for: accuracies by such classes, of raters who merely read higher."""
    data, _, _ = ratings(9)
    judged, reading = panel(data), score_raters(data)
    pool = LearnedPool(by_others(judged, None), data.annotations_of_raters)
    flagged = bayesian_discoveries(pool.chance_at_least(pool.mean_over(data.annotations_of_raters) - MARGIN), 0.05)
    median = np.nanmedian(reading.with_others)
    assert median == pytest.approx(0.57, abs=0.03)
    higher = (reading.with_others >= median) & (reading.severity > 1)
    assert higher.sum() == 2 and flagged[higher].all()
    assert not judge_accuracy(judged).flagged.any()


def test_gold_judges_all_the_same():
    data, _, _ = ratings(0, ordinal=False)
    counts = np.zeros((data.n_cases, 5))
    np.add.at(counts, (data.case_of_annotation, data.answer), 1)
    found = judge_accuracy(panel(replace(data, gold=counts.argmax(axis=1).astype(np.int32))))
    assert found.by_gold.all() and not found.why and np.isfinite(found.accuracy.value).all()
    assert not found.own_classes and found.remedy == ""  # flags by these classes stay down


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_good_raters_are_their_own(seed):
    two, many = (simulated(seed, np.full(10, 0.75), n_cases=300, n_classes=k)[0] for k in (2, 8))
    for data in (two, many, with_spammers(seed)[0], rare(seed, 0.03), rare(seed, 0.05)):
        assert own_classes(panel(data)).judge


@pytest.mark.parametrize("seed", range(3))
def test_a_class_that_takes_everything_is_not_above_chance(seed):
    data = one_class_each(seed)
    found = own_classes(panel(data))
    assert not found.judge
    assert "do not choose" in found.why_not(data.classes)


def test_rare_classes_that_fail_do_not_stop_the_others():
    """A class of 2% of annotations that raters give at random."""
    data, _ = simulated(4, np.full(10, 0.8), n_cases=500, n_classes=3)
    answer = data.answer.copy()
    answer[np.random.default_rng(0).random(answer.size) < 0.02] = 3
    data = Dataset.from_classes("x", *names(500, 10, 4), data.case_of_annotation, data.rater, answer)
    found = own_classes(panel(data, DawidSkene("pooled")))
    assert found.judge


def test_two_cases_and_one_annotation_per_case_are_no_error():
    two = Dataset.from_classes("x", *names(2, 3, 2), [0, 0, 0, 1, 1, 1], [0, 1, 2] * 2, [0, 0, 1, 1, 1, 0])
    own_classes(panel(two))
    single = Dataset.from_classes("x", *names(9, 3, 2), np.arange(9), np.arange(9) % 3, np.arange(9) % 2)
    assert own_classes(panel(single, MajorityVote())).judge  # nobody is judged by others at all


@pytest.mark.parametrize("n_classes", [1, 2])
def test_where_all_annotations_name_one_class_it_is_that_class(n_classes):
    case, rater = np.divmod(np.arange(60), 3)
    data = Dataset.from_classes("x", *names(20, 3, n_classes), case, rater, np.zeros(60, int))
    assert own_classes(panel_of(data, MajorityVote().fit(data))).judge
