"""A rater's name in two files of the same cases: one rater, and it is said, for it may be somebody else."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import read
from core.ingest.data_warnings import of_several_files


def said(tmp_path, **files):
    """The warnings on tables of case, rater and class, by the names of their files."""
    paths = []
    for name, rows in files.items():
        path = tmp_path / f"{name}.csv"
        path.write_text("case,rater,class\n" + "".join(f"{case},{rater},{answer}\n" for case, rater, answer in rows))
        paths.append(str(path))
    return [words for words in read(paths).report.warnings if "counts as one rater" in words]


PEOPLE = [
    (case, rater, "xy"[(case + place) % 2]) for case in range(9) for place, rater in enumerate(("ann", "bob", "cem"))
]


def test_a_machine_that_bears_the_name_of_a_person_is_told(tmp_path):
    machine = [(case, "ann", "x") for case in range(7)]
    assert said(tmp_path, people=PEOPLE, gpt=machine) == [
        "ann annotates 7 cases in more than one file (people.csv and gpt.csv), and counts as one rater. If one "
        "name belongs to different raters, use a different name in each file."
    ]
    more = [*machine, (1, "bob", "x"), (2, "bob", "y")]
    (words,) = said(tmp_path, people=PEOPLE, gpt=more)
    assert "counts as one rater. The same applies to 1 other rater. If one name" in words


def test_nothing_is_said_of_a_rater_who_goes_on_in_the_next_file_or_repeats_within_one(tmp_path):
    later = [(case + 9, rater, answer) for case, rater, answer in PEOPLE]
    assert said(tmp_path, january=PEOPLE, february=later) == []
    assert said(tmp_path, january=[*PEOPLE, (1, "ann", "x")], february=later) == []
    assert said(tmp_path, people=[*PEOPLE, *PEOPLE]) == []


@pytest.mark.parametrize(("n_files", "where"), [(3, r"\(f0, f1 and f2\)"), (5, r"\(5 files\)")])
def test_many_files_are_counted(n_files, where):
    case = np.zeros(n_files, np.int32)
    (words,) = of_several_files(case, case, np.arange(n_files), ["ann"], [f"f{n}" for n in range(n_files)])
    assert words.startswith("ann annotates 1 case in more than one file") and where.replace("\\", "") in words


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1))
def test_cases_are_counted_by_rater_as_by_hand(rows):
    case, rater, file = np.array(rows, np.int32).T
    files = {}
    for one, who, where in rows:
        files.setdefault((who, one), set()).add(where)
    n_cases = [sum(len(found) > 1 for (who, _), found in files.items() if who == rater) for rater in range(4)]
    words = of_several_files(case, rater, file, list("abcd"), ["f", "g", "h"])
    assert bool(words) == any(n_cases)
    if words:
        first = "abcd"[int(np.argmax(n_cases))]
        assert words[0].startswith(f"{first} annotates {max(n_cases)} case")


@pytest.mark.parametrize("named", ["gt.json", "gold.json", "dan.json"])
def test_an_object_of_cases_beside_raters_is_gold_if_its_file_is_named_so(tmp_path, named):
    cases = [f"image {place}" for place in range(12)]
    raters = {name: {case: "ab"[place % 2] for place, case in enumerate(cases)} for name in ("ann", "bob", "cem")}
    truth = {case: "ba"[place % 3 == 0] for place, case in enumerate(cases)}
    for name, content in {"people.json": raters, named: truth}.items():
        (tmp_path / name).write_text(json.dumps(content))
    reading = read([str(tmp_path / "people.json"), str(tmp_path / named)], format="by-rater")
    gold = reading.dataset.gold
    assert list(reading.dataset.raters) == (["ann", "bob", "cem"] + ["dan"] * (named == "dan.json"))
    assert (gold is None) == (named == "dan.json")
    if gold is not None:
        assert {
            case: reading.dataset.classes[code] for case, code in zip(reading.dataset.cases, gold, strict=True)
        } == truth
