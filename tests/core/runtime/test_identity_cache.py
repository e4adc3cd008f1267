"""What is worked out once for objects that never change."""

import gc
import hashlib
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.top_sets import annotation_certainty
from core.models.dawid_skene import DawidSkene
from core.models.rater_summary import rater_summary
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.identity_cache import cache_by_identity
from core.runtime.seeds import case_seeds


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Thing:
    size: int

    @cache_by_identity
    def doubled(self) -> list[int]:
        return [2 * self.size]


@pytest.fixture
def asked():
    """A function of two things, and how often it worked."""
    calls: list[tuple[int, int]] = []

    @cache_by_identity
    def both(one: Thing, other: Thing) -> list[int]:
        calls.append((one.size, other.size))
        return [one.size, other.size]

    return both, calls


def test_it_works_once_for_each_two_objects_and_tells_those_apart_that_hold_the_same(asked):
    both, calls = asked
    one, other = Thing(3), Thing(3)
    assert both(one, other) is both(one, other) and both(one, other) == [3, 3]
    both(other, one), both(one, one), both(one, Thing(3))
    assert calls == [(3, 3)] * 4


def test_a_method_is_worked_out_once_for_each_of_its_objects():
    one, other = Thing(3), Thing(4)
    assert (one.doubled(), other.doubled()) == ([6], [8])
    assert one.doubled() is one.doubled()


def test_what_was_found_goes_with_its_objects():
    class Found(list):
        pass

    @cache_by_identity
    def found_of(one: Thing, other: Thing) -> Found:
        return Found([one.size, other.size])

    one, other = Thing(1), Thing(2)
    gone = weakref.ref(found_of(one, other))
    del one
    gc.collect()
    assert gone() is None
    kept = Thing(5)
    gone = weakref.ref(found_of(kept, other))
    del other
    gc.collect()
    assert gone() is None


def test_a_failure_is_not_remembered():
    fails = [True]

    @cache_by_identity
    def may_fail(one: Thing) -> int:
        if fails.pop() if fails else False:
            raise ValueError
        return one.size

    thing = Thing(7)
    with pytest.raises(ValueError):
        may_fail(thing)
    assert may_fail(thing) == 7


def test_what_is_shared_cannot_be_written():
    dataset = Dataset.from_classes(
        "made", ["a", "b", "c"], ["x", "y", "z"], ["no", "yes"], [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3,
        [0, 0, 1, 1, 1, 1, 0, 1, 0],
    )  # fmt: skip
    fit = DawidSkene().fit(dataset)
    summary = rater_summary(dataset, fit)
    assert summary is rater_summary(dataset, fit) and summary is not rater_summary(dataset, DawidSkene().fit(dataset))
    arrays = [getattr(summary, name) for name in summary.__dataclass_fields__]
    arrays = [one for one in arrays if isinstance(one, np.ndarray)] + [fit.top_class()]
    assert len(arrays) == 9 and not any(one.flags.writeable for one in arrays)
    result = annotation_certainty(DirichletCounts(), dataset, reliability=1.0, n_draws=50)
    for place in range(3):
        column, errors = result.certainty[:, place], result.se[:, place]
        known = not np.isnan(column).any()
        assert result.mean(place + 1) == (float(column.mean()) if known else None)
        assert result.mean_se(place + 1) == (float(np.sqrt((errors**2).sum()) / 3) if known else None)


# Seeds: Seeds of cases.


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
