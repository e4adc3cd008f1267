"""Before a review: who reviews, which cases come, and sessions to go on with."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from core.analysis_settings import AnalysisSettings
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.annotations.named_selection import days_of
from core.certainty.next_opinion import next_opinion
from core.certainty.score_trust import score_trust
from core.errors import PluralityError
from core.plausibility.gaussian import GaussianScores
from core.review import worklist
from core.review.events import check_name
from core.review.export import time_of
from core.review.filters import Filter, matching, settled_by_gold
from core.review.reviewer_session import Desk
from core.review.sessions import ARBITRATION, BLIND_FIRST, Queued
from core.review.states import SETTLED, STATES, CaseReview
from core.review.store import ReviewStore
from core.review.waiting import Waiting
from core.text import exact, markdown, percent, plural, shorten, was_or_were
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import access, sign_in, visit
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.cases import correct as case_correct
from pages.shared.kit import expected, job_progress, opening, plausibility_models, predictions, state, widgets
from pages.shared.review import assigned as review_assigned
from pages.shared.review import days as review_days
from pages.shared.review import keys as review_keys
from pages.shared.review import sample

QUEUES = {
    "certainty": "Lowest certainty first",
    "gain": "Largest gain from one more opinion",
    "split": "Panel is split",
    "risk": "High risk and uncertain",
    "classifier": "Classifier disagrees with a confident panel",
    "single": "Only one rater so far",
    "sample": "Random sample, to estimate rates",
}
_OF_SCORES = {"certainty": "Widest interval first"}
_WITHOUT_TRUST = ("split", "single")  # what they say of a case does not depend on γ
SIZES = (5, 10, 20, 30, 50)
MOST_NAMES, MOST_SESSIONS = 6, 5
HOW = f"""
1. **You first read each case blind.** {{how}}, and record your opinion{review_keys.hint("Ctrl+Enter")}.
2. **You then see the panel's annotations.** Keep your opinion{review_keys.hint("K")} or change \
it{review_keys.hint("E")}.
3. **If you disagree**, ask for a second opinion{review_keys.hint("A")} or send the case to \
arbitration{review_keys.hint("G")}.

Every step is recorded, and nothing is overwritten.
"""
_DIGITS = review_keys.hint("keys 1 to 9")
_BY_KIND = {
    "class": f"Choose a class{_DIGITS}",
    "ranking": f"Rank the classes, the most likely first{_DIGITS}",
    "set": f"Set or clear labels{_DIGITS}",
    "score": "Enter a score",
}
_HELD = 24 * 3_600_000_000  # microseconds for which a session that was begun holds its cases


def ask_name(store: ReviewStore, dataset: Dataset) -> None:
    """Ask once for the reviewer's name, with a list if somebody has reviewed these data before."""
    _put_forward()
    st.write("Enter your name to begin. It is recorded with each of your opinions.")
    st.text_input("Your name", key="reviewer_field", max_chars=200, width=360, on_change=_sign)
    known = dict.fromkeys(event.reviewer for event in reversed(store.trail(dataset.digest)))
    if known:
        st.caption("Continue as")
        with st.container(horizontal=True):
            for name in list(known)[:MOST_NAMES]:
                st.button(markdown(shorten(name, 40)), on_click=_sign, args=(name,), key=f"sign-{name}")


def awaits(store: ReviewStore, dataset: Dataset, people: Dataset, model, settings: AnalysisSettings) -> None:
    """Show, before the name is entered, how many cases wait and how a review works."""
    states = Counter(review.state for review in store.cases(dataset.digest).values())
    cards = [column.container(border=True, height="stretch") for column in st.columns(3)]
    with cards[1]:
        st.metric("Awaiting another reviewer", f"{states['second_opinion'] + states['arbitration']:,}")
        st.caption(f"{states['second_opinion']:,} awaiting a second opinion, {states['arbitration']:,} in arbitration")
    with cards[2]:
        settled = sum(states[one] for one in SETTLED)
        st.metric("Settled", f"{settled:,}")
        st.caption(f"{states['read']:,} more started")
    with st.container(key="review_how"):
        st.markdown(HOW.format(how=_BY_KIND[people.kind]))
    with cards[0]:
        if people.traits.needs_split:
            st.metric("Cases", f"{people.n_cases:,}")
            st.caption(f"{plural(people.n_annotations, 'annotation')}, which reviews do not change")
            return
        if settings.reliability_open:
            st.metric("Uncertain cases", "–")
            st.caption(opening.CHOOSING)
            return
        view, reliability = plausibility_models.data_for(model.name, people, quietly=True), settings.reliability
        found = plausibility_models.case_certainty(view, model, reliability)
        if found is not None:
            shares = found.shares
            st.metric("Uncertain cases", "–" if shares.why_none else f"{shares.n_uncertain:,}")
            told = f"certainty below {percent(UNCERTAIN_BELOW)} at γ = {exact(reliability)}"
            single = plural(int(shares.single.sum()), "case has", "cases have")
            one = f". {single} only one annotation." if shares.single.any() else ""
            of = f"of {plural(view.n_cases, 'case')} ({told}){one}"
            st.caption(f"{shares.why_none} at γ = {exact(reliability)}. {shares.beside}" if shares.why_none else of)


def named(name: str) -> None:
    """Show the reviewer's name in one line, with a button to change it; the focus goes to the first step."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"You review as **{markdown(shorten(name, 60))}**", width="content")
        if not sign_in.is_on():
            st.button("Switch reviewer", type="tertiary", on_click=visit.drop, args=("reviewer",), key="sign_off")
    if not sign_in.is_on():
        review_keys.lead_on()


def _sign(name: str | None = None) -> None:
    """Names are compared letter for letter: blanks are made one."""
    if sign_in.is_on():  # the name comes from the sign-in alone
        return
    name = " ".join((name or visit.text["reviewer_field"]).split())
    with visit.error_in("review_error"):
        check_name(name, "reviewer")
        visit.reviewer = name


def begin(desk: Desk, dataset: Dataset, model, reliability: float) -> None:
    """Draw the tasks of this reviewer, sessions to continue, and a new one."""
    reviews = desk.store.cases(dataset.digest)
    _given(desk)
    _asked(desk, reviews)
    _proposed(desk, dataset)
    _earlier(desk)
    widgets.heading("A new session", "review queue")
    left, right = st.columns([4, 2], vertical_alignment="bottom", gap="medium")
    people = state.people_of(dataset)  # machines rank no cases
    offered = _offered(people)
    queues = QUEUES | (_OF_SCORES if isinstance(model, GaussianScores) and model.threshold is None else {})
    name = left.selectbox("Case order", offered, format_func=queues.get, key="queue", persist_state="session")
    if name == "sample":
        size, queue = dataset.n_cases, sample.queue(right, dataset, people, model, reliability)
        title = "" if queue is None else queue.name
    else:
        size = right.segmented_control(
            "How many", SIZES, default=10, required=True, key="session_size", persist_state="session"
        )
        found = _queue(name, people, model, reliability)
        queue = None if found is None else worklist.among_all(found, people, dataset)
        if queue is not None and name not in _WITHOUT_TRUST:
            queue = worklist.at_reliability(queue, reliability, plausibility_models.method(model.name).title)
        title = (
            QUEUES[name] if name != "certainty" or queue is None or dataset.kind != "score" else queue.name.capitalize()
        )
    wanted = None if name == "sample" else _filter(dataset)  # a sample is of all cases, whoever has read them
    if queue is None:
        return
    try:
        among = _among(desk, dataset, wanted, reviews)
        known = _with_gold(desk, dataset, wanted, reviews, queue)
        elsewhere = _elsewhere(desk)
        cases = queue.batch(dataset, size, among, elsewhere)
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    if not cases:
        st.info(f"No case is left in this queue for you.{markdown(known)}", icon=":material/done_all:")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Start with {plural(len(cases), 'case')}", type="primary", icon=":material/play_arrow:",
            on_click=_start_queue, args=(desk, title, queue, size, wanted), key="start_session",
        )  # fmt: skip
        listed = (
            f"{plural(int(among[queue.case].sum()), 'case')} in this queue.{known} The reason for each case appears "
            "after you give your opinion."
        )
        if name == "sample":
            listed = (
                f"Drawn at random from {plural(dataset.n_cases, 'case')}. Plurality records each case's chance of "
                "being drawn."
            )
        st.caption(f"{listed}{_shared(cases, elsewhere)}", width="content")
        review_assigned.form(desk, title, _for_others(queue, dataset, wanted, reviews, size), "queue")


def _for_others(
    queue: worklist.Queue, dataset: Dataset, wanted: Filter | None, reviews: Mapping[str, CaseReview], size: int
) -> list[Queued]:
    """Return the first cases of a queue for somebody else, including those that this reviewer has read."""
    return queue.batch(dataset, size, None if wanted is None else matching(dataset, wanted, reviews))


def _given(desk: Desk) -> None:
    """Draw the cases that others assigned to this reviewer, with buttons to begin or continue."""
    for place, one in enumerate(review_assigned.waits(desk)):
        if one.kind == "second_opinion":  # has its own line
            continue
        begun = review_assigned.resumable(desk, one)
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(review_assigned.words(one), width="stretch")
            st.button(
                "Continue" if begun else "Start", type="primary" if place == 0 else "secondary",
                key=f"assigned-{one.at}-{place}", on_click=_take, args=(desk, one, begun),
            )  # fmt: skip


def _take(desk: Desk, one: Waiting, begun: str | None) -> None:
    if begun is None:
        _start(desk, one.title, one.left)
    else:
        visit.review_session = begun


def _elsewhere(desk: Desk) -> list[str]:
    reviews = desk.store.cases(desk.dataset.digest)
    return desk.in_hand_elsewhere(reviews, time.time_ns() // 1000 - _HELD)


def _among(desk: Desk, dataset: Dataset, wanted: Filter | None, reviews: Mapping[str, CaseReview]) -> np.ndarray:
    """Return the cases that the filter leaves to this reviewer; all for a random sample, which has no filter."""
    if wanted is None:
        return np.ones(dataset.n_cases, bool)
    return matching(dataset, wanted, reviews) & ~_through(desk, dataset, reviews)


def _with_gold(
    desk: Desk, dataset: Dataset, wanted: Filter | None, reviews: Mapping[str, CaseReview], queue: worklist.Queue
) -> str:
    """Return in a sentence how many cases of the queue are left out because they have gold; empty if none."""
    if wanted is None or not wanted.without_gold:
        return ""
    left_out = _among(desk, dataset, replace(wanted, without_gold=False), reviews) & settled_by_gold(dataset)
    n = int(left_out[queue.case].sum())
    return f" {plural(n, 'case')} with gold {was_or_were(n)} left out (see “Filter cases”)." if n else ""


def _start_queue(desk: Desk, title: str, queue: worklist.Queue, size: int, wanted: Filter | None) -> None:
    """Begin with cases that are open and in nobody else's session now; the page may have been drawn before."""
    among = _among(desk, desk.dataset, wanted, desk.store.cases(desk.dataset.digest))
    _start(desk, title, queue.batch(desk.dataset, size, among, _elsewhere(desk)))


def _shared(cases: list[Queued], elsewhere: list[str]) -> str:
    held = {queued.case_id for queued in cases} & set(elsewhere)
    if not held:
        return ""
    some = f"{len(held):,} of the cases {'is' if len(held) == 1 else 'are'}"
    which = "The case is" if len(cases) == 1 else "All cases are" if len(held) == len(cases) else some
    last = " and comes last" if len(held) == 1 else " and come last"
    order = "" if len(cases) == 1 else " and appear in reverse order" if len(held) == len(cases) else last
    return f" {which} also in another reviewer's session{order}."


def _through(desk: Desk, dataset: Dataset, reviews: Mapping[str, CaseReview]) -> np.ndarray:
    """Cases on which this reviewer has an opinion in this round: they need not come again."""
    return np.array(
        [case_id in reviews and reviews[case_id].read_by(desk.reviewer) is not None for case_id in dataset.cases]
    )


def _asked(desk: Desk, reviews: Mapping[str, CaseReview]) -> None:
    """Draw requests to this reviewer for second opinions, and unresolved disputes."""
    asked = desk.asked()
    disputed = [review for review in reviews.values() if review.state == "arbitration"]
    if asked:
        queued = [Queued(case_id, f"{how} second opinion") for case_id, how in asked.items()]
        words = f"You have been asked for a second opinion on {plural(len(asked), 'case')}."
        _waits(words, desk, queued, {"Give opinion": "Second opinions"})
    for party in (False, True):
        queued = [
            Queued(review.case_id, "in arbitration")
            for review in disputed
            if (review.read_by(desk.reviewer) is not None) == party
        ]
        if queued and party:
            words = (
                f"You have given an opinion on {plural(len(queued), 'case')} in arbitration. If possible, let "
                "others decide."
            )
            _waits(words, desk, queued, {"Decide anyway": ARBITRATION}, "secondary")
        elif queued:
            words = f"{plural(len(queued), 'case is', 'cases are')} in arbitration without your opinion."
            blind = f"Review {'it' if len(queued) == 1 else 'them'} blind first"
            _waits(words, desk, queued, {"Decide": ARBITRATION, blind: BLIND_FIRST})
    review_assigned.form(desk, ARBITRATION, [Queued(one.case_id, "in arbitration") for one in disputed], "disputed")


def _put_forward() -> None:
    """Show cases that another page sent here, for a user who has not entered a name yet."""
    data, title, cases = visit.review_proposed
    said = ""
    if cases and data == visit.data:
        them = "it" if len(cases) == 1 else "them"
        said = f"{plural(len(cases), 'case')}: {markdown(title)}. Enter your name to review {them} first."
    elif visit.choice["queue"] == "sample":
        said = "Enter your name to draw the random sample."
    if said:
        st.info(said, icon=":material/rate_review:")


def _proposed(desk: Desk, dataset: Dataset) -> None:
    """Cases that another page has put forward."""
    data, title, cases = visit.review_proposed
    if data != visit.data:
        return
    known = set(dataset.cases)
    queued = [Queued(case_id, title) for case_id in cases if case_id in known]
    if queued:
        way = f"Start with {'this' if len(queued) == 1 else 'these'}"
        _waits(f"{plural(len(queued), 'case')}: {markdown(title)}.", desk, queued, {way: title})


def _waits(words: str, desk: Desk, queued: list[Queued], ways: dict[str, str], first: str = "primary") -> None:
    """Cases that wait, with a button for each kind of session in which they can be taken."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{words}**", width="stretch")
        for label, title in ways.items():
            kind = first if label == next(iter(ways)) else "secondary"
            st.button(label, type=kind, key=f"start_{label}", on_click=_start, args=(desk, title, queued))


def kept_for_it() -> None:
    """Show that starting a review has saved the data, with a button to undo it."""
    digest = visit.kept_for_review
    if digest is None or digest != visit.data:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("These data are now saved on this computer together with their reviews.",
                   width="content")  # fmt: skip
        st.button("Undo", type="tertiary", on_click=_keep_no_more, args=(digest,), key="undo_keep")


def _keep_no_more(digest: str) -> None:
    del visit.kept_for_review
    cached.keep_no_more(digest)


def _start(desk: Desk, title: str, cases) -> None:
    with visit.error_in("review_error"):
        if not cached.is_lasting(visit.data) and access.may_change(visit.data):
            cached.keep(cached.open_dataset(visit.data))
            visit.kept_for_review = desk.dataset.digest
        visit.review_session = desk.start(title, cases).id


def _earlier(desk: Desk) -> None:
    sessions = desk.sessions()
    if not sessions:
        return
    widgets.heading("Your sessions")
    for session in sessions[:MOST_SESSIONS]:
        progress = desk.progress(session)
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(
                f"**{markdown(session.title)}** · {progress.done} of {plural(progress.total, 'case')} done · "
                f"started {time_of(session.at)[:16].replace('T', ' ')} UTC",
                width="stretch",
            )
            word = "Continue" if progress.current else "See the list"
            st.button(
                word, key=f"resume-{session.id}", on_click=visit.set, kwargs={"review_session": session.id},
                type="primary" if progress.current and session is sessions[0] else "secondary",
            )  # fmt: skip


def _offered(dataset: Dataset) -> list[str]:
    if dataset.traits.needs_split:  # the other queues are of one class a case
        single = ["single"] if (np.diff(dataset.case_ptr) == 1).any() else []
        return ["certainty", *single, "sample"]
    names = ["certainty", "gain", "split"]
    if dataset.class_risk is not None and (dataset.class_risk >= 0).all():
        names.append("risk")
    if predictions.classifiers(dataset):
        names.append("classifier")
    if (np.diff(dataset.case_ptr) == 1).any():
        names.append("single")
    return [*names, "sample"]


def _filter(dataset: Dataset) -> Filter:
    with st.expander("Filter cases"):
        named = None
        if dataset.classes:
            named = st.selectbox("Class that a rater chose", [None, *dataset.classes], key="filter_class",
                                 format_func=lambda name: "any" if name is None else name)  # fmt: skip
        rater = pair = None
        if dataset.raters_identified:
            rater = st.selectbox("Rater who annotated the case", [None, *dataset.raters], key="filter_rater",
                                 format_func=lambda name: "any" if name is None else name)  # fmt: skip
            both = st.multiselect(
                "Two raters who disagree on the case",
                dataset.raters,
                default=_pair(dataset),
                max_selections=2,
                key="filter_pair",
            )
            pair = tuple(both) if len(both) == 2 else None
        states = st.multiselect(
            "States (none chosen: all open cases)", list(STATES), format_func=STATES.get,
            key="filter_states",
        )  # fmt: skip
        since, until = _dates(dataset)
        n_known = int(settled_by_gold(dataset).sum())
        gold = n_known > 0 and st.toggle(f"Include {plural(n_known, 'case')} with gold", key="filter_gold")
        st.caption("If you filter by class or rater, you know something about the annotations before you review.")
    return Filter(
        named=named, rater=rater, pair=pair, since=since, until=until, states=tuple(states) or None,
        without_gold=not gold,
    )  # fmt: skip


def _dates(dataset: Dataset) -> tuple[int | None, int | None]:
    """Days between which an annotation was given, as seconds; none where the data have no times."""
    span = days_of(dataset)
    if span is None:
        return None, None
    return review_days.asked(
        "Annotated between these days", f"filter_days-{dataset.digest}", min_value=span[0], max_value=span[1]
    )


def _pair(dataset: Dataset) -> list[str]:
    """Return the two raters chosen last in the agreement matrix."""
    pair = visit.choices["pair"]
    return list(pair) if all(name in dataset.raters for name in pair) else []


def _queue(name: str, dataset: Dataset, model, reliability: float) -> worklist.Queue | None:
    if isinstance(model, GaussianScores):
        trust = score_trust(dataset, model, [reliability])
        return worklist.least_known(trust) if name == "certainty" else worklist.single_rater(dataset, -trust.width[0])
    if dataset.kind == "set":
        whole = cached_cases.label_sets(dataset, model, reliability).whole
        return worklist.lowest_certainty(whole) if name == "certainty" else worklist.single_rater(dataset, whole)
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    if name == "split":
        return worklist.split_panel(class_counts(cached.class_view(dataset, None)[0]), dataset.classes)
    if name == "gain":
        found = job_progress.result_of(
            plausibility_models.job_key(view, model, "next opinion", reliability),
            "Gain from one more opinion",
            lambda job: cached.run(
                job, next_opinion, view.coded, model, view.coded, reliability=reliability,
                n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED,
                seconds=expected.of_draws(view, model, 2),
            ),
            of=view,
        )  # fmt: skip
        return None if found is None else worklist.largest_gain(found)
    found = plausibility_models.case_certainty(view, model, reliability)
    if found is None:
        return None
    certainty = found.certainty.certainty[:, 0]
    if name == "certainty":
        correct = case_correct.known(dataset)
        p = None if correct is None else correct.of(found.certainty.top_class())
        return worklist.lowest_certainty(certainty, found.shares, found.more, p)
    if name == "single":
        return worklist.single_rater(dataset, certainty)
    if name == "risk":
        return worklist.risk_times_uncertainty(certainty, found.risk.expected)
    classifiers = {one.name: one for one in predictions.classifiers(dataset)}
    which = st.selectbox("Classifier", list(classifiers), key="queue_classifier")
    return worklist.classifier_against_panel(
        certainty, found.certainty.top_class(), classifiers[which], dataset.classes,
        n_readers=2 - found.shares.single - 2 * found.shares.empty,
    )  # fmt: skip
