"""How many classes off raters of ordered classes are, against a slow reference, and that distance counts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.raters.leave_one_rater_out import panel_of
from core.raters.rates import distances_of


@pytest.fixture(scope="module")
def panel():
    """Four raters, as often right; one mistakes for the neighbour, one for the far end; the last judged on one case."""
    rng = np.random.default_rng(2)
    truth = rng.integers(5, size=120)
    near = np.where(truth < 4, truth + 1, 3)
    far = np.where(truth < 2, 4, 0)
    wrong = rng.random((3, truth.size)) < 0.3
    answers = [
        np.where(wrong[0], near, truth),
        np.where(wrong[1], far, truth),
        np.where(wrong[2], near, truth),
        truth[:1],
    ]
    case = np.concatenate([np.arange(len(one)) for one in answers])
    rater = np.repeat(np.arange(4), [len(one) for one in answers])
    names = ("d", [str(n) for n in range(120)], ("near", "far", "near too", "once"), tuple("abcde"))
    data = Dataset.from_classes(*names, case, rater, np.concatenate(answers), ordinal=True)
    return panel_of(data, DawidSkene().fit(data))


def test_the_mean_distance_and_its_interval_are_those_of_a_slow_reference(panel):
    found, data = distances_of(panel, 0.9), panel.dataset
    for rater in range(3):
        rows = np.array([row for row in panel.of(rater) if panel.judged[row]])
        by_others = panel.by_others(rows)
        # The distance of an annotation is random, because its truth is: all of its values with their probability.
        values = [(abs(int(data.answer[row]) - z), by_others[n, z]) for n, row in enumerate(rows) for z in range(5)]
        mean = sum(value * share for value, share in values) / rows.size
        spread = sum(share * (value - mean) ** 2 for value, share in values) / (rows.size - 1)
        half = t.ppf(0.95, rows.size - 1) * np.sqrt(spread / rows.size)
        ends = (found.value[rater], found.low[rater], found.high[rater], found.n[rater])
        assert ends == pytest.approx((mean, max(0, mean - half), mean + half, rows.size))


def test_far_mistakes_weigh_more_than_near_ones(panel):
    found = distances_of(panel)
    assert found.low[1] > found.high[0] and found.low[1] > found.high[2]


def test_one_annotation_has_no_interval_and_an_order_without_meaning_no_distance(panel):
    found = distances_of(panel)
    assert found.n[3] == 1 and np.isfinite(found.value[3]) and np.isnan([found.low[3], found.high[3]]).all()
    plain = replace(panel, dataset=replace(panel.dataset, ordinal=False))
    assert np.isnan(distances_of(plain).value).all() and not distances_of(plain).n.any()
