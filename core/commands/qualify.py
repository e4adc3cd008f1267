"""The qualification of an installation on the command line: exit status 0 if no check failed, 1 if one did."""

import hashlib
import platform
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ..plausibility.protocol import offered
from .inputs import PIPE, read_file

if TYPE_CHECKING:
    import pandas as pd

_OWN = ("file", "out", "csv")


def qualify(options) -> tuple[dict, "pd.DataFrame"]:
    """Check the installation and write a record to sign; the table lists all checks."""
    import pandas as pd

    from ..qualify import qualify, to_html

    commands = list(commands_of(options)) if options.file else []
    groups = qualify(commands, lambda title: print(f"Checked: {title}.", file=sys.stderr, flush=True))
    try:
        Path(options.out).write_bytes(to_html(groups, _facts(options)))
    except OSError as error:
        raise InputError(f"Could not write {options.out}: {error.strerror}.", "Choose another file.") from None
    rows = [
        {"group": group.title, "check": one.what, "expected": one.expected, "found": one.found, "result": one.result,
         "source": one.source}
        for group in groups for one in group.checks
    ]  # fmt: skip
    failed = [row for row in rows if row["result"] == "FAILED"]
    return {"ok": not failed, "out": options.out, "n_checks": len(rows), "failed": failed}, pd.DataFrame(rows)


def commands_of(options) -> Iterator[list[str]]:
    """Return the commands that are run twice on the file, with the options that were given."""
    if options.file == PIPE:
        raise InputError("Cannot check piped input: it can be read only once.", "Use a file.")
    dataset = read_file(options).dataset
    given = [options.file, *_given_options()]
    yield ["agreement", *given]
    yield ["fit", "auto", *given]
    yield from (["certainty", method.command, *given] for method in offered(dataset)[:1])


def _given_options() -> Iterator[str]:
    """Return the options as they were typed, except those that only this command has."""
    import click
    from click.core import ParameterSource

    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if name not in _OWN and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            yield parameter.opts[0]
            if not getattr(parameter, "is_flag", False):
                yield str(value)


def _facts(options) -> dict[str, str]:
    """Return the facts at the top of the record: version, date, computer and system."""
    from ..version import __version__, code_digest

    found = {
        "Version": __version__,
        "Digest of the code": code_digest(),
        "Date": datetime.now(UTC).strftime("%d %b %Y, %H:%M UTC"),
        "Computer": platform.node(),
        "System": platform.platform(),
        "Python": sys.version.split()[0],
        "Folder": str(Path(__file__).resolve().parents[1]),
    }
    path = Path(options.file or "")
    if path.is_file():
        found |= {"File": options.file, "SHA-256 of the file": hashlib.sha256(path.read_bytes()).hexdigest()}
    elif options.file:
        found["File"] = f"{options.file} (sample or saved dataset)"
    return found
