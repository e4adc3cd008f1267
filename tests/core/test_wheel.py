"""The engine as a wheel: under the name plurality, with no folder called core, it gives the same numbers."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core import DawidSkene, load_sample

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds nothing but the installed wheel."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-q"]
    subprocess.run([*build, "-w", str(place / "dist"), str(ROOT)], check=True, capture_output=True)
    (wheel,) = (place / "dist").glob("plurality_raters-*.whl")
    with zipfile.ZipFile(wheel) as content:
        content.extractall(place / "site")
    return place / "site"


def run(installed, *arguments, compiled=False):
    """A Python that finds the wheel and its dependencies, in a folder where the repository is out of sight.

    Kernels that are not ``compiled`` run as Python: only what is installed is under test.
    """
    script = (
        f"import sys; sys.path.insert(0, {str(installed)!r})\n"
        f"sys.path[:] = [path for path in sys.path if path not in ('', {str(ROOT)!r})]\n"
    )
    command = [sys.executable, "-P", "-c", script + arguments[0], *arguments[1:]]
    own = {**os.environ, "NUMBA_CACHE_DIR": str(installed.parent / "cache")}
    own["NUMBA_DISABLE_JIT"] = str(int(not compiled))
    return subprocess.run(command, cwd=installed, env=own, capture_output=True, text=True, timeout=300)


def test_the_wheel_holds_the_package_its_samples_and_its_types_and_nothing_else(installed):
    assert {path.name for path in installed.iterdir()} == {"plurality", f"plurality_raters-{version()}.dist-info"}
    assert (installed / "plurality" / "py.typed").exists()
    assert (installed / "plurality" / "sample_data" / "skin" / "annotations.csv").exists()


def version():
    from core import __version__

    return __version__


def test_lines_of_the_readme_run_under_the_installed_name(installed):
    """Compiled under that name as well."""
    script = (
        "import importlib.util\n"
        "assert importlib.util.find_spec('core') is None\n"
        "from plurality import DawidSkene, DirichletCounts, annotation_certainty, coefficients_for, load_sample\n"
        "data = load_sample('anaesthesia')\n"
        "print(DawidSkene('none').fit(data).log_likelihood)\n"
        "print(coefficients_for(data).coefficients[0].name)\n"
        "print(annotation_certainty(DirichletCounts(), data, reliability=3.0, n_draws=20, seed=0).mean(1) > 0.5)\n"
    )
    done = run(installed, script, compiled=True)
    assert done.returncode == 0, done.stderr
    likelihood, name, certain = done.stdout.split()
    here = DawidSkene("none").fit(load_sample("anaesthesia"))
    assert float(likelihood) == pytest.approx(here.log_likelihood, rel=1e-9)
    assert (name, certain) == ("percent", "True")


def test_the_command_line_and_the_sampler_s_process_run_under_the_installed_name(installed):
    arguments = ["fit", "bayesian-dawid-skene", "anaesthesia", "--method", "nuts", "--chains", "1"]
    arguments += ["--draws", "20", "--tune", "20"]
    done = run(installed, f"from plurality.command_line import main\nsys.exit(main({arguments!r}))")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == "nuts"


def test_an_installed_wheel_is_as_its_record_says_and_a_changed_file_is_found(installed):
    script = (
        "from plurality.qualify import check_installation\n"
        "print(*[f'{one.what}: {one.passed}' for one in check_installation().checks], sep='\\n')\n"
    )
    done = run(installed, script)
    assert done.returncode == 0, done.stderr
    assert f"Installed files of plurality-raters {version()}: True" in done.stdout.splitlines()
    changed = installed / "plurality" / "sample_data" / "anaesthesia" / "annotations.csv"
    content = changed.read_bytes()
    changed.write_bytes(content + b"\n")
    found = run(installed, script).stdout
    changed.write_bytes(content)
    assert f"Installed files of plurality-raters {version()}: False" in found
    assert "plurality/sample_data/anaesthesia/annotations.csv: False" in found
