"""The dashboard has the cluster of the settings make its draws, through the job board, and says where data go."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core import load_sample
from core.errors import InputError
from core.evaluation.sweep_table import sweep_part
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.executors import LocalExecutor
from pages.shared.cache import datasets as cached
from tests.pages.opened import APP, opened


class Counted(LocalExecutor):
    """Stands in for a cluster: counts what it is given."""

    alive = True

    def __init__(self, address):
        if address == "local:none":
            raise InputError("No cluster is responding at this address.")
        self.address, self.n = address, 0

    def close(self):
        self.alive = False

    def _each(self, work, items, shared, token, progress):
        self.n += len(items)
        return super()._each(work, items, shared, token, progress)


@pytest.fixture
def set_to(monkeypatch):
    """Sets the address of the cluster."""
    monkeypatch.setattr("core.runtime.cluster.Cluster", Counted)
    monkeypatch.setattr(cached, "_clusters", {})
    return lambda address: monkeypatch.setenv("PLURALITY_CLUSTER", address)


def drawn(seed, seconds):
    """A job that draws what a sweep takes."""
    data = load_sample("caries").coded
    how = {"n_draws": 5, "seed": seed, "seconds": seconds}
    job = cached.jobs().join(
        ("cluster", seed, seconds),
        "Draws",
        lambda job: cached.run(job, sweep_part, data, DirichletCounts(), data, 1.0, **how),
        session="somebody",
        cost=1,
    )
    job.wait(60)
    return job


def test_heavy_draws_are_made_by_the_cluster_and_light_ones_here(set_to):
    here = drawn(1, 100.0)
    set_to("local:2")
    there = drawn(2, 100.0)
    assert there.state == "done" and there.progress == 1.0
    n = cached.cluster().n
    assert n == -(-load_sample("caries").n_cases // 128)
    drawn(3, 0.1)
    assert cached.cluster().n == n
    again = cached.run(there, sweep_part, *arguments(), n_draws=5, seed=1, seconds=100.0)
    assert np.array_equal(again.certainty.certainty, here.result.certainty.certainty, equal_nan=True)


def arguments():
    data = load_sample("caries").coded
    return data, DirichletCounts(), data, 1.0


def test_a_cluster_that_was_lost_is_joined_again_and_one_that_does_not_answer_is_said(set_to):
    set_to("local:2")
    first = cached.cluster()
    assert cached.cluster() is first
    first.close()
    assert cached.cluster() is not first
    set_to("local:none")
    failed = drawn(4, 100.0)
    assert failed.state == "failed" and "No cluster is responding at" in str(failed.error)


@pytest.mark.parametrize(("address", "stays"), [("", True), ("local:2", True), ("tls://far:8786", False)])
def test_settings_and_home_say_whether_data_leave_the_computer(set_to, address, stays):
    set_to(address)
    settings = opened("settings", "caries")
    assert any("except data sent to the cluster" in entry.value for entry in settings.markdown) is not stays
    listed = "".join(each.proto.body for each in settings.get("html"))
    assert f"<dt>Cluster that computes draws (PLURALITY_CLUSTER)</dt><dd>{address or 'none'}</dd>" in listed
    home = AppTest.from_file(APP, default_timeout=300).run()
    assert any("Nothing leaves this computer" in entry.value for entry in home.markdown) is stays
