"""The wide table reads back to the same annotations, or says why there is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.annotations.write import wide_table
from core.errors import NotApplicableError
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers as named

NAMES = st.lists(st.sampled_from(["a", "b 2", "10", "9", 'ü,"x"', "NA?", "#1"]), min_size=1, max_size=4, unique=True)


@st.composite
def tables(draw, ranked: bool) -> bytes:
    """A long table in which no rater annotates a case twice."""
    cases, raters, classes = draw(NAMES), draw(NAMES), draw(NAMES)
    rows = []
    for case in cases:
        for rater in raters:
            named = draw(st.lists(st.sampled_from(classes), max_size=3 if ranked else 1, unique=True))
            rows += [(case, "by " + rater, draw(st.integers(1, 2)), name) for name in named]
    rows = rows or [(cases[0], "by " + raters[0], 1, classes[0])]
    head = "case,rater,rank,class" if ranked else "case,rater,class"
    quoted = [[f'"{str(cell).replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
    return "\n".join([head, *(",".join(row if ranked else [row[0], row[1], row[3]]) for row in quoted)]).encode()


def written_and_read(dataset, **options):
    written = wide_table(dataset).to_csv(index=False).encode()
    return read(written, layout="wide", case="case", has_header=True, **options).dataset


@settings(max_examples=60, deadline=None)
@given(tables(ranked=False))
def test_classes_read_back(content):
    dataset = read(content, kind="class").dataset
    again = written_and_read(dataset, kind="class")
    assert sorted(named(again)) == sorted(named(dataset))
    assert written_and_read(again, kind="class").digest == again.digest


@settings(max_examples=60, deadline=None)
@given(tables(ranked=True))
def test_rankings_read_back(content):
    dataset = read(content).dataset
    again = written_and_read(dataset, separators=(">", "="))
    assert sorted(named(again)) == sorted(named(dataset))
    assert written_and_read(again, separators=(">", "=")).digest == again.digest


def test_scores_and_groups_read_back():
    dataset = read(b"case,rater,score,site\n1,ann,0.1,n\n1,bob,1e-300,n\n2,ann,3,s\n").dataset
    table = wide_table(dataset)
    assert list(table.columns) == ["case", "group", "ann", "bob"]
    assert read(table.to_csv(index=False).encode(), kind="score").dataset.digest == dataset.digest


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"case,rater,class\n1,ann,x\n1,ann,y\n", {}, "some raters annotated the same case more than once"),
        (b"case,rater,class\n1,case,x\n", {}, "'case' is also the name of another column"),
        (b"case,class\n1,x\n1,y\n", {"rater": "none"}, "do not identify raters"),
        (b"case,rater,rank,class\n1,ann,1,a=b\n", {}, "'a=b' contains a separator"),
    ],
)
def test_what_has_no_wide_table_says_why(content, options, words):
    with pytest.raises(NotApplicableError, match=words):
        wide_table(read(content, **options).dataset)
