"""Two versions of the same data are compared annotation by annotation, by names."""

from collections import Counter, defaultdict

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.earlier_version import compare_with_earlier

CLASSES = ("x", "y", "z")


def built(kind, rows, classes=CLASSES, **side):
    """A dataset of rows of case, rater and annotation: a class, a score, a set, or a ranking as text such as x>y=z."""
    cases, raters = (sorted({row[place] for row in rows}, reverse=classes != CLASSES) for place in (0, 1))
    codes = [cases.index(row[0]) for row in rows], [raters.index(row[1]) for row in rows]
    if kind == "score":
        return Dataset.from_scores("data", cases, raters, *codes, [row[2] for row in rows], **side)
    blocks = [[block.split("=") for block in row[2].split(">")] for row in rows]
    entries = [[(classes.index(name), rank) for rank, block in enumerate(one) for name in block] for one in blocks]
    code, rank = (np.array([entry[place] for one in entries for entry in one]) for place in (0, 1))
    made = {"class": Dataset.from_classes, "set": Dataset.from_sets, "ranking": Dataset.from_rankings}[kind]
    ptr = np.concatenate([[0], np.cumsum([len(one) for one in entries])])
    own = {"class": (code,), "set": (ptr, code), "ranking": (ptr, code, rank)}[kind]
    return made("data", cases, raters, classes, *codes, *own, **side)


def rows_of(found):
    return list(zip(found.change, found.case, found.rater, found.before, found.now, strict=True))


@pytest.mark.parametrize(
    ("kind", "a", "b", "c", "texts"),
    [
        ("class", "x", "y", "z", ("x", "y", "z")),
        ("score", -0.5, 3.0, 0.1, ("-0.5", "3", "0.1")),
        ("ranking", "x>y", "y>x", "z=x", ("x > y", "y > x", "x = z")),
        ("ranking", "x", "x>y", "x=y", ("x", "x > y", "x = y")),
        ("set", "x=y", "y", "z=y", ("x; y", "y", "y; z")),
    ],
)
def test_a_changed_an_added_and_a_removed_annotation_are_found_by_names_in_each_kind(kind, a, b, c, texts):
    before = built(kind, [("c1", "ann", a), ("c1", "bob", b), ("c2", "ann", c)])
    now = built(kind, [("c1", "bob", c), ("c1", "ann", a), ("c3", "cy", b)], classes=("z", "y", "x"))
    found = compare_with_earlier(before, now)
    assert rows_of(found) == [
        ("changed", "c1", "bob", texts[1], texts[2]),
        ("added", "c3", "cy", None, texts[1]),
        ("removed", "c2", "ann", texts[2], None),
    ]
    assert (found.n_unchanged, found.new_cases, found.new_raters) == (1, ("c3",), ("cy",))
    assert found.words == "1 annotation changed, 1 added, 1 removed; 1 new case, 1 new rater."
    assert found.to_frame()["now"].tolist()[:2] == [texts[2], texts[1]]


def test_repeats_of_a_rater_on_a_case_have_no_order():
    before = built("class", [("c1", "ann", one) for one in "xyx"])
    found = compare_with_earlier(before, built("class", [("c1", "ann", one) for one in "yxzy"]))
    assert rows_of(found) == [("changed", "c1", "ann", "x", "z"), ("added", "c1", "ann", None, "y")]
    assert found.n_unchanged == 2


def test_annotations_without_raters_are_compared_by_case():
    before = built("class", [("c1", "1", "x"), ("c1", "2", "y")], raters_identified=False)
    found = compare_with_earlier(before, built("class", [("c1", "ann", "y"), ("c1", "bob", "z")]))
    assert rows_of(found) == [("changed", "c1", None, "x", "z")]
    assert found.new_raters == () and found.n_unchanged == 1


def test_versions_of_different_kinds_are_compared_by_their_text():
    before = built("score", [("c1", "ann", 1.0), ("c2", "ann", 2.5), ("c3", "ann", -0.0)])
    classes = ("1", "2", "0")
    found = compare_with_earlier(
        before, built("class", [("c1", "ann", "1"), ("c2", "ann", "2"), ("c3", "ann", "0")], classes)
    )
    assert rows_of(found) == [("changed", "c2", "ann", "2.5", "2")]


def test_labels_that_contain_a_separator_are_not_mistaken_for_two():
    names = ("a", "b", "a; b")
    found = compare_with_earlier(
        built("set", [("c1", "ann", "a=b"), ("c2", "ann", "b")], names),
        built("set", [("c1", "ann", "a; b"), ("c2", "ann", "b")], names),
    )
    assert rows_of(found) == [("changed", "c1", "ann", "a | b", "a; b")]


@pytest.mark.parametrize("kind", ["class", "score", "set", "ranking"])
@pytest.mark.parametrize("seed", range(8))
def test_counts_are_those_of_a_loop_over_multisets(kind, seed):
    rng = np.random.default_rng(seed)
    answers = {
        "class": "xyz",
        "score": [0.0, 0.5, -1.0],
        "set": ["x", "y", "x=y", "x=y=z"],
        "ranking": ["x", "x>y", "y>x", "x=y", "x>y=z", "x=y>z"],
    }[kind]

    def rows():
        size = int(rng.integers(1, 60))
        return [
            (f"c{rng.integers(8)}", f"r{rng.integers(4)}", answers[rng.integers(len(answers))]) for _ in range(size)
        ]

    old, new = rows(), rows()
    found = compare_with_earlier(built(kind, old), built(kind, new, classes=CLASSES[::-1]))
    groups = defaultdict(lambda: (Counter(), Counter()))
    for side, listed in enumerate((old, new)):
        for case, rater, answer in listed:
            groups[case, rater][side][answer] += 1
    expected = Counter()
    for key, (before, now) in groups.items():
        n_before, n_now = (before - now).total(), (now - before).total()
        expected["unchanged", *key] = (before & now).total()
        expected["changed", *key] = min(n_before, n_now)
        expected["added", *key] = max(0, n_now - n_before)
        expected["removed", *key] = max(0, n_before - n_now)
    assert Counter(zip(found.change, found.case, found.rater, strict=True)) == Counter(
        {key: n for key, n in expected.items() if n and key[0] != "unchanged"}
    )
    assert found.n_unchanged == sum(n for key, n in expected.items() if key[0] == "unchanged")
    assert (found.change == "changed").sum() == found.n_changed and (found.change == "added").sum() == found.n_added
    assert set(found.new_cases) == {row[0] for row in new} - {row[0] for row in old}
