"""Sentences that only some data bring about, with the numbers, the names and the order that they were given."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from core import read
from core.analyses.agreement import AGREEMENT
from core.analyses.blocks import Words
from core.analyses.cases import labels as label_sets
from core.analyses.cases import score
from core.analyses.raters import planning, trust
from core.annotations.named_selection import Selection
from core.certainty.score_trust import ScoreTrust, score_trust
from core.figures.theme import LIGHT
from core.ingest.answer_rules import Treatment
from core.ingest.column_mapping import Mapping
from core.ingest.samples import load_sample
from core.ingest.saved_mappings import Choices
from core.models.dawid_skene import DawidSkene
from core.plausibility.gaussian import GaussianScores
from core.review.sessions import Queued
from pages.shared.agreement import compare as agreement_compare
from pages.shared.ai_rater import marking as ai_marking
from pages.shared.ai_rater import rates as ai_rates
from pages.shared.cache import home as cached_home
from pages.shared.cases import worklist
from pages.shared.home import limits, waiting
from pages.shared.home import scores as home_scores
from pages.shared.kit import blocks, evidence
from pages.shared.kit import scores as kit_scores
from pages.shared.kit import selection as kit_selection
from pages.shared.models import jobs as models_jobs
from pages.shared.raters import plan as raters_plan
from pages.shared.review import assigned as review_assigned
from pages.shared.upload import last as upload_last
from pages.shared.upload import later_gold
from pages.shared.upload import report as upload_report
from tests.pages.test_drawn import forecast

ROWS = "\n".join(f"c{case},{rater},{'xy'[(case * k + k) % 2]}" for case in range(8) for k, rater in enumerate("abc"))


@pytest.fixture(scope="module")
def few():
    """Eight cases of two classes by three raters."""
    return read(f"case,rater,class\n{ROWS}".encode()).dataset


def fitted(dataset, **changes):
    fit = changes.pop("fit", None) or DawidSkene().fit(dataset)
    return SimpleNamespace(
        dataset=dataset, fit=fit, title="Model M", request=SimpleNamespace(way="em"), bayes=None, **changes
    )


# Home


def test_home_says_how_many_annotations_have_no_date():
    rows = "c1,a,x,2024-01-01\nc1,b,y,\nc2,a,x,2024-01-02\nc2,b,x,\nc3,a,y,\nc3,b,y,2024-01-03"
    dataset = read(f"case,rater,class,date\n{rows}".encode()).dataset
    assert ("Drift and speed for some annotations", "3 annotations have no date.") in limits._lacking(dataset, 1)


@pytest.mark.parametrize(("n", "words"), [(waiting.MOST, []), (waiting.MOST + 1, ["1 more on"]), (11, ["3 more on"])])
def test_home_counts_what_waits_beyond_the_lines_that_it_shows(said, n, words):
    waiting._more(n)
    assert [one.partition(" the ")[0] for one in said] == words


def test_the_mean_score_of_one_case_has_no_interval():
    one = read(b"case,rater,score\nc1,a,2\nc1,b,5\n", kind="score").dataset
    mean, low, high = cached_home.score_mean(one)
    assert mean == 3.5 and np.isnan([low, high]).all()


@pytest.mark.parametrize(
    ("threshold", "first", "second", "least"),
    [
        (None, "Median half-width of 95% intervals: ± {half}", "no wider than this (γ = 2).", "wide"),
        (
            5.0,
            "Uncertain cases: 50%",
            "In 2 of 4 cases, it is less than 90% certain whether the score is above 5 (γ = 2).",
            "near",
        ),
    ],
)
def test_home_of_scores_counts_cases_uncertain_of_their_side_and_shows_the_one_known_least(
    monkeypatch, said, threshold, first, second, least
):
    """Far below 5, far above it, at it, and from 0 to 12."""
    rows = [("below", 1, 1.2, 0.8, 1.1), ("above", 9, 9.1, 8.8), ("near", 5, 5.2, 4.8), ("wide", 0, 12, 7)]
    text = "\n".join(f"{case},r{k},{score}" for case, *own in rows for k, score in enumerate(own))
    dataset = read(f"case,rater,score\n{text}".encode(), kind="score").dataset
    model = GaussianScores(threshold, 5.0, 0.1, 2.0, 2.0)
    figures, opens = [], []
    monkeypatch.setattr(home_scores.reliability_slider, "opens", lambda *_: 2.0)
    monkeypatch.setattr(home_scores.doors, "plot_still", lambda figure, *_: figures.append(figure))
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)
    monkeypatch.setattr(st, "button", lambda *_, args, **__: opens.append(args))
    home_scores._least_known(dataset, model, [st.container() for _ in range(4)], LIGHT)
    trust = score_trust(dataset, model, [2.0])
    case = dataset.cases.index(least)
    widths = np.sort(trust.high[0] - trust.low[0])
    half = f"{(widths[1] + widths[2]) / 4:.1f}"
    assert said[0] == first.format(half=half) and said[1].endswith(second) and opens == [(least,)]
    assert said[2] == f"Widest interval: {least}, {trust.low[0, case]:.1f} to {trust.high[0, case]:.1f}"
    (mean,) = (trace for trace in figures[0].data if trace.name == "mean")
    assert mean.x[0] == trust.m[0, case]


@pytest.mark.parametrize(
    ("n", "words"), [(0, "No rater clearly differs"), (1, "1 rater clearly differs"), (2, "2 raters clearly differ")]
)
def test_home_of_scores_counts_raters_of_another_severity_and_not_those_who_are_erratic(monkeypatch, said, n, words):
    one = SimpleNamespace(
        severe=np.arange(5) < n, erratic=np.arange(5) < 4, severity_low=np.zeros(5), severity_high=np.full(5, 0.5),
        sentences=lambda digits: (f"First, {digits} digits", "second"),
    )  # fmt: skip
    drawn = []
    monkeypatch.setattr(home_scores.scores, "raters", lambda dataset: one)
    monkeypatch.setattr(home_scores.figures, "severities", lambda found, *_: drawn.append(found))
    monkeypatch.setattr(home_scores.doors, "plot_still", lambda *_: None)
    monkeypatch.setattr(st, "page_link", lambda *_, **__: None)
    home_scores._raters(SimpleNamespace(raters_identified=True, case_ptr=np.array([0, 2])), LIGHT)
    assert said == [f"{words} from the average in severity", "First, 2 digits."] and drawn == [one]


def test_the_prior_of_scores_has_each_of_its_numbers_under_its_own_name(said):
    prior = SimpleNamespace(
        n_scores=1234, n_cases=56, m0=7.25, k0=0.5, a0=2.0, b0=18.0, undetermined=lambda: "Nothing tells k₀."
    )
    kit_scores.about_prior(prior)
    assert said == [
        "The prior was fitted to 1,234 scores of 56 cases. Its mean is 7.25, and it counts as much as 0.50 scores per "
        "case (k₀). Raters of the same case differ by about 3.00 (a₀ = 2.00, b₀ = 18.00).",
        "Nothing tells k₀.",
    ]


# Cases of scores


def trust_in_one(threshold=None, above=None) -> ScoreTrust:
    """One case at three reliabilities; its interval is 12, 6 and 3 wide."""
    reliability, m = np.array([0.5, 2.0, 30.0]), np.array([[4.0], [5.0], [5.5]])
    below = np.array([[4.0], [2.0], [1.0]])
    above = None if above is None else np.array(above)[:, None]
    return ScoreTrust(threshold, reliability, m, m - below, m + 2 * below, above)


def test_the_interval_of_a_score_goes_from_the_least_trust_to_the_most():
    assert score.interval_said(trust_in_one()) == "Interval width: 12.0 at γ = 0.5, 3.0 at γ = 30"


def test_the_trust_as_a_table_has_both_ends_and_the_side_at_their_own_reliability(shown, left):
    blocks.show(score.as_table(trust_in_one(5.0, (0.4, 0.6, 0.9))))
    told = {"reliability": [0.5, 2.0, 30.0], "score": [4.0, 5.0, 5.5]}
    told |= {"ci_low": [0.0, 3.0, 4.5], "ci_high": [12.0, 9.0, 7.5], "p_above": [0.4, 0.6, 0.9]}
    assert shown["score_trust_table"].to_dict("list") == left["score_trust"].to_dict("list") == told


# Machines that are left out


@pytest.mark.parametrize(
    ("out", "n_people", "label", "words"),
    [
        (True, 9, "Include them", "2 AI raters left out"),
        (True, 7, "Include them", "2 AI raters left out, and 2 cases that only they annotated"),
        (False, 9, "Leave them out", "2 AI raters included as raters"),
    ],
)
def test_machines_in_the_data_are_said_to_be_left_out_or_counted_with_the_way_to_the_other(
    monkeypatch, said, out, n_people, label, words
):
    line, buttons = kit_selection, []
    names = ("m", "n", "gone")
    monkeypatch.setattr(st, "session_state", {"data": "d", "machines_count": not out})
    monkeypatch.setattr(line.state, "whole", lambda: SimpleNamespace())
    monkeypatch.setattr(line.state, "marked_machines", lambda: [SimpleNamespace(name=name) for name in names])
    monkeypatch.setattr(line.state, "machines_left_out", lambda: names if out else ())
    monkeypatch.setattr(line.state, "people_of", lambda dataset: SimpleNamespace(n_cases=n_people))
    opened = SimpleNamespace(dataset=SimpleNamespace(raters=("ann", "m", "n"), n_cases=9))
    monkeypatch.setattr(line.cached, "open_dataset", lambda address: opened)
    monkeypatch.setattr(st, "button", lambda label, kwargs, **_: buttons.append((label, kwargs)))
    line.machines_line()
    assert said == [f":material/smart_toy: {words}"] and buttons == [(label, {"machines_count": out})]


# Raters


@pytest.mark.parametrize(
    ("high", "converged", "title"),
    [
        (0.75, True, "Least weight: bob, 0.30 (0.10 to 0.75)"),
        (0.77, True, "No rater clearly has the least weight"),
        (0.5, False, "No rater clearly has the least weight"),
    ],
)
def test_a_rater_is_trusted_least_where_the_difference_to_every_other_one_is_clear(
    shown, left, drawn, high, converged, title
):
    table = pd.DataFrame({"rater": ["ann", "bob", "cem"], "mean": [0.9, 0.3, 0.8]})
    found = SimpleNamespace(
        raters=("ann", "bob", "cem"), mean=np.array([0.9, 0.3, 0.8]), ci_low=np.array([0.7, 0.1, 0.6]),
        ci_high=np.array([0.95, high, 0.9]), n=np.array([7, 8, 9]), converged=converged, notes=(),
        to_frame=lambda: table,
    )  # fmt: skip
    blocks.show(trust.present(found, None, None))
    assert drawn["trust"].layout.title.text == title
    assert shown["trust_table"].values.tolist() == [["bob", 0.3], ["cem", 0.8], ["ann", 0.9]]


# AI raters


@pytest.mark.parametrize("n_labelled", [12, 60])
def test_rates_are_of_hard_cases_perhaps_only_where_people_left_some_out(monkeypatch, said, n_labelled):
    monkeypatch.setattr(st, "button", lambda *_, **__: None)
    found = SimpleNamespace(n=60, n_labelled=n_labelled, notes=("Note.",))
    ai_rates._said(found, "people", None, ())
    assert said[0] == (
        f"{n_labelled} of 60 cases that the AI rater labelled also have a label from people. Intervals: 95%. Note."
    )
    assert any("apply only to hard cases" in one for one in said) == (n_labelled < 60)
    said.clear()
    ai_rates._said(found, "sample", None, ("a", "gpt is not in the data"))
    assert said[:2] == ["a", "gpt is not in the data"] and said[2].startswith(
        "These rates cover only the cases in these data. To include every case that the AI rater labelled, upload its "
        "annotations together with these data."
    )
    assert (
        f"{n_labelled} of 60 cases that the AI rater labelled also have a label in the random sample" in said[3]
        and len(said) == 5
    )


def test_answers_of_a_machine_are_counted_by_its_cases_among_all(monkeypatch):
    rows = "c1,a,x\nc2,a,x\nc3,a,y\nc4,a,y\nc5,a,y\nc1,m,x\nc1,m,y\nc3,m,y\nc4,n,y"
    joined, asked = read(f"case,rater,class\n{rows}".encode()).dataset, {}
    monkeypatch.setattr(ai_marking, "machine_answers", lambda name, content: None)
    monkeypatch.setattr(ai_marking, "joined", lambda dataset, found: (joined, ("m", "n"), ("One note.",)))
    monkeypatch.setattr(ai_marking.own_predictions, "add", lambda *_, **others: asked.update(others))
    ai_marking.bring(joined)
    assert asked["otherwise"]("file", b"") == "m, n: 3 of 5 cases. One note."


@pytest.mark.parametrize(("n", "more"), [(1, ""), (6, ""), (7, " …")])
def test_six_names_that_may_be_machines_are_all_named(monkeypatch, said, n, more):
    names = [f"gpt{place}" for place in range(n)]
    monkeypatch.setattr(ai_marking, "machine_like", lambda raters: [SimpleNamespace(name=name) for name in names])
    ai_marking._choice(SimpleNamespace(raters=("ann", *names)), ())
    assert said[0] == f"These look like AI raters: {', '.join(names[:6])}{more}."


# Assignments


def test_cases_are_assigned_to_as_many_as_there_are_cases_for(monkeypatch):
    told, given = [], []
    cases = tuple(Queued(name, "") for name in ("c1", "c2"))
    desk = SimpleNamespace(
        dataset=SimpleNamespace(digest="d"), reviewer="me",
        store=SimpleNamespace(assign=lambda one, token: given.append((one.whom, [case.case_id for case in one.cases]))),
    )  # fmt: skip
    monkeypatch.setattr(st, "session_state", {"assign_to-k": [], "assign_due-k": None, "assign_divide-k": True})
    monkeypatch.setattr(st, "toast", told.append)
    monkeypatch.setattr(
        review_assigned, "_recipients", lambda desk, said, divide: [(name, False) for name in ("ann", "bob", "cem")]
    )
    review_assigned._assign(desk, "queue", cases, "k")
    assert given == [("ann", ["c1"]), ("bob", ["c2"])] and told == ["2 cases assigned to 2 recipients."]


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ((False,), "1 assignment"),
        ((True, False, True), "3 assignments, **2 overdue**"),
        ((False,) * 2, "2 assignments"),
    ],
)
def test_assignments_are_counted_with_those_overdue_among_them(monkeypatch, said, shown, left, late, words):
    given = [SimpleNamespace(group=False, withdrawn=False, number=place) for place in range(len(late))]
    store = SimpleNamespace(assignments=lambda digest: given, trail=lambda digest: [])
    monkeypatch.setattr(
        review_assigned, "assignment_table", lambda *_: pd.DataFrame({"overdue": late, "n_done": [0] * len(late)})
    )
    monkeypatch.setattr(review_assigned.access, "progress_of", lambda digest: None)
    monkeypatch.setattr(review_assigned.access, "may", lambda *_, **__: False)
    review_assigned.overview(SimpleNamespace(store=store, dataset=SimpleNamespace(digest="d")))
    assert said == [words]


# Agreement


def test_two_selections_that_differ_in_two_ways_are_told_so_in_their_order(said):
    first = Selection(raters=("a",), first_day="2024-01-02")
    agreement_compare._one_at_a_time(first, Selection(raters=("b",), first_day="2024-01-02"))
    assert said == []
    agreement_compare._one_at_a_time(first, Selection(raters=("b",)))
    assert said == [
        ":material/info: Cannot determine what causes a difference: the selections differ in raters and dates."
    ]


def test_halves_of_the_days_meet_in_the_middle_and_share_none(monkeypatch):
    monkeypatch.setattr(agreement_compare.selection, "named", lambda: {"Everything": Selection()})
    monkeypatch.setattr(agreement_compare.state, "selection", Selection)
    rows = "\n".join(f"c{day},{rater},x,2024-01-{day:02d}" for day in range(1, 11) for rater in "ab")
    offered = agreement_compare._offered(read(f"case,rater,class,date\n{rows}".encode()).dataset)
    assert offered == {
        "Everything": Selection(),
        "First half of the period": Selection(last_day="2024-01-05"),
        "Second half of the period": Selection(first_day="2024-01-06"),
    }


def test_pairs_of_many_raters_are_of_the_busiest(said, drawn, left):
    """45 raters, of whom r00 to r04 gave one annotation and the others two."""
    rows = [f"c{k % 4},r{k:02d},x" for k in range(45)] + [f"d{k % 4},r{k:02d},y" for k in range(5, 45)]
    view = read("\n".join(["case,rater,class", *rows]).encode()).dataset
    part = AGREEMENT.part("pairs")
    found = part.answer(view)
    assert found.matrix.raters == tuple(f"r{k:02d}" for k in range(5, 45))
    blocks.show(part.blocks(found, view))
    assert said[0] == "Shown: the 40 raters (of 45) with the most annotations."


# Models


def test_a_classifier_is_no_evidence_to_a_posterior(monkeypatch, few, said):
    monkeypatch.setitem(st.session_state, "model_evidence", "Model A")
    shown = fitted(few)
    evidence.say(shown, None)
    assert said == []
    shown.request.way = "nuts"
    evidence.say(shown, None)
    assert said == [
        "Model A is not used as evidence: Model M was fitted without expectation-maximisation, which evidence requires."
    ]


def test_a_long_list_of_models_is_cut_and_the_rest_counted():
    names = [f"m{k}" for k in range(9)]
    assert models_jobs._listed(names[:6]) == "m0, m1, m2, m3, m4, m5"
    assert models_jobs._listed(names) == "m0, m1, m2, m3, m4, m5 and 3 more"


# Raters


def test_what_a_plan_takes_for_granted_is_told_by_gold():
    by_gold = SimpleNamespace(accuracy=SimpleNamespace(value=0.75, low=0.5, high=0.9), n=16)
    simulated = planning.PlannedAnnotations(forecast(), ("ann", "bob", "cem"), by_gold)
    assert planning.present(simulated, load_sample("knees"), None)[-1].plain == (
        "Compared with gold, the model used for the simulations is correct on 75% (50% to 90%) of 16 cases. More "
        "annotations do not correct mistakes that raters share."
    )


def test_everybody_has_read_everything_only_where_no_pair_is_missing(few):
    assert raters_plan._nobody_left(few)
    assert not raters_plan._nobody_left(read(f"case,rater,class\n{ROWS.rpartition(chr(10))[0]}".encode()).dataset)


# Cases


def test_scores_are_found_by_case_or_by_the_whole_name_of_a_rater():
    rows = "c1,Ann,2\nc1,Bob,3\nc2,Bob,9\nc2,Cy,1\nd3,Ann,4\nd3,Cy,4\n"
    dataset = read(f"case,rater,score\n{rows}".encode(), kind="score").dataset
    order = np.array([1, 2, 0])
    found = {words: [dataset.cases[k] for k in worklist.found_by(dataset, order, words)]
             for words in ("", "C", "ann", "an", "D3")}  # fmt: skip
    assert found == {"": ["c2", "d3", "c1"], "C": ["c2", "c1"], "ann": ["d3", "c1"], "an": [], "D3": ["d3"]}


def test_the_title_of_a_score_has_the_digits_that_its_interval_is_worth(monkeypatch):
    monkeypatch.setattr(score.figures, "score_density", lambda found, theme, title, **_: title)
    found = SimpleNamespace(low=196.123, high=207.456, above=None, threshold=None)
    titles = [score.density(found)[0].draw(LIGHT)]
    found.low, found.high, found.above, found.threshold = 0.1234, 0.4567, 0.25, 3.0
    titles.append(score.density(found)[0].draw(LIGHT))
    found.above = 0.9999
    titles.append(score.density(found)[0].draw(LIGHT))
    assert titles == [
        "Score between 196 and 207 with 95% probability",
        "Score at most 3 with 75% probability",
        "Score above 3 with over 99% probability",
    ]


ALONE = "Labels are treated as independent."


@pytest.mark.parametrize(
    ("exclusive", "even", "words"),
    [
        (
            True,
            [1, 1, 0],
            "no label clearly leads; “x” and “y” are equally likely. No rater named more than one label.",
        ),
        (
            False,
            [0, 1, 0],
            f"no set clearly leads; “y” is as likely to apply as not, by the annotations alone. {ALONE}",
        ),
        (
            False,
            [0, 1, 1],
            f"no set clearly leads; “y” and “z” are as likely to apply as not, by the annotations alone. {ALONE}",
        ),
        (
            False,
            [0, 0, 0],
            "no set clearly leads; the most likely is “x”, with a probability of only 45%. Labels are",
        ),
    ],
)
def test_a_set_that_does_not_stand_out_names_the_labels_that_are_even(exclusive, even, words):
    found = SimpleNamespace(
        sets=lambda: ["x"], whole=np.array([0.45]), labels=("x", "y", "z"), none=None,
        even=np.array([even], bool), exclusive=exclusive,
    )  # fmt: skip
    assert Words(label_sets._likeliest(found, 0)).plain.startswith(words)


# Upload


def test_what_was_said_last_time_is_told_in_its_parts():
    """Columns of a table of classes, the signs of a ranking, and the classes beyond the first four."""
    old = Mapping("wide", case="id", raters=("a", "b"))
    new = Mapping("counts", case="id", across=("x", "y", "z"))
    assert "3 columns" in upload_last._differences(Choices(old), Choices(new))
    ranking = Mapping("wide", case="id", raters=("a", "b"), separators=(">", "="))
    assert "rankings such as A > B = C" in _plain(upload_last._differences(Choices(old), Choices(ranking)))
    renamed = Treatment(renamed={f"k{n}": f"K{n}" for n in range(3)}, missing=frozenset("qpr"))
    words = _plain(upload_last._differences(Choices(old), Choices(old, treatment=renamed)))
    assert words[-5:] == [
        "“k0” is renamed “K0”",
        "“k1” is renamed “K1”",
        "“k2” is renamed “K2”",
        "“p” means a missing annotation",
        "2 more classes",
    ]
    raters = replace(renamed, raters={"a": "b", "c": "c"})
    words = _plain(upload_last._differences(Choices(old), Choices(old, treatment=raters)))
    assert words[-1] == "4 more names"
    raters, classes = Treatment(raters={"a": "b", "c": "c"}), ("x", "y")
    words = _plain(upload_last._differences(Choices(old), Choices(old, treatment=raters, classes=classes)))
    assert words[-3:] == ["rater “a” is the same as “b”", "“c” is a separate rater", "a list of 2 classes"]


def _plain(words):
    return [one.replace("\\", "").replace("&gt;", ">") for one in words]


def test_gold_of_scores_and_of_sets_is_counted_by_case(said):
    rows = "case,rater,score,gold\nc1,a,2,2\nc1,b,3,2\nc2,a,9,\nc2,b,1,\nd3,a,4,5\nd3,b,4,5\n"
    reading = read(rows.encode(), kind="score")
    upload_report.facts(reading)
    assert "2 gold cases" in said[0]
    sets = SimpleNamespace(gold_sets=np.array([[1, 0], [-1, -1], [0, -1]], np.int8))
    assert later_gold._n_gold(sets) == 2
