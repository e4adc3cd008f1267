"""How long one person waits while another has heavy work done. Run: python tests/benchmarks/beside.py [rounds].

One session has the marks of γ and the held-out scores of the sample of skin diagnoses computed, with another rater left
out each time; meanwhile a second one walks by websocket through all pages of a small sample, also with another rater
left out, so that nothing is known. Seconds until a page has been drawn and until nothing on it is at work, with heavy
work in threads of the server (``PLURALITY_WORKERS=0``) and in processes, a new server each, in turn. Target: 1.5 s.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.ingest.samples import read_sample
from core.runtime.first_start import Preparation
from tests.benchmarks.pages import LONGEST, PAGES, Visitor, quiet
from tests.browser.server import Dashboard

HEAVY, SMALL = "skin", "anaesthesia"
MOST = 1.5


def without(sample: str, place: int) -> str:
    """An address with one rater left out."""
    raters = [name for n, name in enumerate(read_sample(sample).dataset.raters) if n != place]
    return f"data={sample}&select={json.dumps({'raters': raters})}"


async def walked(visitor: Visitor, place: int) -> list[tuple[str, float, float]]:
    """Each page: seconds until it is drawn, and until nothing on it is at work."""
    found = []
    await visitor.run("settings", without(SMALL, place))
    for page in PAGES:
        started = time.monotonic()
        at_work = (await visitor.run(page))[1]
        drawn = time.monotonic() - started
        while at_work and time.monotonic() - started < LONGEST:
            await asyncio.sleep(0.1)
            at_work = (await visitor.run(page))[1]
        found.append((page or "home", drawn, time.monotonic() - started))
    return found


async def measure(dashboard: Dashboard) -> list[tuple[str, float, float]]:
    """Walks of the second session while the first waits."""
    from websockets.asyncio.client import connect

    def session():
        address = dashboard.url.replace("http", "ws") + "/_stcore/stream"
        return connect(address, max_size=None, subprotocols=["streamlit"], origin=dashboard.url)

    async with session() as one, session() as other:
        first, second = Visitor(one), Visitor(other)
        await second.run("settings", without(SMALL, 0))
        await walked(second, 0)  # modules are loaded
        await quiet(dashboard.process)
        await first.run("settings", without(HEAVY, 0))
        await first.run("cases")
        await asyncio.sleep(2.0)
        return await walked(second, 1)


def main(rounds: int) -> None:
    """A line for each way and round, and the medians."""
    Preparation().wait()
    found: dict[str, list[tuple[str, float, float]]] = {"threads": [], "processes": []}
    for _ in range(rounds):
        for way, workers in (("threads", "0"), ("processes", "")):
            with tempfile.TemporaryDirectory() as home:
                dashboard = Dashboard(Path(home), PLURALITY_WORKERS=workers).start()
                try:
                    walk = asyncio.run(measure(dashboard))
                finally:
                    dashboard.stop()
            found[way] += walk
            print(
                f"{way:10s}", " ".join(f"{page} {drawn:.2f}/{whole:.2f}" for page, drawn, whole in walk),
                f"load {os.getloadavg()[0]:.1f}", flush=True,
            )  # fmt: skip
    for way, walks in found.items():
        drawn, whole = [each[1] for each in walks], [each[2] for each in walks]
        print(
            f"{way:10s} drawn: median {statistics.median(drawn):.2f} s, longest {max(drawn):.2f} s, whole: median "
            f"{statistics.median(whole):.2f} s, longest {max(whole):.2f} s; {sum(one > MOST for one in drawn)} of "
            f"{len(walks)} drawn later than {MOST:g} s"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 3)
