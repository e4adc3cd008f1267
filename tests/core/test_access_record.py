"""The record of access: a changed line is found, names are erased, old lines go and are counted."""

import json
import multiprocessing

import pytest

from core import access_record
from core.access_record import (
    BEGINNING,
    LEAST_UPLOAD,
    check_access,
    erase_person,
    record_access,
    record_upload,
    recorded_access,
    uploaded_bytes,
)
from core.command_line import main
from core.settings import current_settings


@pytest.fixture
def path():
    return current_settings().home / "access.jsonl"


@pytest.fixture
def recorded(path):
    for number in range(4):
        record_access("ann", "open", f"data {number}", [f"detail {number}"])
    record_access("bo", "share", "data 0", ["ann", "mia"])
    return path


def faults():
    return check_access()[1]


def test_each_line_holds_the_hash_of_the_one_before(recorded):
    lines = recorded_access()
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    assert [line.previous for line in lines] == [BEGINNING, *(line.hash for line in lines[:-1])]
    assert lines[-1].details == ("ann", "mia") and faults() == []
    assert recorded.stat().st_mode & 0o077 == 0


CHANGES = {
    "who": lambda lines: lines[1].__setitem__("who", "mia"),
    "what": lambda lines: lines[1].__setitem__("what", "export"),
    "dataset": lambda lines: lines[1].__setitem__("dataset", "x"),
    "at": lambda lines: lines[1].__setitem__("at", 1.0),
    "details": lambda lines: lines[1].__setitem__("details", ["x"]),
    "erased": lambda lines: lines[1].update(token="", who="mia"),
    "removed": lambda lines: lines.pop(1),
    "beginning": lambda lines: lines.pop(0),
    "order": lambda lines: lines.insert(0, lines.pop(2)),
    "twice": lambda lines: lines.insert(2, dict(lines[1])),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_line_that_was_changed_removed_or_moved_is_found(recorded, change):
    lines = [json.loads(line) for line in recorded.read_text().splitlines()]
    CHANGES[change](lines)
    recorded.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert faults() != []
    assert main(["access"]) == 1


def test_a_name_is_erased_everywhere_and_the_rest_is_still_checked(recorded):
    before = [line.hash for line in recorded_access()]
    assert erase_person("ann") == 5
    assert "ann" not in recorded.read_text() and faults() == []
    lines = recorded_access()
    assert [line.hash for line in lines] == before
    assert [line.who for line in lines] == ["erased person"] * 5, "of two people in a line both names go with the token"
    changed = recorded.read_text().replace("data 1", "data 9")
    recorded.write_text(changed)
    assert faults() == ["line 2 was changed"]


def test_old_lines_go_once_a_day_and_it_is_said_how_many(recorded, monkeypatch):
    monkeypatch.setenv("PLURALITY_ACCESS_DAYS", "30")
    start, day = recorded_access()[0].at, 24 * 3600.0
    monkeypatch.setattr(access_record.time, "time", lambda: start + 20 * day)
    record_access("cy", "open")
    assert len(recorded_access()) == 6
    monkeypatch.setattr(access_record.time, "time", lambda: start + 31.5 * day)
    record_access("cy", "open")
    lines = recorded_access()
    assert [(line.number, line.what) for line in lines] == [(6, "open"), (7, "old lines removed"), (8, "open")]
    assert lines[1].details[0] == "5" and faults() == []
    content = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(content[1:]))
    assert faults() != [], "one more at the beginning"


def test_a_line_that_a_full_disk_cut_off_is_no_obstacle(recorded):
    recorded.write_bytes(recorded.read_bytes()[:-20])
    record_access("bo", "open")
    assert [line.number for line in recorded_access()] == [1, 2, 3, 4, 5] and faults() == []


def test_a_long_line_at_the_end_is_found_whole(path):
    record_access("ann", "share", "d", ["x" * 300] * 60)
    record_access("ann", "share", "d", ["x" * 400])
    assert [line.number for line in recorded_access()] == [1, 2] and faults() == []
    assert len(recorded_access()[1].details[0]) == 300


def test_uploads_of_a_person_and_day_have_a_limit_and_are_in_the_record(path, monkeypatch):
    assert uploaded_bytes("ann") == 0 and not path.exists()
    assert record_upload("ann", 700_000, 1_000_000) and record_upload("ann", 1, 1_000_000)
    assert uploaded_bytes("ann") == 700_000 + LEAST_UPLOAD, "each file adds a line, however small it is"
    for _ in range(300):
        record_access("bo", "open", "data", ["x" * 300])  # more than is read at once
    assert not record_upload("ann", 300_000, 1_000_000)
    assert record_upload("ann", 200_000, 1_000_000) and record_upload("bo", 1_000_000, 1_000_000)
    lines = [line for line in recorded_access() if line.what == "upload"]
    assert [(line.who, line.details[0]) for line in lines][-1] == ("bo", "1000000 bytes")
    assert len(lines) == 4 and faults() == []
    erase_person("bo")
    assert uploaded_bytes("bo") == uploaded_bytes("erased person") == 0
    now = access_record.time.time()
    monkeypatch.setattr(access_record.time, "time", lambda: now + 25 * 3600.0)
    assert uploaded_bytes("ann") == 0 and record_upload("ann", 1_000_000, 1_000_000)


def _write(number):
    for _ in range(20):
        record_access(f"process {number}", "open")


def test_several_processes_write_one_chain(path, monkeypatch):
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.map(_write, range(3))
    assert len(recorded_access()) == 60 and faults() == []


def _upload(number):
    return [record_upload("ann", 1_000_000, 10_000_000) for _ in range(5)]


def test_uploads_to_several_processes_share_one_limit(path, monkeypatch):
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        within = pool.map(_upload, range(3))
    assert sum(map(sum, within)) == 10 and uploaded_bytes("ann") == 10_000_000 and faults() == []


def test_the_command_lists_lines_of_a_person(recorded, capsys):
    assert main(["access", "--who", "bo", "--days", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    (line,) = told["lines"]
    assert (told["n_lines"], line["what"], line["details"], line["number"]) == (5, "share", ["ann", "mia"], 5)
    assert main(["access", "--csv"]) == 0 and capsys.readouterr().out.count("\n") == 6
    assert main(["access", "--days", "0"]) == 2


def test_without_a_record_there_is_nothing_and_no_file(path, capsys):
    assert main(["access"]) == 0 and not path.exists()
    assert json.loads(capsys.readouterr().out)["lines"] == []
