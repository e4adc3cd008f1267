"""Raters of scores: severity, spread, bias by gold, and changes over time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from ...agreement.applicable_coefficients import ApplicableCoefficients
from ...annotations.dataset import Dataset
from ...certainty.score_trust import score_digits
from ...errors import NotApplicableError
from ...raters.following import Following, following_of
from ...raters.score_drift import ScoreDrifts, score_drifts
from ...raters.score_gold import ScoreGold, score_gold
from ...raters.score_raters import ScoreRaters, score_raters
from ...runtime.chunks import CancelToken
from ...text import number, percent, plotly, plural, shorten, with_interval
from ..blocks import Block, Control, Download, Figure, Grid, Heading, Name, Row, Selector, Stack, Words
from ..schema import Column, intervals

# Streamlit tells columns apart by their heads, too: the ends of each interval have another number of spaces.
RATERS = (
    Column("rater"),
    Column("n", "scores", "count"),
    *intervals("severity", unit="score", picture="severity, 95%"),
    *intervals("spread", unit="score", heads=("95% from ", "to "), picture="spread, 95%"),
    *intervals("with_others", "with the others", heads=("95% from  ", "to  "), picture="with the others, 95%"),
    Column("follows", unit="coefficient"),
    Column("p_acceptable", "P(acceptable)", "rate"),
    Column("lost", "scores lost", "count"),
    Column("clear"),
    *(Column(name, hidden=True) for name in ("severe", "erratic", "against", "low", "follows_low", "follows_high")),
    Column("follows_n", hidden=True),
    Column("judged_by", hidden=True),
)

_OF_SCORES = ("with_others", "with_others_low", "with_others_high", "severe", "erratic", "against")


def compute(
    dataset: Dataset, options, *, token: CancelToken | None = None, progress: Callable[[float], None] | None = None
) -> Following:
    """Compute how closely raters follow the cases, with severity and spread; raise if these cannot be determined."""
    asked = {"acceptable": options.acceptable, "q": options.fdr, "judged_by": options.judged_by}
    found = following_of(dataset, **asked, level=options.level, token=token, progress=progress)
    if found.scores is None:
        why = found.why or "cannot determine severity and spread"
        raise NotApplicableError(f"{why[0].upper()}{why[1:]}.")
    return found


def _drawn(name: str, found: Any, *said: str) -> Callable[..., Any]:
    """Return a figure of scores whose module is loaded when it is drawn, because a command needs none."""

    def draw(theme):
        from ...figures import scores as figures

        return getattr(figures, name)(found, theme, *said)

    return draw


def severity_of(found: Following) -> ScoreRaters:
    """Return severity and spread, which `compute` has checked."""
    assert found.scores is not None
    return found.scores


def digits_of(raters: ScoreRaters) -> int:
    """Return the number of decimals of scores."""
    return score_digits(float(np.nanmedian(raters.severity_high - raters.severity_low)))


def table_of(found: Following, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per rater, most lost first, then farthest from the average rater."""
    raters = severity_of(found)
    order = np.lexsort((-np.abs(np.nan_to_num(raters.severity)), -np.nan_to_num(found.lost, nan=-1.0)))
    named = (raters.severe, raters.erratic, raters.against)
    clear = [
        " and ".join(word for word, is_so in zip(("severity", "spread", "direction"), each, strict=True) if is_so)
        for each in zip(*named, strict=True)
    ]
    values = {name: getattr(raters, name) for name in _OF_SCORES} | dict(found.to_frame()) | {"clear": clear}
    return pd.DataFrame({column.name: values[column.name] for column in RATERS}).iloc[order].reset_index(drop=True)


def sentences(found: Following) -> list[str]:
    """Return findings, the most important first: a reversed scale, severe raters, raters who do not follow cases."""
    raters = severity_of(found)
    who, said = found.who().removesuffix("."), list(raters.sentences(digits_of(raters)))
    # If everybody follows the cases, that is not a finding.
    return [who, *said] if found.n_flagged and not raters.against.any() else [said[0], who, *said[1:]]


def present(found: Following, dataset: Dataset, options) -> list[Block]:
    """Show severity and spread of each rater with their intervals, and the table."""
    raters = severity_of(found)
    severe, erratic = int(raters.severe.sum()), int(raters.erratic.sum())
    level = (
        f"{plural(severe, 'rater')} clearly {'differs' if severe == 1 else 'differ'} from the average in severity"
        if severe
        else "No rater clearly differs from the average in severity"
    )
    scatter = (
        f"The spread of {plural(erratic, 'rater')} is clearly above the median"
        if erratic
        else "No rater's spread is clearly above the median"
    )
    severity = Figure(_drawn("severities", raters, level), "Severity of each rater with its interval", "severity")
    spread = Figure(_drawn("spreads", raters, scatter), "Spread of each rater with its interval", "spread")
    blocks: list[Block] = [
        Row((Stack(1, [severity]), Stack(1, [spread])), gap="large"),
        Words(
            "Severity: how far a rater scores above the average rater on the same cases (dotted line: 0) · Spread: "
            "standard deviation of a rater's scores around the score expected for the case and rater (dotted line: "
            "median rater) · With the others: correlation of a rater's scores with the mean of the other raters; "
            "clearly below 0 suggests a reversed scale · Follows: correlation with the true score of the case, shrunk"
            " towards the mean of all raters · Lost: number of scores minus the number that an average rater needs "
            "for the same information · Crosses: raters who clearly differ; the chance that any typical rater is "
            "among them is at most 5%.",
            "legend",
        ),
    ]
    if not raters.converged:
        blocks.append(Words("The variance estimates did not converge: treat intervals with caution.", "warning"))
    frame = table_of(found, dataset, options)
    shown = [column.name for column in RATERS if not column.hidden]
    said = (
        "Severity and spread of each rater (score units, 95% intervals), correlation with the case scores, and scores "
        "lost compared with the average rater."
    )
    blocks.append(Grid(frame[shown], said, columns=RATERS[: len(shown)], key="score_raters", digits=digits_of(raters)))
    if alone := int(np.isnan(raters.severity).sum()):
        share = "shares" if alone == 1 else "share"
        few = f"{plural(alone, 'rater')} {share} too few cases with other raters."
        blocks.append(Words(few, "note"))
    return [*blocks, Download(frame, "Raters", "score_raters", "score_raters_file")]


def made_of(raters: ScoreRaters, suitable: ApplicableCoefficients) -> list[Block]:
    """Show the meaning of the variances together, and the intraclass correlation of Agreement."""
    from ...figures.agreement import title_of  # loads plotly

    parts = (
        ("cases", raters.between_cases),
        ("raters", raters.between_raters),
        ("residual (median rater)", raters.median_spread),
    )
    said = ", ".join(f"{name} {number(value, digits_of(raters))}" for name, value in parts)
    blocks: list[Block] = [
        Heading("Sources of score variance"),
        Words(f"Standard deviations: {said}."),
    ]
    best = suitable.quoted
    if best.value is None:
        return blocks
    share = with_interval(best.value, best.ci_low, best.ci_high)
    words = (
        f": {share}, n = {plural(best.n_cases, 'case')}. This is the share of score variance due to the case. All "
        "coefficients are on the Agreement page."
    )
    return [*blocks, Words((Name(title_of(best)), words), term=best.name)]


BY_GOLD = (
    Column("rater"),
    Column("n", "scores on gold cases", "count"),
    *intervals("bias", unit="score"),
    *intervals("error", "mean error", "score", heads=("95% from ", "to ")),
)


def compute_gold(dataset: Dataset, options) -> ScoreGold:
    """Compute how far the scores of each rater are from the known scores."""
    return score_gold(dataset, level=options.level)


def table_of_gold(found: ScoreGold, dataset: Dataset | None = None, options=None) -> pd.DataFrame:
    """Return one row per rater."""
    return found.to_frame()


def present_gold(found: ScoreGold, dataset: Dataset, options) -> list[Block]:
    """Show the bias of each rater with its interval, and the table."""
    return by_gold(found, score_digits(float(np.nanmedian(found.error))))


def by_gold(found: ScoreGold, digits: int) -> list[Block]:
    """Show the comparison with gold, with that many decimals of scores."""
    frame = table_of_gold(found)
    return [
        Heading("Against gold"),
        Words((Name(found.words(digits)), ".")),
        Figure(
            _drawn("biases", found, "Score minus gold"),
            "Bias of each rater compared with gold",
            "bias",
        ),
        Grid(
            frame,
            "Bias and mean error of raters compared with gold, in score units, with 95% intervals.",
            columns=BY_GOLD,
            key="score_gold",
            digits=digits,
        ),
        Download(frame, "Raters against gold", "score_gold", "score_gold_file"),
    ]


def compute_time(dataset: Dataset, options, *, raters: ScoreRaters | None = None) -> tuple[ScoreDrifts, int]:
    """Compute how each rater's severity changed, and the number of decimals of scores.

    Parameters
    ----------
    dataset : Dataset
    options : ScoreOptions
    raters : ScoreRaters, optional
        Severity and spread from the same data, if known.
    """
    raters = score_raters(dataset, level=options.level) if raters is None else raters
    return score_drifts(dataset, raters, level=raters.level), digits_of(raters)


def table_of_time(found: tuple[ScoreDrifts, int], dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per rater."""
    return found[0].to_frame()


def present_time(found: tuple[ScoreDrifts, int], dataset: Dataset, options) -> list[Block]:
    """Show how many changed, and each rater over time, the clearest first."""
    drifts, digits = found
    download = Download(table_of_time(found, dataset, options), "Raters over time", "score_drift", "score_drift_file")
    names = [one for one, drift in zip(drifts.raters, drifts.each, strict=True) if drift is not None]
    if not names:
        few = "Not available: no rater has enough dated scores on shared cases to show changes over time."
        return [Heading("Over time"), Words(few, "impossible"), download]
    n = int(drifts.alarm.sum())
    changed = f"Severity changed for {plural(n, 'rater')}" if n else "No rater's severity clearly changed"
    first = names.index(drifts.raters[int(np.nanargmin(drifts.p))])
    undated = f"Left out: {plural(drifts.n_undated, 'score')} without a date."
    return [
        Heading("Over time"),
        Words(
            f"{changed}. The probability of reporting any rater who did not change is at most "
            f"{percent(drifts.false_alarms)}. Each score is compared with the other scores on the same "
            "case, so differences between cases do not appear as drift. A change shared by all raters cannot be "
            "detected."
        ),
        Selector(
            (Control("Rater", names, names, "score_drift_rater", first),),
            lambda rater: over_time(drifts, drifts.raters.index(rater), digits),
        ),
        *([Words(undated, "note")] if drifts.n_undated else []),
        download,
    ]


def over_time(found: ScoreDrifts, place: int, digits: int, unit: str = "") -> list[Block]:
    """Show one rater's severity over time, and how it changed.

    Parameters
    ----------
    found : ScoreDrifts
    place : int
        Position of the rater.
    digits : int
        Number of decimals.
    unit : str
        Unit of severity: "class" for ordered classes, empty for scores.
    """
    drift, rater = found.each[place], found.raters[place]
    if drift is None:
        few = "Not available: this rater has too few dated annotations on shared cases to show changes over time."
        return [Words(few, "impossible")]
    title = plotly(shorten(rater, 24) + found.words(place, digits, unit).removeprefix(rater))
    figure = Figure(_drawn("severity_over_time", drift, title, unit), "Severity of a rater over time", "score_drift")
    if drift.before is None or drift.after is None:
        return [figure]
    parts = (number(end, digits) for part in (drift.before, drift.after) for end in part)
    p = "below 0.001" if drift.p < 0.001 else f"at most {number(drift.p, 3)}"
    return [
        figure,
        Words(
            "Difference from the other raters: {}{u} ({} to {}) before the change, {}{u} ({} to {}) after.".format(
                *parts, u=f" {unit}es" if unit else ""
            )
            + f" The probability that a stable rater would vary this much is {p}."
        ),
    ]
