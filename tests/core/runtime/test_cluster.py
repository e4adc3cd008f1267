"""Two workers on loopback give what one process gives, to the bit, and a worker that dies costs time only."""

import datetime
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import dask
import numpy as np
import pandas as pd
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from distributed import Client

from core.command_line import main
from core.errors import Cancelled, InputError
from core.ingest.samples import read_sample
from core.models.dawid_skene import DawidSkene
from core.partitioned.agreement import partitioned_agreement
from core.partitioned.build import partitioned
from core.partitioned.certainty import certainties
from core.partitioned.fits import class_probabilities, fit_partitioned
from core.partitioned.scatter import rows_of
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.runtime.chunks import CancelToken
from core.runtime.cluster import Cluster, _sum, opened_cluster
from core.runtime.jobs import JobBoard
from core.runtime.processes import environment
from tests.speed import scaled

N_CASES, N_RATERS = 600, 8


@pytest.fixture(scope="module")
def cluster():
    with opened_cluster("local:2") as found:
        yield found


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A small Parquet file in eight partitions."""
    folder = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(1)
    case = np.repeat(np.arange(N_CASES), 4)
    truth = rng.integers(0, 3, N_CASES)[case]
    answer = np.where(rng.uniform(size=case.size) < 0.7, truth, rng.integers(0, 3, case.size))
    rater = (case[:, None] * 7 + np.arange(case.size)[:, None]) % N_RATERS
    table = pd.DataFrame({"case": case.astype(str), "rater": [f"r{one}" for one in rater[:, 0]], "class": answer})
    table["class"] = table["class"].map(dict(enumerate("abc")))
    table.to_parquet(folder / "rows.parquet", index=False)
    return partitioned(rows_of(folder / "rows.parquet"), folder, n_partitions=8)


def same(one, other):
    return all(np.array_equal(left, right) for left, right in zip(one, other, strict=True))


def test_a_fit_is_the_same_to_the_bit(data, cluster):
    here, there = fit_partitioned(DawidSkene(), data), fit_partitioned(DawidSkene(), data, runner=cluster)
    assert here.objective == there.objective and here.log_likelihood == there.log_likelihood
    assert np.array_equal(here.confusion, there.confusion) and np.array_equal(here.prevalence, there.prevalence)
    for one, other in zip(class_probabilities(here, data), class_probabilities(there, data, cluster), strict=True):
        assert one[0] == other[0] and np.array_equal(one[1], other[1])


def test_agreement_is_the_same_to_the_bit(data, cluster):
    assert partitioned_agreement(data) == partitioned_agreement(data, runner=cluster)


def test_a_sweep_is_the_same_to_the_bit_and_tells_its_progress(data, cluster):
    shares, how = [], {"n_draws": 20, "max_top": 2, "seed": 3}
    here = list(certainties(PlackettLuce(), data, [1.0, 2.0], **how))
    there = list(certainties(PlackettLuce(), data, [1.0, 2.0], **how, runner=cluster, progress=shares.append))
    assert shares == [place / 8 for place in range(1, 9)]
    for one, other in zip(here, there, strict=True):
        assert same([result.certainty for result in one], [result.certainty for result in other])


def test_a_worker_that_is_killed_in_the_middle_costs_time_only(data, cluster):
    expected, victim = fit_partitioned(DawidSkene(), data), cluster.processes()[0]

    def kill_once(share):
        if victim in cluster.processes():
            os.kill(victim, signal.SIGKILL)

    found = fit_partitioned(DawidSkene(), data, runner=cluster, progress=kill_once)
    assert victim not in cluster.processes() and len(cluster.processes()) == 2
    assert found.objective == expected.objective and np.array_equal(found.confusion, expected.confusion)


def test_a_sum_leaves_what_it_was_made_of():
    """A worker that dies may have given it to another one, which adds again."""
    one = (1.0, np.ones(3))
    assert np.array_equal(_sum(one, (2.0, np.ones(3)))[1], [2.0, 2.0, 2.0])
    assert np.array_equal(one[1], np.ones(3))


def test_cancel_ends_it_within_a_second(data, cluster):
    token, cancelled = CancelToken(), []

    def cancel():
        cancelled.append(time.monotonic())
        token.cancel()

    threading.Timer(0.3, cancel).start()
    with pytest.raises(Cancelled):
        list(cluster.each(time.sleep, [5.0, 5.0], token=token))
    assert time.monotonic() - cancelled[0] < scaled(1.0)


def test_a_command_says_the_same_by_a_cluster(data, tmp_path, capsys, monkeypatch, cluster):
    monkeypatch.setattr("core.runtime.cluster.opened_cluster", lambda address: nullcontext(cluster))
    path = data.partitions[0].folder / "rows.parquet"
    read_sample("caries").dataset.to_frame().to_csv(tmp_path / "caries.csv", index=False)
    draws = ["--draws", "10", "--seed", "2"]
    for command, more, file in (
        (["fit", "dawid-skene"], ["--partitions", "8"], path),
        (["sweep", "dirichlet"], ["--reliabilities", "1,2", *draws], tmp_path / "caries.csv"),
    ):
        said = []
        for where in ([], ["--cluster", "local:2"]):
            assert main([*command, str(file), *more, *where]) == 0
            said.append(json.loads(capsys.readouterr().out) | {"seconds": 0})
        assert said[0] == said[1]
    assert main(["fit", "dawid-skene", str(tmp_path / "caries.csv"), "--cluster", "local:2"]) == 2
    assert "needs Parquet" in capsys.readouterr().err


def test_a_job_of_the_board_is_done_by_a_cluster_with_its_progress_and_is_cancelled(cluster):
    board, reached = JobBoard(), threading.Event()

    def work(job):
        def told(share):
            job.report(share)
            if share == 0.5:
                reached.set()

        list(cluster.each(time.sleep, [0.01, 0.01, 5.0, 5.0], token=job.token, progress=told))

    job = board.join("work", "Work", work, session="somebody", cost=1)
    assert reached.wait(20) and job.progress == 0.5
    board.cancel(job.key, "somebody")
    assert job.wait(1.3) and job.state == "cancelled"


def large(path):
    """What takes half a second to be read, and says so each time it is."""
    return _Large(path)


class _Large:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return _read_slowly, (self.path, bytes(20_000_000))


def _read_slowly(path, _):
    with open(path, "a", encoding="utf-8") as told:
        told.write("read\n")
    time.sleep(0.5)
    return 7


def test_a_large_result_is_read_once_however_long_that_takes(cluster, tmp_path):
    """Asked for anew at each look, it began anew each time."""
    assert list(cluster.each(large, [str(tmp_path / "told")])) == [7]
    assert (tmp_path / "told").read_text(encoding="utf-8").splitlines() == ["read"]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("local:0", "local:2"),
        ("local:many", "local:2"),
        ("here", "local:2"),
        ("tcp://10.0.0.1:8786", "does not use TLS"),
        ("tls://127.0.0.1:1", "No cluster is responding at"),
        ("tcp://127.0.0.1:1", "No cluster is responding at"),
    ],
)
def test_an_address_that_is_none_or_not_safe_is_refused(address, words, monkeypatch):
    monkeypatch.setattr("core.runtime.cluster._START", 0.4)
    with pytest.raises(InputError, match=words):
        Cluster(address)


def test_a_client_that_found_nobody_is_closed_before_the_error_is_told(monkeypatch):
    """The collector of garbage would close it while another one starts, which then waits for itself for ever."""
    monkeypatch.setattr("core.runtime.cluster._START", 0.4)
    gc.collect()
    before = [one for one in gc.get_objects() if type(one) is Client]
    gc.disable()
    try:
        with pytest.raises(InputError, match="No cluster is responding at"):
            Cluster("tls://127.0.0.1:1")
        left = [one for one in gc.get_objects() if type(one) is Client and all(one is not known for known in before)]
        assert [one.status for one in left] == ["closed"]
    finally:
        gc.enable()


def certified(folder):
    """A key and a certificate that vouches for itself; what Dask is told of them."""
    folder.mkdir()
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "dask")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    as_text = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *as_text))
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    told = {"distributed.comm.tls.ca-file": str(folder / "cert.pem")}
    for role in ("client", "scheduler", "worker"):
        told |= {f"distributed.comm.tls.{role}.{what}": str(folder / f"{what}.pem") for what in ("cert", "key")}
    return told


@pytest.fixture
def by_tls(tmp_path):
    """A scheduler and a worker that talk by TLS alone, as `dask scheduler` and `dask worker` start them."""
    told = certified(tmp_path / "ours")
    names = {f"DASK_{name.upper().replace('-', '_').replace('.', '__')}": value for name, value in told.items()}
    where, around = tmp_path / "scheduler.json", environment() | names | {"PYTHONWARNINGS": "ignore"}
    at = ["--host", "127.0.0.1", "--protocol", "tls", "--no-dashboard"]
    commands = {
        "dask_scheduler": ["--port", "0", "--scheduler-file", str(where), *at],
        "dask_worker": ["--scheduler-file", str(where), "--nthreads", "1", "--no-nanny", *at],
    }
    started = []
    with (tmp_path / "said.txt").open("ab") as said:
        for name, options in commands.items():
            command = [sys.executable, "-m", f"distributed.cli.{name}", *options]
            started.append(subprocess.Popen(command, stdout=said, stderr=said, env=around, cwd=tmp_path))
    until = time.monotonic() + 60
    while not where.exists() or not where.read_text():
        words = (tmp_path / "said.txt").read_text()
        assert time.monotonic() < until and all(one.poll() is None for one in started), words
        time.sleep(0.05)
    yield json.loads(where.read_text())["address"], told
    for process in reversed(started):
        process.kill()
        process.wait()


def test_a_scheduler_is_talked_to_by_tls_and_by_nobody_without_its_certificate(data, by_tls, tmp_path, monkeypatch):
    """The result is that of one process, to the bit; another certificate, or none, gets no answer."""
    address, told = by_tls
    assert address.startswith("tls://127.0.0.1:")
    with dask.config.set(told), opened_cluster(address) as found:
        there = fit_partitioned(DawidSkene(), data, runner=found)
    here = fit_partitioned(DawidSkene(), data)
    assert here.objective == there.objective and np.array_equal(here.confusion, there.confusion)
    monkeypatch.setattr("core.runtime.cluster._START", 4.0)
    for other in (certified(tmp_path / "theirs"), dict.fromkeys(told)):
        with dask.config.set(other), pytest.raises(InputError, match="No cluster is responding at"):
            Cluster(address)
