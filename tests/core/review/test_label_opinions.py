"""Opinions that are sets of labels, and what the panel says of such a case."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.certainty.label_sets import label_set_certainty
from core.errors import InputError
from core.ingest.samples import load_sample
from core.review.opinions import UNDETERMINED, Opinion
from core.review.panel_answer import panel_set


def test_a_set_is_what_it_holds_in_whatever_order_and_decides():
    said = Opinion.of_labels(["rain", "bus"])
    assert said == Opinion.of_labels(["bus", "rain"]) == Opinion.from_json(said.to_json())
    assert (said.kind, said.decided, said.words(), said.classes) == ("set", True, "bus + rain", ("bus", "rain"))
    assert Opinion.of_labels(["bus"]).kind == "set"


def test_a_set_agrees_with_the_same_set_and_is_no_tie():
    said, tie = Opinion.of_labels(["rain", "bus"]), Opinion.of_ranking([["rain", "bus"]])
    assert said != tie
    assert not tie.decided
    assert said.agrees_with(Opinion.of_labels(["bus", "rain"]))
    assert not said.agrees_with(Opinion.of_labels(["bus"]))
    assert not said.agrees_with(UNDETERMINED)


@pytest.mark.parametrize(("labels", "found"), [([], "contains no label"), (["bus", "bus"], "a label occurs twice")])
def test_what_is_no_set_is_refused_with_a_remedy(labels, found):
    with pytest.raises(InputError, match=found):
        Opinion.of_labels(labels)
    with pytest.raises(InputError, match="'tram' is not in the list"):
        Opinion.of_labels(["tram"]).check_classes(["bus"], "set")


def test_the_panel_says_a_set_only_where_all_of_it_is_certain():
    street = load_sample("street")
    found = label_set_certainty(street, reliability=3.0)
    for case in (*np.argsort(found.whole)[[0, 1, -1, -2]], 5):
        word = panel_set(street, int(case), reliability=3.0)
        assert word.certainty == found.whole[case]
        assert word.decided == (found.whole[case] >= 0.8 and found.applies[case].any())
        if word.decided:
            assert word.opinion == Opinion.of_labels(np.array(street.classes)[found.applies[case]].tolist())
        else:
            assert word.opinion == UNDETERMINED and "certainty of at least 80%" in word.why
            chance = np.where(found.applies[case], found.certainty[case], 1 - found.certainty[case])
            rows = street.annotations_of(case)
            named = {code for place in rows for block in street.blocks_of(place) for code in block}
            assert set(word.opinion.plausible) == {street.classes[code] for code in named if chance[code] > 0.05}


def test_of_labels_that_exclude_each_other_the_plausible_ones_are_as_of_classes():
    """Ten, nine and one rater name one label each: the third is led in all but one per cent."""
    said = [0] * 10 + [1] * 9 + [2]
    names = ("d", ["case", "other"], [f"r{place}" for place in range(20)], ("x", "y", "z", "w"))
    data = Dataset.from_sets(*names, [0] * 20 + [1], [*range(20), 0], list(range(22)), [*said, 3])
    assert label_set_certainty(data).exclusive
    word = panel_set(data, 0, reliability=1.0)
    assert (word.decided, word.opinion.plausible) == (False, ("x", "y"))
    assert Opinion.of_labels("z").is_outside(word.opinion) and not Opinion.of_labels("y").is_outside(word.opinion)


def test_one_reader_and_a_case_without_a_likely_label_decide_nothing():
    names = ("d", ("a", "b"), ("r", "s", "t"), ("x", "y", "z"))
    lone = Dataset.from_sets(*names, [0, 1, 1, 1], [0, 0, 1, 2], [0, 2, 3, 4, 5], [0, 1, 0, 1, 2])
    assert panel_set(lone, 0, reliability=50.0).why == "only one rater has annotated the case"
    split = panel_set(lone, 1, reliability=50.0)
    assert (split.decided, split.why) == (False, "no label was chosen by more than half of the raters")
    with pytest.raises(InputError, match=r"at least 0\.5 and below 1; got 0\.4"):
        panel_set(lone, 1, reliability=1.0, level=0.4)
