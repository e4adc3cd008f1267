"""Whatever three reviewers do in whatever order, what must hold of a case holds."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from core.errors import PluralityError
from core.review.events import Draft
from core.review.opinions import UNDETERMINED, Opinion
from core.review.rules import admit, what_follows
from core.review.states import STATES, CaseReview, effective, review_of

NAMES = ("Ann", "Bob", "Cem")
who = st.sampled_from(NAMES)
opinions = st.sampled_from(
    [Opinion.of_class("x"), Opinion.of_class("y"), Opinion.of_ranking([["x", "y"]]), UNDETERMINED]
)
verdicts = opinions | st.just(Opinion.of_distribution({"x": 0.5, "y": 0.5}))
ENDS = {"closed": "close", "arbitration": "goes to arbitration", "adjudicated": "adjudicated"}
STAYS = ENDS | {"arbitration": "stays in arbitration", "closed": "stays closed"}


def standing(review):
    """What undoing must bring back; skipping is another matter, it changes nothing else."""
    state = "open" if review.state == "skipped" else review.state
    return (state, review.reads, review.asked, review.disputed, review.adjudication, review.revealed)


panels = st.sampled_from([*map(Opinion.of_class, "xy"), replace(UNDETERMINED, plausible=("x",))])
notes = st.sampled_from(["", "seen"])


def decided(review):
    """Whether the panel of the last step was decided."""
    read = review.read_by(review.events[-1].reviewer)
    return read is None or read.panel is None or read.panel.decided


class Reviewing(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.review = CaseReview("case")
        self.before = {}  # how the case stood before each event

    def act(self, reviewer, kind, **said):
        draft = Draft(dataset="a" * 32, case_id="case", kind=kind, reviewer=reviewer, **said)
        try:
            event = admit(self.review, draft, at=self.review.version)
        except PluralityError:
            return
        words = what_follows(self.review, draft)
        after = review_of("case", [*self.review.events, event])
        assert after.version == self.review.version + 1
        if kind in ("keep", "change", "adjudication") and after.state in ENDS:
            stays = after.state == self.review.state and (after.state != "closed" or decided(after))
            assert (STAYS if stays else ENDS)[after.state] in words
        if kind == "opinion" and reviewer in self.review.unblinded:
            assert event.visible == "open"
        if kind == "undo":
            skip = self.review.events[event.undoes - 1].kind == "skip"
            assert standing(after) == (standing(self.review) if skip else self.before[event.undoes])
        self.before[event.version] = standing(self.review)
        self.review = after
        self.versions_count_the_events()
        self.the_state_says_what_the_reads_say()
        self.no_opinion_after_a_reveal_is_blind()
        self.nobody_learns_anything_of_the_others_before_the_reveal()

    @rule(reviewer=who, opinion=opinions)
    def opinion(self, reviewer, opinion):
        self.act(reviewer, "opinion", opinion=opinion)

    @rule(reviewer=who, panel=panels)
    def reveal(self, reviewer, panel):
        self.act(reviewer, "reveal", panel=panel)

    @rule(reviewer=who, note=notes)
    def keep(self, reviewer, note):
        self.act(reviewer, "keep", note=note)

    @rule(reviewer=who, opinion=opinions, panel=panels, note=notes)
    def read_to_the_end(self, reviewer, opinion, panel, note):
        self.act(reviewer, "opinion", opinion=opinion)
        self.act(reviewer, "reveal", panel=panel)
        self.act(reviewer, "keep", note=note)

    @rule(reviewer=who, opinion=opinions)
    def change(self, reviewer, opinion):
        self.act(reviewer, "change", opinion=opinion, note="better")

    @rule(reviewer=who, whom=who, how=st.sampled_from(["blind", "open"]))
    def ask(self, reviewer, whom, how):
        self.act(reviewer, "second_opinion", whom=whom, whom_visible=how)

    @rule(reviewer=who, opinion=verdicts)
    def adjudicate(self, reviewer, opinion):
        self.act(reviewer, "adjudication", opinion=opinion)

    @rule(reviewer=who, kind=st.sampled_from(["skip", "arbitration", "undo", "reopen"]))
    def rest(self, reviewer, kind):
        self.act(reviewer, kind, note="because")

    def versions_count_the_events(self):
        assert [event.version for event in self.review.events] == list(range(1, self.review.version + 1))

    def the_state_says_what_the_reads_say(self):
        review = self.review
        assert review.state in STATES
        assert (review.state == "adjudicated") == (review.adjudication is not None)
        if review.state == "closed":
            assert review.reads
            assert all(read.settled for read in review.reads)
            assert all(read.opinion.agrees_with(read.panel) for read in review.reads if read.panel.decided)
        if review.closed_unsupported:
            (read,) = review.reads
            assert any(event.note and event.reviewer == read.reviewer for event in effective(review.events))
        if review.state in ("open", "skipped"):
            assert not review.reads
        if any(read.disagrees for read in review.reads):
            assert review.state in ("arbitration", "second_opinion", "adjudicated")
        assert len({read.reviewer for read in review.reads}) == len(review.reads)

    def no_opinion_after_a_reveal_is_blind(self):
        seen = set()
        for event in self.review.events:
            if event.kind == "reveal":
                seen.add(event.reviewer)
            assert event.visible == "open" or event.reviewer not in seen

    def nobody_learns_anything_of_the_others_before_the_reveal(self):
        for reviewer in NAMES:
            if reviewer in self.review.revealed:
                continue
            own = [event for event in self.review.events if event.reviewer == reviewer]
            alone = [event for event in own if event.kind == "skip"]
            view = self.review.seen_by(reviewer)
            assert [read.reviewer for read in view.reads] in ([], [reviewer])
            assert all(read.panel is None for read in view.reads)
            assert all(event in own for event in view.events)
            assert not view.disputed and view.adjudication is None
            assert view.state in (("read",) if view.reads else ("open", "skipped"))
            if not effective(alone):
                assert view.state != "skipped"


def test_whatever_three_reviewers_do_what_must_hold_of_a_case_holds():
    limits = settings(max_examples=60, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Reviewing, settings=limits)
