"""Where a machine differs from a decided panel, and agreement of people beside a machine's."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.machines.alternative_test import AlternativeTest, MachineStanding, alternative_test
from core.machines.annotation_scores import AnnotationScore
from core.machines.disagreements import QUARTILES, differences_from_panel, quartile_of
from core.machines.pair_agreement import pair_agreement
from core.machines.sentences import as_well_as, in_detail, outcome, verdict
from tests.core.machines.conftest import simulated


def made(votes, machine):
    """Cases with these classes of people, and the machine's class or None."""
    rows = [(c, r, k) for c, given in enumerate(votes) for r, k in enumerate(given)]
    n = max(map(len, votes))
    rows += [(c, n, k) for c, k in enumerate(machine) if k is not None]
    names = [*(f"p{r}" for r in range(n)), "m"]
    case, rater, answer = np.array(rows).T
    return Dataset.from_classes("made", [f"c{c}" for c in range(len(votes))], names, list("xyz"), case, rater, answer)


def test_only_cases_of_a_decided_panel_are_listed_the_most_certain_first():
    votes = [[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 0], [2, 2, 2, 2], [0, 0], [1]]
    data = made(votes, [1, 2, 0, 2, None, 0])
    found = differences_from_panel(data, "m", ("p0", "p1", "p2", "p3"), reliability=2.0)
    assert found.cases == ("c0", "c1", "c2", "c3")
    assert found.n_people.tolist() == [4, 4, 4, 4]
    assert [found.classes[k] for k in found.panel[[0, 2, 3]]] == ["x", "y", "z"]
    assert found.certainty[1] < 0.8 < found.certainty[2] < found.certainty[0] == found.certainty[3]
    assert found.to_frame()["case"].tolist() == ["c0", "c2"]
    assert [(one.value, one.n, one.agrees, one.people) for one in found.by_class] == [
        ("x", 1, 0.0, 1.0), ("y", 1, 0.0, 0.75), ("z", 1, 1.0, 1.0)
    ]  # fmt: skip
    assert sum(one.n for one in found.by_quartile) == 4 and found.by_quartile[0].value == QUARTILES[0]
    assert found.by_quartile[0].low <= found.by_quartile[0].agrees <= found.by_quartile[0].high


def test_a_value_at_a_quartile_is_in_the_lower_quarter_and_equal_values_are_in_one():
    assert quartile_of(np.array([5.0, 1.0, 3.0, 2.0, 4.0])).tolist() == [3, 0, 1, 0, 2]
    assert quartile_of(np.array([0.9, 0.9, 0.9, 0.2])).tolist() == [1, 1, 1, 0]


def test_an_undecided_panel_accuses_nobody():
    found = differences_from_panel(made([[0, 1], [1, 0]], [2, 2]), "m", ("p0", "p1"))
    assert found.n_decided == 0 and not found.order().size and found.by_class == ()
    one = made([[0], [1]], [0, 1])
    with pytest.raises(NotApplicableError, match="two people"):
        differences_from_panel(one, "m", ("p0",))
    scores = Dataset.from_scores("s", ["1"], ["a", "m"], [0, 0], [0, 1], [1, 2])
    with pytest.raises(NotApplicableError, match="scores"):
        differences_from_panel(scores, "m", ("a",))


def test_agreement_of_pairs_is_what_loops_give(six):
    people = six.raters[:6]
    found = pair_agreement(six, "m0", people, n_resamples=200)
    score = AnnotationScore(six)
    within, between = [], []
    for case in range(six.n_cases):
        by = {six.raters[six.rater[a]]: a for a in six.annotations_of(case)}
        mine = [by[name] for name in people if name in by]
        if len(mine) >= 2:
            pairs = np.array(list(itertools.combinations(mine, 2)))
            within.append(score.against(pairs[:, 0], pairs[:, 1], np.zeros(len(pairs), int), 1)[0])
            between.append(np.mean([six.answer[by["m0"]] == six.answer[a] for a in mine]))
    assert (found.n_cases, found.people) == (len(within), pytest.approx(np.mean(within)))
    assert found.machine_people == pytest.approx(np.mean(between))
    assert found.difference == pytest.approx(found.machine_people - found.people)
    assert found.low < found.difference < found.high
    assert pair_agreement(made([[0], [1]], [0, 1]), "m", ("p0",)).people is None


def test_machines_of_one_outcome_are_named_up_to_three_and_counted_beyond():
    def said(**machines):
        found = [
            MachineStanding(name, 60, (), (), 0.5, share > 0.5, 0.8, 0.7, 0.9, share)
            for name, share in machines.items()
        ]
        return verdict(AlternativeTest("accuracy", 0.2, 0.05, 0.95, ("p", "q", "r"), tuple(found), ()))

    assert said(a=0.99, b=0.98, c=0.97) == "“a”, “b” and “c” can replace a rater"
    assert said(a=0.99, b=0.98, c=0.97, d=0.96, e=0.5) == (
        "4 AI raters can replace a rater; the result is inconclusive for “e”"
    )
    assert said(a=0.01, b=0.02, c=0.03, d=0.04, e=0.05) == "5 AI raters cannot replace a rater"
    assert said(a=0.5, b=0.6, c=0.4, d=0.3) == "Results are inconclusive for 4 AI raters"


def test_sentences_are_no_surer_than_the_cases(six):
    good, bad = (alternative_test(six, [n], people=six.raters[:6], epsilon=e) for n, e in (("m0", 0.2), ("m1", 0.1)))
    assert outcome(good.machines[0]) == "passes"
    assert verdict(good) == "“m0” can replace a rater: it does as well as 6 of 6 raters"
    assert verdict(bad) == "“m1” cannot replace a rater: it does as well as 0 of 6 raters"
    both = alternative_test(six, ["m0", "m1"], epsilon=0.15)
    assert verdict(both) == "“m0” can replace a rater; “m1” cannot"
    assert as_well_as(good) == "The AI rater does as well as 6 of 6 raters"
    assert as_well_as(both) == "The best AI rater does as well as 6 of 6 raters, the worst as 0 of them"
    assert as_well_as(replace(both, by_chance=True)) == "AI raters compared with each rater"
    few = alternative_test(simulated(1, [0.9] * 3, [0.9], n_cases=2), ["m0"])
    assert verdict(few) == "Too few cases to determine whether “m0” can replace a rater"
    assert "not tested" in in_detail(few.machines[0], 0.2)
    noise = simulated(8, [0.6] * 4, [0.55], n_cases=45, present=1.0)
    unsure = alternative_test(noise, ["m0"], epsilon=0.1)
    assert 0.05 < unsure.machines[0].pass_share < 0.95
    assert verdict(unsure).startswith("Inconclusive: more cases are needed to determine whether “m0” can")
    (one,) = unsure.machines
    for more, said in ((164, " It would need a total of 164 cases like these to pass in 80% of samples."),
                       (60, "cases."),
                       (None, " More cases like these would not make it pass.")):  # fmt: skip
        told = in_detail(replace(one, passes=False, n_cases=60, n_to_pass=more), 0.1)
        assert told.endswith(said) and f"passes in {one.pass_share:.0%} of resamples of its 60 cases." in told
    for passes, share, said in (
        (True, 0.95, "passes"), (True, 0.94, "open"), (False, 0.06, "open"), (False, 0.05, "fails"),
        (None, None, "untested"),
    ):  # fmt: skip
        assert outcome(replace(one, passes=passes, pass_share=share)) == said


def test_agreement_on_few_cases_has_no_interval():
    found = pair_agreement(made([[0, 0], [1, 0]], [0, 1]), "m", ("p0", "p1"))
    assert (found.n_cases, found.people, found.machine_people, found.difference) == (2, 0.5, 0.75, 0.25)
    assert {found.people_low, found.machine_high, found.low, found.high} == {None}


def test_people_and_the_machine_have_the_intervals_of_their_own_agreement():
    votes = [[c % 3] * 3 for c in range(60)]
    machine = [given[0] if c % 4 else (given[0] + 1) % 3 for c, given in enumerate(votes)]
    found = pair_agreement(made(votes, machine), "m", ("p0", "p1", "p2"))
    assert (found.people, found.machine_people, found.difference) == (1.0, 0.75, -0.25)
    assert 0.93 < found.people_low < found.people_high == 1.0
    half = 1.96 * np.sqrt(0.75 * 0.25 / 62)  # of 60 cases and two more
    assert (found.machine_low, found.machine_high) == pytest.approx((0.75 - half, 0.75 + half), abs=0.03)
    assert (found.low, found.high) == pytest.approx((-0.25 - half, -0.25 + half), abs=0.03)
