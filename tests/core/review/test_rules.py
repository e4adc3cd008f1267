"""The rules of a review, on one case after another: no database."""

from dataclasses import replace

import pytest

from core.errors import InputError
from core.review.events import ANYBODY, Draft
from core.review.opinions import UNDETERMINED, Opinion
from core.review.review_errors import NotAllowedError
from core.review.rules import admit, what_follows
from core.review.states import review_of

X, Y, Z = (Opinion.of_class(name) for name in "xyz")
TIED = Opinion.of_ranking([["x", "y"]])
SHARES = Opinion.of_distribution({"x": 0.7, "z": 0.3})


class Case:
    """A case on which reviewers act one after the other."""

    def __init__(self):
        self.review = review_of("case", [])

    def draft(self, who, kind, **said):
        return Draft(dataset="a" * 32, case_id="case", kind=kind, reviewer=who, **said)

    def do(self, who, kind, opinion=None, **said):
        event = admit(self.review, self.draft(who, kind, opinion=opinion, **said), at=self.review.version)
        self.review = review_of("case", [*self.review.events, event])
        return self.review.state

    def read(self, who, opinion, panel=X):
        self.do(who, "opinion", opinion)
        self.do(who, "reveal", panel=panel)


@pytest.fixture
def case():
    return Case()


def test_agreeing_with_the_panel_closes_a_case(case):
    assert case.review.state == "open"
    assert case.do("Ann", "opinion", X) == "read"
    assert case.do("Ann", "reveal", panel=X) == "read"
    assert case.do("Ann", "keep") == "closed"


def test_disagreeing_brings_it_to_arbitration(case):
    case.read("Ann", Y)
    assert case.do("Ann", "keep") == "arbitration"


@pytest.mark.parametrize("opinion", [TIED, UNDETERMINED])
def test_a_tie_that_holds_the_panels_class_and_an_undetermined_case_are_for_arbitration(case, opinion):
    case.read("Ann", opinion)
    assert case.do("Ann", "keep") == "arbitration"


@pytest.mark.parametrize("panel", [TIED, UNDETERMINED])
@pytest.mark.parametrize("opinion", [X, TIED, UNDETERMINED])
def test_nobody_disagrees_with_an_undecided_panel(case, panel, opinion):
    """One reader closes the case whatever they say, and is not told that they agree."""
    case.read("Ann", opinion, panel=panel)
    said = what_follows(case.review, case.draft("Ann", "keep"))
    assert said == "The panel has no leading class, so your opinion decides and closes the case."
    assert case.do("Ann", "keep") == "closed"
    assert not case.review.read_by("Ann").disagrees


def undecided(*names, between="xy"):
    """An undecided panel with this plausible set."""
    return replace(Opinion.of_ranking([between]) if between else UNDETERMINED, plausible=names)


@pytest.mark.parametrize(
    ("opinion", "panel"),
    [
        (Z, undecided("x", "y")),
        (Z, undecided("x", between="")),
        (Z, undecided(between="")),  # no label may apply
        (Z, TIED),  # as recorded by earlier versions: only the tie is known
        (Opinion.of_ranking([["z"], ["x"]]), undecided("x", "y")),  # the first choice counts
        (Opinion.of_ranking([["x", "z"]]), undecided("x", "y")),
        (Opinion.of_labels("xz"), undecided("x", "y", between="")),
        (Opinion.of_score(9), undecided(2.5, 8.5, between="")),
    ],
)
def test_nobody_closes_a_case_alone_outside_the_plausible_set_without_a_note(case, opinion, panel):
    """A reason from the list is no note. With a note the case is closed, and it is said on what it rests."""
    case.read("Ann", opinion, panel=panel)
    for reason in ("", "rater_error"):
        with pytest.raises(InputError, match="second opinion, or write a note"):
            case.do("Ann", "keep", note=" ", reason=reason)
    said = what_follows(case.review, case.draft("Ann", "keep", note="seen on the scan"))
    assert said == "Your opinion decides and closes the case, although it is outside the panel's plausible set."
    assert case.do("Ann", "keep", note="seen on the scan") == "closed"
    assert case.review.closed_unsupported


@pytest.mark.parametrize(
    ("opinion", "panel"),
    [
        (Z, undecided("x", "y", "z")),  # plausible, though not among those that the panel is undecided between
        (Opinion.of_ranking([["x"], ["z"]]), undecided("x", "y")),
        (Opinion.of_labels("x"), undecided("x", "y", between="")),
        (Opinion.of_score(8.5), undecided(2.5, 8.5, between="")),
        (UNDETERMINED, undecided("x", "y")),
        (Z, UNDETERMINED),  # nobody has annotated
        (Opinion.of_score(9), UNDETERMINED),
    ],
)
def test_an_opinion_within_the_plausible_set_closes_a_case_as_it_is(case, opinion, panel):
    case.read("Ann", opinion, panel=panel)
    assert case.do("Ann", "keep") == "closed" and not case.review.closed_unsupported


def test_a_change_to_a_class_outside_the_plausible_set_needs_a_note(case):
    case.read("Ann", X, panel=undecided("x", "y"))
    with pytest.raises(InputError, match="no other reviewer shares it"):
        case.do("Ann", "change", Z, reason="rater_error")
    assert case.do("Ann", "change", Z, note="seen on the scan") == "closed"


@pytest.mark.parametrize(("second", "state"), [(Z, "closed"), (X, "arbitration")])
def test_a_second_person_decides_about_an_opinion_outside_the_plausible_set(case, second, state):
    """Who shares it closes the case without a note; who does not brings it to arbitration."""
    panel = undecided("x", "y")
    case.read("Ann", Z, panel=panel)
    assert case.do("Ann", "second_opinion", whom="Bob", whom_visible="blind") == "second_opinion"
    case.read("Bob", second, panel=panel)
    assert case.do("Bob", "keep") == state
    assert not case.review.closed_unsupported


def test_a_reader_who_is_not_through_supports_nobody(case):
    """Bob's opinion can still be taken back, and the case would stand on Ann's."""
    case.do("Bob", "opinion", Z)
    case.read("Ann", Z, panel=undecided("x", "y"))
    with pytest.raises(InputError, match="no other reviewer shares it"):
        case.do("Ann", "keep")
    assert case.do("Ann", "keep", note="seen on the scan") == "read"


def test_what_follows_of_a_decided_panel_says_that_they_agree(case):
    case.read("Ann", X)
    assert what_follows(case.review, case.draft("Ann", "keep")) == "You agree with the panel: the case is closed."


@pytest.mark.parametrize(("second", "state"), [(Y, "arbitration"), (X, "closed")])
def test_readers_who_differ_over_an_undecided_panel_go_to_arbitration(case, second, state):
    case.read("Ann", X, panel=TIED)
    case.do("Ann", "second_opinion", whom="Bob", whom_visible="blind")
    case.read("Bob", second, panel=TIED)
    assert case.do("Bob", "keep") == state
    assert case.review.disputed == (state == "arbitration")


def test_a_case_over_which_the_panel_is_undecided_can_be_referred(case):
    case.read("Ann", X, panel=TIED)
    assert case.do("Ann", "arbitration") == "arbitration"


def test_the_lower_places_of_a_ranking_do_not_matter_for_agreeing(case):
    case.read("Ann", Opinion.of_ranking([["x"], ["y", "z"]]))
    assert case.do("Ann", "keep") == "closed"


def test_a_change_needs_another_opinion_and_a_reason(case):
    case.read("Ann", Y)
    with pytest.raises(InputError, match="reason"):
        case.do("Ann", "change", X)
    with pytest.raises(NotAllowedError, match="Keep it"):
        case.do("Ann", "change", Y, reason="rater_error")
    assert case.do("Ann", "change", X, note="I overlooked it") == "closed"
    assert (case.review.events[-1].old, case.review.events[-1].opinion) == (Y, X)
    assert case.do("Ann", "change", Z, reason="rater_error") == "arbitration"


def test_arbitration_ends_with_a_class_a_distribution_or_undetermined(case):
    case.read("Ann", Y)
    case.do("Ann", "keep")
    with pytest.raises(NotAllowedError, match="Show the other opinions"):
        case.do("Cem", "adjudication", X)
    case.do("Cem", "reveal", panel=X)
    for verdict in (Y, SHARES, UNDETERMINED):
        assert case.do("Cem", "adjudication", verdict) == "adjudicated"
        assert case.review.adjudication.opinion == verdict
        assert case.do("Cem", "undo") == "arbitration"


def test_an_adjudicated_case_takes_nothing_more_until_it_is_reopened(case):
    case.read("Ann", Y)
    case.do("Ann", "keep")
    case.do("Ann", "reveal", panel=X)
    case.do("Ann", "adjudication", Y)
    for who, kind, said in [
        ("Bob", "opinion", {"opinion": X}),
        ("Ann", "change", {"opinion": X, "reason": "rater_error"}),
        ("Ann", "second_opinion", {"whom": "Bob", "whom_visible": "blind"}),
        ("Ann", "adjudication", {"opinion": X}),
    ]:
        with pytest.raises(NotAllowedError):
            case.do(who, kind, **said)
    with pytest.raises(InputError, match="reason"):
        case.do("Bob", "reopen")
    assert case.do("Bob", "reopen", reason="guideline_gap") == "open"
    assert case.review.reads == ()


def test_a_second_opinion_is_awaited_and_then_compared_together_with_the_first(case):
    case.do("Ann", "opinion", X)
    assert case.do("Ann", "second_opinion", whom="Bob", whom_visible="blind") == "second_opinion"
    assert case.review.asked == (("Bob", "blind"),)
    assert case.do("Bob", "opinion", X) == "read"
    assert case.review.read_by("Bob").visible == "blind"
    case.do("Bob", "reveal", panel=X)
    assert case.do("Bob", "keep") == "closed"


def test_a_first_reader_who_never_looked_is_compared_with_what_the_second_saw(case):
    case.do("Ann", "opinion", Y)
    case.do("Ann", "second_opinion", whom="Bob", whom_visible="blind")
    case.read("Bob", X)
    assert case.do("Bob", "keep") == "arbitration"


def test_a_second_opinion_of_anybody_waits_for_each_other_reviewer_until_one_gives_it(case):
    case.read("Ann", Y)
    assert case.do("Ann", "second_opinion", whom=ANYBODY, whom_visible="blind") == "second_opinion"
    assert [case.review.seen_by(who).asked_of(who) for who in ("Ann", "Bob", "Cleo")] == [None, "blind", "blind"]
    case.do("Bob", "opinion", X)
    assert case.review.asked == () and case.review.asked_of("Cleo") is None


def test_anybody_who_has_seen_the_opinions_is_asked_for_an_open_one_only(case):
    case.read("Ann", X)
    case.do("Ann", "keep")
    case.do("Ann", "reopen", reason="missing_information")
    case.read("Bob", Y)
    case.do("Bob", "second_opinion", whom=ANYBODY, whom_visible="blind")
    assert [case.review.asked_of(who) for who in ("Ann", "Cleo")] == [None, "blind"]
    case.do("Bob", "undo")
    case.do("Bob", "second_opinion", whom=ANYBODY, whom_visible="open")
    assert [case.review.asked_of(who) for who in ("Ann", "Cleo")] == ["open", "open"]


def test_nobody_is_called_anybody(case):
    with pytest.raises(InputError, match="Could not use 'Anybody' as the name of a reviewer"):
        case.do("Anybody", "opinion", X)


def test_an_open_second_opinion_is_revealed_first_and_never_called_blind(case):
    case.do("Ann", "opinion", Y)
    case.do("Ann", "second_opinion", whom="Bob", whom_visible="open")
    case.do("Bob", "reveal", panel=X)
    assert case.do("Bob", "opinion", X) == "arbitration"  # Ann disagrees
    assert case.review.read_by("Bob").visible == "open"
    assert case.review.read_by("Bob").settled


def test_nobody_is_asked_to_read_blind_who_has_seen_the_opinions(case):
    case.read("Ann", X)
    case.do("Ann", "keep")
    case.do("Bob", "reveal", panel=X)
    with pytest.raises(NotAllowedError, match="open second opinion"):
        case.do("Ann", "second_opinion", whom="Bob", whom_visible="blind")
    assert case.do("Ann", "second_opinion", whom="Bob", whom_visible="open") == "second_opinion"
    for whom in ("Ann", "Bob"):
        with pytest.raises(
            NotAllowedError,
            match="someone else",
        ):
            case.do("Ann", "second_opinion", whom=whom, whom_visible="open")


def test_nothing_is_revealed_before_ones_own_opinion(case):
    with pytest.raises(NotAllowedError, match="own opinion first"):
        case.do("Ann", "reveal", panel=X)
    case.do("Bob", "opinion", X)
    with pytest.raises(NotAllowedError, match="own opinion first"):
        case.do("Ann", "reveal", panel=X)


def test_what_was_seen_cannot_be_unseen(case):
    case.read("Ann", Y)
    with pytest.raises(NotAllowedError, match="have seen"):
        case.do("Ann", "undo")
    case.do("Ann", "keep")
    case.do("Ann", "reopen", note="again")
    case.do("Ann", "opinion", Y)
    assert case.review.read_by("Ann").visible == "open"


def test_undo_takes_back_ones_own_last_event_and_stays_in_the_trail(case):
    case.read("Ann", Y)
    case.do("Ann", "keep")
    assert case.do("Ann", "undo") == "read"
    assert case.do("Ann", "change", X, note="better") == "closed"
    assert case.do("Ann", "undo") == "read"
    assert case.review.read_by("Ann").opinion == Y
    undo = case.review.events[-1]
    assert (undo.undoes, undo.old, undo.opinion) == (5, X, Y)
    assert [event.kind for event in case.review.events] == ["opinion", "reveal", "keep", "undo", "change", "undo"]


def test_one_takes_back_ones_own_skip_and_not_that_of_another(case):
    case.do("Ann", "opinion", X)
    case.do("Bob", "skip")
    before = case.review.state
    case.do("Bob", "undo")
    assert [(event.kind, event.undoes) for event in case.review.events[1:]] == [("skip", None), ("undo", 2)]
    assert case.review.state == before
    with pytest.raises(NotAllowedError, match="someone else"):
        case.do("Bob", "undo")


def test_nobody_undoes_what_another_did_or_has_acted_on(case):
    with pytest.raises(NotAllowedError, match="nothing"):
        case.do("Ann", "undo")
    case.do("Ann", "opinion", X)
    with pytest.raises(NotAllowedError, match="someone else"):
        case.do("Bob", "undo")
    case.do("Bob", "skip")
    assert case.do("Ann", "undo") == "skipped"
    case.do("Ann", "opinion", X)
    case.do("Bob", "opinion", X)
    with pytest.raises(NotAllowedError, match="someone else"):
        case.do("Ann", "undo")


def test_a_look_with_other_settings_does_not_change_how_an_earlier_reader_stands(case):
    case.read("Ann", X, panel=X)
    case.do("Ann", "keep")
    assert case.do("Bob", "reveal", panel=Y) == "closed"


def test_an_open_reader_who_disagrees_brings_a_closed_case_to_arbitration(case):
    case.read("Ann", X)
    case.do("Ann", "keep")
    case.do("Bob", "reveal", panel=X)
    assert case.do("Bob", "opinion", Y) == "arbitration"


def test_a_case_can_be_put_before_arbitration_though_all_agree(case):
    with pytest.raises(NotAllowedError):
        case.do("Ann", "arbitration")
    case.read("Ann", X)
    case.do("Ann", "keep")
    assert case.do("Ann", "arbitration", reason="truly_ambiguous") == "arbitration"
    with pytest.raises(NotAllowedError, match="already"):
        case.do("Ann", "arbitration")


def test_one_has_one_opinion_on_a_case(case):
    case.do("Ann", "opinion", X)
    with pytest.raises(NotAllowedError, match="already recorded"):
        case.do("Ann", "opinion", Y)
    with pytest.raises(NotAllowedError, match="not seen the other opinions yet"):
        case.do("Ann", "keep")


def test_a_distribution_is_for_arbitration(case):
    with pytest.raises(InputError, match="arbitration"):
        case.do("Ann", "opinion", SHARES)
    case.read("Ann", X)
    with pytest.raises(InputError, match="arbitration"):
        case.do("Ann", "change", SHARES, note="n")


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "guess"},
        {"visible": "half"},
        {"confidence": 1.01},
        {"confidence": float("nan")},
        {"reason": "other"},
        {"seconds": -1.0},
        {"seconds": float("inf")},
        {"note": "n" * 10_001},
        {"reviewer": ""},
        {"reviewer": " Ann"},
        {"reviewer": "A\nnn"},
        {"reviewer": "A" * 201},
        {"kind": "second_opinion", "whom": "", "whom_visible": "blind"},
        {"kind": "second_opinion", "whom": "Bob"},
        {"opinion": None},
    ],
)
def test_values_out_of_their_range_are_refused(case, said):
    given = {"dataset": "a" * 32, "case_id": "case", "kind": "opinion", "reviewer": "Ann", "opinion": X} | said
    with pytest.raises(InputError):
        admit(case.review, Draft(**given), at=0)


def test_the_consequence_is_said_before_and_is_what_happens(case):
    case.read("Ann", Y)
    keep = case.draft("Ann", "keep")
    change = case.draft("Ann", "change", opinion=X, note="n")
    ask = case.draft("Ann", "second_opinion", whom="Bob", whom_visible="blind")
    assert "goes to arbitration" in what_follows(case.review, keep)
    assert "the case is closed" in what_follows(case.review, change)
    assert "Bob" in what_follows(case.review, ask)
    assert case.do("Ann", "keep") == "arbitration"
    with pytest.raises(NotAllowedError):
        what_follows(case.review, case.draft("Ann", "keep"))


def test_a_case_that_is_in_arbitration_already_stays_there(case):
    case.read("Ann", Y)
    case.do("Ann", "keep")
    case.read("Bob", Y)
    assert what_follows(case.review, case.draft("Bob", "keep")) == "The case stays in arbitration."


def test_a_closed_case_stays_closed_where_one_more_reader_agrees(case):
    case.read("Ann", X)
    assert what_follows(case.review, case.draft("Ann", "keep")).endswith("the case is closed.")
    case.do("Ann", "keep")
    case.do("Bob", "reveal", panel=X)
    draft = case.draft("Bob", "opinion", opinion=X)
    assert case.review.state == "closed"
    assert what_follows(case.review, draft) == "You agree with the panel: the case stays closed."


def test_a_blind_reader_is_told_the_same_whatever_others_said(case):
    draft = case.draft("Bob", "opinion", opinion=X)
    before = what_follows(case.review, draft)
    case.read("Ann", Y)
    case.do("Ann", "keep")
    assert what_follows(case.review, draft) == before
    seen = case.review.seen_by("Bob")
    assert (seen.state, seen.reads, seen.events, seen.disputed) == ("open", (), (), False)
