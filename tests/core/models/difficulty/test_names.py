from itertools import product

import pytest

from core.errors import InputError
from core.models.difficulty.model import METHODS
from core.models.difficulty.names import TAGS, Switches, canonical, switches, tag_of


def test_eighteen_models_of_the_thirty_two_combinations_are_identified():
    named = 0
    for combination in product([False, True], repeat=5):
        try:
            tag = tag_of(Switches(*combination))
        except InputError as error:
            assert all(known in str(error) for known in TAGS)
            continue
        assert switches(tag) == Switches(*combination)
        named += 1
    assert named == len(TAGS) == 18


def test_dawid_skene_is_bias_and_ability_without_effects_of_cases():
    assert tag_of(Switches(bias=True, ability=True, difficulty=False, discrimination=False, guessing=False)) == "ABC"
    assert switches("Full") == Switches(True, True, True, True, True)
    assert switches("A") == Switches(True, True, difficulty=True, discrimination=True, guessing=False)


def test_a_tag_is_read_in_any_capitals():
    assert canonical("full") == "Full" and canonical("abc") == "ABC"


@pytest.mark.parametrize("wrong", ["", "E", "BE", "ABCDEF", "CB"])
def test_a_tag_that_the_paper_does_not_list_is_refused_with_the_list(wrong):
    with pytest.raises(InputError, match="ABCDE, ABCD, ABCE"):
        switches(wrong)


@pytest.mark.parametrize("tag", TAGS)
def test_the_sentence_of_a_model_names_the_effects_that_it_has_and_no_other(tag):
    method = next(each for each in METHODS if each.variant.value == tag)
    on, said = switches(tag), method.plainly
    assert ("how hard they are" in said) == on.difficulty
    assert ("how well they separate accurate from inaccurate raters" in said) == on.discrimination
    assert ("a guess is correct" in said) == on.guessing
    assert ("All cases are equally hard" in said) == (not (on.difficulty or on.discrimination or on.guessing))
    assert ("Each rater has" in said) == on.ability and ("All raters have the same" in said) == (not on.ability)
    assert ("specificity" in said) == on.bias
