"""One's own opinion: a class, or a ranking with ties, from the closed list; confidence, reason, note.

What is chosen and typed is kept in the session under the form's key until it is recorded, so that an error, a look at
another case or another page loses nothing. Callbacks read it from there, not from what the last run saw.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.none_of_these import label_of_none
from core.review.events import GIVES_OPINION, Event
from core.review.opinions import REASONS, UNDETERMINED, Opinion
from core.text import exact, markdown, number, percent, shorten
from pages.shared.cache import visit
from pages.shared.review import drafts
from pages.shared.review.presses import noted

MOST_BUTTONS = 10
CONFIDENCES = (0.25, 0.5, 0.75, 0.9, 1.0)
DISTRIBUTION = "a distribution"
_PARTS = ("confidence", "reason", "note")


def ask(
    dataset: Dataset, key: str, named: Sequence[str] | None = None, *, now: Opinion | None = None
) -> Opinion | None:
    """Return the opinion as on screen; None while nothing is chosen.

    Up to ten classes are buttons. With more, the first ten of the dataset are, and a search field finds the rest.
    Buttons and digits are the same for every case, so that they reveal nothing and a digit always means the same class.

    Parameters
    ----------
    dataset : Dataset
    key : str
        Key of the form (`CaseOnScreen.key`).
    named : sequence of str, optional
        Classes to offer instead if there are more than ten, once the reviewer may see the annotations. Classes without
        a digit in the dataset have none.
    now : Opinion, optional
        Initial opinion of the form.
    """
    state = _state(key, now, dataset)
    several = dataset.traits.lists_classes
    if not several and dataset.n_classes > 2:
        several = st.toggle("Name more than one class, in order", key="review_several", persist_state="session")
    many, fixed = dataset.n_classes > MOST_BUTTONS, dataset.classes[:MOST_BUTTONS]
    _buttons(named[:MOST_BUTTONS] if many and named is not None else fixed, dataset, state, key, several)
    if many:
        st.selectbox(
            "Find a class",
            dataset.classes,
            index=None,
            placeholder="Type part of its name",
            key=f"find-{key}",
            on_change=_add_found,
            args=(key, several),
        )
    _chosen(state, key, several)
    return standing(key)


def ask_distribution(dataset: Dataset, key: str, named: Sequence[str]) -> Opinion | None:
    """Shares of classes, those that somebody named first; None while none has any."""
    classes = st.multiselect(
        "Classes", dataset.classes, default=list(named), key=f"shared-{key}", persist_state="session"
    )
    for name in classes:
        st.number_input(
            f"Share of {markdown(name)}",
            0.0,
            1.0,
            1 / len(classes),
            0.05,
            key=f"share-{name}-{key}",
            persist_state="session",
        )
    total = sum(_shares(key).values())
    if not total:
        st.caption("No class has a share yet.")
    elif abs(total - 1) > 1e-6:
        st.caption(f"The shares add up to {number(total)} and will be scaled to 1.")
    return standing(key)


def ask_score(dataset: Dataset, key: str, *, now: Opinion | None = None) -> Opinion | None:
    """Return the score as on screen; None while the field is empty. It starts empty and suggests nothing.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores, whose range over all cases is shown next to the field.
    key : str
        Key of the form (`CaseOnScreen.key`).
    now : Opinion, optional
        Initial opinion of the form.
    """
    state = _state(key, now, dataset)
    if now is not None and now.score is not None:
        visit.number.begin(f"score-{key}", now.score)
    low, high = float(dataset.score.min()), float(dataset.score.max())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.number_input(
            f"Your score (raters: {exact(low)} to {exact(high)})",
            value=None,
            step=_step(dataset),
            format="%g",
            key=f"score-{key}",
            persist_state="session",
            width=320,
            **drafts.kept(_case(key)),
        )
        _cannot(state, key)
    found = standing(key)
    if found is not None:
        st.markdown(f"Your opinion: **{markdown(found.words())}**")
        if found.score is not None and not low <= found.score <= high:
            st.caption(
                f":material/warning: {exact(found.score)} is outside the range of the raters' scores. Record it "
                "only if you mean it."
            )
    return found


def _step(dataset: Dataset) -> float:
    """Return the coarsest of a few steps that fits all scores; a hundredth of their range if none fits."""
    for step in (10.0, 5.0, 1.0, 0.5, 0.25, 0.1):
        if np.allclose(dataset.score / step, np.round(dataset.score / step), atol=1e-9, rtol=0):
            return step
    return float(np.format_float_scientific(np.ptp(dataset.score) / 100, precision=0)) or 0.01


def remarks(key: str, reason: str = "Reason for uncertainty") -> None:
    """Draw the fields for confidence, a reason and a note."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "How confident are you?",
            CONFIDENCES,
            key=f"confidence-{key}",
            format_func=percent,
            persist_state="session",
        )
        st.selectbox(
            reason,
            list(REASONS),
            index=None,
            format_func=REASONS.get,
            placeholder=reason,
            width=190,
            label_visibility="collapsed",
            key=f"reason-{key}",
            persist_state="session",
        )
    note(key)


def note(key: str, placeholder: str = "Note") -> None:
    """Draw the field for a note."""
    st.text_area(
        "Note", key=f"note-{key}", height=68, max_chars=10_000, placeholder=placeholder, label_visibility="collapsed",
        persist_state="session", **drafts.kept(_case(key)),
    )  # fmt: skip


def standing(key: str) -> Opinion | None:
    """Return the current opinion of a form; None while nothing is chosen."""
    if visit.choice[f"ends-{key}"] == DISTRIBUTION:
        shares = _shares(key)
        total = sum(shares.values())
        return Opinion.of_distribution({name: share / total for name, share in shares.items()}) if total else None
    state, score = visit.opinion[f"chosen-{key}"], visit.number[f"score-{key}"]
    if score is not None and not (state and state["cannot"]):
        return Opinion.of_score(score)
    if state is None or not (state["cannot"] or state["blocks"]):
        return None
    if state["cannot"]:
        return UNDETERMINED
    if state.get("is_set"):
        return Opinion.of_labels(name for block in state["blocks"] for name in block)
    return Opinion.of_ranking(state["blocks"])


def said(key: str) -> Mapping[str, object]:
    """Confidence, reason and note of a form now."""
    values = {part: visit.other[f"{part}-{key}"] for part in _PARTS}
    return {**values, "reason": values["reason"] or "", "note": values["note"] or ""}


def clear(key: str) -> None:
    """Forget a form once it is recorded."""
    for part in ("chosen", "score", "find", "ends", "shared", *_PARTS):
        del visit.other[f"{part}-{key}"]


def restore(key: str, dataset: Dataset, event: Event) -> None:
    """Put what a step recorded back into its form, after the step was undone."""
    for part in _PARTS:
        if value := getattr(event, part):
            visit.other[f"{part}-{key}"] = value
    if event.kind in GIVES_OPINION and event.opinion is not None and event.opinion.kind != "distribution":
        _state(key, event.opinion, dataset)
        if event.opinion.score is not None:
            visit.number.begin(f"score-{key}", event.opinion.score)


def _shares(key: str) -> dict[str, float]:
    return {name: visit.number[f"share-{name}-{key}"] or 0.0 for name in visit.choices[f"shared-{key}"]}


def _state(key: str, now: Opinion | None, dataset: Dataset) -> dict:
    """Return the current choice. Labels of a set form one block without order; "none" excludes the others."""
    is_set = dataset.kind == "set"
    blocks = [list(block) for block in now.blocks] if now is not None else []
    if is_set:
        blocks = [[name] for block in blocks for name in block]
    begins = {"blocks": blocks, "cannot": now == UNDETERMINED, "is_set": is_set}
    begins["none"] = label_of_none(dataset) if is_set else None
    return visit.opinion.begin(f"chosen-{key}", begins)


def _case(key: str) -> str:
    """Return the case of a form: its key without the kind of form."""
    return key.partition("-")[2]


def _buttons(names: Sequence[str], dataset: Dataset, state: dict, key: str, several: bool) -> None:
    ranks = {name: rank for rank, block in enumerate(state["blocks"], 1) for name in block}
    fixed, ranked = dataset.classes[:MOST_BUTTONS], several and not state["is_set"]
    digits = dict(zip(fixed, keys_of(fixed), strict=True))
    with st.container(horizontal=True, key=f"classes-{key}"):
        for name in names:
            _choice(
                f"{markdown(shorten(name, 60))}{f' · {ranks[name]}' if ranked and name in ranks else ''}",
                name in ranks,
                several,
                shortcut=digits.get(name),
                **noted(_press, key, name, several, choice=True, of=_case(key)),
                key=f"class-{dataset.classes.index(name)}-{key}",
            )
        _cannot(state, key)


def _cannot(state: dict, key: str) -> None:
    _choice(
        "Cannot be determined",
        state["cannot"],
        False,
        shortcut="X",
        **noted(_press_cannot, key, choice=True, of=_case(key)),
        key=f"cannot-{key}",
    )


def keys_of(classes: Sequence[str]) -> list[str]:
    """Return a digit for each of at most ten classes: the one in its name, as in "grade 2", otherwise the next free.

    So that on classes named 0 and 1 the key 1 never means 0.
    """
    own = [found[0] if len(found := re.findall(r"\d+", name)) == 1 and len(found[0]) == 1 else "" for name in classes]
    own = [digit if own.count(digit) == 1 else "" for digit in own]
    free = iter(digit for digit in "1234567890" if digit not in own)
    return [digit or next(free) for digit in own]


def _choice(label: str, chosen: bool, several: bool, **options) -> None:
    """Draw a button that looks like a radio button, or like a check box if several may be chosen."""
    icons = ("check_box_outline_blank", "check_box") if several else ("radio_button_unchecked", "radio_button_checked")
    st.button(label, icon=f":material/{icons[chosen]}:", **options)


def _chosen(state: dict, key: str, several: bool) -> None:
    blocks = state["blocks"]
    if state["cannot"]:
        st.markdown("Your opinion: **cannot be determined**")
        return
    if not blocks:
        how = "Choose the most likely class first. One class is enough." if several else "Choose a class."
        how = "Choose every label that applies." if state["is_set"] else how
        st.caption(f"You have not chosen anything yet. {how}")
        return
    if state["is_set"]:
        st.markdown(f"Your opinion: **{' + '.join(markdown(name) for block in blocks for name in block)}**")
        return
    words = " › ".join(" = ".join(markdown(name) for name in block) for block in blocks)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Your opinion: **{words}**")
        if several:
            st.button(
                "Remove the last class",
                icon=":material/backspace:",
                shortcut="Backspace",
                **noted(_take_out, key, choice=True, of=_case(key)),
                key=f"out-{key}",
            )
        if len(blocks[-1]) > 1 or len(blocks) > 1:
            tied = len(blocks[-1]) > 1
            st.button(
                "Untie the last class" if tied else "Tie the last two classes",
                icon=":material/link_off:" if tied else ":material/link:",
                shortcut="T",
                **noted(_tie, key, choice=True, of=_case(key)),
                key=f"tie-{key}",
            )


def _press(key: str, name: str, several: bool) -> None:
    """Choose a class; one that is chosen already is taken out."""
    state = visit.opinion[f"chosen-{key}"]
    if state is None:  # recorded in the meantime
        return
    state["cannot"] = False
    blocks: list[list[str]] = state["blocks"]
    if any(name in block for block in blocks):
        kept = [[other for other in block if other != name] for block in blocks]
        blocks[:] = [block for block in kept if block]
    elif several:
        if (none := state["none"]) is not None:  # it says that no other applies
            blocks[:] = [] if name == none else [block for block in blocks if block != [none]]
        blocks.append([name])
    else:
        blocks[:] = [[name]]


def _press_cannot(key: str) -> None:
    state = visit.opinion[f"chosen-{key}"] or {"cannot": False}
    state["cannot"], state["blocks"] = not state["cannot"], []


def _add_found(key: str, several: bool) -> None:
    name, visit.choice[f"find-{key}"] = visit.choice[f"find-{key}"], None
    if name and not any(name in block for block in _blocks(key)):
        _press(key, name, several)


def _blocks(key: str) -> list[list[str]]:
    """Return the blocks of a form; none if the opinion was recorded in the meantime."""
    return (visit.opinion[f"chosen-{key}"] or {}).get("blocks", [])


def _take_out(key: str) -> None:
    blocks = _blocks(key)
    if blocks:
        blocks[-1].pop()
        if not blocks[-1]:
            blocks.pop()


def _tie(key: str) -> None:
    """Put the last class into the block before it, or out of its block into one of its own."""
    blocks = _blocks(key)
    if blocks and len(blocks[-1]) > 1:
        blocks.append([blocks[-1].pop()])
    elif len(blocks) > 1:
        last = blocks.pop()
        blocks[-1] += last
