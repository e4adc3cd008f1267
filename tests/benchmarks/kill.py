"""Killing one part after another while people record reviews. Run: python tests/benchmarks/kill.py [people] [cases].

The processes and the proxy are those that `deploy` configures, the reviews in a Postgres of its own where its programs
are installed (every commit synced to the disk), else in SQLite. Each person records a step a second by the store, as a
page does when somebody presses, and opens a page by websocket through the proxy. Each part (process 1, process 2, all
processes at once, the proxy, a worker at heavy work, Postgres) is killed with SIGKILL and started again after two
seconds; workers are started by their process. Told for each: seconds from its return until all have a page again and a
step was recorded, and acknowledged reviews that are not in the record in the end. Targets: 10 s; none.
"""

import asyncio
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.annotations.dataset import Dataset
from core.library import keep
from core.review.events import Draft
from core.review.store import ReviewStore
from tests.benchmarks.pages import Visitor
from tests.browser.deployed import Deployed
from tests.core.review.conftest import BINARIES, Server

AWAY = 2.0
MOST_WAIT = 60.0
ALL = "all processes"


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
    processes = [deployed.running[part].pid for part in deployed.running if part != "proxy"]
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
    processes = [f"p{place + 1}" for place in range(deployed.asked.processes)] if part == ALL else [part]
    for process in processes:
        deployed.kill(process)
    await asyncio.sleep(away)
    for process in processes:
        if process == "proxy":
            deployed.start_proxy()
        else:
            deployed.start_process(int(process[1:]) - 1)


async def killed(
    deployed: Deployed, dataset: Dataset, people: int, pause: float = 1.0, away: float = AWAY,
    postgres: Server | None = None, heavy: str = "",
) -> dict:  # fmt: skip
    """Kill each part in turn; how long people were without a page after its return, and what was lost."""
    store, acknowledged, waits = ReviewStore(), [], {}
    names = [f"person{number}@clinic.example" for number in range(people)]
    at_work = [asyncio.create_task(recorder(store, dataset, name, acknowledged, pause)) for name in names]
    parts = [f"p{place + 1}" for place in range(deployed.asked.processes)] + [ALL, "proxy"]
    parts += ["worker"] * bool(heavy) + ["postgres"] * (postgres is not None)
    for part in parts:
        await kill_and_start(deployed, part, away, postgres, names[0], heavy)
        back = [reached(deployed, name, dataset.digest) for name in names]
        waits[part] = max(await asyncio.gather(*back, recorded(acknowledged)))
        for place in range(deployed.asked.processes):
            await asyncio.to_thread(deployed.wait_for, place)
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


def main(people: int = 10, cases: int = 500) -> None:
    """Start, kill, tell, end."""
    binaries = next(iter(BINARIES), None)
    with tempfile.TemporaryDirectory() as folder:
        postgres = Server(binaries, fsync=True) if binaries is not None else None
        if postgres is not None:
            os.environ["PLURALITY_DATABASE_URL"] = postgres.new_database()
        deployed = Deployed(Path(folder), PLURALITY_WORKERS="1")
        os.environ |= {"PLURALITY_HOME": str(deployed.home), "PLURALITY_SEVERAL_PROCESSES": "1"}
        dataset = made(cases)
        try:
            deployed.start()
            keep(dataset)
            told = asyncio.run(killed(deployed, dataset, people, postgres=postgres, heavy="skin"))
            print("reviews in", "Postgres" if postgres is not None else "SQLite")
            print(
                f"{people} people; seconds until all have a page again:",
                {name: round(s, 1) for name, s in told["waits"].items()},
            )
            print(f"acknowledged {told['acknowledged']}, lost {len(told['lost'])}, record whole: {told['ok']}")
        finally:
            deployed.stop()
            if postgres is not None:
                postgres.remove()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
