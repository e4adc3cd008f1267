"""What a visit to each page costs the server. Run: python tests/benchmarks/pages.py [skin] [large].

Walks from page to page by websocket, as a browser does, once everything is worked out: processor seconds of a visit
(coming from Settings) and of a run again, what of it is spent in plotly, in Streamlit and in ours (code of others
counts for whoever called it), and the bytes that a visit sends to a browser that remembers nothing. ``large`` is 10^6
annotations of 100 raters on 200,000 cases. Targets: median of visits 0.12 s, of runs again 0.05 s, none above 0.12 s.
"""

import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PAGES = ("", "upload", "agreement", "models", "raters", "cases", "review", "reliability", "report")
REPEATS = 5
LONGEST = 1200.0
TICK = 1 / os.sysconf("SC_CLK_TCK")
SAMPLED_EVERY = 0.004
SHARES = "PAGES_BENCHMARK_SHARES"


def serve() -> None:
    """The server of this benchmark: the dashboard, and where its scripts spend their time."""
    sys.path.remove(str(Path(__file__).parent))  # this file is not the package of the pages
    found: Counter[str] = Counter()

    def sample(*_) -> None:
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in sys._current_frames().items():
            if "script" in names.get(ident, "").casefold():
                found[_whose(frame)] += 1

    def write() -> None:
        while True:
            time.sleep(0.2)
            draft = Path(f"{os.environ[SHARES]}.draft")
            draft.write_text(json.dumps(dict(found)), encoding="utf-8")
            draft.replace(os.environ[SHARES])

    threading.Thread(target=write, daemon=True).start()
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, SAMPLED_EVERY, SAMPLED_EVERY)
    from streamlit.web.cli import main as streamlit

    sys.argv = ["streamlit", "run", "app.py", *sys.argv[2:]]
    streamlit()


def _whose(frame) -> str:
    while frame is not None:
        file = frame.f_code.co_filename
        for part, whose in (("plotly/", "plotly"), ("/streamlit/", "Streamlit"), (str(ROOT / "core"), "ours")):
            if part in file and "plotly_chart" not in file:
                return whose
        if str(ROOT / "pages") in file or file == str(ROOT / "app.py"):
            return "ours"
        frame = frame.f_back
    return "Streamlit"


class Visitor:
    """One session by websocket, which walks from page to page."""

    def __init__(self, socket):
        self._socket = socket
        self._hashes: dict[str, str] = {}
        self.said: list[bytes] = []  # the messages of the last run

    async def run(self, page: str | None, query: str = "") -> tuple[int, bool]:
        """Ask for a run and read it to its end; the bytes that it sent, and whether work was still going on."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ClientState_pb2 import ClientState
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        where = {"page_script_hash": self._hashes[page]} if page in self._hashes else {"page_name": page or ""}
        message = BackMsg(rerun_script=ClientState(query_string=query, **where))
        await self._socket.send(message.SerializeToString())
        received, at_work, self.said = 0, False, []
        while True:
            async with asyncio.timeout(LONGEST):  # wait_for loses a cancelling that comes with a message
                content = await self._socket.recv()
            self.said.append(content)
            received += len(content)
            at_work |= b"cancel-" in content
            told = ForwardMsg.FromString(content)
            if told.delta.new_element.WhichOneof("type") == "exception":
                raise RuntimeError(told.delta.new_element.exception.message)
            if told.WhichOneof("type") == "navigation":
                self._hashes = {each.url_pathname: each.page_script_hash for each in told.navigation.app_pages}
                for each in told.navigation.app_pages:
                    if each.is_default:
                        self._hashes[""] = each.page_script_hash
            if told.WhichOneof("type") == "script_finished" and told.script_finished == 0:
                return received, at_work


def spent(process) -> float:
    """Processor seconds of the server so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return TICK * (int(fields[11]) + int(fields[12]))


async def quiet(process) -> None:
    """Wait until the server has nothing left to do."""
    before = spent(process)
    while True:
        await asyncio.sleep(1.0)
        now = spent(process)
        if now - before < 0.1:
            return
        before = now


async def measure(dashboard, data: str) -> None:
    """Print a line for each page."""
    from websockets.asyncio.client import connect

    visits, again = [], []
    address = dashboard.url.replace("http", "ws") + "/_stcore/stream"
    shares = Path(dashboard.environment[SHARES])
    async with connect(address, max_size=None, subprotocols=["streamlit"], origin=dashboard.url) as socket:
        visitor = Visitor(socket)
        await visitor.run("settings", f"data={data}")
        for page in PAGES:
            started = time.monotonic()
            while (await visitor.run(page))[1] and time.monotonic() - started < LONGEST:
                await asyncio.sleep(1.0)
            await quiet(dashboard.process)
            await visitor.run(page)
            costs: dict[str, float] = {"visit": 0.0, "again": 0.0}
            before = Counter(json.loads(shares.read_text(encoding="utf-8")))
            for _ in range(REPEATS):
                await visitor.run("settings")
                await quiet(dashboard.process)
                for kind in ("visit", "again"):
                    start = spent(dashboard.process)
                    received, _ = await visitor.run(page)
                    await asyncio.sleep(0.1)  # the thread of the script ends after its last message
                    costs[kind] += (spent(dashboard.process) - start) / REPEATS
                    if kind == "visit":
                        sent = received
            await asyncio.sleep(0.5)
            now = Counter(json.loads(shares.read_text(encoding="utf-8"))) - before
            whole = max(1, now.total())
            parts = ", ".join(f"{name} {now[name] / whole:.0%}" for name in ("plotly", "Streamlit", "ours"))
            visits.append(costs["visit"])
            again.append(costs["again"])
            print(
                f"{data[:8]:8s} {page or 'home':12s} visit {visits[-1]:.3f} s, again {again[-1]:.3f} s, "
                f"{sent / 1000:,.0f} kB ({parts})",
                flush=True,
            )
    print(
        f"{data[:8]:8s} median of visits {statistics.median(visits):.3f} s, of runs again "
        f"{statistics.median(again):.3f} s, largest run again {max(again):.3f} s",
        flush=True,
    )


def main(names: list[str]) -> None:
    """Each dataset on a server of its own."""
    from core.library import keep
    from core.warmup import warm_up
    from tests.benchmarks.large_pages import made
    from tests.browser.server import Dashboard

    warm_up()  # or the first visits would find pages that wait for their kernels
    for name in names or ["skin", "large"]:
        with tempfile.TemporaryDirectory() as home:
            os.environ["PLURALITY_HOME"] = home
            data = name
            if name == "large":
                dataset = made("large", 200_000, 100, 5)
                keep(dataset)
                data = dataset.digest
            shares = str(Path(home) / "shares.json")
            Path(shares).write_text("{}", encoding="utf-8")
            dashboard = Dashboard(Path(home), **{SHARES: shares})
            dashboard.COMMAND = (str(Path(__file__).resolve()), "serve")
            dashboard.start()
            try:
                asyncio.run(measure(dashboard, data))
            finally:
                dashboard.stop()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve()
    else:
        main(sys.argv[1:])
