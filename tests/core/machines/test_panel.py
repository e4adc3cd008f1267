"""Worth of a panel of AI raters: each formula against loops, and the truth that mistakes must not bend."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from core.agreement.intervals import IntervalEstimate
from core.analyses.blocks import Words
from core.analyses.panel import PanelOptions, present
from core.annotations.rater_codes import renamed_raters
from core.errors import InputError, NotApplicableError
from core.machines.joint_truth import JudgedAnswers, one_rater, posterior, two_raters
from core.machines.panel import PanelMember, effective_number, panel_worth, phi
from tests.core.machines.panel_simulated import dataset_of, simulated

FEW = {"n_resamples": 40}


def matrix(dataset, names):
    """First answers by loops, -1 if there is none."""
    found = np.full((dataset.n_cases, len(names)), -1)
    for annotation, case in enumerate(dataset.case_of_annotation):
        name = dataset.raters[dataset.rater[annotation]]
        if name in names and found[case, names.index(name)] < 0:
            found[case, names.index(name)] = dataset.answer[annotation]
    return found


def vote_by_loops(answers, truth):
    """Share of the truth among the classes named most often, case by case."""
    found = []
    for row, z in zip(answers, truth, strict=True):
        said = [answer for answer in row.tolist() if answer >= 0]
        most = max(said.count(k) for k in set(said))
        top = [k for k in set(said) if said.count(k) == most]
        found.append((z in top) / len(top))
    return np.mean(found)


def mean_phi_by_loops(answers, truth):
    errors = (answers != truth[:, None]).astype(float)
    return np.mean([np.corrcoef(errors[:, j], errors[:, k])[0, 1] for j, k in combinations(range(answers.shape[1]), 2)])


@pytest.fixture(scope="module")
def shared():
    return simulated(4, 300, 0.5, n_classes=3)


def test_effective_number_is_cut_to_1_and_n():
    assert effective_number(np.array([0.0, 1.0, -0.5, 0.2]), 6).tolist() == pytest.approx([6, 1, 6, 3])


def test_phi_of_certain_errors_is_the_correlation_coefficient():
    first, second = np.random.default_rng(0).integers(0, 2, (2, 50)).astype(float)
    found = phi(first, second, first * second, np.ones((1, 50)))
    assert found[0] == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert np.isnan(phi(np.zeros(50), second, np.zeros(50), np.ones((1, 50)))[0])


def test_panel_worth_against_gold_is_that_of_loops(shared):
    dataset, ai = shared
    found, answers = panel_worth(dataset, ai, truth="gold", **FEW), matrix(dataset, ai)
    assert found.correlation.value == pytest.approx(mean_phi_by_loops(answers, dataset.gold))
    assert found.vote.value == pytest.approx(vote_by_loops(answers, dataset.gold))
    for place, one in enumerate(found.members):
        assert one.accuracy.value == pytest.approx((answers[:, place] == dataset.gold).mean())
        rest = np.delete(answers, place, axis=1)
        assert one.vote_without.value == pytest.approx(vote_by_loops(rest, dataset.gold))
        assert one.change.value == pytest.approx(one.vote_without.value - found.vote.value)
        assert one.n_effective_without == pytest.approx(5 / (1 + 4 * mean_phi_by_loops(rest, dataset.gold)))


def test_panel_worth_against_the_majority_leaves_ties_out(shared):
    dataset, ai = shared
    people = matrix(dataset, [name for name in dataset.raters if name not in ai])
    kept, truth = [], []
    for case, row in enumerate(people):
        counts = np.bincount(row, minlength=3)
        if (counts == counts.max()).sum() == 1:
            kept.append(case)
            truth.append(counts.argmax())
    found = panel_worth(dataset, ai, truth="majority", **FEW)
    answers = matrix(dataset, ai)[kept]
    assert 0 < found.n_cases == len(kept) < dataset.n_cases
    assert found.correlation.value == pytest.approx(mean_phi_by_loops(answers, np.array(truth)))
    assert found.vote.value == pytest.approx(vote_by_loops(answers, truth))


def test_people_are_judged_by_the_majority_of_the_others(shared):
    """With the votes of the pair in the majority φ is biased below 0."""
    dataset, ai = shared
    found = panel_worth(dataset, ai, truth="majority", **FEW)
    people = matrix(dataset, [name for name in dataset.raters if name not in ai])
    values = []
    for j, k in combinations(range(3), 2):
        (other,) = {0, 1, 2} - {j, k}
        errors = people[:, [j, k]] != people[:, [other]]
        values.append(np.corrcoef(errors.T)[0, 1])
    assert found.people_effective.value == pytest.approx(3 / (1 + 2 * np.mean(values)))


def test_posterior_is_that_of_loops():
    """Expectation-maximisation with the likelihood of people fixed, a pair of answers as one."""
    rng = np.random.default_rng(5)
    n, n_classes = 40, 3
    likelihood, code = rng.random((n, n_classes)), rng.integers(0, 4, n)
    code[:4] = range(4)
    judged = JudgedAnswers(code, np.full((4, n_classes), 0.3))
    truth, table = posterior(judged, likelihood, np.ones((1, n)))
    cells = np.ones((4, n_classes))
    for _ in range(2_000):
        again = np.full((4, n_classes), 0.3)
        for case in range(n):
            p = cells[code[case]] * likelihood[case]
            again[code[case]] += p / p.sum()
        cells = again
    np.testing.assert_allclose(table[:, 0].T, cells, atol=1e-2)
    p = cells[code] * likelihood
    np.testing.assert_allclose(truth[:, 0].T, p / p.sum(axis=1, keepdims=True), atol=1e-3)


def test_two_raters_are_beforehand_independent_given_the_truth():
    first, second = np.array([0, 0, 1, 1, 0]), np.array([0, 1, 1, 0, 0])
    tables = (np.array([[8.0, 1.0], [2.0, 4.0]]), np.array([[5.0, 2.0], [5.0, 3.0]]))
    judged = two_raters(first, second, tables, 2)
    share, prevalence = [table / table.sum(axis=0) for table in tables], np.array([10, 5]) / 15
    pairs = list(product((0, 1), (0, 1)))
    assert judged.code.tolist() == [pairs.index(pair) for pair in zip(first, second, strict=True)]
    expected = [[0.5 * prevalence[z] * share[0][a, z] * share[1][b, z] for z in (0, 1)] for a, b in pairs]
    assert judged.prior == pytest.approx(np.array(expected))
    assert one_rater(first, 2).prior == pytest.approx(np.full((2, 2), 0.1))


def test_vote_if_independent_is_the_binomial_one():
    dataset, ai = simulated(2, 400, 0.5)
    found = panel_worth(dataset, ai[:3], truth="gold", **FEW)
    answers = matrix(dataset, ai[:3])
    chance = 0.0
    for z in (0, 1):
        right = [(answers[dataset.gold == z, j] == z).mean() for j in range(3)]
        for hits in product((0, 1), repeat=3):
            p = np.prod([a if hit else 1 - a for a, hit in zip(right, hits, strict=True)])
            chance += (dataset.gold == z).mean() * p * (sum(hits) > 1)
    assert found.independent == pytest.approx(chance, abs=3 * np.sqrt(chance * (1 - chance) / 20_000) + 0.002)
    assert found.shortfall.value == pytest.approx(found.independent - found.vote.value)


def test_the_best_rater_is_chosen_on_other_cases():
    """Of equally good raters the best of a sample looks better than they are."""
    best, chosen = [], []
    for seed in range(12):
        found = panel_worth(*simulated(seed, 150), truth="gold", n_resamples=20)
        best.append(max(one.accuracy.value for one in found.members))
        chosen.append(found.best_accuracy.value)
    assert np.mean(best) > 0.82
    assert np.mean(chosen) == pytest.approx(0.8, abs=3 * np.std(chosen) / np.sqrt(12))


@pytest.mark.parametrize(
    ("shared", "joint", "majority", "accuracy"), [(0.0, 5.56, 3.19, 0.798), (0.5, 2.40, 1.95, 0.799)]
)
def test_the_joint_truth_sees_mistakes_of_people_and_of_the_panel(shared, joint, majority, accuracy):
    """Six count as 5.98 or 2.42: means of 12 sets are within three of their standard errors of what other sets gave."""
    found = [panel_worth(*simulated(100 + seed, 600, shared), n_resamples=20) for seed in range(12)]
    for values, wanted in (
        ([one.n_effective.value for one in found], joint),
        ([one.against_majority.value for one in found], majority),
        ([np.mean([member.accuracy.value for member in one.members[:6]]) for one in found], accuracy),
    ):
        assert np.mean(values) == pytest.approx(wanted, abs=3 * np.std(values, ddof=1) / np.sqrt(12))


def test_raters_who_cannot_be_judged_are_left_out_with_the_reason():
    dataset, ai = simulated(7, 120)
    answers = matrix(dataset, list(dataset.raters))
    answers[:, 3] = dataset.gold
    answers[20:, 4] = -1
    dataset, ai = dataset_of(answers, 3, dataset.gold)
    found = panel_worth(dataset, ai, truth="gold", **FEW)
    assert dict(found.left_out) == {
        "AI 0": "correct on every case",
        "AI 1": "20 cases with a known truth, but at least 30 are needed",
    }
    assert found.raters == ("AI 2", "AI 3", "AI 4", "AI 5")


def test_missing_answers_and_families_are_allowed_for():
    dataset, ai = simulated(8, 200, 0.5)
    answers = matrix(dataset, list(dataset.raters))
    answers[:60, 5], answers[100:, 8] = -1, -1
    dataset, ai = dataset_of(answers, 3, dataset.gold)
    found = panel_worth(dataset, ai, truth="gold", families={"A": ai[:2], "all": ai}, **FEW)
    assert found.vote.value == pytest.approx(vote_by_loops(answers[:, 3:], dataset.gold))
    (family,) = [one for one in found.members if one.is_family]
    assert family.name == "A" and family.vote_without.value == pytest.approx(
        vote_by_loops(answers[:, 5:], dataset.gold)
    )


def test_names_of_raters_change_nothing(shared):
    dataset, ai = shared
    called = {name: f"model {place}" for place, name in enumerate(dataset.raters)}
    other = renamed_raters(dataset, [called[name] for name in dataset.raters])
    one, two = panel_worth(dataset, ai, **FEW), panel_worth(other, [called[name] for name in ai], **FEW)
    assert (one.n_effective, one.vote, one.gain) == (two.n_effective, two.vote, two.gain)


def test_the_order_of_adding_begins_with_the_best_and_ends_with_the_vote(shared):
    dataset, ai = shared
    found = panel_worth(dataset, ai, truth="gold", **FEW)
    assert found.added[0] == (found.best, pytest.approx(max(one.accuracy.value for one in found.members)))
    assert sorted(name for name, _ in found.added) == sorted(ai)
    assert found.added[-1][1] == pytest.approx(found.vote.value)


def test_words_claim_a_difference_only_if_the_interval_does():
    apart = panel_worth(*simulated(1, 600), truth="gold")
    assert apart.gain.low > 0 and "The vote is better than the best member" in apart.words()
    same = panel_worth(*simulated(1, 120, 0.95), truth="gold")
    assert same.gain.low < 0 < same.gain.high and "do not clearly differ" in same.words()


def test_what_cannot_be_judged_is_refused_in_words():
    dataset, ai = simulated(0, 60)
    with pytest.raises(NotApplicableError, match="the panel has fewer than two raters"):
        panel_worth(dataset, [])
    with pytest.raises(NotApplicableError, match="all raters are AI raters"):
        panel_worth(dataset, dataset.raters)
    with pytest.raises(InputError, match="The truth"):
        panel_worth(dataset, ai, truth="nobody")
    one_each = dataset.select(raters=[*ai, "person 0"])
    with pytest.raises(NotApplicableError, match="people's error rates"):
        panel_worth(one_each, ai)
    alone = panel_worth(one_each, ai, truth="majority", **FEW)
    assert alone.n_cases == 60 and alone.words().startswith("Compared with the only person, 6 AI raters")
    assert alone.people_effective is None
    answers = np.random.default_rng(1).integers(0, 3, (200, 9))
    noise, ai = dataset_of(answers, 3, n_classes=3)
    with pytest.raises(NotApplicableError, match="agreement between people is not clearly better than chance"):
        panel_worth(noise, ai)
    panel_worth(noise, ai, truth="majority", **FEW)


def test_shared_mistakes_cost_something_only_if_the_interval_says_so():
    def said(shared):
        found = panel_worth(*simulated(3, 300, shared), truth="gold")
        return found.shortfall, " ".join(
            one.plain for one in present(found, None, PanelOptions()) if isinstance(one, Words)
        )

    shortfall, words = said(0.6)
    assert shortfall.low > 0 and "Shared mistakes cost " in words
    shortfall, words = said(0.0)
    assert shortfall.low <= 0 and "The vote is not clearly worse than that: shortfall" in words


def test_the_note_names_only_those_without_whom_the_vote_clearly_changes():
    dataset, ai = simulated(3, 150, 0.5)
    found = panel_worth(dataset, ai, truth="gold", **FEW)

    def said(*changes):
        members = tuple(
            PanelMember(name, family, None, None, IntervalEstimate(0.8, 0.7, 0.9), IntervalEstimate(*change), 2.0)
            for name, family, change in changes
        )
        words = [
            one for one in present(replace(found, members=members), dataset, PanelOptions()) if isinstance(one, Words)
        ]
        return next(one.plain for one in words if "without" in one.plain or "Leaving out" in one.plain)

    none = ("a", False, (0.02, -0.01, 0.05))
    assert said(none) == "Leaving out any one member or family does not clearly change the accuracy of the vote."
    assert said(none, ("b", False, (0.04, 0.01, 0.07)), ("F", True, (-0.1, -0.2, -0.05))) == (
        "Accuracy of the vote without F (family): 80%, difference −10 points (−20 to −5); without b: 80%, difference "
        "4 points (1 to 7)."
    )
