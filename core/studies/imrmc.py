"""Text format of iMRMC: front matter, ``BEGIN DATA:``, then ``reader,case,modality,score`` per line.

Rows of the reader and modality "truth" hold 1 for cases with and 0 for cases without the condition. Source: the manual
of iMRMC (Gallas, Food and Drug Administration), https://github.com/DIDSR/iMRMC.
"""

import csv

from ..errors import InputError

BEGIN = "begin data:"
TRUTH = "truth"
_MOST_FRONT = 500  # lines before the data
Row = tuple[str, str, str, float]


def is_imrmc(data: bytes) -> bool:
    """Return True if the data are a file of iMRMC."""
    return any(line.strip().lower().startswith(BEGIN.encode()) for line in data.splitlines()[:_MOST_FRONT])


def read_rows(data: bytes) -> tuple[list[Row], dict[str, int]]:
    """Read the rows of a file of iMRMC, and the truth of each case.

    Parameters
    ----------
    data : bytes
        The whole file; ASCII or UTF-8.

    Raises
    ------
    InputError
        The data do not begin, a line does not have four fields or a number, or a truth is neither 0 nor 1. The line is
        named.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("Could not read the file: it is not UTF-8 text.", "Save it as UTF-8.") from error
    begins = next((place for place, line in enumerate(lines) if line.strip().lower().startswith(BEGIN)), None)
    if begins is None:
        raise InputError('Could not read the file: the line "BEGIN DATA:" is missing.', "Provide an iMRMC file.")
    truth: dict[str, int] = {}
    rows: list[Row] = []
    for number, fields in enumerate(csv.reader(lines[begins + 1 :]), begins + 2):
        if not any(field.strip() for field in fields):
            continue
        reader, case, modality, score = _row(fields, number)
        if TRUTH not in (reader.lower(), modality.lower()):
            rows.append((reader, case, modality, score))
        elif score not in (0.0, 1.0):
            raise InputError(
                f"Could not read the truth of case {case!r}: it is neither 0 nor 1.",
                "Use 1 if the condition is present and 0 if it is absent.",
                number,
            )
        elif truth.setdefault(case, int(score)) != score:
            raise InputError(
                f"Could not use case {case!r}: its truth is given as both 0 and 1.", "Keep one of the two.", number
            )
    if not truth:
        raise InputError(
            "Could not read the truth: the file has no truth rows.", "Add rows such as truth,case1,truth,0."
        )
    return rows, truth


def _row(fields: list[str], number: int) -> Row:
    """Read the names and the score of one line."""
    if len(fields) != 4:
        raise InputError(
            f"Could not read the line: it has {len(fields)} fields instead of 4.",
            "Write each line as reader,case,modality,score.",
            number,
        )
    reader, case, modality, score = (field.strip() for field in fields)
    try:
        return reader, case, modality, float(score)
    except ValueError as error:
        raise InputError(f'Could not read the score "{score}": it is not a number.', "Use a number.", number) from error
