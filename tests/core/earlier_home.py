"""A home folder as the version before classes were put in order by value wrote it, and the files that it was made of.

It was made by that version's own functions: four small files were read; three datasets are kept, one with
predictions, a selection, a machine, a link, people and choices; there are reviews with an assignment that was taken
back, and a saved mapping.
"""

import base64
import json
import sqlite3
from pathlib import Path

TOLD = json.loads(Path(__file__).with_name("home_before_values.json").read_text(encoding="utf-8"))
DIGESTS: dict[str, str] = TOLD["digests"]


def put_in(home: Path) -> None:
    """Write the home folder."""
    for name, content in TOLD["files"].items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content["text"].encode() if "text" in content else base64.b64decode(content["base64"]))
    connection = sqlite3.connect(home / "reviews.sqlite3")
    connection.executescript("\n".join(TOLD["reviews"]))
    connection.close()


def file_of(name: str, folder: Path) -> Path:
    """One of the files that were read."""
    path = folder / name
    path.write_text(TOLD["inputs"][name], encoding="utf-8", newline="\n")
    return path
