"""Results without the names of raters, and the names put back."""

from dataclasses import dataclass

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import code_names, coded, with_codes, with_names, with_names_in, without_names
from core.errors import InputError, NotFoundError
from core.raters.monitoring import monitor


def data(raters=("Ann", "Bob", "Cy"), cases=("1", "2", "3", "4"), name="ward") -> Dataset:
    case = np.repeat(np.arange(len(cases)), len(raters))
    rater = np.tile(np.arange(len(raters)), len(cases))
    return Dataset.from_classes(name, cases, raters, ("x", "y"), case, rater, (case + rater) % 2)


@dataclass(frozen=True, slots=True)
class Found:
    raters: tuple[str, ...]
    note: str
    value: np.ndarray
    dataset: Dataset


def test_two_namings_have_one_content_and_two_addresses():
    one, other = data(), data(("Dan", "Eve", "Flo"))
    assert one.content_digest == other.content_digest
    assert one.digest != other.digest and one.names_digest != other.names_digest
    assert one.renamed("clinic").content_digest == one.content_digest
    assert one.renamed("clinic").names_digest != one.names_digest


@pytest.mark.parametrize("change", [{"cases": ("1", "2", "3", "5")}, {"raters": ("Ann", "Bob")}])
def test_other_cases_and_another_number_of_raters_are_another_content(change):
    assert data(**change).content_digest != data().content_digest


def test_the_digest_of_a_dataset_is_what_it_was_before():
    """Addresses, kept folders and reviews go by it."""
    assert data().digest == "082befb94283d83577e6e51ab68b4a32"


def test_names_come_back_in_texts_keys_and_datasets():
    dataset = data()
    content = dataset.coded
    assert not set(content.raters) & set(dataset.raters)
    found = Found(content.raters, f"{content.raters[1]} on {content.name}, {content.raters[2]!r}", np.ones(2), content)
    named = with_names({"all": [found], content.raters[0]: 1}, dataset)
    assert named["Ann"] == 1
    assert named["all"][0].raters == dataset.raters
    assert named["all"][0].note == "Bob on ward, 'Cy'"
    assert named["all"][0].value is found.value
    assert named["all"][0].dataset is dataset
    assert with_codes(named["all"][0], dataset).dataset is content
    assert with_codes(named["all"][0], dataset).raters == content.raters


def test_what_holds_no_name_is_the_same_object():
    value = {"all": [(1, "é", np.array(["ü"]), None)]}
    assert with_names(value, data()) is value


def test_a_selection_of_the_coded_data_reads_as_the_selection_of_the_data():
    dataset = data()
    part = dataset.coded.select(raters=dataset.coded.raters[1:])
    assert with_names(part, dataset).digest == dataset.select(raters=("Bob", "Cy")).digest


def test_an_error_is_named_for_each_who_sees_it():
    dataset = data()
    error = NotFoundError(f"no {dataset.coded.raters[0]}")
    assert str(with_names_in(error, dataset)) == "no Ann"
    assert str(with_names_in(error, without_names(dataset))).startswith("no Rater ")
    kept = with_names_in(InputError("found", f"ask {dataset.coded.raters[1]}", 3), dataset)
    assert (kept.remedy, kept.line) == ("ask Bob", 3)
    assert str(kept) == "Line 3: found ask Bob"


def test_data_that_use_these_characters_themselves_keep_their_names():
    dataset = data(cases=("1", "2", "3", code_names(1)[0]))
    assert coded(dataset) is dataset
    assert dataset.content_digest == dataset.digest


def test_hidden_names_are_known_to_be_the_same_content():
    veiled = without_names(data())
    assert veiled.coded is data().coded or veiled.content_digest == data().content_digest
    assert sorted(veiled.raters) == ["Rater 1", "Rater 2", "Rater 3"]
    assert without_names(data(("Dan", "Eve", "Flo"))).raters == veiled.raters


def test_a_rater_table_does_not_depend_on_names():
    one, other = (monitor(data(raters), seed=3) for raters in (("Ann", "Bob", "Cy"), ("Zoe", "Yan", "Xi")))
    named = with_names(monitor(data().coded, seed=3), data())
    arrays = [name for name in one.__dataclass_fields__ if isinstance(getattr(one, name), np.ndarray)]
    assert arrays
    for name in arrays:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(named, name))
    assert named.raters == one.raters
