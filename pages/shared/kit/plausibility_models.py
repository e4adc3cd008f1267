"""Which plausibility models a page offers for a dataset, with the reliabilities that make sense for each."""

from dataclasses import dataclass

import streamlit as st

from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult, annotation_certainty
from core.jobs import Job
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN
from core.plausibility.protocol import PlausibilityModel
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, widgets

N_DRAWS = 1000
SEED = 0
SAMPLING = {"draws": N_DRAWS, "seed": SEED}
_CERTAINTY = "Certainty of all cases"
_OPTIONS = ("alpha", "ties", "epsilon")


@dataclass(frozen=True, slots=True)
class Offer:
    """A model on screen: its name, its term in the glossary, and its slider."""

    title: str
    term: str
    lowest: float
    highest: float
    sweep: tuple[float, ...]
    choices: tuple[float, ...]


OFFERS = {
    "plackett-luce": Offer(
        "Plackett-Luce", "plackett-luce", 0.1, 10.0, (1.0, 2.0, 3.0, 5.0, 10.0), (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0)
    ),
    "prirn": Offer("PrIRN", "prirn", 1.0, 100.0, (10.0, 20.0, 30.0, 50.0, 100.0), (5.0, 10.0, 20.0, 30.0, 50.0, 100.0)),
    "dirichlet": Offer(
        "Dirichlet counts",
        "dirichlet counts",
        0.1,
        30.0,
        (1.0, 2.0, 3.0, 5.0, 10.0),
        (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0),
    ),
}

MODELS = {model.name: model for model in (PlackettLuce, PrIRN, DirichletCounts)}


def offered(dataset: Dataset) -> list[str]:
    """Names of the models for a dataset, the usual one first."""
    if dataset.kind == "ranking":
        return ["plackett-luce", "prirn", "dirichlet"]
    return ["dirichlet", "plackett-luce", "prirn"] if dataset.kind == "class" else ["dirichlet"]


def choose_model(place, dataset: Dataset) -> str:
    """The select box of models; the choice stays on all pages."""
    names = offered(dataset)
    if st.session_state.get("model") not in names:
        st.session_state["model"] = names[0]
    return place.selectbox(
        "Model",
        names,
        key="model",
        format_func=lambda name: OFFERS[name].title,
        help=widgets.explained(OFFERS[st.session_state["model"]].term),
        persist_state="session",
        on_change=lambda: st.session_state.pop("reliability", None),
    )


def choose_prior(place, name: str) -> PlausibilityModel:
    """The model with its prior, chosen among the rarer settings."""
    if name == "prirn":
        ties = place.radio(
            "Tied classes",
            ["split", "full"],
            format_func={"split": "share the weight of their block", "full": "get its whole weight each"}.get,
            key="prirn_ties",
            persist_state="session",
        )
        return PrIRN(ties=ties)
    if name == "plackett-luce":
        return PlackettLuce()
    alpha = place.number_input(
        "Prior α of each class",
        min_value=0.01,
        max_value=10.0,
        value=1.0,
        step=0.1,
        key="alpha",
        help=widgets.explained("alpha"),
        persist_state="session",
    )
    return DirichletCounts(alpha=alpha)


def data_for(name: str, dataset: Dataset, *, quietly: bool = False) -> Dataset:
    """What the model eats: rankings whole, or single classes with a line that says what was left out."""
    if name != "dirichlet" and dataset.kind != "score":
        return dataset
    if quietly:
        return cached.class_view(dataset, st.session_state.get("threshold"))[0]
    return widgets.class_view(dataset, "dirichlet")


def certainty(view: Dataset, model: PlausibilityModel, reliability: float):
    """Annotation certainty of all cases, or None while it is worked out."""
    key = job_key(view, model, "certainty", reliability)
    return job_progress.result_of(key, _CERTAINTY, _certainty_work(view, model, reliability))


def certainty_job(view: Dataset, model: PlausibilityModel, reliability: float) -> Job:
    """The same job without a word on screen."""
    key = job_key(view, model, "certainty", reliability)
    return cached.job(key, _CERTAINTY, _certainty_work(view, model, reliability))


def _certainty_work(view: Dataset, model: PlausibilityModel, reliability: float):
    def work(job: Job) -> CertaintyResult:
        return annotation_certainty(
            model,
            view,
            reliability=reliability,
            n_draws=N_DRAWS,
            seed=SEED,
            token=job.token,
            progress=job.report,
        )

    return work


def options_of(model: PlausibilityModel) -> str:
    """The prior of a model as options of the command line."""
    return "".join(f" --{name} {value}" for name, value in model.settings().items() if name in _OPTIONS)


def job_key(dataset: Dataset, model: PlausibilityModel, *more) -> tuple:
    """Key of a computation from draws."""
    return (dataset.digest, model.name, tuple(sorted(model.settings().items())), N_DRAWS, SEED, *more)
