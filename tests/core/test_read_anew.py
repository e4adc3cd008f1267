"""What an earlier version kept of a file that is read differently now, and how it is brought over."""

import json
from dataclasses import replace

import numpy as np
import pytest

from core import belongings, library, read, read_anew
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.annotations.ordering import with_class_order
from core.changes import recorded_changes
from core.command_line import main
from core.ingest.answer_rules import Treatment
from core.ingest.read_files import build_question, open_named
from core.machines.marks import Machine
from core.review import store as reviews
from core.review.assignments import Assignment
from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.review_errors import NotAllowedError
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import Queued
from tests.core.earlier_home import DIGESTS, file_of, put_in

SIGNED = DIGESTS["signed.csv"]
ANN, BO = "ann@clinic.example", "bo@clinic.example"


@pytest.fixture
def earlier_home(home, tmp_path):
    """The home folder of the earlier version; its store is closed in the end."""
    put_in(home)
    yield tmp_path
    reviews.close_stores()


@pytest.fixture
def signed(earlier_home):
    """The file of signed numbers, as it is read now."""
    return read(file_of("signed.csv", earlier_home))


def command(*arguments, capsys) -> tuple[int, dict, str]:
    status = main([str(one) for one in arguments])
    out, err = capsys.readouterr()
    return status, json.loads(out) if out else {}, err


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("signed.csv", {}),
        ("words.csv", {"classes": ["none", "mild", "moderate", "severe"], "ordinal": True}),
        ("excel.csv", {}),
        ("python.csv", {"treatment": Treatment(missing=frozenset({"None"}))}),
    ],
)
def test_read_knows_the_digest_that_the_file_had_before(name, how, tmp_path):
    reading = read(file_of(name, tmp_path), **how)
    assert reading.dataset.digest != DIGESTS[name]
    assert DIGESTS[name] in reading.earlier


@pytest.mark.parametrize("name", ["words.csv", "python.csv"])
def test_read_keeps_the_digest_of_a_file_in_which_nothing_was_said_of_order_or_codes(name, tmp_path):
    reading = read(file_of(name, tmp_path))
    assert reading.earlier == ()
    assert name != "python.csv" or reading.dataset.digest == DIGESTS[name]


def test_everything_kept_under_the_earlier_digest_is_found_and_named(signed):
    (found,) = read_anew.found_before(signed.dataset, signed.earlier)
    assert (found.digest, found.kept, found.n_steps, found.n_predictions, found.n_people) == (SIGNED, True, 9, 1, 2)
    assert found.words == (
        "the saved dataset, 9 review steps, 1 file of predictions, 1 named selection, "
        "2 people or groups with access, settings"
    )


def test_bring_over_moves_the_kept_dataset_and_all_that_belongs_to_it(signed):
    before = {name: getattr(belongings, name)(SIGNED) for name in OF_ADDRESS}
    assert read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN) == (9, 0)
    now = signed.dataset.digest
    assert {name: getattr(belongings, name)(now) for name in OF_ADDRESS} == before
    assert library.reopen(now).classes == ("-2", "-1", "0", "1", "2")
    assert not library.is_kept(SIGNED)
    assert library.present_digest(SIGNED) == now
    assert read_anew.found_before(signed.dataset, signed.earlier) == []


OF_ADDRESS = (
    *("predictions_of", "selections_of", "machines_of", "chosen_for", "owners_of", "shared_with", "groups_with"),
    "link_of",
)


def test_bring_over_copies_every_step_of_review_and_both_chains_say_so(signed):
    store = reviews.open_store()
    before, old_head = store.cases(SIGNED), store.head(SIGNED)
    assignments = [(one.whom, one.title, one.cases, one.withdrawn) for one in store.assignments(SIGNED)]
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, BO)
    now = signed.dataset.digest
    after = store.cases(now)
    assert after.keys() == before.keys()
    for case_id, review in after.items():
        assert review.state == before[case_id].state
        told = [(e.kind, e.reviewer, e.at, e.opinion, e.note, e.seconds) for e in review.events]
        assert told == [(e.kind, e.reviewer, e.at, e.opinion, e.note, e.seconds) for e in before[case_id].events]
    assert [(one.whom, one.title, one.cases, one.withdrawn) for one in store.assignments(now)] == assignments
    check = store.check([old_head.hash])
    assert check.ok
    assert check.backwards == ()
    (session,), (earlier_session,) = store.sessions(now, ANN), store.sessions(SIGNED, ANN)
    assert session.cases == earlier_session.cases
    of_session = [(e.case_id, e.kind) for e in store.trail(now) if e.session == session.id]
    assert of_session == [(e.case_id, e.kind) for e in store.trail(SIGNED) if e.session == earlier_session.id] != []


def test_reviews_go_on_where_they_were_brought_and_are_refused_where_they_were(signed):
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    store = reviews.open_store()
    assert store.datasets_that_wait(BO) == [signed.dataset.digest]
    assert store.datasets_assigned_by(ANN) == [signed.dataset.digest]
    desk = Desk(store, signed.dataset, BO)
    seen = store.case(signed.dataset.digest, "t1").version
    desk.send(desk.draft("t1", "opinion", opinion=Opinion.of_class("-1")), seen=seen, token=new_token())
    assert store.case(signed.dataset.digest, "t1").version == seen + 1
    with pytest.raises(NotAllowedError, match="continue in the new version"):
        store.assign(
            Assignment(dataset=SIGNED, by=ANN, whom=BO, title="Late", cases=(Queued("t0", "asked"),)), token=new_token()
        )
    with pytest.raises(NotAllowedError, match="continue in the new version"):
        store.start_session(SIGNED, ANN, "Late", [Queued("t0", "asked")])
    late = Draft(dataset=SIGNED, case_id="t5", kind="skip", reviewer=ANN)
    with pytest.raises(NotAllowedError, match="continue in the new version"):
        store.record(late, seen=0, token=new_token())


def test_bring_over_twice_copies_nothing_more(signed):
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    n = reviews.n_reviews(signed.dataset.digest)
    assert read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN) == (0, 0)
    assert reviews.n_reviews(signed.dataset.digest) == n


def test_steps_of_cases_that_are_no_more_or_have_steps_by_now_stay_behind(earlier_home):
    reading = read(file_of("excel.csv", earlier_home))
    assert "5" not in reading.dataset.cases
    assert read_anew.bring_over(DIGESTS["excel.csv"], reading.dataset, None, ANN) == (1, 1)
    store = reviews.open_store()
    assert set(store.cases(reading.dataset.digest)) == {"1"}
    assert set(store.cases(DIGESTS["excel.csv"])) == {"1", "5"}
    assert store.check().ok


def test_steps_of_a_case_on_which_a_token_for_missing_was_named_stay_behind(earlier_home):
    before = library.reopen(DIGESTS["excel.csv"])
    desk = Desk(reviews.open_store(), before, BO)
    desk.send(desk.draft("4", "opinion", opinion=Opinion.of_class("#N/A")), seen=0, token=new_token())
    reading = read(file_of("excel.csv", earlier_home))
    assert read_anew.bring_over(before.digest, reading.dataset, None, ANN) == (1, 2)
    found = reviews.reviews_of(reading.dataset.digest)
    assert set(found) == {"1"}
    assert reviews.reviews_of(before.digest)["4"].events[0].opinion == Opinion.of_class("#N/A")


def test_steps_that_were_recorded_since_are_kept_and_the_chain_stays_whole(signed):
    store = reviews.open_store()
    desk = Desk(store, signed.dataset, "cy")
    desk.send(desk.draft("t0", "opinion", opinion=Opinion.of_class("2")), seen=0, token=new_token())
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    assert [event.reviewer for event in store.case(signed.dataset.digest, "t0").events] == ["cy"]
    check = store.check()
    assert check.ok
    assert check.backwards == ()


def test_forget_erases_the_steps_under_the_earlier_digest_as_well(signed):
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    library.forget(signed.dataset.digest)
    assert reviews.n_reviews(SIGNED) == 0
    assert reviews.open_store().check().ok
    assert library.present_digest(SIGNED) == SIGNED


def test_a_person_is_erased_under_both_digests(signed):
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    store = reviews.open_store()
    erased = store.erase_person(ANN, "administrator")
    assert {SIGNED, signed.dataset.digest} <= erased.keys()
    assert ANN not in {event.reviewer for digest in erased for event in store.trail(digest)}
    assert store.check().ok


def test_commands_name_what_is_kept_and_bring_over_continues_with_it(earlier_home, capsys):
    path = file_of("signed.csv", earlier_home)
    status, answer, err = command("agreement", path, capsys=capsys)
    assert status == 0
    assert f"This file has saved work under its earlier digest {SIGNED}: the saved dataset, 9 review steps" in err
    assert "bring-over" in err
    status, brought, _ = command("bring-over", path, "--by", ANN, capsys=capsys)
    assert (status, brought["brought_over"][0]["steps"], brought["digest"]) == (0, 9, answer["digest"])
    _, again, err = command("agreement", SIGNED, capsys=capsys)
    assert again["digest"] == answer["digest"]
    assert "Saved under" not in err
    assert command("bring-over", path, capsys=capsys)[1]["brought_over"] == []


def test_bring_over_of_a_scale_in_words_needs_its_order_to_mean_something(earlier_home, capsys):
    path = file_of("words.csv", earlier_home)
    assert command("bring-over", path, capsys=capsys)[1]["brought_over"] == []
    _, brought, _ = command("bring-over", path, "--ordinal", capsys=capsys)
    assert [one["earlier"] for one in brought["brought_over"]] == [DIGESTS["words.csv"]]
    assert brought["order"] == ["none", "mild", "moderate", "severe"]
    assert library.reopen(brought["digest"]).ordinal


def test_a_kept_dataset_is_put_in_order_without_its_file(earlier_home, capsys):
    kept = library.reopen(SIGNED)
    assert kept.classes == ("0", "1", "2", "-1", "-2")
    now = read_anew.as_read_now(kept)
    assert now is not None
    assert now.digest == read(file_of("signed.csv", earlier_home)).dataset.digest
    _, _, err = command("agreement", SIGNED, capsys=capsys)
    assert "Current order: -2 < -1 < 0 < 1 < 2. To update the saved dataset, use the bring-over command" in err
    _, brought, _ = command("bring-over", SIGNED, capsys=capsys)
    assert brought["digest"] == now.digest
    assert reviews.n_reviews(now.digest) == 10


def test_a_kept_dataset_loses_the_classes_that_count_as_missing_now_without_its_file(earlier_home):
    kept = library.reopen(DIGESTS["excel.csv"])
    now = read_anew.as_read_now(kept)
    assert now is not None
    assert now.digest == read(file_of("excel.csv", earlier_home)).dataset.digest
    assert read_anew.differences(kept, now) == "3 annotations (#N/A, NaT) now count as missing."


def test_a_dataset_of_nothing_but_tokens_for_missing_stays_as_it_is():
    assert read_anew.as_read_now(made("#N/A", "NaT")) is None


def test_gold_and_risk_stay_with_their_classes():
    risk = np.array([2, 0, 1])
    before = replace(made("#N/A", "x", "y"), gold=np.array([0, 2, -1], np.int32), class_risk=risk)
    now = read_anew.as_read_now(before)
    assert now is not None
    assert (now.classes, now.cases, now.gold.tolist()) == (("x", "y"), ("b", "c"), [1, -1])
    np.testing.assert_array_equal(now.class_risk, risk[1:])


QUESTIONS = "case,r1_benign,gpt_benign,r1_size,gpt_size\n" + "".join(
    f"{case},{'yes' if case % 2 else 'no'},{'yes' if case % 3 else 'no'},{'big' if case % 5 else 'small'},"
    f"{'big' if case % 4 else 'small'}\n"
    for case in range(12)
)


@pytest.fixture
def columns_as_raters(home):
    """The dataset of a table of two questions whose columns were all raters, as an older version left it."""
    source, name, _ = open_named(QUESTIONS.encode(), "old")
    mapping = source.questions[0].mapping.before
    assert mapping is not None
    before = build_question(source, replace(source.questions[0], mapping=mapping), name).dataset
    assert before.digest == "7def95b18d3a270d92ef0eb9a93a78ee"  # as version 0.1.0 read the file
    library.keep(before)
    belongings.mark_machines(before.digest, [Machine("gpt_benign", "GPT", "4"), Machine("gpt_size", "GPT", "4")])
    for name, raters in {"people": ("r1_benign", "r1_size"), "gone": ("r1_size",), "all": None}.items():
        belongings.add_selection(before.digest, name, Selection(raters=raters, least=1).to_text())
    return before


def test_ai_raters_and_selections_get_the_names_that_raters_of_several_questions_have_now(columns_as_raters):
    reading = read(QUESTIONS.encode(), question="benign")
    assert reading.dataset.raters == ("gpt", "r1")
    assert columns_as_raters.digest in reading.earlier
    read_anew.bring_over(columns_as_raters.digest, reading.dataset, None, ANN, reading.rater_names)
    now = reading.dataset.digest
    assert belongings.machines_of(now) == (Machine("gpt", "GPT", "4"),)
    selections = {name: Selection.from_text(text) for name, text in belongings.selections_of(now).items()}
    assert selections == {
        "people": Selection(raters=("r1",), least=1),
        "gone": Selection(raters=("r1_size",), least=1),
        "all": Selection(least=1),
    }
    assert selections["people"].apply(reading.dataset).raters == ("r1",)


def test_a_question_is_no_earlier_reading_of_another_question_of_its_file(columns_as_raters):
    first, second = (read(QUESTIONS.encode(), question=name) for name in ("benign", "size"))
    assert [one.digest for one in read_anew.found_before(second.dataset, second.earlier)] == [columns_as_raters.digest]
    read_anew.bring_over(columns_as_raters.digest, first.dataset, None, ANN, first.rater_names)
    assert read_anew.found_before(second.dataset, second.earlier) == []
    assert library.is_kept(first.dataset.digest)


def test_bring_over_names_ai_raters_by_their_present_names_on_the_command_line(columns_as_raters, tmp_path, capsys):
    path = tmp_path / "questions.csv"
    path.write_text(QUESTIONS, encoding="utf-8", newline="\n")
    _, brought, _ = command("bring-over", path, "--question", "benign", capsys=capsys)
    assert belongings.machines_of(brought["digest"]) == (Machine("gpt", "GPT", "4"),)


def test_the_name_that_a_user_gave_stays(signed):
    library.rename(SIGNED, "Tweets of spring")
    read_anew.bring_over(SIGNED, signed.dataset, signed.facts, ANN)
    assert library.reopen(signed.dataset.digest).name == "Tweets of spring"


def test_the_record_of_changes_holds_what_was_brought_over_also_without_reviews(earlier_home):
    reading = read(file_of("words.csv", earlier_home), classes=["none", "mild", "moderate", "severe"], ordinal=True)
    read_anew.bring_over(DIGESTS["words.csv"], reading.dataset, None, ANN)
    (change,) = recorded_changes(reading.dataset.digest)
    assert (change.who, change.what, change.details) == (ANN, "bring over", (DIGESTS["words.csv"],))


def test_what_was_put_in_order_without_its_file_is_found_when_the_file_is_read(earlier_home):
    cases, answers = ("-1", "-2", "-10"), ("1", "-1", "-2")  # the order of cases is another one now, too
    before = Dataset.from_classes(
        "made", cases, ["a", "b"], answers, [0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]
    )
    library.keep(before)
    rows = "".join(f"{case},{answer},{answer}\n" for case, answer in zip(cases, answers, strict=True))
    reading = read(f"case,a,b\n{rows}".encode())
    assert before.digest in reading.earlier
    between = read_anew.as_read_now(before)
    assert between is not None
    assert between.digest != reading.dataset.digest
    read_anew.bring_over(before.digest, between, None, ANN)
    (found,) = read_anew.found_before(reading.dataset, reading.earlier)
    assert found.digest == between.digest
    read_anew.bring_over(found.digest, reading.dataset, None, ANN)
    assert library.present_digest(before.digest) == reading.dataset.digest
    assert [entry.digest for entry in library.kept() if entry.name == "made"] == [reading.dataset.digest]


def test_what_was_left_apart_is_not_found_again_until_the_dataset_is_forgotten(signed):
    now = signed.dataset.digest
    library.keep(signed.dataset)
    library.leave_apart(SIGNED, now)
    assert read_anew.found_before(signed.dataset, signed.earlier) == []
    assert len(read_anew.found_before(signed.dataset, signed.earlier, left_apart=True)) == 1
    library.forget(now)
    assert len(read_anew.found_before(signed.dataset, signed.earlier)) == 1


def test_a_declared_scale_whose_order_is_the_alphabet_is_put_in_order(earlier_home):
    now = read_anew.as_read_now(library.reopen(DIGESTS["words.csv"]))
    assert now is not None
    assert now.classes == ("none", "mild", "moderate", "severe")


def made(*classes: str) -> Dataset:
    codes = np.arange(len(classes), dtype=np.int32)
    return Dataset.from_classes("made", ["a", "b", "c", "d"][: len(classes)], ["r"], classes, codes, codes * 0, codes)


@pytest.mark.parametrize(
    "dataset",
    [
        made("1", "2", "10"),
        made("mild", "moderate", "none", "severe"),  # not declared to be in order
        with_class_order(made("0", "1", "-1"), ["1", "-1", "0"]),  # by somebody, not by the text
        with_class_order(made("mild", "none", "severe"), ["none", "mild", "severe"]),
        made("apple", "pear", "plum"),
    ],
)
def test_an_order_that_was_chosen_or_is_right_is_left_alone(dataset):
    assert read_anew.as_read_now(dataset) is None
