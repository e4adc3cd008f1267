"""Which rater models to fit, and how: a list, five switches that spell a tag, and the rarer settings behind More."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import InputError
from core.figures import effects as figures
from core.models.catalogue import BAYESIAN, EM, TITLES, Request
from core.models.dawid_skene import default_smoothing
from core.models.difficulty.names import TAGS, Switches, switches, tag_of
from core.models.gold import gold_cases
from core.text import markdown, plural
from pages.shared.kit import widgets

SMOOTHING = {"none": "None (maximum likelihood)", "diagonal": "Diagonal prior", "pooled": "Pooled raters"}
REPEATS = {"independent": "Count as independent", "first": "Only the first counts"}
RESTARTS = (0, 20, 100, 200)
FIRST, FULL = "First answer", "Full posterior"
_CHOSEN = "models_chosen"
_SWITCHES = {
    "bias": "Rater bias: sensitivity and specificity differ",
    "ability": "Rater ability: raters differ",
    "difficulty": "Difficulty: some cases are harder",
    "discrimination": "Discrimination: some cases tell raters apart better",
    "guessing": "Guessing: some cases can be got right by luck",
}


def choose(view: Dataset) -> tuple[list[Request], int]:
    """The models asked for, and the number of restarts."""
    st.session_state.setdefault(_CHOSEN, ["dawid-skene"])
    left, middle, right = st.columns([6, 3, 1.4], vertical_alignment="bottom")
    chosen = left.multiselect(
        "Models",
        [name for name in TITLES if name != "majority"],
        format_func=TITLES.get,
        key=_CHOSEN,
        help=widgets.explained("rater models"),
        persist_state="session",
    )
    bayesian = [name for name in chosen if name in BAYESIAN]
    how = middle.segmented_control(
        "Bayesian models",
        [FIRST, FULL],
        default=FIRST,
        required=True,
        key="bayesian_how",
        disabled=not bayesian,
        help=widgets.explained("full posterior"),
        persist_state="session",
    )
    with right.popover("More", key="more_models"):
        em, draws, restarts = _more(view)
    positive = _positive(view, [name for name in chosen if name.startswith("difficulty-")])
    _switches(view)
    requests = []
    for name in chosen:
        if name in EM:
            smoothing = em["smoothing"] if name == "dawid-skene" or em["smoothing"] != "diagonal" else "pooled"
            requests.append(Request(name, "em", **(em | {"smoothing": smoothing})))
        else:
            requests.append(Request(name, "nuts" if how == FULL else "map", positive=positive, **draws))
    return requests, restarts


def _more(view: Dataset) -> tuple[dict, dict, int]:
    usual = default_smoothing(view)
    smoothing = st.selectbox(
        "Smoothing (expectation-maximisation)",
        list(SMOOTHING),
        index=list(SMOOTHING).index(usual),
        format_func=lambda name: SMOOTHING[name] + (" · usual for these data" if name == usual else ""),
        key=f"smoothing-{view.digest}",
        help=widgets.explained("smoothing"),
        persist_state="session",
    )
    restarts = st.selectbox(
        "Restarts beside the vote start",
        RESTARTS,
        key="restarts",
        help=widgets.explained("restarts"),
        persist_state="session",
    )
    repeats = st.selectbox(
        "Answers that a rater repeated on a case", list(REPEATS), format_func=REPEATS.get, key="model_repeats",
        persist_state="session",
    )  # fmt: skip
    n_gold = len(gold_cases(view))
    use_gold = bool(n_gold) and st.toggle(
        f"Hold the {plural(n_gold, 'case')} of known class fixed", key="use_gold", persist_state="session"
    )
    left, right = st.columns(2)
    n_draws = left.number_input("Draws a chain", 100, 10_000, 1000, 100, key="nuts_draws", persist_state="session")
    n_tune = right.number_input("Warm-up draws", 100, 10_000, 1000, 100, key="nuts_tune", persist_state="session")
    n_chains = left.number_input("Chains", 2, 8, 4, key="nuts_chains", persist_state="session")
    seed = right.number_input("Seed", 0, 2**31 - 1, 0, key="nuts_seed", persist_state="session")
    cooperative = st.toggle(
        "Difficulty models: no rater does worse than chance", value=True, key="cooperative", persist_state="session"
    )
    em = {"smoothing": smoothing, "repeats": repeats, "use_gold": use_gold}
    draws = {"n_draws": int(n_draws), "n_tune": int(n_tune), "n_chains": int(n_chains), "seed": int(seed)}
    return em, draws | {"cooperative": cooperative}, restarts


def _positive(view: Dataset, difficulty: list[str]) -> str | None:
    """Difficulty models tell one class from the rest: which one is asked for where there are more than two."""
    if not difficulty or view.n_classes <= 2:
        return None
    return st.selectbox(
        "Difficulty models tell this class from all others",
        view.classes,
        key=f"positive-{view.digest}",
        persist_state="session",
        width=420,
    )


def _add(names: list[str]) -> None:
    chosen = st.session_state[_CHOSEN]
    st.session_state[_CHOSEN] = [*chosen, *(name for name in names if name not in chosen)]


def _switches(view: Dataset) -> None:
    """Five switches spell a difficulty model; the picture shows what is on."""
    from pages.shared.kit import style as look

    with st.expander("Models with difficulty: switch effects on and off", icon=":material/tune:"):
        st.caption("Which effects shall the model have?", help=widgets.explained("case difficulty"))
        left, right = st.columns([2, 3], gap="large")
        start = switches("AB")
        with left:
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
            st.button(
                f"Add model {tag}", type="primary", icon=":material/add:", on_click=_add,
                args=([f"difficulty-{tag}"],), key="add_difficulty",
            )  # fmt: skip
            st.button(
                "Add all eighteen", type="tertiary", on_click=_add,
                args=([f"difficulty-{each}" for each in TAGS],), key="add_eighteen",
            )  # fmt: skip
        with right:
            widgets.plot(
                figures.effects_diagram(on, tag, look.theme(), f"These switches spell {tag}"),
                "effects",
                "Which effects the model has",
            )
