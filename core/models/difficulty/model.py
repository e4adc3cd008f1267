"""Han, Adıgüzel & Carpenter, "Crowdsourcing with Difficulty": raters, and cases that differ in difficulty.

``z_i ~ Bernoulli(π)``, P(right) = λ_i + (1 - λ_i) logit⁻¹(δ_i (α_j - β_i)), α_j the sensitivity of the rater where
z_i = 1 and the specificity where z_i = 0. Priors: π Beta(2, 2), α^spec N(2, 2), α^sens N(1, 2), cut to α^sens >
-α^spec; tied α N(1, 2), cut to α > 0; β N(0, 1), ln δ N(0, 0.25), λ Beta(2, 2).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ...annotations.dataset import Dataset
from ...checked import checked
from ...errors import InputError, NotApplicableError, NotFoundError
from ...methods import Option
from ...options import check_flag, shown
from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ...text import listed
from ..nuts.result import BayesianFit
from ..nuts.sampler import Progress
from ..rater_methods import BETA, DOUBT, DRAWS, RaterModelMethod, Variant, by_posterior
from ..result import RaterModelFit
from ..sizes import check_size
from ..tempering import check_beta, check_doubt, dependence_note, doubt_note
from ._tempered_kernels import log_table, tempered_positive
from .density import DifficultyDensity, Specification
from .mode import at_its_mode, whitened
from .names import TAGS, Switches, canonical, switches
from .nodes import NodeCounts, nodes
from .paper_score import paper_score


def one_against_rest(dataset: Dataset, positive: str | None = None) -> tuple[Dataset, int]:
    """Convert the data to two classes, and return which of them counts as positive.

    Data of two classes stay as they are; the second declared class is positive if none is named. Of more classes all
    but the positive one become the class "not ...", declared first.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, there is one class only, or there are more than two and none is named.
    NotFoundError
        There is no class of that name.
    """
    dataset.check_kind("class", "Could not fit a difficulty model")
    if dataset.n_classes < 2:
        raise NotApplicableError("Difficulty models need at least two classes, but only one is declared.")
    if positive is None:
        if dataset.n_classes > 2:
            raise NotApplicableError(
                "Could not fit difficulty models: they need exactly two classes, but these data have "
                f"{dataset.n_classes:,}. Choose the positive class. All others will count as negative."
            )
        return dataset, 1
    if positive not in dataset.classes:
        raise NotFoundError(f"Could not find class {positive!r} in {dataset.name}.")
    code = dataset.classes.index(positive)
    if dataset.n_classes == 2:
        return dataset, code
    gold = None
    if dataset.gold is not None:
        gold = np.where(dataset.gold < 0, -1, dataset.gold == code).astype(np.int32)
    return (
        Dataset(
            name=dataset.name,
            kind="class",
            cases=dataset.cases,
            raters=dataset.raters,
            classes=(f"not {positive}", positive),
            case_ptr=dataset.case_ptr,
            rater=dataset.rater,
            answer=(dataset.answer == code).astype(np.int32),
            entry_ptr=dataset.entry_ptr,
            time=dataset.time,
            raters_identified=dataset.raters_identified,
            case_group=dataset.case_group,
            gold=gold,
        ),
        1,
    )


CHUNK_CASES = 8192


def tempered_at_mode(
    fit: RaterModelFit, dataset: Dataset, beta: float, token: CancelToken | None = None, *, doubt: float = 0.0
) -> RaterModelFit:
    """Temper class probabilities, ``P_β(z | y) ∝ π_z ∫ p(e) Π p(y | z, e)^β de``, of a fit; effects stay.

    Parameters
    ----------
    fit : RaterModelFit
        Fit of a difficulty model by its mode ("map").
    dataset : Dataset
        Dataset of two classes, as it was fitted.
    beta : float
        Weight of an annotation, above 0 and at most 1.
    token : CancelToken, optional
    doubt : float
        See `core.models.tempering.tempered`.

    Raises
    ------
    InputError
        β is not above 0 and at most 1, or the fit is not of these data at its mode.
    """
    check_beta(beta)
    check_doubt(doubt)
    tag = fit.settings.get("tag")
    if fit.method != "map" or tag is None:
        raise InputError(
            f"Could not use β: {fit.model} with the method {fit.method} does not support it.",
            "Use a difficulty model fitted with the “map” method.",
        )
    if fit.cases != dataset.cases or fit.raters != dataset.raters:
        raise InputError("Could not use β: the fit has different cases or raters.", "Fit the model to these data.")
    on, code = switches(tag), dataset.classes.index(fit.settings["positive"])
    names = ("alpha_spec", "alpha_sens") if on.bias else ("alpha", "alpha")
    alpha = np.stack([fit.parameters[name] for name in names], axis=1)
    grid = nodes(on, NodeCounts(**fit.settings["nodes"]))
    table = log_table(alpha, grid.delta, grid.table)
    cell = (2 * dataset.rater + (dataset.answer == code)).astype(np.int32)
    with np.errstate(divide="ignore"):
        logit = float(np.log(fit.prevalence[code]) - np.log(fit.prevalence[1 - code]))
    positive = np.empty(dataset.n_cases)

    def work(chunk: tuple[int, int]) -> None:
        tempered_positive(logit, table, grid.table, dataset.case_ptr, cell, beta, *chunk, positive)

    for _ in map_chunks(work, chunk_ranges(dataset.n_cases, CHUNK_CASES), token=token):
        pass
    old = (*dependence_note(dataset, fit.beta), *doubt_note(fit.settings.get("doubt", 0.0)))
    probability = np.stack([1 - positive, positive] if code == 1 else [positive, 1 - positive], axis=1)
    return replace(
        fit,
        class_probability=(1 - doubt) * probability + doubt * fit.prevalence,
        settings={**fit.settings, "beta": beta, "doubt": doubt},
        notes=(
            *(note for note in fit.notes if note not in old),
            *dependence_note(dataset, beta),
            *doubt_note(doubt),
        ),
    )


@checked
@dataclass(frozen=True, slots=True)
class DifficultyModel:
    """One of the eighteen difficulty models of two classes.

    Parameters
    ----------
    tag : str
        Effects that are left out, see `core.models.difficulty.names`.
    cooperative : bool
        No rater does worse than chance. Without it the classes may change places.
    as_published : bool
        The priors of the authors' programs where two models (AC and ABCE) depart from their paper.
    positive : str, optional
        The class z = 1. Not given: the second of two declared classes. Needed for more classes: it is then
        distinguished from all others.
    """

    tag: str = "ABC"
    cooperative: bool = True
    as_published: bool = False
    positive: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tag, str):
            raise InputError(f"Unknown difficulty model {shown(self.tag)}.", "Use the letters of a model, such as ABC.")
        object.__setattr__(self, "tag", canonical(self.tag))
        check_flag(self.cooperative, "cooperative")
        check_flag(self.as_published, "as_published")
        if self.positive is not None and not isinstance(self.positive, str):
            raise InputError(f"Could not use {shown(self.positive)} as the positive class.", "Use the name of a class.")

    def density(self, dataset: Dataset, *, token: CancelToken | None = None) -> DifficultyDensity:
        """Build the posterior of the data for sampling: whitened at its mode, on a grid that is fine enough there.

        Its ``dataset`` has two classes: "not ..." and the positive one, where the data have more.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes, there is none, the raters are anonymous and the model tells them
            apart, or there are more than two classes and no positive one.
        NotFoundError
            There is no class of the name ``positive``.
        LimitError
            The tables would not fit into memory.
        """
        return whitened(self._at_its_mode(dataset, token), token)

    def _at_its_mode(self, dataset: Dataset, token: CancelToken | None) -> DifficultyDensity:
        two, code = one_against_rest(dataset, self.positive)
        check_size("A difficulty model", two)
        if two.n_annotations == 0:
            raise NotApplicableError("Could not fit difficulty models: there are no annotations.")
        if switches(self.tag).ability and not two.raters_identified:
            raise NotApplicableError(
                f"Could not fit model {self.tag}: it needs identified raters, but the annotations are anonymous. "
                "Use ABCE or ABCDE."
            )
        return at_its_mode(
            DifficultyDensity(two, Specification(self.tag, self.cooperative, self.as_published, code)), token
        )

    def fit(
        self,
        dataset: Dataset,
        *,
        method: Literal["map", "nuts"] = "map",
        n_draws: int = 1000,
        n_tune: int = 1000,
        n_chains: int = 4,
        seed: int = 0,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> BayesianFit:
        """Fit the mode, or draw by NUTS.

        ABDE has nothing to sample: it answers at once by either method.

        Parameters
        ----------
        dataset : Dataset
            See `density`.
        method : {"map", "nuts"}
            The mode alone, or chains.
        n_draws, n_tune, n_chains : int
            Draws and steps of tuning of each chain, and how many chains; of "nuts".
        seed : int
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1, and what is being done in words.

        Raises
        ------
        InputError
            The method is unknown.
        NotApplicableError, NotFoundError, LimitError
            See `density`.
        Cancelled
        """
        from ..nuts.fitting import check_method, fit_by_map, fit_by_nuts
        from .summary import summarise

        check_method(method)
        density = self._at_its_mode(dataset, token)
        if method == "map" or density.ndim == 0:
            found = fit_by_map(density, summarise, density.dataset, mode=density.mode, seed=seed, token=token)
            return _checked(found, density, seed, token) if method == "nuts" else found
        density = whitened(density, token)
        return fit_by_nuts(
            density,
            summarise,
            density.dataset,
            n_draws=n_draws,
            n_tune=n_tune,
            n_chains=n_chains,
            seed=seed,
            score=lambda draws: paper_score(density, draws, token),
            token=token,
            progress=progress,
        )


def _checked(found: BayesianFit, density: DifficultyDensity, seed: int, token: CancelToken | None) -> BayesianFit:
    """Add predictive checks and leave-one-out to a model without parameters."""
    from ..checks import predictive_checks
    from ..loo import LEAST_DRAWS, psis_loo

    answered = np.diff(density.patterns.ptr) > 0
    number = np.where(answered, np.cumsum(answered) - 1, -1)[density.patterns.pattern_of_case]
    draws = np.zeros((LEAST_DRAWS, 0))
    log_p = density.log_likelihood(draws)[:, answered]
    return replace(
        found,
        checks=predictive_checks(density, np.zeros((1, 0)), density.dataset, seed=seed, token=token),
        loo=psis_loo(log_p, density.case_count[answered], number),
        paper=paper_score(density, draws, token),
    )


def _fit(model, dataset, way, run, token, progress) -> BayesianFit:
    """Fit by the mode or by chains; at the mode, annotations can count for less."""
    beta, doubt = run.pop("beta"), run.pop("doubt")
    found = by_posterior(model, dataset, way, run, token, progress)
    if beta == 1 and not doubt:
        return found
    if way != "map":
        raise InputError(
            "Could not use β or doubt: sampled difficulty models do not support them.",
            "Leave them out, or use the “map” method.",
        )
    from .model import tempered_at_mode

    view = one_against_rest(dataset, model.positive)[0]
    return replace(found, fit=tempered_at_mode(found.fit, view, beta, token, doubt=doubt))


def _method(place: int, tag: str) -> RaterModelMethod:
    return RaterModelMethod(
        f"difficulty-{tag}",
        f"Difficulty {tag}",
        partial(DifficultyModel, tag),
        plainly=_plainly(switches(tag)),
        exactly="The log odds of a correct annotation are discrimination × (ability − difficulty), with a lower "
                "bound for guessing. Each letter of the tag removes one of these parts. Effects of cases are "
                "integrated out by quadrature (Han, Adıgüzel & Carpenter 2024).",
        sources=("Han, Adıgüzel & Carpenter, Crowdsourcing with Difficulty (2024)",),
        options=(
            replace(BETA, of_run=True),
            replace(DOUBT, of_run=True),
            Option("positive", str, None, "Positive class", "class that is compared with all others"),
            Option(
                "cooperative", bool, True, "Assume no rater is worse than chance",
                "assume that no rater is worse than chance",
            ),
            Option(
                "as_published", bool, False, "Priors as in the original software",
                "use the priors of the model authors' own software if they differ from the paper", on_page=False,
            ),
            *DRAWS,
        ),
        view=lambda dataset, positive=None, **_: one_against_rest(dataset, positive)[0],
        fit=_fit,
        ways=("map", "nuts"),
        opens=lambda dataset: dataset.n_classes == 2 and tag in ("AB", "ABC"),
        n_parameters=lambda dataset: 1 + 2 * dataset.n_raters,
        variant=Variant("difficulty", "model", tag, "which of the 18 difficulty models", tag == "AB", canonical),
        place=place,
        # A baseline without a parameter: it is compared, and its annotations are never taken for the truth.
        is_truth=not _is_baseline(tag),
        warm=tag == "AB",
    )  # fmt: skip


def _plainly(on: Switches) -> str:
    """Describe what a model takes into account, in two sentences for a clinician."""
    if on.ability:
        raters = f"Each rater has {'a sensitivity and a specificity' if on.bias else 'one accuracy for both classes'}."
    else:
        raters = f"All raters have the same {'sensitivity and the same specificity' if on.bias else 'accuracy'}."
    effects = {
        "how hard they are": on.difficulty,
        "how well they separate accurate from inaccurate raters": on.discrimination,
        "how often a guess is correct": on.guessing,
    }
    differ = [f"in {words}" for words, is_on in effects.items() if is_on]
    return f"{raters} {f'Cases differ {listed(differ)}' if differ else 'All cases are equally hard'}."


def _is_baseline(tag: str) -> bool:
    on = switches(tag)
    return on.difficulty and not (on.bias or on.ability or on.discrimination or on.guessing)


METHODS = tuple(_method(100 + place, tag) for place, tag in enumerate(TAGS))
