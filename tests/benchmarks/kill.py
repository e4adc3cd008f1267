"""Killing one part after another while people record reviews. Run: python tests/benchmarks/kill.py [people] [cases].

The processes and the proxy are those that `deploy` configures, the reviews in SQLite or, with PLURALITY_DATABASE_URL,
in Postgres. Each person records a step a second by the store, as a page does when somebody presses, and opens a page by
websocket through the proxy. Each part (process 1, process 2, the proxy) is killed with SIGKILL and started again after
two seconds. Told for each: seconds from its return until every person has a page again, and acknowledged reviews that
are not in the record in the end. Targets: 10 s; none.
"""

import asyncio
import os
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

AWAY = 2.0
MOST_WAIT = 60.0


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


async def killed(deployed: Deployed, dataset: Dataset, people: int, pause: float = 1.0, away: float = AWAY) -> dict:
    """Kill each part in turn; how long people were without a page after its return, and what was lost."""
    store, acknowledged, waits = ReviewStore(), [], {}
    names = [f"person{number}@clinic.example" for number in range(people)]
    at_work = [asyncio.create_task(recorder(store, dataset, name, acknowledged, pause)) for name in names]
    for part in (*(f"p{place + 1}" for place in range(deployed.asked.processes)), "proxy"):
        deployed.kill(part)
        await asyncio.sleep(away)
        if part == "proxy":
            deployed.start_proxy()
        else:
            deployed.start_process(int(part[1:]) - 1)
        waits[part] = max(await asyncio.gather(*(reached(deployed, name, dataset.digest) for name in names)))
        if part != "proxy":
            await asyncio.to_thread(deployed.wait_for, int(part[1:]) - 1)
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
    with tempfile.TemporaryDirectory() as folder:
        deployed = Deployed(Path(folder), PLURALITY_WORKERS="1")
        os.environ |= {"PLURALITY_HOME": str(deployed.home), "PLURALITY_SEVERAL_PROCESSES": "1"}
        dataset = made(cases)
        try:
            deployed.start()
            keep(dataset)
            told = asyncio.run(killed(deployed, dataset, people))
            print(
                f"{people} people; seconds until all have a page again:",
                {name: round(s, 1) for name, s in told["waits"].items()},
            )
            print(f"acknowledged {told['acknowledged']}, lost {len(told['lost'])}, record whole: {told['ok']}")
        finally:
            deployed.stop()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
