"""Copy what is stored of a file that an earlier version read differently, on the command line."""

from typing import TYPE_CHECKING

from .. import library, read_anew
from .inputs import check_codes, declared_order, read_file, stamp

if TYPE_CHECKING:
    import pandas as pd


def bring_over(options) -> tuple[dict, "pd.DataFrame"]:
    """Copy what is stored under earlier digests of a file to the present dataset; the table has one row per digest."""
    import pandas as pd

    options.select = None
    reading = read_file(options)
    if reading.report is not None:
        check_codes(reading.report.codes)
    if options.ordinal:
        reading = read_file(options, order=declared_order(reading.dataset.classes, options))
    dataset, earlier = reading.dataset, reading.earlier
    if library.is_kept(dataset.digest) and (now := read_anew.as_read_now(dataset)) is not None:
        dataset, earlier = now, (dataset.digest,)
    rows = []
    for found in read_anew.found_before(dataset, earlier, left_apart=True):
        n_steps, n_left = read_anew.bring_over(found.digest, dataset, reading.facts, options.by, reading.rater_names)
        rows.append({"earlier": found.digest, "steps": n_steps, "steps_left": n_left, "found": found.words})
    columns = ["earlier", "steps", "steps_left", "found"]
    return {"brought_over": rows, **stamp(options, dataset)}, pd.DataFrame(rows, columns=columns)
