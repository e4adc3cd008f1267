"""What an opinion may be, and that the database gives back what it was given."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InputError
from core.review.opinions import UNDETERMINED, Opinion

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@st.composite
def some_opinions(draw):
    listed = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    kind = draw(st.sampled_from(["ranking", "distribution", "set", "score", "undetermined"]))
    if kind == "set":
        return Opinion.of_labels(listed)
    if kind == "score":
        score = draw(st.floats(-1e9, 1e9))
        return Opinion.of_score(score, draw(st.sampled_from([None, (score - 1, score + 1)])))
    if kind == "ranking":
        cuts = sorted(draw(st.sets(st.integers(1, len(listed)), max_size=3)) | {0, len(listed)})
        return Opinion.of_ranking([listed[a:b] for a, b in pairwise(cuts)])
    if kind == "undetermined":
        return UNDETERMINED
    weights = draw(st.lists(st.floats(0.01, 1), min_size=len(listed), max_size=len(listed)))
    return Opinion.of_distribution({name: w / sum(weights) for name, w in zip(listed, weights, strict=True)})


@given(some_opinions())
def test_an_opinion_written_and_read_is_the_same(opinion):
    assert Opinion.from_json(opinion.to_json()) == opinion
    assert opinion.agrees_with(opinion)
    assert opinion.words()
    opinion.check_classes(opinion.classes, opinion.kind if opinion.kind in ("set", "score") else "class")


@pytest.mark.parametrize("plausible", [(), ("ä", "b"), (-1.5, 3.0), None])
@pytest.mark.parametrize("opinion", [UNDETERMINED, Opinion.of_ranking([["ä", "b"]])])
def test_the_plausible_set_of_a_panel_is_written_and_read_and_makes_no_other_opinion(opinion, plausible):
    panel = replace(opinion, plausible=plausible)
    again = Opinion.from_json(panel.to_json())
    assert (again, again.plausible) == (opinion, plausible)
    assert ("plausible" in panel.to_json()) == (plausible is not None)


def test_a_plausible_set_names_classes_of_the_data():
    with pytest.raises(InputError, match="'c' is not in the list"):
        replace(UNDETERMINED, plausible=("a", "c")).check_classes(["a", "b"], "class")
    replace(UNDETERMINED, plausible=(1.0, 2.0)).check_classes([], "score")


def test_the_order_within_a_tie_does_not_matter():
    assert Opinion.of_ranking([["b", "a"], ["c"]]) == Opinion.of_ranking([["a", "b"], ["c"]])
    assert Opinion.of_ranking([["a"], ["b"]]) != Opinion.of_ranking([["a", "b"]])
    assert Opinion.of_ranking([["a"]]) == Opinion.of_class("a")


def test_each_kind_says_what_it_is_and_which_comes_first():
    ranking = Opinion.of_ranking([["a", "b"], ["c"]])
    shares = Opinion.of_distribution({"a": 0.25, "b": 0.75, "c": 0.0})
    assert (ranking.kind, ranking.first, ranking.words()) == ("ranking", ("a", "b"), "a = b › c")
    assert (shares.kind, shares.first, shares.words()) == ("distribution", ("b",), "b 75%, a 25%")
    assert (UNDETERMINED.kind, UNDETERMINED.first) == ("undetermined", ())
    assert UNDETERMINED.words() == "cannot be determined"
    assert Opinion.of_class("a").kind == "class"


@pytest.mark.parametrize(
    "said",
    [
        {"blocks": (("a",),), "score": 1.0},
        {"blocks": (("a",),), "distribution": (("a", 1.0),)},
        {"distribution": (("a", 1.0),), "score": 1.0},
        {"blocks": (("a",), ("b",)), "is_set": True},
        {"score": 1.0, "is_set": True},
        {"blocks": (("a",),), "within": (0.0, 1.0)},
    ],
)
def test_an_opinion_is_of_one_kind(said):
    with pytest.raises(InputError, match="it mixes different kinds of opinion"):
        Opinion(**said)


@pytest.mark.parametrize(
    ("opinion", "takes"),
    [
        (Opinion.of_class("a"), {"class", "ranking"}),
        (Opinion.of_ranking([["a", "b"]]), {"class", "ranking"}),
        (Opinion.of_distribution({"a": 1.0}), {"class", "ranking"}),
        (Opinion.of_labels(["a"]), {"set"}),
        (Opinion.of_score(1.0), {"score"}),
        (UNDETERMINED, {"class", "ranking", "set", "score"}),
    ],
)
def test_data_take_no_opinion_of_another_kind(opinion, takes):
    for kind in ("class", "ranking", "set", "score"):
        if kind in takes:
            opinion.check_classes(["a", "b"], kind)
        else:
            with pytest.raises(InputError, match="but these annotations are"):
                opinion.check_classes(["a", "b"], kind)


@pytest.mark.parametrize("blocks", [[], [[]], [["a"], []], [["a", "a"]], [["a"], ["b", "a"]]])
def test_rankings_that_make_no_sense_are_refused(blocks):
    with pytest.raises(InputError):
        Opinion.of_ranking(blocks)


@pytest.mark.parametrize("shares", [{}, {"a": 0.9}, {"a": 1.5, "b": -0.5}, {"a": float("nan")}])
def test_distributions_that_make_no_sense_are_refused(shares):
    with pytest.raises(InputError):
        Opinion.of_distribution(shares)
