"""The top of the Agreement page: the coefficients that suit the annotations, what each assumes, and which to quote."""

from collections import Counter
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.agreement.benchmark_labels import SCALES, benchmark_labels, beyond_chance
from core.agreement.coefficients import FLEISS_KAPPA, GWET_AC
from core.agreement.intervals import Coefficient
from core.agreement.label_sets import LABEL_ALPHA
from core.agreement.ordered import LEAVE_ONE_OUT_TOP1, MEAN_AVERAGE_OVERLAP
from core.agreement.probability import SPA, SPA_WEIGHTINGS
from core.agreement.scores import INTRACLASS
from core.figures import agreement as figures
from core.figures import agreement_parts as more_figures
from core.methods import method_named
from core.text import markdown, number, percent, plural, probability, with_interval
from pages.shared.kit import columns, widgets

MOST_ORDERED = 20
DIVERGE = 0.15
COMMON_SHARE = 0.5
ENOUGH_CASES = 10
SCALE_NAMES = {"landis_koch": "Landis and Koch", "fleiss": "Fleiss", "altman": "Altman"}


@dataclass(frozen=True, slots=True)
class Group:
    """Coefficients that belong together, and what they have in common."""

    heading: str
    coefficients: list[Coefficient]


def show(found: ApplicableCoefficients, theme, shares: dict[str, float] | None) -> None:
    """Forest on the left, what each assumes on the right, benchmarks and the whole table below."""
    groups = _groups(found)
    main = [one for group in groups for one in group.coefficients]
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.plot(_forest(groups, theme), "forest", "Coefficients of agreement with their intervals")
        if words := _apart(main, shares):
            st.info(words, icon=":material/call_split:")
    with right:
        _quote(found)
        common = _common(main)
        for words in common:
            st.caption(f":material/info: {markdown(words[:1].upper() + words[1:])}.")
        for group in groups:
            with (
                st.expander(markdown(group.heading), expanded=found.quoted in group.coefficients)
                if group.heading
                else st.container()
            ):
                for one in group.coefficients:
                    _line(one, common)
    _benchmarks(main, found.quoted, theme)
    with st.expander("All coefficients as a table, and those left out"):
        frame = _frame(found.coefficients)
        shown, pictures = columns.with_pictures(frame, ("value", "ci_low", "ci_high", "95% interval"))
        st.dataframe(
            shown,
            hide_index=True,
            column_order=["coefficient", "value", "95% interval", "se", "n_cases", "n_annotations", "note"],
            column_config=columns.numbers("value")
            | columns.fine("se")
            | columns.ends()
            | columns.counts(n_cases="cases", n_annotations="annotations")
            | pictures,
            key="coefficients",
        )
        widgets.download(frame, "Coefficients", "agreement", "agreement")
        for left_out in found.left_out:
            st.markdown(f":material/block: Left out: **{markdown(left_out.what)}**, because {markdown(left_out.why)}.")


def _groups(found: ApplicableCoefficients) -> list[Group]:
    """One line for each coefficient, SPA in its default weighting; what counts differently stands apart."""
    main = [one for one in found.coefficients if one.name != SPA or one.weights == SPA_WEIGHTINGS[0]]
    if found.kind == "ordinal":
        by_rank = [one for one in main if one.weights in ("ordinal", "ordinal metric")]
        plain = [one for one in main if one.weights not in ("ordinal", "ordinal metric", "ordinal weights")]
        by_square = [one for one in plain if one.weights.startswith("quadratic")]
        return [
            Group("Only the same class agrees", [one for one in plain if one not in by_square]),
            Group("Near classes agree in part, by rank", by_rank),
            Group("Near classes agree in part, by squares", by_square),
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
        groups = [
            Group(f"{plural(of[0].n_cases, 'case')}{words}", of)
            for of, words in ((by_likelihood, ", gaps allowed"), (by_anova, " that all raters scored"))
            if of
        ]
        return [*groups, Group("Krippendorff α", [one for one in main if one not in icc])]
    return [Group("", main)]


def _forest(groups: list[Group], theme):
    table = [one for group in groups for one in group.coefficients]
    headings, place = {}, 0
    for group in groups:
        if group.heading:
            headings[place] = group.heading
        place += len(group.coefficients)
    labels = [_short_title(one) for one in table]
    return figures.forest(table, theme, "Agreement with its 95% interval", labels, headings)


def _short_title(one: Coefficient) -> str:
    """The name in the figure: what the heading says is left out."""
    if one.name in INTRACLASS or one.weights in ("quadratic", "ordinal", "quadratic weights"):
        method = method_named("coefficient", one.name)
        return method.title_weighted or method.title
    if one.name == SPA:
        return "SPA"
    if one.name == LABEL_ALPHA:
        return one.weights
    return figures.title_of(one)


def _quote(found: ApplicableCoefficients) -> None:
    """Which to quote, in words that can be copied."""
    one = found.quoted
    if one.value is None:
        return
    name = method_named("coefficient", one.name).title if one.name in INTRACLASS else figures.title_of(one)
    value = with_interval(one.value, one.ci_low, one.ci_high)
    words = f"**To quote:** {markdown(name)} {value}, {plural(one.n_cases, 'case')}, {one.n_annotations:,} annotations"
    percent = found.percentage
    if percent is not None and percent.value is not None:
        words += f"; {_same_kind(percent)} {with_interval(percent.value, percent.ci_low, percent.ci_high)}"
    reason = found.reason
    first = reason[0].upper() if reason[0].isascii() else reason[0]  # the capital of α is the letter A
    st.markdown(f"{words}. {first}{reason[1:]}.", help=widgets.explained(one.name))


def _same_kind(percent: Coefficient) -> str:
    return "percent agreement" if percent.weights == "identity" else f"percent agreement, {percent.weights} weights"


def _common(main: list[Coefficient]) -> list[str]:
    """Remarks that most coefficients share, to be said once; that they are of first choices a heading says."""
    parts = Counter(part for one in main for part in one.note.split("; ") if part and not _undefined(part))
    return [part for part, times in parts.items() if times > max(1, len(main) // 2) and part != "of first choices"]


def _undefined(part: str) -> bool:
    return part.startswith(("undefined", "undetermined"))


def _line(one: Coefficient, common: list[str]) -> None:
    words = method_named("coefficient", one.name).assumes
    title = markdown(figures.title_of(one))
    if one.value is None:
        st.caption(f"**{title}** {markdown(one.note)}", help=widgets.explained(one.name))
        return
    value = with_interval(one.value, one.ci_low, one.ci_high)
    note = "; ".join(part for part in one.note.split("; ") if part not in ("", "of first choices", *common))
    remark = f" *{markdown(note[0].upper() + note[1:])}.*" if note else ""
    st.caption(f"**{title}** {value}: {words}{remark}", help=widgets.explained(one.name))


def _apart(main: list[Coefficient], shares: dict[str, float] | None) -> str | None:
    """Why kappa and AC1 differ, where they do: one class is common, or most classes of the list are rare."""
    found = {one.name: one for one in reversed(main)}
    kappa, ac = found.get(FLEISS_KAPPA), found.get(GWET_AC)
    if shares is None or kappa is None or ac is None or None in (kappa.value, ac.value):
        return None
    if ac.value - kappa.value < DIVERGE or kappa.n_cases < ENOUGH_CASES:
        return None
    name, share = max(shares.items(), key=lambda pair: pair[1])
    if share > COMMON_SHARE:
        why = (
            f"{percent(share)} of the annotations are “{markdown(name)}”: κ then counts much of the agreement as chance"
        )
    else:
        why = (
            f"most of the {len(shares):,} classes are rare: AC1 takes guesses to be spread over all of them, κ does not"
        )
    return (
        f"Fleiss κ ({number(kappa.value)}) and Gwet AC1 ({number(ac.value)}) differ because {why}. "
        "Quote both, with the percent agreement."
    )


def _benchmarks(main: list[Coefficient], usual: Coefficient, theme) -> None:
    """What word the number deserves, as probabilities."""
    able = [one for one in main if beyond_chance(one) and one.value is not None]
    if not able:
        return
    with st.expander("In words: how probable is each benchmark, given the interval"):
        left, right = st.columns(2)
        titles = [figures.title_of(one) for one in able]
        place = left.selectbox(
            "Coefficient",
            range(len(able)),
            index=able.index(usual) if usual in able else 0,
            format_func=titles.__getitem__,
            key="band_of",
        )
        scale = right.selectbox(
            "Scale",
            list(SCALES),
            format_func=SCALE_NAMES.get,
            key="band_scale",
            help=widgets.explained("benchmark"),
        )
        found = benchmark_labels(able[place], scale)
        if found[0].probability is None:
            st.info(markdown(found[0].note))
            return
        best = max(found, key=lambda band: band.probability)
        widgets.plot(
            more_figures.band_bar(
                found, theme, f"{titles[place]} is {best.name} with {probability(best.probability)} probability"
            ),
            "bands",
            "Probability of each word of the scale",
        )
        st.caption(
            "Scales are conventions, not measurements: the same κ means different things at different prevalences. "
            "Probabilities are those of a normal distribution around the estimate, cut at -1 and 1."
        )


def _frame(coefficients) -> pd.DataFrame:
    frame = pd.DataFrame([{name: getattr(one, name) for name in one.__slots__} for one in coefficients])
    frame.insert(0, "coefficient", [figures.title_of(one) for one in coefficients])
    return frame
