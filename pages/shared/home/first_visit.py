"""First visit: the purpose in one screen, shown live on a case of a sample, with the ways to start."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult
from core.figures import cases as figures
from core.figures.theme import class_colours
from core.ingest.samples import SAMPLES
from core.plausibility.plackett_luce.gibbs import METHOD as PLACKETT_LUCE
from core.reducers.metrics import score_case
from core.runtime.cluster import elsewhere
from core.settings import current_settings
from core.text import markdown, probability, simulated
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.home.doors import plot_still
from pages.shared.kit import plausibility_models, state, widgets
from pages.shared.kit import style as look
from pages.shared.kit.redraw import draw_anew, part

# A mole or a melanoma: seven dermatologists of the simulated panel name the one or the other first.
SAMPLE, CASE = "skin", "skin-080"
TRUSTS = (1, 2, 3, 5, 10, 20)
_LINES = 3
_NEEDS = ("draws", "points", "summaries", "others")
_POLL_SECONDS = 1.0
_QUESTIONS = (
    ("How much do raters agree?", "Agreement with 95% intervals, by rater, class and time"),
    ("Which raters are accurate?", "Rater accuracy with or without a gold standard, and the evidence behind each flag"),
    ("Which cases are uncertain?", "Certainty of every case, and a list of cases to review"),
    ("Is one classifier really better?", "Classifier metrics that account for uncertain ground truth"),
)
_MOST_BESIDE = 4  # cards of samples in a row


def show(story: Callable[[], None], drop_zone: Callable[[], None], saved: Callable[[], None]) -> None:
    """Draw the page that opens without data.

    Parameters
    ----------
    story, drop_zone, saved : callable
        Draw the way into the guided story, the place where files are dropped, and the saved data.
    """
    stays = "" if elsewhere(current_settings().cluster) else " Nothing leaves this computer."
    left, right = st.columns([5, 6], gap="large")
    with left:
        st.title("See where your raters agree, and where they do not")
        st.markdown(
            "A majority vote hides disagreement. Plurality shows how much raters agree, which raters are "
            f"accurate, which cases are uncertain, and how certain each result is.{stays}"
        )
        st.html(
            '<dl class="questions">'
            + "".join(f"<dt>{question}</dt><dd>{answer}</dd>" for question, answer in _QUESTIONS)
            + "</dl>"
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            story()
            st.caption("A 5-minute guided tour with sample data.")
        drop_zone()
    with right.container(border=True, key="live_case"):
        _live()
    saved()
    st.subheader("Or open sample data", anchor=False)
    rows = -(-len(SAMPLES) // _MOST_BESIDE)
    places = [column for _ in range(rows) for column in st.columns(_MOST_BESIDE)]
    for column, sample in zip(places, SAMPLES, strict=False):
        with column.container(border=True, height="stretch", key=f"card-{sample.name}", gap="small"):
            st.markdown(f"**{sample.title}** :small[{sample.size} · {sample.answers}]")
            st.caption(sample.shows)
            st.button(
                f"Open {sample.title}",
                key=f"sample-{sample.name}",
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=state.use,
                args=(sample.name,),
            )


def _live() -> None:
    """Draw the case as it is computed now; while kernels are compiled, only the raters' annotations."""
    if cached.preparation().missing(_NEEDS):
        _waiting()
    else:
        _case()


@part(_POLL_SECONDS)
def _waiting() -> None:
    if not cached.preparation().missing(_NEEDS):
        draw_anew()
    st.markdown("**A live case from sample data** appears here when setup is finished (about a minute).")


@part()
def _case() -> None:
    dataset, theme = cached.sample(SAMPLE).dataset, look.theme()
    case = dataset.case_index(CASE)
    n = len(dataset.annotations_of(case))
    st.markdown(f"**Live example: one case, {n} dermatologists.** Their diagnoses, in order of preference:")
    trust = visit.number["first_trust"] or 3
    model = plausibility_models.method(PLACKETT_LUCE.name).make()
    found = cached_cases.one_case(dataset, model, case, float(trust))
    draws, quantiles = found.draws, found.quantiles
    lines = found.by_mean[:_LINES]
    codes = [int(draws.classes[place]) for place in lines]
    colours = class_colours(codes, dataset.n_classes, theme)
    widgets.chips(dataset, dataset.annotations_of(case), colours, hide_names=True)
    st.select_slider("Reliability γ: how much each annotation counts", TRUSTS, value=3, key="first_trust")
    plot_still(
        figures.plausibility_bars(
            [dataset.classes[code] for code in codes],
            np.array([found.point.get(code, 0.0) for code in codes]),
            quantiles.mean[lines],
            quantiles.quantile[0][lines],
            quantiles.quantile[2][lines],
            draws.share[:, lines],
            [colours.get(code, theme.rest) for code in codes],
            theme,
            "",
        ),
        "first_bars",
        "Plausibility of three classes for one case: bar, draws and a line that covers 95 percent of the draws",
    )
    st.markdown(says(dataset, found.certainty, _guesses(dataset, case, draws)))


def _guesses(dataset: Dataset, case: int, draws) -> tuple[str, str, float]:
    """Return a classifier of the sample, its first prediction, and its probability under the draws."""
    classifier = cached.sample_predictions(SAMPLE, dataset)[0]
    entries = slice(classifier.ptr[case], classifier.ptr[case + 1])
    code = classifier.class_code[entries]
    right = float(score_case(draws, code, classifier.group[entries], 1)[0].mean())
    return classifier.name, dataset.classes[code[0]], right


def says(dataset: Dataset, certain: CertaintyResult, guess: tuple[str, str, float]) -> str:
    """Return the conclusion for the case, in two sentences."""
    top, (name, named, right) = dataset.classes[int(certain.top_class()[0])], guess
    value = simulated(float(certain.certainty[0, 0]), float(certain.se[0, 0]))
    return (
        f"At this γ, the leading class is **{markdown(top)}** (certainty **{value}**). Classifier {markdown(name)} "
        f"predicts {markdown(named)}, which is correct with **{probability(right)}** probability."
    )
