"""The bill of materials names every package that is installed, with the hashes of the lock, and always the same."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def made():
    run = [sys.executable, str(ROOT / ".ci" / "sbom.py")]
    return subprocess.run(run, capture_output=True, check=True).stdout


def test_every_package_of_the_lock_is_in_the_bill_with_its_hashes():
    told, lock = json.loads(made()), (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    pinned = dict(re.findall(r"(?m)^([\w.-]+)==([^\s\\;]+)", lock))
    assert {one["name"]: one["version"] for one in told["components"]} == pinned and len(pinned) > 50
    refs = [one["bom-ref"] for one in told["components"]]
    assert len(set(refs)) == len(refs), "also of a package that has a version for each Python"
    assert refs == [one["purl"] for one in told["components"]]
    assert refs == [f"pkg:pypi/{one['name']}@{one['version']}" for one in told["components"]]
    hashes = [each["content"] for one in told["components"] for each in one["externalReferences"][0]["hashes"]]
    assert sorted(hashes) == sorted(re.findall(r"sha256:([0-9a-f]{64})", lock))


def test_it_says_what_needs_what_and_nothing_hangs_in_the_air():
    told = json.loads(made())
    needs = {one["ref"]: one["dependsOn"] for one in told["dependencies"]}
    names = {one["bom-ref"]: one["name"] for one in told["components"]}
    of = {names.get(ref, "plurality"): {names[each] for each in each_of} for ref, each_of in needs.items()}
    assert {"streamlit", "sqlalchemy", "numba"} <= of["plurality"]
    assert "cryptography" in of["authlib"] and "llvmlite" in of["numba"]
    assert {each for each_of in needs.values() for each in each_of} == set(names), "each is needed by something"


def test_the_same_lock_gives_the_same_bill():
    assert made() == made()
