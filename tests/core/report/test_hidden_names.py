"""A report with hidden names names no rater, AI rater, reader or reviewer, and its numbers are those of any report."""

from dataclasses import replace
from datetime import date
from types import SimpleNamespace

import pandas as pd
import pytest

from core import load_sample, read
from core.analysis_settings import compute_settings
from core.annotations.named_selection import Selection
from core.machines.marks import Machine
from core.report.build import OtherQuestion, build_report
from core.report.hidden_names import hidden, numbered
from core.review.assignments import Assignment, assignment_table
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.rules import admit
from core.review.sessions import Queued
from core.review.states import CaseReview, review_of
from tests.core.report.test_build import parsed, request_of

PEOPLE = ("Dr Adler", "Dr Birk", "Dr Cole")
MACHINES = ("lyra-1", "lyra-2")


def whole():
    rows = [f"{c},{r},{'xyz'[(c + (c * k % 4 == 1)) % 3]}" for c in range(40) for k, r in enumerate(PEOPLE + MACHINES)]
    return read("\n".join(["case,rater,class", *rows]).encode()).dataset


def reviewed(dataset) -> dict[str, CaseReview]:
    """Two cases, read by one reviewer with a note; a second opinion is asked for one."""
    x, found = Opinion.of_class("x"), {}
    for case in ("1", "2"):
        review = CaseReview(case)
        steps = [{"kind": "opinion", "opinion": x, "note": "Dr Birk was right"}, {"kind": "reveal", "panel": x}]
        steps.append(
            {"kind": "second_opinion", "whom": "Bobek Rys", "whom_visible": "blind"}
            if case == "2"
            else {"kind": "keep"}
        )
        for step in steps:
            event = admit(review, Draft(dataset=dataset.digest, case_id=case, reviewer="Adaline Ott", **step), 0)
            review = review_of(case, [*review.events, event])
        found[case] = review
    return found


@pytest.fixture
def request_with_names():
    dataset = whole()
    people = dataset.select(raters=list(PEOPLE))
    cases = tuple(map(Queued, people.cases[:3]))
    given = [
        Assignment(
            whom="Cemal Tan",
            title="for Cemal Tan",
            due=date(2020, 1, 2),
            number=1,
            dataset=people.digest,
            by="Miako Sol",
            cases=cases,
            at=10**15,
        )
    ]
    return request_of(
        people,
        selection=Selection(raters=PEOPLE),
        selected="Dr Adler, Dr Birk, Dr Cole",
        report=SimpleNamespace(),
        machines=MACHINES,
        with_machines=dataset,
        marks=tuple(Machine(name, "Vega", str(version)) for version, name in enumerate(MACHINES)),
        reviews=reviewed(people),
        assigned=assignment_table(given, []),
    )


def test_nobody_is_named_anywhere_in_the_file(request_with_names):
    sections = ["agreement", "raters", "machines", "reviews", "certainty", "data"]
    text = build_report(hidden(request_with_names)[0], sections).decode()
    for name in (*PEOPLE, *MACHINES, "Vega", "Adaline Ott", "Bobek Rys", "Cemal Tan", "Miako Sol", "was right"):
        assert name not in text, name
    for called in ("Rater 1", "Rater 3", "AI rater 2", "Reviewer 1", "Family 1"):
        assert called in text, called


def test_fits_in_the_settings_take_part_under_hidden_names(request_with_names):
    dataset = request_with_names.dataset
    request = replace(
        request_with_names, settings=compute_settings(dataset), selection=Selection(), selected="", reviews={}
    )
    assert request.settings.choice is not None and request.settings.averaged is not None
    sections = ["raters", "certainty"]
    named, numbers = (" ".join(parsed(build_report(one, sections)).text) for one in (request, hidden(request)[0]))
    assert named.count("Dr ") >= 3 and "Dr " not in numbers and len(named.split()) == len(numbers.split())


def test_numbers_do_not_change_and_a_rater_has_one_number_in_all_parts(request_with_names):
    veiled, _ = hidden(request_with_names)
    called = dict(zip(request_with_names.dataset.raters, veiled.dataset.raters, strict=True))
    beside = dict(zip(request_with_names.with_machines.raters, veiled.with_machines.raters, strict=True))
    assert called.items() <= beside.items()
    named, numbers = (" ".join(parsed(build_report(one, ["raters"])).text) for one in (request_with_names, veiled))
    for name, number in beside.items():
        named = named.replace(name, number)
    assert named.split() == numbers.split()


def test_numbers_are_the_same_the_next_time_and_do_not_follow_the_alphabet():
    dataset = load_sample("skin")
    called = numbered([dataset])
    assert called == numbered([dataset]) and sorted(called.values()) == sorted(f"Rater {n}" for n in range(1, 13))
    assert [called[name] for name in sorted(called)] != [f"Rater {n}" for n in range(1, 13)]


def test_a_rater_of_several_questions_has_the_same_number_in_each():
    first = whole().select(raters=list(PEOPLE))
    second = read(b"case,rater,class\n1,Dr Cole,p\n1,Dr New,q\n2,Dr Cole,q\n2,Dr New,q\n").dataset
    one, (other,) = hidden(request_of(first), [OtherQuestion("size", second, lambda token: request_of(second))])
    in_first = dict(zip(first.raters, one.dataset.raters, strict=True))
    in_second = dict(zip(second.raters, other.dataset.raters, strict=True))
    assert in_first["Dr Cole"] == in_second["Dr Cole"] and in_second["Dr New"] not in in_first.values()
    assert other.request(None).dataset.raters == other.dataset.raters


def test_what_is_asked_of_whom_is_left_out_and_the_rest_stays(request_with_names):
    table = hidden(request_with_names)[0].assigned
    assert isinstance(table, pd.DataFrame) and {"by", "whom", "title", "done_by"}.isdisjoint(table)
    assert table["n_cases"].tolist() == [3]
