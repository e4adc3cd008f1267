"""Both alphas of the question whether classes are a scale."""

import pytest

from core.agreement.krippendorff import alpha_as_scale_and_names, krippendorff_alpha
from core.annotations.ordering import with_class_order
from core.ingest.read_files import read

ORDER = ("none", "mild", "severe")
ROWS = "abc", "aab", "bcc", "ccc", "abb"
NAMES = {"a": "none", "b": "mild", "c": "severe"}


def dataset(rows=ROWS, more=""):
    lines = [f"{case},r{place},{NAMES[letter]}" for case, row in enumerate(rows) for place, letter in enumerate(row)]
    return read("\n".join(["case,rater,class", *lines, *more.split()]).encode(), question=None).dataset


def test_both_alphas_are_those_of_the_ordered_and_the_unordered_data():
    data = dataset()
    scale, names = alpha_as_scale_and_names(data, ORDER)
    assert scale.value == pytest.approx(krippendorff_alpha(with_class_order(data, ORDER), metric="ordinal").value)
    assert names.value == pytest.approx(krippendorff_alpha(data).value)
    assert scale.value != pytest.approx(names.value)


def test_annotations_of_other_classes_do_not_count():
    found = alpha_as_scale_and_names(dataset(more="0,r3,unsure 9,r0,unsure"), ORDER)
    assert [one.value for one in found] == pytest.approx(
        [one.value for one in alpha_as_scale_and_names(dataset(), ORDER)]
    )


def test_alphas_are_undefined_with_a_reason_if_no_case_has_two():
    found = alpha_as_scale_and_names(dataset(("a", "b", "c")), ORDER)
    assert [one.value for one in found] == [None, None] and all(one.note for one in found)
