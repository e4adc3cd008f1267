"""A process that is killed while it records loses nothing that it acknowledged."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.review.events import Draft
from core.review.opinions import Opinion
from core.review.review_errors import StoreError

ROOT = Path(__file__).parents[3]
DATASET = "a" * 32
N = 500
BURST = f"""
import sys
from core.review.events import Draft
from core.review.review_errors import StoreError
from core.review.opinions import Opinion
from core.review.store import ReviewStore

store = ReviewStore(sys.argv[1])
for number in range({N}):
    draft = Draft(dataset={DATASET!r}, case_id=f"case {{number}}", kind="opinion", reviewer="Ann",
                  opinion=Opinion.of_class("x"), note=str(number) * 300)
    try:
        store.record(draft, seen=0, token=f"token {{number}}")
    except StoreError as error:
        print("refused", error.trouble, flush=True)
        break
    print(number, flush=True)
"""


def burst(url, **options):
    return subprocess.Popen([sys.executable, "-c", BURST, url], cwd=ROOT, stdout=subprocess.PIPE, text=True, **options)


def check_whole(store, acknowledged):
    """Every acknowledged event is there, and whatever is there is whole."""
    trail = store.trail(DATASET)
    recorded = [int(event.case_id.removeprefix("case ")) for event in trail]
    assert recorded == sorted(set(recorded))
    assert set(acknowledged) <= set(recorded)
    assert len(recorded) <= len(acknowledged) + 1  # one may be on the disk whose acknowledgement was cut off
    for event, number in zip(trail, recorded, strict=True):
        assert event.note == str(number) * 300
        assert (event.version, event.opinion) == (1, Opinion.of_class("x"))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL on this system")
@pytest.mark.parametrize("after", [1, 170])
def test_a_process_killed_in_a_burst_of_submissions_has_all_that_it_acknowledged(url, open_at, after):
    with burst(url) as child:
        acknowledged = [int(child.stdout.readline()) for _ in range(after)]
        child.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in child.stdout if line.endswith("\n")]
    assert child.returncode == -signal.SIGKILL
    assert after <= len(acknowledged) < N
    store = open_at(url)
    check_whole(store, acknowledged)
    for number in range(N):  # the browser sends what was not acknowledged once more, and what was, too
        draft = Draft(
            dataset=DATASET,
            case_id=f"case {number}",
            kind="opinion",
            reviewer="Ann",
            opinion=Opinion.of_class("x"),
            note=str(number) * 300,
        )
        store.record(draft, seen=0, token=f"token {number}")
    assert store.count(DATASET) == N


def test_a_server_stopped_at_once_in_a_burst_has_all_that_was_acknowledged(server, open_at):
    url = server.new_database()
    with burst(url) as child:
        acknowledged = [int(child.stdout.readline()) for _ in range(100)]
        server.stop("immediate")
        try:
            lines = child.stdout.read().split("\n")[:-1]
        finally:
            server.start()
    assert lines[-1] == "refused unreachable"
    check_whole(open_at(url), acknowledged + [int(line) for line in lines[:-1]])


def test_a_full_disk_is_said_and_loses_nothing_that_was_acknowledged(sqlite_url, open_at):
    """The files may grow to 400 kB, as if the disk ended there."""
    resource = pytest.importorskip("resource", reason="limits of file sizes are of POSIX systems")
    limit = 400_000
    with burst(sqlite_url, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) as child:
        lines = child.stdout.read().split("\n")[:-1]
    assert child.returncode == 0
    assert lines[-1] == "refused full"
    acknowledged = [int(line) for line in lines[:-1]]
    assert 10 < len(acknowledged) < N
    store = open_at(sqlite_url)
    check_whole(store, acknowledged)
    draft = Draft(dataset=DATASET, case_id="one more", kind="skip", reviewer="Ann")
    assert store.record(draft, seen=0, token="one more").version == 1


def test_a_full_database_takes_the_same_submission_once_there_is_room(sqlite_url, open_at):
    store = open_at(sqlite_url)
    store.engine.dispose()

    def limit(pages):
        with store.engine.connect() as connection:
            connection.connection.driver_connection.execute(f"PRAGMA max_page_count = {pages}")

    def skip(number):
        draft = Draft(dataset=DATASET, case_id="case", kind="skip", reviewer="Ann", note="n" * 5000)
        return store.record(draft, seen=number, token=str(number))

    limit(40)
    number = 0
    with pytest.raises(StoreError, match="disk is full") as caught:
        while number < 100:
            number = skip(number).version
    assert caught.value.trouble == "full"
    assert [event.version for event in store.trail(DATASET)] == list(range(1, number + 1))
    limit(1000)
    assert skip(number).version == number + 1
    assert store.count(DATASET) == number + 1
