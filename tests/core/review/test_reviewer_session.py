"""A whole session as a page drives it: order, progress, skipping, going back, two reviewers at once."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, NotFoundError
from core.review.opinions import UNDETERMINED, Opinion
from core.review.review_errors import ConflictError, NotAllowedError
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import ARBITRATION, Queued, still_to_read
from core.review.states import STATES

X, Y = Opinion.of_class("x"), Opinion.of_class("y")
CASES = ["case 3", "case 0", "case 4"]


class Page:
    """Sends what a reviewer does, with a fresh token and the version that was last shown."""

    def __init__(self, store, dataset, reviewer):
        self.desk = Desk(store, dataset, reviewer)
        self.session = None

    def start(self, cases=CASES, title="lowest certainty"):
        self.session = self.desk.start(title, [Queued(case, f"why {case}") for case in cases])

    def do(self, kind, case, *, seen=None, token=None, **said):
        seen = self.desk.case(case).version if seen is None else seen
        session = {"session": self.session.id} if self.session else {}
        return self.desk.send(self.desk.draft(case, kind, **session, **said), seen=seen, token=token or new_token())

    def review(self, case, opinion=X, panel=X):
        self.do("opinion", case, opinion=opinion, confidence=0.9, seconds=20.0)
        self.do("reveal", case, panel=panel, model="dirichlet", settings={"reliability": 1.0})
        return self.do("keep", case)

    @property
    def progress(self):
        return self.desk.progress(self.session)

    @property
    def list(self):
        return [(line.case_id, line.standing) for line in self.desk.lines(self.session)]


@pytest.fixture
def page(store, dataset):
    def make(reviewer):
        return Page(store, dataset, reviewer)

    return make


def test_a_session_runs_from_its_first_case_to_its_end(page):
    ann = page("Ann")
    ann.start()
    for number, case in enumerate(CASES):
        assert (ann.progress.done, ann.progress.total, ann.progress.current) == (number, 3, case)
        ann.review(case)
    assert (ann.progress.current, ann.progress.share) == (None, 1.0)
    assert ann.list == [(case, "done") for case in CASES]
    assert [line.why for line in ann.desk.lines(ann.session)] == [f"why {case}" for case in CASES]
    assert ann.desk.sessions() == [ann.session]


def test_a_case_that_is_begun_stays_the_current_one(page):
    ann = page("Ann")
    ann.start()
    ann.do("opinion", "case 3", opinion=Y)
    assert (ann.progress.current, ann.list[0]) == ("case 3", ("case 3", "begun"))
    ann.do("reveal", "case 3", panel=X, model="m", settings={})
    assert ann.progress.current == "case 3"
    ann.do("change", "case 3", opinion=X, reason="rater_error")
    assert ann.progress.current == "case 0"


def test_skipped_cases_come_back_at_the_end_in_the_order_of_skipping(page):
    ann = page("Ann")
    ann.start()
    ann.do("skip", "case 3")
    ann.do("skip", "case 0")
    assert (ann.progress.current, ann.progress.skipped) == ("case 4", 2)
    ann.review("case 4")
    assert ann.progress.current == "case 3"
    ann.do("skip", "case 3")
    assert ann.progress.current == "case 0"
    ann.review("case 0")
    ann.review("case 3")
    assert ann.progress.current is None
    assert ann.list == [(case, "done") for case in CASES]


def test_one_can_go_back_and_undo(page):
    ann = page("Ann")
    ann.start()
    ann.review("case 3", Y)
    assert ann.progress.current == "case 0"
    ann.do("undo", "case 3")
    assert ann.progress.current == "case 3"
    ann.do("change", "case 3", opinion=X, note="looked again")
    ann.do("skip", "case 0")
    ann.do("undo", "case 0")
    assert ann.progress.current == "case 0"


def test_what_others_have_settled_is_not_asked_again_but_stands_in_the_list(page):
    ann, bob = page("Ann"), page("Bob")
    ann.start()
    bob.start()
    bob.review("case 3")
    assert ann.progress.current == "case 0"
    assert ann.list[0] == ("case 3", "elsewhere")
    assert ann.progress.done == 1


def test_two_sessions_on_the_same_case_neither_lose_nor_double(page):
    ann, bob = page("Ann"), page("Bob")
    ann.start()
    bob.start()
    seen = ann.desk.case("case 3").version
    bob.do("opinion", "case 3", opinion=Y)
    token = new_token()
    with pytest.raises(ConflictError):
        ann.do("opinion", "case 3", opinion=X, seen=seen, token=token)
    now = ann.desk.case("case 3")
    assert (now.version, now.reads, now.state) == (1, (), "open")
    ann.do("opinion", "case 3", opinion=X, seen=now.version, token=token)
    reads = ann.desk.store.case(ann.desk.dataset.digest, "case 3").reads
    assert [(read.reviewer, read.opinion, read.visible) for read in reads] == [("Bob", Y, "blind"), ("Ann", X, "blind")]


def test_a_second_opinion_reaches_the_one_who_is_asked(page):
    ann, bob = page("Ann"), page("Bob")
    ann.do("opinion", "case 1", opinion=Y)
    assert bob.desk.asked() == {}
    ann.do("second_opinion", "case 1", whom="Bob", whom_visible="blind")
    assert bob.desk.asked() == {"case 1": "blind"}
    assert ann.desk.asked() == {}
    bob.start(["case 1"])
    bob.review("case 1", X)
    assert bob.desk.asked() == {}
    assert bob.desk.case("case 1").state == "arbitration"


def test_arbitration_shows_all_opinions_and_ends(page):
    ann, cem = page("Ann"), page("Cem")
    ann.review("case 1", Y)
    assert cem.desk.case("case 1").reads == ()
    cem.do("reveal", "case 1", panel=X, model="m", settings={})
    assert [read.opinion for read in cem.desk.case("case 1").reads] == [Y]
    cem.do("adjudication", "case 1", opinion=UNDETERMINED, note="no second image")
    assert cem.desk.case("case 1").state == "adjudicated"
    cem.do("reopen", "case 1", note="an image has come")
    assert cem.desk.store.case(cem.desk.dataset.digest, "case 1").state == "open"


def test_a_case_in_a_session_of_arbitration_is_done_when_it_is_decided_not_when_it_is_read(page):
    ann, cem = page("Ann"), page("Cem")
    ann.review("case 1", Y)
    assert ann.desk.disputed("case 1") and not ann.desk.disputed("case 2")
    for who in (ann, cem):  # the party herself may have to decide
        who.start(["case 1"], ARBITRATION)
        assert who.list == [("case 1", "left")]
    cem.do("opinion", "case 1", opinion=X)
    cem.do("reveal", "case 1", panel=X, model="m", settings={})
    cem.do("keep", "case 1")
    assert cem.list == [("case 1", "begun")]
    cem.do("adjudication", "case 1", opinion=X)
    assert cem.list == [("case 1", "done")]
    cem.do("undo", "case 1")
    assert cem.list == [("case 1", "begun")]


def test_a_case_is_not_done_after_its_reviewer_reopened_it_until_it_is_read_again(page):
    ann, bob = page("Ann"), page("Bob")
    ann.start(["case 1", "case 2"])
    ann.review("case 1", X)
    ann.do("reopen", "case 1", note="look again")
    assert ann.list == [("case 1", "begun"), ("case 2", "left")]
    ann.do("opinion", "case 1", opinion=X)
    assert ann.desk.case("case 1").reads[0].visible == "open"
    assert "blind" not in STATES[ann.desk.case("case 1").state]
    ann.do("reveal", "case 1", panel=X, model="m", settings={})
    ann.do("keep", "case 1")
    assert ann.list == [("case 1", "done"), ("case 2", "left")]
    ann.do("reopen", "case 1", note="once more")
    bob.review("case 1", X)
    assert ann.list == [("case 1", "elsewhere"), ("case 2", "left")]


def test_the_time_of_a_case_is_the_median_of_what_is_done_in_the_session(page):
    ann, bob = page("Ann"), page("Bob")
    ann.start([*CASES, "case 1"])
    bob.review("case 0")
    ann.review("case 3")
    ann.review("case 4")
    ann.do("opinion", "case 0", opinion=X, seconds=900.0)
    assert ann.desk.seconds_per_case(ann.session, ann.desk.lines(ann.session)) is None, "two cases are too few"
    ann.do("reveal", "case 0", panel=X, model="m", settings={})
    ann.do("keep", "case 0", seconds=60.0)
    assert ann.desk.seconds_per_case(ann.session, ann.desk.lines(ann.session)) == 20.0
    ann.do("opinion", "case 1", opinion=X, seconds=100.0)
    ann.do("reveal", "case 1", panel=X, model="m", settings={})
    ann.do("keep", "case 1")
    assert ann.desk.seconds_per_case(ann.session, ann.desk.lines(ann.session)) == 60.0


def test_what_others_have_still_to_read_comes_last_and_in_the_opposite_order(page):
    ann, bob = page("Ann"), page("Bob")
    ann.start(["case 0", "case 1", "case 2"])
    ann.review("case 0")
    reviews = ann.desk.store.cases(ann.desk.dataset.digest)
    assert bob.desk.in_hand_elsewhere(reviews) == ["case 2", "case 1"] == still_to_read([ann.session], reviews)
    assert ann.desk.in_hand_elsewhere(reviews) == []
    assert bob.desk.in_hand_elsewhere(reviews, since=ann.session.at + 1) == []


def test_a_case_may_be_referred_though_all_agree(page):
    ann = page("Ann")
    ann.review("case 0")
    ann.do("arbitration", "case 0", reason="truly_ambiguous")
    assert ann.desk.case("case 0").state == "arbitration"


def test_the_consequence_can_be_asked_for_without_sending(page):
    ann = page("Ann")
    ann.do("opinion", "case 0", opinion=X)
    ann.do("reveal", "case 0", panel=X, model="m", settings={})
    assert "closed" in ann.desk.follows(ann.desk.draft("case 0", "keep"))
    assert ann.desk.case("case 0").state == "read"
    with pytest.raises(NotAllowedError):
        ann.desk.follows(ann.desk.draft("case 0", "adjudication", opinion=X))


def test_only_cases_and_classes_of_the_data_are_taken(page):
    ann = page("Ann")
    with pytest.raises(NotFoundError):
        ann.start(["case 3", "no case"])
    with pytest.raises(NotFoundError):
        ann.do("opinion", "no case", opinion=X)
    with pytest.raises(InputError, match="not in the list"):
        ann.do("opinion", "case 0", opinion=Opinion.of_class("w"))
    with pytest.raises(InputError, match="not in the list"):
        ann.do("opinion", "case 0", opinion=Opinion.of_ranking([["x"], ["y", "w"]]))
    assert ann.desk.case("case 0").version == 0


def test_scores_take_scores_and_no_class(store):
    scores = Dataset.from_scores("s", ["1"], ["ann"], np.zeros(1, int), np.zeros(1, int), np.ones(1))
    desk = Desk(store, scores, "Ann")
    with pytest.raises(InputError, match="these annotations are scores"):
        desk.send(desk.draft("1", "opinion", opinion=Opinion.of_class("x")), seen=0, token="a")
    desk.send(desk.draft("1", "opinion", opinion=Opinion.of_score(2.5)), seen=0, token="b")
    assert desk.case("1").reads[0].opinion.words() == "2.5"


def test_classes_take_no_score(store):
    classes = Dataset.from_classes("s", ["1"], ["ann"], ["x"], np.zeros(1, int), np.zeros(1, int), np.zeros(1, int))
    desk = Desk(store, classes, "Ann")
    with pytest.raises(InputError, match="these annotations are single classes"):
        desk.send(desk.draft("1", "opinion", opinion=Opinion.of_score(2.5)), seen=0, token="a")
