"""Columns as codes: natural order, missing tokens, numbers."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.annotations.vocabulary import Rule, encode, is_missing, natural_order, reading_by, to_numbers


def encoded(*values: str):
    return encode(pa.chunked_array([pa.array(values, pa.string())]))


def natural_sorted(values: list[str]) -> list[str]:
    array = pa.array(values, pa.string())
    return array.take(natural_order(array)).to_pylist()


def test_numbers_in_names_are_ordered_as_numbers():
    assert natural_sorted(["10", "2", "1"]) == ["1", "2", "10"]
    assert natural_sorted(["R10", "R2", "a", "R2b", "R2a"]) == ["R2", "R2a", "R2b", "R10", "a"]


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(["", "case ", "é", "a1b"]),
    st.lists(st.text("019", max_size=20), min_size=1, max_size=12, unique=True),
    st.booleans(),
)
def test_names_of_one_text_and_a_number_are_in_the_order_of_all_names(stem, numbers, beside):
    """Most names are such; they are ordered by their numbers at once, where those are no more than 18 digits."""
    values = [stem + number for number in numbers] + ["zz"] * beside

    def parts(value):
        prefix, number, rest = re.fullmatch(r"(\D*)(\d{0,18})(.*)", value).groups()
        return prefix.encode(), int(number or -1), rest.encode(), value.encode()

    assert natural_sorted(values) == sorted(values, key=parts)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text("01ab\n é", max_size=5), max_size=12, unique=True), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_in_the_file(values, random):
    shuffled = random.sample(values, len(values))
    assert natural_sorted(values) == natural_sorted(shuffled)
    assert sorted(natural_sorted(values)) == sorted(values)


@pytest.mark.parametrize(
    "by_value",
    [
        ["-2", "-1", "0", "1", "2"],
        ["\u22125", "\u22121", "0", "+1", "3"],
        ["-10", "-9.5", "-0.5", "0", "0.25"],
        ["-10", "-3", "-2", "-1"],
        ["\u22123", "\u22122", "\u22121"],
        ["0.1", "0.25", "0.5"],
        ["0.25", "0.5", "0.75", "1"],
        ["-1", "0,5", "1,25", "1,5"],
        ["<5", "5", "10", ">=90", ">90"],
        ["<18", "18", "30", "90+"],
        ["1e-3", "0.5", "1", "2e1"],
        ["999", "1,000", "12,500"],
        ["-3", "2,5", "1.000,5"],
        ["-10%", "0%", "5%"],
        ["-2 (very negative)", "-1: negative", "0", "1 = positive"],
    ],
)
def test_numbers_are_in_order_of_their_value_whatever_their_place_in_the_file(by_value):
    assert natural_sorted(by_value[::-1]) == by_value
    assert natural_sorted(by_value[1:] + by_value[:1]) == by_value
    assert encoded(*by_value[::-1]).values == tuple(by_value)


@pytest.mark.parametrize(
    "as_text",
    [
        ["R-1", "R-2", "R-10"],  # a hyphen, and no sign
        ["-1", "x"],
        ["1.10.1", "1.2.3", "-1"],
        ["2021-01-05", "2021-02-04"],
        ["1e5f", "9", "12ab"],
    ],
)
def test_names_that_are_not_all_numbers_are_in_order_of_their_text(as_text):
    assert natural_sorted(as_text[::-1]) == as_text


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20, unique=True))
def test_numbers_as_python_writes_them_are_in_order(numbers):
    assert natural_sorted([repr(number) for number in numbers]) == [repr(number) for number in sorted(numbers)]


def _without_ends(name: str) -> str:
    """Without blanks around it, and without a point before it: that of a decimal."""
    return name.lstrip(" .").rstrip()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("012ab .R#", min_size=1, max_size=6).map(_without_ends).filter(bool), max_size=12, unique=True))
def test_names_without_signs_are_in_the_order_that_they_always_had(names):
    with reading_by(Rule(earlier=True)):
        before = natural_sorted(names)
    with reading_by(Rule()) as rule:
        assert natural_sorted(names) == before
    assert not rule.matters


def test_the_earlier_rule_knows_no_values_and_fewer_tokens_and_a_difference_is_noted():
    with reading_by(Rule(earlier=True)):
        assert encoded("0", "1", "-1").values == ("0", "1", "-1")
        assert encoded("#N/A", "x").values == ("#N/A", "x")
    for values in (("0", "1", "-1"), ("x", "#N/A")):
        with reading_by(Rule()) as rule:
            encoded(*values)
        assert rule.matters


def test_values_are_trimmed_before_they_are_compared():
    column = encoded("x", " x", "x\t", "\u00a0x\ufeff", "X")
    assert column.values == ("X", "x")
    assert column.code.tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "token",
    [
        *("", " ", "NA", "na", "N/A", "n/a", ".", "nan", "NaN", "NULL", "null"),
        *("#N/A", "#NA", "<NA>", "<na>", "NaT", "\\N", "-NaN", "1.#QNAN"),
    ],
)
def test_missing_tokens_have_no_code_and_are_counted(token):
    column = encoded("x", token, "y", token)
    assert column.code.tolist() == [0, -1, 1, -1]
    assert column.values == ("x", "y")
    assert column.missing == {token.strip(): 2}


def test_words_that_only_look_missing_are_values():
    column = encoded("none", "-", "0", "no", "nan 1")
    assert column.missing == {}
    assert set(column.values) == {"none", "-", "0", "no", "nan 1"}


def test_chunks_share_one_vocabulary():
    column = encode(pa.chunked_array([["b", "a"], ["c", "a", ""]]))
    assert column.values == ("a", "b", "c")
    assert column.code.tolist() == [1, 0, 2, 0, -1]
    assert column.code.dtype == np.int32


def test_a_column_without_rows_has_no_values():
    column = encode(pa.chunked_array([pa.array([], pa.string())]))
    assert column.values == ()
    assert column.code.size == 0


def test_numbers_are_what_people_write_as_numbers():
    text = ("1", "-2.5", "+.5", "3.", "1e-3", "x", "1_000", "1,5", "٣")
    numbers = to_numbers(text)
    np.testing.assert_array_equal(numbers[:5], [1, -2.5, 0.5, 3, 0.001])
    assert np.isnan(numbers[5:]).all()


def test_a_decimal_comma_counts_where_it_was_found():
    np.testing.assert_array_equal(to_numbers(("1,5", "2", "1,2,3"), decimal_comma=True), [1.5, 2, np.nan])


def test_chunks_of_one_dictionary_and_chunks_of_several_are_coded_alike():
    """Parquet gives a dictionary for each row group; casts give one for all."""
    values = pa.array(["b", "a", "n/a"])
    shared = [pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), values) for codes in ([0, 1], [2, 1], [])]
    apart = [pa.array(texts).dictionary_encode() for texts in (["b", "a"], ["n/a", "a"])]
    for chunks in (shared, apart):
        found = encode(pa.chunked_array(chunks, pa.dictionary(pa.int32(), pa.string())))
        assert (found.values, found.code.tolist(), found.missing) == (("a", "b"), [1, 0, -1, 0], {"n/a": 1})


def test_slices_of_one_dictionary_are_not_taken_for_the_same():
    values = pa.array(["b", "a", "c"])
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), values[first : first + 2]) for first in (0, 1)
    ]
    found = encode(pa.chunked_array(chunks))
    assert (found.values, found.code.tolist()) == (("a", "b", "c"), [1, 0, 0, 2])


def test_a_dictionary_that_is_one_already_is_not_unified_again():
    """To do so takes the number of chunks times the number of values: 27 times the reading of 4,000,000 rows."""
    values = pa.array([f"v{number}" for number in range(20_000)])
    chunk = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), values)
    column = pa.chunked_array([chunk] * 200)

    class Watched:
        type, num_chunks, chunks, chunk = column.type, column.num_chunks, column.chunks, column.chunk

    found = encode(Watched())
    assert found.code.tolist() == [0] * 200


@pytest.mark.parametrize("name", ["Nat", "NAT", "nat", "none", "-", "#", "N"])
def test_names_that_resemble_tokens_are_values(name):
    assert encoded(name, "x").missing == {}
    assert not is_missing(name)
