"""Seeds per case, so that a result does not depend on chunks, threads or the presence of other cases."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from ..options import check_whole

_MASK = 0xFFFFFFFFFFFFFFFF


def case_seeds(seed: int, case_ids: Sequence[str], stream: str) -> np.ndarray:
    """Return 32-bit seeds from a hash of (seed, case id, stream).

    Parameters
    ----------
    seed : int
        The user's seed.
    case_ids : sequence of str, length n_cases
    stream : str
        Name of the purpose of the numbers, so that two methods on one case do not share randomness.

    Returns
    -------
    ndarray of uint32, shape (n_cases,)

    Raises
    ------
    InputError
        The seed is not an integer.
    """
    check_whole(seed, "The seed")
    key = f"{int(seed) & _MASK}\x00{stream}".encode()
    base = hashlib.blake2b(key, digest_size=16)
    seeds = np.empty(len(case_ids), dtype=np.uint32)
    for case, case_id in enumerate(case_ids):
        state = base.copy()
        state.update(b"\x00" + case_id.encode())
        seeds[case] = int.from_bytes(state.digest()[:4], "little")
    return seeds


def stream_keys(seed: int, names: Iterable[tuple[str, ...]], stream: str) -> np.ndarray:
    """Return 64-bit keys from a hash of (seed, names, stream), for generators that are a function of key and number.

    Parameters
    ----------
    seed : int
        The user's seed.
    names : iterable of tuples of str
        Names of each key, such as (case id, rater id). Lengths are hashed too, so that no two tuples run together.
    stream : str
        Name of the purpose of the numbers.

    Returns
    -------
    ndarray of uint64, shape (n_names,)
    """
    base = hashlib.blake2b(f"{int(seed) & _MASK}\x00{stream}".encode(), digest_size=8)
    keys = []
    for parts in names:
        state = base.copy()
        for part in parts:
            text = part.encode()
            state.update(b"\x00%d\x00" % len(text) + text)
        keys.append(int.from_bytes(state.digest(), "little"))
    return np.array(keys, np.uint64)
