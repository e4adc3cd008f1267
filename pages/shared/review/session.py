"""A session on screen: progress, one case, the bar of steps at the bottom edge, and the list."""

from collections import Counter
from dataclasses import dataclass

import streamlit as st

from core.annotations.dataset import Dataset
from core.plausibility.protocol import PlausibilityModel
from core.review.reviewer_session import Desk
from core.review.sessions import STANDINGS, Session, SessionLine, SessionProgress, progress_of
from core.review.states import STATES
from core.text import duration, markdown, plural, shorten
from pages.shared.cache import sign_in, visit
from pages.shared.kit import widgets
from pages.shared.review import case as review_case
from pages.shared.review import drafts
from pages.shared.review import keys as review_keys
from pages.shared.review import moves as review_moves
from pages.shared.review import opinion as review_opinion
from pages.shared.review.moves import Action, CaseOnScreen
from pages.shared.review.presses import noted

# The bar: no gap to the edge, and on a narrow screen buttons as wide as the thumb needs and no room for key names.
_STYLE = (
    f"<style>{review_keys.STYLE}</style>"
    + """
<style>
[data-testid="stBottomBlockContainer"] { padding: 0.6rem 2.6rem 0.8rem; max-width: 1560px; }
[data-testid="stBottom"] > div { border-top: 1px solid rgba(128,140,140,.35); }
.st-key-review_bar { gap: 0.4rem; }
.st-key-review_bar > [data-testid="stLayoutWrapper"]:has(> .st-key-review_keys) { width: 100%; }
.st-key-review_main > [data-testid="stElementContainer"]:has(button) { flex-shrink: 0; }
[class*="st-key-classes-"] { gap: 0.45rem; }
.st-key-review_blind [data-testid="stVerticalBlock"], .st-key-review_open [data-testid="stVerticalBlock"],
.st-key-review_alone { gap: 0.5rem; }
@media (min-width: 641px) {
  .st-key-review_blind [data-testid="stColumn"]:last-child, .st-key-review_open [data-testid="stColumn"]:last-child {
    position: sticky; top: 0.5rem; align-self: flex-start; }
  .st-key-review_blind .st-key-case_facts [data-testid="stFullScreenFrame"]:not(:has([aria-label="Close fullscreen"]))
    img { max-height: calc(100vh - 21rem); }
  .st-key-review_blind .case-text { max-height: calc(100vh - 21rem); }
  .stMainBlockContainer:has(.st-key-review_blind, .st-key-review_open, .st-key-review_alone) { padding-top: 1.2rem; }
}
.stMainBlockContainer:has(.st-key-review_blind, .st-key-review_open, .st-key-review_alone) .st-key-data_bar {
  display: none; }
@media (max-width: 640px) {
  .st-key-review_keys { flex-wrap: wrap; gap: 0.4rem; }
  .st-key-review_keys > * { flex: 1 0 100% !important; }
  .st-key-review_open > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
    flex-direction: column-reverse; }
  [data-testid="stBottomBlockContainer"] { padding: 0.4rem 1rem 0.6rem; }
  .st-key-review_main, .st-key-review_main .stButton, .st-key-review_main button { width: 100%; }
  .st-key-review_steps button { padding-left: 0.6rem; padding-right: 0.6rem; }
  .st-key-review_steps button span:has(> [data-testid="stIconMaterial"]) { display: none; }
  .st-key-review_main > [data-testid="stElementContainer"]:has(button) {
    flex: 1 0 100% !important; width: 100% !important; max-width: 100% !important; }
}
</style>
"""
)
TABS = "review_tabs"
WARNED_SECONDS = 120
_SHORTCUTS = {
    "X": "Cannot be determined",
    "W": "Write a note",
    "Ctrl+Enter": "Record the opinion, or press the main button at the bottom",
    "K, E": "Keep or change your opinion",
    "A, G": "Ask for a second opinion, send to arbitration",
    "O": "Reopen the case",
    "P, N, S": "Previous case, next case, skip",
    "U": "Undo",
    "L": "All cases",
    "Esc": "Leave a field",
    "?": "These keys",
}
_ENDS = """<style>
@keyframes session-ends {to {visibility: visible}}
.session-ends {
  visibility: hidden; animation: session-ends 0s DELAYs forwards; position: fixed; z-index: 1000; top: 4rem;
  left: 50%; transform: translateX(-50%); width: max-content; max-width: 90vw; padding: 0.6rem 1rem;
  border-radius: 0.4rem; background: #FEF3C7; color: #1B2626; border: 1px solid #B45309;
}
</style>
<div class="session-ends" role="status">Your session ends in two minutes. Record your opinion now. A note is saved
when you leave its field, and is on this case again after you sign in.</div>"""
_MAIN = {
    "opinion": ("Record my opinion", "check", "Ctrl+Enter"),
    "keep": ("Keep my opinion", "check", "K"),
    "change": ("Change my opinion", "edit", "Ctrl+Enter"),
    "second_opinion": ("Request a second opinion", "group_add", "Ctrl+Enter"),
    "arbitration": ("Send to arbitration", "gavel", "Ctrl+Enter"),
    "adjudication": ("End the arbitration", "gavel", "Ctrl+Enter"),
    "reopen": ("Reopen the case", "restart_alt", "Ctrl+Enter"),
}


def _shortcuts(dataset: Dataset) -> dict[str, str]:
    """Return the keys of a review of these data, with what each does."""
    if dataset.kind == "score":
        return {"/": "Enter a score"} | _SHORTCUTS
    keys = {"1 to 9, 0": "Choose a label" if dataset.kind == "set" else "Choose a class"}
    if dataset.n_classes > review_opinion.MOST_BUTTONS:
        keys["/"] = "Find a class"
    if dataset.kind == "ranking" or (dataset.kind == "class" and dataset.n_classes > 2):
        keys["Backspace, T"] = "Remove the last class, tie the last two"
    return keys | _SHORTCUTS


def style() -> None:
    """Styles of the Review page."""
    st.html(_STYLE)


def warn_before_end() -> None:
    """Draw a warning two minutes before the user's sign-in ends, by the browser's clock.

    It needs no run of the page, because that would count as use; each run resets the clock.
    """
    if (left := sign_in.seconds_left()) is not None:
        st.html(_ENDS.replace("DELAY", str(max(0, round(left) - WARNED_SECONDS))))


@dataclass(frozen=True, slots=True)
class SessionOnScreen:
    """State of a reviewer's session when the page was drawn; at the list if there is no ``case_id``."""

    desk: Desk
    session: Session
    lines: tuple[SessionLine, ...]
    case_id: str | None

    @property
    def progress(self) -> SessionProgress:
        """How far it is."""
        return progress_of(self.lines)


def begin(desk: Desk, session: Session) -> SessionOnScreen:
    """Draw the heading of the current case, or of the list, at once, so that no other one appears between two cases."""
    lines = desk.lines(session)
    progress = progress_of(lines)
    chosen = visit.review_case
    places = {queued.case_id: place for place, queued in enumerate(session.cases)}  # of lines, a skipped one moves
    case_id = chosen if chosen in places else progress.current
    if case_id is None or visit.review_list:
        st.title("Session complete" if progress.current is None else plural(len(lines), "case"))
        return SessionOnScreen(desk, session, lines, None)
    review_keys.heading(f"Case {markdown(shorten(case_id, 60))}", places[case_id])
    return SessionOnScreen(desk, session, lines, case_id)


def show(begun: SessionOnScreen, model: PlausibilityModel, reliability: float) -> None:
    """Draw the current case, or the list of the session."""
    desk, session, lines, case_id = begun.desk, begun.session, begun.lines, begun.case_id
    _progress(desk, session, lines, listed=case_id is None)
    if case_id is None:
        _list(desk, lines, begun.progress)
        return
    # What another window does with the case is shown on it: no other case comes without a step here.
    visit.review_case = case_id
    current = CaseOnScreen(desk, session, case_id, desk.case(case_id))
    visit.review_in_hand = current.place
    drafts.take_up(current.place)
    if words := review_moves.last(current):
        st.caption(f":material/check: {markdown(words)}")
    current = review_case.settle(current, model, reliability)
    review_moves.start_clock(current)
    standing = next(line.standing for line in lines if line.case_id == case_id)
    review_case.show(current, standing, model, reliability, lambda step: _bar(current, lines, step))
    drafts.keep(current.place)


def _progress(desk: Desk, session: Session, lines: tuple[SessionLine, ...], *, listed: bool) -> None:
    """Show the reviewer, the queue, the progress, the cases left, and the time per case."""
    progress = progress_of(lines)
    with st.container(horizontal=True, vertical_alignment="center"):
        parts = [markdown(shorten(desk.reviewer, 40)), f"{progress.done} of {progress.total} cases done"]
        parts += [f"{progress.skipped} skipped"] if progress.skipped else []
        parts += [f"{progress.total - progress.done} left"] if progress.done < progress.total else []
        if (pace := desk.seconds_per_case(session, lines)) is not None:
            parts.append(f"{duration(pace)} per case")
        parts.append(markdown(session.title))
        st.progress(progress.share, text=" · ".join(parts))
        if not listed:
            st.button(
                "All cases",
                icon=":material/list:",
                type="tertiary",
                shortcut="L",
                **noted(review_moves.go, None),
                key="session_list",
            )
            with st.popover("Keys", icon=":material/keyboard:", type="tertiary", key="review_shortcuts"):
                st.markdown("  \n".join(f"**{keys}** · {what}" for keys, what in _shortcuts(desk.dataset).items()))
        st.button(
            "Leave",
            icon=":material/logout:",
            type="tertiary",
            **noted(review_moves.leave),
            key="leave_session",
        )


def _bar(current: CaseOnScreen, lines: tuple[SessionLine, ...], step: Action | None) -> None:
    """At the bottom edge: what happens next, the step that is due, and the way to other cases.

    The step is never disabled: a quick hand confirms before the page has been drawn with the choice. It is only less
    prominent while something is missing.
    """
    with st.bottom, st.container(key="review_bar"):
        review_keys.listen()
        with st.container():  # always, so that an error moves nothing else
            if error := visit.review_pressed_twice or review_moves.trouble(current):
                st.error(markdown(error), icon=":material/error:")
        with st.container(horizontal=True, vertical_alignment="center", key="review_keys"):
            with st.container(horizontal=True, vertical_alignment="center", key="review_main", width="stretch"):
                if step is not None:
                    label, icon, shortcut = _MAIN[step.kind]
                    shortcut = "Ctrl+Enter" if step.form else shortcut  # K opens the form in which one decides alone
                    st.button(
                        label,
                        type="primary" if step.ready else "secondary",
                        icon=f":material/{icon}:",
                        shortcut=shortcut,
                        **noted(review_moves.send, current, step, of=current.place, step=shortcut),
                        key=current.key(f"send-{step.kind}"),
                    )
                    st.caption(_told(step), width="content")
            with st.container(horizontal=True, vertical_alignment="center", key="review_steps", width="content"):
                _way(current, lines, -1, "Previous", "chevron_left", "P")
                _way(current, lines, 1, "Next", "chevron_right", "N")
                if current.own is None and current.review.adjudication is None:
                    st.button(
                        "Skip",
                        icon=":material/skip_next:",
                        shortcut="S",
                        **noted(review_moves.send, current, Action("skip", ""), of=current.place, step="S"),
                        key=current.key("skip"),
                    )
                if (undo := review_moves.undoable(current)) is not None:
                    st.button(
                        "Undo" if undo.case_id == current.case_id else f"Undo {markdown(shorten(undo.case_id, 16))}",
                        icon=":material/undo:",
                        shortcut="U",
                        **noted(review_moves.send, undo, Action("undo", ""), of=current.place),
                        key=current.key("undo"),
                    )
        review_keys.drawn()


def _told(step: Action) -> str:
    if not step.key:
        return markdown(step.told)
    return f"{markdown(step.told.removesuffix('.'))}{review_keys.hint(f'key {step.key}')}."


def _way(current: CaseOnScreen, lines: tuple[SessionLine, ...], by: int, label: str, icon: str, shortcut: str) -> None:
    to = review_moves.neighbour(lines, current.case_id, by)
    st.button(
        label,
        icon=f":material/{icon}:",
        shortcut=shortcut,
        disabled=to is None and by < 0,
        **noted(review_moves.go, to),
        key=current.key(label),
    )


def _ended(desk: Desk, lines: tuple[SessionLine, ...]) -> str:
    """How the cases of a session stand at its end; the state of a case only where it was revealed to the reviewer."""
    states = Counter(_state(desk, line) or STANDINGS[line.standing] for line in lines)
    return f"Every case in this session is done: {', '.join(f'{n:,} {state}' for state, n in states.most_common())}."


def _state(desk: Desk, line: SessionLine) -> str:
    """Return the state of a case in words, if the reviewer may know it."""
    return STATES[line.review.state] if desk.reviewer in line.review.revealed and line.standing == "done" else ""


def _to_tab(name: str) -> None:
    review_moves.leave()
    widgets.open_tab(TABS, name)


def _list(desk: Desk, lines: tuple[SessionLine, ...], progress: SessionProgress) -> None:
    """Every case with its standing and one's own opinion; of the panel's only what was revealed."""
    left = progress.total - progress.done
    st.write(
        f"{plural(left, 'case')} left." if left else f"{_ended(desk, lines)} You can return to any of these cases."
    )
    with st.container(horizontal=True):
        if left:
            st.button(
                "Continue",
                type="primary",
                icon=":material/play_arrow:",
                **noted(review_moves.go, progress.current),
                key="list_go_on",
            )
        else:
            st.button(
                "Another session", type="primary", icon=":material/add:", **noted(review_moves.leave), key="list_leave"
            )
            for name, icon in (("Decisions", "rule"), ("Export", "download")):
                st.button(name, icon=f":material/{icon}:", **noted(_to_tab, name), key=f"list_{name}")
    for line in lines:
        own = line.review.read_by(desk.reviewer)
        words = f" · you said {markdown(own.opinion.words())}" if own else ""
        state = f" · {known}" if (known := _state(desk, line)) else ""
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(f"**{markdown(line.case_id)}** · {STANDINGS[line.standing]}{words}{state}", width="stretch")
            st.button(
                f"Open {markdown(shorten(line.case_id, 30))}",
                key=f"back-{line.case_id}",
                **noted(review_moves.go, line.case_id),
            )
