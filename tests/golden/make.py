"""Record the numbers anew: ``python -m tests.golden.make`` from the project's folder, with words of the names to
record only some, such as ``"fit dawid-skene"``.

What has changed is printed, and a file is written anew only where something has; read the difference before it is
committed: every changed number is a decision.
"""

import argparse
import csv
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from core.command_line import _cli, _plain
from core.tables import to_csv_text
from tests.golden.commands import FOLDER, SAMPLES_FOLDER, Command, commands
from tests.golden.compare import Rule, compact, differences, spread_of

NUMBERS = FOLDER / "numbers"
# What changes without a decision: the clock, the version, and the size of a page with its style in it.
NOT_KEPT = ("seconds", "version", "out", "bytes")
N_SEEDS = 12
_MOST_SHOWN = 30
_N_FIRST_OF_COLUMN = 3
_WHOLE = re.compile(r"[+-]?\d{1,15}")


def file_of(name: str) -> Path:
    """Where the numbers of a command are kept."""
    return NUMBERS / f"{re.sub('[^a-z0-9]+', '-', name.casefold())}.json"


def answer_of(command: Command, folder: Path, seed: int | None = None) -> dict[str, Any]:
    """What the command line gives: its JSON, and the table it writes or, at its own seed, the header of its CSV.

    Parameters
    ----------
    folder : Path
        For the file that is written.
    seed : int, optional
        In place of the command's own.

    Raises
    ------
    PluralityError or click.ClickException
        The command failed.
    """
    out = folder / "out"
    places = {"{samples}": SAMPLES_FOLDER.as_posix(), "{inputs}": FOLDER.as_posix(), "{out}": str(out)}
    arguments = []
    for argument in command.arguments:
        for mark, path in places.items():
            argument = argument.replace(mark, path)
        arguments.append(argument)
    if seed is not None:
        arguments += ["--seed", str(seed)]
    told, table, _ = _cli().main(arguments, standalone_mode=False)
    told = json.loads(json.dumps(_plain(told), allow_nan=False))
    found = {"answer": compact({key: value for key, value in told.items() if key not in NOT_KEPT})}
    if command.writes_table:
        found["table"] = _table(out.read_text(encoding="utf-8-sig"))
    elif seed is None:
        rows = list(csv.reader(io.StringIO(to_csv_text(table() if callable(table) else table))))
        found["csv"] = {"columns": rows[0], "n_rows": len(rows) - 1}
    return found


def record(command: Command, folder: Path) -> dict[str, Any]:
    """The command's answer with what is needed to compare another with it."""
    found = {"command": list(command.arguments), **answer_of(command, folder)}
    if command.chain:
        found["n_seeds"] = N_SEEDS
        others = [answer_of(command, folder, seed) for seed in range(1001, 1001 + N_SEEDS)]
        spread = spread_of({key: found[key] for key in others[0]}, others)
        found["spread"] = {place: None if one is None else compact(list(one)) for place, one in spread.items()}
    return found


def rule_of(command: Command, recorded: dict[str, Any]) -> Rule:
    """How near the numbers of a command must be to those recorded."""
    return Rule(command.kind, recorded.get("spread"), recorded.get("n_seeds", 1))


def kept(recorded: dict[str, Any]) -> dict[str, Any]:
    """The part of a record that is compared."""
    return {key: recorded[key] for key in ("answer", "table", "csv") if key in recorded}


def _table(text: str) -> dict[str, Any]:
    """A table column by column; the same name may stand twice."""
    header, *rows = csv.reader(io.StringIO(text))
    columns = [
        {"name": name, "values": compact(_column([row[place] for row in rows]), _N_FIRST_OF_COLUMN)}
        for place, name in enumerate(header)
    ]
    return {"n_rows": len(rows), "columns": columns}


def _column(cells: list[str]) -> list:
    """Numbers where all are, and text as it is elsewhere."""
    try:
        return [None if not cell else int(cell) if _WHOLE.fullmatch(cell) else float(cell) for cell in cells]
    except ValueError:
        return cells


def _text(value: Any, indent: int = 0) -> str:
    """JSON with a line for each key, and lists without keys on one line."""
    inner = " " * (indent + 1)
    if isinstance(value, dict) and value:
        rows = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_text(one, indent + 1)}" for key, one in value.items()]
        return "{\n" + ",\n".join(rows) + "\n" + " " * indent + "}"
    if isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        return "[\n" + ",\n".join(f"{inner}{_text(entry, indent + 1)}" for entry in value) + "\n" + " " * indent + "]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _show(name: str, lines: list[str]) -> None:
    print(f"{name}: {len(lines)} changed")
    for line in lines[:_MOST_SHOWN]:
        print(f"    {line}")
    if len(lines) > _MOST_SHOWN:
        print(f"    and {len(lines) - _MOST_SHOWN} more")


def main(arguments: list[str] | None = None) -> int:
    """Record what has changed; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make", description="Record the golden numbers anew.")
    parser.add_argument("words", nargs="*", help="only commands whose name holds one of these")
    parser.add_argument("--all", action="store_true", help="also where nothing has changed")
    options = parser.parse_args(arguments)
    NUMBERS.mkdir(exist_ok=True)
    known, changed = commands(), 0
    for path in set(NUMBERS.glob("*.json")) - {file_of(name) for name in known}:
        print(f"{path.name}: there is no such command any more; deleted")
        path.unlink()
    for name, command in known.items():
        if options.words and not any(word in name for word in options.words):
            continue
        path, lines = file_of(name), ["not recorded yet"]
        with tempfile.TemporaryDirectory() as folder:
            if path.exists() and not options.all:
                old = json.loads(path.read_text(encoding="utf-8"))
                found = answer_of(command, Path(folder))
                lines = differences(kept(old), found, rule_of(command, old), new_keys=False)
                if old["command"] != list(command.arguments):
                    lines.append("the command line is another")
            if not lines:
                continue
            _show(name, lines)
            content = _text(record(command, Path(folder))) + "\n"
        path.write_text(content, encoding="utf-8", newline="\n")
        changed += 1
    print(f"{changed} of {len(known)} files written")
    return 0


if __name__ == "__main__":
    from core.settings import prepare_numba_cache

    prepare_numba_cache()  # before the home folder is changed, as in the tests
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLURALITY_HOME"] = home
        sys.exit(main())
