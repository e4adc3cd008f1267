"""Which plausibility models a page offers for a dataset, with the reliabilities that make sense for each."""

import streamlit as st

from core.analyses.cases.certainty import CaseCertainty, certainty_of_cases
from core.analysis_settings import learns_prior, plausibility_names
from core.annotations.dataset import Dataset
from core.methods import AS_IS, Option, method_named
from core.models.choose import FEWEST_TO_TELL, Choice
from core.models.ordinal import METHOD as ORDINAL
from core.models.vote_prior import PUBLISHED_ALPHA, VotePrior
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.learned_counts import LearnedCounts
from core.plausibility.protocol import PlausibilityMethod, PlausibilityModel
from core.runtime.jobs import Job
from core.text import typed
from pages.shared.cache import access, visit
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress, state, widgets

N_DRAWS = 1000
SEED = 0
SAMPLING = {"draws": N_DRAWS, "seed": SEED}
CHOICE = "Held-out scores of rater models"
LEARNED, _OWN = state.LEARNED_PRIOR, "own"
_ALPHA = f"{DirichletCounts.name}-alpha"
_CERTAINTY = "Certainty of all cases"


def method(name: str) -> PlausibilityMethod:
    """Return the description of the model with that name."""
    return method_named(PlausibilityMethod, name)


def made(name: str, dataset: Dataset) -> PlausibilityModel:
    """Return the model with that name, with its default prior."""
    model = method(name).make()
    return _learned(dataset).model if learns_prior(model, dataset) else model


def _learned(dataset: Dataset) -> LearnedCounts:
    return cached.learned_counts(data_for(DirichletCounts.name, dataset, quietly=True))


def learned_prior(view: Dataset, model: PlausibilityModel) -> VotePrior | None:
    """Return the prior learned from all cases, if a model has one.

    Parameters
    ----------
    view : Dataset
        Data that the model takes.
    model : PlausibilityModel
    """
    if not isinstance(model, DirichletCounts) or view.kind != "class":
        return None
    return cached.learned_counts(view).prior_of(model)


def offered(dataset: Dataset) -> list[str]:
    """Names of the models for a dataset, the one that a page opens with first."""
    return plausibility_names(dataset, _choice(dataset))


def choice_key(view: Dataset) -> tuple:
    """Under which the held-out scores of all models of raters are kept, with the one that opens."""
    return (view.content_digest, "judged models", SEED)


def _choice(dataset: Dataset) -> Choice | None:
    """Return the held-out scores of all rater models; None until they are known."""
    judged = cached.known_result(choice_key(dataset), CHOICE, dataset)
    return None if judged is None else judged.choice


def order_counts(dataset: Dataset) -> bool:
    """Return True if held-out annotations favour the ordinal model of raters; False until they are scored."""
    found = _choice(dataset)
    return found is not None and found.chosen == ORDINAL.name


def too_few_to_tell(dataset: Dataset) -> int:
    """Return the number of held-out annotations if they are too few to compare models; otherwise 0."""
    found = _choice(dataset)
    return 0 if found is None or found.n_hidden >= FEWEST_TO_TELL else found.n_hidden


def choose_model(place, dataset: Dataset) -> str:
    """Draw the select box of models; the choice applies to all pages."""
    names = offered(dataset)
    if _chosen(names, dataset) is None:
        visit.model = names[0]
        visit.model_opened = (dataset.content_digest, names[0])
    return place.selectbox(
        "Model",
        names,
        key="model",
        format_func=lambda name: method(name).title,
        help=widgets.explained(method(visit.model)),
        persist_state="session",
        on_change=_model_chosen,
    )


def use(name: str) -> None:
    """Choose a model in place of the user, who pressed a button that says so."""
    visit.model = name
    _model_chosen()


def _chosen(names: list[str], dataset: Dataset) -> str | None:
    """Return the model that the user chose; None if there is only the one that the page opened with."""
    opened = visit.model_opened == (dataset.content_digest, visit.model)
    return visit.model if visit.model in names and not opened else None


def _model_chosen() -> None:
    visit.drop("reliability", "prior", "prior_from_before", "model_opened")
    remember_choice()


def remember_choice() -> None:
    """Keep the model, its prior and γ that the user chose with the dataset, so that it opens with them.

    Whoever may not change the data keeps them for the session alone.
    """
    _say_once()
    if not access.may_change(visit.data):
        return
    told = {part: value for part in state.CHOSEN if (value := getattr(visit, part)) is not None}
    access.WriteRight(visit.data).choose(told)


def _say_once() -> None:
    """Once in a session: that what was changed here counts on every page."""
    if not visit.settings_said:
        visit.settings_said = True
        st.toast("All pages and the report use the model and γ that you chose.")


def has_prior(name: str, dataset: Dataset) -> bool:
    """Return whether a model has a prior, or another of the rarer settings, to choose on a page."""
    chosen = method(name)
    return learns_prior(chosen.make(), dataset) or any(option.on_page for option in chosen.options)


def choose_prior(place, name: str, dataset: Dataset) -> PlausibilityModel:
    """Return the model with its prior, chosen among the rarer settings."""
    learns = learns_prior(method(name).make(), dataset)
    if learns:
        _choose_learned(place, dataset)
    for option in method(name).options:
        if option.on_page and not (learns and option.name == "alpha" and (visit.prior or LEARNED) == LEARNED):
            _ask(place, name, option)
    return as_chosen(dataset)


def _choose_learned(place, dataset: Dataset) -> None:
    """Choice between the learned prior and another α; the address carries it."""
    learned = _learned(dataset)
    visit.choice["prior_kind"] = LEARNED if (visit.prior or LEARNED) == LEARNED else _OWN
    place.radio(
        "Prior of counts",
        [LEARNED, _OWN],
        format_func={LEARNED: "Learned from all cases", _OWN: "Fixed: published (α = 1) or your own"}.get,
        key="prior_kind",
        on_change=_prior_chosen,
    )
    if (visit.prior or LEARNED) == LEARNED:
        place.caption(learned.prior.sentence())


def _prior_chosen() -> None:
    visit.prior = typed(PUBLISHED_ALPHA) if visit.choice["prior_kind"] == _OWN else LEARNED
    del visit.other[_ALPHA], visit.prior_from_before
    remember_choice()


def _alpha_chosen() -> None:
    if _ALPHA in visit.other:  # not if the kind of prior was changed at the same time
        visit.prior = typed(visit.other[_ALPHA])
        remember_choice()


def earlier_prior(model: PlausibilityModel) -> bool:
    """Return True if γ dates from before counts learned their prior, and the published prior was used for it."""
    return isinstance(model, DirichletCounts) and bool(visit.prior_from_before)


def use_learned_prior() -> None:
    """Take the learned prior, and γ as it opens with it."""
    del visit.prior, visit.reliability, visit.other[_ALPHA], visit.prior_from_before
    remember_choice()


def as_chosen(dataset: Dataset) -> PlausibilityModel:
    """Return the model with its prior as chosen on the Cases page, or its default."""
    names = offered(dataset)
    name = _chosen(names, dataset) or names[0]
    if learns_prior(method(name).make(), dataset):
        if (prior := visit.prior or LEARNED) == LEARNED:
            return _learned(dataset).model
        return DirichletCounts(state.prior_alpha(prior))
    options = [option for option in method(name).options if option.on_page]
    chosen = {option.name: visit.other.get(_key(name, option), option.default) for option in options}
    return method(name).make(**chosen)


def carry_prior(model: PlausibilityModel, dataset: Dataset) -> None:
    """Write the prior to the address together with γ, which is meaningless without it."""
    if learns_prior(model, dataset):
        visit.prior = visit.prior or LEARNED


def _key(name: str, option: Option) -> str:
    return f"{name}-{option.name}"


def _ask(place, name: str, option: Option):
    how = {"key": _key(name, option), "persist_state": "session"}
    if option.choices:
        return place.radio(option.label, list(option.choices), format_func=dict(option.choices).get, **how)
    low, high = max(option.low, 0.01), min(option.high, 10.0)
    if how["key"] == _ALPHA and (prior := visit.prior or LEARNED) != LEARNED:
        visit.other[_ALPHA] = min(max(state.prior_alpha(prior), low), high)
        how["on_change"] = _alpha_chosen
    else:
        how["value"] = option.default
    return place.number_input(
        option.label,
        min_value=low,
        max_value=high,
        step=0.1,
        help=widgets.explained(option.name),
        **how,
    )


def data_for(name: str, dataset: Dataset, *, quietly: bool = False) -> Dataset:
    """Return the data that the model takes: whole rankings, or single classes with a line on what was left out."""
    if method(name).takes.get(dataset.kind) == AS_IS:
        return dataset
    if quietly:
        return cached.class_view(dataset, state.split(dataset))[0]
    return widgets.class_view(dataset)


def case_certainty(view: Dataset, model: PlausibilityModel, reliability: float) -> CaseCertainty | None:
    """All that is known of every case at one γ, or None while it is worked out."""
    key = job_key(view, model, "certainty", reliability)
    return job_progress.result_of(key, _CERTAINTY, _certainty_work(view, model, reliability), of=view)


def certainty_job(view: Dataset, model: PlausibilityModel, reliability: float, *, background: bool = False) -> Job:
    """Return the job that computes certainty, without showing it; ``background`` if nothing waits for it yet."""
    key = job_key(view, model, "certainty", reliability)
    return cached.job(key, _CERTAINTY, _certainty_work(view, model, reliability), of=view, background=background)


def _certainty_work(view: Dataset, model: PlausibilityModel, reliability: float):
    def work(job: Job) -> CaseCertainty:
        return cached.run(
            job,
            certainty_of_cases,
            view.coded,
            model,
            view.coded,
            reliability=reliability,
            n_draws=N_DRAWS,
            seed=SEED,
            seconds=expected.of_draws(view, model),
        )

    return work


def options_of(model: PlausibilityModel, view: Dataset) -> str:
    """Return the prior of a model as options of the command line.

    Parameters
    ----------
    model : PlausibilityModel
    view : Dataset
        Data that the model takes.
    """
    prior = learned_prior(view, model)
    if prior is not None and prior.learned:
        return " --learned-prior"
    settings = model.settings()
    kept = [option for option in method(model.name).options if option.name in settings]
    return "".join(
        f" {option.spelled} {settings[option.name]}"
        for option in kept
        if option.on_page or settings[option.name] != option.default
    )


def job_key(dataset: Dataset, model: PlausibilityModel, *more) -> tuple:
    """Key of a computation from draws."""
    return (dataset.content_digest, model.name, tuple(sorted(model.settings().items())), N_DRAWS, SEED, *more)
