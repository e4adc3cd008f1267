"""The guided story on screen: seven steps on the live pages, left and resumed anywhere; the address holds the step.

In a presentation, a step is a slide: its claim and one figure, without the page.
"""

from contextlib import suppress

import streamlit as st

from core import story
from core.figures import tour as figures
from core.machines.alternative_test import EPSILON, Score
from core.plausibility.plackett_luce.gibbs import METHOD as PLACKETT_LUCE
from core.text import html_text, markdown
from pages.shared.ai_rater import computed
from pages.shared.cache import visit
from pages.shared.kit import plausibility_models, predictions, presentation, state, widgets
from pages.shared.kit import style as look
from pages.shared.kit import sweep as sweeps

MODEL = PLACKETT_LUCE.name


def step() -> int | None:
    """Return the number of this session's step, from 1; None outside the story."""
    with suppress(ValueError):
        if 1 <= (number := int(visit.story or "")) <= len(story.STEPS):
            return number
    del visit.story
    return None


def go(number: int) -> None:
    """Go to a step, on its page with its settings; keep what was open before for the end (callback)."""
    if step() is None and visit.data != story.SAMPLE:
        visit.story_before = visit.data
    _set_up(number)
    visit.go_to = story.STEPS[number - 1].page


def leave() -> None:
    """Leave the story and return to what was open before it (callback)."""
    visit.story_left = step()
    _out()


def end() -> None:
    """End the story, and open the page that takes files (callback)."""
    del visit.story_left
    _out()
    visit.go_to = "upload"


def entrance(label: str = "Start the guided tour", kind: str = "secondary") -> None:
    """Draw the button that starts the story or resumes it; nothing within the story."""
    if step() is not None:
        return
    left = visit.story_left
    words = f"Resume tour (step {left} of {len(story.STEPS)})" if left else label
    st.button(words, icon=":material/auto_stories:", type=kind, on_click=go, args=(left or 1,), key=f"story-{kind}")


def prepare(page: str) -> None:
    """Before a page runs: what its step needs, once; an address that names a step needs it too."""
    number = step()
    if number is None or visit.story_ready == number or story.STEPS[number - 1].page != page:
        return
    if visit.story_set != number:
        _set_up(number)
    if (slide := _slide(number)) is not None and slide.case_id:
        visit.case = slide.case_id
    visit.story_ready = number


def show(place, page: str) -> bool:
    """Draw the step above its own page; on other pages, the link back to it.

    Parameters
    ----------
    place : container
    page : str
        Name of the page on screen.

    Returns
    -------
    bool
        True if this is the whole screen: a slide.
    """
    number = step()
    if number is None:
        return False
    at, slide = _is_at(number, page), None
    if at and (slide := _slide(number)) is not None and presentation.on():
        _draw(number, slide)
        return True
    told = story.STEPS[number - 1]
    with place.container(border=True, key="story_bar", gap="small"):
        if not at:
            _way_back(number)
            return False
        st.markdown(f"**Step {number} of {len(story.STEPS):,} · {told.title}**")
        if slide is not None:
            st.markdown(f"{markdown(slide.claim.words)}.")
        if not presentation.on():  # what it says to try is for those who have the controls
            st.caption(f"Try it: {told.attempt}")
            with st.container(horizontal=True, gap="small"):
                moves()
                st.button("Leave the tour", type="tertiary", on_click=leave, key="story_leave")
                presentation.button()
    return False


def _way_back(number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Guided tour, step {number} of {len(story.STEPS)}: **{story.STEPS[number - 1].title}**", width="content"
        )
        st.button("Continue", icon=":material/arrow_forward:", on_click=go, args=(number,), key="story_return")
        if not presentation.on():
            st.button("Leave the tour", type="tertiary", on_click=leave, key="story_leave")


def _draw(number: int, slide: story.Slide) -> None:
    """Draw a slide: claim, figure, and what they rest on."""
    with st.container(key="slide", gap="xsmall"):
        st.caption(f"{number} of {len(story.STEPS)} · {story.STEPS[number - 1].title}")
        st.html(f"<h1>{html_text(slide.headline)}</h1>")
        with st.container(key="slide_figure", height="stretch"):
            figure = figures.draw(slide, look.theme())
            widgets.plot(figure, f"slide-{number}", slide.headline, height="stretch")
        st.caption(markdown(slide.basis))


def _slide(number: int) -> story.Slide | None:
    """Return the slide of a step with the names that the screen shows."""
    dataset = _machines()[0].dataset if number == len(story.STEPS) else state.whole().dataset
    return story.slide(number, dataset)


def _is_at(number: int, page: str) -> bool:
    """Return True if the screen shows the page and settings of a step."""
    told = story.STEPS[number - 1]
    return page == told.page and visit.data == told.data


def moves() -> None:
    """Draw the buttons back and on, or to the end."""
    number = step()
    if number is None:
        return
    if number > 1:
        st.button("Back", icon=":material/arrow_back:", on_click=go, args=(number - 1,), key="story_back")
    if number < len(story.STEPS):
        st.button(
            f"Next: {story.STEPS[number].title}",
            icon=":material/arrow_forward:",
            type="primary",
            on_click=go,
            args=(number + 1,),
            key="story_next",
        )
    elif not presentation.on():  # an audience stays on the last slide
        st.button(
            "Finish and open your own data", icon=":material/flag:", type="primary", on_click=end, key="story_end"
        )


def _set_up(number: int) -> None:
    told = story.STEPS[number - 1]
    if visit.data != told.data:
        state.use(told.data)
    del visit.select
    del visit.story_ready
    visit.story = visit.story_set = number
    page = told.page
    if page in ("cases", "reliability"):
        visit.model = MODEL
    if page == "cases":
        visit.reliability = plausibility_models.method(MODEL).reliability.default
        visit.text["find"] = ""
        del visit.case
    elif page == "models":
        del visit.models_chosen, visit.rater_model  # the rater model of the settings opens
    elif page == "ai_rater":
        visit.choice["ai_tabs"] = "Against each rater"
    elif page == "reliability":
        visit.choice["reliability_tabs"] = "Classifiers"
        visit.choice["metric"] = story.METRIC
        key, default = f"reliabilities-{MODEL}", list(plausibility_models.method(MODEL).reliability.sweep)
        if visit.choices.get(key, default) != default:  # else the page opens with it by itself
            visit.choices[key] = default


def _out() -> None:
    del visit.story
    if before := visit.story_before:
        state.use(before)
        visit.go_to = "home"


def ahead(page: str) -> None:
    """Begin what the pages of later steps take, while this one is read.

    Parameters
    ----------
    page : str
        Name of the page on screen.
    """
    number = step()
    if number is None or number == len(story.STEPS) or not _is_at(number, page):
        return
    if number >= 5:
        with state.looking_at(story.STEPS[-1].data):
            computed.job_of(*_machines(), background=True)
        return
    dataset, model = state.whole().dataset, plausibility_models.method(MODEL).make()
    plausibility_models.certainty_job(dataset, model, model.default_reliability, background=True)
    swept = plausibility_models.method(MODEL).reliability.sweep
    sweeps.sweep_job(dataset, model, swept, predictions.classifiers(dataset), background=True)


def _machines() -> tuple[computed.Machines, float, Score]:
    """Return data, ε and score of the last step."""
    reading, marked = state.with_machines()
    names = tuple(one.name for one in marked)
    return computed.with_classifiers(reading.dataset, names, said=False), EPSILON, "accuracy"
