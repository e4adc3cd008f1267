"""Bars behind sentences are in one module: no other one has a number of its own for them."""

import ast
from pathlib import Path

import core
from core import thresholds

FOLDER = Path(core.__file__).parent
EVERYWHERE = {0.05, 0.2, 0.25, 0.5}  # numbers that mean something else in most modules
VALUES = {value for name, value in vars(thresholds).items() if name.isupper() and isinstance(value, float)} - EVERYWHERE
# Constants of computing (targets of samplers, convergence, sizes) have the same value by chance.
OF_COMPUTING = {
    *("ABOVE_CHANCE", "FIRST_OPINION", "PARTS", "POWER", "START_SPREAD", "TARGET_ACCEPT", "_ABOVE_CHANCE"),
    *(
        "_BEYOND",
        "_CROSSED",
        "_CURVATURE",
        "_INDEPENDENT",
        "_MIXED",
        "_MOST_LEFT",
        "_NAMED",
        "_NEARLY_EACH",
        "_NEAR_THE_END",
        "_NO_SIGN",
        "_OTHERS_AGREE",
        "_REPEATED",
    ),
    *("_SAMPLING_SHARE", "_SHARE_OF_OBJECTS", "_TARGET_ACCEPT"),
}


def constants(path):
    """Names of the module's constants that equal a bar."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign):
            continue
        pairs = [(target, node.value) for target in node.targets]
        if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple | ast.List):
            pairs = list(zip(node.targets[0].elts, node.value.elts, strict=False))  # a name may take the rest
        for target, value in pairs:
            if isinstance(value, ast.Constant) and value.value in VALUES and isinstance(value.value, float):
                yield target.id


def test_no_other_module_has_a_bar_of_its_own():
    """A constant of 0.9, 0.95 and the like belongs to `core.thresholds`, or is one of computing."""
    paths = [path for top in (FOLDER, FOLDER.parent / "pages") for path in top.rglob("*.py")]
    found = {
        f"{path.relative_to(FOLDER.parent)}: {name}"
        for path in paths
        if path.name != "thresholds.py"
        for name in constants(path)
        if name not in OF_COMPUTING
    }
    assert not found, sorted(found)


def test_every_bar_has_its_sentence():
    """The line of each bar quotes what it stands for."""
    lines = Path(thresholds.__file__).read_text(encoding="utf-8").splitlines()
    for line in lines:
        if line[:1].isupper() and " = " in line:
            assert '  # "' in line, line
