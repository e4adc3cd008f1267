"""Text format of iMRMC: front matter, ``BEGIN DATA:``, then ``reader,case,modality,score`` per line.

Rows of the reader and modality "truth" hold 1 for cases with and 0 for cases without the condition. Source: the manual
of iMRMC (Gallas, Food and Drug Administration), https://github.com/DIDSR/iMRMC.
"""

import csv

from ..errors import InputError
from .study import ReadingStudy, study_from_rows

BEGIN = "begin data:"
TRUTH = "truth"


def read_imrmc(data: bytes) -> ReadingStudy:
    """Read a file of iMRMC.

    Parameters
    ----------
    data : bytes
        The whole file; ASCII or UTF-8.

    Returns
    -------
    ReadingStudy
        With the truth of each case; readings of cases without truth are kept, their truth is unknown.

    Raises
    ------
    InputError
        The data do not begin, a line does not have four fields or a number, or a truth is neither 0 nor 1. The line is
        named.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError("The file is not text in UTF-8.", "Save it as UTF-8.") from error
    begins = next((place for place, line in enumerate(lines) if line.strip().lower().startswith(BEGIN)), None)
    if begins is None:
        raise InputError('The file has no line "BEGIN DATA:".', "Provide a file in the format of iMRMC.")
    truth: dict[str, int] = {}
    rows = []
    for number, fields in enumerate(csv.reader(lines[begins + 1 :]), begins + 2):
        if not any(field.strip() for field in fields):
            continue
        reader, case, modality, score = _row(fields, number)
        if TRUTH not in (reader.lower(), modality.lower()):
            rows.append((reader, case, modality, score))
        elif score not in (0.0, 1.0) or truth.setdefault(case, int(score)) != score:
            raise InputError(f"The truth of case {case} is not one of 0 and 1.", "Use 1 with the condition.", number)
    if not truth:
        raise InputError("The file has no rows of truth.", "Add rows such as truth,case1,truth,0.")
    return study_from_rows(rows, truth)


def _row(fields: list[str], number: int) -> tuple[str, str, str, float]:
    """Read the names and the score of one line."""
    if len(fields) != 4:
        raise InputError(f"Expected 4 fields, found {len(fields)}.", "Use reader,case,modality,score.", number)
    reader, case, modality, score = (field.strip() for field in fields)
    try:
        return reader, case, modality, float(score)
    except ValueError as error:
        raise InputError(f'The score "{score}" is not a number.', "Use a number.", number) from error
