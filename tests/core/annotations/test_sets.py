"""Annotations of several labels: what may enter, and what they are taken for."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset, label_sign
from core.annotations.write import long_table
from core.errors import InputError, NotApplicableError
from core.ingest.samples import load_sample
from tests.core.kinds import as_sets

NAMES = ("films", ("a", "b"), ("r1", "r2"), ("drama", "comedy", "war"))


def sets(entry_ptr, entry_class, **more):
    """Three annotations: r1 on b, r1 on a, r2 on a."""
    return Dataset.from_sets(*NAMES, [1, 0, 0], [0, 0, 1], entry_ptr, entry_class, **more)


@pytest.fixture(scope="module")
def films():
    return sets([0, 2, 3, 6], [2, 0, 1, 2, 1, 0])


def test_labels_are_held_in_the_order_of_the_list_and_annotations_by_case(films):
    assert [[films.classes[k] for k in films.blocks_of(a)[0]] for a in range(3)] == [
        ["comedy"], ["drama", "comedy", "war"], ["drama", "war"],
    ]  # fmt: skip
    assert (films.kind, films.n_annotations) == ("set", 3)
    assert "3 label sets" in repr(films)


@pytest.fixture(scope="module")
def ordinary():
    return load_sample("anaesthesia")


@pytest.mark.parametrize(
    ("entry_ptr", "entry_class", "found", "remedy"),
    [
        ([0, 1, 1, 2], [0, 1], r"Annotation 1 \(rater 'r1' on case 'a'\) has no label", "add a label for this"),
        ([0, 1, 2, 4], [0, 1, 2, 2], r"Annotation 2 \(rater 'r2' on case 'a'\) contains 'war' twice", "once"),
        ([0, 1, 2, 3], [0, 1, 3], r"entry_class\[2\] is 3, which is not a code for one of the 3 classes", "Use 0 to 2"),
        ([0, 1, 2, 3], [0, -1, 2], r"entry_class\[1\] is -1", "Use 0 to 2"),
        ([0, 1, 2], [0, 1], "entry_ptr has 3 entries for 3 annotations", "Provide 4"),
        ([0, 2, 1, 3], [0, 1, 2], r"entry_ptr\[2\] is 1, less than the previous entry", "Each entry must equal"),
    ],
)  # fmt: skip
def test_what_is_no_set_is_refused_with_its_place_and_a_remedy(entry_ptr, entry_class, found, remedy):
    with pytest.raises(InputError, match=found) as error:
        sets(entry_ptr, entry_class)
    assert remedy in str(error.value)


def test_the_constructor_itself_refuses_what_is_no_set(films):
    array = {"case_ptr": films.case_ptr, "rater": films.rater, "entry_block": np.zeros(6, np.int32)}
    good = {"entry_ptr": films.entry_ptr, "entry_class": films.entry_class}
    made = dict(zip(("name", "cases", "raters", "classes"), NAMES, strict=True), kind="set")
    assert Dataset(**made, **array, **good).digest == films.digest
    for bad, found in (
        ({"entry_ptr": [0, 1, 1, 6]}, r"rater 'r2' on case 'a'\) has no label"),
        ({"entry_class": [1, 0, 0, 2, 0, 2]}, "contains 'drama' twice"),
        ({"entry_class": [1, 2, 1, 0, 0, 2]}, "one block, in ascending order"),
        ({"entry_block": [0, 0, 1, 0, 0, 0]}, r"entry_block\[2\] is 1; the labels of a set must form one block"),
    ):
        with pytest.raises(InputError, match=found):
            Dataset(**{**made, **array, **good, **bad})
    for side in ({"gold": [0, 1]}, {"ordinal": True}):
        with pytest.raises(InputError, match="annotations are label sets"):
            sets([0, 1, 2, 3], [0, 1, 2], **side)


def test_by_a_label_an_annotation_has_it_or_not(films):
    classes, left_out = films.as_classes("war")
    assert (classes.kind, classes.classes, left_out) == ("class", ("not war", "war"), 0)
    assert classes.answer.tolist() == [0, 1, 1]
    with pytest.raises(InputError, match="Choose one label"):
        films.as_classes()
    with pytest.raises(InputError, match="Unknown label 'opera'"):
        films.as_classes("opera")


def test_sets_of_one_label_each_are_classes_to_the_bit(ordinary):
    alone = ordinary.as_sets()
    assert alone.kind == "set"
    assert alone.as_classes()[0].digest == ordinary.digest


def test_a_ranking_is_cut_after_so_many_places():
    names = ("d", ("a",), ("r",), ("x", "y", "z"))
    ranking = Dataset.from_rankings(*names, [0], [0], [0, 3], [2, 0, 1], [1, 2, 2])
    for cut, labels in ((1, [2]), (2, [0, 1, 2]), (None, [0, 1, 2])):
        assert ranking.as_sets(cut).entry_class.tolist() == labels
    with pytest.raises(InputError, match="at least 1"):
        ranking.as_sets(0)


def test_a_selection_of_sets_keeps_their_labels(films):
    assert films.select(raters=["r1"]).entry_class.tolist() == [1, 0, 2]
    assert films.as_sets() is films


def test_a_cell_holds_all_labels_with_a_sign_that_no_class_has(films):
    assert long_table(films)["labels"].tolist() == ["comedy", "drama; comedy; war", "drama; war"]
    assert (label_sign(("a;b", "c")), label_sign((";|,/+",))) == (" | ", "\n")


@pytest.mark.parametrize("method", ["counts", "rankings"])
def test_methods_of_single_classes_refuse_sets_in_words(ordinary, method):
    from core.annotations.counts import class_counts
    from core.rankings.blocks import ranked_entries

    several = as_sets(ordinary)
    with pytest.raises(NotApplicableError, match=r"these annotations are (label )?sets"):
        class_counts(several) if method == "counts" else ranked_entries(several)


def test_each_kind_lists_its_classes_as_entries(films, ordinary):
    for dataset in (films, ordinary, load_sample("dermatology")):
        ptr, code, block = dataset.entries()
        listed = [
            (one, rank)
            for a in range(dataset.n_annotations)
            for rank, tied in enumerate(dataset.blocks_of(a))
            for one in tied
        ]
        assert list(zip(code.tolist(), block.tolist(), strict=True)) == listed
        some = range(1, dataset.n_annotations - 1)
        part = dataset.entries(some)
        assert (part[0] == ptr[1:-1] - ptr[1]).all() and (part[1] == code[ptr[1] : ptr[-2]]).all()
        case, named = dataset.named_classes()
        assert (named == code).all() and (case == np.repeat(dataset.case_of_annotation, np.diff(ptr))).all()
