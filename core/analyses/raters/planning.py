"""Planning: a comparison of plans, and how many more annotations are needed for a given precision."""

from collections.abc import Callable, Collection
from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd

from ...analysis_settings import SEED, can_choose
from ...annotations.dataset import Dataset
from ...errors import NotApplicableError
from ...extremes import clearly_most
from ...figures import raters as figures
from ...models.average import AveragedModels, average_models
from ...models.choose import choose
from ...models.dawid_skene import DawidSkene
from ...models.gold import gold_cases
from ...models.gold_measures import GoldMeasures, gold_measures
from ...models.result import RaterModelFit
from ...plausibility.learned_counts import learned_counts
from ...raters.ask_next import NextPairs, ask_next
from ...raters.plan_outcomes import Plan, PlanOutcomes, plan_outcomes
from ...raters.planning import Forecast, Goal, forecast
from ...raters.truth_draws import drawn_truths
from ...runtime.chunks import CancelToken
from ...text import number, percent, percent_with_interval, plural
from ...thresholds import UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Grid, Name, Strong, Words
from ..schema import Column, columns_in, frame_of

_CERTAINTY, _UNCERTAIN, _WIDTH, _RIGHT = range(4)
PLANS = (
    Column("plan"),
    Column("annotations", unit="count"),
    Column("cost", unit="amount"),
    *(Column(name) for name in ("mean certainty", "uncertain cases", "correct", "width of agreement")),
)


def plans_of(dataset: Dataset, options) -> list[Plan]:
    """List the plans of the options that add anything."""
    usual = per_case(dataset)
    least = min(options.least_certain, dataset.n_cases)
    asked = (
        Plan("new_raters", options.new_raters),
        Plan("new_cases", options.new_cases, usual),
        Plan("least_certain", least, options.each),
    )
    return [plan for plan in asked if plan.n]


def per_case(dataset: Dataset) -> int:
    """Return the present number of annotations per case."""
    return max(1, round(dataset.n_annotations / max(1, dataset.n_cases)))


def compute_plans(
    dataset: Dataset,
    options,
    *,
    averaged: AveragedModels | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> PlanOutcomes:
    """Carry out each plan in simulations, by the average of rater models, which is computed if it is not known."""
    fit, truths = _worlds(dataset, options, averaged, token)
    how = {"n_worlds": options.n_worlds, "seed": options.seed, "truths": truths, "token": token, "progress": progress}
    return plan_outcomes(dataset, fit, plans_of(dataset, options), **how)


def _worlds(
    dataset: Dataset, options, averaged: AveragedModels | None, token: CancelToken | None
) -> tuple[RaterModelFit, np.ndarray | None]:
    """Return the average of rater models with truths drawn from it; Dawid-Skene if no model can be averaged."""
    if averaged is None:
        averaged = _average(dataset, token)
    if averaged is None or not averaged.members:
        return DawidSkene().fit(dataset, token=token), None
    rng = np.random.default_rng(options.seed)
    truths = drawn_truths(averaged, dataset, options.n_worlds, rng, token)
    return averaged.fit, rng.permutation(truths)


def _average(dataset: Dataset, token: CancelToken | None) -> AveragedModels | None:
    if not can_choose(dataset):
        return None
    averaged = average_models(choose(dataset, seed=SEED, independent=False, token=token), dataset, token=token)
    return averaged if averaged.members else None


def table_of_plans(found: PlanOutcomes, dataset: Dataset | None, options) -> pd.DataFrame:
    """Return one row per plan; without accuracy unless the classes of the model are those of the raters."""
    frame = found.to_frame()
    if options.cost is not None:
        frame["cost"] = options.cost * frame["annotations"]
    return frame if options.right else frame.drop(columns=[name for name in frame if name.startswith("right")])


def _shared_votes(dataset: Dataset) -> list[Block]:
    """Note that the simulation counts each annotation of raters who copy each other, if there are any, or repeats."""
    if not learned_counts(dataset).model.once:
        return []
    return [
        Words("Repeats, and annotations by raters who seem to copy each other, count separately in these simulations. "
            "On the other pages they count as one annotation, so more cases are uncertain there.",
              "note"),
    ]  # fmt: skip


def present_plans(found: PlanOutcomes, dataset: Dataset, options) -> list[Block]:
    """Show which plan gives most, and all of them."""
    shown = shown_of(found, options.cost, right=options.right)
    columns = tuple(column for column in PLANS if column.name in shown)
    said = (
        f"Expected results: median over {found.n_worlds:,} simulated datasets (seed {found.seed}), with its "
        f"{percent(found.level)} interval in brackets. Uncertain: certainty below {percent(UNCERTAIN_BELOW)} "
        "(Dirichlet counts, γ = 1), or only one annotation. New raters are assumed to resemble the present ones: if "
        "the present ones share mistakes, so will the new ones. "
        + "“Correct” assumes that raters err as the model predicts; the true share may be "
        "lower." * options.right
    )
    settings = {"seed": found.seed, "n_worlds": found.n_worlds}
    return [
        *(Words(words) for words in says(found, options.cost, right=options.right)),
        Grid(shown, "Expected result of each plan.", columns=columns, key="plans_table"),
        Words(said, "note"),
        *_shared_votes(dataset),
        Download(table_of_plans(found, dataset, options), "Plans", "plans", "plans_download", settings=settings),
    ]


def shown_of(found: PlanOutcomes, cost: float | None, *, right: bool = True) -> pd.DataFrame:
    """Return the plans as people see them: each quantity with its interval.

    Parameters
    ----------
    found : PlanOutcomes
    cost : float, optional
        Cost of an annotation.
    right : bool
        True if accuracy can be forecast.
    """

    def with_ends(quantity: int) -> list[str]:
        ends = (getattr(found, end)[:, quantity].tolist() for end in ("value", "low", "high"))
        return [percent_with_interval(value, low, high, 1) for value, low, high in zip(*ends, strict=True)]

    shown = {
        "plan": ["As it is" if plan is None else plan.title for plan in found.plans],
        "annotations": found.n_annotations,
        "cost": None if cost is None else cost * found.n_annotations,
        "mean certainty": with_ends(_CERTAINTY),
        "uncertain cases": with_ends(_UNCERTAIN),
        "correct": with_ends(_RIGHT) if right else None,
        "width of agreement": with_ends(_WIDTH),
    }
    return pd.DataFrame({name: column for name, column in shown.items() if column is not None})


def says(found: PlanOutcomes, cost: float | None, *, right: bool = True) -> list[tuple]:
    """Return which plan clearly gives most of each quantity for its annotations, in one sentence each.

    Parameters
    ----------
    found : PlanOutcomes
    cost : float, optional
        Cost of an annotation.
    right : bool
        True if accuracy can be forecast.
    """
    n = found.n_annotations[1:].astype(float)
    if not n.size:
        return []
    sentences: list[tuple] = []
    improved = ((_RIGHT, "the share of correct cases"), (_CERTAINTY, "certainty"))
    for quantity, words in improved[not right :]:
        sure = np.sign(found.gain_low[1:, quantity]) > 0
        if not sure.any():
            sentences.append((f"No plan clearly improves {words}.",))
            continue
        each = [part[1:, quantity] / n for part in (found.gain, found.gain_low, found.gain_high)]
        best = 0 if n.size == 1 else clearly_most(*each)
        if best is None or not sure[best]:
            sentences.append((f"It is not clear which plan improves {words} the most per annotation.",))
            continue
        gain = number(100 * float(found.gain[best + 1, quantity]), 1)
        price = f", at a cost of {number(cost * n[best])}" if cost is not None else ""
        plan = found.plans[best + 1]
        most = " the most per annotation" if n.size > 1 else ""
        sentences.append(
            (Strong(plan.title if plan else ""), f" improves {words}{most}: +{gain} points with "
             f"{plural(int(n[best]), 'annotation')}{price}.")
        )  # fmt: skip
    return sentences


STEPS = (
    Column("annotations added", unit="count"),
    *(Column(name, unit="coefficient") for name in ("median", "low", "high")),
)


@dataclass(frozen=True, slots=True, eq=False)
class PlannedAnnotations:
    """Forecast of a plan.

    Attributes
    ----------
    forecast : Forecast
    raters : tuple of str
    by_gold : GoldMeasures or None
        Comparison with gold of the model of the simulations.
    """

    forecast: Forecast
    raters: tuple[str, ...]
    by_gold: GoldMeasures | None


def compute(
    dataset: Dataset,
    options,
    *,
    averaged: AveragedModels | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> PlannedAnnotations:
    """Compute the forecast, and if there is gold, the comparison of the model of the simulations with it."""
    fit, truths = _worlds(dataset, options, averaged, token)
    goal = Goal(options.quantity, options.target, options.name)
    how = {"policy": options.policy, "budget": options.budget, "n_worlds": options.n_worlds, "seed": options.seed}
    found = forecast(dataset, fit, goal, **how, truths=truths, token=token, progress=progress)
    by_gold = gold_measures(dataset, fit, seed=options.seed) if len(gold_cases(dataset)) else None
    return PlannedAnnotations(found, dataset.raters, by_gold)


def table_of(found: PlannedAnnotations, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per number of annotations added."""
    plan = found.forecast
    return frame_of(zip(plan.extra, plan.value, plan.low, plan.high, strict=True), STEPS)


def present(found: PlannedAnnotations, dataset: Dataset, options) -> list[Block]:
    """Show the forecast with its band. `present_ask_next` has the list of what to ask whom."""
    plan, title = found.forecast, words(found.forecast)
    blocks: list[Block] = [
        Figure(lambda theme: figures.plan_forecast(plan, theme, title), "Forecast of the plan", "plan"),
        Words(
            f"Target measure now: {number(plan.now, 3)}. {percent(plan.share_met)} of {plan.n_worlds:,} simulated "
            f"datasets (seed {plan.seed}) reach the target within the budget.",
            "note",
        ),
        *(Words((Name(note),), "note") for note in plan.notes),
        *_shared_votes(dataset),
    ]
    who = pd.DataFrame({"rater": found.raters, "further annotations": plan.by_rater})
    blocks += [
        Download(table_of(found, dataset, options), "Forecast", "plan", "plan_table"),
        Download(
            who[who["further annotations"] > 0], "Annotations per rater in the plan", "plan_raters", "plan_raters_table"
        ),
    ]
    if found.by_gold is not None:
        accuracy = found.by_gold.accuracy
        right = percent_with_interval(accuracy.value, accuracy.low, accuracy.high)
        said = (
            f"Compared with gold, the model used for the simulations is correct on {right} of "
            f"{plural(found.by_gold.n, 'case')}. More annotations do not correct mistakes that raters share."
        )
        blocks.append(Words(said))
    return blocks


def words(found: Forecast) -> str:
    """Return how many annotations are needed, in words."""
    if found.needed is None:
        return f"The target is not reached with {plural(int(found.extra[-1]), 'more annotation')}"
    low = "–" if found.needed_low is None else f"{found.needed_low:,}"
    high = "more than planned" if found.needed_high is None else f"{found.needed_high:,}"
    return f"About {plural(found.needed, 'more annotation')} needed ({low} to {high})"


ASK_NEXT = (
    Column("case"),
    Column("rater", "ask"),
    Column("uncertainty", "uncertainty now (bits)", "coefficient"),
    Column("gain", "expected gain (bits)", "coefficient"),
    Column("any_rater", "mean over raters (bits)", "coefficient"),
    Column("cost", unit="amount"),
)


def compute_ask_next(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> NextPairs:
    """Choose pairs of rater and case by the average of rater models."""
    return pairs_to_ask(_average(dataset, token), dataset, options)


def pairs_to_ask(
    averaged: AveragedModels | None, dataset: Dataset, options, without: Collection[str] = ()
) -> NextPairs:
    """Choose pairs of rater and case if the average of rater models is known.

    Parameters
    ----------
    averaged : AveragedModels or None
    dataset : Dataset
    options : AskNextOptions
    without : collection of str
        Raters who are not asked, such as AI raters.

    Raises
    ------
    NotApplicableError
        No rater model can be averaged, or every rater has annotated every case.
    InputError
        The cost of a rater is missing.
    """
    if averaged is None or not averaged.members:
        raise NotApplicableError("Cannot determine whom to ask: no rater model is available.")
    how = {"n": options.pairs, "each": options.most_each, "costs": dict(options.costs), "without": without}
    return ask_next(dataset, averaged.fit, **how)


def table_of_ask_next(found: NextPairs, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per pair; with costs if any are given."""
    frame = frame_of((astuple(pair) for pair in found.pairs), ASK_NEXT)
    return frame if options.costs else frame.drop(columns="cost")


_BELOW_ANY = (
    "The expected gain is below the mean over raters if the better raters for a case have reached their "
    "maximum or cost more."
)


def present_ask_next(found: NextPairs, dataset: Dataset, options) -> list[Block]:
    """Show the pairs, and what asking any rater about the same cases would give."""
    table = table_of_ask_next(found, dataset, options)
    proposed, anybody = (number(float(table[name].sum())) for name in ("gain", "any_rater"))
    ordered = "gain per cost" if options.costs else "gain"
    said = (
        f"Largest expected {ordered} first. Gain: expected reduction in the uncertainty about the class, according to "
        "the average of rater models. 1 bit decides between two equally probable classes. New annotations are "
        "treated as independent given the class, so the gain is too high if raters share mistakes. "
        f"Considered: the {plural(found.n_cases, 'most uncertain case')} without gold and the "
        f"{plural(found.n_raters, 'rater')} with the most annotations."
    )
    return [
        Words(f"Expected gain from these {plural(len(table), 'annotation')}: {proposed} bits. With randomly chosen "
              f"raters on the same cases: {anybody} bits."),
        Grid(table, "Whom to ask next.", columns=columns_in(table, ASK_NEXT), key="ask_next", opens_case=True),
        *([Words(_BELOW_ANY, "note")] if (table["gain"] < table["any_rater"]).any() else []),
        Words(said, "note"),
        Download(table, "Whom to ask next", "ask_next", "ask_next_download"),
    ]  # fmt: skip
