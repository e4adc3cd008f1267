from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit

from core.agreement.probability import spa
from core.analyses.models.scores import judge_models
from core.analyses.raters import PlansOptions, planning
from core.analyses.raters import planning as planning_part
from core.analyses.raters.planning import compute_plans
from core.analysis_settings import SEED
from core.annotations.dataset import Dataset, keep_only
from core.certainty.top_sets import annotation_certainty
from core.errors import Cancelled, InputError, LimitError, NotApplicableError, NotFoundError
from core.ingest.samples import load_sample
from core.models.choose import choose
from core.models.dawid_skene import DawidSkene
from core.models.design import design
from core.models.smoothing import POOL_STRENGTH
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import learned_counts
from core.raters import plan_outcomes as module
from core.raters.plan_outcomes import QUANTITIES, Plan, _weight, plan_outcomes
from core.raters.plan_world import (
    CountsCache,
    ExtendedData,
    Measure,
    World,
    carried_out,
    counts_cache,
    counts_of,
    drawn_world,
    fitted_posterior,
    log_posterior,
    next_cases,
    world_of_truth,
)
from core.raters.planning import Goal, _order_statistic, forecast
from core.runtime.chunks import CancelToken
from tests.benchmarks.planning import holds, simulate
from tests.core.raters.raters_simulated import simulated


@pytest.fixture(scope="module")
def small():
    data, truth = simulated(60, np.linspace(0.6, 0.9, 6), n_cases=60, per_case=3, n_classes=3)
    return data, truth, DawidSkene("pooled").fit(data)


def test_certainty_now_is_the_annotation_certainty_of_dirichlet_counts(small):
    data, _, _ = small
    drawn = annotation_certainty(DirichletCounts(), data, reliability=1.0, n_draws=20_000)
    found = CountsCache(3, 1.0).certainty(counts_of(data)).mean()
    assert found == pytest.approx(drawn.mean(), abs=5 * drawn.mean_se() + 1e-3)


def test_a_plan_asks_nobody_twice_about_a_case_and_spends_the_budget(small):
    data, truth, fit = small
    world = World(fit.confusion, fit.prevalence, truth)
    patterns = CountsCache(3, 1.0)
    for policy in ("random", "least_certain", "largest_gain", "new_cases"):
        extra = np.array([0, 40, 90])
        *_, at = carried_out(data, world, policy, extra, np.full(6, 1 / 6), 3, patterns, 1)
        every = at.as_dataset()
        pairs = every.case_of_annotation.astype(np.int64) * 6 + every.rater
        assert at.case.size == 90 and np.unique(pairs).size == pairs.size
        np.testing.assert_array_equal(counts_of(every), at.counts)
        assert (at.case >= data.n_cases).all() == (policy == "new_cases")


def test_policies_put_first_what_they_say():
    counts = np.array([[3, 0, 0], [1, 1, 1], [2, 1, 0], [9, 0, 0]])
    patterns, rng = CountsCache(3, 1.0), np.random.default_rng(0)
    assert next_cases("least_certain", counts, np.arange(4), 2, patterns, rng).tolist() == [1, 2]
    assert next_cases("least_certain", counts, np.array([0, 3]), 2, patterns, rng).tolist() == [0, 3]
    gain = patterns.gain(counts)
    order = next_cases("largest_gain", counts, np.arange(4), 4, patterns, rng)
    assert (np.diff(gain[order]) <= 0).all() and sorted(order) == [0, 1, 2, 3]
    assert gain[1] == gain.max() and gain[3] < 0.01


def test_worlds_are_drawn_from_around_the_parameters_that_the_data_came_from():
    """Mean accuracy over worlds within four of their standard deviations of the truth; the truth mostly found."""
    data, world = simulate(5)
    fit = DawidSkene("pooled").fit(data)
    worlds = [drawn_world(design("test", data), fit, seed) for seed in range(20)]

    def accuracy(one):
        return np.einsum("jkk,k->j", one.theta, one.prevalence).mean()

    drawn = np.array([accuracy(one) for one in worlds])
    assert abs(drawn.mean() - accuracy(world)) < 4 * drawn.std()
    assert np.mean([(one.truth == world.truth).mean() for one in worlds]) > 0.75
    np.testing.assert_allclose(worlds[0].theta.sum(axis=2), 1)


def test_known_classes_stay_what_they_are_in_every_world(small):
    data, truth, _ = small
    gold = replace(data, gold=truth.astype(np.int32))
    fit = DawidSkene("pooled", use_gold=True).fit(gold)
    np.testing.assert_array_equal(drawn_world(design("test", gold, use_gold=True), fit, 3).truth, truth)


def test_log_posterior_is_the_log_of_the_product_of_its_answers(small):
    data, truth, fit = small
    world = World(fit.confusion, fit.prevalence, truth)
    *_, at = carried_out(data, world, "random", np.array([0, 5]), np.full(6, 1 / 6), 3, CountsCache(3, 1.0), 1)
    found, every = log_posterior(at, world), at.as_dataset()
    for case in (0, int(at.case[0])):
        rows = list(every.annotations_of(case))
        product = fit.prevalence * fit.confusion[every.rater[rows], :, every.answer[rows]].prod(axis=0)
        np.testing.assert_allclose(np.exp(found[case]), product, rtol=1e-9)


def test_class_probabilities_of_a_world_are_nearer_to_a_fit_than_those_of_its_parameters():
    """A fit's own class probabilities hardly move; those of drawn parameters come less than half as far from them."""
    data, _ = simulate(7)
    fit = DawidSkene("pooled").fit(data)
    now = ExtendedData(data, counts_of(data))

    def distance(found):
        return np.abs(found - fit.class_probability).mean()

    assert distance(fitted_posterior(now, World(fit.confusion, fit.prevalence, fit.prevalence))) < 0.01
    before, after = [], []
    for seed in range(20):
        world = drawn_world(design("test", data), fit, seed)
        joint = np.exp(log_posterior(now, world))
        before.append(distance(joint / joint.sum(axis=1, keepdims=True)))
        after.append(distance(fitted_posterior(now, world)))
    assert np.mean(after) < np.mean(before) / 2


def test_the_width_of_a_prevalence_is_by_the_curvature_of_its_log_likelihood(small):
    """Second difference of Σ ln(p L₁ + (1 − p) L₀) by the logit of p; likelihoods L from the class probabilities."""
    data, truth, fit = small
    world, now = World(fit.confusion, fit.prevalence, truth), ExtendedData(data, counts_of(data))
    q = fitted_posterior(now, world)[:, 1]
    p, step = q.mean(), 1e-3

    def height(at):
        return np.log(expit(at) * q / p + (1 - expit(at)) * (1 - q) / (1 - p)).sum()

    middle = np.log(p / (1 - p))
    half = 1.645 * step / np.sqrt(2 * height(middle) - height(middle - step) - height(middle + step))
    width = Measure("prevalence", 1, 0.9, CountsCache(3, 1.0)).of(now, world)
    assert width == pytest.approx(expit(middle + half) - expit(middle - half), rel=1e-3)


def test_a_forecast_is_the_same_whenever_it_is_made(small):
    data, _, fit = small
    one, two = (forecast(data, fit, Goal("certainty", 0.8), budget=60, n_worlds=20, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.value, two.value)
    assert (one.needed, one.first_cases) == (two.needed, two.first_cases)
    other = forecast(data, fit, Goal("certainty", 0.8), budget=60, n_worlds=20, seed=5)
    assert not np.array_equal(one.value, other.value)


@pytest.mark.parametrize(
    ("goal", "better"),
    [
        (Goal("certainty", 0.75), 1),
        (Goal("agreement", 0.15), -1),
        (Goal("accuracy", 0.3, "r2"), -1),
        (Goal("prevalence", 0.24, "k1"), -1),
    ],
    ids=lambda value: getattr(value, "quantity", ""),
)
def test_more_annotations_bring_every_quantity_nearer_and_the_forecast_says_when(small, goal, better):
    data, _, fit = small
    found = forecast(data, fit, goal, budget=120, n_steps=4, n_worlds=24, seed=1)
    assert (found.value[-1] - found.value[0]) * better > 0
    assert (found.low <= found.value).all() and (found.value <= found.high).all()
    assert found.by_rater.sum() <= 120 + 1e-9
    if found.needed is not None:
        reached = np.interp(found.needed, found.extra, found.value)
        assert abs(reached - goal.target) < 0.03
        assert found.needed_low <= found.needed
    if goal.quantity == "accuracy":
        assert np.flatnonzero(found.by_rater).tolist() == [2]


def test_a_target_that_is_met_needs_nothing_and_one_out_of_reach_has_no_number(small):
    data, _, fit = small
    met = forecast(data, fit, Goal("certainty", 0.2), budget=20, n_steps=2, n_worlds=20)
    assert (met.needed, met.needed_high, met.share_met) == (0, 0, 1.0)
    never = forecast(data, fit, Goal("certainty", 0.999), budget=20, n_steps=2, n_worlds=20)
    assert (never.needed, never.needed_low, never.share_met) == (None, None, 0.0)


@pytest.mark.parametrize(
    ("q", "place"), [(0.025, 1), (0.05, 1), (0.1, 2), (0.5, 11), (0.9, 19), (0.95, 20), (0.975, 20)]
)
def test_the_ends_of_what_is_needed_are_rounded_outwards_and_whole(q, place):
    """Of twenty worlds the k-th stands for k / 21: at 0.1, which is 2.1, the second; at 0.9, 18.9, the nineteenth."""
    values = np.random.default_rng(0).permutation(np.arange(1, 21) * 10.0 - 0.5)
    assert _order_statistic(values, q) == 10 * place
    assert _order_statistic(np.array([1.0, np.inf]), 0.9) is None


def test_raters_who_are_named_are_asked_and_run_out_of_cases(small):
    data, _, fit = small
    found = forecast(data, fit, Goal("certainty", 0.9), budget=100, raters=["r0", "r4"], n_worlds=20)
    assert np.flatnonzero(found.by_rater).tolist() == [0, 4]
    assert "Every available rater annotates every case before the budget is spent" in found.notes[0]
    assert len(found.first_cases) == 10


@pytest.mark.parametrize(
    ("goal", "policy"), [(Goal("agreement", 0.09), "random"), (Goal("certainty", 0.7), "new_cases")]
)
def test_forecasts_hold_what_comes(goal, policy):
    """90% of 12, within three standard errors: at least 7."""
    held = holds(goal, policy, 12, n_worlds=30)
    assert held["at the end"][0] >= 7


def test_what_cannot_be_planned_is_refused(small):
    data, _, fit = small
    other, _ = simulated(61, [0.8] * 3, n_cases=20, per_case=2)
    goal = Goal("certainty", 0.8)
    with pytest.raises(NotApplicableError, match="anonymous"):
        forecast(replace(data, raters_identified=False), fit, goal)
    with pytest.raises(InputError, match="Fit the model"):
        forecast(other, fit, goal)
    with pytest.raises(NotFoundError, match="rater 'x'"):
        forecast(data, fit, goal, raters=["x"])
    with pytest.raises(NotFoundError, match="class 'x'"):
        forecast(data, fit, Goal("prevalence", 0.1, "x"))
    for wrong in ({"policy": "best"}, {"budget": 0}, {"n_worlds": 3}, {"level": 1.0}):
        with pytest.raises(InputError):
            forecast(data, fit, goal, **wrong)
    with pytest.raises(InputError, match="quantity"):
        forecast(data, fit, Goal("speed", 0.1))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        forecast(data, fit, goal, token=token)


def test_when_everybody_has_answered_everything_there_is_nobody_to_ask():
    data, _ = simulated(62, [0.8] * 3, n_cases=20, per_case=3)
    fit = DawidSkene("pooled").fit(data)
    with pytest.raises(NotApplicableError, match="add cases"):
        forecast(data, fit, Goal("certainty", 0.9), budget=10, n_worlds=20)


def test_worlds_of_a_drawn_truth_have_its_classes_and_raters_near_what_they_did():
    data, world = simulate(5)
    drawn = [world_of_truth(data, world.truth, seed) for seed in range(40)]
    assert all(np.array_equal(one.truth, world.truth) for one in drawn)
    mean, sd = (of([one.theta for one in drawn], axis=0) for of in (np.mean, np.std))
    true = world.truth[data.case_of_annotation]
    for k in range(data.n_classes):
        every = np.bincount(data.answer[true == k], minlength=data.n_classes) + 0.5
        for rater in range(data.n_raters):
            own = np.bincount(data.answer[(data.rater == rater) & (true == k)], minlength=data.n_classes)
            expected = (own + POOL_STRENGTH * every / every.sum()) / (own.sum() + POOL_STRENGTH)
            assert (np.abs(mean[rater, k] - expected) < 5 * sd[rater, k] / np.sqrt(40)).all()


def test_a_forecast_uses_the_truths_that_it_is_given():
    data, world = simulate(5)
    fit = DawidSkene("pooled").fit(data)
    goal, how = Goal("certainty", 0.99), {"budget": 200, "n_steps": 1, "n_worlds": 20}
    by_truth = forecast(data, fit, goal, truths=np.tile(world.truth, (20, 1)), **how)
    noise = np.random.default_rng(0).integers(data.n_classes, size=(20, data.n_cases))
    by_noise = forecast(data, fit, goal, truths=noise, **how)
    assert by_noise.value[-1] < by_truth.low[-1], "raters who follow no truth agree less"


def test_plans_by_models_that_were_compared_before_are_those_of_models_compared_again(monkeypatch):
    dataset = load_sample("anaesthesia")
    asked = PlansOptions(new_raters=1, new_cases=0, least_certain=0, n_worlds=20)
    first = choose(dataset, seed=SEED, difficulty=False, independent=False)
    known = judge_models(dataset, known=first).averaged
    again = compute_plans(dataset, asked)
    monkeypatch.setattr(planning, "choose", lambda *_, **__: pytest.fail("models are compared once"))
    assert np.array_equal(compute_plans(dataset, asked, averaged=known).value, again.value)


# Plan outcomes: What plans buy, in crossed data too, where everybody has annotated everything.


CERTAINTY, UNCERTAIN, WIDTH, RIGHT = range(len(QUANTITIES))
PLANS = (
    Plan("new_raters", 3),
    Plan("new_cases", 40, 4),
    Plan("least_certain", 20, 2),
)


@pytest.fixture(scope="module")
def crossed():
    """Four raters on every case: nobody present can be asked anything."""
    data, truth = simulated(7, [0.8, 0.7, 0.75, 0.6], n_cases=80, per_case=4, n_classes=3)
    assert (np.diff(data.case_ptr) == 4).all()
    fit = DawidSkene("pooled").fit(data)
    return data, fit, plan_outcomes(data, fit, PLANS, n_worlds=40, seed=1), truth


def test_every_plan_is_carried_out_in_full_where_everybody_has_annotated_everything(crossed):
    _, _, found, _ = crossed
    assert found.n_annotations.tolist() == [0, 3 * 80, 40 * 4, 20 * 2]
    assert found.n_cases.tolist() == [80, 80, 120, 80]
    assert found.plans[0] is None and [plan.title for plan in found.plans[1:]] == [
        "3 new raters on every case",
        "40 more cases, 4 annotations each",
        "2 more annotations on the 20 least certain cases",
    ]


def test_without_a_plan_certainty_is_that_of_the_data_in_every_world(crossed):
    data, _, found, _ = crossed
    now = counts_cache(data, 1.0).certainty(counts_of(data))
    for end in (found.value, found.low, found.high):
        assert end[0, CERTAINTY] == pytest.approx(now.mean()) and end[0, UNCERTAIN] == (now < 0.9).mean()
    assert (found.gain[0] == 0).all()


def test_without_a_plan_cases_are_uncertain_as_on_the_pages():
    """By the prior learned from the data, and cases with one annotation too."""
    data, _ = simulated(63, [0.9] * 12, n_cases=120, per_case=3, n_classes=8)
    kept = (data.case_of_annotation >= 10) | (np.arange(data.n_annotations) % 3 == 0)
    columns = (each[kept] for each in (data.case_of_annotation, data.rater, data.answer))
    data = Dataset.from_classes(data.name, data.cases, data.raters, data.classes, *columns)
    found = plan_outcomes(data, DawidSkene("pooled").fit(data), [Plan("new_cases", 2, 3)], n_worlds=20)
    model = learned_counts(data).model
    assert abs(model.alpha - DirichletCounts().alpha) > 0.2
    drawn = annotation_certainty(model, data, reliability=1.0, n_draws=20_000)
    one = np.diff(data.case_ptr) == 1
    assert one.sum() == 10
    assert found.value[0, CERTAINTY] == pytest.approx(drawn.mean(), abs=5 * drawn.mean_se() + 1e-3)
    assert found.value[0, UNCERTAIN] == pytest.approx(((drawn.certainty[:, 0] < 0.9) | one).mean(), abs=0.01)


def test_raters_on_every_case_buy_certainty_and_right_cases_and_new_cases_a_narrower_interval(crossed):
    _, _, found, _ = crossed
    raters, cases, few = found.gain[1], found.gain[2], found.gain[3]
    assert raters[CERTAINTY] > few[CERTAINTY] > 0 and raters[UNCERTAIN] < few[UNCERTAIN] <= 0
    assert found.gain_low[1, RIGHT] > 0
    assert (found.gain_low <= found.gain).all() and (found.gain <= found.gain_high).all()
    assert found.gain_high[1, UNCERTAIN] < 0 < found.gain_low[1, CERTAINTY]
    assert found.value[2, WIDTH] == pytest.approx(found.value[0, WIDTH] * np.sqrt(80 / 120), rel=0.1)
    assert abs(cases[CERTAINTY]) < 0.03


def test_what_is_right_now_is_about_what_is_right(crossed):
    """The share of cases that the model puts right, forecast without the truth, holds what it is by the truth."""
    _, fit, found, truth = crossed
    right = (fit.class_probability.argmax(axis=1) == truth).mean()
    assert found.low[0, RIGHT] - 0.02 <= right <= found.high[0, RIGHT] + 0.02


def test_shares_of_cases_are_of_those_that_are_annotated(monkeypatch):
    """Of four cases, the last without an annotation: two of three are right and one of three is uncertain."""
    at = SimpleNamespace(counts=np.array([[2, 0], [0, 2], [1, 1], [0, 0]]))
    world = SimpleNamespace(truth=np.array([0, 0, 1, 1]))
    patterns = SimpleNamespace(certainty=lambda counts: np.array([0.97, 0.95, 0.5])[: len(counts)])
    posterior = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.4, 0.6]])
    monkeypatch.setattr(module, "fitted_posterior", lambda *_: posterior)
    certainty, uncertain, width, right = module._measured(at, world, patterns, SimpleNamespace(of=lambda *_: 0.25))
    assert (certainty, width) == (pytest.approx(2.42 / 3), 0.25)
    assert (uncertain, right) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_seed_gives_the_same_outcomes_and_a_plan_does_not_depend_on_those_before_it(crossed):
    data, fit, found, _ = crossed
    again = plan_outcomes(data, fit, PLANS[:1], n_worlds=40, seed=1)
    np.testing.assert_array_equal(again.value, found.value[:2])


@pytest.mark.parametrize(
    ("plan", "error"),
    [
        (Plan("more", 1), InputError),
        (Plan("new_cases", 0), InputError),
        (Plan("new_cases", 3, 0), InputError),
        (Plan("new_cases", 10**8, 1), LimitError),
    ],
)
def test_a_plan_that_is_none_is_refused(crossed, plan, error):
    data, fit, _, _ = crossed
    with pytest.raises(error):
        plan_outcomes(data, fit, [plan])


@pytest.mark.parametrize("asked", [{"n_worlds": 19}, {"level": 0.0}, {"level": 1.0}])
def test_too_few_worlds_or_a_level_that_is_none_are_refused(crossed, asked):
    data, fit, _, _ = crossed
    with pytest.raises(InputError, match=r"The number of simulated datasets is 19|The level is [01]"):
        plan_outcomes(data, fit, [Plan("new_cases", 3)], **asked)


def test_new_raters_are_like_the_present_ones_by_how_much_these_have_annotated():
    data, _ = simulated(3, [0.9, 0.8, 0.7], n_cases=90, per_case=3, n_classes=3)
    data = keep_only(data, (data.rater < 2) | (data.case_of_annotation % 9 == 0))
    assert _weight(data) == pytest.approx(np.array([90, 90, 10]) / 190)


def test_the_width_of_agreement_reaches_from_one_end_of_its_interval_to_the_other():
    data, _ = simulated(5, [0.9, 0.8, 0.7, 0.6], n_cases=30, per_case=3, n_classes=3)
    counts = np.zeros((data.n_cases, data.n_classes), np.int64)
    np.add.at(counts, (data.case_of_annotation, data.answer), 1)
    found = spa(data, level=0.8)
    width = Measure("agreement", 0, 0.8, None).of(SimpleNamespace(counts=counts), None)
    assert width == pytest.approx(found.ci_high - found.ci_low, abs=1e-12)
    assert len({round(found.value - found.ci_low, 6), round(found.ci_high - found.value, 6), round(width, 6)}) == 3


def test_plans_say_where_repeats_count_more_often_than_on_other_pages():
    for sample, counts in (("anaesthesia", True), ("knees", False)):
        said = " ".join(block.plain for block in planning_part._shared_votes(load_sample(sample)))
        assert ("count separately in these simulations" in said) == counts
