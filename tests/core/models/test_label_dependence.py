"""One β for all labels: less where raters share mistakes or nothing is known of them, 1 where they are independent."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.held_out import held_out, prepare
from core.models.label_fits import fit_labels, with_label_dependence
from core.models.one_coin import OneCoin
from core.models.tempering import truth_beta, truth_doubt


def simulated(seed, n_cases, n_raters, right, n_labels=4, shared=0.0, prevalence=0.3, none=True):
    """Sets by raters of one accuracy, who err alike on a ``shared`` part of cases and labels; and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random((n_cases, n_labels)) < prevalence
    seen = truth ^ (rng.random(truth.shape) < shared)
    named = (seen[:, None, :] ^ (rng.random((n_cases, n_raters, n_labels)) > right)).reshape(-1, n_labels)
    named = np.c_[named, ~named.any(axis=1)]
    case, rater = np.repeat(np.arange(n_cases), n_raters), np.tile(np.arange(n_raters), n_cases)
    labels = [*(f"label {k}" for k in range(n_labels)), "none of these"]
    ids, who = [f"c{k}" for k in range(n_cases)], [f"r{k}" for k in range(n_raters)]
    ptr = np.concatenate([[0], np.cumsum(named.sum(axis=1))])
    return Dataset.from_sets("s", ids, who, labels, case, rater, ptr, np.nonzero(named)[1]), truth


def loss(dataset, model, truth):
    """Nats a case, over its labels."""
    likely = np.clip(fit_labels(dataset, model).probability[:, : truth.shape[1]], 1e-6, 1 - 1e-6)
    return float(-np.log(np.where(truth, likely, 1 - likely)).sum(axis=1).mean())


@pytest.mark.parametrize(
    ("how", "gain"),
    [
        ({"n_cases": 200, "n_raters": 5, "right": 0.9, "shared": 0.1}, 0.7),
        ({"n_cases": 60, "n_raters": 3, "right": 0.5, "prevalence": 0.5}, 0.85),
    ],
)
def test_where_raters_share_mistakes_or_guess_the_truth_is_less_sure_and_nearer(how, gain):
    dataset, truth = simulated(1, **how)
    model = with_label_dependence(dataset, DawidSkene())
    assert model.beta < 0.9 and model.doubt > 0
    assert loss(dataset, model, truth) < gain * loss(dataset, DawidSkene(), truth)


def test_many_annotations_of_independent_raters_count_in_full():
    dataset, _ = simulated(0, 1500, 5, 0.85)
    assert with_label_dependence(dataset, DawidSkene()) == DawidSkene()


def test_of_one_label_it_is_the_rule_of_single_classes_and_none_of_these_does_not_count():
    dataset, _ = simulated(2, 80, 4, 0.8, n_labels=1, shared=0.1)
    data = prepare(dataset.as_classes("label 0")[0])
    held = held_out(data, OneCoin())
    found = with_label_dependence(dataset, OneCoin())
    most = data.independent
    assert (found.beta, found.doubt) == (truth_beta(min(held.middle_beta, most)), truth_doubt(min(held.beta, most)))
    assert found.temper_prevalence == held.temper_prevalence and found.beta < 1


def test_where_nothing_can_be_held_out_the_model_stays_as_it_is():
    dataset = Dataset.from_sets("s", ["a", "b"], ["x", "y"], ["l", "m"], [0, 1], [0, 1], [0, 1, 2], [0, 1])
    assert with_label_dependence(dataset, DawidSkene()) == DawidSkene()
