"""The guided story on screen: seven steps on the live pages, left and resumed anywhere; the address holds the step."""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from core import story
from core.analyses.agreement import AGREEMENT
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.certainty.top_sets import CertaintyResult
from core.errors import PluralityError
from core.machines.alternative_test import EPSILON, Score
from core.plausibility.plackett_luce.gibbs import METHOD as PLACKETT_LUCE
from core.runtime.jobs import Job
from core.text import markdown
from pages.shared.ai_rater import computed
from pages.shared.cache import analyses, visit
from pages.shared.cache import datasets as cached
from pages.shared.cache import story as cached_story
from pages.shared.kit import (
    job_progress,
    opening,
    plausibility_models,
    predictions,
    presentation,
    reliability_slider,
    state,
)
from pages.shared.kit import sweep as sweeps

MODEL = PLACKETT_LUCE.name
_WEIGHS = "What does a model estimate about the raters?"


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
    """End the story (callback)."""
    del visit.story_left
    _out()
    visit.go_to = "home"


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
    if number == 4:
        torn = _torn()
        if torn is None:  # comes again when the certainties are there
            return
        visit.case = torn.case_id
    visit.story_ready = number


def known(page: str) -> story.Claim | None:
    """Return the claim of this page's step, if it is known; computes and shows nothing.

    It can stand above the page before the page runs: the browser draws it before the figures, which take it longest.
    Where it is not known the page's own work comes first.
    """
    number = step()
    if number is None or not _is_at(number, page):
        return None
    with suppress(PluralityError):  # said where the step is shown after its page
        return _claim(number, known=True)
    return None


def show(place, page: str, claim: story.Claim | None = None) -> bool:
    """Draw the step above its own page; on other pages, the link back to it.

    Parameters
    ----------
    place : container
    page : str
        Name of the page on screen.
    claim : Claim, optional
        Claim of the step; computed if omitted.

    Returns
    -------
    bool
        True if the claim is on screen.
    """
    number = step()
    if number is None:
        return False
    if _is_at(number, page):
        return _told(place, number, claim)
    bar = place.container(border=True, key="story_bar", gap="small")
    with bar, st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"Guided tour, step {number} of {len(story.STEPS)}: **{story.STEPS[number - 1].title}**", width="content"
        )
        st.button("Go on", icon=":material/arrow_forward:", on_click=go, args=(number,), key="story_return")
        if not presentation.on():
            st.button("Leave the tour", type="tertiary", on_click=leave, key="story_leave")
    return False


def _is_at(number: int, page: str) -> bool:
    """Return True if the screen shows the page and settings of a step."""
    told = story.STEPS[number - 1]
    return page == told.page and visit.data == told.data


def _told(place, number: int, claim: story.Claim | None) -> bool:
    """Draw the step with its claim; without one, compute it here and show the progress in its place."""
    told = story.STEPS[number - 1]
    with place.container(border=True, key="story_bar", gap="small"):
        st.markdown(f"**Step {number} of {len(story.STEPS):,} · {told.title}**")
        claim = claim or _claim(number)
        if claim is not None and claim.holds:
            st.markdown(f"{markdown(claim.words)}.")
        if not presentation.on():  # what it says to try is for those who have the controls
            st.caption(f"Try it: {told.attempt}")
            with st.container(horizontal=True, gap="small"):
                moves()
                st.button("Leave the tour", type="tertiary", on_click=leave, key="story_leave")
                presentation.button()
    return claim is not None


def moves() -> None:
    """Back and on, or the end."""
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
    else:
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


def _claim(number: int, *, known: bool = False) -> story.Claim | None:
    """Return the claim of a step; None while it is computed, or if it is not ``known`` and may not be started."""
    if number == 7:
        return _stands_in(known=known)
    dataset = state.whole().dataset
    view, _ = cached.class_view(dataset, state.split(dataset))
    if number == 1:
        part = AGREEMENT.part("coefficients")
        found = analyses.known(part, view) if known else analyses.result(part, view)
        return None if found is None else story.disagree(found.coefficients[0])
    if number == 3:
        if known and not opening.is_known(view):
            return None
        settings = _settings(dataset)
        if settings.rater_model_open:
            st.caption(opening.CHOOSING_RATERS)
            return None
        if known:
            return cached.known_result(_weighs_key(view, settings), _WEIGHS, view)
        return _result(_weighs_job(view, settings), view)
    if number in (2, 4):
        certainty = _certainty(dataset, known=known)
        if certainty is None:
            return None
        if number == 2:
            return story.hidden(view, certainty)
        torn = cached_story.known_torn(dataset, *_asked_of_torn()) if known else _torn_by(dataset, certainty)
        return None if torn is None else story.two_truths(torn)
    model = plausibility_models.method(MODEL).make()
    asked = dataset, model, plausibility_models.method(MODEL).reliability.sweep, predictions.classifiers(dataset)
    sweep = sweeps.known_sweep(*asked) if known else _result(sweeps.sweep_job(*asked), dataset)
    if sweep is None:
        return None
    if number == 5:
        place = sweep.reliabilities.index(model.default_reliability)
        return story.looked_better(sweep.evaluation[place], model.default_reliability)
    return story.flips(sweep.reliabilities, sweep.evaluation)


def ahead() -> None:
    """Begin what later steps take, while this one, which has said what it says, is read."""
    number = step()
    if number is None or number == len(story.STEPS):
        return
    if number >= 5:
        with state.looking_at(story.STEPS[-1].data):
            computed.job_of(*_machines(said=False), background=True)
        return
    dataset, model = state.whole().dataset, plausibility_models.method(MODEL).make()
    settings = _settings(dataset)
    if number < 3 and not settings.rater_model_open:
        _weighs_job(cached.class_view(dataset, state.split(dataset))[0], settings, background=True)
    plausibility_models.certainty_job(dataset, model, model.default_reliability, background=True)
    swept = plausibility_models.method(MODEL).reliability.sweep
    sweeps.sweep_job(dataset, model, swept, predictions.classifiers(dataset), background=True)


def _settings(dataset: Dataset) -> AnalysisSettings:
    """Return the settings as on the pages; the page is redrawn when they may change."""
    return reliability_slider.in_use(dataset, plausibility_models.method(MODEL).make(), waits=True)


def _weighs_key(view: Dataset, settings: AnalysisSettings) -> tuple:
    return (view.content_digest, "weighs", settings.rater_model)


def _weighs_job(view: Dataset, settings: AnalysisSettings, *, background: bool = False) -> Job:
    def work(job: Job) -> story.Claim:
        known = with_codes((settings.choice, settings.averaged), view)  # fitted with the names of ``view``
        return cached_story.weighs(view.coded, replace(settings, choice=known[0], averaged=known[1]))

    return cached.job(
        _weighs_key(view, settings),
        _WEIGHS,
        work,
        of=view,
        background=background,
    )


def _machines(*, said: bool) -> tuple[computed.Machines, float, Score]:
    """Return data, ε and score of the last step; ``said`` as for `computed.with_classifiers`."""
    reading, marked = state.with_machines()
    names = tuple(one.name for one in marked)
    return computed.with_classifiers(reading.dataset, names, said=said), EPSILON, "accuracy"


def _stands_in(*, known: bool) -> story.Claim | None:
    machines, *asked = _machines(said=not known)
    if known:
        judged = computed.known(machines, *asked)
    else:
        found = _result(computed.job_of(machines, *asked), machines.dataset)
        judged = None if found is None else computed.Computed(*found)
    return None if judged is None else story.stands_in(judged.test, judged.by_log_score)


def _certainty(dataset: Dataset, *, known: bool = False) -> CertaintyResult | None:
    model = plausibility_models.method(MODEL).make()
    if known:
        return plausibility_models.known_certainty(dataset, model, model.default_reliability)
    found = _result(plausibility_models.certainty_job(dataset, model, model.default_reliability), dataset)
    return None if found is None else found.certainty


def _torn() -> story.Torn | None:
    dataset = state.whole().dataset
    certainty = _certainty(dataset)
    return None if certainty is None else _torn_by(dataset, certainty)


def _torn_by(dataset: Dataset, certainty: CertaintyResult) -> story.Torn:
    return cached_story.torn(dataset, certainty, *_asked_of_torn())


def _asked_of_torn() -> tuple:
    model = plausibility_models.method(MODEL).make()
    return model, model.default_reliability, plausibility_models.N_DRAWS, plausibility_models.SEED


def _result(job: Job, dataset: Dataset):
    """Return the result of a job on a dataset, which may be one of the page's own; the step waits while it runs."""
    with suppress(PluralityError):
        job.wait(0.3)
    if job.state == "done":
        return cached.result(job, dataset)
    if job.finished:
        job_progress.say_ended(job, dataset)
    else:
        job_progress.redraw_after(job)
        st.caption("Computing the numbers of this step …")
    return None
