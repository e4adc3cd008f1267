"""The software bill of materials (CycloneDX 1.6): run ``python .ci/sbom.py > sbom.json``, without a network.

It lists what `requirements.lock` installs: each package with its version, the hashes of the files that are accepted,
and what needs it. The same lock gives the same bill, byte for byte.
"""

import json
import re
import sys
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = re.compile(r"(?m)^([A-Za-z0-9._-]+)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_NEEDED_BY = re.compile(r"#\s+(?:via\s+)?([A-Za-z0-9][A-Za-z0-9._-]*)\s*$")


def bill(lock: str, version: str) -> dict:
    """Return the bill of a lock.

    Parameters
    ----------
    lock : str
        Content of ``requirements.lock``.
    version : str
        Of Plurality.
    """
    starts = list(_PACKAGE.finditer(lock))
    ends = [start.start() for start in starts[1:]] + [len(lock)]
    blocks = {(one[1], one[2]): lock[one.end() : end] for one, end in zip(starts, ends, strict=True)}
    refs = {one: f"pkg:pypi/{one[0]}@{one[1]}" for one in blocks}  # a package may have a version for each Python
    of_name: dict[str, list[str]] = {}
    for (name, _), ref in refs.items():
        of_name.setdefault(name, []).append(ref)
    whole = f"pkg:generic/plurality@{version}"
    needs: dict[str, list[str]] = {one: [] for one in (whole, *refs.values())}
    for one, block in blocks.items():
        asked = [found[1] for line in block.splitlines() if (found := _NEEDED_BY.search(line))]
        for by in [ref for each in asked for ref in of_name.get(each, [whole])] + [whole] * (
            "-r requirements" in block
        ):
            needs[by].append(refs[one])
    components = [
        {
            "type": "library",
            "bom-ref": refs[name, of],
            "name": name,
            "version": of,
            "purl": refs[name, of],
            "externalReferences": [
                {
                    "type": "distribution",
                    "url": f"https://pypi.org/project/{name}/{of}/",
                    "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(_HASH.findall(block))],
                }
            ],
        }
        for (name, of), block in blocks.items()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, lock)}",
        "version": 1,
        "metadata": {
            "component": {"type": "application", "bom-ref": whole, "name": "plurality", "version": version},
        },
        "components": components,
        "dependencies": [{"ref": one, "dependsOn": sorted(set(of))} for one, of in needs.items()],
    }


def main() -> None:
    """Write the bill of this project to standard output."""
    sys.path.insert(0, str(ROOT))
    from core.version import __version__

    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    json.dump(bill(lock, __version__), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
