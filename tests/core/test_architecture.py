"""The house: who may import whom, how long a function may be, and that a name means one thing."""

import ast
import functools
import re
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
    ("runtime._worker", "runtime._lasting_worker", "runtime.workers"),
    ("warmup",),
    ("runtime.jobs", "runtime.work"),
    ("qualify",),
    ("report",),
    ("analyses",),
    ("figures",),
    ("backup", "deployment", "erasure", "read_anew"),
    ("belongings", "changes"),
    ("library",),
    ("analysis_settings",),
    ("machines",),
    ("review",),
    ("raters",),
    ("partitioned",),
    ("evaluation", "studies"),
    ("certainty",),
    ("reducers",),
    ("plausibility",),
    ("models",),
    ("agreement",),
    ("rankings",),
    ("story",),
    ("ingest",),
    ("people",),
    ("access_record", "accounts", "people_list", "sign_ins"),
    ("runtime.result_cache", "runtime.encoding"),
    ("methods",),
    ("annotations",),
    ("_binomial_kernels", "correlation", "extremes", "multiplicity", "order", "sequential"),
    (
        "runtime.first_start",
        "runtime.cluster",
        "runtime.executors",
        "runtime.chunks",
        "runtime.processes",
        "runtime.supervisor",
        "runtime.numba_setup",
        "runtime.identity_cache",
        "runtime.locks",
        "runtime.files",
        "runtime.seeds",
    ),
    ("tables", "result_base", "checked"),
    ("options", "logs"),
    ("text", "glossary", "version"),
    ("settings",),
    ("errors", "thresholds", "runtime"),
)
# The dashboard, upward as well. Rooms of one line do not import each other; a review shows a case as its page does.
PAGE_LAYERS = (
    ("app",),
    ("pages",),
    ("shell",),
    ("review",),
    ("agreement", "ai_rater", "cases", "home", "models", "raters", "reliability", "upload"),
    ("kit",),
    ("cache",),
)
# Where the values of a session are read and set, and the only place. Streamlit offers no other way to them.
OWNER_OF_THE_SESSION = "pages.shared.cache.session"
LONGEST = 60
# Numbers are put into words by core.text alone; these write coordinates of drawings and names of seeds.
UNSPOKEN = ("core.text", "core.figures.cells", "core.runtime.seeds")
BY_HAND = re.compile(r"[efgn%]$")
SPACED_PERCENT = re.compile(r"[\d}] %(?![\w{(])")


def layer_of(layers):
    """The place of each name in a list of layers, counted from the top."""
    return {name: place for place, names in enumerate(layers) for name in names}


def files(*tops):
    """Every module of the folders and files, by name."""
    paths = [path for top in tops for path in (sorted(top.rglob("*.py")) if top.is_dir() else [top])]
    paths = [path for path in paths if "__pycache__" not in path.parts]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


LAYER, PAGE_LAYER = layer_of(LAYERS), layer_of(PAGE_LAYERS)
CORE = files(FOLDER)
PAGES = files(ROOT / "app.py", ROOT / "pages")
EVERY = CORE | PAGES
MODULES = list(CORE)


def part(module):
    """The name in the list that a module stands under: ``core.models.majority`` is of ``models``.

    Of ``core.runtime`` each module has its own place: some know the data, and all else rests on others. What is taken
    from ``core`` itself and is no module there is a public name, which stands at the very top.
    """
    names = module.removeprefix("core").removeprefix(".").split(".")
    name = ".".join(names[: 2 if names[0] == "runtime" else 1])
    return name if name in LAYER or module in MODULES[1:] else "__init__"


@functools.cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def called_for(node, package):
    """The module that a call of ``import_module`` names, where its name is written out."""
    function = getattr(node, "func", None)
    if getattr(function, "id", getattr(function, "attr", "")) not in ("import_module", "__import__"):
        return []
    (name,) = [getattr(argument, "value", None) for argument in node.args[:1]]
    if not isinstance(name, str):
        return []
    level = len(name) - len(name.lstrip("."))
    return [".".join([*package[: len(package) - level + 1], name[level:]]) if level else name]


def imported(path):
    """Every module that a file imports, at its top or inside a function; names taken from ``core`` are modules."""
    package = path.relative_to(ROOT).parts[:-1]
    found = []
    for node in ast.walk(tree(path)):
        found += called_for(node, package)
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            place = f"{path} line {node.lineno}"
            if not node.level:
                of_core = path.is_relative_to(FOLDER)
                assert not of_core or node.module.split(".")[0] != "core", (
                    f"{place}: core imports itself by relative names"
                )
                found.append(node.module)
                continue
            module = ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])
            members = [f"{module}.{alias.name}" for alias in node.names]
            found += members if node.module is None else [name if name in MODULES else module for name in members]
    return found


def uphill(module, target):
    """Whether an import from one module of core to another breaks the direction of the list."""
    here, there = part(module), part(target)
    if LAYER[there] == LAYER[here]:
        return here.split(".")[0] != there.split(".")[0]
    return LAYER[there] < LAYER[here]


def test_a_module_names_nothing_of_streamlit_and_imports_only_downward():
    assert [module for module in MODULES if part(module) not in LAYER] == []  # each has its place in the list of layers
    found = [(module, target) for module, path in CORE.items() for target in imported(path)]
    assert [pair for pair in found if pair[1].split(".")[0] in ("streamlit", "pages", "app")] == []
    assert [pair for pair in found if pair[1].split(".")[0] == "core" and uphill(*pair)] == []
    assert len(found) > len(MODULES)


def test_the_rule_would_find_an_import_that_runs_upward():
    assert uphill("core.models.majority", "core.certainty.top_sets")
    assert uphill("core.order", "core.extremes")
    assert uphill("core.runtime.chunks", "core.runtime.jobs")
    assert not uphill("core.runtime.executors", "core.runtime.chunks")
    assert uphill("core.errors", "core.settings")
    assert uphill("core.library", "core")
    assert uphill("core.commands", "core.load_sample")
    assert not uphill("core.certainty.top_sets", "core.models.majority")
    assert not uphill("core.models.dawid_skene", "core.models.majority")


def test_importing_every_module_of_core_does_not_load_streamlit_nor_what_takes_half_a_second():
    """Whoever's process of a server ended waits until another one has loaded them all."""
    modules = [module for module in MODULES if module != "core.__main__"]
    script = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(*[name for name in sys.modules if name.split('.')[0] in ('streamlit', 'pages', 'matplotlib')])\n"
        "print(*[name for name in sys.modules if name == 'scipy.stats'])"
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


def modules_imported(path, names=EVERY):
    """The modules of this project that a file imports, at its top, inside a function or for type checkers alone."""
    package, found = path.relative_to(ROOT).parts[:-1], set()
    for node in ast.walk(tree(path)):
        found |= set(called_for(node, package))
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            members = {f"{base}.{alias.name}" for alias in node.names}
            found |= (members & set(names)) or {base}
            found |= {base} if members - set(names) else set()
    return found & set(names)


def circles(imports):
    """Modules that can be reached from themselves, in groups; ``imports`` has for each module those it imports."""
    reached = {name: set() for name in imports}
    for name in imports:
        open_ = list(imports[name])
        while open_:
            one = open_.pop()
            if one not in reached[name]:
                reached[name].add(one)
                open_ += imports[one]
    inside = [name for name in imports if name in reached[name]]
    return sorted(
        {
            tuple(sorted(other for other in inside if other in reached[name] and name in reached[other]))
            for name in inside
        }
    )


def test_no_modules_import_each_other_in_a_circle():
    """Not inside functions and not for type checkers either."""
    assert circles({name: modules_imported(path) - {name} for name, path in EVERY.items()}) == []


def test_the_rule_would_find_a_circle():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [("a", "b", "c")]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize(
    "text",
    [
        "from core.runtime.chunks import map_chunks",
        "def f():\n    from core.runtime import chunks",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import core.runtime.chunks",
        "from importlib import import_module\ndef f():\n    import_module('core.runtime.chunks').map_chunks()",
        "import importlib\nimportlib.import_module('.core.runtime.chunks', __package__)",
    ],
)
def test_the_rule_sees_an_import_wherever_it_stands(tmp_path, monkeypatch, text):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "app.py").write_text(text)
    assert "core.runtime.chunks" in modules_imported(tmp_path / "app.py")


def room(module):
    """The line of the list of pages that a module stands on: its room under ``pages/shared``, or "pages"."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["pages", "shared"] and len(parts) > 2 else parts[0]


def upward(module, target):
    """Whether an import from one module of the dashboard to another goes to a room that is not below its own."""
    here, there = room(module), room(target)
    return here != there and PAGE_LAYER[there] <= PAGE_LAYER[here]


def test_rooms_of_the_dashboard_import_only_downward():
    """The cache, the kit, the rooms, the shell, the pages: no room knows another, save through what is below both."""
    modules = [name for name in PAGES if name != "pages.shared"]
    assert [module for module in modules if room(module) not in PAGE_LAYER] == []
    found = [(module, target) for module in modules for target in modules_imported(PAGES[module], PAGES)]
    assert [pair for pair in found if upward(*pair)] == [] and len(found) > len(modules)


def test_the_rule_would_find_a_room_that_knows_another():
    assert upward("pages.shared.kit.tables", "pages.shared.cases.one_case")
    assert upward("pages.shared.cases.one_case", "pages.shared.raters.table")
    assert upward("pages.shared.cases.one_case", "pages.cases")
    assert not upward("pages.shared.cases.one_case", "pages.shared.kit.tables")
    assert not upward("pages.cases", "pages.shared.cases.one_case")


def test_every_module_of_the_shared_pages_stands_in_a_room():
    assert [path.name for path in (ROOT / "pages" / "shared").glob("*.py")] == ["__init__.py"]


def test_a_function_fits_on_a_screen():
    """At most 60 lines with its docstring; a kernel is one walk through its data and may be longer."""
    lines = [
        (node.end_lineno - node.lineno + 1, module, node.name)
        for module, path in EVERY.items()
        if not module.endswith("_kernels")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [one for one in lines if one[0] > LONGEST] == []
    assert max(lines)[0] > LONGEST // 2


def past_the_owner(tree):
    """Lines that reach the session's state without its owner, also by an attribute given as text."""
    names = [(node, {getattr(node, part, None) for part in ("attr", "id", "name")}) for node in ast.walk(tree)]
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == "session_state"]
    return [node.lineno for node in [*(node for node, own in names if "session_state" in own), *texts]]


def test_the_session_is_read_and_set_in_one_place():
    found = {module: past_the_owner(tree(path)) for module, path in PAGES.items() if module != OWNER_OF_THE_SESSION}
    assert {module: lines for module, lines in found.items() if lines} == {}
    assert past_the_owner(tree(PAGES[OWNER_OF_THE_SESSION]))


@pytest.mark.parametrize(
    "source",
    [
        "import streamlit as st\nst.session_state['case'] = 1",
        "from streamlit import session_state",
        "from streamlit import session_state as s",
        "getattr(st, 'session_state')",
        "chosen = st.session_state",
    ],
)
def test_the_rule_would_find_a_way_past_the_owner(source):
    assert len(past_the_owner(ast.parse(source))) == 1


def test_a_public_class_is_defined_once():
    where = {}
    for module, path in EVERY.items():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}


def unfit_kernels(tree, name):
    """What in a file of that name would run numba's own threads or fast maths, or is a kernel out of its place."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("parallel", "fastmath"):
            found.append(node.arg)
        names = {getattr(node, "id", None), getattr(node, "attr", None)}
        if isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names}
        if "prange" in names:
            found.append("prange")
        for decorator in getattr(node, "decorator_list", []):
            if "njit" in ast.dump(decorator):
                keywords = getattr(decorator, "keywords", [])
                options = {option.arg: getattr(option.value, "value", None) for option in keywords}
                found += [option for option in ("cache", "nogil") if options.get(option) is not True]
                found += [] if name.startswith("_") and name.endswith("_kernels.py") else ["out of its place"]
    return found


def test_kernels_use_no_parallel_loops_and_no_fast_maths():
    """Numba's own threads abort the process when two sessions enter at once; fast maths breaks infinities."""
    assert {module: found for module, path in CORE.items() if (found := unfit_kernels(tree(path), path.name))} == {}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("@njit(cache=True, nogil=True)\ndef f(): pass", []),
        ("@njit(cache=True, nogil=True, parallel=True)\ndef f(): pass", ["parallel"]),
        ("@njit(cache=True, nogil=True, fastmath=True)\ndef f(): pass", ["fastmath"]),
        ("@njit(cache=True)\ndef f(): pass", ["nogil"]),
        ("@njit\ndef f(): pass", ["cache", "nogil"]),
        ("from numba import prange", ["prange"]),
        ("numba.prange(3)", ["prange"]),
    ],
)
def test_the_rule_would_find_an_unfit_kernel(source, found):
    assert unfit_kernels(ast.parse(source), "_some_kernels.py") == found


def test_the_rule_would_find_a_kernel_out_of_its_place():
    assert unfit_kernels(ast.parse("@njit(cache=True, nogil=True)\ndef f(): pass"), "fit.py") == ["out of its place"]


def formats_by_hand(tree):
    """Numbers that a module formats itself, and per cent signs with a space before them, by line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            spec = "".join(
                getattr(one, "value", "") for one in node.format_spec.values if isinstance(one, ast.Constant)
            )
            found += [(node.lineno, spec)] if BY_HAND.search(spec) else []
        elif isinstance(node, ast.FormattedValue) and counts(node.value):
            found.append((node.lineno, f"{ast.unparse(node.value)} without separators"))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SPACED_PERCENT.search(node.value):
            found.append((node.lineno, "a space before %"))
        elif isinstance(node, ast.Attribute) and node.attr == "format" and isinstance(node.value, ast.Constant):
            text = str(node.value.value)
            found += [(node.lineno, text)] if re.search(r":[^{}]*[efgn%]\}", text) else []
    return found


def counts(node):
    """Whether an expression bears the name of a count of what data have in thousands."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("n_cases", "n_raters", "n_annotations", "n_classes", "n_rows", "n_draws")


def test_numbers_are_put_into_words_in_one_place():
    """``0.56 (0.52 to 0.59)``, ``56%``, ``1,234``: see `core.text`."""
    spoken = {module: formats_by_hand(tree(path)) for module, path in EVERY.items() if module not in UNSPOKEN}
    assert {module: found for module, found in spoken.items() if found} == {}


@pytest.mark.parametrize(
    ("source", "n"),
    [
        ("f'{x:.2f} of {n}'", 1),
        ("f'{x:.0%} and {y:,.1f}'", 2),
        ("f'γ = {value:g}'", 1),
        ("f'{x:.{digits}f}'", 1),
        ("'intervals of 95 % over cases'", 1),
        ("st.slider(format_func='{:.0%}'.format)", 1),
        ("f'{data.n_cases} cases'", 1),
        ("f'{data.n_cases:,} cases, {name:>4}, {number(x)}, {percent(y)}; 95%'", 0),
        ("'%{x:.3f}<br>%{y:.1%}'", 0),
    ],
)
def test_the_rule_would_find_a_number_formatted_by_hand(source, n):
    assert len(formats_by_hand(ast.parse(source))) == n
