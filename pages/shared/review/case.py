"""One case of a session: facts, the reviewer's opinion, then the panel's next to it, and the next steps."""

from collections import Counter
from collections.abc import Callable, Sequence

import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.score_trust import score_digits
from core.plausibility.gaussian import GaussianScores
from core.plausibility.protocol import PlausibilityModel
from core.raters.ask_next import raters_for
from core.review.events import Event, who_is_asked
from core.review.opinions import UNDETERMINED, Opinion
from core.review.panel_answer import panel_score, panel_set, panel_word
from core.review.states import STATES, CaseReview, ReviewerOpinion
from core.text import exact, listed, markdown, number, percent, significant
from core.thresholds import PLAUSIBLE_SET
from pages.shared.cache import access, visit
from pages.shared.cases import content as case_facts
from pages.shared.cases import one_case, score_cases
from pages.shared.kit import (
    gold_of_reviews,
    opening,
    plausibility_models,
    presentation,
    reliability_slider,
    state,
    widgets,
)
from pages.shared.review import moves as review_moves
from pages.shared.review import opinion as review_opinion
from pages.shared.review.moves import Action, CaseOnScreen
from pages.shared.review.presses import noted

_ALONE = 860  # pixels of a decision that stands alone
_DUE = "Give your opinion first. The panel's annotations appear after you record it."
_MOST_PROPOSED = 8
_OF_CLASSES = (
    f"Smallest set of classes that contains the leading class with a probability of at least {percent(PLAUSIBLE_SET)}. "
    "If no such set exists, all classes that raters chose."
)
_PLAUSIBLE = {
    "class": _OF_CLASSES,
    "ranking": _OF_CLASSES,
    "set": f"Labels that raters gave to the case and that apply with more than {percent(1 - PLAUSIBLE_SET)} "
    "probability.",
    "score": f"{percent(PLAUSIBLE_SET)} interval for the score of one more rater.",
}
_FIRST = {"score": "Enter a score first.", "set": "Choose a label first."}


def facts(dataset: Dataset, case_id: str) -> None:
    """Show what is known of the case itself, without anything that reveals annotations."""
    shown = case_facts.show(dataset, case_id)
    group = dataset.case_group[dataset.case_index(case_id)] if dataset.case_group is not None else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        if group:
            st.caption(f"Group: {markdown(group)}.", width="content")
        linked = case_facts.link(case_id)
        if not shown and not linked:
            st.caption(
                "No text or image for this case. Open the case in your own viewer.",
                width="content",
            )
        if not shown or linked:
            case_facts.link_setting()


def show(
    current: CaseOnScreen,
    standing: str,
    model: PlausibilityModel,
    reliability: float,
    bar: Callable[[Action | None], None],
) -> None:
    """Draw the case at the reviewer's stage; ``bar`` draws the action for the bar at the bottom, if any.

    The case is at the left, and the decision at the right, within reach however far the left is scrolled. A blind read
    of a case that is kept elsewhere has one column, because its left would be empty. Figures are drawn after the bar,
    so that a reviewer who has decided does not wait for them.
    """
    known = case_facts.known(current.dataset, current.case_id)
    if current.own is None and not current.revealed:
        if not known:
            with st.container(width=_ALONE, key="review_alone"):
                facts(current.dataset, current.case_id)
                step = _blind(current, standing, model, reliability)
        else:
            left, right = _panes("review_blind")
            with left:
                facts(current.dataset, current.case_id)
            with right:
                step = _blind(current, standing, model, reliability)
        bar(step)
        return
    left, right = _panes("review_open")
    with left:
        facts(current.dataset, current.case_id)
    with right:
        _sentence(current)
        if known:  # beside an image what was said would be below the fold
            _raters(current, model, reliability)
        _opinions(current)
        bar(_decide(current))
    with left:
        if not known:
            _raters(current, model, reliability)
        _plausible(current, model, reliability)


def _panes(key: str):
    with st.container(key=key):
        return st.columns([5, 4], gap="medium")


def settle(current: CaseOnScreen, model: PlausibilityModel, reliability: float) -> CaseOnScreen:
    """Record the reveal, if the reviewer's opinion exists or an arbiter begins with the opinions; return the case.

    Only what is recorded as shown is shown.
    """
    opens = current.own is not None or (current.session.opens_on_opinions and current.desk.disputed(current.case_id))
    return _reveal(current, model, reliability) if opens and not current.revealed else current


def _reveal(current: CaseOnScreen, model: PlausibilityModel, reliability: float) -> CaseOnScreen:
    out = state.machines_left_out()
    people, sets = _people(current, model), current.dataset.kind == "set"
    panel = UNDETERMINED  # where machines alone have annotated
    if isinstance(model, GaussianScores):
        if current.case_id in people.cases:
            panel = panel_score(model, people, people.case_index(current.case_id), reliability=reliability)
    elif sets and current.case_id in people.cases:
        panel = panel_set(people, people.case_index(current.case_id), reliability=reliability, model=model).opinion
    elif current.case_id in people.cases:
        panel = panel_word(
            model, people, people.case_index(current.case_id), reliability=reliability,
            n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED,
        ).opinion  # fmt: skip
    settings = {
        **({"machines_left_out": list(out)} if out else {}),
        **model.settings(),
        "reliability": reliability,
        **({} if isinstance(model, GaussianScores) else {
            "n_draws": plausibility_models.N_DRAWS, "seed": plausibility_models.SEED
        }),
    }  # fmt: skip
    review = review_moves.reveal(current, panel, model.name, settings)
    return CaseOnScreen(current.desk, current.session, current.case_id, review)


def _blind(current: CaseOnScreen, standing: str, model: PlausibilityModel, reliability: float) -> Action | None:
    """Own opinion first. Nothing of the panel is on the page or in what the browser has received."""
    how = current.review.asked_of(current.desk.reviewer)
    seen_before = current.desk.reviewer in current.review.unblinded
    if how == "open":
        st.info(
            "You have been asked for an open second opinion, so you can see the other opinions before you give yours.",
            icon=":material/group:",
        )
    elif standing == "elsewhere":
        st.info(
            "Other reviewers have settled this case. You can still give an opinion, or just view the case.",
            icon=":material/group:",
        )
    elif seen_before:
        st.info(
            "You have seen the panel's annotations before, so your opinion is recorded as open, not blind.",
            icon=":material/group:",
        )
    elif (current.dataset.digest, current.case_id) in visit.review_seen:
        st.info(
            "You have seen annotations of this case on another page, so your opinion is recorded as open, not blind.",
            icon=":material/group:",
        )
    else:
        st.markdown(f"**{_DUE}**")
    if how == "open" or standing == "elsewhere" or current.session.arbitrates:
        st.button(
            "Show the others' opinions first",
            icon=":material/visibility:",
            key=current.key("look"),
            **noted(_look, current, model, reliability, of=current.place),
        )
    return _own(current)


def _look(current: CaseOnScreen, model: PlausibilityModel, reliability: float) -> None:
    review_moves.attempt(current, lambda: _reveal(current, model, reliability))


def _own(current: CaseOnScreen) -> Action:
    form = current.key("own")
    if current.dataset.kind == "score":
        opinion = review_opinion.ask_score(current.dataset, form)
    else:
        opinion = review_opinion.ask(current.dataset, form, _named(current) if current.revealed else None)
    review_opinion.remarks(form)
    first = _FIRST.get(current.dataset.kind, "Choose a class first.")
    note = review_opinion.said(form)["note"]
    told = first if opinion is None else current.told("opinion", opinion=opinion, note=note)
    return Action("opinion", told, form, opinion=True)


def _raters(current: CaseOnScreen, model: PlausibilityModel, reliability: float) -> None:
    """Draw the raters' annotations: people first, then AI raters."""
    dataset, out = state.people_of(current.dataset), state.machines_left_out()
    people = plausibility_models.data_for(model.name, dataset, quietly=True)
    if current.case_id in people.cases and isinstance(model, GaussianScores):
        score_cases.given(dataset, dataset.case_index(current.case_id))
    elif current.case_id in people.cases:
        one_case.annotations(dataset, people, dataset.case_index(current.case_id), model, reliability)
    if out:
        one_case.said_by_machines(current.dataset, current.dataset.case_index(current.case_id), out)


def _people(current: CaseOnScreen, model: PlausibilityModel) -> Dataset:
    """Return people's annotations as the model takes them, with all labels of sets; without cases of only AI raters."""
    people = state.people_of(current.dataset)
    return people if people.kind == "set" else plausibility_models.data_for(model.name, people, quietly=True)


def _plausible(current: CaseOnScreen, model: PlausibilityModel, reliability: float) -> None:
    """Draw the plausible classes or scores, and why the case is in the session."""
    queued = next((one.why for one in current.session.cases if one.case_id == current.case_id), "")
    people = _people(current, model)
    if current.case_id not in people.cases:
        st.caption("No rater has annotated this case, so plausible classes are not available.")
    elif isinstance(model, GaussianScores):
        score_cases.plausible(people, people.case_index(current.case_id), model, reliability)
    elif people.kind == "set":
        one_case.labels(people, people.case_index(current.case_id), model, reliability)
    else:
        one_case.plausibilities(people, people.case_index(current.case_id), model, reliability)
    title = plausibility_models.method(model.name).title
    # A session keeps its reasons. The model or γ may have changed since, and another number would contradict the bars.
    own = f"γ = {exact(reliability)})"
    same = "γ = " not in queued or queued.rstrip(".").endswith((f"({title}, {own}", f"({own}"))
    here = f" Why this case was queued: {markdown(queued.removesuffix('.'))}." if queued and same else ""
    chosen = ", as chosen on the Cases page" if reliability_slider.is_chosen() else ""
    st.caption(f"Model: {title}, reliability γ = {exact(reliability)}{chosen}.{here}")


def _sentence(current: CaseOnScreen) -> None:
    """Draw the result of the reveal in one line."""
    own, review = current.own, current.review
    if review.adjudication is not None:
        words = f"Decided: **{markdown(review.adjudication.opinion.words())}**."
    elif own is None or own.panel is None:
        words = "You have not given an opinion on this case in this round."
    else:
        words = (
            f"Your opinion: **{markdown(own.opinion.words())}**. "
            f"{_panel(own.opinion, own.panel, current.dataset.classes, current.dataset.kind)}"
        )
    st.markdown(words)
    if own is not None and not own.settled and (quick := review_moves.quickly(review, current.desk.reviewer)):
        st.caption(f":material/timer: {quick}")


def _panel(own: Opinion, panel: Opinion, classes: Sequence[str], kind: str = "class") -> str:
    """Return the panel's result, and whether the opinion matches.

    An undecided panel shows the set that opinions are judged by, in the order of the data. The model may include in it
    a class that nobody named, so the sentence does not call the panel split.
    """
    if not panel.decided:
        plausible = panel.plausible_set or ()
        names = [f"**{markdown(name)}**" for name in classes if name in plausible]
        if len(names) > 1 and kind != "set":
            return f"The model cannot decide between {listed(names)}."
        return f"The panel is undecided.{(names and f' Plausible: {listed(names)}.') or ''}"
    agree = "agree" if own.agrees_with(panel) else "disagree"
    if panel.within is not None:
        digits = score_digits(panel.within[1] - panel.within[0])
        score, low, high = (number(value, digits) for value in (panel.score, *panel.within))
        return (
            f"The panel's score is **{score}**. With 95% probability, one more rater's score would be {low} to {high}. "
            f"You {agree} with the panel."
        )
    what = "class is"
    if kind == "set":
        what = "label is" if len(panel.blocks[0]) == 1 else "labels are"
    return f"The panel's {what} **{markdown(panel.words())}**. You {agree}."


def _opinions(current: CaseOnScreen) -> None:
    """Everybody's opinion in this round with their notes, one's own first."""
    st.badge(STATES[current.review.state], icon=":material/flag:", color="gray")
    reads = sorted(current.review.reads, key=lambda read: read.reviewer != current.desk.reviewer)
    for read in reads:
        who = "You" if read.reviewer == current.desk.reviewer else markdown(read.reviewer)
        changed = f", at first {markdown(read.first.words())}" if read.first != read.opinion else ""
        st.markdown(f"**{who}**: {markdown(read.opinion.words())} ({read.visible}{changed})")
        _said(current, read)
    for whom, how in current.review.asked:
        kind = "an open" if how == "open" else "a blind"
        st.caption(f"{markdown(who_is_asked(whom))} has been asked for {kind} second opinion.")


def _said(current: CaseOnScreen, read: ReviewerOpinion) -> None:
    """Draw notes, reasons and confidence of a reviewer in this round."""
    events: list[Event] = [event for event in current.review.events if event.reviewer == read.reviewer]
    reopened = max((event.version for event in current.review.events if event.kind == "reopen"), default=0)
    undone = {event.undoes for event in current.review.events}
    for event in events:
        if event.version < reopened or event.version in undone:
            continue
        parts = [f"{percent(event.confidence)} sure"] if event.confidence is not None else []
        parts += [review_opinion.REASONS[event.reason]] if event.reason else []
        parts += [f"“{markdown(event.note)}”"] if event.note.strip() else []
        if parts:
            st.caption(" · ".join(parts))


def _decide(current: CaseOnScreen) -> Action | None:
    """Draw the decision, and return the action for the bar."""
    own, review = current.own, current.review
    if review.state == "adjudicated":
        return _choose(current, "reopen")
    if review.disputed and (own is None or own.settled or current.session.arbitrates):
        return _choose(current, "reopen") or _arbitrate(current)
    if own is None:
        st.markdown("**Your opinion**")
        return _own(current)
    if own.settled:
        return _choose(current, *(["reopen"] if review.state in ("closed", "second_opinion") else []))
    arbitration = [] if review.disputed else ["arbitration"]
    if review.is_unsupported(own):
        st.markdown(_alone(review, own, current.dataset.classes), help=_PLAUSIBLE[current.dataset.kind])
        return _choose(current, "second_opinion", "change", "keep", *arbitration, at_first="second_opinion")
    kinds = ["change", "second_opinion", *arbitration]
    return _choose(current, *kinds) or Action("keep", f"If you keep your opinion: {current.told('keep')}")


def _others(review: CaseReview, own: ReviewerOpinion) -> bool:
    """Return whether another reviewer has settled on an opinion."""
    return any(read.settled for read in review.reads if read.reviewer != own.reviewer)


def _alone(review: CaseReview, own: ReviewerOpinion, classes: Sequence[str]) -> str:
    """Return a note that nobody shares an opinion outside the panel's plausible set, and the next step."""
    known = own.panel.plausible_set
    if own.opinion.score is not None:
        among = f"{significant(known[0])} to {significant(known[1])}"
    else:
        among = listed([markdown(name) for name in classes if name in known])
    outside = (
        f":material/group_add: **{markdown(own.opinion.words())}** is not in the panel's plausible "
        f"set{among and f' ({among})'}"
    )
    if _others(review, own):
        return (
            f"{outside}, and no other reviewer shares your opinion. Ask another reviewer, or explain why you keep it."
        )
    return f"{outside}. Ask a second reviewer, or explain why you decide alone."


_CHOICES = {
    "change": ("Change it", "edit", "E"),
    "keep": ("Decide alone", "person", "K"),
    "second_opinion": ("Ask for a second opinion", "group_add", "A"),
    "arbitration": ("Send to arbitration", "gavel", "G"),
    "reopen": ("Reopen the case", "restart_alt", "O"),
}


def _choose(current: CaseOnScreen, *kinds: str, at_first: str | None = None) -> Action | None:
    """Buttons for what is rarer than going on, and the fields of the one that was chosen."""
    doing = visit.choice[current.key("doing")] or at_first
    with st.container(horizontal=True):
        for kind in kinds:
            label, icon, shortcut = _CHOICES[kind]
            if kind == "keep" and _others(current.review, current.own):
                label = "Keep it"
            st.button(
                label,
                icon=":material/expand_less:" if doing == kind else f":material/{icon}:",
                shortcut=shortcut,
                **noted(_do, current, kind, of=current.place),
                key=current.key(kind),
            )
    return _FIELDS[doing](current) if doing in kinds else None


def _do(current: CaseOnScreen, kind: str) -> None:
    visit.choice[current.key("doing")] = None if visit.choice[current.key("doing")] == kind else kind


def _change(current: CaseOnScreen) -> Action:
    form = current.key("change")
    if current.dataset.kind == "score":
        opinion = review_opinion.ask_score(current.dataset, form, now=current.own.opinion)
    else:
        opinion = review_opinion.ask(current.dataset, form, _named(current), now=current.own.opinion)
    review_opinion.remarks(form, "Reason for the change")
    if opinion is None or opinion == current.own.opinion:
        told = "Choose a different opinion. Then choose a reason for the change, or write a note."
        return Action("change", told, form, opinion=True)
    # What follows does not depend on the reason, which may come last.
    told = f"If you change your opinion: {current.told('change', opinion=opinion, note='-')}"
    ready = current.allows("change", opinion=opinion, **review_opinion.said(form))
    if not ready:
        by_reason = current.allows("change", opinion=opinion, reason=next(iter(review_opinion.REASONS)))
        told += f" First {'choose a reason for the change, or ' if by_reason else ''}write a note."
    return Action("change", told, form, opinion=True, ready=ready)


def _keep_alone(current: CaseOnScreen) -> Action:
    form = current.key("alone")
    others = _others(current.review, current.own)
    review_opinion.note(form, f"Reason for {'keeping your opinion' if others else 'deciding alone'}")
    said = review_opinion.said(form)["note"]
    if not said.strip():
        return Action("keep", "Write a note first.", form, key="W")
    return Action("keep", current.told("keep", note=said), form)


def _second_opinion(current: CaseOnScreen) -> Action:
    asked = visit.review_asked_last
    visit.text.begin(current.key("whom"), asked if asked != current.desk.reviewer else "")
    st.text_input(
        "Whom to ask",
        key=current.key("whom"),
        max_chars=200,
        placeholder="Name (leave empty for anyone)",
        persist_state="session",
    )
    if names := _to_ask(current):
        st.pills(
            "Largest expected gain first",
            names,
            key=current.key("proposed"),
            format_func=markdown,
            on_change=_propose,
            args=(current,),
            help=widgets.explained("expected gain"),
        )
    st.segmented_control(
        "Type of second opinion",
        ["blind", "open"],
        default="blind",
        required=True,
        key=current.key("how"),
        format_func={"blind": "blind", "open": "open, with all opinions"}.get,
        persist_state="session",
    )
    return Action("second_opinion", "The case will appear on the Review page of the person you ask.")


def _to_ask(current: CaseOnScreen) -> list[str]:
    """Return the raters who could be asked, the largest expected gain first; none until rater models are averaged."""
    people = gold_of_reviews.applied(state.people_of(current.dataset))
    if people.kind != "class" or presentation.on() or current.case_id not in people.cases:
        return []
    if not opening.is_known(people) or not (averaged := opening.choice(people).averaged).members:
        return []
    review = current.review
    machines = (machine.name for machine in state.marked_machines())  # who cannot be asked
    done = {current.desk.reviewer, *machines, *dict(review.asked), *(read.reviewer for read in review.reads)}
    names = raters_for(people, averaged.fit, people.case_index(current.case_id))
    return access.reachable(current.dataset.digest, (name for name in names if name not in done))[:_MOST_PROPOSED]


def _propose(current: CaseOnScreen) -> None:
    visit.text[current.key("whom")] = visit.choice[current.key("proposed")] or ""


def _arbitration(current: CaseOnScreen) -> Action:
    told = current.told("arbitration")
    return Action("arbitration", f"{told} An arbitrator, who can see all opinions and notes, will decide.")


def _reopen(current: CaseOnScreen) -> Action:
    form = current.key("reopen")
    review_opinion.remarks(form, "Reason for reopening")
    told, said = "The review will start again. Earlier opinions stay in the record.", review_opinion.said(form)
    if not said["reason"] and not said["note"].strip():
        return Action("reopen", f"{told} First choose a reason for reopening, or write a note.", form, ready=False)
    return Action("reopen", told, form)


def _read_to_decide(current: CaseOnScreen) -> bool:
    """Return True if the reviewer read the case within this session of arbitration, so that they are not a party."""
    own = [event for event in current.review.events if event.reviewer == current.desk.reviewer]
    given = [event.session for event in own if event.kind == "opinion"]
    return current.session.arbitrates and given[-1:] == [current.session.id]


def _named(current: CaseOnScreen) -> list[str]:
    """Classes that reviewers and raters named on the case: reviewers' first, then by how many raters named them."""
    dataset, case = current.dataset, current.dataset.case_index(current.case_id)
    said = [name for read in current.review.reads for name in read.opinion.classes]
    counts = Counter(code for place in dataset.annotations_of(case) for code in _classes_at(dataset, place))
    return list(dict.fromkeys([*said, *(dataset.classes[code] for code, _ in counts.most_common())]))


def _classes_at(dataset: Dataset, annotation: int) -> list[int]:
    return [code for block in dataset.blocks_of(annotation) for code in block]


_FIELDS = {
    "change": _change,
    "keep": _keep_alone,
    "second_opinion": _second_opinion,
    "arbitration": _arbitration,
    "reopen": _reopen,
}


def _arbitrate(current: CaseOnScreen) -> Action:
    form = current.key("arbitrate")
    st.markdown("**Outcome of the arbitration**")
    if current.own is not None and not _read_to_decide(current):
        st.caption("You have already given an opinion on this case. If possible, ask someone else to decide.")
    opinion = _ending(current, form)
    review_opinion.remarks(form)
    told = "Choose an outcome." if opinion is None else current.told("adjudication", opinion=opinion)
    return Action("adjudication", told, form, opinion=True)


def _ending(current: CaseOnScreen, form: str) -> Opinion | None:
    """Ask for the result of an arbitration: a score, a set of labels, a class or ranking, or a distribution."""
    if current.dataset.kind == "score":
        return review_opinion.ask_score(current.dataset, form)
    if current.dataset.kind == "set":
        return review_opinion.ask(current.dataset, form, _named(current))
    how = st.segmented_control(
        "Record it as",
        ["a class or a ranking", review_opinion.DISTRIBUTION],
        default="a class or a ranking",
        required=True,
        key=f"ends-{form}",
        persist_state="session",
    )
    if how != review_opinion.DISTRIBUTION:
        return review_opinion.ask(current.dataset, form, _named(current))
    said = dict.fromkeys(name for read in current.review.reads for name in read.opinion.classes)
    return review_opinion.ask_distribution(current.dataset, form, list(said))
