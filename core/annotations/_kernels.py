"""Kernels that sort annotations into CSR and scan delimited text. They check no bounds."""

import numpy as np

from ..runtime.numba_setup import lazy_njit


@lazy_njit(cache=True, nogil=True)
def counting_sort(code, n_codes):
    """Return the stable order of ``code`` (values 0..n_codes-1) and the start of each value's run."""
    ptr = np.zeros(n_codes + 1, np.int64)
    for n in range(code.size):
        ptr[code[n] + 1] += 1
    for c in range(n_codes):
        ptr[c + 1] += ptr[c]
    place = ptr[:-1].copy()
    order = np.empty(code.size, np.int64)
    for n in range(code.size):
        order[place[code[n]]] = n
        place[code[n]] += 1
    return ptr, order


@lazy_njit(cache=True, nogil=True)
def blocks_from_ranks(entry_ptr, entry_class, entry_rank, order):
    """Reorder entries by annotation and sort them by (rank, class) within each; number blocks 0, 1, ..."""
    new_ptr = np.zeros(order.size + 1, np.int64)
    for position in range(order.size):
        annotation = order[position]
        new_ptr[position + 1] = new_ptr[position] + entry_ptr[annotation + 1] - entry_ptr[annotation]
    new_class = np.empty(new_ptr[-1], np.int32)
    new_block = np.empty(new_ptr[-1], np.int32)
    for position in range(order.size):
        annotation = order[position]
        start, stop = entry_ptr[annotation], entry_ptr[annotation + 1]
        size = stop - start
        by = np.arange(start, stop)
        for i in range(1, size):  # insertion sort: rankings are short
            moving = by[i]
            j = i - 1
            while j >= 0 and (
                entry_rank[by[j]] > entry_rank[moving]
                or (entry_rank[by[j]] == entry_rank[moving] and entry_class[by[j]] > entry_class[moving])
            ):
                by[j + 1] = by[j]
                j -= 1
            by[j + 1] = moving
        block = 0
        for i in range(size):
            if i > 0 and entry_rank[by[i]] != entry_rank[by[i - 1]]:
                block += 1
            new_class[new_ptr[position] + i] = entry_class[by[i]]
            new_block[new_ptr[position] + i] = block
    return new_ptr, new_class, new_block


@lazy_njit(cache=True, nogil=True)
def _closes_well(data, i, delimiter, quote):
    """Return whether the quote at ``i`` has a partner that ends a field."""
    j = i + 1
    while j < data.size:
        if data[j] == quote:
            if j + 1 == data.size:
                return True
            after = data[j + 1]
            if after != quote:
                return after == delimiter or after == 10 or after == 13
            j += 1
        j += 1
    return False


@lazy_njit(cache=True, nogil=True)
def scan_records(data, delimiter, quote, start, stop_after):
    """Find the records of delimited text byte by byte, as RFC 4180 defines them.

    A quote opens a field only at its first byte; a doubled quote inside is a letter. ``quote`` 0 means that none is
    used. In a line that begins with #, a quote opens a field only if it closes at the end of one, because comments are
    prose. A quote that contains many lines with as many fields as the record before was left open, and closes by
    accident.

    Stops after ``stop_after`` records (-1: never). Returns per record its first byte, the byte after its last, its
    physical line, its number of fields, and a flag (1 comment candidate, 2 text after a closing quote, 4 blank); then
    the line of a quote that never closes or closes on another line in the middle of text (0 if there is none), and the
    line where that was noticed.
    """
    capacity = 1024
    first = np.empty(capacity, np.int64)
    last = np.empty(capacity, np.int64)
    lines = np.empty(capacity, np.int64)
    fields = np.empty(capacity, np.int32)
    flags = np.empty(capacity, np.uint8)
    n_records = 0
    line = 1
    i = start
    size = data.size
    open_line = 0
    noticed_line = 0
    fields_before = 0
    while i < size and n_records != stop_after:
        if n_records == capacity:
            capacity *= 2
            first = np.concatenate((first, np.empty(capacity - first.size, np.int64)))
            last = np.concatenate((last, np.empty(capacity - last.size, np.int64)))
            lines = np.concatenate((lines, np.empty(capacity - lines.size, np.int64)))
            fields = np.concatenate((fields, np.empty(capacity - fields.size, np.int32)))
            flags = np.concatenate((flags, np.empty(capacity - flags.size, np.uint8)))
        record_start = i
        record_line = line
        n_fields = 1
        comment = data[i] == 35
        flag = 1 if comment else 0
        blank = True
        at_field_start = True
        inside = False
        closed = False
        quote_line = line
        inner_lines = 0
        alike = 0
        inner_fields = 1
        while i < size:
            c = data[i]
            if inside:
                if c == quote:
                    if i + 1 < size and data[i + 1] == quote:
                        i += 2
                        continue
                    inside = False
                    closed = True
                    if line - quote_line > 1 and inner_fields == fields_before:
                        inner_lines += 1
                        alike += 1
                    enough = 5 if fields_before > 2 else 10  # prose with one comma per line is not so rare
                    if fields_before > 1 and alike >= enough and 5 * alike >= 4 * inner_lines and open_line == 0:
                        open_line = quote_line
                        noticed_line = line
                elif c == delimiter:
                    inner_fields += 1
                elif c == 10 or (c == 13 and not (i + 1 < size and data[i + 1] == 10)):
                    if line > quote_line:
                        inner_lines += 1
                        alike += inner_fields == fields_before
                    inner_fields = 1
                    line += 1
                i += 1
                continue
            if c == 10 or c == 13:
                break
            if c == delimiter:
                n_fields += 1
                at_field_start = True
                closed = False
                blank = False
            elif (
                c == quote
                and quote != 0
                and at_field_start
                and (not comment or _closes_well(data, i, delimiter, quote))
            ):
                inside = True
                quote_line = line
                inner_lines = 0
                alike = 0
                inner_fields = 1
                at_field_start = False
                blank = False
            else:
                if c != 32 and c != 9:
                    blank = False
                    if closed:
                        flag |= 2
                        if quote_line != line and open_line == 0:
                            open_line = quote_line
                            noticed_line = line
                at_field_start = False
            i += 1
        if inside and open_line == 0:
            open_line = quote_line
            noticed_line = line
        if blank:
            flag |= 4
        first[n_records] = record_start
        last[n_records] = i
        lines[n_records] = record_line
        fields[n_records] = n_fields
        flags[n_records] = flag
        n_records += 1
        if not comment and not blank:
            fields_before = n_fields
        if open_line != 0:
            break
        if i < size:
            if data[i] == 13 and i + 1 < size and data[i + 1] == 10:
                i += 1
            i += 1
            line += 1
    return (
        first[:n_records],
        last[:n_records],
        lines[:n_records],
        fields[:n_records],
        flags[:n_records],
        open_line,
        noticed_line,
    )


@lazy_njit(cache=True, nogil=True)
def scan_lines(data, delimiter, quote, first, last, fields, flags):
    """Find the records of delimited text with one record per line, several times as fast as `scan_records`.

    Lines end with LF or CR LF; quotation marks open and close whole fields, or are letters within one. Fills the first
    byte of each record, the byte after its last, its fields, and its flag as `scan_records` does. Returns the number of
    records, or -1 if some byte needs the slow function.
    """
    outside = np.zeros(256, np.uint8)
    outside[10] = outside[13] = 1
    outside[delimiter] = 2
    inside = np.zeros(256, np.uint8)
    inside[10] = inside[13] = 1
    inside[quote] = 2
    size = data.size
    record = 0
    i = 0
    while i < size:
        start = i
        n_fields = 1
        quoted = False
        while True:
            if i < size and data[i] == quote:
                if data[start] == 35:
                    return -1
                quoted = True
                i += 1
                while True:
                    while i < size and inside[data[i]] == 0:
                        i += 1
                    if i >= size or inside[data[i]] == 1:
                        return -1
                    i += 1
                    if i >= size or data[i] != quote:
                        break
                    i += 1
                if i < size and outside[data[i]] == 0:
                    return -1
            while i < size and outside[data[i]] == 0:
                i += 1
            if i >= size or outside[data[i]] == 1:
                break
            n_fields += 1
            i += 1
        first[record] = start
        last[record] = i
        fields[record] = n_fields
        flags[record] = 0
        if data[start] == 35:
            flags[record] = 1
        elif n_fields == 1 and not quoted:
            flags[record] = 4
            for k in range(start, i):
                if data[k] != 32 and data[k] != 9:
                    flags[record] = 0
                    break
        record += 1
        if i < size and data[i] == 13:
            i += 1
            if i >= size or data[i] != 10:
                return -1
        i += 1
    return record


@lazy_njit(cache=True, nogil=True)
def count_classes(case_ptr, answer, n_classes):
    """Return the distinct classes of each case and their counts, ascending by class."""
    n_cases = case_ptr.size - 1
    ptr = np.zeros(n_cases + 1, np.int64)
    class_code = np.empty(answer.size, np.int32)
    count = np.empty(answer.size, np.int64)
    n_entries = 0
    for case in range(n_cases):
        start = n_entries
        for a in range(case_ptr[case], case_ptr[case + 1]):
            k = answer[a]
            entry = n_entries
            while entry > start and class_code[entry - 1] > k:
                entry -= 1
            if entry > start and class_code[entry - 1] == k:
                count[entry - 1] += 1
                continue
            for moving in range(n_entries, entry, -1):
                class_code[moving] = class_code[moving - 1]
                count[moving] = count[moving - 1]
            class_code[entry] = k
            count[entry] = 1
            n_entries += 1
        ptr[case + 1] = n_entries
    return ptr, class_code[:n_entries].copy(), count[:n_entries].copy()


@lazy_njit(cache=True, nogil=True)
def first_unsound_ranking(entry_ptr, entry_class, entry_block, n_classes):
    """Return the first annotation whose entries are not a valid ranking, and its fault; -1 and 0 if all are valid.

    1 no entry, 2 the first block is not 0, 3 a block that is not the one before or the next, 4 classes of a block that
    do not ascend, 5 a class twice. Codes of classes are within 0 and ``n_classes`` - 1.
    """
    seen_in = np.full(n_classes, -1, np.int64)
    for annotation in range(entry_ptr.size - 1):
        start, stop = entry_ptr[annotation], entry_ptr[annotation + 1]
        if start == stop:
            return annotation, 1
        if entry_block[start] != 0:
            return annotation, 2
        for entry in range(start, stop):
            if seen_in[entry_class[entry]] == annotation:
                return annotation, 5
            seen_in[entry_class[entry]] = annotation
            if entry == start:
                continue
            if entry_block[entry] == entry_block[entry - 1]:
                if entry_class[entry] < entry_class[entry - 1]:
                    return annotation, 4
            elif entry_block[entry] != entry_block[entry - 1] + 1:
                return annotation, 3
    return -1, 0
