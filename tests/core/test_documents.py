"""What the documents say of the project is so: the locks have what they are locks of."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


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
