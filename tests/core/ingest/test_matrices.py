"""Matrices of scores without names: found by shape, matched by the order of the data, refused where they do not fit."""

import io
import json

import numpy as np
import pytest

from core import read
from core.errors import InputError
from core.evaluation.predictions import match_matrix, open_predictions
from core.ingest.formats.detect import open_source
from core.ingest.formats.matrix import is_matrix, read_matrix
from core.ingest.read_files import build_question

NAMES = tuple(f"condition {k}" for k in range(7))
# Seven classes, of which some are never named; case 3 has nobody's ranking.
RANKED = [[[[3], [4, 5]], [[6]]], [[[6]], [[0], [3]]], [], [[[5]]], [[[4], [3]]]]


def saved(matrix, how: str) -> bytes:
    """A matrix as people save one."""
    file = io.BytesIO()
    if how == "npy":
        np.save(file, matrix)
    elif how == "json":
        file.write(json.dumps(matrix.tolist(), indent=1).encode())
    elif how == "comma":
        np.savetxt(file, matrix, delimiter=",", fmt="%.4f", header="a comment")
    else:
        np.savetxt(file, matrix)
    return file.getvalue()


@pytest.fixture
def scores():
    return np.random.default_rng(3).dirichlet(np.ones(7), 5)


def opened(*more: tuple[str, bytes]):
    """The published form: rankings by number, names and risks a line each, and what is dropped with them."""
    names = "\n".join(NAMES).encode()
    source = open_source(
        [
            ("rankings.json", json.dumps(RANKED).encode()),
            ("names.txt", names),
            ("risks.txt", b"0\n1\n2\n0\n1\n2\n0"),
            *more,
        ]
    )
    return source, build_question(source, source.questions[0], "rankings").dataset


@pytest.mark.parametrize("how", ["space", "comma", "npy", "json"])
def test_a_matrix_dropped_with_the_rankings_is_a_classifier(scores, how):
    source, dataset = opened(("net.txt", saved(scores, how)))
    ((name, content),) = source.side.predictions
    (found,) = open_predictions(name, content, dataset)
    assert dataset.classes == NAMES and dataset.cases == ("1", "2", "4", "5")
    for case, row in enumerate((0, 1, 3, 4)):
        own = slice(found.ptr[case], found.ptr[case + 1])
        assert (
            found.class_code[own].tolist() == np.argsort(-np.round(scores[row], 4 if how == "comma" else 16)).tolist()
        )
    assert "5 rows and 7 columns" in found.notes[0]


def test_a_selection_of_cases_keeps_its_own_rows(scores):
    _, dataset = opened()
    part = dataset.select(cases=["2", "5"])
    found = match_matrix(part, scores, "net", whole=dataset)
    assert [int(found.class_code[found.ptr[case]]) for case in range(2)] == scores[[1, 4]].argmax(1).tolist()


@pytest.mark.parametrize(("rows", "columns"), [(3, 7), (6, 7), (5, 6), (5, 8)])
def test_another_shape_is_refused_with_both_shapes(rows, columns):
    _, dataset = opened()
    with pytest.raises(
        InputError, match=rf"net: the matrix has {rows} rows and {columns} columns, but there are 4 cases and 7"
    ):
        match_matrix(dataset, np.full((rows, columns), 0.5), "net")


@pytest.mark.parametrize(
    "content",
    [
        b"1 2 3\n4 5 6\n",
        b"case,rater\n.5,.6\n",
        b"0.5\n0.25\n",
        b"0.5 0.5\n0.5 0.25 0.25\n",
        b"",
        b"\n\n",
        b"a b\n.5 0.5\n",
        b"[[1, 2], [3, 4]]",
        b"[[0.5, 0.5], [0.5]]",
        b"[[0.5], [0.5]]",
        b'[[0.5, "0.5"]]',
        b"[[0.5, 0.5], [true, false]]",
        b"[[0.5, 0.5], 3]",
        b"[[0.5, 0.5]",
        b"[[]]",
    ],
)
def test_whole_numbers_names_single_columns_and_ragged_rows_are_no_matrix(content):
    assert not is_matrix(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"0.5 0.5\n" * 30 + b"0.5\n", "Could not read the matrix in net.txt"),
        (b"0.5 0.5\n0.5 nan\n", "row 2, column 2"),
        (b"[[0.5, 0.5], [0.5]]", "its lists have different lengths"),
        (saved(np.zeros(3), "npy"), r"shape \(3,\)"),
        (saved(np.array([["a"]]), "npy"), "<U1"),
        (b"\x93NUMPY\x01\x00broken", "Could not read the NumPy array"),
    ],
)
def test_a_matrix_that_cannot_be_read_is_named_with_the_reason(content, said):
    with pytest.raises(InputError, match=said) as error:
        read_matrix("net.txt", content)
    assert "net.txt" in str(error.value)


def test_probabilities_beside_counts_are_predictions_and_counts_of_unequal_sums_are_counts():
    rng = np.random.default_rng(0)
    names = [f"kind{chr(97 + k)}" for k in range(6)]
    share = rng.dirichlet(np.full(6, 0.2), 60)
    counts = np.array([rng.multinomial(rng.integers(40, 60), row) for row in share])

    def table(rows) -> bytes:
        lines = [",".join(map(str, (f"img{case}", *row))) for case, row in enumerate(rows.tolist())]
        return "\n".join([",".join(["image", *names]), *lines]).encode()

    source = open_source([("counts.csv", table(counts)), ("net a.csv", table(share)), ("net b.csv", table(1 * share))])
    assert [name for name, _ in source.side.predictions] == ["net a.csv", "net b.csv"]
    dataset = build_question(source, source.questions[0], "counts").dataset
    assert (dataset.classes, dataset.n_annotations) == (tuple(names), counts.sum())
    assert np.bincount(dataset.answer, minlength=6).tolist() == counts.sum(0).tolist()


@pytest.mark.parametrize(("n_classes", "noise"), [(2, 0.1), (5, 0.5), (2, 1.0), (9, 0.2)])
def test_grades_of_raters_in_columns_are_not_taken_for_counts(n_classes, noise):
    rng = np.random.default_rng(1)
    truth = rng.integers(0, n_classes, (200, 1))
    grades = np.where(rng.random((200, 6)) < noise, rng.integers(0, n_classes, (200, 6)), truth)
    lines = [",".join(map(str, (f"c{case}", *row))) for case, row in enumerate(grades.tolist())]
    reading = read("\n".join(["case,ann,bob,cid,dee,eve,flo", *lines]).encode())
    assert (reading.dataset.n_raters, reading.report.mapping.layout) == (6, "wide")
