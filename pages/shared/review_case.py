"""One case of a session: facts, one's own opinion, then the panel's beside it, and what follows."""

import time

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.review.desk import Desk, new_token
from core.review.faults import ConflictError
from core.review.opinions import Opinion
from core.review.sessions import STANDINGS, Session
from core.review.states import STATES, CaseReview
from core.text import markdown, number, plural, shorten
from pages.shared import case_view, plausibility, review_opinion


def show(desk: Desk, session: Session, dataset: Dataset, model, reliability: float) -> None:
    """The current case with the session's progress, or the list at its end."""
    progress = desk.progress(session)
    chosen = st.session_state.get("review_case")
    case_id = chosen if chosen in {queued.case_id for queued in session.cases} else progress.current
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            progress.share, text=f"{progress.done} of {plural(progress.total, 'case')} · {markdown(session.title)}"
        )
        st.button("Leave the session", type="tertiary", on_click=_leave, key="leave_session")
    if case_id is None:
        _list(desk, session)
        return
    review = desk.case(case_id)
    began = st.session_state.setdefault("review_began", {}).setdefault((session.id, case_id), time.monotonic())
    said = {"session": session.id, "seconds": time.monotonic() - began}
    st.subheader(f"Case {markdown(shorten(case_id, 60))}", anchor=False)
    own = review.read_by(desk.reviewer)
    revealed = desk.reviewer in review.revealed
    if own is None and not revealed and review.state not in ("closed", "adjudicated"):
        _blind(desk, dataset, case_id, review, said, model, reliability)
    else:
        if not revealed:
            _reveal(desk, dataset, case_id, review, said, model, reliability)
            review = desk.case(case_id)
        _open(desk, session, dataset, case_id, review, said, model, reliability)
    _moves(desk, case_id, review, said)


def _blind(desk: Desk, dataset: Dataset, case_id: str, review: CaseReview, said: dict, model, reliability) -> None:
    """Own opinion first. Nothing of the panel is on the page or in what the browser has received."""
    st.caption("Your opinion comes first. The panel's answers are shown once yours is recorded.")
    key = f"{case_id}-{review.version}"
    opinion = review_opinion.ask(dataset, key)
    more = review_opinion.remarks(key)
    if opinion is not None:
        draft = desk.draft(case_id, "opinion", opinion=opinion, **more, **said)
        st.caption(markdown(_follows(desk, draft)))
    st.button(
        "Record my opinion", type="primary", icon=":material/check:", shortcut="Ctrl+Enter", disabled=opinion is None,
        on_click=_send, args=(desk, case_id, "opinion", review.version, {"opinion": opinion, **more, **said}),
        key=f"record-{key}",
    )  # fmt: skip


def _reveal(desk: Desk, dataset: Dataset, case_id: str, review: CaseReview, said: dict, model, reliability) -> None:
    """Record that the panel's answers are about to be shown, and only then show them."""
    case = dataset.case_index(case_id)
    view = plausibility.data_for(model.name, dataset, quietly=True)
    result = case_view.certainty_of_case(view, model, case, reliability)
    top = int(result.top_class()[0])
    panel = Opinion.of_class(view.classes[top]) if top >= 0 else Opinion()
    settings = {
        **model.settings(),
        "reliability": reliability,
        "n_draws": plausibility.N_DRAWS,
        "seed": plausibility.SEED,
    }
    token = st.session_state.setdefault(f"reveal-{case_id}-{review.version}", new_token())
    desk.reveal(
        case_id, panel, model=model.name, settings=settings, seen=review.version, token=token, session=said["session"]
    )


def _open(desk: Desk, session: Session, dataset: Dataset, case_id: str, review, said: dict, model, reliability) -> None:
    """The panel beside one's own opinion: keep or change, a second opinion, arbitration."""
    why = next((queued.why for queued in session.cases if queued.case_id == case_id), "")
    if why:
        st.caption(f"Why it is here: {markdown(why)}")
    own = review.read_by(desk.reviewer)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _panel(dataset, case_id, model, reliability)
    with right:
        st.badge(STATES[review.state], icon=":material/flag:")
        if review.disputed:
            for read in review.reads:
                st.markdown(f"**{markdown(read.reviewer)}**: {markdown(read.opinion.words())}")
                for note in [event.note for event in review.events if event.reviewer == read.reviewer and event.note]:
                    st.caption(markdown(note))
        elif own is not None:
            st.markdown(f"**You said: {markdown(own.opinion.words())}**")
        if review.state == "adjudicated":
            st.markdown(f"**Decided: {markdown(review.adjudication.opinion.words())}**")
        elif review.disputed:
            _arbitrate(desk, dataset, case_id, review, said)
        elif own is not None and not own.settled:
            _settle(desk, dataset, case_id, review, own, said)
        if review.state in ("closed", "adjudicated"):
            _reopen(desk, case_id, review, said)


def _panel(dataset: Dataset, case_id: str, model, reliability: float) -> None:
    case = dataset.case_index(case_id)
    view = plausibility.data_for(model.name, dataset, quietly=True)
    case_view.panel(dataset, view, case, model, reliability)


def _settle(desk: Desk, dataset: Dataset, case_id: str, review: CaseReview, own, said: dict) -> None:
    draft = desk.draft(case_id, "keep", **said)
    st.caption(f"If you keep it: {markdown(_follows(desk, draft))}")
    st.button(
        "Keep my opinion", type="primary", icon=":material/check:", shortcut="K", on_click=_send,
        args=(desk, case_id, "keep", review.version, said), key=f"keep-{case_id}",
    )  # fmt: skip
    with st.expander("Change it"):
        key = f"change-{case_id}-{review.version}"
        opinion = review_opinion.ask(dataset, key, now=own.opinion)
        more = review_opinion.remarks(key)
        if opinion is not None and opinion != own.opinion:
            told = _follows(desk, desk.draft(case_id, "change", opinion=opinion, **more, **said))
            st.caption(markdown(told))
        st.button(
            "Change my opinion", disabled=opinion is None or opinion == own.opinion, on_click=_send,
            args=(desk, case_id, "change", review.version, {"opinion": opinion, **more, **said}), key=f"send-{key}",
        )  # fmt: skip
    with st.expander("Ask a second opinion, or send to arbitration"):
        whom = st.text_input("Whom to ask", key=f"whom-{case_id}", max_chars=200)
        how = st.segmented_control(
            "They read it", ["blind", "open"], default="blind", required=True, key=f"how-{case_id}"
        )
        st.button(
            "Ask", disabled=not whom.strip(), on_click=_send, key=f"ask-{case_id}",
            args=(desk, case_id, "second_opinion", review.version, {"whom": whom.strip(), "whom_visible": how, **said}),
        )  # fmt: skip
        st.button(
            "Send to arbitration", on_click=_send, args=(desk, case_id, "arbitration", review.version, said),
            key=f"refer-{case_id}",
        )  # fmt: skip


def _arbitrate(desk: Desk, dataset: Dataset, case_id: str, review: CaseReview, said: dict) -> None:
    st.markdown("**Arbitration**")
    key = f"arbitrate-{case_id}-{review.version}"
    how = st.segmented_control(
        "It ends with", ["a class or ranking", "a distribution"], default="a class or ranking", required=True,
        key=f"ends-{key}",
    )  # fmt: skip
    opinion = _distribution(dataset, review, key) if how == "a distribution" else review_opinion.ask(dataset, key)
    more = review_opinion.remarks(key)
    st.button(
        "End the arbitration", type="primary", disabled=opinion is None, on_click=_send,
        args=(desk, case_id, "adjudication", review.version, {"opinion": opinion, **more, **said}), key=f"end-{key}",
    )  # fmt: skip


def _distribution(dataset: Dataset, review: CaseReview, key: str) -> Opinion | None:
    named = list(dict.fromkeys(name for read in review.reads for name in read.opinion.classes))
    classes = st.multiselect("Classes", dataset.classes, default=named, key=f"classes-{key}")
    shares = {
        name: st.number_input(markdown(name), 0.0, 1.0, 1.0 / len(classes), 0.05, key=f"share-{name}-{key}")
        for name in classes
    }
    total = sum(shares.values())
    if not total:
        return None
    if abs(total - 1) > 1e-6:
        st.caption(f"They sum to {number(total)} and will be scaled to 1.")
    return Opinion.of_distribution({name: share / total for name, share in shares.items()})


def _reopen(desk: Desk, case_id: str, review: CaseReview, said: dict) -> None:
    with st.expander("Reopen the case"):
        more = review_opinion.remarks(f"reopen-{case_id}-{review.version}")
        st.button(
            "Reopen", on_click=_send, args=(desk, case_id, "reopen", review.version, {**more, **said}),
            key=f"reopen-{case_id}",
        )  # fmt: skip


def _moves(desk: Desk, case_id: str, review: CaseReview, said: dict) -> None:
    """Skip, take back, and on to the next: at the bottom edge of a narrow screen."""
    own = review.read_by(desk.reviewer)
    with st.container(horizontal=True, key="review_moves"):
        if own is None or not own.settled:
            st.button(
                "Skip, for the end", icon=":material/skip_next:", shortcut="S", on_click=_send,
                args=(desk, case_id, "skip", review.version, said), key=f"skip-{case_id}",
            )  # fmt: skip
        if review.version:
            st.button(
                "Take back my last step", icon=":material/undo:", shortcut="U", on_click=_send,
                args=(desk, case_id, "undo", review.version, said), key=f"undo-{case_id}",
            )  # fmt: skip
        st.button("Next", icon=":material/chevron_right:", shortcut="N", on_click=_next, key=f"next-{case_id}")


def _list(desk: Desk, session: Session) -> None:
    st.subheader("The session is through", anchor=False)
    for line in desk.lines(session):
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            own = line.review.read_by(desk.reviewer)
            words = f": {markdown(own.opinion.words())}" if own else ""
            st.markdown(f"**{markdown(line.case_id)}** · {STANDINGS[line.standing]}{words}", width="stretch")
            st.button("Open", key=f"back-{line.case_id}", on_click=_go, args=(line.case_id,))


def _follows(desk: Desk, draft) -> str:
    try:
        return desk.follows(draft)
    except PluralityError as error:
        return str(error)


def _send(desk: Desk, case_id: str, kind: str, seen: int, said: dict) -> None:
    """Record one step; what is not acknowledged is said and nothing on screen is lost."""
    token = st.session_state.setdefault(f"token-{kind}-{case_id}-{seen}", new_token())
    try:
        desk.send(desk.draft(case_id, kind, **said), seen=seen, token=token)
    except ConflictError as error:
        st.session_state["review_error"] = str(error)
        return
    except PluralityError as error:
        st.session_state["review_error"] = str(error)
        return
    st.session_state.pop(f"token-{kind}-{case_id}-{seen}", None)
    if kind in ("opinion", "undo", "reopen"):
        _go(case_id)
    else:
        _next()


def _go(case_id: str) -> None:
    st.session_state["review_case"] = case_id


def _next() -> None:
    st.session_state.pop("review_case", None)


def _leave() -> None:
    _next()
    st.session_state.pop("review_session", None)
