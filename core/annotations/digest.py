"""Digest of a dataset: datasets with the same content have the same digest on every machine."""

import hashlib

import numpy as np

_ARRAYS = (
    "case_ptr",
    "rater",
    "answer",
    "entry_ptr",
    "entry_class",
    "entry_block",
    "score",
    "time",
    "class_risk",
    "gold",
)
_TEXTS = ("cases", "raters", "classes", "case_group")


def dataset_digest(dataset) -> str:
    """Return a hash of a `Dataset`'s kind, vocabularies, annotations and side tables, 32 hexadecimal digits.

    The dataset's name is left out, so renaming does not make another dataset. Byte order is fixed, so machines agree.
    """
    state = hashlib.blake2b(digest_size=16)
    state.update(f"plurality-1 {dataset.kind} {dataset.ordinal:d} {dataset.raters_identified:d}".encode())
    for name in _TEXTS:
        values = getattr(dataset, name)
        state.update(f"|{name}:{-1 if values is None else len(values)}|".encode())
        if values:
            lengths = np.fromiter(map(len, values), "<i8", len(values))
            state.update(lengths.tobytes())
            state.update("".join(values).encode())
    for name in _ARRAYS:
        array = getattr(dataset, name)
        state.update(f"|{name}:{-1 if array is None else array.size}|".encode())
        if array is not None:
            state.update(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).data)
    if (
        dataset.gold_sets is not None
    ):  # datasets without them keep the digest that they had before these attributes existed
        state.update(f"|gold_sets:{dataset.gold_sets.size}|".encode())
        state.update(np.ascontiguousarray(dataset.gold_sets).data)
    if dataset.gold_scores is not None:
        state.update(f"|gold_scores:{dataset.gold_scores.size}|".encode())
        state.update(np.ascontiguousarray(dataset.gold_scores.astype("<f8", copy=False)).data)
    if dataset.pairs is not None:
        for item in dataset.pairs.items:
            state.update(b"%d:" % len(item.encode()) + item.encode())
        swapped = dataset.pairs.swapped
        state.update(f"|pairs:{len(dataset.pairs.items)}:{-1 if swapped is None else swapped.size}|".encode())
        state.update(np.ascontiguousarray(dataset.pairs.of_case.astype("<i4", copy=False)).data)
        if swapped is not None:
            state.update(swapped.tobytes())
    return state.hexdigest()


def names_digest(dataset) -> str:
    """Return a hash of the names of raters and dataset, 32 hexadecimal digits."""
    state = hashlib.blake2b(digest_size=16)
    for name in (dataset.name, *dataset.raters):
        text = name.encode()
        state.update(b"%d:" % len(text) + text)
    return state.hexdigest()
