"""Reviews as files, and adjudications as a further rater."""

import io
import json
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from core.review.adjudicated import results, with_reviews
from core.review.events import Draft, Event
from core.review.export import result_table, trail_json, trail_table
from core.review.opinions import REASONS, UNDETERMINED, Opinion
from core.review.states import STATES
from core.tables import to_csv

X, Y = Opinion.of_class("x"), Opinion.of_class("y")
RANKING = Opinion.of_ranking([["y", "z"], ["x"]])
AT = 1_700_000_000_000_000


@pytest.fixture
def decided(reviews_of):
    def make(dataset, verdicts, closed=()):
        made = reviews_of(dataset)
        for case_id, verdict in verdicts.items():
            made.read(case_id, "Ann", Y, panel=X)
            made.do(case_id, "Cem", "reveal", panel=X)
            made.do(case_id, "Cem", "adjudication", verdict, at=AT, note="=cmd()", confidence=0.5)
        for case_id in closed:
            made.read(case_id, "Ann", X, panel=X)
        return made.found

    return make


def test_adjudications_become_a_further_rater_of_a_new_dataset(dataset, decided):
    verdicts = {"case 1": X, "case 2": UNDETERMINED, "case 4": RANKING}
    verdicts["case 3"] = Opinion.of_distribution({"x": 0.5, "y": 0.5})
    found = with_reviews(dataset, decided(dataset, verdicts, closed=["case 0"]))
    assert (found.n_added, sorted(found.left_out)) == (1, ["case 2", "case 3", "case 4"])
    grown = found.dataset
    assert grown.digest != dataset.digest
    assert (grown.raters, grown.cases, grown.classes) == (
        (*dataset.raters, "Adjudication"),
        dataset.cases,
        ("x", "y", "z"),
    )
    new = grown.rater == 2
    assert grown.case_of_annotation[new].tolist() == [1]
    assert grown.answer[new].tolist() == [0]
    old = grown.select(raters=dataset.raters)
    assert old.digest == replace(dataset, raters=dataset.raters).digest


def test_closed_cases_can_be_added_too(dataset, decided):
    found = with_reviews(dataset, decided(dataset, {"case 1": Y}, closed=["case 0"]), closed=True, rater="Review")
    assert found.n_added == 2
    assert found.dataset.raters[-1] == "Review"
    assert found.dataset.answer[found.dataset.rater == 2].tolist() == [0, 1]


def test_a_case_that_several_closed_is_added_as_the_last_of_them_left_it():
    reads = tuple(SimpleNamespace(opinion=one) for one in (Y, RANKING, X))
    review = SimpleNamespace(adjudication=None, state="closed", reads=reads, events=(SimpleNamespace(at=3),) * 2)
    assert results({"a": review}, closed=True) == {"a": (X, 3)} and results({"a": review}) == {}


def test_rankings_keep_their_ties_and_places(ranked, decided):
    found = with_reviews(ranked, decided(ranked, {"case 1": RANKING, "case 2": X}))
    grown = found.dataset
    new = np.flatnonzero(grown.rater == 2)
    assert [grown.blocks_of(int(annotation)) for annotation in new] == [[[1, 2], [0]], [[0]]]
    assert grown.select(raters=ranked.raters).digest == ranked.digest


def test_times_and_side_tables_come_along(dataset, decided):
    full = replace(
        dataset,
        time=np.arange(9, dtype=np.int64),
        class_risk=np.array([0, 1, 2], np.int8),
        gold=np.full(6, -1, np.int32),
        case_group=tuple("aabbcc"),
        ordinal=True,
    )
    grown = with_reviews(full, decided(full, {"case 1": X})).dataset
    assert grown.time[grown.rater == 2].tolist() == [AT // 1_000_000]
    assert (grown.case_group, grown.ordinal) == (full.case_group, True)
    np.testing.assert_array_equal(grown.class_risk, full.class_risk)
    np.testing.assert_array_equal(grown.gold, full.gold)


def test_nothing_to_add_or_a_name_that_is_taken_is_said(dataset, decided):
    with pytest.raises(InputError, match="Could not add decisions"):
        with_reviews(dataset, decided(dataset, {"case 1": UNDETERMINED}))
    with pytest.raises(InputError, match="already"):
        with_reviews(dataset, decided(dataset, {"case 1": X}), rater="ann")


def test_the_table_of_results_has_a_row_for_each_reviewed_case(dataset, decided):
    table = result_table(dataset, decided(dataset, {"case 4": UNDETERMINED, "case 1": RANKING}, closed=["case 0"]))
    assert table["case"].tolist() == ["case 0", "case 1", "case 4"]
    assert table["state"].tolist() == ["closed", "adjudicated", "adjudicated"]
    assert table["result"].tolist() == ["x", "y = z › x", "cannot be determined"]
    assert table["by"].tolist() == ["Ann", "Cem", "Cem"]
    assert table["at"].tolist()[1] == "2023-11-14T22:13:20Z"
    assert Opinion.from_json(table["result_json"][1]) == RANKING
    assert result_table(dataset, {}).empty


def test_the_table_of_results_says_how_long_it_took_and_what_stands_alone(dataset, reviews_of):
    """Ten seconds until the opinion was given; one case was closed by one reviewer outside the plausible set."""
    made = reviews_of(dataset)
    panel = replace(UNDETERMINED, plausible=("y", "z"))
    made.read("case 0", "Ann", X, panel=panel, note="seen on the scan")
    made.read("case 1", "Ann", Y, panel=panel)
    table = result_table(dataset, made.found)
    assert table["seconds"].tolist() == [10.0, 10.0]
    assert table["outside_plausible_set"].tolist() == [True, False]
    assert table["note"].tolist() == ["seen on the scan", ""]
    trail = trail_table(dataset, made.found)
    assert trail["plausible"].tolist() == ["", '["y", "z"]', ""] * 2
    (reveal, *_) = [one for one in json.loads(trail_json(dataset, made.found))["cases"][0]["events"] if one["panel"]]
    assert reveal["panel"] == {"undetermined": True, "plausible": ["y", "z"]} and reveal["plausible"] == '["y", "z"]'


def test_the_trail_has_every_event_and_says_which_were_undone(dataset, reviews_of):
    made = reviews_of(dataset)
    made.read("case 1", "Ann", Y, panel=X)
    made.do("case 1", "Ann", "undo")
    made.do("case 1", "Ann", "change", X, reason="unclear_image", note="=1+1")
    table = trail_table(dataset, made.found)
    assert table["event"].tolist() == ["opinion", "reveal", "keep", "undo", "change"]
    assert table["undone"].tolist() == [False, False, True, False, False]
    assert table["old"].tolist() == ["", "y", "y", "y", "y"]
    assert table["new"].tolist() == ["y", "y", "y", "y", "x"]
    assert table["visible"].tolist() == ["blind", "open", "open", "open", "open"]
    assert (table["model"][1], json.loads(table["settings"][1])) == ("dirichlet", {"reliability": 1.0})
    csv = pd.read_csv(io.BytesIO(to_csv(table)))
    assert csv["note"][4] == "'=1+1"  # no formula for a spreadsheet
    assert trail_table(dataset, {}).columns.tolist() == table.columns.tolist()


def test_every_column_of_the_trail_is_the_field_of_its_name(dataset):
    """No field is like another: opinions, reasons and times are in words, the others as they are."""
    said = {"old": X, "opinion": Y, "panel": RANKING, "at": AT, "reason": "unclear_image", "settings": {"a": 1}}
    more = {one.name: f"<{one.name}>" for one in fields(Event) if one.name not in said}
    event = Event(**said, **more)
    trail = trail_table(dataset, {dataset.cases[0]: SimpleNamespace(events=[event])})
    called = {"case": "case_id", "event": "kind", "new": "opinion"}
    names = [name for name in trail if name not in ("plausible", "undone", "earlier_than_the_one_before")]
    words = {"at": "2023-11-14T22:13:20Z", "reason": REASONS["unclear_image"], "settings": '{"a": 1}'}
    words |= {name: said[name].words() for name in ("old", "opinion", "panel")}
    fields_of = {name: called.get(name, name) for name in names}
    assert trail[names].iloc[0].to_dict() == {name: (more | words)[field] for name, field in fields_of.items()}
    assert {*fields_of.values()} == {one.name for one in fields(Event)} - {"dataset"}


def test_the_exported_trail_is_not_taken_for_annotations(dataset, decided):
    """Read as a table its parts were raters, and one could go on with them; beside annotations it is left out."""
    trail = trail_json(dataset, decided(dataset, {"case 1": RANKING}))
    with pytest.raises(InputError, match="trail: it contains a review record"):
        read(trail, name="trail")
    with pytest.raises(InputError, match="Or leave this file out"):
        open_source([("a.csv", b"case,rater,class\n1,p,x\n1,q,y\n"), ("trail.json", trail)])


def test_the_trail_for_machines_is_whole(dataset, decided):
    reviews = decided(dataset, {"case 1": RANKING}, closed=["case 0"])
    whole = json.loads(trail_json(dataset, reviews))
    assert whole["digest"] == dataset.digest
    assert [(case["case"], case["state"]) for case in whole["cases"]] == [
        ("case 0", "closed"),
        ("case 1", "adjudicated"),
    ]
    last = whole["cases"][1]["events"][-1]
    assert last["new"] == {"ranking": [["y", "z"], ["x"]]}
    assert (last["at_microseconds"], last["confidence"], last["reviewer"], last["note"]) == (AT, 0.5, "Cem", "=cmd()")
    assert whole["cases"][0]["events"][1]["settings"] == {"reliability": 1.0}


def test_exports_hold_the_chain_and_mark_times_that_run_backwards(dataset, sqlite_url, open_at):
    times = iter([AT, AT - MINUTE, AT + MINUTE])
    store = open_at(sqlite_url, clock=lambda: next(times))
    for place, case_id in enumerate(["case 1", "case 0", "case 1"]):
        draft = Draft(dataset=dataset.digest, case_id=case_id, kind="skip", reviewer="Ann")
        store.record(draft, seen=place // 2, token=str(place))
    reviews, head = store.cases(dataset.digest), store.head(dataset.digest)
    table = trail_table(dataset, reviews)
    assert table["number"].tolist() == [2, 1, 3]  # by case, and its place in the record
    assert table["earlier_than_the_one_before"].tolist() == [True, False, False]
    assert table["hash"].tolist()[-1] == head.hash
    whole = json.loads(trail_json(dataset, reviews, head))
    assert whole["record"] == {"n_events": 3, "head": head.hash}
    assert [event["earlier_than_the_one_before"] for case in whole["cases"] for event in case["events"]] == [
        True,
        False,
        False,
    ]


MINUTE = 60_000_000


def told(dataset, reviews_of):
    """Reviews each of whose numbers and words is met once."""
    made = reviews_of(dataset)
    made.do("case 2", "Ann", "opinion", Y, at=AT, visible="blind", confidence=0.25, note="first", seconds=7.5)
    made.do("case 2", "Ann", "reveal", panel=X, at=AT + MINUTE)
    made.do("case 2", "Ann", "change", X, at=AT + 2 * MINUTE, reason="unclear_image", confidence=0.75, note="second")
    made.do("case 0", "Bea", "opinion", RANKING, at=AT + 3 * MINUTE, visible="blind", confidence=0.5, seconds=90.25)
    made.do("case 0", "Bea", "reveal", panel=X, at=AT + 4 * MINUTE)
    made.do("case 0", "Bea", "keep", at=AT + 5 * MINUTE)
    made.do("case 0", "Cem", "reveal", panel=Y, at=AT + 6 * MINUTE)
    made.do("case 0", "Cem", "adjudication", Y, at=AT + 7 * MINUTE, confidence=0.9, reason="rater_error", note="third")
    return made.found


def test_every_cell_of_the_results_is_of_the_event_that_decided(dataset, reviews_of):
    reviews = told(dataset, reviews_of)
    rows = result_table(dataset, reviews).set_index("case")
    assert list(rows.index) == ["case 0", "case 2"]
    for case_id, kind in (("case 0", "adjudication"), ("case 2", "change")):
        review, row = reviews[case_id], rows.loc[case_id]
        (last,) = [event for event in review.events if event.kind == kind]
        assert (row["result"], row["by"], row["confidence"]) == (last.opinion.words(), last.reviewer, last.confidence)
        assert (row["reason"], row["note"]) == (REASONS[last.reason], last.note)
        assert pd.Timestamp(row["at"]).value // 1000 == last.at
        assert Opinion.from_json(row["result_json"]) == last.opinion
        assert row["state"] == STATES[review.state]
        assert (row["n_opinions"], row["version"]) == (len(review.reads), review.version)
    assert rows["version"].tolist() == [5, 3] and rows["by"].tolist() == ["Cem", "Ann"]


def test_an_opinion_that_was_taken_back_is_nobodys_result(dataset, reviews_of):
    made = reviews_of(dataset)
    made.do("case 1", "Ann", "opinion", X, visible="blind", confidence=0.7)
    made.do("case 1", "Ann", "reveal", panel=X)
    made.do("case 1", "Ann", "keep")
    made.do("case 1", "Bea", "opinion", Y, visible="blind", confidence=0.2)
    made.do("case 1", "Bea", "undo")
    (row,) = result_table(dataset, made.found).to_dict("records")
    assert row["state"] == STATES["closed"] and row["n_opinions"] == 1
    assert (row["by"], row["result"]) == ("Ann", X.words())


def test_every_cell_of_the_trail_is_of_its_own_event(dataset, reviews_of):
    reviews = told(dataset, reviews_of)
    table = trail_table(dataset, reviews)
    events = [event for case_id in ("case 0", "case 2") for event in reviews[case_id].events]
    assert len(table) == len(events) >= 7
    whole = json.loads(trail_json(dataset, reviews))
    plain = [entry for case in whole["cases"] for entry in case["events"]]
    for (_, row), entry, event in zip(table.iterrows(), plain, events, strict=True):
        for column, value in {
            "case": event.case_id,
            "version": event.version,
            "reviewer": event.reviewer,
            "event": event.kind,
            "visible": event.visible,
            "old": event.old.words() if event.old else "",
            "new": event.opinion.words() if event.opinion else "",
            "panel": event.panel.words() if event.panel else "",
            "confidence": event.confidence,
            "reason": REASONS.get(event.reason, ""),
            "note": event.note,
            "seconds": event.seconds,
            "undoes": event.undoes,
        }.items():
            assert row[column] == value or (value is None and pd.isna(row[column])), column
        assert pd.Timestamp(row["at"]).value // 1000 == event.at == entry["at_microseconds"]
        for name, opinion in (("old", event.old), ("new", event.opinion), ("panel", event.panel)):
            assert entry[name] == (None if opinion is None else json.loads(opinion.to_json()))
        assert (entry["confidence"], entry["seconds"], entry["reason"]) == (
            event.confidence,
            event.seconds,
            event.reason,
        )
    assert table["seconds"].dropna().tolist() == [90.25, 7.5]
