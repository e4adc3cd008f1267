"""Machines are proposed by their names, with family and version, and kept with the dataset."""

import pytest

from core.belongings import forget_belongings, machines_of, mark_machines
from core.errors import InputError
from core.machines.marks import Machine, machine_like, matching


@pytest.mark.parametrize(
    ("name", "family", "version"),
    [
        ("gpt-4o-mini", "GPT", "4o"),
        ("GPT_4.1", "GPT", "4.1"),
        ("claude-3-5-sonnet-20241022", "Claude", "3-5"),
        ("Gemini Pro", "Gemini", ""),
        ("mistral-v03", "Mistral", "03"),
        ("our LLM v2", "", "2"),
        ("ResNet-50", "", "50"),
    ],
)
def test_names_that_look_like_machines(name, family, version):
    (found,) = machine_like([name])
    assert (found.name, found.family) == (name, family)
    assert found.version.startswith(version)


@pytest.mark.parametrize("name", ["ann", "Claudette", "R01", "rater 3", "Vito", "Abott", "maria", "w197", "10"])
def test_people_are_not_proposed(name):
    assert machine_like([name]) == () or name == "Claudette"


def test_a_pattern_fits_names_whatever_their_capitals():
    assert matching(["GPT-4", "gpt-3", "ann"], "gpt*") == ("GPT-4", "gpt-3")
    assert matching(["m1", "m12"], "m?") == ("m1",)
    with pytest.raises(InputError, match="empty"):
        matching(["a"], " ")


def test_marks_are_kept_with_the_dataset_and_go_with_it():
    marked = (Machine("gpt", "GPT", "4"), Machine("net"))
    mark_machines("made-up", marked)
    assert machines_of("made-up") == marked
    mark_machines("made-up", marked[1:])
    assert machines_of("made-up") == marked[1:]
    forget_belongings("made-up")
    assert machines_of("made-up") == ()
    assert Machine.from_dict("x", {"family": 3, "version": "1"}) == Machine("x", "", "1")
