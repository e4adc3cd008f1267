"""Rankings and probabilities of classifiers against plausible truths, by scipy and by enumeration."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY
from core.analyses.reliability.metrics import verdict
from core.analysis_settings import AnalysisSettings
from core.command_line import main
from core.errors import InputError
from core.evaluation.further_metrics import FurtherMetrics, FurtherValue, further_metrics, metrics_of
from core.evaluation.predictions import open_predictions
from core.ingest.samples import load_sample
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import CaseDraws
from core.reducers.list_metrics import LEAST_PROBABILITY, compare_lists, compare_probabilities

N_CLASSES = 6


def draws(classes, orders, n_classes=N_CLASSES, share=None, rest=None):
    """Draws of one case with these first places; ``len(classes)`` is a never-named class."""
    n = len(orders)
    share = np.full((n, len(classes)), 0.9 / max(len(classes), 1)) if share is None else share
    rest = 1 - share.sum(axis=1) if rest is None else rest
    return CaseDraws(
        np.array(classes, np.int32), share, rest, np.array(orders, np.int32), n_classes - len(classes), 1.0, n, 0
    )


def enumerated(order, classes, n_classes, listed, top, target):
    """The three metrics over all ways in which never-named classes take places and ties are broken."""
    rest = [c for c in range(n_classes) if c not in classes]
    found = []
    for chosen in permutations(rest, sum(1 for p in order[:top] if p == len(classes))):
        fill = iter(chosen)
        first = [next(fill) if p == len(classes) else classes[p] for p in order[:top]]
        truth = np.array([first.index(c) + 1 if c in first else top + 1 for c in range(n_classes)])
        place, buckets, firm, tied, free = 0, np.full(n_classes, 99), set(), [], 0
        ranks = np.full(n_classes, top + 1.0)
        unlisted = [c for c in range(n_classes) if not any(c in block for block in listed)]
        for block in (*listed, unlisted):
            if place < top and block:
                buckets[block] = place
                ranks[block] = np.mean([min(place + i + 1, top + 1) for i in range(len(block))])
                if block is not unlisted and place + len(block) <= top:
                    firm |= set(block)
                elif block is not unlisted:
                    tied, free = block, top - place
            place += len(block)
        tau = kendalltau(truth, buckets).statistic
        own = np.sort(np.minimum(np.arange(1, n_classes + 1), top + 1))
        footrule = 1 - np.abs(truth - ranks).sum() / np.abs(own - own[::-1]).sum()
        sets = [firm | set(more) for more in combinations(tied, free)]
        within = np.mean([set(first[:target]) <= one for one in sets])
        found.append((0.0 if np.isnan(tau) else tau, footrule, within))
    return np.mean(found, axis=0)


@pytest.mark.parametrize(
    "listed",
    [
        [[0], [1], [2], [3], [4], [5]],
        [[3], [2], [1]],
        [[0, 1], [4]],
        [[5], [0, 2, 3, 4]],
        [[2]],
        [[0, 1, 2, 3, 4, 5]],
    ],
)
@pytest.mark.parametrize("top", [1, 2, 3, 6])
def test_lists_are_compared_as_by_scipy_and_enumeration(listed, top):
    """With ties of the classifier and classes that nobody named, in expectation."""
    classes = [0, 2, 4]
    orders = [[0, 1, 2, 3, 3, 3], [2, 3, 0, 3, 1, 3], [3, 3, 3, 1, 0, 2]]
    code = np.array([c for block in listed for c in block], np.int32)
    group = np.array([number for number, block in enumerate(listed) for _ in block], np.int32)
    for target in range(1, top + 1):
        found = compare_lists(draws(classes, orders), code, group, N_CLASSES, top, target)
        expected = [enumerated(order, classes, N_CLASSES, listed, top, target) for order in orders]
        np.testing.assert_allclose(found, np.transpose(expected), atol=1e-12)


def test_the_same_list_has_tau_and_footrule_one_and_the_reverse_the_least():
    classes, same = list(range(4)), [[0, 1, 2, 3]]
    for code, tau, footrule in (([0, 1, 2, 3], 1, 1), ([3, 2, 1, 0], -1, 0)):
        found = compare_lists(draws(classes, same, 4), np.array(code), np.arange(4), 4, 4, 2)
        assert found[:2, 0] == pytest.approx([tau, footrule])


def test_a_list_deeper_than_the_draws_is_refused():
    with pytest.raises(InputError, match="only the first 2"):
        compare_lists(draws([0, 1], [[0, 1]]), np.array([0]), np.array([0]), N_CLASSES, 3, 1)


def test_probabilities_are_compared_as_by_scipy():
    rng = np.random.default_rng(2)
    share, predicted = rng.dirichlet(np.ones(4), 20), rng.dirichlet(np.ones(4))
    found = compare_probabilities(draws(range(4), [[0]] * 20, 4, share, np.zeros(20)), predicted)
    np.testing.assert_allclose(found[0], -(share * np.log(predicted)).sum(axis=1))
    np.testing.assert_allclose(found[1], [jensenshannon(one, predicted, 2) ** 2 for one in share])
    np.testing.assert_allclose(found[2], np.abs(share - predicted).sum(axis=1))


def test_the_share_of_classes_that_nobody_named_is_split_at_random():
    """The mean of the cross entropy is linear in it; the Manhattan distance is not."""
    n = 20_000
    case = draws([0], [[0]] * n, 3, np.full((n, 1), 0.4), np.full(n, 0.6))
    found = compare_probabilities(case, np.array([0.5, 0.5, 0.0]))
    expected = -(0.7 * np.log(0.5) + 0.3 * np.log(LEAST_PROBABILITY))
    assert found[0].mean() == pytest.approx(expected, abs=4 * found[0].std() / np.sqrt(n))
    uniform = np.linspace(0, 0.6, 100_001)  # the first of two parts of 0.6 under a flat Dirichlet
    distance = (0.1 + np.abs(uniform - 0.5) + 0.6 - uniform).mean()
    assert found[2].mean() == pytest.approx(distance, abs=4 * found[2].std() / np.sqrt(n))


@pytest.fixture(scope="module")
def some():
    dataset = load_sample("caries")
    dataset = dataset.select(cases=dataset.cases[:40])
    majority = [int(np.bincount(dataset.answer[a:b], minlength=dataset.n_classes).argmax())
                for a, b in zip(dataset.case_ptr[:-1], dataset.case_ptr[1:], strict=True)]  # fmt: skip
    found = ()
    for name, shift in (("votes", 0), ("wrong", 1)):
        rows = [{"case": case, "class": dataset.classes[(vote + shift) % dataset.n_classes], "score": 0.8}
                for case, vote in zip(dataset.cases, majority, strict=True)]  # fmt: skip
        found += open_predictions(name, pd.DataFrame(rows).to_csv(index=False).encode(), dataset)
    return dataset, found


def test_the_better_classifier_is_best_by_every_metric(some):
    dataset, classifiers = some
    inputs = Inputs(dataset, predictions=classifiers, settings=AnalysisSettings(DirichletCounts(), 3.0))
    part = RELIABILITY.part("metrics")
    options = part.resolve(n_draws=50, k=1, j=1)
    found = part.answer(inputs, options)
    for metric in found.metrics:
        votes, wrong = found.values[metric.name]["votes"], found.values[metric.name]["wrong"]
        assert (votes.mean > wrong.mean) == metric.larger_is_better
        assert votes.p_best == 1 and wrong.p_best == 0 and votes.n_cases == 40
        assert "votes is best on these cases (over 99% probability)" in verdict(found, metric)
        assert votes.total_se == pytest.approx(np.hypot(votes.sd, votes.case_se))


def test_top_1_within_top_k_is_top_k_accuracy_of_the_sweep(some):
    import core

    dataset, classifiers = some
    found = further_metrics(DirichletCounts(), dataset, classifiers, reliability=2.0, top=1, n_draws=60, seed=4)
    sweep = core.reliability_sweep(
        DirichletCounts(), dataset, [2.0], classifiers=classifiers, max_top=1, n_draws=60, seed=4
    )
    for name in ("votes", "wrong"):
        own = sweep.evaluation[0].values[name]["top1_accuracy"]
        assert found.values["top1_within_top1"][name].mean == pytest.approx(own.mean, abs=1e-12)


def test_no_classifier_is_called_best_where_draws_are_divided():
    metric = metrics_of(3, 2)[0]

    def value(p):
        return FurtherValue(0.5, 0.1, 0.3, 0.7, 0.05, 0.1, 10, p)

    def found(**p_best):
        return FurtherMetrics(2.0, (metric,), {metric.name: {name: value(p) for name, p in p_best.items()}})

    assert verdict(found(a=0.6, b=0.4), metric) == "Kendall's tau at 3 at γ = 2: no classifier is clearly best"
    assert "a is best on these cases (97% probability)" in verdict(found(a=0.97, b=0.03), metric)
    assert "cannot determine" in verdict(found(a=np.nan, b=np.nan), metric)
    assert verdict(found(a=np.nan), metric).endswith("of a: 0.50 (0.30 to 0.70) at γ = 2, n = 10 cases")


def test_a_target_larger_than_the_list_is_refused(some):
    with pytest.raises(InputError, match="j ≤ k"):
        further_metrics(DirichletCounts(), *some, reliability=1.0, top=2, target=3)


def test_the_command_gives_the_table_of_the_page(capsys):
    assert main(["metrics", "dirichlet", "skin", "--k", "2", "--j", "2", "--draws", "5", "--csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("metric,title,classifier,mean") and len(lines) == 1 + 6 * 4
    assert main(["metrics", "dirichlet", "anaesthesia"]) == 2
    assert "Provide --predictions" in capsys.readouterr().err
