"""Files of a server for a team, on the command line."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def deploy(options) -> tuple[dict, "pd.DataFrame"]:
    """Write the files into a new folder; the table states what each is and where it belongs."""
    import pandas as pd

    from ..deployment.write import Deployment, write_deployment

    asked = Deployment(
        options.name, options.processes, options.home, options.program, _database(options),
        options.port, options.plain_port, options.first_port, options.certificate,
    )  # fmt: skip
    rows = [asdict(part) for part in write_deployment(asked, Path(options.out))]
    answer = {"out": options.out, "address": asked.origin, "files": rows}
    return answer, pd.DataFrame(rows)


def _database(options) -> str:
    """Return the address of Postgres; @FILE keeps it out of the arguments."""
    told = options.database or ""
    if told.startswith("@"):
        try:
            return Path(told[1:]).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"Could not read {told[1:]}: {getattr(error, 'strerror', None) or error}.") from None
    if "@" in told.partition("://")[2] and urlsplit(told).password:
        options.cautions.append(
            "Every user of this computer can see a password that is given on the command line. Change the password, "
            "and use --database @FILE."
        )
    return told
