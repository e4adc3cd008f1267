"""Whether the classes of a model are those that raters name: by hand, where they are, and where they slide."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.models.catalogue import em_model
from core.models.dawid_skene import DawidSkene
from core.models.majority import MajorityVote
from core.raters.accuracy_threshold import MARGIN, bayesian_discoveries, judge_accuracy
from core.raters.learned_pool import LearnedPool, by_others
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import default_request
from core.raters.own_classes import own_classes
from core.raters.score_raters import score_raters
from tests.core.raters.raters_simulated import names, one_class_each, rare, ratings, simulated, with_spammers


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
    assert act.why.startswith("on the model's class “") and "more often than “" in act.why
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
    assert "do not name" in found.why_not(data.classes)


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
