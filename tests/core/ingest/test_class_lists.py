"""`--classes`: names, a file of names or a class table; whole numbers that are no names of it are places in it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import read
from core.command_line import main
from core.errors import InputError
from core.ingest.look_alikes import look_alikes

ROWS = [("1", "a", 0), ("1", "b", 1), ("2", "a", 2), ("2", "b", 2)]
TABLE = b"class,risk,display\nabs,low,Abscess\necz,high,Eczema\nros,medium,Rosacea\n"
NAMES = ["Abscess", "Eczema, not specified", "Rosacea", "Wart"]


def written(answers) -> bytes:
    rows = [f"{case},{rater},{answers[code]}" for case, rater, code in ROWS]
    return "\n".join(["case,rater,class", *rows]).encode()


def answers_of(dataset) -> list[str]:
    return [dataset.classes[code] for code in dataset.answer]


def test_places_become_names_and_what_was_never_answered_stays_a_class(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(NAMES) + "\n")
    reading = read(written("012"), classes=path, name="d")
    assert reading.dataset.classes == tuple(NAMES)
    assert answers_of(reading.dataset) == [NAMES[code] for _, _, code in ROWS]
    assert any("positions in the list, starting at 0" in warning for warning in reading.report.warnings)


def test_numbers_that_are_names_of_the_list_are_names():
    reading = read(written("123"), classes=["1", "2", "3", "4", "5"], name="d")
    assert answers_of(reading.dataset) == ["1", "2", "3", "3"]
    assert reading.dataset.n_classes == 5
    assert not reading.report.warnings


@pytest.mark.parametrize("answers", ["019", "12x", ["0", "-1", "1"]])
def test_numbers_beyond_the_list_are_no_places(answers):
    """As soon as one is no place, nothing is guessed: all are left out, which is no dataset."""
    with pytest.raises(InputError, match="not in the declared list"):
        read(written(answers), classes=["A", "B", "C"], name="d")


def test_a_class_table_gives_names_order_and_risk(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_bytes(TABLE)
    for answers in ("012", ["abs", "ecz", "ros"]):
        dataset = read(written(answers), classes=path, name="d").dataset
        assert dataset.classes == ("Abscess", "Eczema", "Rosacea")
        assert answers_of(dataset) == ["Abscess", "Eczema", "Rosacea", "Rosacea"]
        assert dataset.class_risk.tolist() == [0, 2, 1]


def test_gold_of_a_column_is_by_place_too():
    rows = [f"{case},{rater},{code},{gold}" for (case, rater, code), gold in zip(ROWS, (1, 1, 2, 2), strict=True)]
    content = "\n".join(["case,rater,class,gold", *rows]).encode()
    dataset = read(content, classes=["A", "B", "C"], name="d").dataset
    assert dataset.gold.tolist() == [1, 2]


def test_more_than_thirty_numbers_are_classes_where_a_list_is_given():
    rows = [f"{case},{rater},{case}" for case in range(40) for rater in "ab"]
    content = "\n".join(["case,rater,class", *rows]).encode()
    assert read(content, name="d").dataset.kind == "score"
    found = read(content, classes=[f"k{code}" for code in range(40)], name="d").dataset
    assert (found.kind, found.n_classes, answers_of(found)[-1]) == ("class", 40, "k39")


@pytest.mark.parametrize(
    ("content", "said"), [(b"a\nb\na\n", "repeats the class 'a'"), (b"\n \n", "contains no class names")]
)
def test_a_list_that_is_none_is_refused_by_its_name(tmp_path, content, said):
    path = tmp_path / "names.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said) as error:
        read(written("012"), classes=path, name="d")
    assert "names.txt" in str(error.value)


@pytest.mark.parametrize("content", ["\n".join(NAMES), "class\n" + "\n".join(NAMES)])
def test_the_command_line_takes_a_file_of_names(tmp_path, capsys, content):
    data, names = tmp_path / "data.csv", tmp_path / "names.txt"
    data.write_bytes(written("012"))
    names.write_text(content)
    assert main(["describe", str(data), "--classes", str(names)]) == 0
    assert json.loads(capsys.readouterr().out)["classes"] == NAMES


def test_rankings_by_number_take_names(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("\n".join(NAMES))
    dataset = read(json.dumps([[[[3], [0]], [[1]]]] * 3).encode(), classes=path, name="d").dataset
    assert (dataset.kind, dataset.classes) == ("ranking", tuple(NAMES))
    assert dataset.blocks_of(0) == [[3], [0]]


# Look alikes: Classes that a reader would take for one are found, and those that anybody can tell apart are not.


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (("cat", "Cat"), "capitals or spaces"),
        (("basal cell", " basal  cell "), "capitals or spaces"),
        (("dog", "do\u200bg"), "invisible characters"),
        (("dog", "\ufeffdog", "dog\u00ad"), "invisible characters"),
        (("caf\u00e9", "cafe\u0301"), "the encoding of the same letters"),
        (("CAT", "ＣＡＴ"), "the encoding of the same letters"),
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


def test_classes_that_look_alike_in_one_way_are_warned_of_in_one_sentence():
    rows = "".join(
        f"{case},{rater},{name}\n"
        for case, name in enumerate("abcde")
        for rater, name in (("r", name), ("s", name.upper()))
    )
    (said,) = (one for one in read(f"case,rater,class\n{rows}".encode()).report.warnings if "differ only" in one)
    assert "capitals or spaces: 'A', 'a'; 'B', 'b'; 'C', 'c'; …. They count as different classes" in said


def test_a_file_with_look_alikes_is_warned_of():
    reading = read("case,rater,class\n1,a,cat\n1,b,c\u0430t\n2,a,cat\n2,b,dog\n".encode())
    assert reading.dataset.n_classes == 3
    assert any(
        "differ only in letters of another alphabet: 'cat', 'c\u0430t'" in one for one in reading.report.warnings
    )
