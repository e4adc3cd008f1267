"""Versions of a machine on a fixed set: differences by hand, and a sentence that says drift only where it is."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.figures.machines import versions_in_order
from core.figures.theme import LIGHT
from core.machines.marks import Machine
from core.machines.versions import VersionChange, VersionDrift, VersionStanding, in_order, version_drift
from tests.core.machines.conftest import simulated

PEOPLE = tuple(f"p{n}" for n in range(4))


def family(*versions):
    return [Machine(f"m{n}", "Lyra", version) for n, version in enumerate(versions)]


@pytest.fixture(scope="module")
def three():
    """A version of 0.6, the same once more, and one of 0.85."""
    data = simulated(4, [0.8] * 4, [0.6, 0.6, 0.85], n_cases=300)
    first, second = (np.flatnonzero(data.rater == data.raters.index(name)) for name in ("m0", "m1"))
    answer = data.answer.copy()
    answer[second] = answer[first]
    return replace(data, answer=answer)


def test_agreement_and_differences_are_those_of_loops(three):
    (found,) = version_drift(three, family("1", "1.5", "2"), PEOPLE, n_resamples=500)
    near = np.full((three.n_cases, 3), np.nan)
    said = {(c, r): a for c, r, a in zip(three.case_of_annotation, three.rater, three.answer, strict=True)}
    for case in range(three.n_cases):
        others = [said[case, r] for r in range(4) if (case, r) in said]
        if others:
            near[case] = [np.mean([said[case, 4 + v] == one for one in others]) for v in range(3)]
    told = np.isfinite(near[:, 0])
    assert found.n_cases == told.sum()
    assert [one.agreement for one in found.versions] == pytest.approx(near[told].mean(axis=0))
    apart = near[told, 2] - near[told, 1]
    step = found.changes[1]
    assert step.difference == pytest.approx(apart.mean())
    assert (step.nearer, step.farther) == ((apart > 1e-9).sum(), (apart < -1e-9).sum())
    changed = [said[case, 6] != said[case, 5] for case in np.flatnonzero(told)]
    assert (step.n_changed, step.changed) == (sum(changed), np.mean(changed))
    half = 2.394 * apart.std() / np.sqrt(told.sum())  # a third of 0.05 over two sides
    assert (step.low, step.high) == pytest.approx((apart.mean() - half, apart.mean() + half), abs=0.02)


def test_drift_is_said_where_it_is_and_its_end_is_compared_with_its_beginning(three):
    (found,) = version_drift(three, family("1", "1.5", "2"), PEOPLE)
    same, rise, over_all = found.changes
    assert (same.difference, same.n_changed, same.sure) == (0.0, 0, False)
    assert rise.sure and over_all.sure and (over_all.machine, over_all.before) == ("m2", "m0")
    words = found.words()
    assert "rose by" in words and "from m1 to m2" in words and "from m0 to m1" not in words.split("Annotations")[0]
    figure = versions_in_order(found, LIGHT, "t")
    assert list(figure.data[0].y) == [one.agreement for one in found.versions]
    assert list(figure.data[0].error_y.array) == [one.high - one.agreement for one in found.versions]
    assert figure.layout.shapes[0].y0 == found.people and list(figure.layout.xaxis.ticktext) == ["m0", "m1", "m2"]


def test_without_drift_nothing_surer_is_said_than_what_cannot_be_ruled_out():
    wrong = 0
    for seed in range(20):
        data = simulated(seed, [0.8] * 3, [0.75, 0.75, 0.75], n_cases=120)
        (found,) = version_drift(data, family("1", "2", "3"), PEOPLE[:3], n_resamples=300)
        assert ("no version clearly" in found.words()) == (not any(one.sure for one in found.changes))
        wrong += any(one.sure for one in found.changes)
    assert wrong <= 4  # 0.05 for all comparisons together: more than 4 of 20 has probability 0.003


def test_same_annotations_few_cases_and_unknown_order_are_said(three):
    (same,) = version_drift(three, family("1", "1.5"), PEOPLE)
    assert same.words() == f"All versions of Lyra give the same annotations on {same.n_cases} cases."
    few = three.select(cases=three.cases[:20])
    (found,) = version_drift(few, family("1", "1.5"), PEOPLE)
    assert found.versions == () and "have annotations by all versions" in found.words()
    assert version_drift(three, [Machine("m0", "Lyra"), Machine("m1", "Lyra"), Machine("m2")], PEOPLE) == ()
    versions = ["10", "4o", "4", "3.5", "4O", ""]
    ordered, left_out = in_order([Machine(name, "F", one) for name, one in zip("abcdef", versions, strict=True)])
    assert [one.version for one in ordered] == ["3.5", "4", "10"]
    assert left_out == "b and e have the same version; f has no version"
    assert [one.version for one in in_order(family("4o", "4", "3.5"))[0]] == ["3.5", "4", "4o"]


def test_versions_are_in_order_by_numbers_first_and_numbers_by_size_and_words_by_letters():
    order = ["3.5", "4", "4.1", "4.10", "4o", "4o-mini", "10", "2024-05-13", "mini", "turbo", "turbo-1", "turbo-10"]
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(order).tolist()
        assert [one.version for one in in_order(family(*shuffled))[0]] == order


def test_every_comparison_has_its_part_of_the_error_and_there_are_as_many_as_are_made(three):
    """Two versions are compared once, three are compared three times: 0.95 of one is 0.85 of three."""
    versions = family("1", "1.5", "2")
    (once,) = version_drift(three, versions[1:], PEOPLE, level=0.95, n_resamples=500)
    (thrice,) = version_drift(three, versions, PEOPLE, level=0.85, n_resamples=500)
    (alone,), (_, step, _) = once.changes, thrice.changes
    for name in ("low", "high", "changed_low", "changed_high"):
        assert getattr(alone, name) == pytest.approx(getattr(step, name)), name


def test_annotations_that_are_equal_are_unchanged_under_distances_too(three):
    versions = family("1", "1.5", "2")
    (found,) = version_drift(three, versions, PEOPLE, n_resamples=100)
    (far,) = version_drift(three, versions, PEOPLE, score="rmse", n_resamples=100)
    assert [one.n_changed for one in far.changes] == [one.n_changed for one in found.changes]
    assert far.changes[0].n_changed == 0 < far.changes[1].n_changed < far.n_cases


def test_the_sentence_lists_the_steps_alone_and_rules_out_no_more_than_the_farther_end():
    def change(machine, before, low, high, changed):
        return VersionChange(machine, before, (low + high) / 2, low, high, 5, changed, 0.0, 1.0, 2, 3)

    versions = tuple(VersionStanding(name, name, 0.5, 0.4, 0.6) for name in "abc")
    changes = (change("b", "a", -0.31, 0.07, 0.1), change("c", "b", -0.02, 0.2, 0.25), change("c", "a", -0.6, 0.4, 0.5))
    assert VersionDrift("F", "accuracy", 40, versions, changes, None, 0.95).words() == (
        "F: no version clearly differs from the previous one in agreement with people on 40 cases. A difference of "
        "0.31 cannot be ruled out. Annotations changed on 10% of cases between a and b and 25% between b and c."
    )


def changed_for_the_better(n_better, n_cases=60):
    """Two people who say 0 everywhere; the first version errs on some cases, the second on none."""
    case, rater = np.divmod(np.arange(n_cases * 4), 4)
    answer = ((rater == 2) & (case < n_better)).astype(int)
    cases = [f"c{place}" for place in range(n_cases)]
    return Dataset.from_classes("d", cases, ["p0", "p1", "m0", "m1"], ["yes", "no"], case, rater, answer)


def test_a_few_changes_for_the_better_are_no_sure_rise_and_enough_of_them_are():
    """By signs four of four have p = 0.125, six of six 0.03."""
    found = {n: version_drift(changed_for_the_better(n), family("1", "2"), PEOPLE[:2])[0] for n in (0, 4, 6)}
    assert "no version clearly" in found[4].words() and "rose by" in found[6].words()
    assert found[4].changes[0].low <= 0 < found[4].changes[0].difference < found[4].changes[0].high
    (same,) = found[0].changes
    assert same.low < same.difference == 0 < same.high and not same.sure


def test_changes_that_go_either_way_by_chance_are_seldom_called_a_sure_one():
    """Four changes, each for the better or the worse: at 0.05 more than 26 of 300 have a probability of 0.003."""
    sure, rng = 0, np.random.default_rng(5)
    for _ in range(300):
        data = changed_for_the_better(0)
        answer = data.answer.copy().reshape(60, 4)
        answer[np.arange(4), 2 + rng.integers(0, 2, 4)] = 1
        (found,) = version_drift(replace(data, answer=answer.ravel()), family("1", "2"), PEOPLE[:2], n_resamples=300)
        sure += found.changes[0].sure
    assert sure <= 26
