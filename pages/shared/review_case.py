"""One case of a session: facts, one's own opinion, then the panel's beside it, and what follows."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.plausibility.protocol import PlausibilityModel
from core.review.events import Event
from core.review.opinions import Opinion
from core.review.panel import panel_word
from core.review.states import STATES, Read
from core.text import markdown
from pages.shared import case_facts, case_view, plausibility, review_moves, review_opinion, review_seen
from pages.shared.review_moves import Place, Step
from pages.shared.review_presses import noted

ARBITRATION = "Arbitration"
_DUE = "Your opinion comes first; the panel's answers are shown once yours is recorded."


def facts(dataset: Dataset, case_id: str) -> None:
    """What is known of the case itself and tells nothing of what anybody answered."""
    shown = case_facts.show(dataset, case_id)
    group = dataset.case_group[dataset.case_index(case_id)] if dataset.case_group is not None else ""
    where = f"Group: {markdown(group)}. " if group else ""
    nothing = "" if shown else "These data hold no text and no image of the case: look at it where you keep it."
    if where or nothing:
        st.caption(f"{where}{nothing}")


def show(place: Place, standing: str, model: PlausibilityModel, reliability: float) -> Step | None:
    """The case at the stage at which the reviewer is; gives the step for the bar at the bottom, if any."""
    facts(place.dataset, place.case_id)
    if place.own is None and not place.revealed:
        return _blind(place, standing, model, reliability)
    return _open(place, model, reliability)


def settle(place: Place, model: PlausibilityModel, reliability: float) -> Place:
    """The place with the reveal recorded, where one's own opinion is: only what is recorded as shown is shown."""
    if place.own is None or place.revealed:
        return place
    return _reveal(place, model, reliability)


def _reveal(place: Place, model: PlausibilityModel, reliability: float) -> Place:
    case = place.dataset.case_index(place.case_id)
    view = plausibility.data_for(model.name, place.dataset, quietly=True)
    panel = panel_word(
        model, view, case, reliability=reliability, n_draws=plausibility.N_DRAWS, seed=plausibility.SEED
    ).opinion
    settings = {
        **model.settings(),
        "reliability": reliability,
        "n_draws": plausibility.N_DRAWS,
        "seed": plausibility.SEED,
    }
    review = review_moves.reveal(place, panel, model.name, settings)
    return Place(place.desk, place.session, place.case_id, review)


def _blind(place: Place, standing: str, model: PlausibilityModel, reliability: float) -> Step | None:
    """Own opinion first. Nothing of the panel is on the page or in what the browser has received."""
    how = dict(place.review.asked).get(place.desk.reviewer)
    seen_before = place.desk.reviewer in place.review.unblinded
    if how == "open":
        st.info("You are asked for an open second opinion: you may look at the others' first.", icon=":material/group:")
    elif standing == "elsewhere":
        st.info("Others have settled this case. You may read it all the same, or only look.", icon=":material/group:")
    elif seen_before:
        st.info("You have seen the panel's answers before, so your opinion counts as open.", icon=":material/group:")
    elif review_seen.seen(place.dataset.digest, place.case_id):
        st.info("You have seen this case on the Cases page, so your opinion counts as open.", icon=":material/group:")
    else:
        st.markdown(f"**{_DUE}**")
    if how == "open" or standing == "elsewhere" or place.session.title == ARBITRATION:
        st.button(
            "Show the others' opinions first",
            icon=":material/visibility:",
            key=place.key("look"),
            **noted(_look, place, model, reliability),
        )
    return _own(place)


def _look(place: Place, model: PlausibilityModel, reliability: float) -> None:
    review_moves.attempt(place, lambda: _reveal(place, model, reliability))


def _own(place: Place) -> Step:
    form = place.key("own")
    opinion = review_opinion.ask(place.dataset, form)
    review_opinion.remarks(form)
    told = "Choose a class first." if opinion is None else place.told("opinion", opinion=opinion)
    return Step("opinion", told, form, opinion=True)


def _open(place: Place, model: PlausibilityModel, reliability: float) -> Step | None:
    """The panel beside one's own opinion, and what can be done about it."""
    _sentence(place)
    left, right = st.columns([2, 3], gap="large")  # on a narrow screen the decision stands over the figures
    with left:
        _opinions(place)
        step = _decide(place)
    with right:
        queued = next((one.why for one in place.session.cases if one.case_id == place.case_id), "")
        if queued:
            st.caption(f"Why it is here: {markdown(queued)}")
        case = place.dataset.case_index(place.case_id)
        view = plausibility.data_for(model.name, place.dataset, quietly=True)
        case_view.panel(place.dataset, view, case, model, reliability)
        title = plausibility.OFFERS[model.name].title
        st.caption(f"{title}, reliability γ {reliability:g}, as set on the Cases page.")
    return step


def _sentence(place: Place) -> None:
    """What the reveal means, in one line."""
    own, review = place.own, place.review
    if review.adjudication is not None:
        words = f"Decided: **{markdown(review.adjudication.opinion.words())}**."
    elif own is None or own.panel is None:
        words = "You have no opinion on this case in this round."
    else:
        words = f"You say **{markdown(own.opinion.words())}**, {_panel(own.opinion, own.panel)}"
    st.markdown(words)


def _panel(own: Opinion, panel: Opinion) -> str:
    """What the panel says, and whether that is the same."""
    if not panel.decided:
        between = f" between **{', '.join(map(markdown, panel.first))}**" if panel.first else ""
        return f"the panel is undecided{between}."
    return f"the panel says **{markdown(panel.words())}**. You {'agree' if own.agrees_with(panel) else 'disagree'}."


def _opinions(place: Place) -> None:
    """Everybody's opinion in this round with their notes, one's own first."""
    st.badge(STATES[place.review.state], icon=":material/flag:", color="gray")
    reads = sorted(place.review.reads, key=lambda read: read.reviewer != place.desk.reviewer)
    for read in reads:
        who = "You" if read.reviewer == place.desk.reviewer else markdown(read.reviewer)
        changed = f", at first {markdown(read.first.words())}" if read.first != read.opinion else ""
        st.markdown(f"**{who}**: {markdown(read.opinion.words())} ({read.visible}{changed})")
        _said(place, read)
    for whom, how in place.review.asked:
        st.caption(f"{markdown(whom)} is asked for a second opinion, {how}.")


def _said(place: Place, read: Read) -> None:
    """Notes, reasons and confidence of a reviewer in this round."""
    events: list[Event] = [event for event in place.review.events if event.reviewer == read.reviewer]
    reopened = max((event.version for event in place.review.events if event.kind == "reopen"), default=0)
    undone = {event.undoes for event in place.review.events}
    for event in events:
        if event.version < reopened or event.version in undone:
            continue
        parts = [f"{event.confidence:.0%} sure"] if event.confidence is not None else []
        parts += [review_opinion.REASONS[event.reason]] if event.reason else []
        parts += [f"“{markdown(event.note)}”"] if event.note.strip() else []
        if parts:
            st.caption(" · ".join(parts))


def _decide(place: Place) -> Step | None:
    """What is to be done: the step for the bar, with what it needs on the page."""
    own, review = place.own, place.review
    if review.state == "adjudicated":
        return _choose(place, "reopen")
    if review.disputed and (own is None or own.settled):
        return _choose(place, "reopen") or _arbitrate(place)
    if own is None:
        st.markdown("**Your opinion**")
        return _own(place)
    if own.settled:
        return _choose(place, *(["reopen"] if review.state in ("closed", "second_opinion") else []))
    kinds = ["change", "second_opinion", *([] if review.disputed else ["arbitration"])]
    return _choose(place, *kinds) or Step("keep", f"If you keep it: {place.told('keep')}")


_CHOICES = {
    "change": ("Change it", "edit", "E"),
    "second_opinion": ("Ask a second opinion", "group_add", "A"),
    "arbitration": ("Send to arbitration", "gavel", "G"),
    "reopen": ("Reopen the case", "restart_alt", "O"),
}


def _choose(place: Place, *kinds: str) -> Step | None:
    """Buttons for what is rarer than going on, and the fields of the one that was chosen."""
    doing = st.session_state.get(place.key("doing"))
    with st.container(horizontal=True):
        for kind in kinds:
            label, icon, shortcut = _CHOICES[kind]
            st.button(
                label,
                icon=":material/expand_less:" if doing == kind else f":material/{icon}:",
                shortcut=shortcut,
                **noted(_do, place, kind),
                key=place.key(kind),
            )
    return _FIELDS[doing](place) if doing in kinds else None


def _do(place: Place, kind: str) -> None:
    key = place.key("doing")
    st.session_state[key] = None if st.session_state.get(key) == kind else kind


def _change(place: Place) -> Step:
    form = place.key("change")
    opinion = review_opinion.ask(place.dataset, form, now=place.own.opinion)
    review_opinion.remarks(form)
    same = opinion is None or opinion == place.own.opinion
    told = "Choose something else, with a reason or a note."
    if not same:  # what follows does not depend on the reason, which may come last
        told = f"If you change it: {place.told('change', opinion=opinion, note='-')}"
    return Step("change", told, form, opinion=True)


def _second_opinion(place: Place) -> Step:
    st.text_input(
        "Whom to ask",
        key=place.key("whom"),
        max_chars=200,
        placeholder="The name under which they review",
        persist_state="session",
    )
    st.segmented_control(
        "They read it",
        ["blind", "open"],
        default="blind",
        required=True,
        key=place.key("how"),
        format_func={"blind": "blind", "open": "open, with all opinions"}.get,
        persist_state="session",
    )
    return Step("second_opinion", "The case waits for their opinion; it stands on their Review page.")


def _arbitration(place: Place) -> Step:
    told = place.told("arbitration")
    return Step("arbitration", f"{told} Somebody decides with all opinions and notes before their eyes.")


def _reopen(place: Place) -> Step:
    form = place.key("reopen")
    review_opinion.remarks(form)
    return Step("reopen", "The case starts afresh; what was said stays in the record. Give a reason or a note.", form)


_FIELDS = {"change": _change, "second_opinion": _second_opinion, "arbitration": _arbitration, "reopen": _reopen}


def _arbitrate(place: Place) -> Step:
    form = place.key("arbitrate")
    st.markdown("**How the arbitration ends**")
    if place.own is not None:
        st.caption("You are a party to this dispute. Better that somebody else decides; go on to the next case.")
    how = st.segmented_control(
        "It ends with",
        ["a class or ranking", review_opinion.DISTRIBUTION],
        default="a class or ranking",
        required=True,
        key=f"ends-{form}",
        persist_state="session",
    )
    if how == review_opinion.DISTRIBUTION:
        named = dict.fromkeys(name for read in place.review.reads for name in read.opinion.classes)
        opinion = review_opinion.ask_distribution(place.dataset, form, list(named))
    else:
        opinion = review_opinion.ask(place.dataset, form)
    review_opinion.remarks(form)
    told = "Choose how it ends." if opinion is None else place.told("adjudication", opinion=opinion)
    return Step("adjudication", told, form, opinion=True)
