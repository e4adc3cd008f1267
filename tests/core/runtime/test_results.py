"""Results on disk and in memory: whole or not at all, found by content, erased with their data and no others."""

import io
import os
import shutil
import signal
import threading
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pytest

from core import belongings, library
from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.ingest.samples import read_sample
from core.methods import methods
from core.models.catalogue import fit_request, request
from core.models.rater_methods import RaterModelMethod
from core.raters.monitoring import monitor
from core.runtime.encoding import DAMAGED, NotStorableError, from_bytes, to_bytes
from core.runtime.files import draft_name, running_folder, sweep_drafts, write_whole
from core.runtime.result_cache import STORED_FROM, Results, ResultStore, fleeting_results, kept_results, size_of
from core.settings import current_settings


def data(raters=("Ann", "Bob", "Cy"), n_cases=8, ordinal=False) -> Dataset:
    case, rater = np.repeat(np.arange(n_cases), len(raters)), np.tile(np.arange(len(raters)), n_cases)
    cases = tuple(map(str, range(n_cases)))
    answer = (case * case + rater) % 3
    return Dataset.from_classes("ward", cases, raters, ("x", "y", "z"), case, rater, answer, ordinal=ordinal)


@pytest.fixture
def store(tmp_path):
    return ResultStore(lambda: tmp_path / "results", lambda: 1_000_000)


def same(one, other) -> bool:
    """Whether two results are equal, arrays to the bit."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    if isinstance(one, tuple | list):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and (one == other or (one != one and other != other))


VALUES = (
    *(None, True, 0, -7, 2**70, 0.1, float("inf"), "", "é\U000f0000", b"\x00\xff", (), (1, (2.5, "x")), [1, [2]]),
    *({1: "a", "b": (2,)}, frozenset({1, 2}), np.arange(6, dtype=np.int8).reshape(2, 3), np.float32(0.1)),
    *(np.array(["a", "bc"]), np.empty((0, 3)), np.asfortranarray(np.eye(3))),
)


@pytest.mark.parametrize("value", VALUES)
def test_values_come_back_as_they_were(value):
    back = from_bytes(to_bytes(value, data()), data())
    assert same(back, value) or back == value


def test_undefined_numbers_come_back_as_undefined():
    assert np.isnan(from_bytes(to_bytes(float("nan"), data()), data()))


@pytest.mark.parametrize(
    "name", [name for name, one in methods(RaterModelMethod).items() if one.ways[0] in ("vote", "em")]
)
def test_fits_come_back_to_the_bit_and_share_what_the_data_have(name):
    dataset = data(ordinal=name == "ordinal").coded
    fitted = fit_request(request(name), dataset)
    back = from_bytes(to_bytes(fitted, dataset), dataset)
    assert same(back, fitted)
    assert back.dataset is dataset
    assert back.fit.cases is dataset.cases


def test_a_table_of_raters_comes_back_to_the_bit():
    dataset = read_sample("skin").dataset.as_classes()[0].coded
    table = monitor(dataset)
    assert same(from_bytes(to_bytes(table, dataset), dataset), table)


def test_what_is_no_result_is_not_written():
    with pytest.raises(NotStorableError):
        to_bytes((1, print), data())


@dataclass(frozen=True)
class Foreign:
    value: int


def test_a_class_of_another_package_is_not_written():
    with pytest.raises(NotStorableError):
        to_bytes(Foreign(1), data())


@pytest.mark.parametrize(
    "tree", ['{"is":".settings:current_settings","has":{}}', '{"is":".errors:InputError","has":{}}']
)
def test_what_is_read_makes_no_objects_but_results(tree, tmp_path):
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr("result.json", tree)
    with pytest.raises(DAMAGED):
        from_bytes((tmp_path / "a").read_bytes(), data())


def test_a_result_is_found_again_by_content_whatever_raters_are_called(store):
    assert store.get(data(), ("m", 1)) is None
    assert store.put(data(), ("m", 1), np.arange(3), "one")
    [found] = store.get(data(("Dan", "Eve", "Flo")), ("m", 1))
    assert found.tolist() == [0, 1, 2] and not found.flags.writeable
    assert store.get(data(), ("m", 2)) is None
    assert store.get(data(n_cases=9), ("m", 1)) is None


@pytest.mark.parametrize("cut", [0, 10, 60])
def test_a_damaged_result_is_none_and_is_removed(store, tmp_path, cut):
    store.put(data(), ("m",), np.arange(100), "one")
    [path] = tmp_path.glob("results/*/*.result")
    path.write_bytes(path.read_bytes()[:cut])
    assert store.get(data(), ("m",)) is None
    assert not path.exists()


def test_a_result_with_a_hole_is_whole_or_none(store, tmp_path):
    """As a machine that stopped may leave it: what was not on the disk yet reads as zeros."""
    result = np.arange(4000) ** 2 % 997
    store.put(data(), ("m",), result, "one")
    [path] = tmp_path.glob("results/*/*.result")
    whole = path.read_bytes()
    for size in (1, 16, 512, len(whole)):
        for start in range(0, len(whole), max(size, 64)):
            path.write_bytes(whole[:start] + bytes(size) + whole[start + size :])
            found = store.get(data(), ("m",))
            assert (found is None and not path.exists()) or np.array_equal(found[0], result)


def test_of_too_many_results_those_used_longest_ago_go(tmp_path):
    one = len(to_bytes(np.random.default_rng(0).integers(0, 256, 10_000, np.uint8), data()))
    store = ResultStore(lambda: tmp_path, lambda: 3 * one + 50)
    for number in range(3):
        store.put(data(), (number,), np.random.default_rng(number).integers(0, 256, 10_000, np.uint8), "one")
        for path in tmp_path.glob("*/*.result"):
            os.utime(path, (time.time() - 60 + number,) * 2) if path.stat().st_mtime > time.time() - 30 else None
    assert store.get(data(), (0,)) is not None  # used now
    store.put(data(), (3,), np.random.default_rng(3).integers(0, 256, 10_000, np.uint8), "one")
    assert [store.get(data(), (number,)) is not None for number in range(4)] == [True, False, True, True]
    assert store.size() <= 3 * one + 50


def test_erasing_a_dataset_leaves_what_another_has_too(store):
    store.put(data(), ("m",), 1, "one")
    store.put(data(), ("n",), 2, "two")
    store.put(data(n_cases=9), ("m",), 3, "two")
    assert store.erase("one") == []
    assert store.get(data(), ("m",)) == (1,)
    assert sorted(store.erase("two")) == sorted([data().content_digest, data(n_cases=9).content_digest])
    assert store.get(data(), ("m",)) is None and store.size() == 0


def _write_for_ever(home, content: bytes) -> None:
    """Datasets and results without an end."""
    for number in range(10**6):
        place = home / "results" / data().content_digest
        place.mkdir(parents=True, exist_ok=True)
        write_whole(place / f"{number % 7}.result", content)
        library.keep(data(n_cases=8 + number % 5))
        library.forget(data(n_cases=8 + number % 5).digest)


def test_killed_while_writing_there_is_no_half_result_and_after_the_next_start_no_draft(home):
    """50 times a process is killed as it writes results and keeps datasets."""
    rng, left = np.random.default_rng(5), 0
    data().content_digest, library.keep(data()), library.forget(data().digest)  # what is imported at first use
    content = to_bytes(np.random.default_rng(1).integers(0, 256, 4_000_000, np.uint8), data())
    for _ in range(50):
        child = os.fork()
        if child == 0:
            with suppress(BaseException):
                _write_for_ever(home, content)
            os._exit(1)
        time.sleep(float(rng.uniform(0.08, 0.16)))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        left += bool([*home.glob("*/.*"), *home.glob("*/*/.*")])
    assert left > 5, "hardly one was killed in the middle"
    library.sweep()
    kept_results().sweep()
    assert [*home.glob("**/.*")] == []
    for path in home.glob("results/*/*.result"):
        assert from_bytes(path.read_bytes(), data().coded).shape == (4_000_000,)
    for entry in library.kept():
        assert library.reopen(entry.digest).digest == entry.digest


def test_a_draft_of_a_process_that_lives_stays(home):
    home.mkdir(exist_ok=True)
    mine, gone = home / draft_name("writing"), home / ".writing-host-1-ab-cd"
    mine.touch()
    gone.touch()
    os.utime(gone, (1, 1))
    sweep_drafts(home)
    assert mine.exists() and not gone.exists()


def test_drafts_of_what_belongs_to_data_and_of_what_was_answered_go_with_the_next_start(home):
    library.keep(data())
    belongings.add_predictions(data().digest, "net", b"case,class\n0,x\n")
    [dataset], [own] = current_settings().datasets.iterdir(), (home / "belongings").iterdir()
    files = [folder / ".writing-host-1-ab-cd" for folder in (dataset, own, home / "belongings", home / "mappings")]
    for path in files:
        path.parent.mkdir(exist_ok=True)
        path.touch()
        os.utime(path, (1, 1))
    notes = home / "notes"
    notes.mkdir()
    for path in (notes / ".writing-course", dataset / ".keeping-fit.txt", notes / files[0].name):
        path.touch()
        os.utime(path, (1, 1))  # somebody's own, by their names or their place
    others = {path for path in home.rglob("*") if path.is_file()} - set(files)
    library.sweep()
    assert {path for path in home.rglob("*") if path.is_file()} == others
    assert library.reopen(data().digest).digest == data().digest


def test_a_draft_is_not_listed_as_a_dataset():
    folder = current_settings().datasets / ".keeping-abc"
    library.keep(data())
    (current_settings().datasets / data().digest).rename(folder)
    assert library.kept() == []


def slow(result):
    def work(content):
        time.sleep(STORED_FROM)
        return result

    return work


def fresh(kept=("one",)) -> Results:
    return Results(10**6, kept_results(), fleeting_results(), lambda owner: owner in kept)


def never(content):
    raise AssertionError("computed again")


def test_a_result_is_written_though_its_folder_is_taken_away_meanwhile(tmp_path, monkeypatch):
    """Who forgets other data of the same content removes the folder between its making and the writing, and again."""
    store, tries = ResultStore(lambda: tmp_path / "results", lambda: 1_000_000), []

    def taken_away(path, content, **how):
        tries.append(path)
        if len(tries) < 4:
            shutil.rmtree(path.parent)
        write_whole(path, content, **how)

    monkeypatch.setattr("core.runtime.result_cache.write_whole", taken_away)
    assert store.put(data(), ("m",), 7, "one") and len(tries) == 4
    assert store.owned("one") == [data().content_digest] and store.get(data(), ("m",)) == (7,)


def test_a_restart_finds_what_was_computed_of_kept_data():
    fresh().of(data(), ("m",), slow(7), "one")
    assert fresh().of(data(), ("m",), never, "one") == 7


def test_data_that_are_not_kept_leave_nothing_behind(home):
    results = fresh(())
    assert results.of(data(), ("m",), slow(7), "one") == 7
    assert not (home / "results").exists()
    assert [*running_folder().rglob("*.result")]


def test_keeping_data_keeps_what_was_computed():
    kept: list[str] = []
    results = Results(10**6, kept_results(), fleeting_results(), lambda owner: owner in kept)
    results.of(data(), ("m",), slow(7), "one")
    kept.append("one")
    results.keep("one")
    assert fresh().of(data(), ("m",), never, "one") == 7


def test_forgetting_erases_memory_and_disk_and_touches_nobody_else():
    results = fresh(("one", "two"))
    mine, both = data(n_cases=5), data()
    results.of(mine, ("m",), slow(1), "one")
    results.of(both, ("m",), slow(2), "one")
    results.of(both, ("m",), never, "two")
    assert results.forget("one") == {mine.content_digest}
    assert results.of(both, ("m",), never, "two") == 2
    with pytest.raises(AssertionError):
        results.of(mine, ("m",), never, "one")
    with pytest.raises(AssertionError):
        fresh().of(mine, ("m",), never, "one")


def test_forgetting_a_kept_dataset_erases_its_results_on_disk(home):
    library.keep(data())
    fresh((data().digest,)).of(data(), ("m",), slow(1), data().digest)
    assert [*home.glob("results/*/*.result")]
    library.forget(data().digest)
    assert not [*home.glob("results/*/*")]


def test_what_two_ask_for_at_once_is_computed_once():
    results, computed = fresh(), []

    def work(content):
        computed.append(1)
        time.sleep(0.05)
        return 3

    threads = [threading.Thread(target=results.of, args=(data(), ("m",), work, "one")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert computed == [1]


def test_an_error_names_the_raters_of_whoever_asked_and_is_not_remembered():
    def work(content):
        raise NotFoundError(content.raters[0])

    results = fresh()
    for raters in (("Ann", "Bob", "Cy"), ("Dan", "Eve", "Flo")):
        with pytest.raises(NotFoundError, match=raters[0]):
            results.of(data(raters), ("m",), work, "one")


def test_memory_lets_go_of_the_longest_unused_beyond_its_size():
    results = Results(250_000, kept_results(), fleeting_results(), lambda owner: False)
    for number in range(4):
        results.of(data(), (number,), lambda content: np.zeros(10_000), "one")
    assert results.bytes <= 250_000
    with pytest.raises(AssertionError):
        results.of(data(), (0,), never, "one")
    assert results.of(data(), (3,), never, "one").size == 10_000


@pytest.mark.parametrize("kept", [("one",), ()])
def test_what_is_on_disk_or_quickly_computed_is_discarded_and_there_again(kept):
    results = fresh(kept)
    results.of(data(), ("slow",), slow(np.arange(5000)), "one")
    results.of(data(), ("quick",), lambda content: np.zeros(5000), "one")
    held = results.bytes
    assert held > 80_000
    for _ in range(2):
        results.discard()
        assert results.bytes == 0
    assert results.of(data(), ("slow",), never, "one").tolist() == list(range(5000))
    assert results.of(data(), ("quick",), lambda content: np.ones(5000), "one").all()
    assert results.bytes == held
    results.discard()  # what was read is discarded as what was computed
    assert results.bytes == 0
    assert results.forget("one") == {data().content_digest}


@pytest.mark.parametrize("how", ["too large for the disk", "gone from the disk", "written elsewhere"])
def test_what_took_long_and_is_not_on_disk_is_not_discarded(home, how):
    most = 10_000 if how == "too large for the disk" else 10**6
    store = ResultStore(lambda: home / "results", lambda: most)
    results = Results(10**6, store, fleeting_results(), lambda owner: True)
    results.of(data(), ("slow",), slow(np.random.default_rng(0).random(5000)), "one")
    if how == "gone from the disk":  # for its size, as what is used from memory is not used on disk
        [path] = home.glob("results/*/*.result")
        path.unlink()
    results.discard()
    if how == "written elsewhere":
        assert results.of(data(), ("slow",), never, "one").size == 5000
        [path] = home.glob("results/*/*.result")
        shutil.rmtree(path.parent)
        results.discard()
    assert results.of(data(), ("slow",), never, "one").size == 5000


def test_what_cannot_be_written_is_not_discarded():
    results, foreign = fresh(), Foreign(1)
    results.of(data(), ("slow",), slow(foreign), "one")
    results.discard()
    assert results.of(data(), ("slow",), never, "one") is foreign


def test_the_size_of_a_result_is_that_of_its_arrays_counted_once():
    array = np.zeros(1000)
    assert 8000 <= size_of((array, array, {"a": array})) < 9000


def test_an_array_is_compressed_where_that_makes_it_smaller_and_comes_back_either_way(build):
    """Shares hardly become smaller, and take as long to compress as to compute; codes do."""
    dataset, rng = build([(0, 0, 0)], 2), np.random.default_rng(0)
    arrays = (rng.random(60_000), rng.integers(0, 3, 60_000), np.zeros((300, 200)).T, rng.random(5), np.arange(0.0))
    content = to_bytes(arrays, dataset)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        how = [archive.getinfo(f"{number}.npy").compress_type for number in range(len(arrays))]
    assert how == [zipfile.ZIP_STORED, *[zipfile.ZIP_DEFLATED] * 4]
    for found, array in zip(from_bytes(content, dataset), arrays, strict=True):
        assert np.array_equal(found, array) and found.dtype == array.dtype
    with zipfile.ZipFile(io.BytesIO(to_bytes(arrays, dataset, compress=False))) as archive:
        assert {one.compress_type for one in archive.infolist()} == {zipfile.ZIP_STORED}
