"""Cases that groups of raters see differently, and classifiers measured by each group."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.evaluation.predictions import match_predictions
from core.raters.group_views import FEWEST_ON_CASE, MOST_CASES, find_cases_apart, rate_classifiers
from core.raters.groups import RaterFacts
from tests.core.raters.groups_simulated import simulated


def crowd(seed=0, n=40, apart=()):
    """40 raters who all score all cases; the first 20 score some cases 2 higher."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 1, (n, 40))
    score[np.ix_(list(apart), range(20))] += 2.0
    case, rater = np.meshgrid(np.arange(n), np.arange(40), indexing="ij")
    names = [f"c{place}" for place in range(n)], [f"R{place}" for place in range(40)]
    dataset = Dataset.from_scores("crowd", *names, case.ravel(), rater.ravel(), score.ravel())
    return dataset, RaterFacts(("side",), (("a",) * 20 + ("b",) * 20,))


def test_planted_cases_are_found_and_no_others():
    dataset, facts = crowd(apart=(3, 17))
    found = find_cases_apart(dataset, facts)
    assert {one.case_id for one in found.cases if one.clear} == {"c3", "c17"}
    assert found.n_compared == 2 * 40
    first = next(one for one in found.cases if one.case_id == "c3" and one.group == "a")
    case = dataset.cases.index("c3")
    score = dataset.score[dataset.case_of_annotation == case]
    assert first.leans == "higher" and first.difference == pytest.approx(score[:20].mean() - score[20:].mean())
    other = next(one for one in found.cases if one.case_id == "c3" and one.group == "b")
    assert other.leans == "lower" and other.difference == pytest.approx(-first.difference)


def test_without_differences_studies_seldom_name_a_case():
    """Of 60 studies at a rate of 5%, at most 3.3 standard errors more."""
    named = sum(any(one.clear for one in find_cases_apart(*crowd(seed, 15)).cases) for seed in range(60))
    assert named <= 60 * 0.05 + 3.3 * np.sqrt(60 * 0.05 * 0.95)


def test_p_is_that_of_all_permutations():
    """Against enumeration of who are the three members of six."""
    from itertools import combinations

    dataset, facts = crowd(5, 1)
    here = np.array([0, 1, 2, 20, 21, 22])
    few = Dataset.from_scores("few", ["c"], dataset.raters, np.zeros(6, int), here, dataset.score[here])
    found = find_cases_apart(few, facts)
    values = dataset.score[here]
    all_of_them = [
        abs(values[list(one)].mean() - np.delete(values, list(one)).mean()) for one in combinations(range(6), 3)
    ]
    exact = np.mean(np.array(all_of_them) >= abs(values[:3].mean() - values[3:].mean()) - 1e-12)
    assert found.cases[0].p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000) + 1e-3)


def test_few_annotations_keep_back_the_difference_and_fewer_the_case():
    dataset, facts = simulated(1, n=60, per_case=8)
    found = find_cases_apart(dataset, facts)
    assert found.cases and all(np.isnan(one.difference) for one in found.cases)
    annotated = {name: dataset.rater[dataset.case_of_annotation == case] for case, name in enumerate(dataset.cases)}
    for one in found.cases:
        values = np.array(facts.values[facts.names.index(one.fact)])
        mine = values[annotated[one.case_id]] == one.group
        assert min(mine.sum(), (~mine).sum()) >= FEWEST_ON_CASE
    sparse, facts = simulated(1, n=60, per_case=3)
    assert not find_cases_apart(sparse, facts).cases


def test_small_groups_are_not_shown_and_lists_are_short():
    dataset, facts = crowd(apart=range(40))
    small = RaterFacts(("side",), (("a",) * 7 + ("b",) * 33,))
    with pytest.raises(NotApplicableError, match="Smaller groups are not shown"):
        find_cases_apart(dataset, small)
    assert len(find_cases_apart(dataset, facts).cases) == 2 * MOST_CASES


def classifier(dataset, answer):
    """Predictions of one class per case, certain of it."""
    names = [dataset.classes[code] for code in answer]
    return match_predictions(dataset, list(dataset.cases), names, -np.ones(len(names)), "net", probabilities=False)


def of_classes(seed=0, n=60, wrong=0.0):
    """Classes of 40 raters; a share of those of the first 20 is the other class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    answer = np.where(rng.random((n, 40)) < 0.1, 1 - truth[:, None], truth[:, None])
    flip = rng.random((n, 20)) < wrong
    answer[:, :20] = np.where(flip, 1 - answer[:, :20], answer[:, :20])
    case, rater = np.meshgrid(np.arange(n), np.arange(40), indexing="ij")
    names = [f"c{place}" for place in range(n)], [f"R{place}" for place in range(40)], ("x", "y")
    dataset = Dataset.from_classes("classes", *names, case.ravel(), rater.ravel(), answer.ravel())
    return dataset, RaterFacts(("side",), (("a",) * 20 + ("b",) * 20,)), classifier(dataset, truth), answer, truth


def test_rates_are_shares_of_each_group_and_the_worst_is_named():
    dataset, facts, net, answer, truth = of_classes(wrong=0.3)
    found = rate_classifiers(dataset, facts, [net])
    by_group = {one.group: one for one in found.rates}
    hits = answer == truth[:, None]
    assert by_group["a"].rate == pytest.approx(hits[:, :20].mean())
    assert by_group["a"].others == by_group["b"].rate == pytest.approx(hits[:, 20:].mean())
    worst = found.worst("net")
    assert worst.group == "a" and worst.difference.high < 0 and worst.n_cases == 60
    assert worst.difference.low < worst.difference.value < worst.difference.high


def test_equal_groups_are_seldom_called_worse():
    """Both groups together at 95%: of 60 studies at most 3.3 standard errors more than 5%."""
    named = 0
    for seed in range(60):
        dataset, facts, net, *_ = of_classes(seed, 30)
        named += rate_classifiers(dataset, facts, [net]).worst("net").difference.high < 0
    assert named <= 60 * 0.05 + 3.3 * np.sqrt(60 * 0.05 * 0.95)


def test_names_and_order_of_raters_change_no_rate():
    dataset, facts, net, *_ = of_classes(wrong=0.2)
    renamed = replace(dataset, raters=tuple(f"other {name}" for name in dataset.raters))
    assert [one.rate for one in rate_classifiers(dataset, facts, [net]).rates] == [
        one.rate for one in rate_classifiers(renamed, facts, [net]).rates
    ]


def test_what_cannot_be_measured_is_refused():
    dataset, facts, net, *_ = of_classes()
    with pytest.raises(NotApplicableError, match="No group has at least 8 raters, with at least 8 raters outside it"):
        rate_classifiers(dataset, RaterFacts(), [net])
    with pytest.raises(InputError, match="level"):
        rate_classifiers(dataset, facts, [net], level=2.0)
    with pytest.raises(InputError, match="false discovery rate"):
        find_cases_apart(dataset, facts, q=2.0)
