"""What the columns of a file mean: guessed, shown, and put right by the user."""

from dataclasses import replace

import streamlit as st

from core.annotations.likeliest import mapping_as
from core.annotations.mapping import LAYOUTS, Mapping
from core.annotations.readers import Question, Source
from core.text import markdown, plural, shorten

NOBODY = "(none)"
ROW_NUMBER = "(the row's number)"
ANONYMOUS = "(none: answers are anonymous)"
KINDS = {"Found out by itself": None, "A class": "class", "A score": "score", "A ranking": "ranking"}
REPEATS = {"Keep them all": "keep", "Use only the first": "first", "Refuse the file": "refuse"}
TITLES = {
    "long": "One row per answer",
    "wide": "A column per rater",
    "transposed": "A row per rater",
    "counts": "Counts per case",
    "contingency": "Two raters, cross table",
    "patterns": "Answer patterns with counts",
}
_PLAIN = ("table", *LAYOUTS)
_MOST_COLUMNS = 300


def choose_question(source: Source) -> Question:
    """The question that is asked about; chosen by the user where there are several."""
    if len(source.questions) == 1:
        return source.questions[0]
    names = [question.name for question in source.questions]
    chosen = st.selectbox(
        f"The file holds {plural(len(names), 'question')}: which one?", names, key="question", format_func=shorten
    )
    return source.questions[names.index(chosen)]


def choose_mapping(source: Source, question: Question) -> Mapping:
    """The mapping as the format says, or as the user puts it right."""
    if source.format not in _PLAIN:
        with st.expander("What the columns of this format were taken for"):
            _said(question.mapping)
            own = st.toggle("Let me choose the columns myself", key="own_mapping")
        if not own:
            return question.mapping
    layout = st.selectbox(
        "Layout",
        list(LAYOUTS),
        index=list(LAYOUTS).index(question.mapping.layout),
        format_func=lambda name: TITLES[name],
        help="; ".join(f"**{TITLES[name]}**: {what}" for name, what in LAYOUTS.items()),
        key=f"layout-{question.name}",
    )
    guess = question.mapping if layout == question.mapping.layout else mapping_as(question.raw, layout)
    columns = list(question.raw.columns)
    pick = _Picker(columns, f"{question.name}-{layout}")
    if layout == "long":
        return _long(pick, guess)
    if layout in ("wide", "patterns"):
        return _raters_across(pick, guess, layout)
    return _across(pick, guess, layout)


class _Picker:
    """Select boxes over the columns, with the guess chosen."""

    def __init__(self, columns: list[str], key: str):
        self.columns, self.key = columns, key

    def one(self, label: str, guessed: str | None, none: str | None, key: str) -> str | None:
        options = ([none] if none else []) + self.columns
        index = options.index(guessed) if guessed in options else (0 if none else None)
        chosen = st.selectbox(
            label, options, index=index, key=f"{key}-{self.key}", format_func=lambda o: shorten(o, 60),
            placeholder="Choose",
        )  # fmt: skip
        return None if chosen == none else chosen

    def several(
        self, label: str, guessed: tuple[str, ...], without: tuple[str | None, ...], key: str
    ) -> tuple[str, ...]:
        options = [column for column in self.columns if column not in without]
        if len(options) > _MOST_COLUMNS:
            st.caption(f"{label}: all {len(options):,} other columns.")
            return tuple(options)
        chosen = st.multiselect(
            label, options, default=[c for c in (guessed or options) if c in options], key=f"{key}-{self.key}"
        )
        return tuple(chosen)


def _long(pick: _Picker, guess: Mapping) -> Mapping:
    case = pick.one("Case", guess.case, None, "case_column")
    rater = pick.one("Rater", guess.rater, ANONYMOUS, "rater_column")
    why = dict(guess.why)
    if rater is None:
        why["anonymous"] = "chosen on screen"
        if guess.rater is None:
            st.warning("No column was recognised as the rater. Choose it, or leave the answers anonymous.")
    answer = pick.one("Answer (class or score)", guess.answer, None, "answer_column")
    with st.expander("More columns", expanded=guess.ranked):
        rank = pick.one("Rank in a differential diagnosis", guess.rank, NOBODY, "rank_column")
        confidence = pick.one("Confidence in each class", guess.confidence, NOBODY, "confidence_column")
        separators = _separators(guess) if rank is None and confidence is None else None
        time = pick.one("Date of the answer", guess.time, NOBODY, "time_column")
        group = pick.one("Group of the case", guess.group, NOBODY, "group_column")
        gold = pick.one("Known class of the case", guess.gold, NOBODY, "gold_column")
    return Mapping(
        "long", case=case, rater=rater, answer=answer, rank=rank, confidence=confidence if rank is None else None,
        separators=separators, time=time, group=group, gold=gold, why=why,
    )  # fmt: skip


def _separators(guess: Mapping) -> tuple[str, str] | None:
    whole = st.toggle(
        "An answer is a whole ranking, such as A > B = C", value=guess.separators is not None, key="whole_ranking"
    )
    if not whole:
        return None
    left, right = st.columns(2)
    first, tied = guess.separators or (">", "=")
    between = left.text_input("Sign between places", first, key="sign_between", max_chars=5)
    ties = right.text_input("Sign between tied classes", tied, key="sign_ties", max_chars=5)
    return (between, ties) if between and ties and between != ties else guess.separators


def _raters_across(pick: _Picker, guess: Mapping, layout: str) -> Mapping:
    case = pick.one("Case", guess.case, ROW_NUMBER, "case_column") if layout == "wide" else None
    count = (
        pick.one("How many cases have these answers", guess.count, None, "count_column") if layout != "wide" else None
    )
    raters = pick.several("Raters (one column each)", guess.raters, (case, count, guess.group, guess.gold), "raters")
    separators = None
    with st.expander("More columns", expanded=guess.ranked):
        group = pick.one("Group of the case", guess.group, NOBODY, "group_column") if layout == "wide" else None
        gold = pick.one("Known class of the case", guess.gold, NOBODY, "gold_column") if layout == "wide" else None
        if layout == "wide":
            separators = _separators(guess)
    return replace(guess, case=case, raters=raters, count=count, group=group, gold=gold, separators=separators)


def _across(pick: _Picker, guess: Mapping, layout: str) -> Mapping:
    rater = case = None
    if layout == "transposed":
        rater = pick.one("Rater", guess.rater, ANONYMOUS, "rater_column")
    else:
        label = "Case" if layout == "counts" else "Class of the row"
        case = pick.one(label, guess.case, ROW_NUMBER if layout == "counts" else None, "case_column")
    what = "Cases (one column each)" if layout == "transposed" else "Classes (one column each)"
    across = pick.several(what, guess.across, (rater, case, guess.group), "across")
    return replace(guess, rater=rater, case=case, across=across)


def _said(mapping: Mapping) -> None:
    for role in ("case", "rater", "answer", "rank", "time", "group"):
        column = getattr(mapping, role)
        if column is not None:
            st.markdown(f"{role.capitalize()}: **{markdown(column)}**")


def choices(question: Question) -> dict:
    """Kind of answer, order and closed list of classes, repeats."""
    with st.expander("Kind of answer and repeats"):
        kind = KINDS[st.selectbox("An answer is", list(KINDS), key="kind_choice")]
        repeats = REPEATS[
            st.selectbox("Repeated answers of one rater on one case", list(REPEATS), key="repeats_choice")
        ]
        st.radio(
            "Does the first row hold column names?", ["Found out by itself", "Yes", "No"], key="header_choice",
            horizontal=True,
        )  # fmt: skip
    return {"kind": kind or question.kind, "repeats": repeats}
