"""A kept dataset stands for its file on the command line, by its digest."""

import json

import pytest

from core import library
from core.command_line import main
from core.ingest.read_files import read
from core.ingest.samples import load_sample
from core.review.events import Draft
from core.review.store import close_stores, open_store

CSV = b"thing,who,said\n1,ann,x\n1,bob,y\n2,ann,x\n2,bob,x\n"


@pytest.fixture
def digest(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "home"))
    dataset = read(CSV, name="odd", case="thing", rater="who", answer="said").dataset
    library.keep(dataset)
    return dataset.digest


def answer(capsys, *arguments) -> dict:
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


def test_the_digest_of_a_kept_dataset_is_read_as_a_file(capsys, digest):
    assert answer(capsys, "describe", digest)["digest"] == digest
    assert answer(capsys, "agreement", digest, "--select", '{"raters":["ann","bob"]}')["digest"] == digest


def test_a_digest_that_is_not_kept_is_one_clear_line(capsys, digest):
    assert main(["describe", "0" * 32]) == 2
    assert "Could not find the dataset" in capsys.readouterr().err


def test_a_file_of_that_name_comes_first(capsys, digest, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / digest).write_bytes(b"case,rater,class\n1,ann,z\n1,bob,z\n")
    assert answer(capsys, "describe", digest)["classes"] == ["z"]


def test_a_report_of_a_selection_holds_the_last_hash_of_the_whole_record(tmp_path):
    dataset = load_sample("anaesthesia")
    draft = Draft(dataset=dataset.digest, case_id=dataset.cases[0], kind="skip", reviewer="Ann")
    last = open_store().record(draft, seen=0, token="one").hash
    close_stores()
    chosen = f'{{"raters":["{dataset.raters[0]}","{dataset.raters[1]}"]}}'
    assert main(["report", "anaesthesia", "--sections", "data", "--out", str(tmp_path / "r"), "--select", chosen]) == 0
    close_stores()
    assert f"last hash {last}" in (tmp_path / "r").read_text(encoding="utf-8")
