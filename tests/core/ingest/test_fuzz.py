"""Whatever stands in a file, it becomes a dataset with every row accounted for, or the project's own error."""

import json
import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError, PluralityError
from core.ingest.column_mapping import LAYOUTS
from core.ingest.formats.detect import formats, open_source
from core.ingest.read_files import build_question, complete_mapping
from tests.core.ingest.as_read import reasons
from tests.core.ingest.mutants import mutant


def read_all(files: list[tuple[str, bytes]], rng: random.Random) -> int:
    """Open files and build every question, sometimes in a format or layout they do not have; how many succeeded."""
    chosen = rng.choice(list(formats())) if rng.random() < 0.2 else None
    n_built = 0
    try:
        source = open_source(files, format=chosen, has_header=rng.choice([None, None, None, True, False]))
    except InputError as error:
        assert error.message
        return 0
    for question in source.questions:
        try:
            if rng.random() < 0.3:
                mapping = complete_mapping(
                    question.raw, layout=rng.choice(list(LAYOUTS)), rater=rng.choice([None, "none"])
                )
                question = type(question)(question.name, question.raw, mapping)
            reading = build_question(source, question, "fuzz", repeats=rng.choice(["keep", "first"]))
        except PluralityError as error:
            assert str(error)
            continue
        reasons(reading)
        assert reading.dataset.n_annotations >= reading.dataset.n_cases > 0
        assert len(reading.dataset.digest) == 32
        n_built += 1
    return n_built


@pytest.mark.parametrize("seed", range(8))
def test_broken_files_of_known_shapes(seed):
    rng = random.Random(seed)
    n_built = sum(read_all(mutant(rng), rng) > 0 for _ in range(200))
    assert n_built > 40, "most mutants should still be readable, or the test looks at nothing"


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"[", b"{", b"PK\x03\x04", b"PAR1", b'[{"id":', b"case,rater,class\n"]),
)
def test_any_bytes(content, start):
    read_all([("a", start + content)], random.Random(0))


NAMES = ["id", "data", "annotations", "completions", "result", "value", "label", "labels", "text", "answer", "case"]
NAMES += ["responses", "fields", "projects", "data_row", "annotators", "_input_hash", "accept", "rater", "x.responses"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.sampled_from(NAMES), part, max_size=5),
    max_leaves=25,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON, min_size=1, max_size=4), st.booleans())
def test_any_json_of_known_names(records, as_lines):
    one = [json.dumps(record) for record in records]
    content = "\n".join(one) if as_lines else f"[{','.join(one)}]"
    read_all([("a", content.encode())], random.Random(1))


def test_deep_json_is_refused_by_its_line():
    for content in (b"[\n" * 5000 + b"]\n" * 5000, b'{"a":' * 200_000, b"[[[[[" * 40 + b"]"):
        with pytest.raises(InputError) as caught:
            open_source([("a", content)])
        assert caught.value.line is not None


def test_no_warning_leaves_the_readers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng = random.Random(99)
        for _ in range(30):
            read_all(mutant(rng), rng)


def test_a_ragged_list_of_lists_that_once_ended_in_a_crash():
    """Found by tests/benchmarks/fuzz_readers.py at this seed: lists of different depths in one file."""
    rng = random.Random(22_369)
    files = mutant(rng)
    assert files[0][1].startswith(b"[[[[1]], [[2], [0, 1]]]"), "the seed still makes that file"
    read_all(files, rng)
