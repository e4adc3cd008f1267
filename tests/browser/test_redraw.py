"""What a server sends of a page that is drawn anew by the clock, by websocket as a browser asks for it."""

import time
from urllib.parse import urlencode, urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from tests.browser.server import Dashboard

pytestmark = pytest.mark.browser

QUERY = urlencode({"data": "anaesthesia", "model": "dirichlet", "reliability": 3, "case": 12})
EARLY, LATEST, LOOK = 2, 120.0, 0.2  # the status of a run that ends for another one, and seconds


def _redrawn(url: str) -> tuple[set[str], list[list[ForwardMsg]]]:
    """The large messages that were sent before it was asked by the clock, and the whole runs since."""
    origin, since, seen, part, page, running, asked = urlsplit(url), [], set(), "", "", True, False
    address = f"ws://{origin.netloc}/_stcore/stream"
    with connect(address, subprotocols=["streamlit"], max_size=None, origin=url) as socket:

        def ask(**of) -> None:
            socket.send(BackMsg(rerun_script=ClientState(query_string=QUERY, **of)).SerializeToString())

        ask(page_name="cases")
        until = time.monotonic() + LATEST
        while time.monotonic() < until and (running or part):
            try:
                message = ForwardMsg.FromString(socket.recv(timeout=LOOK))
            except TimeoutError:
                if part and not running:
                    running = asked = True
                    has = {"is_auto_rerun": True, "cached_message_hashes": sorted(seen)}
                    ask(page_script_hash=page, fragment_id=part, **has)
                continue
            kind, whole = message.WhichOneof("type"), not message.metadata.run.fragment_ids
            if kind == "new_session" and whole:
                page, part = message.new_session.page_script_hash, ""
                since += [[]] if asked else []
            elif kind == "auto_rerun":
                part = message.auto_rerun.fragment_id
            elif kind == "script_finished":
                running = message.script_finished == EARLY
            elif whole and asked and since:
                since[-1].append(message)
            if message.metadata.cacheable and not asked:
                seen.add(message.hash)
    assert not running and not part, f"not at rest after {LATEST:.0f} s"
    return seen, since


def test_a_page_that_is_drawn_anew_by_the_clock_is_sent_whole(tmp_path):
    """What the browser had when it asked it may have discarded since: a reference would end its connection.

    On a server that has computed nothing yet, so that work is going on while the page is drawn.
    """
    dashboard = Dashboard(tmp_path / "home", PLURALITY_WORKERS="0").start()
    try:
        seen, runs = _redrawn(dashboard.url)
    finally:
        dashboard.stop()
    assert seen and runs
    assert seen.intersection(message.hash for run in runs for message in run)  # sent again, though it was had
    assert not [message for run in runs for message in run if message.WhichOneof("type") == "ref_hash"]
