"""Two processes behind the proxy that `deploy` configures: one is killed, its people find everything again."""

import asyncio
import os
import signal
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPSConnection
from pathlib import Path

import pytest
import streamlit
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus

from core import belongings, library
from core.annotations.dataset import Dataset
from core.review.sessions import Queued
from core.review.store import ReviewStore
from tests.benchmarks import kill, load
from tests.benchmarks.pages import Visitor
from tests.browser.deployed import ANN, Deployed, missing_tools

LONGEST = 240.0  # seconds

pytestmark = pytest.mark.skipif(bool(missing_tools()), reason=f"missing here: {missing_tools()}")


def in_a_loop_of_its_own(work: Coroutine):
    """Result of a coroutine, in a thread, for a browser may have a loop in this one; of one that ends."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, asyncio.wait_for(work, LONGEST)).result()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    running = Deployed(tmp_path_factory.mktemp("deployed"))
    try:
        yield running.start()
    finally:
        running.stop()
    left = [path.name for path in running.home.glob(".*") if path.is_dir()]
    assert len(left) <= 1 and ".unkept" not in left, (
        "of the killed one alone something may be left until the next start"
    )


def ours():
    return Dataset.from_classes("Ward seven", ["c1", "c2"], ["r1", "r2"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])


@pytest.fixture
def data(deployed, monkeypatch):
    """Data of Ann's that are not kept, and a queue of hers, as one of the processes would have written them."""
    monkeypatch.setenv("PLURALITY_HOME", str(deployed.home))
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    library.set_aside(ours(), None, None)
    belongings.set_people(ours().digest, owners=(ANN,), shared=())
    store = ReviewStore()
    store.start_session(ours().digest, ANN, "Doubtful first", [Queued("c1", "why"), Queued("c2", "why")])
    store.close()
    return ours().digest


def process_of(headers):
    """Which process answered, by the cookie that the proxy sets."""
    (told,) = [value for value in headers.get_all("Set-Cookie") if value.startswith("plurality=")]
    return told.split(";")[0].removeprefix("plurality="), told


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs a system whose processes can be stopped")
def test_a_process_that_is_busy_for_seconds_keeps_its_people(deployed, data):
    """It answers no look of the proxy meanwhile."""

    async def story():
        async with deployed.connect() as socket:
            visitor = Visitor(socket)
            await visitor.run("settings", f"data={data}")
            process, _ = process_of(socket.response.headers)
            serving = deployed.serving(process)
            os.kill(serving, signal.SIGSTOP)
            try:
                await asyncio.sleep(4.5)
            finally:
                os.kill(serving, signal.SIGCONT)
            await visitor.run("settings", f"data={data}")
            assert b"Ward seven" in b"".join(visitor.said)

    in_a_loop_of_its_own(story())


def test_a_killed_process_leaves_its_people_their_page_data_and_queue(deployed, data):
    async def seen(socket):
        visitor = Visitor(socket)
        found = []
        for page in ("settings", "cases", "review"):
            await visitor.run(page, f"data={data}")
            found.append(b"".join(visitor.said))
        return [b"Ward seven" in found[0], b"c1" in found[1], b"Doubtful first" in found[2]]

    async def again(first, within):
        """Which process somebody with the cookie of one that was just killed has a page of, and how soon."""
        killed = time.monotonic()
        while time.monotonic() - killed < within:
            try:
                async with deployed.connect(ANN, f"plurality={first}") as socket:
                    anew = "Set-Cookie" in socket.response.headers  # from whom the cookie does not name
                    assert await seen(socket) == [True, True, True]
                    return process_of(socket.response.headers)[0] if anew else first
            except (OSError, EOFError, InvalidStatus):  # as a browser, which asks again
                await asyncio.sleep(0.1)
        raise TimeoutError("no process took them in")

    async def story():
        async with deployed.connect() as socket:
            first, told = process_of(socket.response.headers)
            assert await seen(socket) == [True, True, True]
            assert {"HttpOnly", "Secure"} <= {part.strip() for part in told.split(";")}
            served = deployed.serving(first)
            deployed.kill_serving(first)
        assert await again(first, within=60) == first, "its parent begins another one at once"
        assert deployed.serving(first) != served
        deployed.kill(first)
        assert await again(first, within=60) != first, "and for nobody for ever"

    in_a_loop_of_its_own(story())


def test_a_stranger_behind_the_proxy_sees_neither_name_nor_case(deployed, data):
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with closing(HTTPSConnection("localhost", deployed.asked.port, context=deployed.tls, timeout=60)) as door:
        door.request("GET", "/_stcore/stream", headers=asked | {"Sec-WebSocket-Key": 22 * "x" + "=="})
        assert door.getresponse().status == 403, "without a sign-in there is no session"

    async def story():
        async with deployed.connect("eve@clinic.example") as socket:
            visitor = Visitor(socket)
            for page in load.PAGES:
                await visitor.run(page, f"data={data}")
                said = b"".join(visitor.said)
                assert [word for word in (b"Ward seven", b"Doubtful first", ANN.encode()) if word in said] == []

    in_a_loop_of_its_own(story())


async def file_of(socket, sent: list[bytes]) -> str:
    """The address of the file behind the first button that makes one, as its press would ask for it."""
    told = [ForwardMsg.FromString(message) for message in sent]
    session = next(filter(None, (one.new_session.initialize.session_id for one in told)))
    file = next(filter(None, (one.delta.new_element.download_button.deferred_file_id for one in told)))
    asked = BackMsg(
        backend_operation_request={"request_id": "1", "session_id": session, "deferred_file": {"file_id": file}}
    )
    await socket.send(asked.SerializeToString())
    while True:
        answer = ForwardMsg.FromString(await socket.recv())
        if answer.HasField("backend_operation_response"):
            assert not answer.backend_operation_response.error_msg
            return answer.backend_operation_response.deferred_file.url


def test_the_address_of_a_file_is_of_use_to_whose_page_offers_it_alone(deployed, data):
    """Whoever else has it, and signed in, is told what is told of files that are not there."""

    async def story():
        async with deployed.connect() as socket:
            process, _ = process_of(socket.response.headers)
            visitor = Visitor(socket)
            await visitor.run("agreement", f"data={data}")
            address = await file_of(socket, visitor.said)
            signed = {name: f"plurality={process}; {deployed.cookie_of(name)}" for name in (ANN, "eve@clinic.example")}
            signed["nobody"] = f"plurality={process}"
            return {
                (name, path is address): deployed.get(path, Cookie=cookie)[::2]
                for path in (address, f"/media/{'0' * 56}.csv")
                for name, cookie in signed.items()
            }

    told = in_a_loop_of_its_own(story())
    assert told[ANN, True][0] == 200 and told[ANN, True][1]
    assert told["eve@clinic.example", True] == told["eve@clinic.example", False] == told[ANN, False]
    assert told[ANN, False][0] == 404 and told["nobody", True][0] == told["nobody", False][0] == 403


def test_before_sign_in_the_page_has_its_fonts_and_nothing_of_people_s(deployed):
    (font, *_) = sorted((Path(streamlit.__file__).parent / "static" / "static" / "media").glob("MaterialSymbols*"))
    assert deployed.get(f"/static/media/{font.name}", Origin=deployed.url)[0] == 200
    assert deployed.get("/media/0123.png")[0] == deployed.get("/_stcore/upload_file/a/b")[0] == 403


def test_the_door_says_what_browsers_may_load_and_closes_what_is_not_theirs(deployed):
    status, headers, _ = deployed.get("/")
    assert status == 200
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Strict-Transport-Security"] and headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Server"] is None
    closed = ("/_stcore/metrics", "/_stcore/agent/openapi.json", "/metrics", "/readyz")
    assert [deployed.get(path)[0] for path in closed] == [403] * len(closed)
    assert deployed.get("//metrics")[0] in (400, 403)
    assert deployed.get("/", Host="evil.example")[0] == 421
    assert deployed.get("/healthz", Origin="https://evil.example")[0] == 403


def test_the_benchmark_of_many_people_tells_times_errors_and_figures_that_differ(deployed, monkeypatch):
    monkeypatch.setattr(load, "PAGES", ("settings",))
    monkeypatch.setattr(load, "DATA", ("caries",))
    alone, told = in_a_loop_of_its_own(load.loaded(deployed, people=2, seconds=1.0, jobs=0, every=0.5))
    assert told.errors == [] and len(told.seconds) >= 2 and told.differing(alone) == {}
    told.figures["settings", "caries"]["0.123"] = 1
    assert told.differing(alone) == {("settings", "caries"): {"0.123"}}


def test_the_benchmark_of_killing_finds_a_review_that_is_lost(tmp_path, monkeypatch):
    store, acknowledged = ReviewStore(f"sqlite:///{tmp_path / 'reviews'}"), ["eve-c1"]
    in_a_loop_of_its_own(kill.recorder(store, ours(), "ann", acknowledged, 0.0))
    there = {f"{event.reviewer}-{event.case_id}" for event in store.trail(ours().digest)}
    store.close()
    assert set(acknowledged) - there == {"eve-c1"}


def test_the_benchmark_of_killing_counts_from_the_return_until_everybody_has_a_page():
    """Killed at 10, back at 12; who was not hit is counted for the page asked for next, who has none yet is missing."""
    told = load.Told(
        worked={
            1: [(9, 9.5), (11, 11.2), (15, 15.7)],
            2: [(9, 9.1), (10.5, 11), (13, 16)],
            3: [(9, 9.9)],
            4: [(11, 13)],
        },
        failed={1: [], 2: [10.2, 12.8], 3: [10.1], 4: [5]},
    )
    assert kill.without_page(told, 10, 12) == {1: pytest.approx(0.7), 2: 4, 3: None, 4: 1}
    told.worked[3].append((10.1, 11.9))
    assert kill.without_page(told, 10, 12)[3] == 0, "again at work before the part was back"


def test_somebody_of_the_benchmark_who_loses_the_connection_goes_on_when_the_door_is_back(deployed, monkeypatch):
    monkeypatch.setattr(load, "PAGES", ("settings",))
    told = load.Told()

    async def story():
        walk = asyncio.create_task(load.person(deployed, 0, time.monotonic() + 30, told, 0.2, True))
        while not told.worked.get(0):
            assert not walk.done(), told.errors
            await asyncio.sleep(0.05)
        deployed.kill("proxy")
        killed = time.monotonic()
        deployed.start_proxy()
        seconds = await kill.all_have_pages(told, killed, time.monotonic())
        walk.cancel()
        await asyncio.gather(walk, return_exceptions=True)
        return seconds

    assert in_a_loop_of_its_own(story()) < 15 and told.failed[0]
