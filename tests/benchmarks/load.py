"""Many people at once behind the proxy. Run: python tests/benchmarks/load.py [people] [seconds] [processes] [jobs].

Websocket clients on this computer, each a session of its own that opens a page every five seconds (the first ones
spread over five) on one of the samples; beside them heavy jobs, each of which opens Models or Reliability of a
selection of raters that nobody has opened yet, waits until all is computed, and takes the next. The processes and the
proxy are those that `deploy` configures. Told: median and 95th percentile of the seconds from a press to the end of
the run, errors, pages whose figures differ from those of a session alone, resident memory, and how busy the machine
was (other work on it makes every figure worse).
Targets, 50 people for 600 s with 2 processes on 2 cores: p50 0.5 s, p95 1.5 s, no error, no figure that differs.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations, cycle
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core import load_sample
from tests.benchmarks.pages import Visitor
from tests.benchmarks.sessions import state_of
from tests.browser.deployed import Deployed
from tests.pages.addresses import PAGES as PAGES_BY_NAME

PAGES = ("", *PAGES_BY_NAME[1:])  # Home stands at the root
DATA = ("anaesthesia", "caries")
EVERY = 5.0
MOST_WALKS = 8
LOST = 30.0  # seconds after which somebody loads a page again that does not come
AGAIN = 4.0  # seconds after which a browser asks again for a connection, the first time at once
MOST_PEOPLE, LONGEST = 200, 1800.0
_FIGURES = re.compile(rb"(?<![\w-])[01]?\.\d{2,}(?![\w-])")


@dataclass
class Told:
    """What the clients have seen."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    figures: dict[tuple[str, str], dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    at_work: int = 0  # runs in which some of the page was still being computed
    worked: dict[int, list[tuple[float, float]]] = field(default_factory=dict)  # by person, begin and end of visits
    failed: dict[int, list[float]] = field(default_factory=dict)  # by person, when a page or a connection was lost

    def differing(self, alone: "Told") -> dict[tuple[str, str], set[str]]:
        """Figures that a session alone never saw on a page; one that came earlier may have seen fewer of them."""
        found = {}
        for key, seen in self.figures.items():
            known = {figure for page in alone.figures.get(key, {}) for figure in page.split()}
            others = {figure for page in seen for figure in page.split()} - known
            if known and others:
                found[key] = others
        return found


def figures_of(said: list[bytes]) -> str:
    """All decimal figures of a page, each once."""
    return b" ".join(sorted(set(_FIGURES.findall(b"".join(said))))).decode()


async def visit(visitor: Visitor, page: str, data: str, told: Told) -> None:
    """One press and what came of it."""
    started = time.monotonic()
    at_work = (await visitor.run(page, f"data={data}"))[1]
    told.seconds.append(time.monotonic() - started)
    told.at_work += at_work
    if not at_work:
        seen = told.figures[page, data]
        seen[figures_of(visitor.said)] = seen.get(figures_of(visitor.said), 0) + 1


async def person(deployed: Deployed, number: int, until: float, told: Told, every: float, returns: bool) -> None:
    """One session: a page every few seconds, over all pages, until the end; connected anew, as a browser, if asked."""
    data, place, cookies = DATA[number % len(DATA)], number, list[str]()
    told.worked[number], told.failed[number] = [], []
    await asyncio.sleep(every * (number % 50) / 50)
    while time.monotonic() < until:
        try:
            async with deployed.connect(f"person{number}@clinic.example", *cookies) as socket:
                given = [one.split(";")[0] for one in socket.response.headers.get_all("Set-Cookie")]
                cookies = [one for one in given if one.startswith("plurality=")] or cookies
                visitor = Visitor(socket)
                while time.monotonic() < until:
                    started = time.monotonic()
                    async with asyncio.timeout(LOST if returns else None):
                        await visit(visitor, PAGES[place % len(PAGES)], data, told)
                    told.worked[number].append((started, time.monotonic()))
                    place += 1
                    with suppress(TimeoutError):  # who loses the connection meanwhile learns it at once
                        async with asyncio.timeout(max(0.0, every - (time.monotonic() - started))):
                            await socket.wait_closed()
        except Exception as error:
            told.errors.append(f"{type(error).__name__}: {error}"[:200])
            told.failed[number].append(time.monotonic())
            if not returns:
                return
            failures = told.failed[number][-2:]
            had_a_page = told.worked[number] and told.worked[number][-1][1] >= failures[0]
            await asyncio.sleep(0.0 if len(failures) < 2 or had_a_page else AGAIN)


async def heavy(deployed: Deployed, number: int, returns: bool) -> None:
    """Somebody who asks for what takes long, each time of other raters, and waits for it; until cancelled."""
    raters, page = load_sample("skin").raters, ("models", "reliability")[number % 2]
    choices = cycle(combinations(raters, 2 + number))
    while True:
        try:
            async with deployed.connect(f"heavy{number}@clinic.example") as socket:
                visitor = Visitor(socket)
                for out in choices:
                    chosen = json.dumps({"raters": [name for name in raters if name not in out]})
                    while (await visitor.run(page, f"data=skin&select={quote(chosen)}"))[1]:
                        await asyncio.sleep(1.0)
        except Exception:
            if not returns:
                raise
            await asyncio.sleep(0.2)


async def seen_alone(deployed: Deployed) -> Told:
    """What a session alone sees, over all pages and with each of them as its first, until nothing new is seen."""
    alone = Told()
    for data in DATA:
        for _ in range(MOST_WALKS):
            before = sum(map(len, alone.figures.values())), alone.at_work
            alone.seconds.clear()
            await walk_alone(deployed, data, alone)
            if (sum(map(len, alone.figures.values())), alone.at_work) == before:
                break
            await asyncio.sleep(1.0)  # a model may be chosen that was not known yet
    return alone


async def walk_alone(deployed: Deployed, data: str, alone: Told) -> None:
    """Once over all pages, and once with each as the first of a session, which brings more with it."""
    async with deployed.connect("alone@clinic.example") as socket:
        visitor = Visitor(socket)
        for page in PAGES:
            await visit(visitor, page, data, alone)
            await asyncio.sleep(0.2)
    for page in PAGES:
        async with deployed.connect("alone@clinic.example") as socket:
            await visit(Visitor(socket), page, data, Told(figures=alone.figures))


@asynccontextmanager
async def at_heavy_work(deployed: Deployed, jobs: int, returns: bool = False):
    """So many who ask for what takes long, as long as it lasts."""
    working = [asyncio.create_task(heavy(deployed, number, returns)) for number in range(jobs)]
    try:
        yield
    finally:
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)


async def loaded(deployed: Deployed, people: int, seconds: float, jobs: int, every: float = EVERY) -> tuple[Told, Told]:
    """What a session alone sees, then what all see at once."""
    alone, told = await seen_alone(deployed), Told()
    async with at_heavy_work(deployed, jobs):
        until = time.monotonic() + seconds
        await asyncio.gather(*(person(deployed, number, until, told, every, False) for number in range(people)))
    return alone, told


def spread(seconds: list[float]) -> str:
    """Median, 95th percentile and largest."""
    if len(seconds) < 2:
        return "nothing"
    return (
        f"p50 {statistics.median(seconds):.2f} s, p95 {statistics.quantiles(seconds, n=20)[-1]:.2f} s, "
        f"largest {max(seconds):.2f} s of {len(seconds)}"
    )


def main(people: int = 50, seconds: float = 600.0, processes: int = 2, jobs: int = 4) -> None:
    """Start, load, tell, end."""
    people, seconds = min(people, MOST_PEOPLE), min(seconds, LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        deployed = Deployed(Path(folder), processes, PLURALITY_WORKERS="1")
        try:
            deployed.start()
            before = os.times(), time.monotonic(), _busy()
            alone, told = asyncio.run(loaded(deployed, people, seconds, jobs))
            wall, busy = time.monotonic() - before[1], _busy() - before[2]
            print(f"{people} people, {seconds:g} s, {processes} processes, {jobs} heavy jobs, {os.cpu_count()} cores")
            print(f"alone       {spread(alone.seconds)}")
            print(f"all at once {spread(told.seconds)}; still at work {told.at_work}")
            print(f"errors {len(told.errors)} {sorted(set(told.errors))[:3]}; differing {told.differing(alone)}")
            memory = {name: state_of(deployed.serving(name)) for name in deployed.running if name != "proxy"}
            share = busy / wall / (os.cpu_count() or 1)
            print(f"memory {memory}; the machine was {share:.0%} busy, load {os.getloadavg()[0]:.1f}")
        finally:
            deployed.stop()


def _busy() -> float:
    """Processor seconds of the whole machine so far."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    user, nice, system, _, _, irq, soft, _ = map(int, fields)
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
