"""Facts of cases are kept with their dataset, found again, and erased with it."""

import pytest

from core import library
from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.ingest.case_facts import CaseFacts
from core.ingest.read_files import read

FACTS = CaseFacts(
    {"1": "héllo\n<b>"},
    {"1": ("skin/a.png", "b.png"), "2": ("c.png",)},
    {"1": {"skin/a.png": b"one"}, "2": {"../c.png": b"two", "d.png": b"three"}},
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path / "home"))


@pytest.fixture
def dataset() -> Dataset:
    return read(b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n", name="readings").dataset


def contents(facts: CaseFacts) -> dict:
    return {case: {name: path.read_bytes() for name, path in files.items()} for case, files in facts.images.items()}


def test_facts_come_back_with_their_images_as_files(dataset):
    folder = library.keep(dataset, FACTS)
    facts = library.facts_of(dataset.digest)
    assert (facts.text, facts.address) == (FACTS.text, FACTS.address)
    assert contents(facts) == FACTS.images
    assert all(path.is_relative_to(folder) for files in facts.images.values() for path in files.values())
    assert library.reopen(dataset.digest).digest == dataset.digest


def test_facts_outlive_another_name_and_a_second_keeping(dataset):
    library.keep(dataset, FACTS)
    library.rename(dataset.digest, "new")
    library.keep(dataset)
    library.keep(dataset, library.facts_of(dataset.digest))
    assert contents(library.facts_of(dataset.digest)) == FACTS.images


def test_facts_given_later_take_the_place_of_those_before(dataset):
    library.keep(dataset)
    assert library.facts_of(dataset.digest) is None
    library.keep(dataset, FACTS)
    library.keep(dataset, CaseFacts({"1": "new"}))
    facts = library.facts_of(dataset.digest)
    assert (facts.text, facts.images) == ({"1": "new"}, {})


def test_forgetting_erases_the_facts(dataset):
    folder = library.keep(dataset, FACTS)
    library.forget(dataset.digest)
    assert not folder.exists()
    with pytest.raises(NotFoundError):
        library.facts_of(dataset.digest)


def test_damaged_facts_do_not_hide_the_dataset(dataset):
    folder = library.keep(dataset, FACTS)
    (folder / "facts" / "images.json").write_text("[]")
    assert library.facts_of(dataset.digest) is None
    assert library.reopen(dataset.digest).digest == dataset.digest


def test_a_dataset_that_is_mended_keeps_the_images_that_are_open(dataset):
    folder = library.keep(dataset, FACTS)
    facts = library.facts_of(dataset.digest)
    (folder / "annotations.parquet").write_bytes(b"damaged")
    library.keep(dataset, facts)
    assert library.reopen(dataset.digest).digest == dataset.digest
    assert contents(library.facts_of(dataset.digest)) == FACTS.images


def test_images_that_are_gone_are_left_out(dataset):
    library.keep(dataset, FACTS)
    facts = library.facts_of(dataset.digest)
    facts.images["1"]["skin/a.png"].unlink()
    library.keep(dataset, facts)
    assert contents(library.facts_of(dataset.digest)) == {"2": FACTS.images["2"]}


def test_nothing_is_left_behind_where_facts_cannot_be_written(dataset, monkeypatch):
    folder = library.keep(dataset, FACTS)
    monkeypatch.setattr("core.ingest.case_content.json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        library.keep(dataset, CaseFacts({"1": "new"}))
    monkeypatch.undo()
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []
