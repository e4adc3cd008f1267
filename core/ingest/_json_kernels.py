"""Kernel that finds the records of JSON text byte by byte (RFC 8259). It checks no bounds."""

import numpy as np

from ..runtime.numba_setup import lazy_njit


@lazy_njit(cache=True, nogil=True)
def scan_records_of_json(data, wanted, deepest, long_number, most):  # noqa: C901 - one state machine over bytes
    """Find the values at nesting depth ``wanted``: 1 for the elements of one array, 0 for values one after another.

    Only strings and brackets are examined; the parser checks the values themselves. ``long_number[0]`` becomes true if
    19 digits follow each other outside strings: such a number may not fit into 64 bits.

    Returns start, stop and physical line of each value; then a byte with an error (-1: none), its line, and its kind: 1
    nested deeper than ``deepest``, 2 a bracket too many, 3 the end inside a value, 4 text after the array, 5 more
    values than ``most``.
    """
    capacity = 1024
    starts = np.empty(capacity, np.int64)
    stops = np.empty(capacity, np.int64)
    lines = np.empty(capacity, np.int64)
    n_records = 0
    depth = 0
    line = 1
    record = False
    done = False
    digits = 0
    i = 0
    while i < data.size:
        c = data[i]
        digits = digits + 1 if 48 <= c <= 57 else 0
        if digits == 19:
            long_number[0] = True
        if c == 10:
            line += 1
        if c == 32 or c == 9 or c == 10 or c == 13:
            # A bare word at the top ends with its line: JSON Lines.
            if record and depth == wanted and wanted == 0 and c == 10:
                stops[n_records] = i
                n_records += 1
                record = False
            i += 1
            continue
        if done:
            return starts[:n_records], stops[:n_records], lines[:n_records], i, line, 4
        if depth == wanted and not record and c != 44 and not (wanted == 1 and c == 93):
            if n_records == most:
                return starts[:n_records], stops[:n_records], lines[:n_records], i, line, 5
            if n_records == capacity:
                capacity *= 2
                starts = np.concatenate((starts, np.empty(capacity - starts.size, np.int64)))
                stops = np.concatenate((stops, np.empty(capacity - stops.size, np.int64)))
                lines = np.concatenate((lines, np.empty(capacity - lines.size, np.int64)))
            starts[n_records] = i
            lines[n_records] = line
            record = True
        if c == 34:
            i += 1
            while i < data.size and data[i] != 34:
                if data[i] == 92:
                    i += 1
                elif data[i] == 10:
                    line += 1
                i += 1
            if i >= data.size:
                return starts[:n_records], stops[:n_records], lines[:n_records], data.size, line, 3
        elif c == 91 or c == 123:
            depth += 1
            if depth > deepest:
                return starts[:n_records], stops[:n_records], lines[:n_records], i, line, 1
        elif c == 93 or c == 125:
            if record and depth == wanted:  # the array ends after a bare word
                stops[n_records] = i
                n_records += 1
                record = False
            depth -= 1
            if depth < 0:
                return starts[:n_records], stops[:n_records], lines[:n_records], i, line, 2
            # In an array, everything up to the comma is part of the value, so that the parser refuses it.
            if depth == 0 and wanted == 0 and record:
                stops[n_records] = i + 1
                n_records += 1
                record = False
            done = wanted == 1 and depth == 0
        elif c == 44 and depth == wanted and record:
            stops[n_records] = i
            n_records += 1
            record = False
        i += 1
    if depth > 0:
        return starts[:n_records], stops[:n_records], lines[:n_records], data.size, line, 3
    if record:
        stops[n_records] = data.size
        n_records += 1
    return starts[:n_records], stops[:n_records], lines[:n_records], -1, line, 0
