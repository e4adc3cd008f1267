"""Killing one part after another while people work. Run: python tests/benchmarks/kill.py [--people N] [--jobs N].

The processes and the proxy are those that `deploy` configures, the reviews in a Postgres of its own where its programs
are installed (every commit synced to the disk), else in SQLite. ``--reviewers`` (4) record a step a second by the
store, as a page does when somebody presses, on ``--cases`` (500) cases, and open a page by websocket through the proxy;
``--people`` (none) walk over all pages meanwhile as in `load.py`, each connected anew as a browser does, and ``--jobs``
(none) of heavy work are under way. Each part (process 1, process 2, all processes at once, process 1 with its parent,
the proxy, the workers, Postgres) is killed with SIGKILL and started again after two seconds; what has a parent that
lives, a process or a worker, is begun again by it at once. Told for each: seconds from its start until everybody has a
page again and a step was recorded, beside them how long the part itself took until it was healthy, who lost their
connection; acknowledged reviews that are not in the record in the end, and figures of pages that a session alone never
saw. Targets: 10 s from the part's return; none; none.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.annotations.dataset import Dataset
from core.library import keep
from core.review.events import Draft
from core.review.store import ReviewStore
from tests.benchmarks.load import EVERY, Told, at_heavy_work, person, seen_alone, spread
from tests.benchmarks.pages import Visitor
from tests.browser.deployed import Deployed
from tests.core.review.conftest import BINARIES, Server

AWAY = 2.0
MOST_WAIT = 60.0
ALL, WITH_PARENT = "all processes", "p1 with its parent"


def made(n_cases: int) -> Dataset:
    """Data with enough cases for every opinion."""
    codes = [place % 2 for place in range(2 * n_cases)]
    cases = [place // 2 for place in range(2 * n_cases)]
    return Dataset.from_classes(
        "killed", [f"c{n}" for n in range(n_cases)], ["a", "b"], ["x", "y"], cases, codes, codes
    )


async def recorder(store: ReviewStore, dataset: Dataset, name: str, acknowledged: list[str], pause: float) -> None:
    """Skip case after case; what the store returns is acknowledged."""
    for case_id in dataset.cases:
        draft = Draft(dataset=dataset.digest, case_id=case_id, kind="skip", reviewer=name)
        token = f"{name}-{case_id}"
        for _ in range(50):
            try:
                seen = await asyncio.to_thread(lambda case_id=case_id: store.case(dataset.digest, case_id).version)
                await asyncio.to_thread(store.record, draft, seen=seen, token=token)
                acknowledged.append(token)
                break
            except Exception:  # another was quicker, or the database is away: sent once more, recorded once
                await asyncio.sleep(0.05)
        await asyncio.sleep(pause)


async def reached(deployed: Deployed, name: str, digest: str) -> float:
    """Seconds until somebody has a page again."""
    started = time.monotonic()
    while time.monotonic() - started < MOST_WAIT:
        try:
            async with asyncio.timeout(15), deployed.connect(name) as socket:
                visitor = Visitor(socket)
                await visitor.run("settings", f"data={digest}")
                return time.monotonic() - started
        except Exception:
            await asyncio.sleep(0.2)
    return float("inf")


async def recorded(acknowledged: list[str]) -> float:
    """Seconds until the next step is acknowledged."""
    started, before = time.monotonic(), len(acknowledged)
    while len(acknowledged) == before and time.monotonic() - started < MOST_WAIT:
        await asyncio.sleep(0.05)
    return time.monotonic() - started if len(acknowledged) > before else float("inf")


def workers_of(process: int) -> list[int]:
    """Processes for heavy work that a process of the dashboard has started, by their number."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == process and b"_lasting_worker" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:  # it has ended
            continue
    return found


async def a_worker(deployed: Deployed, name: str, digest: str) -> None:
    """Have heavy work begun and kill the worker that does it."""
    processes = [deployed.serving(part) for part in deployed.running if part != "proxy"]
    async with deployed.connect(name) as socket:
        at_work = asyncio.create_task(Visitor(socket).run("reliability", f"data={digest}"))
        until = time.monotonic() + MOST_WAIT
        while not (found := [worker for process in processes for worker in workers_of(process)]):
            if time.monotonic() > until:
                raise TimeoutError("no worker was started")
            await asyncio.sleep(0.1)
        for worker in found:
            os.kill(worker, signal.SIGKILL)
        at_work.cancel()
        await asyncio.gather(at_work, return_exceptions=True)


async def kill_and_start(deployed: Deployed, part: str, away: float, postgres: Server | None, name: str, digest: str):
    """Kill one part, and have it again after a while."""
    if part == "worker":
        await a_worker(deployed, name, digest)
        return
    if part == "postgres":
        await asyncio.to_thread(postgres.kill)
        await asyncio.sleep(away)
        await asyncio.to_thread(postgres.start)
        return
    if part in ("proxy", WITH_PARENT):
        deployed.kill(part.split()[0])
        await asyncio.sleep(away)
        if part == "proxy":
            deployed.start_proxy()
        else:
            deployed.start_process(0)
        return
    for process in all_processes(deployed) if part == ALL else [part]:
        deployed.kill_serving(process)


def all_processes(deployed: Deployed) -> list[str]:
    """Names of the processes of the dashboard."""
    return [f"p{place + 1}" for place in range(deployed.asked.processes)]


@dataclass(frozen=True)
class Away:
    """One part that was away.

    Attributes
    ----------
    seconds : float
        From its start until everybody worked again.
    healthy : float
        From its start until all processes said that they are well.
    lost : int
        How many of those who walk over pages lost their connection or a page.
    """

    seconds: float
    healthy: float
    lost: int

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s (healthy after {self.healthy:.1f} s; {self.lost} connected anew)"


def without_page(told: Told, killed_at: float, returned: float) -> dict[int, float | None]:
    """Seconds after a part's return until each had a page: None who has none yet, for it must begin after what failed.

    Whose pages never failed is counted for how long the page took that they asked for next.
    """
    found: dict[int, float | None] = {}
    for number, worked in told.worked.items():
        failures = [at for at in told.failed[number] if at >= killed_at]
        since = failures[-1] if failures else killed_at
        pages = [(began, ended) for began, ended in worked if began >= since and (failures or ended >= returned)]
        found[number] = None
        if pages:
            began, ended = pages[0]
            found[number] = max(0.0, ended - (returned if failures else max(began, returned)))
    return found


async def all_have_pages(told: Told, killed_at: float, returned: float) -> float:
    """Seconds after a part's return until everybody who walks over pages had one."""
    while time.monotonic() - returned < MOST_WAIT:
        found = without_page(told, killed_at, returned)
        if None not in found.values():
            return max(found.values(), default=0.0)
        await asyncio.sleep(0.1)
    return float("inf")


async def healthy(deployed: Deployed) -> float:
    """Seconds until all processes say that they are well."""
    started = time.monotonic()
    await asyncio.gather(*(asyncio.to_thread(deployed.wait_for, place) for place in range(deployed.asked.processes)))
    return time.monotonic() - started


async def killed(
    deployed: Deployed, dataset: Dataset, reviewers: int, told: Told, pause: float = 1.0, away: float = AWAY,
    postgres: Server | None = None, heavy: str = "",
) -> dict:  # fmt: skip
    """Kill each part in turn; how long people were without a page after its return, and what was lost."""
    store, acknowledged, waits = ReviewStore(), [], {}
    names = [f"reviewer{number}@clinic.example" for number in range(reviewers)]
    at_work = [asyncio.create_task(recorder(store, dataset, name, acknowledged, pause)) for name in names]
    parts = [*all_processes(deployed), ALL, WITH_PARENT, "proxy"]
    parts += ["worker"] * bool(heavy) + ["postgres"] * (postgres is not None)
    for part in parts:
        killed_at = time.monotonic()
        await kill_and_start(deployed, part, away, postgres, names[0], heavy)
        returned = time.monotonic()
        back = [reached(deployed, name, dataset.digest) for name in names]
        walking = all_have_pages(told, killed_at, returned)
        well, *seconds = await asyncio.gather(healthy(deployed), *back, recorded(acknowledged), walking)
        lost = sum(any(at >= killed_at for at in failures) for failures in told.failed.values())
        waits[part] = Away(max(seconds), well, lost)
        print(f"{part}: {waits[part]}", flush=True)
    for task in at_work:
        task.cancel()
    await asyncio.gather(*at_work, return_exceptions=True)
    there = {f"{event.reviewer}-{event.case_id}" for event in store.trail(dataset.digest)}
    found = store.check()
    store.close()
    return {
        "waits": waits,
        "acknowledged": len(acknowledged),
        "lost": sorted(set(acknowledged) - there),
        "ok": found.ok,
    }


async def during_load(deployed: Deployed, dataset: Dataset, asked: argparse.Namespace, postgres: Server | None) -> None:
    """Kill all parts while people walk over pages, and tell what came of it."""
    alone, told = await seen_alone(deployed) if asked.people else Told(), Told()
    async with at_heavy_work(deployed, asked.jobs, returns=True):
        walks = [
            asyncio.create_task(person(deployed, number, float("inf"), told, EVERY, True))
            for number in range(asked.people)
        ]
        await asyncio.sleep(2 * EVERY if walks else 0)
        print(f"{asked.people} people, {asked.jobs} heavy jobs, {asked.reviewers} reviewers; at work again after:")
        found = await killed(deployed, dataset, asked.reviewers, told, postgres=postgres, heavy="skin")
        for walk in walks:
            walk.cancel()
        await asyncio.gather(*walks, return_exceptions=True)
    print(f"acknowledged {found['acknowledged']}, lost {len(found['lost'])}, record whole: {found['ok']}")
    if asked.people:
        print(f"pages {spread(told.seconds)}; differing {told.differing(alone)}")


def main() -> None:
    """Start, kill, tell, end."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reviewers", type=int, default=4)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--people", type=int, default=0, help="who walk over all pages meanwhile")
    parser.add_argument("--jobs", type=int, default=0, help="of heavy work meanwhile")
    asked = parser.parse_args()
    binaries = next(iter(BINARIES), None)
    with tempfile.TemporaryDirectory() as folder:
        postgres = Server(binaries, fsync=True) if binaries is not None else None
        if postgres is not None:
            os.environ["PLURALITY_DATABASE_URL"] = postgres.new_database()
        deployed = Deployed(Path(folder), PLURALITY_WORKERS="1")
        os.environ |= {"PLURALITY_HOME": str(deployed.home), "PLURALITY_SEVERAL_PROCESSES": "1"}
        dataset = made(asked.cases)
        try:
            deployed.start()
            keep(dataset)
            print("reviews in", "Postgres" if postgres is not None else "SQLite")
            asyncio.run(during_load(deployed, dataset, asked, postgres))
        finally:
            deployed.stop()
            if postgres is not None:
                postgres.remove()


if __name__ == "__main__":
    main()
