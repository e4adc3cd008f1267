"""What the documents say of the project is so: the list of layers, every path, and every public name."""

import re
from pathlib import Path

import pytest

from tests.core.test_architecture import LAYERS

ROOT = Path(__file__).resolve().parents[2]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_layers_of_the_architecture_are_those_that_its_test_holds():
    section = text_of("ARCHITECTURE.md").split("## Layers")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert [tuple(re.findall(r"`(\w+)`", row)) for row in rows[1:]] == list(LAYERS)


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_every_path_that_a_document_names_is_there(name):
    """Paths without a placeholder, from the project's folder or from the folder that the text is about."""
    quoted = re.findall(r"`([\w./-]+)`", text_of(name))
    paths = [one for one in quoted if one.endswith((".py", ".md", ".yaml", ".lock", "/")) or one.startswith("tests/")]
    assert len(paths) >= 10
    below = [path.as_posix() for folder in ("core", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    missing = [one for one in paths if not (ROOT / one).exists() and not any(p.endswith(f"/{one}") for p in below)]
    assert missing == []


def test_every_test_that_the_threat_model_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text_of("docs/threat_model.md"))
    assert len(named) >= 20
    assert [(file, name) for file, name in named if f"def {name}(" not in text_of(file)] == []


def test_every_function_that_the_architecture_names_in_a_module_is_defined_there():
    for module, name in re.findall(r"`([\w/]+\.py): (\w+)`", text_of("ARCHITECTURE.md")):
        (path,) = [one for one in (ROOT / "core").rglob("*.py") if one.as_posix().endswith(f"/{module}")]
        assert re.search(rf"^(?:def|class) {name}\b", path.read_text(encoding="utf-8"), re.M), f"{module}: {name}"
    methods = re.findall(r"`([\w/]+\.py): (\w+)\.(\w+)`", text_of("ARCHITECTURE.md"))
    assert methods
    for module, kind, name in methods:
        (path,) = [one for one in (ROOT / "core").rglob("*.py") if one.as_posix().endswith(f"/{module}")]
        text = path.read_text(encoding="utf-8")
        assert f"class {kind}" in text and f"    def {name}(" in text


def pins(name):
    """Package to the versions that a file pins; a lock may have one for each version of Python."""
    found = {}
    for package, version in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\w.+-]+)", text_of(name), re.M):
        found.setdefault(package.lower().replace("_", "-"), set()).add(version)
    return found


@pytest.mark.parametrize("name", ["requirements", "tests/requirements"])
def test_a_lock_has_every_pin_with_hashes_and_names_no_registry(name):
    lock, wanted = pins(f"{name}.lock"), pins(f"{name}.txt")
    assert len(wanted) >= 10
    assert {package: lock.get(package) for package in wanted} == wanted
    text = text_of(f"{name}.lock")
    for entry in re.split(r"^(?=[\w-]+==)", text, flags=re.M)[1:]:
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    assert not re.search(r"://|--(?:extra-)?index|--find-links", text)
    assert f"#    uv pip compile --universal --generate-hashes --python-version 3.11 {name}.txt -o {name}.lock" in text


def test_both_locks_have_the_same_versions():
    app, tests = pins("requirements.lock"), pins("tests/requirements.lock")
    assert {package: tests.get(package) for package in app} == app
