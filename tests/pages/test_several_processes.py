"""What another process of the server does to a dataset holds in this one: opened, renamed, kept, erased."""

import os

import pytest

from core import library
from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.results.disk import end_running
from pages.shared.cache.datasets import Registry

pytestmark = pytest.mark.skipif(os.name != "posix", reason="several processes need a system with locks of files")


@pytest.fixture
def processes(monkeypatch):
    """The open datasets of two processes, and what the second one was told to let go."""
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    gone = []
    yield Registry(10**9, lambda digest: None), Registry(10**9, gone.append), gone
    end_running()


def small():
    return Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])


def test_what_one_opens_the_other_finds(processes):
    one, other, _ = processes
    assert other.get(small().digest) is None
    one.add(Reading(small(), None, None))
    assert other.get(small().digest).dataset.digest == small().digest


def test_what_one_renames_has_its_new_name_in_the_other(processes):
    _, other, gone = processes
    library.keep(small())
    other.add(Reading(small(), None, None))
    assert other.get(small().digest).dataset.name == "small"
    library.rename(small().digest, "renamed")
    assert other.get(small().digest) is None, "it is read from the disk again"
    assert library.reopen(small().digest).name == "renamed"
    assert gone == []


def test_what_one_erases_the_other_lets_go_of_without_being_asked(processes):
    one, other, gone = processes
    one.add(Reading(small(), None, None))
    assert other.get(small().digest) is not None
    library.keep(small())
    library.forget(small().digest)
    other.look_at_all()
    assert gone == [small().digest]
    assert other.get(small().digest) is None
