"""The alternative annotator test: against the source's algorithm written plainly, its edges, and what is added."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t, ttest_1samp

from core.agreement.intervals import wilson
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.machines import alternative_test as module
from core.machines.alternative_test import (
    CURVE,
    LEAST_CASES,
    alternative_test,
    benjamini_yekutieli,
    people_in_its_place,
)
from core.rankings.overlap import mean_ao
from tests.core.machines.conftest import simulated


def plainly(dataset, machine, people, score, epsilon):
    """ω and ρ, p and n of each person by loops over dictionaries, as the source writes them."""
    said = {name: {} for name in dataset.raters}
    for case in range(dataset.n_cases):
        for a in dataset.annotations_of(case):
            said[dataset.raters[dataset.rater[a]]].setdefault(case, a)
    found = {}
    for person in people:
        wins, differences = [], []
        for case, a in said[person].items():
            others = [said[other][case] for other in people if other != person and case in said[other]]
            if others and case in said[machine]:
                one, two = score(said[machine][case], others), score(a, others)
                tie = abs(one - two) <= 1e-12 * max(abs(one), abs(two))
                wins.append(one > two or tie)
                differences.append(int(two > one or tie) - int(one > two or tie))
        if len(wins) >= LEAST_CASES:
            if np.std(differences) == 0:
                p = 0.0 if differences[0] < epsilon else 1.0
            else:
                p = ttest_1samp(differences, epsilon, alternative="less").pvalue
            found[person] = (len(wins), np.mean(wins), p)
    p = sorted(one[2] for one in found.values())
    m = len(p)
    k = max((r for r in range(1, m + 1) if p[r - 1] <= r * 0.05 / (m * sum(1 / i for i in range(1, m + 1)))), default=0)
    return k / m, np.mean([one[1] for one in found.values()]), found


def numbers(data):
    """The classes of a dataset, which are numbers, as scores."""
    value = np.array([float(name) for name in data.classes])[data.answer]
    return Dataset.from_scores("s", data.cases, data.raters, data.case_of_annotation, data.rater, value)


def ranked(data, seed=3):
    """Each class as a ranking of it and up to two more, the last two perhaps tied."""
    rng = np.random.default_rng(seed)
    entries, ranks, ptr = [], [], [0]
    for first in data.answer:
        rest = rng.permutation([k for k in range(data.n_classes) if k != first])[: rng.integers(0, 3)]
        entries += [first, *rest]
        ranks += [0, *([1] * rest.size if rng.random() < 0.5 else range(1, rest.size + 1))]
        ptr.append(len(entries))
    return Dataset.from_rankings(
        "r", data.cases, data.raters, data.classes, data.case_of_annotation, data.rater, ptr, entries, ranks
    )


def scorer(dataset, name):
    if name == "accuracy":
        return lambda a, others: np.mean([dataset.answer[a] == dataset.answer[b] for b in others])
    if name == "rmse":
        return lambda a, others: -np.sqrt(np.mean([(dataset.score[a] - dataset.score[b]) ** 2 for b in others]))
    blocks = [dataset.blocks_of(a) for a in range(dataset.n_annotations)]
    return lambda a, others: np.mean([mean_ao(blocks[a], blocks[b], dataset.n_classes, 3) for b in others])


@pytest.mark.parametrize(("name", "made"), [("accuracy", lambda d: d), ("rmse", numbers), ("overlap", ranked)])
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_each_score_gives_what_the_source_s_algorithm_gives(name, made, epsilon):
    data = made(simulated(2, [0.8, 0.7, 0.6, 0.75], [0.72], n_cases=60, present=0.7))
    people = data.raters[:4]
    found = alternative_test(data, ["m0"], epsilon=epsilon, n_resamples=100).machines[0]
    omega, rho, raters = plainly(data, "m0", people, scorer(data, name), epsilon)
    assert (found.omega, found.rho) == (omega, pytest.approx(rho, abs=1e-12))
    assert {one.rater for one in found.raters} == set(raters)
    for one in found.raters:
        n, value, p = raters[one.rater]
        assert (one.n, one.rho, one.p) == (n, pytest.approx(value, abs=1e-12), pytest.approx(p, abs=1e-9))
        assert one.wins + one.ties + one.losses == n
        assert one.rho_low <= one.rho <= one.rho_high


def test_classes_that_are_numbers_score_as_the_numbers(six):
    by_class = alternative_test(six, ["m0"], people=six.raters[:6], score="rmse", n_resamples=100).machines[0]
    by_score = alternative_test(numbers(six), ["m0"], people=six.raters[:6], n_resamples=100).machines[0]
    assert (by_class.rho, by_class.omega) == (by_score.rho, by_score.omega)
    named = replace(six, classes=("a", "b", "c", "d"))
    with pytest.raises(NotApplicableError, match="'a' is not a number"):
        alternative_test(named, ["m0"], score="rmse")
    places = alternative_test(replace(named, ordinal=True), ["m0"], people=six.raters[:6], score="rmse").machines[0]
    assert places.rho == by_score.rho


def test_a_good_machine_passes_and_a_bad_one_does_not_and_their_difference_says_so(six):
    found = alternative_test(six, ["m0", "m1"], epsilon=0.1)
    good, bad = found.machines
    assert (good.passes, good.n_rejected) == (True, 5) and good.pass_share > 0.9
    assert (bad.passes, bad.n_rejected, bad.pass_share, bad.n_to_pass) == (False, 0, 0.0, None)
    assert found.people == six.raters[:6]
    (difference,) = found.differences
    assert difference.difference == pytest.approx(good.rho - bad.rho)
    assert 0 < difference.low < difference.difference < difference.high
    assert good.n_to_pass < good.n_cases == 200


def test_the_curve_rises_and_has_the_rate_of_the_test_at_its_epsilon(six):
    for one in alternative_test(six, ["m0", "m1"], epsilon=0.1, n_resamples=100).machines:
        assert (np.diff(one.curve) >= 0).all()
        assert one.curve[CURVE == 0.1] == one.omega
        if one.passes_from is not None:
            assert one.curve[one.passes_from == CURVE] >= 0.5
            assert (one.curve[one.passes_from > CURVE] < 0.5).all()


def test_more_cases_like_these_are_what_it_takes_to_pass():
    data = simulated(4, [0.75] * 4, [0.68], n_cases=60, present=1.0)
    found = alternative_test(data, ["m0"], epsilon=0.1).machines[0]
    assert not found.passes and found.n_to_pass > 60
    twice = [case for case in range(60) for _ in range(2 * found.n_to_pass // 60)]
    rows = [(n, data.rater[a], data.answer[a]) for n, case in enumerate(twice) for a in data.annotations_of(case)]
    case, rater, answer = np.array(rows).T
    cases = [f"c{n}" for n in range(len(twice))]
    more = Dataset.from_classes("more", cases, data.raters, data.classes, case, rater, answer)
    assert alternative_test(more, ["m0"], epsilon=0.1).machines[0].pass_share >= 0.8


def test_a_copy_of_a_person_ties_everywhere_and_unanimity_is_decided_without_a_spread():
    data = simulated(5, [1.0] * 3, [1.0], n_cases=40, present=1.0)
    found = alternative_test(data, ["m0"], n_resamples=100).machines[0]
    assert (found.rho, found.rho_high, found.omega) == (1.0, 1.0, 1.0)
    assert found.rho_low == pytest.approx(40 / (40 + t.ppf(0.975, 39) ** 2))  # forty cases, all alike
    assert [(one.p, one.ties) for one in found.raters] == [(0.0, 40)] * 3
    at_none = alternative_test(data, ["m0"], epsilon=0.0, n_resamples=100).machines[0]
    assert (at_none.omega, [one.p for one in at_none.raters]) == (0.0, [1.0] * 3)


def test_few_cases_or_one_annotation_a_case_claim_nothing():
    two = simulated(6, [0.9] * 3, [0.9], n_cases=2, present=1.0)
    found = alternative_test(two, ["m0"]).machines[0]
    assert (found.omega, found.passes, found.rho, found.pass_share, found.n_to_pass) == (None,) * 5
    assert (found.raters, found.not_tested) == ((), ("p0", "p1", "p2"))
    cases = [str(n) for n in range(90)]
    rater = np.r_[np.arange(90) % 2, np.full(90, 2)]
    case = np.r_[np.arange(90), np.arange(90)]
    single = Dataset.from_classes("one", cases, ["a", "b", "m"], ["x", "y"], case, rater, case % 2)
    assert alternative_test(single, ["m"]).machines[0].n_cases == 0


def test_people_with_few_cases_judge_and_are_not_judged():
    data = simulated(7, [0.8] * 3, [0.8], n_cases=60, present=1.0)
    few = data.raters.index("p2")
    keep = (data.rater != few) | (data.case_of_annotation < LEAST_CASES - 1)
    rows = (data.case_of_annotation[keep], data.rater[keep], data.answer[keep])
    data = Dataset.from_classes("few", data.cases, data.raters, data.classes, *rows)
    found = alternative_test(data, ["m0"], n_resamples=100).machines[0]
    assert ([one.rater for one in found.raters], found.not_tested) == (["p0", "p1"], ("p2",))
    assert found.rho == pytest.approx(plainly(data, "m0", data.raters[:3], scorer(data, "accuracy"), 0.2)[1])


def test_a_second_annotation_of_a_rater_on_a_case_counts_for_nothing(six):
    case, rater, answer = six.case_of_annotation, six.rater, six.answer
    again = [np.r_[one, two] for one, two in ((case, case[:50]), (rater, rater[:50]), (answer, (answer[:50] + 1) % 4))]
    twice = Dataset.from_classes("twice", six.cases, six.raters, six.classes, *again)
    one, two = (alternative_test(data, ["m0"], n_resamples=100).machines[0] for data in (six, twice))
    assert (one.rho, one.omega) == (two.rho, two.omega)


def test_every_person_takes_the_same_test_with_the_others_as_the_panel(six):
    people = six.raters[:6]
    found = people_in_its_place(six, people=people, epsilon=0.1, n_resamples=100)
    assert [one.machine for one in found] == list(people)
    alone = six.select(raters=people)
    direct = alternative_test(alone, ["p2"], epsilon=0.1, n_resamples=500).machines[0]
    assert (found[2].omega, found[2].rho) == (direct.omega, direct.rho)
    assert all(one.n_to_pass is None for one in found)


def test_intervals_are_those_by_hand_over_cases(six):
    """Of ρ, of each ρ_j and of a difference: what each case adds, by loops over the cases."""
    found = alternative_test(six, ["m0", "m1"], n_resamples=100, plan=False)
    moves = []
    for one in found.machines:
        code = six.raters.index(one.machine)
        won = {rater.rater: {} for rater in one.raters}
        cases = set()
        for case in range(six.n_cases):
            said = {int(six.rater[a]): int(six.answer[a]) for a in six.annotations_of(case)}
            people = [rater for rater in said if rater < 6]
            if code not in said or len(people) < 2:
                continue
            cases.add(case)
            for person in people:
                others = [said[other] for other in people if other != person]
                nearer = others.count(said[code]) >= others.count(said[person])
                won[six.raters[person]][case] = float(nearer)
        share = {name: np.mean(list(of.values())) for name, of in won.items()}
        added = np.array(
            [
                np.mean([(of[case] - share[name]) / len(of) if case in of else 0.0 for name, of in won.items()])
                for case in sorted(cases)
            ]
        )
        moves.append(added)
        n, rho = added.size, np.mean(list(share.values()))
        variance = n / (n - 1) * (added**2).sum()
        assert one.rho == pytest.approx(rho)
        assert (one.rho_low, one.rho_high) == pytest.approx(
            wilson(rho, rho * (1 - rho) / variance, t.ppf(0.975, n - 1))
        )
        for rater in one.raters:
            ends = wilson(rater.rho, rater.n, t.ppf(0.975, rater.n - 1))
            assert (rater.rho_low, rater.rho_high) == pytest.approx(ends)
    (apart,) = found.differences
    n, off = moves[0].size, moves[0] - moves[1]
    half = t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1) * (off**2).sum())
    assert (apart.low, apart.high) == pytest.approx((apart.difference - half, apart.difference + half))


def test_an_interval_is_never_narrower_than_that_of_independent_comparisons(monkeypatch):
    """Where cases happen to weigh each other out: with 3 and 5 comparisons on each of 4 cases, as of 32."""
    contest, tested = SimpleNamespace(case=np.arange(4), n=np.full((4, 3), [3, 9, 5])), np.array([0, 2])
    monkeypatch.setattr(module, "_moves", lambda *_: np.array([0.01, -0.01, 0.01, -0.01]))
    found = module._interval(contest, tested, np.array([0.5, 0.7]), 0.95)
    assert found == wilson(0.6, 32.0, module._t(3, 0.95))


def test_numbers_depend_on_the_seed_only_and_not_on_names(six):
    one, two = (alternative_test(six, ["m0"], epsilon=0.065, seed=seed, n_resamples=200).machines[0] for seed in (0, 2))
    assert one.pass_share != two.pass_share and one.rho_low == two.rho_low
    renamed = replace(six, raters=tuple(f"x{n}" for n in range(8)))
    other = alternative_test(renamed, ["x6"], people=renamed.raters[:6], n_resamples=200).machines[0]
    same = alternative_test(six, ["m0"], people=six.raters[:6], n_resamples=200).machines[0]
    assert (same.rho_low, same.pass_share) == (other.rho_low, other.pass_share)


def test_benjamini_yekutieli_by_hand():
    p = np.array([0.001, 0.02, 0.011, 0.5])
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4
    assert benjamini_yekutieli(p, 0.05).tolist() == [True, False, 2 * 0.05 / (4 * harmonic) >= 0.011, False]
    assert benjamini_yekutieli(p, 0.2).tolist() == [True, True, True, False]
    assert benjamini_yekutieli(np.array([[0.9, 0.8], [0.01, 0.03]]), 0.05).tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"epsilon": 1.5}, "got 1.5"),
        ({"q": 0}, "false discovery rate is 0. It must be above 0"),
        ({"level": 1}, "level of the intervals is 1. It must be above 0 and below 1"),
        ({"n_resamples": 3}, "resamples"),
        ({"people": ["p0", "m0"]}, "as an AI rater and as a person"),
        ({"people": ["p0", "nobody"]}, "Could not find rater 'nobody'"),
    ],
)
def test_what_cannot_be_asked_is_refused(six, how, said):
    with pytest.raises(InputError, match=said):
        alternative_test(six, ["m0"], **how)


def test_what_cannot_be_tested_is_refused(six):
    with pytest.raises(NotApplicableError, match=r"anonymous.*add its predictions on the Reliability page"):
        alternative_test(replace(six, raters_identified=False), ["m0"])
    with pytest.raises(NotApplicableError, match="two people"):
        alternative_test(six, ["m0"], people=["p0"])
    with pytest.raises(InputError, match=r"score must be 'accuracy'.*got 'kappa'"):
        alternative_test(six, ["m0"], score="kappa")
    with pytest.raises(NotApplicableError, match="annotations are numbers"):
        alternative_test(numbers(six), ["m0"], score="overlap")
    with pytest.raises(InputError, match="no AI rater was named"):
        alternative_test(six, [])


def test_large_panels_are_cut_into_parts_without_a_change(six, monkeypatch):
    whole = alternative_test(six, ["m0"], n_resamples=100).machines[0]
    monkeypatch.setattr("core.machines.alternative_test._PAIRS", 50)
    monkeypatch.setattr("core.machines.alternative_test._CELLS", 1_000)
    parts = alternative_test(six, ["m0"], n_resamples=100).machines[0]
    assert (whole.rho, whole.rho_low, whole.pass_share) == (parts.rho, parts.rho_low, parts.pass_share)
