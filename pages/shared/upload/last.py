"""What the user said of the last file of the same shape: offered, said in words, and remembered; and what changed."""

from contextlib import suppress

import streamlit as st

from core import library
from core.errors import PluralityError
from core.ingest import saved_mappings
from core.ingest.formats.source import Question, Source
from core.ingest.read_files import Reading
from core.ingest.saved_mappings import Choices
from core.text import markdown, plural, shorten
from pages.shared.cache import datasets as cached
from pages.shared.cache import sign_in, visit
from pages.shared.kit import earlier_version
from pages.shared.upload.mapping import KINDS, REPEATS, ROLES, TITLES

_MOST_NAMED = 4


def offered(source: Source, question: Question, stamp: str) -> Choices:
    """Return the initial choices on screen: the guess, or the user's last choices if they want them."""
    guessed = Choices(question.mapping)
    last = saved_mappings.recall(source, question, sign_in.name())
    if last is None or not (differences := _differences(guessed, last)):
        return guessed
    again = st.toggle(
        "Use the same choices as last time for these columns", key=f"as_last_time-{stamp}", persist_state="session"
    )
    st.caption(" · ".join(differences))
    return last if again else guessed


def remember(source: Source, question: Question, choices: Choices, digest: str) -> None:
    """Save the digest, and the user's choices if they differ from the guess; show an error of a full folder later."""
    with suppress(PluralityError):
        saved_mappings.note_dataset(source, question, digest, sign_in.name())
    guessed = Choices(question.mapping)
    if not _differences(guessed, choices) and saved_mappings.recall(source, question, sign_in.name()) is None:
        return
    try:
        saved_mappings.remember(source, question, choices, sign_in.name())
    except PluralityError:
        visit.upload_not_remembered = True


def compare(reading: Reading, source: Source, question: Question) -> None:
    """Show what changed since the last saved dataset from a file of this shape or name that the user may open."""
    now = reading.dataset
    noted = {*map(library.present_digest, saved_mappings.noted_datasets(source, question, sign_in.name()))}
    earlier = next((one for one in cached.kept() if one.digest in noted or one.name == now.name), None)
    if earlier is None or earlier.digest == now.digest:
        return
    found = earlier_version.compared(earlier, now)
    if found is None or not found.n_unchanged:  # other data with the same columns
        return
    st.markdown(earlier_version.words(earlier, found))
    if len(found.change):
        with st.expander(plural(found.n_changed, "changed annotation"), key="compared"):
            earlier_version.table(earlier, now, found)


def said() -> None:
    """Say once that the choices will not be offered again."""
    if visit.upload_not_remembered:
        st.caption(
            "Could not save your choices for the next file: the home folder is not writable. Change its permissions."
        )


def _differences(guessed: Choices, last: Choices) -> list[str]:
    """In words, what was said last time and is not what is guessed."""
    old, new = guessed.mapping, last.mapping
    words = [TITLES[new.layout]] if new.layout != old.layout else []
    for role, title in ROLES.items():
        column = getattr(new, role)
        if column is not None and column != getattr(old, role):
            words.append(f"{title}: **{markdown(shorten(column))}**")
    if new.layout == "long" and new.rater is None and "anonymous" not in old.why:
        words.append("annotations are anonymous")
    if new.day_first is not None and new.day_first != old.day_first:
        words.append(f"dates begin with the {'day' if new.day_first else 'month'}")
    for role, title in (("raters", "raters"), ("across", "columns")):
        columns = getattr(new, role)
        if columns and columns != getattr(old, role):
            words.append(f"{len(columns):,} {title}")
    if new.separators and new.separators != old.separators:
        words.append(f"rankings such as {markdown(f'A {new.separators[0]} B {new.separators[1]} C')}")
    if new.empty == "none" != old.empty:
        words.append("an empty cell means that the label does not apply")
    if old != new and not words:
        words.append("fewer columns")
    words += [title for title, kind in KINDS.items() if kind is not None and kind == last.kind]
    words += [title for title, way in REPEATS.items() if way == last.repeats != guessed.repeats]
    renamed = [f"“{markdown(a)}” is renamed “{markdown(b)}”" for a, b in last.treatment.renamed.items()]
    missing = [f"“{markdown(name)}” means a missing annotation" for name in sorted(last.treatment.missing)]
    kept = [f"“{markdown(name)}” is an annotation" for name in sorted(last.treatment.kept)]
    raters = [
        f"rater “{markdown(a)}” is the same as “{markdown(b)}”" for a, b in last.treatment.raters.items() if a != b
    ]
    raters += [f"“{markdown(a)}” is a separate rater" for a, b in last.treatment.raters.items() if a == b]
    changed = renamed + missing + kept + raters
    words += changed[:_MOST_NAMED]
    if len(changed) > _MOST_NAMED:
        one, many = ("more name", "more names") if raters else ("more class", "more classes")
        words.append(plural(len(changed) - _MOST_NAMED, one, many))
    if last.classes is not None and len(changed) == len(raters):
        words.append(f"a list of {plural(len(last.classes), 'class', 'classes')}")
    words += ["the classes have an order"] * (last.ordinal and not guessed.ordinal)
    return words + ["classes are names without order"] * last.unordered
