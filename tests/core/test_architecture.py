"""The house: who may import whom."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import core

FOLDER = Path(core.__file__).parent
ROOT = FOLDER.parent

# Imports run downward in this list. What stands on one line does not import each other, save within one package.
LAYERS = (
    ("__init__", "__main__"),
    ("command_line",),
    ("commands",),
    ("_worker",),
    ("warmup",),
    ("jobs",),
    ("report",),
    ("story",),
    ("figures",),
    ("library",),
    ("review",),
    ("raters",),
    ("evaluation",),
    ("certainty",),
    ("reducers",),
    ("plausibility",),
    ("models",),
    ("agreement",),
    ("rankings",),
    ("ingest",),
    ("annotations",),
    ("chunks", "seeds", "processes"),
    ("tables",),
    ("text", "glossary", "version", "options"),
    ("settings",),
    ("errors",),
)
LAYER = {name: place for place, names in enumerate(LAYERS) for name in names}
PATHS = sorted(path for path in FOLDER.rglob("*.py") if "__pycache__" not in path.parts)
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in PATHS]


def part(module):
    """The name in the list that a module stands under: ``core.models.majority`` is of ``models``.

    What is taken from ``core`` itself and is no module there is a public name, which stands at the very top.
    """
    name = module.removeprefix("core").removeprefix(".").split(".")[0]
    return name if name in LAYER or module in MODULES[1:] else "__init__"


def imported(path):
    """Every module that a file imports, at its top or inside a function; names taken from ``core`` are modules."""
    package = path.relative_to(ROOT).parts[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            place = f"{path} line {node.lineno}"
            if not node.level:
                assert node.module.split(".")[0] != "core", f"{place}: core imports itself by relative names"
                found.append(node.module)
                continue
            module = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            if node.module is None:
                found += [f"{module}.{alias.name}" for alias in node.names]
            else:
                found.append(module)
    return found


def uphill(module, target):
    """Whether an import from one module of core to another breaks the direction of the list."""
    here, there = part(module), part(target)
    return here != there and LAYER[there] <= LAYER[here]


@pytest.mark.parametrize("path", PATHS, ids=MODULES)
def test_a_module_names_nothing_of_streamlit_and_imports_only_downward(path):
    module = MODULES[PATHS.index(path)]
    assert part(module) in LAYER, f"{module} has no place in the list of layers"
    for target in imported(path):
        top = target.split(".")[0]
        assert top != "streamlit" and top != "pages" and top != "app"
        if top == "core":
            assert not uphill(module, target), f"{module} imports {target}"


def test_the_rule_would_find_an_import_that_runs_upward():
    assert uphill("core.models.majority", "core.certainty.top_sets")
    assert uphill("core.chunks", "core.seeds")
    assert uphill("core.errors", "core.settings")
    assert uphill("core.library", "core")
    assert uphill("core.commands", "core.load_sample")
    assert not uphill("core.certainty.top_sets", "core.models.majority")
    assert not uphill("core.models.dawid_skene", "core.models.majority")


def test_importing_every_module_of_core_does_not_load_streamlit():
    modules = [module for module in MODULES if module != "core.__main__"]
    script = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(*[name for name in sys.modules if name.split('.')[0] in ('streamlit', 'pages')])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_importing_core_is_light():
    """The public names come when they are first used: no compiler and no tables before that."""
    script = (
        "import sys, core\nprint(*[name for name in ('numba', 'pandas', 'scipy', 'plotly') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


def test_every_public_name_is_found_where_it_is_said_to_be():
    for name in core.__all__:
        assert getattr(core, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        core.no_such_name  # noqa: B018


@pytest.mark.parametrize("path", PATHS, ids=MODULES)
def test_kernels_use_no_parallel_loops_and_no_fast_maths(path):
    """Numba's own threads abort the process when two sessions enter at once; fast maths breaks infinities."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword):
            assert node.arg not in ("parallel", "fastmath")
        names = {getattr(node, "id", None), getattr(node, "attr", None)}
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
        assert "prange" not in names
        for decorator in getattr(node, "decorator_list", []):
            if "njit" in ast.dump(decorator):
                options = {option.arg: ast.literal_eval(option.value) for option in decorator.keywords}
                assert options.get("cache") is True and options.get("nogil") is True
                assert path.name.startswith("_") and path.name.endswith("_kernels.py")
