"""Seeds of cases."""

import hashlib

import numpy as np
import pytest

from core.runtime.seeds import case_seeds

CASES = tuple(f"case {i}" for i in range(500))


def test_a_seed_is_32_bits_of_the_hash_of_seed_stream_and_case():
    found = case_seeds(7, ("Müller", ""), "dirichlet")
    assert found.dtype == np.uint32
    for seed, case in zip(found, ("Müller", ""), strict=True):
        digest = hashlib.blake2b(f"7\x00dirichlet\x00{case}".encode(), digest_size=16).digest()
        assert seed == int.from_bytes(digest[:4], "little")


def test_the_seed_of_a_case_does_not_depend_on_the_other_cases_or_their_order():
    every = case_seeds(3, CASES, "dirichlet")
    assert (case_seeds(3, CASES[::-1], "dirichlet") == every[::-1]).all()
    assert case_seeds(3, ["case 41"], "dirichlet")[0] == every[41]


@pytest.mark.parametrize(
    ("seed", "stream"), [(4, "dirichlet"), (-3, "dirichlet"), (3, "other"), (2**64 + 2, "dirichlet")]
)
def test_another_seed_or_stream_gives_other_numbers(seed, stream):
    assert not (case_seeds(3, CASES, "dirichlet") == case_seeds(seed, CASES, stream)).any()


def test_different_cases_have_different_seeds():
    """500 of 2^32: even one repetition would be a chance of 3 in 100,000."""
    assert len(set(case_seeds(0, CASES, "dirichlet").tolist())) == 500


def test_seeds_look_uniform():
    """Mean of 500 uniform numbers, within 4.5 standard errors."""
    share = case_seeds(0, CASES, "dirichlet") / 2**32
    assert abs(share.mean() - 0.5) < 4.5 / np.sqrt(12 * 500)


def test_no_cases_have_no_seeds():
    assert case_seeds(0, [], "dirichlet").shape == (0,)
