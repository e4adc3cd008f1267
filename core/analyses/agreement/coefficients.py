"""Coefficients that suit the annotations, with their assumptions, and a recommendation which to quote."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...agreement.applicable_coefficients import ApplicableCoefficients, coefficients_for
from ...agreement.benchmark_labels import SCALES, benchmark_labels, beyond_chance
from ...agreement.coefficient_methods import CoefficientMethod
from ...agreement.coefficients import FLEISS_KAPPA, GWET_AC
from ...agreement.intervals import Coefficient
from ...agreement.label_sets import LABEL_ALPHA, SET_ALPHA
from ...agreement.ordered import LEAVE_ONE_OUT_TOP1, MEAN_AVERAGE_OVERLAP
from ...agreement.probability import SPA, SPA_WEIGHTINGS
from ...agreement.scores import INTRACLASS
from ...annotations.dataset import Dataset
from ...figures import agreement as figures
from ...figures import agreement_parts as more_figures
from ...methods import method_named
from ...text import number, percent, percent_with_interval, plural, probability, with_interval
from ..blocks import Block, Control, Details, Download, Figure, Grid, Name, Remark, Row, Selector, Stack, Strong, Words
from ..schema import frame_of
from .columns import COEFFICIENT

DIVERGE = 0.15
COMMON_SHARE = 0.5
ENOUGH_CASES = 10
SCALE_NAMES = {"landis_koch": "Landis and Koch", "fleiss": "Fleiss", "altman": "Altman"}


@dataclass(frozen=True, slots=True)
class Group:
    """Coefficients that belong together, with a common heading."""

    heading: str
    coefficients: list[Coefficient]


def compute(dataset: Dataset, options) -> ApplicableCoefficients:
    """Compute the coefficients that suit these annotations, with reasons for those left out."""
    return coefficients_for(dataset, options.level, spa_weightings=options.spa_weightings)


def class_shares(dataset: Dataset) -> dict[str, float] | None:
    """Return the share of each class among the annotations, first choices of rankings; None for scores and sets."""
    if dataset.traits.needs_split:
        return None
    view, _ = dataset.as_classes()
    count = np.bincount(view.answer, minlength=view.n_classes).astype(float)
    count = (count + count[::-1]) / 2 if view.compares else count
    return dict(zip(view.classes, (count / max(1, count.sum())).tolist(), strict=True))


def table_of(found: ApplicableCoefficients, dataset: Dataset, options) -> pd.DataFrame:
    """Return one row per coefficient."""
    rows = (
        (figures.title_of(one), *(getattr(one, column.name) for column in COEFFICIENT[1:]))
        for one in found.coefficients
    )
    return frame_of(rows, COEFFICIENT)


def present(found: ApplicableCoefficients, dataset: Dataset, options) -> list[Block]:
    """Show a forest on the left, what to quote on the right, and assumptions, benchmarks and the whole table folded."""
    groups = _groups(found)
    main = [one for group in groups for one in group.coefficients]
    common = _common(main)
    left: list[Block] = [_forest(groups)]
    if words := _apart(main, class_shares(dataset)):
        left.append(Words(words, "apart"))
    right: list[Block] = [*_quote(found)]
    right += [Words((Name(words[:1].upper() + words[1:]), "."), "note", icon="info") for words in common]
    for group in groups:
        lines: list[Words] = [_line(one, common) for one in group.coefficients]
        if found.quoted in group.coefficients and found.quoted.value is not None:
            lines.insert(0, _why_quoted(found))
        right.append(Details(Name(group.heading or "What each coefficient assumes"), lines, printed=True))
    frame = table_of(found, dataset, options)
    table: list[Block] = [
        Grid(frame, f"Agreement coefficients with {percent(options.level)} intervals.", columns=COEFFICIENT,
             key="coefficients"),
        Download(frame, "Coefficients", "agreement", "agreement"),
        *(
            Words(("Left out: ", Strong(Name(one.what)), ", because ", Name(one.why), "."), icon="block")
            for one in found.left_out
        ),
    ]  # fmt: skip
    return [
        Row((Stack(3, left), Stack(2, right)), gap="large"),
        *_benchmarks(main, found.quoted),
        Details("All coefficients", table, printed=True),
    ]


def _groups(found: ApplicableCoefficients) -> list[Group]:
    """Group coefficients with one line each, SPA in its default weighting; separate those that count differently."""
    main = [one for one in found.coefficients if one.name != SPA or one.weights == SPA_WEIGHTINGS[0]]
    if found.kind == "ordinal":
        by_rank = [one for one in main if one.weights in ("ordinal", "ordinal metric")]
        plain = [one for one in main if one.weights not in ("ordinal", "ordinal metric", "ordinal weights")]
        by_square = [one for one in plain if one.weights.startswith("quadratic")]
        return [
            Group("Exact agreement", [one for one in plain if one not in by_square]),
            Group("Weighted agreement, rank weights", by_rank),
            Group("Weighted agreement, quadratic weights", by_square),
        ]
    if found.kind == "ranking":
        whole = [one for one in main if one.name in (LEAVE_ONE_OUT_TOP1, MEAN_AVERAGE_OVERLAP)]
        return [Group("Whole rankings", whole), Group("First choices", [one for one in main if one not in whole])]
    if found.kind == "set":
        whole = [one for one in main if one.name != LABEL_ALPHA]
        return [Group("Whole sets", whole), Group("Each label", [one for one in main if one not in whole])]
    if found.kind == "score":
        icc = [one for one in main if one.name in INTRACLASS]
        by_anova = [one for one in icc if "ANOVA" in one.weights]
        by_likelihood = [one for one in icc if one not in by_anova]
        same_number = any("scores per case" in one.weights for one in by_anova)
        complete = " with the same number of scores" if same_number else " that all raters scored"
        groups = [
            Group(f"ICC of {plural(of[0].n_cases, 'case')}{words}", of)
            for of, words in ((by_likelihood, ", missing scores allowed"), (by_anova, complete))
            if of and of[0].n_cases
        ]
        return [*groups, Group("Krippendorff α", [one for one in main if one not in icc])]
    return [Group("", main)]


def _forest(groups: list[Group]) -> Figure:
    table = [one for group in groups for one in group.coefficients]
    headings, place = {}, 0
    for group in groups:
        if group.heading:
            headings[place] = group.heading
        place += len(group.coefficients)
    labels = [_short_title(one) for one in table]
    return Figure(
        lambda theme: figures.forest(table, theme, "Agreement with 95% intervals", labels, headings),
        "Agreement coefficients with their intervals",
        "forest",
    )


def _short_title(one: Coefficient) -> str:
    """Return the name in the figure, without the words of the heading."""
    if one.name in INTRACLASS or one.weights in ("quadratic", "ordinal", "quadratic weights"):
        method = method_named(CoefficientMethod, one.name)
        return method.title_weighted or method.title
    if one.name == SPA:
        return "SPA"
    if one.name == LABEL_ALPHA:
        return one.weights
    if one.name == SET_ALPHA:
        return f"Krippendorff α, {one.weights}"
    return figures.title_of(one)


def _quote(found: ApplicableCoefficients) -> list[Words]:
    """Return the recommendation which to quote, in words that can be copied."""
    one = found.quoted
    if one.value is None:
        return []
    name = method_named(CoefficientMethod, one.name).title
    if one.name not in INTRACLASS and figures.title_of(one) != name:
        name = f"{name} ({figures.title_of(one).removeprefix(name).lstrip(', ')})"
    value = with_interval(one.value, one.ci_low, one.ci_high)
    words = f": {value}, {plural(one.n_cases, 'case')}, {one.n_annotations:,} annotations"
    percentage = found.percentage
    if percentage is not None and percentage.value is not None:
        ends = percent_with_interval(percentage.value, percentage.ci_low, percentage.ci_high)
        words += f"; {_same_kind(percentage)}: {ends}"
    return [Words((Strong("To quote:"), " ", Name(name), f"{words}."), term=one.name)]


def _why_quoted(found: ApplicableCoefficients) -> Words:
    reason = found.reason
    first = reason[0].upper() if reason[0].isascii() else reason[0]  # the capital α would look like the letter A
    return Words((Strong("Why this one:"), " ", Name(first + reason[1:]), "."), "note")


def _same_kind(percent: Coefficient) -> str:
    return "percent agreement" if percent.weights == "identity" else f"percent agreement ({percent.weights} weights)"


def _common(main: list[Coefficient]) -> list[str]:
    """Return remarks that most coefficients share, to show once; "of first choices" is in a heading."""
    parts = Counter(part for one in main for part in one.note.split("; ") if part and not _undefined(part))
    return [part for part, times in parts.items() if times > max(1, len(main) // 2) and part != "of first choices"]


def _undefined(part: str) -> bool:
    return part.startswith(("undefined", "undetermined"))


def _line(one: Coefficient, common: list[str]) -> Words:
    words = method_named(CoefficientMethod, one.name).assumes
    title = Strong(Name(figures.title_of(one)))
    if one.value is None:
        return Words((title, " ", Name(one.note)), "note", one.name)
    value = with_interval(one.value, one.ci_low, one.ci_high)
    note = "; ".join(part for part in one.note.split("; ") if part not in ("", "of first choices", *common))
    remark = (" ", Remark(Name(note[0].upper() + note[1:]))) if note else ()
    return Words((title, f" {value}: {words}", *remark), "note", one.name)


def _apart(main: list[Coefficient], shares: dict[str, float] | None) -> tuple[str | Name, ...]:
    """Return why kappa and AC1 differ, if they do: one class is frequent, or most classes of the list are rare."""
    found = {one.name: one for one in reversed(main)}
    kappa, ac = found.get(FLEISS_KAPPA), found.get(GWET_AC)
    if shares is None or kappa is None or ac is None or kappa.value is None or ac.value is None:
        return ()
    if ac.value - kappa.value < DIVERGE or kappa.n_cases < ENOUGH_CASES:
        return ()
    name, share = max(shares.items(), key=lambda pair: pair[1])
    why: tuple[str | Name, ...] = (
        f"most of the {len(shares):,} classes are rare, and AC1 assumes that guesses are spread over all classes, "
        "whereas κ does not",
    )
    if share > COMMON_SHARE:
        counts = "”, so κ treats much of the agreement as chance"
        why = (f"{percent(share)} of the annotations are “", Name(name), counts)
    return (
        f"Fleiss κ ({number(kappa.value)}) and Gwet AC1 ({number(ac.value)}) differ because ",
        *why,
        ". Report both, together with percent agreement.",
    )


def _benchmarks(main: list[Coefficient], usual: Coefficient) -> list[Block]:
    """Show the words of verbal scales for the coefficient, with probabilities."""
    able = [one for one in main if beyond_chance(one) and one.value is not None]
    if not able:
        return []
    titles = [figures.title_of(one) for one in able]
    place = able.index(usual) if usual in able else 0
    controls = (
        Control("Coefficient", range(len(able)), titles, "band_of", place),
        Control("Scale", list(SCALES), [SCALE_NAMES[name] for name in SCALES], "band_scale", term="benchmark"),
    )
    choice = Selector(controls, lambda place, scale: _benchmark(able[place], titles[place], scale))
    return [Details("Benchmarks", [choice])]


def _benchmark(one: Coefficient, title: str, scale: str) -> list[Block]:
    found = benchmark_labels(one, scale)
    if found[0].probability is None:
        return [Words((Name(found[0].note),), "apart")]
    best = max(found, key=lambda band: band.probability or 0.0)
    words = f"{title} is {best.name} with {probability(best.probability)} probability"
    alt = "Probability of each level of the scale"
    return [
        Figure(lambda theme: more_figures.band_bar(found, theme, words), alt, "bands"),
        Words(
            "Scales are conventions: the same κ means different things at different prevalences. Probabilities come "
            "from a normal distribution around the estimate, limited to the range from −1 to 1.",
            "note",
        ),
    ]
