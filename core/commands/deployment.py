"""The files of a server for a team."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def deploy(options) -> tuple[dict, "pd.DataFrame"]:
    """Write them into a new folder; the table says what each is and where it belongs."""
    import pandas as pd

    from ..deployment.write import Deployment, write_deployment

    asked = Deployment(
        options.name, options.processes, options.home, options.program, options.database or "",
        options.port, options.plain_port, options.first_port, options.certificate,
    )  # fmt: skip
    rows = [asdict(part) for part in write_deployment(asked, Path(options.out))]
    answer = {"out": options.out, "address": asked.origin, "files": rows}
    return answer, pd.DataFrame(rows)
