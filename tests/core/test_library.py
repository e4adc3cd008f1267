"""Kept datasets come back whole or not at all."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from core import library
from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import InputError, NotFoundError
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from core.ingest.saved_mappings import note_dataset, noted_datasets
from core.settings import current_settings

CLASSES = b"case,rater,class,date,site\n1,Zo\xc3\xab,x,2024-01-01,north\n1,bob,y,,north\n2,bob,x,2024-01-02,south\n"
RANKINGS = b"case,rater,rank,class\n1,ann,1,x\n1,ann,2,y\n1,ann,2,z\n2,bob,1,z\n"
SCORES = b"case,rater,score\n1,ann,1.5\n1,bob,2\n2,ann,-3.25\n"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def dataset_of(content: bytes = CLASSES, name: str = "readings") -> Dataset:
    return read(content, name=name).dataset


def with_side_tables() -> Dataset:
    return replace(
        dataset_of(),
        class_risk=np.array([2, -1], np.int8),
        gold=np.array([1, -1], np.int32),
        ordinal=True,
        raters_identified=False,
    )


@pytest.mark.parametrize(
    "make",
    [dataset_of, lambda: dataset_of(RANKINGS), lambda: dataset_of(SCORES), with_side_tables],
    ids=["classes", "rankings", "scores", "side tables"],
)
def test_a_kept_dataset_reopens_with_everything(make):
    dataset = make()
    library.keep(dataset)
    again = library.reopen(dataset.digest)
    assert again.digest == dataset.digest
    assert (again.name, again.kind, again.cases, again.raters) == (
        "readings",
        dataset.kind,
        dataset.cases,
        dataset.raters,
    )
    for field in ("class_risk", "gold", "case_group", "time", "entry_block", "ordinal", "raters_identified"):
        np.testing.assert_array_equal(getattr(again, field), getattr(dataset, field))
    with pytest.raises(ValueError, match="read-only"):
        again.rater[:] = 0


def test_unknown_dates_come_back_unknown():
    library.keep(dataset_of())
    assert (library.reopen(dataset_of().digest).time == MISSING_TIME).sum() == 1


def test_the_list_has_the_latest_first(home):
    assert library.kept() == []
    for content, name in ((CLASSES, "first"), (RANKINGS, "second"), (SCORES, "third")):
        library.keep(dataset_of(content, name))
    assert [entry.name for entry in library.kept()] == ["third", "second", "first"]
    entry = library.kept()[2]
    assert (entry.digest, entry.kind) == (dataset_of().digest, "class")
    assert (entry.n_cases, entry.n_raters, entry.n_annotations) == (2, 2, 3)
    assert sorted(path.name for path in (home / "datasets").iterdir()) == sorted(e.digest for e in library.kept())


def test_keeping_again_changes_only_the_name():
    library.keep(dataset_of(name="old"))
    library.keep(dataset_of(name="new"))
    assert [entry.name for entry in library.kept()] == ["new"]


def test_renaming_keeps_the_digest_and_trims_the_name():
    digest = dataset_of().digest
    library.keep(dataset_of())
    library.rename(digest, "  A  better\nname ")
    assert library.kept()[0].name == "A better name"
    assert library.reopen(digest).digest == digest
    with pytest.raises(InputError, match="name is empty"):
        library.rename(digest, " \n")


def test_a_forgotten_dataset_is_gone_from_the_disk():
    folder, digest = library.keep(dataset_of()), dataset_of().digest
    source = open_source([("march.csv", b"case,rater,class\n1,ann,x\n2,ann,y\n")])
    wide = open_source([("march.csv", b"case,ann,bob\n1,x,x\n2,x,y\n")])
    for of, noted in ((source, (digest, "f" * 32)), (wide, (digest,))):
        for one in noted:
            note_dataset(of, of.questions[0], one)
    library.forget(digest)
    assert not folder.exists()
    assert library.kept() == []
    assert noted_datasets(source, source.questions[0]) == ["f" * 32]
    home = [path for path in current_settings().home.rglob("*") if path.is_file()]
    assert not [path for path in home if digest in path.name or digest.encode() in path.read_bytes()]
    with pytest.raises(NotFoundError, match="Could not find the dataset"):
        library.reopen(dataset_of().digest)


def write_meta(folder, **changes):
    path = folder / "dataset.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


DAMAGES = {
    "parquet cut": lambda folder: (folder / "annotations.parquet").write_bytes(b"PAR1 and no more"),
    "parquet gone": lambda folder: (folder / "annotations.parquet").unlink(),
    "entries gone": lambda folder: (folder / "entries.parquet").unlink(),
    "cases empty": lambda folder: (folder / "cases.parquet").write_bytes(b""),
    "json cut": lambda folder: (folder / "dataset.json").write_text('{"name": "x"'),
    "json of another kind": lambda folder: (folder / "dataset.json").write_text("[1, 2]"),
    "json gone": lambda folder: (folder / "dataset.json").unlink(),
    "json not text": lambda folder: (folder / "dataset.json").write_bytes(b"\xff\xfe\x00"),
    "key gone": lambda folder: (folder / "dataset.json").write_text('{"name": "x"}'),
    "class changed": lambda folder: write_meta(folder, classes=["x", "y", "changed"]),
    "raters a number": lambda folder: write_meta(folder, raters=5),
    "raters not text": lambda folder: write_meta(folder, raters=[1, 2]),
    "risk too large": lambda folder: write_meta(folder, class_risk=[1000, 0, 0]),
    "other kind": lambda folder: write_meta(folder, kind="score"),
    "tables swapped": lambda folder: shutil.copy(folder / "cases.parquet", folder / "annotations.parquet"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_dataset_is_refused_and_mended_by_keeping_it_again(damage):
    dataset = dataset_of(RANKINGS)
    folder = library.keep(dataset)
    DAMAGES[damage](folder)
    with pytest.raises(InputError, match="Delete it, and open the original file") as caught:
        library.reopen(dataset.digest)
    assert dataset.digest[:8] in caught.value.message
    assert isinstance(library.kept(), list)
    library.keep(dataset)
    assert library.reopen(dataset.digest).digest == dataset.digest


UNREADABLE = ("json cut", "json of another kind", "json not text", "key gone", "json gone")


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_dataset_whose_description_is_damaged_is_listed_as_such_and_can_be_forgotten(damage):
    """Whatever is damaged, no kept dataset vanishes from the list."""
    library.keep(dataset_of(CLASSES, "sound"))
    dataset = dataset_of(RANKINGS)
    DAMAGES[damage](library.keep(dataset))
    listed = {entry.digest: entry for entry in library.kept()}
    assert len(listed) == 2 and not listed[dataset_of(CLASSES).digest].damaged
    entry = listed[dataset.digest]
    assert entry.damaged == (damage in UNREADABLE)
    if entry.damaged:
        assert dataset.digest[:8] in entry.name and (entry.n_cases, entry.n_annotations) == (0, 0)
        assert entry.kept_at[:4] >= "2026"
    library.forget(dataset.digest)
    assert [entry.name for entry in library.kept()] == ["sound"]


def test_kept_lists_a_dataset_without_a_readable_day_as_damaged():
    write_meta(library.keep(dataset_of(CLASSES)), kept_at="yesterday")
    assert [entry.damaged for entry in library.kept()] == [True]


def test_a_damaged_dataset_can_be_forgotten():
    folder = library.keep(dataset_of())
    (folder / "dataset.json").write_text("[]")
    with pytest.raises(InputError):
        library.rename(dataset_of().digest, "name")
    library.forget(dataset_of().digest)
    assert not folder.exists()


def test_a_home_that_cannot_be_written_is_refused_with_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(InputError, match="Could not write") as caught:
        library.keep(dataset_of())
    assert "PLURALITY_HOME" in caught.value.remedy
    assert library.kept() == []
    with pytest.raises(NotFoundError):
        library.reopen(dataset_of().digest)


def test_nothing_half_written_stays_when_the_disk_gives_up(home, monkeypatch):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(library.parquet, "write_table", full)
    with pytest.raises(InputError, match="No space left on device"):
        library.keep(dataset_of())
    assert list((home / "datasets").iterdir()) == []


@pytest.mark.parametrize("action", [library.reopen, library.forget, lambda digest: library.rename(digest, "x")])
@pytest.mark.parametrize(
    "digest",
    ["", ".", "..", "../..", "/etc", "0" * 32, "A" * 32, "0" * 31 + "/", "0" * 32 + "\n", "%2e%2e", "\x00" * 32],
)
def test_no_path_can_be_smuggled_in_for_a_digest(action, digest, home):
    keep = home / "datasets"
    keep.mkdir(parents=True)
    (home / "dataset.json").write_text("{}")
    (keep / "dataset.json").write_text("{}")
    with pytest.raises(NotFoundError):
        action(digest)
    assert (home / "dataset.json").exists()
    assert (keep / "dataset.json").exists()
