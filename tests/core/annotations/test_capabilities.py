"""One table says which method takes which data, and the reason where it does not."""

import pytest

from core.annotations.capabilities import CAPABILITIES, FIRST_BLOCK, THRESHOLD, can_use, verdicts
from core.ingest.read_files import read

CLASSES = b"case,rater,class\n1,ann,x\n1,bob,y\n2,ann,x\n"


def test_classes_of_several_raters_allow_every_method():
    dataset = read(CLASSES).dataset
    assert [verdict.method for verdict in verdicts(dataset)] == list(CAPABILITIES)
    assert all(verdict.possible for verdict in verdicts(dataset))


def test_rankings_enter_by_their_first_choice_and_scores_by_a_threshold():
    ranking = read(b"case,rater,rank,class\n1,ann,1,x\n1,bob,1,y\n").dataset
    score = read(b"case,rater,score\n1,ann,1.5\n1,bob,2\n").dataset
    whole = {"agreement", "plackett-luce", "prirn"}
    assert {verdict.reason for verdict in verdicts(ranking) if verdict.method not in whole} == {FIRST_BLOCK}
    assert {verdict.reason for verdict in verdicts(score) if verdict.method not in whole} == {THRESHOLD}


def test_agreement_has_coefficients_for_every_kind():
    for table in (b"rank,class\n1,ann,1,x\n1,bob,1,y\n", b"class\n1,ann,x\n1,bob,y\n", b"score\n1,ann,1.5\n1,bob,2\n"):
        assert can_use("agreement", read(b"case,rater," + table).dataset).reason == "as they are"


def test_plackett_luce_and_prirn_take_rankings_whole_and_no_scores():
    ranking = read(b"case,rater,rank,class\n1,ann,1,x\n1,bob,1,y\n").dataset
    score = read(b"case,rater,score\n1,ann,1.5\n1,bob,2\n").dataset
    for method in ("plackett-luce", "prirn"):
        assert can_use(method, ranking).reason == "as they are"
        assert can_use(method, score).reason == "does not take scores"


@pytest.mark.parametrize(
    ("content", "options", "impossible", "reason"),
    [
        (b"case,rater,class\n1,ann,x\n2,bob,y\n", {}, {"agreement", "pairs", "dawid-skene"}, "only one annotation"),
        (b"case,rater,class\n1,ann,x\n1,ann,y\n", {}, {"pairs", "dawid-skene"}, "only one rater"),
        (b"case,class\n1,x\n1,y\n", {"rater": "none"}, {"pairs", "dawid-skene"}, "anonymous"),
    ],
)
def test_what_the_data_do_not_allow_is_said_with_its_reason(content, options, impossible, reason):
    dataset = read(content, **options).dataset
    refused = [verdict for verdict in verdicts(dataset) if not verdict.possible]
    assert {verdict.method for verdict in refused} == impossible
    assert all(reason in verdict.reason for verdict in refused)


def test_a_selection_can_make_a_method_impossible():
    dataset = read(CLASSES).dataset
    assert can_use("dawid-skene", dataset).possible
    assert not can_use("dawid-skene", dataset.select(raters=["ann"])).possible
