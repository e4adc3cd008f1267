"""What the columns of a file mean: guessed, shown, and put right by the user."""

from collections.abc import Collection
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.ingest.column_mapping import LAYOUTS, ROLES, Mapping
from core.ingest.formats.plain_table import title_of
from core.ingest.formats.raw_table import RawTable
from core.ingest.formats.source import Question, Source
from core.ingest.guess_mapping import mapping_as
from core.ingest.long_rows import empty_cells
from core.ingest.row_in_words import readings_of, row_in_words
from core.ingest.saved_mappings import Choices
from core.ingest.several_questions import columns_of_others
from core.ingest.times import unclear_date
from core.text import markdown, shorten
from pages.shared.upload import preview
from pages.shared.upload.preview import ANONYMOUS, FIRST_WINS, NOBODY, ROW_NUMBER

KINDS = {
    "Detect automatically": None,
    "A class": "class",
    "A score": "score",
    "A ranking": "ranking",
    "A set of labels": "set",
}
REPEATS = {"Keep them all": "keep", "Use only the first": "first", "Refuse the file": "refuse"}
TITLES = {
    "long": "One row per annotation",
    "wide": "One column per rater",
    "transposed": "One row per rater",
    "counts": "Counts per case",
    "contingency": "Two raters, cross table",
    "patterns": "Annotation patterns with counts",
    "labels": "One column per label",
    "comparisons": "One row per comparison of two items",
}
_NEEDED = {"case": "case", "answer": "annotation"}
_FEW = 3
PLAIN = ("table", *LAYOUTS)
_MOST_COLUMNS = 300


def as_layout(source: Source, layout: str | None) -> Source:
    """Return a plain table in the layout that the user chose; any other source unchanged."""
    if layout not in LAYOUTS or source.format not in PLAIN:
        return source
    questions, parts = (
        tuple(replace(one, mapping=mapping_as(one.raw, layout)) for one in found)
        for found in (source.questions, source.parts)
    )
    return replace(source, title=f"Table: {LAYOUTS[layout]}", questions=questions, parts=parts)


def recognised(place: DeltaGenerator, source: Source, guess: Question, chosen: Mapping, wanted: str | None) -> None:
    """Show the recognised format, the user's changes to it, or that it is still to be chosen; and the sheet.

    Parameters
    ----------
    place : container
    source : Source
    guess : Question
        As guessed.
    chosen : Mapping
        As on screen; the guessed one while nothing was chosen.
    wanted : str or None
        The format that the user asked for.
    """
    plain, guessed, sheet = source.format in PLAIN, guess.mapping, guess.raw.sheet
    title = f"**{markdown(title_of(chosen) if plain else source.title)}**"
    if sheet:
        title += f", from the sheet “{markdown(shorten(sheet))}”"
        title += " (choose another below)" * (len(source.questions) > 1)
    if wanted is not None or (guessed.instead and not chosen.instead) or (plain and chosen.layout != guessed.layout):
        place.markdown(f":material/edit: Format you chose: {title}.")
    elif chosen.instead:
        place.markdown(f":material/help: {title} or another format? Choose below what one row means.")
    else:
        why = "" if plain else f", by {markdown(source.why)}"
        place.markdown(f":material/check_circle: Recognised: {title}{why}.")


def settled(question: Question, start: Mapping, stamp: str) -> Mapping | None:
    """Return the initial choices, and ask which of several readings applies; None until answered."""
    if not start.instead:
        return start
    found = readings_of(question.raw, start)
    several = len({one.mapping.layout for one in found}) == len(found)
    readings = {one.mapping.layout if several else one.options: one for one in found}
    chosen = st.radio(
        f"**What does one row mean?** {markdown(start.doubt)}",
        sorted(readings),
        index=None,
        format_func=lambda name: (f"**{TITLES[name]}**: " if several else "") + markdown(readings[name].words),
        key=f"row_means-{stamp}",
        persist_state="session",
    )
    return None if chosen is None else readings[chosen].mapping


def choose_mapping(
    source: Source,
    question: Question,
    start: Mapping,
    stamp: str,
    row_means: DeltaGenerator,
    first_rows: DeltaGenerator,
) -> Mapping:
    """Return the mapping of the format, or as corrected by the user; ``start`` has the initial choices.

    Where the user may choose columns, ``row_means`` describes a row, and ``first_rows`` shows columns with their roles.
    """
    if source.format not in PLAIN:
        with st.expander("Column roles in this format", key=f"taken_for-{stamp}"):
            _said(start)
            own = st.toggle(
                "Choose the columns yourself",
                value=start is not question.mapping and not question.mapping.instead,
                key=f"own_mapping-{stamp}",
                persist_state="session",
            )
        if not own:
            return start if question.mapping.instead else question.mapping
    mapping = _chosen_by_hand(question, start, stamp)
    reasons = mapping.reasons()
    if reasons:
        st.caption(markdown(" · ".join(reasons)))
    one_row(row_means, question.raw, mapping)
    with first_rows:
        preview.show(question.raw, mapping, stamp, columns_of_others(source, question))
    return mapping


def one_row(place: DeltaGenerator, raw: RawTable, mapping: Mapping, missing: Collection[str] = ()) -> None:
    """Show the meaning of the first row, without codes for missing annotations."""
    if said := row_in_words(raw, mapping, missing):
        place.markdown(f"**One row means**: {markdown(said)}")


def _chosen_by_hand(question: Question, start: Mapping, stamp: str) -> Mapping:
    layout = st.selectbox(
        "Layout",
        list(LAYOUTS),
        index=list(LAYOUTS).index(start.layout),
        format_func=lambda name: TITLES[name],
        help="; ".join(f"**{TITLES[name]}**: {what}" for name, what in LAYOUTS.items()),
        key=f"layout-{stamp}",
        persist_state="session",
    )
    guess = start if layout == start.layout else mapping_as(question.raw, layout)
    pick = _Picker(list(question.raw.columns), stamp, layout)
    if layout == "long":
        chosen = _empty(question, _long(pick, guess), start, stamp)
    elif layout in ("wide", "patterns"):
        chosen = _raters_across(pick, guess, layout)
    elif layout == "comparisons":
        chosen = _compared(pick, guess)
    elif layout == "labels":
        chosen = _empty(question, _labels_across(pick, guess), start, stamp)
    else:
        chosen = _across(pick, guess, layout)
    return _dated(question, chosen, start, stamp).chosen_from(guess)


def lacking(question: Question) -> str | None:
    """Return in words what must still be chosen before the file can be read; None if nothing."""
    mapping = question.mapping
    if mapping.layout == "comparisons" and None in (mapping.first, mapping.second):
        return "Could not tell which columns contain the two items. Choose the columns."
    if mapping.layout != "long":
        return None
    found = [title for role, title in _NEEDED.items() if getattr(mapping, role) is None]
    if mapping.rater is None and "anonymous" not in mapping.why:
        found.insert(min(1, len(found)), "rater")
    if not found:
        return None
    which, them = ("column contains", "it") if len(found) == 1 else ("columns contain", "them")
    words = f"Could not tell which {which} the {' and the '.join(found)}. Choose {them}"
    if "rater" in found:
        words += ", or mark the annotations as anonymous"
    taken = {getattr(mapping, role) for role in ROLES}
    free = [column for column in question.raw.columns if column not in taken]
    if 0 < len(free) <= _FEW:
        words += f". Perhaps {' or '.join(f'“{markdown(shorten(column))}”' for column in free)}"
    return words + "."


class _Picker:
    """Select boxes over the columns, with the guess chosen."""

    def __init__(self, columns: list[str], stamp: str, layout: str):
        self.columns, self.stamp, self.layout = columns, stamp, layout
        self.key = f"{stamp}-{layout}"

    def key_of(self, role: str) -> str:
        """Key of the control of a role."""
        return preview.picker_key(role, self.stamp, self.layout)

    def one(self, label: str, guessed: str | None, none: str | None, role: str) -> str | None:
        options = ([none] if none else []) + self.columns
        index = options.index(guessed) if guessed in options else (0 if none else None)
        chosen = st.selectbox(
            label, options, index=index, key=self.key_of(role), persist_state="session", format_func=_short,
            placeholder="Choose",
        )  # fmt: skip
        return None if chosen == none else chosen

    def several(
        self, label: str, guessed: tuple[str, ...], without: tuple[str | None, ...], role: str
    ) -> tuple[str, ...]:
        options = [column for column in self.columns if column not in without]
        if len(options) > _MOST_COLUMNS:
            st.caption(f"{label}: all {len(options):,} other columns.")
            return tuple(options)
        chosen = st.multiselect(
            label,
            options,
            default=[c for c in (guessed or options) if c in options],
            key=self.key_of(role),
            persist_state="session",
        )
        return tuple(chosen)


def _long(pick: _Picker, guess: Mapping) -> Mapping:
    case = pick.one("Case", guess.case, None, "case")
    why = {role: reason for role, reason in guess.why.items() if role != "anonymous"}
    options = [ANONYMOUS, *pick.columns]
    unsaid = guess.rater is None and "anonymous" not in guess.why
    rater = st.selectbox(
        "Rater",
        options,
        index=None if unsaid else options.index(guess.rater or ANONYMOUS),
        key=pick.key_of("rater"),
        persist_state="session",
        format_func=_short,
        placeholder="Choose",
    )
    if rater == ANONYMOUS:
        why["anonymous"] = "chosen on screen"
        rater = None
    answer = pick.one("Annotation (class or score)", guess.answer, None, "answer")
    with st.expander("More columns: ranks, date, group, gold", expanded=guess.ranked, key=f"more-{pick.key}"):
        rank = pick.one("Rank in a differential diagnosis", guess.rank, NOBODY, "rank")
        confidence = pick.one("Confidence in each class", guess.confidence, NOBODY, "confidence")
        separators = _separators(guess, pick.key) if rank is None and confidence is None else None
        time = pick.one("Date of the annotation", guess.time, NOBODY, "time")
        group = pick.one("Group of the case", guess.group, NOBODY, "group")
        gold = pick.one("Gold standard of the case", guess.gold, NOBODY, "gold")
    return Mapping(
        "long", case=case, rater=rater, answer=answer, rank=rank, confidence=confidence if rank is None else None,
        separators=separators, time=time, group=group, gold=gold, why=why,
        label_sign=guess.label_sign if separators is None and rank is None and confidence is None else None,
    )  # fmt: skip


def _compared(pick: _Picker, guess: Mapping) -> Mapping:
    first = pick.one("First item", guess.first, None, "first")
    second = pick.one("Second item", guess.second, None, "second")
    answer = pick.one("Preferred item", guess.answer, FIRST_WINS, "answer")
    rater = pick.one("Rater", guess.rater, ANONYMOUS, "rater")
    with st.expander("More columns: question, date", expanded=guess.case is not None, key=f"more-{pick.key}"):
        case = pick.one("Question that the items answer", guess.case, NOBODY, "case")
        time = pick.one("Date of the annotation", guess.time, NOBODY, "time")
    why = {role: reason for role, reason in guess.why.items() if role != "anonymous"}
    why |= {"anonymous": "chosen on screen"} if rater is None else {}
    return replace(guess, first=first, second=second, answer=answer, rater=rater, case=case, time=time, why=why)


def _short(name: str) -> str:
    return shorten(name, 60)


def _separators(guess: Mapping, key: str) -> tuple[str, str] | None:
    whole = st.toggle(
        "Each annotation is a whole ranking, such as A > B = C",
        value=guess.separators is not None,
        key=f"whole_ranking-{key}",
        persist_state="session",
    )
    if not whole:
        return None
    left, right = st.columns(2)
    first, tied = guess.separators or (">", "=")
    between = left.text_input(
        "Sign between places", first, key=f"sign_between-{key}", persist_state="session", max_chars=5
    )
    ties = right.text_input(
        "Sign between tied classes", tied, key=f"sign_ties-{key}", persist_state="session", max_chars=5
    )
    return (between, ties) if between and ties and between != ties else guess.separators


def _raters_across(pick: _Picker, guess: Mapping, layout: str) -> Mapping:
    case = pick.one("Case", guess.case, ROW_NUMBER, "case") if layout == "wide" else None
    count = pick.one("Cases with these annotations", guess.count, None, "count") if layout != "wide" else None
    raters = pick.several("Raters (one column each)", guess.raters, (case, count, guess.group, guess.gold), "raters")
    separators = None
    more = "More columns: group, gold" if layout == "wide" else "More columns: group"
    with st.expander(more, expanded=guess.ranked, key=f"more-{pick.key}"):
        group = pick.one("Group of the case", guess.group, NOBODY, "group")
        gold = pick.one("Gold standard of the case", guess.gold, NOBODY, "gold") if layout == "wide" else None
        if layout == "wide":
            separators = _separators(guess, pick.key)
    return replace(guess, case=case, raters=raters, count=count, group=group, gold=gold, separators=separators)


def _labels_across(pick: _Picker, guess: Mapping) -> Mapping:
    case = pick.one("Case", guess.case, None, "case")
    rater = pick.one("Rater", guess.rater, ANONYMOUS, "rater")
    with st.expander("More columns: date, group", key=f"more-{pick.key}"):
        time = pick.one("Date of the annotation", guess.time, NOBODY, "time")
        group = pick.one("Group of the case", guess.group, NOBODY, "group")
    across = pick.several("Labels (one 0/1 column per label)", guess.across, (case, rater, time, group), "across")
    return replace(guess, case=case, rater=rater, time=time, group=group, across=across)


def _empty(question: Question, chosen: Mapping, start: Mapping, stamp: str) -> Mapping:
    """Ask for the meaning of empty cells if annotations are sets of labels and some cell is empty."""
    columns = chosen.across if chosen.layout == "labels" else (chosen.answer,)
    if not chosen.holds_sets or not any(empty_cells(question.raw, column).any() for column in columns if column):
        return replace(chosen, empty="unsaid")
    whole = chosen.layout != "labels"
    said = st.toggle(
        f"An empty cell means that {'no' if whole else 'its'} label {'applies' if whole else 'does not apply'}",
        value=start.empty == "none",
        key=f"empty-{stamp}-{chosen.layout}",
        persist_state="session",
        help="If off, empty cells count as unknown, and annotations with empty cells are left out. If no label column "
        "contains a 0, only annotations without any label are left out.",
    )
    return replace(chosen, empty="none" if said else "unsaid")


def _dated(question: Question, chosen: Mapping, start: Mapping, stamp: str) -> Mapping:
    """Ask for the order of day and month if no date shows it; until then the dates are left out."""
    example = None if chosen.time is None else unclear_date(question.raw.table[chosen.time])
    if example is None:
        return replace(chosen, day_first=None)
    first = st.radio(
        f"What comes first in dates such as {markdown(example)}?",
        (True, False),
        index=None if start.day_first is None else int(not start.day_first),
        format_func=lambda day: "The day" if day else "The month",
        key=f"day_first-{stamp}-{chosen.layout}",
        persist_state="session",
        horizontal=True,
        help="Until you choose, the dates are left out.",
    )
    return replace(chosen, day_first=first)


def _across(pick: _Picker, guess: Mapping, layout: str) -> Mapping:
    rater = case = None
    if layout == "transposed":
        rater = pick.one("Rater", guess.rater, ANONYMOUS, "rater")
    else:
        label = "Case" if layout == "counts" else "Class of the row"
        case = pick.one(label, guess.case, ROW_NUMBER if layout == "counts" else None, "case")
    what = "Cases (one column each)" if layout == "transposed" else "Classes (one column each)"
    across = pick.several(what, guess.across, (rater, case, guess.group), "across")
    return replace(guess, rater=rater, case=case, across=across)


def _said(mapping: Mapping) -> None:
    for role, title in ROLES.items():
        column = getattr(mapping, role)
        if column is not None:
            st.markdown(f"{title.capitalize()}: **{markdown(column)}**")


def choices(start: Choices, stamp: str) -> dict:
    """Kind of annotation and repeats; None leaves the kind to the format or the annotations."""
    with st.expander("Kind of annotation and repeats", key=f"kind_and_repeats-{stamp}"):
        kinds, ways = list(KINDS), list(REPEATS)
        kind = st.selectbox(
            "An annotation is",
            kinds,
            index=list(KINDS.values()).index(start.kind),
            key=f"kind_choice-{stamp}",
            persist_state="session",
        )
        repeats = st.selectbox(
            "Repeated annotations of a case by the same rater",
            ways,
            index=list(REPEATS.values()).index(start.repeats),
            key=f"repeats_choice-{stamp}",
            persist_state="session",
        )
    return {"kind": KINDS[kind], "repeats": REPEATS[repeats]}
