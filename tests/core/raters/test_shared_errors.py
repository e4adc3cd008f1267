"""Raters who share errors: the sums against loops, planted copiers found, independent raters left alone."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.raters import shared_errors as module
from core.raters.shared_errors import can_judge, one_of_a_family, shared_errors
from tests.core.machines.conftest import simulated


def copied(data, copier, source, share, seed):
    """The copier says what the source says on a share of their common cases."""
    rng, answer = np.random.default_rng(seed), data.answer.copy()
    at = {(case, rater): a for a, (case, rater) in enumerate(zip(data.case_of_annotation, data.rater, strict=True))}
    for (case, rater), a in at.items():
        if rater == copier and (case, source) in at and rng.random() < share:
            answer[a] = data.answer[at[case, source]]
    return replace(data, answer=answer)


@pytest.fixture(scope="module")
def five():
    return simulated(1, [0.75] * 5, [], n_cases=250, n_classes=3)


def test_residuals_and_correlations_are_what_loops_give(five):
    found = shared_errors(five, n_replicates=20)
    fit = DawidSkene("pooled").fit(five)
    said = np.full((five.n_cases, 5), -1)
    said[five.case_of_annotation, five.rater] = five.answer
    for j, other in ((0, 1), (2, 4)):
        excess = variance = room = 0.0
        for case in range(five.n_cases):
            if said[case, j] >= 0 and said[case, other] >= 0:
                same = (fit.confusion[j] * fit.confusion[other]).sum(axis=1)
                e = float(fit.class_probability[case] @ same)
                excess += (said[case, j] == said[case, other]) - e
                variance, room = variance + e * (1 - e), room + 1 - e
        assert found.residual[j, other] == pytest.approx(excess / np.sqrt(variance))
        assert found.correlation[[j, other], [other, j]] == pytest.approx(excess / room)
    assert (np.diag(found.correlation) == 1).all()
    expected = 25 / np.maximum(found.correlation, 0).sum()
    assert found.n_effective == pytest.approx(expected)


def test_p_is_of_the_excess_over_what_made_up_annotations_have_on_average(five, monkeypatch):
    """What is inferred from few judges takes some agreement for right: made-up ones share as many errors."""
    made = 7 + 3 * np.random.default_rng(5).normal(size=(40, 5, 5))
    monkeypatch.setattr(module, "_replicates", lambda *_: made)
    found = shared_errors(five, n_replicates=40)
    fit = DawidSkene("pooled").fit(five)
    said = np.full((five.n_cases, 5), -1)
    said[five.case_of_annotation, five.rater] = five.answer
    excess = sum(
        float(said[case, 1] == said[case, 3])
        - float(fit.class_probability[case] @ (fit.confusion[1] * fit.confusion[3]).sum(axis=1))
        for case in range(five.n_cases)
        if said[case, 1] >= 0 and said[case, 3] >= 0
    )
    assert found.p[1, 3] == pytest.approx(norm.sf(excess, made[:, 1, 3].mean(), made[:, 1, 3].std(ddof=1)), abs=1e-9)


def test_the_truth_of_what_a_fit_makes_up_is_inferred_from_those_alone_who_judge(five):
    """Where nobody does it is the prevalence on every case, and the excess a whole number less one number a case."""
    fit = DawidSkene("pooled").fit(five)
    said = np.full((five.n_cases, 5), -1)
    said[five.case_of_annotation, five.rater] = five.answer
    nobody = np.zeros(said.shape, bool)
    found = module._replicates(said, fit.prevalence, fit.confusion, nobody, 3, 0, None)
    here = (said >= 0).astype(int)
    expected = np.einsum("z,jzk,lzk->jl", fit.prevalence, fit.confusion, fit.confusion) * (here.T @ here)
    off = ~np.eye(5, dtype=bool)
    agreed = (found + expected)[:, off]
    assert agreed == pytest.approx(np.round(agreed), abs=1e-6) and (agreed > 0).all()


def test_a_planted_copier_is_found_and_independent_raters_are_not(five):
    assert shared_errors(five).pairs() == []
    found = shared_errors(copied(five, 4, 3, 0.7, 2))
    assert found.pairs() == [(3, 4)]
    assert found.correlation[3, 4] > 0.4 and found.n_effective < 4.7
    frame = found.to_frame()
    assert frame.iloc[0][["rater", "other"]].tolist() == ["p3", "p4"] and frame["shares"].sum() == 1


def test_machines_take_no_part_in_the_fit_and_a_family_is_found():
    data = simulated(3, [0.8] * 5, [0.75, 0.75, 0.75], n_cases=250, n_classes=3)
    data = copied(data, 6, 5, 0.7, 4)
    found = shared_errors(data, machines=("m0", "m1", "m2"))
    assert found.pairs() == [(5, 6)] and found.machine.tolist() == [False] * 5 + [True] * 3
    people = shared_errors(data.select(raters=data.raters[:5]))
    assert found.n_effective == pytest.approx(people.n_effective) and found.n_people == 5
    assert np.allclose(found.residual[:5, :5], people.residual, equal_nan=True)


def test_copiers_are_not_taken_for_right_so_that_nobody_else_seems_to_share_errors(monkeypatch):
    data = copied(simulated(1, [0.8, 0.75, 0.7, 0.65, 0.8], [0.75], n_cases=500), 4, 0, 0.7, 2)
    found = shared_errors(data, machines=("m0",), n_replicates=60)
    assert found.pairs() == [(0, 4)]
    monkeypatch.setattr(module, "families", lambda data: np.arange(data.n_raters))
    found = shared_errors(data, machines=("m0",), n_replicates=60)
    assert found.pairs() == [(0, 4)]  # whom the product of agreements names first
    monkeypatch.setattr(module, "_likest", lambda data: [])
    bent = shared_errors(data, machines=("m0",), n_replicates=60)
    assert len(bent.pairs()) > 5 and bent.correlation[0, 4] < found.correlation[0, 4]


def test_of_a_family_one_annotation_a_case_stays_and_of_others_all(five):
    family = np.array([0, 1, 2, 1, 1])
    some = one_of_a_family(five, family, 3)
    kept = list(zip(some.case_of_annotation.tolist(), some.rater.tolist(), some.answer.tolist(), strict=True))
    whole = list(zip(five.case_of_annotation.tolist(), five.rater.tolist(), five.answer.tolist(), strict=True))
    assert [row for row in kept if row[1] in (0, 2)] == [row for row in whole if row[1] in (0, 2)]
    assert sorted(row[0] for row in kept if row[1] in (1, 3, 4)) == sorted({r[0] for r in whole if r[1] in (1, 3, 4)})
    assert set(kept) < set(whole) and {row[1] for row in kept} == set(range(5))
    assert one_of_a_family(five, np.arange(5), 3) is five
    assert (one_of_a_family(five, family, 3).rater == some.rater).all()
    assert can_judge(some, family) and can_judge(five, np.arange(5))
    two = np.array([0, 0, 0, 3, 3])
    assert not can_judge(one_of_a_family(five, two, 0), two)


def test_few_common_cases_and_odd_data_claim_nothing(five):
    with pytest.raises(NotApplicableError, match="no two raters share at least 30 cases"):
        shared_errors(simulated(1, [0.8] * 3, [], n_cases=20))
    with pytest.raises(NotApplicableError, match="named raters"):
        shared_errors(replace(five, raters_identified=False))
    unanimous = shared_errors(simulated(1, [1.0] * 3, [], n_cases=60, present=1.0))
    assert unanimous.pairs() == []


def test_of_two_people_nobody_can_tell_who_is_wrong(five):
    with pytest.raises(NotApplicableError, match="three people"):
        shared_errors(five, machines=("p0", "p1", "p2"))


def test_a_machine_with_few_annotations_is_among_the_raters_of_many(five, monkeypatch):
    monkeypatch.setattr(module, "MOST_RATERS", 4)
    kept = np.flatnonzero((five.rater != 4) | (five.case_of_annotation < 60))
    few = Dataset.from_classes(
        "few", five.cases, five.raters, five.classes, five.case_of_annotation[kept], five.rater[kept], five.answer[kept]
    )
    assert "p4" not in shared_errors(few, n_replicates=20).raters
    found = shared_errors(few, machines=("p4",), n_replicates=20)
    assert "p4" in found.raters and len(found.raters) == 4 and found.machine.sum() == 1
