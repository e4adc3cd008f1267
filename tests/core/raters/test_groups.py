"""Groups of raters: within and across agreement by loops, tests under the null, and what is not shown."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from core.agreement.krippendorff import krippendorff_alpha
from core.analyses.blocks import Words
from core.analyses.groups import lead
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.evaluation.predictions import match_predictions
from core.raters.group_views import FEWEST_ON_CASE, MOST_CASES, find_cases_apart, rate_classifiers
from core.raters.groups import RaterFacts, facts_of_file, review_groups
from tests.core.raters.groups_simulated import simulated

FEW = {"n_permutations": 60, "n_resamples": 30}


def by_loops(dataset, values, group):
    """IRR and XRR over every two annotations."""
    score = dataset.kind == "score"

    def distance(x, y):
        return (x - y) ** 2 if score else float(x != y)

    said = dataset.score if score else dataset.answer
    sides = [{True: [], False: []} for _ in range(dataset.n_cases)]
    for place, case in enumerate(dataset.case_of_annotation):
        value = values[dataset.rater[place]]
        if value:
            sides[case][value == group].append(said[place])
    own = [one[True] for one in sides if len(one[True]) > 1]
    pooled = [x for one in own for x in one]
    observed = sum(2 * sum(distance(x, y) for x, y in combinations(one, 2)) / (len(one) - 1) for one in own) / len(
        pooled
    )
    within = 1 - observed / np.mean([distance(x, y) for x, y in combinations(pooled, 2)])
    both = [one for one in sides if one[True] and one[False]]
    pairs = [distance(x, y) for one in both for x, y in product(one[True], one[False])]
    ours, others = ([x for one in both for x in one[side]] for side in (True, False))
    across = 1 - np.mean(pairs) / np.mean([distance(x, y) for x, y in product(ours, others)])
    return within, across, np.mean(ours) - np.mean(others)


@pytest.mark.parametrize("kind", ["score", "class"])
def test_agreement_within_and_across_is_that_of_loops(kind):
    dataset, facts = simulated(2, n=40, n_raters=36, shift=0.5, kind=kind)
    values = tuple("" if place % 7 == 0 else value for place, value in enumerate(facts.values[0]))
    found = review_groups(dataset, RaterFacts(("region",), (values,)), **FEW)
    assert [one.group for one in found.groups] == ["a", "b", "c"]
    for one in found.groups:
        within, across, difference = by_loops(dataset, values, one.group)
        assert one.within.value == pytest.approx(within)
        assert one.across.value == pytest.approx(across)
        assert one.association.value == pytest.approx(within / across)
        if kind == "score":
            assert one.difference.value == pytest.approx(difference)


def test_agreement_within_a_group_is_krippendorffs_alpha():
    dataset, facts = simulated(3)
    found = review_groups(dataset, facts, **FEW)
    for one in found.groups:
        values = facts.values[facts.names.index(one.fact)]
        of_group = dataset.select(
            raters=[name for name, value in zip(dataset.raters, values, strict=True) if value == one.group]
        )
        alpha = krippendorff_alpha(of_group, metric="interval")
        assert one.within.value == pytest.approx(alpha.value)
        assert one.within.low < one.within.value < one.within.high


def test_a_group_that_sees_cases_in_its_own_way_is_named():
    found = {(one.fact, one.group): one for one in review_groups(*simulated(1, apart=1.2), n_resamples=30).groups}
    assert found["region", "a"].named and found["region", "a"].association.value > 1.2
    assert not found["hand", "x"].named


def test_a_group_with_higher_scores_is_named_by_its_difference():
    found = {(one.fact, one.group): one for one in review_groups(*simulated(1, shift=0.5), n_resamples=30).groups}
    one = found["region", "a"]
    assert one.named and one.p_difference < 0.02 and one.difference.low > 0


def test_studies_without_differences_hardly_ever_name_a_group():
    """Permuting raters, not annotations: raters are severe or mild, and annotations are no independent units."""
    studies = [review_groups(*simulated(seed, n=80, n_raters=40), n_resamples=20) for seed in range(1_000, 1_080)]
    named = np.mean([any(one.named for one in found.groups) for found in studies])
    assert named <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 80)
    p = np.array([[one.p_association, one.p_difference] for found in studies for one in found.groups])
    assert np.mean(p < 0.2) == pytest.approx(0.2, abs=0.05)


def test_small_groups_are_not_shown():
    dataset, _ = simulated(4)
    values = tuple("rare" if place < 7 else "common" if place < 40 else "" for place in range(60))
    with pytest.raises(NotApplicableError, match="no group has at least 8 raters in it"):
        review_groups(dataset, RaterFacts(("region",), (values,)), **FEW)
    values = tuple("rare" if place < 7 else "ab"[place % 2] for place in range(60))
    found = review_groups(dataset, RaterFacts(("region",), (values,)), **FEW)
    assert [one.group for one in found.groups] == ["a", "b"] and found.too_small == (("region", 1),)


def test_classes_without_an_order_name_the_class_that_differs_most():
    dataset, facts = simulated(5, shift=1.0, kind="class")
    (one,) = [one for one in review_groups(dataset, facts, **FEW).groups if one.group == "a"]
    member = np.array([value == "a" for value in facts.values[0]])[dataset.rater]
    shares = [np.bincount(dataset.answer[side], minlength=3) / side.sum() for side in (member, ~member)]
    assert one.of_class == dataset.classes[int(np.abs(shares[0] - shares[1]).argmax())]


def test_facts_are_columns_with_one_value_per_rater():
    table = "worker,region,age,mood\n" + "\n".join(f"R{place},{'ns'[place % 2]},{20 + place},m" for place in range(30))
    found = facts_of_file("raters.csv", table.encode(), [f"R{place}" for place in range(31)])
    assert found.names == ("region", "age"), "numbers may have any number of values"
    assert found.with_groups.names == ("region",) and found.values[0] == (*("ns"[place % 2] for place in range(30)), "")
    long = "case,rater,class,region\n" + "\n".join(
        f"c{case},R{place},{'xy'[(case + place) % 2]},{'ns'[place % 2]}" for case in range(3) for place in range(20)
    )
    found = facts_of_file("long.csv", long.encode(), [f"R{place}" for place in range(20)])
    assert found.names == ("region",)
    with pytest.raises(InputError, match="no column with the names of at least 8 of these raters"):
        facts_of_file("other.csv", table.encode(), ["somebody", "else"])
    with pytest.raises(InputError, match="one value per rater"):
        facts_of_file(
            "none.csv",
            "\n".join(["worker,n", *(f"R{place},v{place}" for place in range(30))]).encode(),
            [f"R{place}" for place in range(30)],
        )


def test_kinds_that_cannot_be_compared_are_refused():
    dataset, facts = simulated(0)
    anonymous = Dataset.from_scores(
        "x", dataset.cases, dataset.raters, dataset.case_of_annotation, dataset.rater, dataset.score,
        raters_identified=False,
    )  # fmt: skip
    with pytest.raises(NotApplicableError, match="named raters"):
        review_groups(anonymous, facts)


def test_the_sentence_states_the_difference_that_names_a_group():
    """Higher scores, a class chosen more often, or agreement with each other, each only where it is so."""
    for how, wanted in (
        ({"shift": 0.5}, "Raters with region “a” give higher values than the others: difference in means 0."),
        ({"shift": -0.5}, "Raters with region “a” give lower values than the others: difference in means −0."),
        ({"apart": 1.2}, "Raters with region “a” agree more with each other than with the others: ratio 2."),
        (
            {"shift": 1.0, "kind": "class"},
            "Raters with region “a” choose “high” more often than the others: difference 28 points (2",
        ),
    ):
        assert wanted in Words(lead(review_groups(*simulated(1, **how), n_resamples=30))).plain
    assert Words(lead(review_groups(*simulated(3), n_resamples=30))).plain.startswith("No group of raters clearly")


# Group views: Cases that groups of raters see differently, and classifiers measured by each group.


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
    with pytest.raises(NotApplicableError, match="No group has at least 8 raters in it and 8 outside it"):
        rate_classifiers(dataset, RaterFacts(), [net])
    with pytest.raises(InputError, match="level"):
        rate_classifiers(dataset, facts, [net], level=2.0)
    with pytest.raises(InputError, match="false discovery rate"):
        find_cases_apart(dataset, facts, q=2.0)
