"""What plans buy, in crossed data too, where everybody has annotated everything."""

from types import SimpleNamespace

import numpy as np
import pytest

from core.agreement.probability import spa
from core.annotations.dataset import keep_only
from core.errors import InputError, LimitError
from core.models.dawid_skene import DawidSkene
from core.raters import plan_outcomes as module
from core.raters.plan_outcomes import QUANTITIES, Plan, _weight, plan_outcomes
from core.raters.plan_world import CountsCache, Measure, counts_of
from tests.core.raters.raters_simulated import simulated

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
    now = CountsCache(3, 1.0).certainty(counts_of(data))
    for end in (found.value, found.low, found.high):
        assert end[0, CERTAINTY] == pytest.approx(now.mean()) and end[0, UNCERTAIN] == (now < 0.9).mean()
    assert (found.gain[0] == 0).all()


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
    with pytest.raises(
        InputError, match="Could not simulate plans: the number of simulated datasets or the level is out of range"
    ):
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
