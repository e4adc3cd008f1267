"""Certainty of every case: its leading class, the certainty and risk of it, and its place on a scale."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...annotations.dataset import RISK_LEVELS, Dataset
from ...certainty.explain import why
from ...certainty.more_raters import OUTCOMES, MoreRaters, more_raters
from ...certainty.p_correct import PCorrect
from ...certainty.risk import RiskResult
from ...certainty.shares import CertaintyShares, certainty_shares
from ...certainty.top_sets import CertaintyResult, most_plausible, short_of_certain
from ...evaluation.sweep_table import SweepTable, reliability_sweep
from ...models.expected_class import ClassScale, class_scale, expected_said, without_shared_words
from ...plausibility.dirichlet import DirichletCounts
from ...plausibility.ordinal_truth import OrdinalTruth
from ...plausibility.protocol import PlausibilityModel
from ...runtime.chunks import CancelToken
from ...runtime.executors import Executor
from ...text import exact, percent, plural
from ...thresholds import CERTAIN_LEVELS, NUMBERS_DIFFER, PROBABLY_WRONG, UNCERTAIN_BELOW
from ..blocks import Block, Download, Figure, Grid, Name, Words
from ..inputs import Inputs
from . import model_and_reliability, of_label, view_of

_LISTED = 25


@dataclass(frozen=True, slots=True, eq=False)
class CaseCertainty:
    """Results for every case at one γ.

    Attributes
    ----------
    certainty : CertaintyResult
    risk : RiskResult or None
        Risk; None if some class has no risk level.
    scale : ClassScale or None
        Scale of ordered classes.
    shares : CertaintyShares or None
        Which cases are uncertain, and which have one annotation; None if only the certainty was computed.
    more : MoreRaters or None
        Effect of more raters on each case; None except for counts.
    correct : PCorrect or None
        P(correct) of every class; None unless rater models are averaged.
    """

    certainty: CertaintyResult
    risk: RiskResult | None = None
    scale: ClassScale | None = None
    shares: CertaintyShares | None = None
    more: MoreRaters | None = None
    correct: PCorrect | None = None

    def p_correct(self) -> np.ndarray:
        """Return P(correct) of the leading class of each case, shape (n_cases,); NaN without a leading class."""
        assert self.correct is not None, "P(correct) must be known"
        code = {name: place for place, name in enumerate(self.correct.classes)}
        own = np.array([code.get(name, -1) for name in self.certainty.classes] + [-1])
        return self.correct.of(own[self.certainty.top_class()])

    def more_words(self) -> str:
        """Return what more raters would do, in a sentence; empty if that is unknown, or every case is certain."""
        if self.more is None or self.shares is None:
            return ""
        several = ~(self.shares.single | self.shares.empty)
        return self.more.sentence(several if several.any() else ~several)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per case, as in the file and on the command line."""
        result = self.certainty
        table = pd.DataFrame({"case": list(result.cases)})
        for place in range(result.certainty.shape[1]):
            table[f"top{place + 1}"] = result.certainty[:, place]
            table[f"top{place + 1}_se"] = result.se[:, place]
        table["top_class"] = [result.classes[code] if code >= 0 else "" for code in result.top_class()]
        if (risk := self.risk) is not None:
            table["risk_of_top1"], table["risk_summed"] = risk.of_top1, risk.summed
            table["risk"], table["expected_risk"] = [RISK_LEVELS[level] for level in risk.level], risk.expected
        if self.scale is not None:
            table = table.assign(**self.scale.columns())
        if self.shares is not None:
            table["state"] = self.shares.states()
        if self.more is not None:
            table["more_raters"] = [OUTCOMES[place] for place in self.more.outcome]
            table["more_raters_chance"] = self.more.chance
        if self.correct is not None:
            table["p_correct"] = self.p_correct()
        return table

    def to_dict(self, max_top: int) -> dict[str, Any]:
        """Return means over cases and how many are uncertain, as on the command line."""
        result, tops = self.certainty, range(1, max_top + 1)
        found: dict[str, Any] = {
            "mean": {f"top{top}": result.mean(top) for top in tops},
            "se": {f"top{top}": result.mean_se(top) for top in tops},
            "n_below": {str(level): result.n_below(level) for level in CERTAIN_LEVELS},
        }
        if self.risk is not None:
            found["risk"] = {"of_top1": float(self.risk.of_top1.mean()), "summed": float(self.risk.summed.mean())}
        if self.scale is not None:
            near = self.scale.within_one
            found["within_one"] = float(near.mean())
            found["n_below_within_one"] = {str(level): int((near < level).sum()) for level in CERTAIN_LEVELS}
        if (shares := self.shares) is not None:
            found["uncertain"] = {
                "n": shares.n_uncertain,
                "one_annotation": int(shares.single.sum()),
                "none": int(shares.empty.sum()),
                "bar": shares.bar,
                "reach": shares.reach,
                "sentence": shares.sentence,
            }
        if self.more is not None:
            found["more_raters"] = self.more.counts
        if self.correct is not None:
            p, certain = self.p_correct(), result.certainty[:, 0]
            if (shares := self.shares) is not None:
                certain = np.where(shares.single | shares.empty, np.nan, certain)
            found["p_correct"] = {
                "mean": float(np.nanmean(p)),
                "n_below": {str(PROBABLY_WRONG): int((p < PROBABLY_WRONG).sum())},
                "n_differ": int((np.abs(p - certain) > NUMBERS_DIFFER).sum()),
            }
        return found


def fitted_once(model: PlausibilityModel, view: Dataset) -> PlausibilityModel:
    """Return the model with what it learns on raters from all cases, if that does not depend on γ."""
    if isinstance(model, OrdinalTruth) and model.fitted is None:
        return replace(model, fitted=model.fit(view))
    return model


def certainty_of_cases(
    model: PlausibilityModel,
    view: Dataset,
    *,
    reliability: float,
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> CaseCertainty:
    """Compute the certainty of every case.

    Parameters
    ----------
    model, reliability, n_draws, max_top, seed, token, progress, runner
        See `core.certainty.top_sets.annotation_certainty`.
    view : Dataset
        Dataset as the model takes it.
    """
    model = fitted_once(model, view)
    how: dict[str, Any] = {"n_draws": n_draws, "max_top": max_top, "seed": seed}
    sweep = reliability_sweep(model, view, [reliability], **how, token=token, progress=progress, runner=runner)
    return of_sweep(sweep, model, view, token)


def of_sweep(
    sweep: SweepTable, model: PlausibilityModel, view: Dataset, token: CancelToken | None = None
) -> CaseCertainty:
    """Return the certainty of every case from existing draws: the first reliability of a sweep.

    Parameters
    ----------
    sweep : SweepTable
    model : PlausibilityModel
        Model of the sweep, with what it learned on raters.
    view : Dataset
        Dataset of the sweep.
    token : CancelToken, optional
    """
    scale, more, (reliability, *_) = None, None, sweep.reliabilities
    if isinstance(model, OrdinalTruth):
        scale = class_scale(model.probability(view, reliability))
    shares = certainty_shares(view, model, sweep.certainty[0], reliability=reliability)
    if isinstance(model, DirichletCounts):
        more = more_raters(view, model, reliability=reliability, token=token)
    return CaseCertainty(sweep.certainty[0], sweep.risk[0] if sweep.risk else None, scale, shares, more)


def compute(inputs: Inputs, options, **how: Any) -> CaseCertainty:
    """Compute the certainty of every case at the γ of the settings."""
    model, reliability = model_and_reliability(inputs)
    asked = {"n_draws": options.n_draws, "max_top": options.max_top, "seed": options.seed}
    return certainty_of_cases(model, view_of(inputs, options), reliability=reliability, **asked, **how)


def table_of(found: CaseCertainty, inputs: Inputs, options) -> pd.DataFrame:
    """Return one row per case."""
    return found.to_frame()


def listed(found: CaseCertainty, cases: Sequence[int] | np.ndarray, letters: int = 40) -> pd.DataFrame:
    """Return cases as people read them.

    Parameters
    ----------
    found : CaseCertainty
    cases : sequence of int
        Positions of cases, in this order.
    letters : int
        Number of letters of the name of a class next to another one.
    """
    result, scale, shares = found.certainty, found.scale, found.shares
    names = result.classes if scale is None else without_shared_words(result.classes)
    known = np.ones(len(cases), bool) if shares is None else ~(shares.single | shares.empty)[cases]
    frame = pd.DataFrame(
        {
            "case": [result.cases[case] for case in cases],
            "certainty": np.where(known, short_of_certain(result.certainty[cases, 0]), np.nan),
            "most plausible": most_plausible(result, cases, names, letters),
        }
    )
    if found.correct is not None:
        frame.insert(2, "P(correct)", found.p_correct()[cases])
    if scale is not None:
        ends = scale.expected_class, scale.expected_class_low, scale.expected_class_high
        each = zip(*(end[cases] for end in ends), strict=True)
        frame.insert(frame.columns.get_loc("most plausible"), "expected", [expected_said(names, *one) for one in each])
    if found.more is not None and shares is not None:
        frame["more raters"] = np.where(known, found.more.in_short()[cases], shares.states()[cases])
    return frame


def reason(inputs: Inputs, view: Dataset, case: int) -> str:
    """Describe the annotations of a case in a sentence; for sets, those of the label.

    Parameters
    ----------
    inputs : Inputs
    view : Dataset
    case : int
    """
    n_used = len(view.annotations_of(case))
    if inputs.dataset.kind == "score":
        return plural(n_used, "score")
    return why(view if inputs.dataset.kind == "set" else inputs.dataset, case, n_used)


def present(found: CaseCertainty, inputs: Inputs, options) -> list[Block]:
    """Show all cases as a curve, and the least certain ones with their annotations."""
    from ...figures import reliability as figures  # commands that print the table need no figure

    result, reliability, view = found.certainty, model_and_reliability(inputs)[1], view_of(inputs, options)
    assert found.shares is not None, "of a sweep"
    cases = found.shares.order(result.certainty[:, 0])[:_LISTED]
    frame = listed(found, cases)
    if found.risk is not None:
        frame["risk"] = [RISK_LEVELS[level] for level in found.risk.level[cases]]
    frame["why"] = [reason(inputs, view, int(case)) for case in cases]
    sweep = SweepTable((reliability,), (result,))
    words = found.shares.headline(f" at γ = {exact(reliability)}", of_label(inputs.dataset, view))
    lead = Words((Name(f"{words}."),), "lead")
    grid = Grid(frame, "The least certain cases.", _LISTED, key="least_certain", opens_case=True)
    download = Download(table_of(found, inputs, options), "Worklist", "certainty", "certainty")
    if not found.shares.any_known:
        return [lead, grid, download]
    return [
        lead,
        *(Words(each) for each in (found.shares.beside, found.more_words()) if each),
        Words(
            f"Uncertain: certainty below {percent(UNCERTAIN_BELOW)}. Mean certainty: {percent(result.mean())}.",
            "note",
            "annotation certainty",
        ),
        *_correct_in_words(found),
        Figure(
            lambda theme: figures.sorted_certainty(sweep, theme, "Certainty of every case, sorted"),
            "Sorted certainty of all cases",
            "sorted_certainty",
        ),
        grid,
        download,
    ]


def _correct_in_words(found: CaseCertainty) -> list[Block]:
    """Summarise P(correct) next to certainty, if it is known of any case."""
    if found.correct is None or not np.isfinite(p := found.p_correct()).any():
        return []
    below = plural(int((p < PROBABLY_WRONG).sum()), "case")
    words = (
        f"Mean P(correct) of the leading class, from rater models: {percent(np.nanmean(p))}. P(correct) is below "
        f"{percent(PROBABLY_WRONG)} in {below}."
    )
    return [Words(words, "note", "p correct")]
