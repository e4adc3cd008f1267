"""A seed for each case, so that a result does not depend on chunking, threads or which other cases are there."""

import hashlib

import numpy as np

from .options import check_whole

_MASK = 0xFFFFFFFFFFFFFFFF


def case_seeds(seed: int, case_ids: tuple[str, ...] | list[str], stream: str) -> np.ndarray:
    """32-bit seeds from a hash of (seed, case id, stream).

    Parameters
    ----------
    seed : int
        The user's seed.
    case_ids : sequence of str, length n_cases
    stream : str
        Names what the numbers are for, so that two methods on one case do not share randomness.

    Returns
    -------
    ndarray of uint32, shape (n_cases,)

    Raises
    ------
    InputError
        The seed is no whole number.
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
