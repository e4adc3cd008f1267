"""The public functions of one classifier and one reliability give what the sweep gives."""

import numpy as np
import pytest

import core
from core.evaluation.predictions import match_predictions


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
