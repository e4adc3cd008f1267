"""What many sessions leave behind in a server. Run: python tests/benchmarks/sessions.py [sessions] [pages of each].

Websocket clients on this computer, four at once: each opens a sample, walks through pages (others than the one before)
and leaves. After the first ten and in the end, once nothing is at work and abandoned sessions have been let go of:
resident memory, threads and children of the server. Target: memory within 15% of that after the first ten, threads and
children no more.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.ingest.samples import SAMPLES
from core.runtime.first_start import Preparation
from tests.benchmarks.pages import PAGES, Visitor, quiet
from tests.browser.server import Dashboard

AT_ONCE, FIRST = 4, 10
MOST = 1.15
KEPT_BY_STREAMLIT = 125.0  # seconds that it waits for a lost session to come back


def state_of(process: int) -> dict[str, int]:
    """Megabytes of resident memory, threads, and children of a process."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines())
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    children = sum(len(task.read_text(encoding="ascii").split()) for task in tasks)
    return {"MB": int(told["VmRSS"].split()[0]) // 1024, "threads": int(told["Threads"]), "children": children}


async def visited(dashboard: Dashboard, number: int, n_pages: int) -> None:
    """One session from its beginning to its end."""
    from websockets.asyncio.client import connect

    address = dashboard.url.replace("http", "ws") + "/_stcore/stream"
    async with connect(address, max_size=None, subprotocols=["streamlit"], origin=dashboard.url) as socket:
        visitor = Visitor(socket)
        await visitor.run("settings", f"data={SAMPLES[number % len(SAMPLES)].name}")
        for step in range(n_pages):
            await visitor.run(PAGES[(number * n_pages + step) % len(PAGES)])


async def sessions(dashboard: Dashboard, numbers: range, n_pages: int) -> None:
    """That many sessions, a few at once."""
    left = iter(numbers)

    async def some() -> None:
        for number in left:
            await visited(dashboard, number, n_pages)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


async def measure(dashboard: Dashboard, n: int, n_pages: int) -> tuple[dict[str, int], dict[str, int]]:
    """The server after the first sessions and after all."""
    found = []
    await sessions(dashboard, range(len(PAGES) * len(SAMPLES)), 1)  # each page of each sample has been seen
    for numbers in (range(FIRST), range(FIRST, n)):
        started = time.monotonic()
        await sessions(dashboard, numbers, n_pages)
        print(f"{len(numbers)} sessions in {time.monotonic() - started:.0f} s: {state_of(dashboard.process.pid)}")
        await asyncio.sleep(KEPT_BY_STREAMLIT)
        await quiet(dashboard.process)
        found.append(state_of(dashboard.process.pid))
        print(f"at rest: {json.dumps(found[-1])}, load {os.getloadavg()[0]:.1f}", flush=True)
    return found[0], found[1]


def main(n: int, n_pages: int) -> None:
    """The server after ten sessions and after all of them."""
    Preparation().wait()
    with tempfile.TemporaryDirectory() as home:
        dashboard = Dashboard(Path(home)).start()
        try:
            first, last = asyncio.run(measure(dashboard, n, n_pages))
        finally:
            dashboard.stop()
    grown = last["MB"] / first["MB"]
    more = [what for what in ("threads", "children") if last[what] > first[what]]
    print(
        f"after {n}: memory {grown:.2f} times that after {FIRST}{'' if grown <= MOST else f' > {MOST:g}'}; "
        f"more {' and '.join(more) or 'of nothing else'}"
    )


if __name__ == "__main__":
    numbers = (int(word) for word in sys.argv[1:])
    main(next(numbers, 200), next(numbers, 2))
