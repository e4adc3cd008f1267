"""Held-out scores of the rater models in a table, and what gold says of each."""

import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.models.choose import Choice, Standing
from core.models.gold_measures import GoldMeasures
from core.text import markdown, number, plural, shorten
from pages.shared.kit import columns, widgets

_GOLD_WORDS = "gold judges, it does not choose"
_MOST_NAMED = 12


def show(view: Dataset, found: Choice, by_gold: dict[str, GoldMeasures]) -> None:
    """The table behind the sentence."""
    widgets.heading(f"Held-out scores of {plural(len(found.standings), 'model')}", "held-out score")
    frame = frame_of(found, by_gold)
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.fine("score", "difference", "± difference", "log loss by gold", "Brier by gold")
        | columns.counts("flipped")
        | columns.fine("ECE by gold", "classes off by gold")
        | columns.shares("accuracy by gold", "right at ≥ .99"),
        key="held_out_scores",
    )
    st.caption(
        f"{plural(found.n_hidden, 'annotation')} held out. The score is in nats an annotation, larger is better; β "
        "is what an annotation counts for beside the others of its case. It is blind to mistakes that raters share. "
        f"Flipped: how many of {plural(found.n_unanimous, 'unanimous case')} get another class."
    )
    if better := _preferred_by_gold(found, by_gold):
        st.info(markdown(better), icon=":material/verified:")
    widgets.download(frame, "Held-out scores", "held_out_scores", "held_out_scores_download")
    if found.families:
        widgets.download(families_of(found), "Raters who say the same", "families", "families_download")


def who_says_the_same(found: Choice) -> str:
    """The raters of each family by name, as Markdown; nothing where every rater stands alone."""
    frame = families_of(found)
    named = frame.head(_MOST_NAMED).groupby("family")["rater"]
    words = " · ".join(", ".join(markdown(shorten(name, 40)) for name in names) for _, names in named)
    more = len(frame) - _MOST_NAMED
    return f"{words} and {more:,} more, listed with the held-out scores" if more > 0 else words


def families_of(found: Choice) -> pd.DataFrame:
    """One row a rater who is in a family."""
    rows = [(place, name) for place, names in enumerate(found.families, 1) for name in names]
    return pd.DataFrame(rows, columns=["family", "rater"])


def frame_of(found: Choice, by_gold: dict[str, GoldMeasures]) -> pd.DataFrame:
    """One row a model, in the order of the scores."""
    return pd.DataFrame([_row(found, each, by_gold.get(each.candidate.name)) for each in found.standings]).dropna(
        axis=1, how="all"
    )


def _row(found: Choice, each: Standing, gold: GoldMeasures | None) -> dict:
    held = each.held
    row = {
        "model": each.candidate.title,
        "score": None if held is None else held.score,
        "difference": each.diff,
        "± difference": each.diff_se,
        "parameters": each.n_parameters,
        "β held out": None if held is None else held.beta,
        "β shown": None if held is None or each.by_vote else each.beta,
        "prevalence": "to the power of β" if held is not None and held.temper_prevalence else None,
        "flipped": each.flipped,
        "remark": _remark(found, each),
    }
    if gold is not None:
        certain = gold.certain_right
        row |= {
            "accuracy by gold": gold.accuracy.value,
            "log loss by gold": gold.log_loss.value,
            "Brier by gold": gold.brier.value,
            "ECE by gold": gold.ece.value,
            "classes off by gold": None if gold.absolute_error is None else gold.absolute_error.value,
            "cases at ≥ .99": gold.n_certain,
            "right at ≥ .99": None if certain is None else certain.value,
        }
    return row


def _remark(found: Choice, each: Standing) -> str:
    """Whether a model opens or why it cannot, and that it has not converged."""
    words = "opens" if each.candidate.name == found.chosen else each.excluded
    if each.fit is None or each.fit.converged:
        return words
    return f"{words} (not converged)" if words else "not converged"


def _preferred_by_gold(found: Choice, by_gold: dict[str, GoldMeasures]) -> str:
    """That gold prefers another model than the one that opened, where its log loss is lower beyond the intervals."""
    opened = by_gold.get(found.chosen)
    if opened is None:
        return ""
    rivals = {
        each.candidate.title: by_gold[each.candidate.name].log_loss
        for each in found.standings
        if each.candidate.name in by_gold and not each.excluded and each.candidate.name != found.chosen
    }
    if not rivals:
        return ""
    title, loss = min(rivals.items(), key=lambda item: item[1].value)
    if loss.high >= opened.log_loss.low:
        return ""
    return (
        f"Gold prefers {title}: log loss {number(loss.value)} ({number(loss.low)} to {number(loss.high)}) on "
        f"{plural(opened.n, 'gold case')}, against {number(opened.log_loss.value)} of the model that opened; "
        f"{_GOLD_WORDS}. Choose it above to use it."
    )
