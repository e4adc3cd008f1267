"""The public names as editors and type checkers see them: the same names from the same modules as at run time."""

import ast
import subprocess
import sys
from pathlib import Path

import core

SOURCE = Path(core.__file__)


def for_checkers():
    """Name to module, from the imports that only type checkers read."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    (block,) = [
        node for node in tree.body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    assert all(alias.asname == alias.name for line in block.body for alias in line.names)  # else it is no public name
    return {alias.name: f".{line.module}" for line in block.body for alias in line.names}


def test_type_checkers_see_the_public_names_where_they_are():
    assert for_checkers() == core._WHERE
    assert [*core._WHERE, "__version__"] == core.__all__


def test_completion_lists_every_public_name_before_any_is_loaded():
    script = "import sys, core\nprint(*dir(core))\nassert 'numba' not in sys.modules and 'pandas' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=SOURCE.parents[1], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    listed = done.stdout.split()
    assert set(core.__all__) <= set(listed) and listed == sorted(set(listed))
