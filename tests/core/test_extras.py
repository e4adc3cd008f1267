"""What an installation without extras does: everything opens, and whatever needs an extra names the command for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import MissingExtraError, PluralityError
from core.models.loo import psis_loo
from core.models.nuts.sampler import sample_many
from core.partitioned.scatter import rows_of
from core.review.signed_heads import make_key
from core.runtime.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]
BROUGHT = {  # by each extra, with what its packages need and nothing else needs
    "sampler": ("nutpie", "arviz", "matplotlib", "xarray", "zarr", "numcodecs", "h5py"),
    "cluster": ("polars", "distributed", "dask", "tornado"),
    "team": ("authlib", "httpx", "cryptography", "joserfc"),
}
MISSING = [name for names in BROUGHT.values() for name in names]


@pytest.fixture
def without_extras(monkeypatch):
    for name in MISSING:
        monkeypatch.setitem(sys.modules, name, None)
    for name in [one for one in sys.modules if one.startswith("cryptography.")]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_extras")
@pytest.mark.parametrize(
    ("extra", "work"),
    [
        ("sampler", lambda folder: sample_many([None], n_draws=1, n_tune=1, seeds=[0])),
        ("sampler", lambda folder: psis_loo([[-1.0, -2.0]] * 100, [1, 1])),
        ("cluster", lambda folder: Cluster("local:1")),
        ("cluster", lambda folder: rows_of(parquet(folder)).head()),
        ("team", lambda folder: make_key(folder / "head.key")),
    ],
)
def test_what_needs_a_missing_extra_names_the_command_that_installs_it(tmp_path, extra, work):
    with pytest.raises(MissingExtraError) as raised:
        work(tmp_path)
    assert str(raised.value).endswith(f"-m pip install -r requirements/{extra}.txt.")
    assert (ROOT / "requirements" / f"{extra}.txt").is_file() and isinstance(raised.value, PluralityError)


def parquet(folder):
    import pandas as pd

    pd.DataFrame({"case": ["a"], "rater": ["r"], "class": ["x"]}).to_parquet(folder / "a.parquet")
    return folder / "a.parquet"


def test_every_module_of_library_and_pages_loads_without_the_extras():
    script = f"""
import importlib, json, pkgutil, sys
for name in {MISSING!r}:
    sys.modules[name] = None
import core, pages.shared
for package in (core, pages.shared):
    for one in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if "migrations" not in one.name and not one.name.endswith(("__main__", "_worker")):
            importlib.import_module(one.name)
print(json.dumps(sorted(name for name, one in sys.modules.items() if one is not None and "." not in name)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "core" in json.loads(done.stdout) and not set(MISSING) & set(json.loads(done.stdout))
