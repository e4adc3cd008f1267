"""Classes that a reader would take for one are found, and those that anybody can tell apart are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import read
from core.ingest.look_alikes import look_alikes


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (("cat", "Cat"), "capitals or spaces"),
        (("basal cell", " basal  cell "), "capitals or spaces"),
        (("dog", "do\u200bg"), "invisible characters"),
        (("dog", "\ufeffdog", "dog\u00ad"), "invisible characters"),
        (("caf\u00e9", "cafe\u0301"), "forms of the same letters"),
        (("CAT", "ＣＡＴ"), "forms of the same letters"),
        (("cat", "c\u0430t"), "letters of another alphabet"),
        (("A", "\u0391", "\u0410"), "letters of another alphabet"),
        (("Ho", "\u041d\u043e"), "letters of another alphabet"),
    ],
)
def test_what_looks_alike_is_one_group_with_its_difference(names, what):
    classes = ("something else", *names, "other")
    assert look_alikes(classes) == [(list(range(1, 1 + len(names))), what)]


@pytest.mark.parametrize(
    "names", [("cafe", "café"), ("A", "B"), ("mole", "moIe"), ("1", "l"), ("нет", "да"), ("α", "β"), ("T1", "T2")]
)
def test_what_differs_in_a_letter_or_an_accent_is_left_alone(names):
    assert look_alikes(names) == []


@given(st.lists(st.text(min_size=1), unique=True, max_size=8))
def test_every_class_is_in_one_group_at_most(names):
    codes = [code for group, _ in look_alikes(names) for code in group]
    assert len(codes) == len(set(codes))
    assert all(0 <= code < len(names) for code in codes)


def test_a_file_with_look_alikes_is_warned_of():
    reading = read("case,rater,class\n1,a,cat\n1,b,c\u0430t\n2,a,cat\n2,b,dog\n".encode())
    assert reading.dataset.n_classes == 3
    assert any(
        "differ only in letters of another alphabet: 'cat', 'c\u0430t'" in one for one in reading.report.warnings
    )
