"""What belongs to data is there in every tab, after a reload, after a restart, and where the address is sent."""

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import belongings, library
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.errors import NotFoundError
from core.ingest.read_files import Reading, read
from core.review.store import n_reviews
from core.runtime.locks import end_running
from pages.shared.cache import datasets as cached
from pages.shared.cache.remembered import results
from tests.pages.opened import at, kept, opened, settle, words
from tests.pages.test_review import signed

TABLE = "\n".join(
    [
        "case,rater,class",
        *(f"{case},{rater},{'xyz'[(case * case + rater) % 3]}" for case in range(9) for rater in range(3)),
    ]
)
PREDICTIONS = "\n".join(["case,class,score", *(f"{case},{'xyz'[case % 3]},1" for case in range(9))]).encode()


def another_tab(page: str, address: str, **said) -> AppTest:
    """A new session that is opened by an address."""
    return settle(at(page, data=address, **said).run())


def sidebar(address: str) -> AppTest:
    """The sidebar alone: of an app with a navigation, AppTest shows the page only."""

    def drawn():
        from pages.shared.shell import frame

        frame.sidebar("home")

    app = AppTest.from_function(drawn, default_timeout=300)
    app.session_state["data"] = address
    return app.run()


def restarted() -> None:
    """What a new server does not have."""
    end_running()
    st.cache_resource.clear()
    st.cache_data.clear()


def unkept(name: str = "loose", table: str = TABLE) -> str:
    return cached.registry().add(read(table.encode(), name=name))


def test_predictions_are_there_in_another_tab_and_after_a_restart():
    address = kept(TABLE)
    belongings.add_predictions(address, "model.csv", PREDICTIONS)
    for _ in range(2):
        app = another_tab("reliability", address)
        said = words(app)
        assert "In use: model.csv." in said
        assert "model.csv: 9 of 9 cases" in said
        restarted()


def test_predictions_of_data_that_are_not_kept_are_in_every_tab_and_go_with_the_server():
    address = unkept()
    belongings.add_predictions(address, "model.csv", PREDICTIONS)
    assert "model.csv" in words(another_tab("reliability", address))
    restarted()
    assert belongings.predictions_of(address) == {}
    with pytest.raises(NotFoundError):
        cached.open_dataset(address)


def test_predictions_whose_kept_file_is_gone_are_named_and_the_others_stay():
    address = kept(TABLE)
    belongings.add_predictions(address, "gone.csv", PREDICTIONS + b"\n")
    (lost,) = belongings._folder(address).glob("*.predictions")
    belongings.add_predictions(address, "model.csv", PREDICTIONS)
    lost.unlink()
    said = words(another_tab("reliability", address))
    assert "Could not read the saved predictions 'gone.csv'" in said and "Add the file again." in said
    assert belongings.predictions_of(address)["model.csv"] == PREDICTIONS


def test_keeping_data_keeps_what_belongs_to_them():
    address = unkept()
    belongings.add_predictions(address, "model.csv", PREDICTIONS)
    belongings.add_selection(address, "two", Selection(raters=("0", "1")).to_text())
    app = sidebar(address)
    next(button for button in app.button if button.key == "keep_sidebar").click().run()
    assert not [button for button in app.button if button.key == "keep_sidebar"]
    restarted()
    assert belongings.predictions_of(address) == {"model.csv": PREDICTIONS}
    assert Selection.from_text(belongings.selections_of(address)["two"]).raters == ("0", "1")
    assert cached.open_dataset(address).dataset.digest == address


def test_the_sidebar_says_which_data_are_not_kept():
    for address, is_marked in ((unkept(), True), (kept(TABLE + "\nmore,0,x"), False), ("skin", False)):
        said = "\n".join(entry.value for entry in sidebar(address).sidebar.caption)
        assert "Data in use" in said and ("Not saved" in said) == is_marked


@pytest.mark.parametrize(("data", "who"), [("dermatology", "raters without names"), ("knees", "8 raters")])
def test_the_sidebar_counts_raters_only_where_they_are_known(data, who):
    assert f"cases · {who} · " in "\n".join(entry.value for entry in sidebar(data).sidebar.caption)


def test_the_chosen_trust_opens_in_another_tab_unless_the_address_says_another():
    address = kept(TABLE)
    app = opened("cases", address)
    app.slider(key="reliability").set_value(4.2).run()
    assert another_tab("cases", address).slider(key="reliability").value == 4.2
    assert another_tab("cases", address, reliability="2.0").slider(key="reliability").value == 2.0


def test_a_default_is_not_remembered_as_a_choice():
    address = kept(TABLE)
    opened("cases", address)
    assert belongings.chosen_for(address) == {}


def test_the_ninth_dataset_lets_none_go():
    tables = [TABLE + "".join(f"\nextra{number},{rater},x" for rater in range(3)) for number in range(12)]
    addresses = [unkept(f"data {number}", table) for number, table in enumerate(tables)]
    assert [cached.open_dataset(address).dataset.name for address in addresses] == [f"data {n}" for n in range(12)]


def test_datasets_beyond_the_memory_are_read_back_from_disk_report_and_all():
    registry = cached.Registry(most_bytes=1)
    readings = [read((TABLE + f"\nextra{number},0,x\nbad,,x").encode(), name=f"data {number}") for number in range(3)]
    addresses = [registry.add(reading) for reading in readings]
    assert len(registry._readings) == 1
    for address, reading in zip(addresses, readings, strict=True):
        back = registry.get(address)
        assert back.dataset.digest == address and back.dataset.name == reading.dataset.name
        assert repr(back.report) == repr(reading.report)


def test_starting_a_review_keeps_the_data_and_undo_takes_it_back():
    address = unkept()
    app = signed(address)
    assert not library.is_kept(address)
    app = settle(app.button(key="start_session").click().run())
    assert library.is_kept(address)
    assert "now saved on this computer" in words(app)
    restarted()
    assert cached.open_dataset(address).dataset.digest == address
    app.button(key="undo_keep").click().run()
    assert not library.is_kept(address) and cached.open_dataset(address).dataset.digest == address
    assert n_reviews(address) == 0 and not [one for one in app.button if one.key == "undo_keep"]


def test_that_data_are_kept_is_said_until_the_first_case_is_done():
    """On every case it would take a line of the screen."""
    app = settle(signed(unkept()).button(key="start_session").click().run())
    assert "now saved on this computer" in words(app)
    for label in ("x", "Record my opinion", "Keep my opinion"):
        assert "now saved on this computer" in words(app)
        app = settle(next(one for one in app.button if one.label.startswith(label)).click().run())
    assert "now saved on this computer" not in words(app)


def test_forgetting_erases_data_predictions_results_and_jobs_of_these_data_only():
    mine, other = kept(TABLE), kept(TABLE + "\nmore,0,x\nmore,1,y")
    for address in (mine, other):
        belongings.add_predictions(address, "model.csv", PREDICTIONS)
        opened("raters", address)
    gone, stays = (library.reopen(address).content_digest for address in (mine, other))
    cached.forget(mine)
    assert belongings.predictions_of(mine) == {} and belongings.predictions_of(other)
    contents = {key[0] for key in results()._found}
    assert gone not in contents and stays in contents
    jobs = {name[0] for name in cached.jobs().all_keys() if isinstance(name, tuple)}
    assert gone not in jobs and stays in jobs


def test_forgetting_erases_reports_and_files_that_were_read_from_memory():
    """They are jobs of no content: a report has names, and what was uploaded is there as it came."""
    mine, other = kept(TABLE), kept(TABLE + "\nmore,0,x\nmore,1,y")
    jobs = {}
    for number, address in enumerate((mine, other)):
        keys = [("report", address, "settings"), ("open", (f"file{number}",)), ("build", "open", (f"file{number}",))]
        reading = Reading(library.reopen(address), None)
        for key, result in zip(keys, (b"report", b"file", reading), strict=True):
            found = cached.job(key, key[0], lambda job, result=result: result)
            assert found.wait(20)
            found.sessions = {f"session{number}"}
            jobs[address, key[0]] = found
    cached.forget(mine)
    there = [of for of, job in jobs.items() if cached.jobs().get(job.key) is job]
    assert there == [(other, "report"), (other, "open"), (other, "build")]


def test_a_report_of_a_part_is_erased_with_the_data():
    address = kept(TABLE)
    another_tab("report", address, select=Selection(raters=("0", "1")).to_text())
    keys = [name for name in cached.jobs().all_keys() if isinstance(name, tuple)]
    reports = [name for name in keys if name[0] == "report" and address in name[1]]
    assert reports
    cached.forget(address)
    assert not set(reports) & set(cached.jobs().all_keys())


def test_a_restart_computes_nothing_again_that_took_long(monkeypatch):
    rng = np.random.default_rng(0)
    case, rater = np.repeat(np.arange(60), 6), np.tile(np.arange(6), 60)
    dataset = Dataset.from_classes("slow", tuple(map(str, range(60))), tuple("abcdef"), ("x", "y", "z"), case, rater,
                                   rng.integers(0, 3, 360))  # fmt: skip
    cached.keep(Reading(dataset, None))
    monkeypatch.setattr("core.runtime.result_cache.STORED_FROM", 0.0)
    opened("cases", dataset.digest)
    restarted()
    started = []
    start = cached.JobBoard._start
    monkeypatch.setattr(cached.JobBoard, "_start", lambda self, job: (started.append(job.title), start(self, job))[1])
    opened("cases", dataset.digest)
    assert started == []
