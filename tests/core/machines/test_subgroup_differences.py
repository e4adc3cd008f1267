"""How far people lead a machine on parts of the cases: what loops over cases and people give."""

from dataclasses import replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.figures.machines import leads_by_part
from core.figures.theme import LIGHT
from core.machines.disagreements import QUARTILES, differences_from_panel
from core.machines.subgroup_differences import SPREADS, subgroup_differences
from tests.core.machines.test_disagreements import made

PEOPLE = tuple(f"p{n}" for n in range(6))


def lead_of(six, machine, cases):
    """W^h − W^f over every case and person, by hand."""
    found = []
    for case in cases:
        by = {six.raters[six.rater[a]]: six.answer[a] for a in six.annotations_of(case)}
        mine = {name: k for name, k in by.items() if name in PEOPLE}
        for name, own in mine.items():
            others = [k for other, k in mine.items() if other != name]
            if others:
                near, far = np.mean(np.equal(others, own)), np.mean(np.equal(others, by[machine]))
                found.append(int(near >= far) - int(far >= near))
    return np.mean(found), len(found)


def test_leads_are_those_of_loops_by_class_by_certainty_and_by_group(six):
    six = replace(six, case_group=tuple("ab"[case % 3 == 0] for case in range(six.n_cases)))
    found = subgroup_differences(six, "m0", PEOPLE, n_resamples=200)
    panel = differences_from_panel(six, "m0", PEOPLE)
    of_group = {name: [case for case in range(six.n_cases) if six.case_group[case] == name] for name in "ab"}
    by = {(one.by, one.value): one for one in found}
    assert [one.value for one in found if one.by == "group"] == ["a", "b"]
    assert [one.value for one in found if one.by == "certainty"] == [
        name for name in QUARTILES if any(one.value == name for one in panel.by_quartile)
    ]
    for name, cases in of_group.items():
        assert by["group", name].lead == pytest.approx(lead_of(six, "m0", cases)[0])
    for code, name in enumerate(six.classes):
        cases = [six.case_index(panel.cases[place]) for place in np.flatnonzero(panel.panel == code)]
        one = by["class", name]
        assert (one.n_cases, one.lead) == (len(cases), pytest.approx(lead_of(six, "m0", cases)[0]))
        assert one.low < one.lead < one.high
    assert sum(one.n_cases for one in found if one.by == "class") == len(panel.cases)


def test_a_machine_that_is_wrong_on_one_group_alone_trails_there_alone():
    votes = [[0, 0, 0, 1], [1, 1, 1, 1]] * 40
    data = made(votes, [given[0] if case < 40 else 2 for case, given in enumerate(votes)])
    data = replace(data, case_group=("early",) * 40 + ("late",) * 40)
    early, late = (one for one in subgroup_differences(data, "m", PEOPLE[:4]) if one.by == "group")
    assert early.high <= 0 < 0.5 < late.low and late.rho < 0.2 < early.rho


def test_scores_are_parted_by_how_far_people_are_apart():
    rng = np.random.default_rng(0)
    spread = np.tile([0.1, 3.0], 40)  # no case is like the one before it
    said = rng.normal(0, 1, 80)[:, None] + spread[:, None] * rng.normal(size=(80, 4))
    said[:, 3] = said[:, :3].mean(axis=1) + np.where(spread < 1, 2.0, 0.0)
    case, rater = np.divmod(np.arange(320), 4)
    names = ["p0", "p1", "p2", "m"]
    data = Dataset.from_scores("s", [f"c{n}" for n in range(80)], names, case, rater, said.ravel())
    found = subgroup_differences(data, "m", names[:3])
    assert [one.value for one in found] == list(SPREADS) and {one.by for one in found} == {"spread"}
    assert found[0].lead == 1 and found[3].high < 0
    assert 0.6 < found[0].low < 0.85  # 20 of 20 are surely no more than 0.84 of all by Wilson, a lead of 0.68
    with pytest.raises(NotApplicableError, match="two people"):
        subgroup_differences(made([[0], [1]], [0, 1]), "m", ("p0",))


def test_parts_of_few_cases_have_no_interval_and_those_without_a_difference_one_that_allows_for_it():
    votes = [[0, 0, 0]] * 9 + [[1, 1, 1]] * 10 + [[2, 2, 2]] * 200
    by = {one.value: one for one in subgroup_differences(made(votes, [given[0] for given in votes]), "m", PEOPLE[:3])}
    nine, ten, many = (by[name] for name in made(votes, [0] * len(votes)).classes)
    assert (nine.n_cases, nine.lead, nine.low, nine.high) == (9, 0.0, None, None)
    assert ten.lead == 0 and ten.high >= 0.2 and ten.low <= -0.2
    assert 0.01 <= many.high < 0.05
    figure = leads_by_part([nine, ten, many], 0.2, LIGHT, "t")
    assert list(figure.data[0].marker.symbol) == ["circle-open", "circle-open", "circle"]
    assert np.isnan(figure.data[0].error_x.array).tolist() == [True, False, False]


def test_the_spread_of_a_case_is_about_the_mean_of_its_people_however_many_they_are():
    apart = [[-0.1, 0.1], [-1.0, 1.0], [-1.1, 1.1, -1.1, 1.1], [-3.0, 3.0]]
    rows = [(case, rater, value) for case, given in enumerate(apart) for rater, value in enumerate(given)]
    rows += [(case, 4, 0.0 if case < 2 else 50.0) for case in range(4)]
    case, rater, value = map(np.array, zip(*rows, strict=True))
    data = Dataset.from_scores("s", [f"c{n}" for n in range(4)], [*PEOPLE[:4], "m"], case, rater, value)
    found = subgroup_differences(data, "m", PEOPLE[:4])
    assert [one.value for one in found] == list(SPREADS)
    assert [one.lead > 0 for one in found] == [False, False, True, True]
