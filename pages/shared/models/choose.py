"""Which rater models to fit, and how: a list, five switches that spell a tag, and the rarer settings behind More."""

import streamlit as st

from core.analyses.blocks import Name, Words
from core.analyses.models.scores import who_says_the_same
from core.analysis_settings import rater_request, shown_at
from core.annotations.dataset import Dataset
from core.errors import InputError
from core.figures import effects as figures
from core.methods import methods
from core.models.bayesian_dawid_skene import METHOD as BAYESIAN
from core.models.bayesian_dawid_skene import PRIORS, prior_in_words
from core.models.catalogue import Request, request
from core.models.dawid_skene import METHOD as DAWID_SKENE
from core.models.dawid_skene import default_smoothing
from core.models.difficulty.model import METHODS as DIFFICULTY
from core.models.difficulty.names import Switches, switches, tag_of
from core.models.gold import gold_cases
from core.models.rater_methods import BETA, DOUBT, RaterModelMethod
from core.text import markdown, plural
from pages.shared.cache import visit
from pages.shared.kit import blocks, evidence, job_progress, opening, widgets

RESTARTS = (0, 20, 100, 200)
FIRST, FULL = "Posterior mode (quick)", "Full posterior"
_SWITCHES = {
    "bias": "Rater bias: a rater's sensitivity and specificity may differ",
    "ability": "Rater ability: some raters are more accurate",
    "difficulty": "Difficulty: some cases are harder",
    "discrimination": "Discrimination: some cases better separate accurate from inaccurate raters",
    "guessing": "Guessing: some cases can be annotated correctly by guessing",
}


def choose(view: Dataset) -> tuple[list[Request], int]:
    """Draw the choice of models; return the requested models and the number of restarts."""
    judged = _opened_with(view)
    known = {
        method.name: method
        for method in methods(RaterModelMethod).values()
        if not method.reference and (view.ordinal or "order" not in method.needs)
    }
    visit.models_chosen = [name for name in visit.models_chosen if name in known]
    row = st.container(horizontal=True, vertical_alignment="bottom")
    chosen = row.multiselect(
        "Models",
        list(known),
        format_func=lambda name: known[name].title,
        key="models_chosen",
        help=widgets.explained("rater models"),
        persist_state="session",
    )
    bayesian = [name for name in chosen if "nuts" in known[name].ways]
    how = row.segmented_control(
        "Bayesian models",
        [FIRST, FULL],
        default=FIRST,
        required=True,
        key="bayesian_how",
        disabled=not bayesian,
        help=widgets.explained("full posterior"),
        persist_state="session",
    )
    with row.popover(
        "Difficulty", icon=":material/tune:", help="Turn effects on or off in models with case difficulty"
    ):
        _switches()
    with row.popover("More", key="more_models"):
        em, draws, restarts = _more(view)
        priors = _priors(view) if BAYESIAN.name in chosen else {}
    asked = em | draws | priors | {"positive": _positive(view, [known[name] for name in chosen])}
    requests = []
    for name in chosen:
        ways = known[name].ways
        way = "nuts" if how == FULL and "nuts" in ways else ways[0]
        at = {} if way == "nuts" else shown_at(name, judged and judged.choice)  # chains have no β
        requests.append(request(name, way, **_taken(known[name], way, asked | at)))
    _why(view, judged)
    return requests, restarts


def _opened_with(view: Dataset) -> opening.JudgedModels | None:
    """Return the rater model of the settings until the user chooses one; None if the majority vote is the default."""
    judged = opening.choice(view)
    now = visit.models_chosen
    if now is None or now == visit.models_opened:
        best = rater_request(None if judged is None else judged.choice, view).method
        visit.models_chosen = visit.models_opened = [] if best.reference else [best.name]
    return judged


def keep_choice(view: Dataset, shown: Request) -> None:
    """Let the rater model that the user chose count on all pages; one that only opened is that of the data.

    Parameters
    ----------
    view : Dataset
    shown : Request
        Request of the model that the page is about.
    """
    visit.rater_model = (view.content_digest, shown) if visit.models_chosen != visit.models_opened else None


def is_open(view: Dataset) -> bool:
    """Return True if the default model of the page depends on scores that are still being computed."""
    job = opening.choice_job(view)
    at_work = job is not None and not job.finished
    return at_work and visit.models_chosen == visit.models_opened


def vote_opens(view: Dataset) -> bool:
    """Return True if the held-out scores favour the majority vote and the user has chosen nothing else."""
    judged = opening.choice(view)
    return judged is not None and judged.choice.best.candidate.reference and not visit.models_chosen


def _why(view: Dataset, judged: opening.JudgedModels | None) -> None:
    """Why this model opened, or that the user chose; the scores are one click away."""
    if judged is None:
        job = opening.choice_job(view)
        if job is not None and not job.finished:
            then = " This page will then show the average of the models." if is_open(view) else ""
            st.caption(opening.CHOOSING_RATERS + then)
            job_progress.redraw_after(job)
        elif job is not None:
            job_progress.say_ended(job, view)
        return
    found = judged.choice
    mine = visit.models_chosen != visit.models_opened
    if not mine and judged.averaged.members:  # the average says what it is made of
        return
    reason = f"Chosen by you. {found.reason}" if mine else found.reason
    left, right = st.columns([5, 1.4], vertical_alignment="center")
    who = who_says_the_same(found)
    spans = (Name(f"{reason} {found.flips}"), *((" They are: ", *who, ".") if who else ()))
    with left:
        blocks.show([Words(spans, "note", "held-out score")])
    if mine:
        label = "Use the average" if judged.averaged.members else "Use the vote"
        right.button(label, type="tertiary", on_click=visit.drop, args=("models_chosen",), key="use_best_model")


def _taken(method: RaterModelMethod, way: str, asked: dict) -> dict:
    """Those of the settings that a model has; pseudo-counts that it does not know are the pooled ones."""
    of_mode = (BETA.name, DOUBT.name)
    options = {one.name: one for one in method.options if way == "nuts" or not one.of_run or one.name in of_mode}
    taken = {name: value for name, value in asked.items() if name in options}
    if "smoothing" in taken and taken["smoothing"] not in options["smoothing"].choices:
        taken["smoothing"] = "pooled"
    return taken


def _more(view: Dataset) -> tuple[dict, dict, int]:
    smoothings, repeated = DAWID_SKENE.option("smoothing").choices, DAWID_SKENE.option("repeats").choices
    usual = default_smoothing(view)
    smoothing = st.selectbox(
        "Smoothing (expectation-maximisation)",
        list(smoothings),
        index=list(smoothings).index(usual),
        format_func=lambda name: smoothings[name] + (" · default" if name == usual else ""),
        key=f"smoothing-{view.digest}",
        help=widgets.explained("smoothing"),
        persist_state="session",
    )
    restarts = st.selectbox(
        "Additional random starts",
        RESTARTS,
        key="restarts",
        help=widgets.explained("restarts"),
        persist_state="session",
    )
    repeats = st.selectbox(
        "Repeated annotations by the same rater",
        [name for name in repeated if name != "refuse"],
        format_func=repeated.get,
        key="model_repeats",
        persist_state="session",
    )  # fmt: skip
    n_gold = len(gold_cases(view))
    use_gold = bool(n_gold) and st.toggle(
        f"Treat the gold class of {plural(n_gold, 'case')} as known", key="use_gold", persist_state="session"
    )
    evidence.ask(view)
    left, right = st.columns(2)
    n_draws = left.number_input("Draws per chain", 100, 10_000, 1000, 100, key="nuts_draws", persist_state="session")
    n_tune = right.number_input("Warm-up draws", 100, 10_000, 1000, 100, key="nuts_tune", persist_state="session")
    n_chains = left.number_input("Chains", 2, 8, 4, key="nuts_chains", persist_state="session")
    seed = right.number_input("Seed", 0, 2**31 - 1, 0, key="nuts_seed", persist_state="session")
    cooperative = st.toggle(
        "Difficulty models: assume no rater is worse than chance",
        value=True,
        key="cooperative",
        persist_state="session",
    )
    em = {"smoothing": smoothing, "repeats": repeats, "use_gold": use_gold}
    draws = {"n_draws": int(n_draws), "n_tune": int(n_tune), "n_chains": int(n_chains), "seed": int(seed)}
    return em, draws | {"cooperative": cooperative}, restarts


def _priors(view: Dataset) -> dict:
    """Priors of the Bayesian Dawid-Skene model, and as how many annotations they count."""
    given = {}
    for option in PRIORS:
        default = 2.5 * view.n_classes if option.default is None else option.default
        value = st.number_input(
            option.label,
            min_value=option.low,
            max_value=option.high,
            value=float(default),
            step=0.5,
            key=f"{option.name}-{view.digest}",
            persist_state="session",
        )
        given[option.name] = option.default if value == default else value
    st.caption(prior_in_words(view.n_classes, **{name: value for name, value in given.items() if value is not None}))
    return given


def _positive(view: Dataset, chosen: list[RaterModelMethod]) -> str | None:
    """Ask which class difficulty models distinguish from the rest, if there are more than two."""
    if view.n_classes <= 2 or not any(option.name == "positive" for method in chosen for option in method.options):
        return None
    return st.selectbox(
        "Class that difficulty models compare with all others",
        view.classes,
        key=f"positive-{view.digest}",
        persist_state="session",
        width=420,
    )


def _of_tag(tag: str) -> str:
    return next(method.name for method in DIFFICULTY if method.variant.value == tag)


def _add(names: list[str]) -> None:
    chosen = visit.models_chosen
    visit.models_chosen = [*chosen, *(name for name in names if name not in chosen)]


def _switches() -> None:
    """Five switches spell a difficulty model; the picture shows what is on."""
    from pages.shared.kit import style as look

    st.caption("Effects in the model", help=widgets.explained("case difficulty"))
    start = switches("AB")
    on = Switches(
        **{
            name: st.toggle(words, value=getattr(start, name), key=f"switch-{name}", persist_state="session")
            for name, words in _SWITCHES.items()
        }
    )
    try:
        tag = tag_of(on)
    except InputError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    with st.container(horizontal=True):
        st.button(
            f"Add model {tag}", type="primary", icon=":material/add:", on_click=_add,
            args=([_of_tag(tag)],), key="add_difficulty",
        )  # fmt: skip
        st.button(
            "Add all 18 models", type="tertiary", on_click=_add,
            args=([method.name for method in DIFFICULTY],), key="add_eighteen",
        )  # fmt: skip
    widgets.plot(
        figures.effects_diagram(on, tag, look.theme(), f"Selected model: {tag}"),
        "effects",
        "Effects in the model",
    )
