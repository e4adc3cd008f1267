"""Two selections side by side, and two coefficients on the same cases."""

import json
from collections.abc import Sequence
from dataclasses import fields
from datetime import timedelta

import pandas as pd
import streamlit as st

from core.agreement.bootstrap import BootstrapResult, bootstrap
from core.agreement.differences import Difference, compare, difference
from core.agreement.krippendorff import KRIPPENDORFF_ALPHA
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection, days_of
from core.errors import PluralityError
from core.figures import agreement as titles
from core.text import listed, markdown, number, with_interval
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import columns, expected, job_progress, selection, state, widgets

_MOST_GROUPS = 30
_RATERS, _PERIOD = "Some raters …", "A period …"
_RESPECTS = {
    "raters": "raters",
    "classes": "classes",
    "groups": "groups of cases",
    "first_day": "dates",
    "last_day": "dates",
    "least": "annotations per case",
    "most": "annotations per case",
}
_REPLICATES = 1000
_SEED = 0
_MOST_DIGITS = 6


def selections(view: Dataset, threshold: float | str | None) -> None:
    """Two selections side by side, and two coefficients on the same cases, with the interval of the difference."""
    widgets.heading("Two selections of annotations", "bootstrap")
    whole = state.whole().dataset
    asked = _asked()
    offered = dict(asked) | _offered(whole)
    names = [*offered, *_made_here(whole)]
    if len(names) == 1:
        st.info(
            "Not available: these annotations cannot be divided by rater, date or group of cases.",
            icon=":material/filter_alt:",
        )
    else:
        places = [names.index(name) for name, _ in asked] or [0, 1]
        sides = [
            _side(column, whole, offered, names, place, key)
            for column, place, key in zip(st.columns(2), places, ("first", "second"), strict=True)
        ]
        if sides[0] is None or sides[1] is None:
            st.info("Choose raters or a period for each selection.")
        elif sides[0][1] == sides[1][1]:
            st.info("Choose two different selections.")
        else:
            (first_name, first), (second_name, second) = sides
            _say_in_address(sides)
            if second_name == first_name:
                second_name = f"{second_name} (second)"
            _one_at_a_time(first, second)
            _side_by_side(whole, first, second, (first_name, second_name), threshold)
    widgets.heading("Two coefficients on the same cases", "bootstrap")
    result = _bootstrapped(view)
    if result is not None:
        _coefficients(result)


def _asked() -> list[tuple[str, Selection]]:
    """Return the two sides in the address, or those compared last on these data; none if the address is not valid."""
    try:
        said = json.loads(visit.compare or visit.compared_last or "[]")
        sides = [(str(name), Selection.from_text(text)) for name, text in said]
    except (ValueError, TypeError, AttributeError, RecursionError, PluralityError):
        st.toast(
            "Could not read the comparison in the page address. Choose two selections.", icon=":material/link_off:"
        )
        return []
    return sides if len(sides) == 2 else []


def _say_in_address(sides) -> None:
    text = json.dumps([[name, chosen.to_text()] for name, chosen in sides], ensure_ascii=False, separators=(",", ":"))
    visit.compare = visit.compared_last = text


def _made_here(whole: Dataset) -> list[str]:
    made = [_RATERS] if whole.raters_identified and whole.n_raters > 1 else []
    days = days_of(whole)
    return made + [_PERIOD] * bool(days and days[1] > days[0])


def _side(column, whole: Dataset, offered: dict[str, Selection], names: list[str], place: int, key: str):
    """Name and selection of one side; None while it is being chosen."""
    # The data, in the key: what was chosen for others does not fit these.
    own = f"compare_{key}-{whole.digest}"
    name = column.selectbox(f"{key.capitalize()} selection", names, index=place, key=own)
    if name == _RATERS:
        raters = column.multiselect("Raters", whole.raters, key=f"{own}-raters")
        chosen = Selection(raters=tuple(raters)) if raters else None
    elif name == _PERIOD:
        days = days_of(whole)
        picked = column.date_input("First and last day", days, *days, key=f"{own}-days")
        ends = [day.isoformat() for day in picked] if isinstance(picked, tuple) and len(picked) == 2 else None
        chosen = Selection(first_day=ends[0], last_day=ends[1]) if ends else None
    else:
        return name, offered[name]
    return None if chosen is None else (chosen.words(whole), chosen)


def _one_at_a_time(first: Selection, second: Selection) -> None:
    """Say so where two things differ at once: the difference is then of both together."""
    differ = list(
        dict.fromkeys(_RESPECTS[field.name] for field in fields(Selection) if _unlike(first, second, field.name))
    )
    if len(differ) > 1:
        st.caption(
            f":material/info: Cannot determine what causes a difference: the selections differ in {listed(differ)}."
        )


def _unlike(first: Selection, second: Selection, name: str) -> bool:
    return getattr(first, name) != getattr(second, name)


def _offered(whole: Dataset) -> dict[str, Selection]:
    """Everything and the named selections; groups of cases, and the earlier and the later half of the days."""
    offered = dict(selection.named())
    now = state.selection()
    if not now.everything and now not in offered.values():
        offered["Current selection"] = now
    if (days := days_of(whole)) and (days[1] - days[0]).days > 1:
        middle = days[0] + (days[1] - days[0]) / 2
        offered["First half of the period"] = Selection(last_day=middle.isoformat())
        offered["Second half of the period"] = Selection(first_day=(middle + timedelta(days=1)).isoformat())
    groups = sorted(set(whole.case_group)) if whole.case_group is not None else []
    if 1 < len(groups) <= _MOST_GROUPS:
        offered |= {f"Group {name}": Selection(groups=(name,)) for name in groups}
    return offered


def _side_by_side(whole: Dataset, first: Selection, second: Selection, names: tuple[str, str], threshold) -> None:
    try:
        people = [state.counted(one) for one in (first, second)]
        sides = [cached.class_view(cached.selected(whole, one), threshold)[0] for one in people]
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    for name, one in zip(names, (first, second), strict=True):
        st.caption(f"**{markdown(name)}**: {markdown(one.words(whole))}")
    found = job_progress.result_of(
        (sides[0].content_digest, "compare by metric", sides[1].content_digest, _REPLICATES, _SEED),
        "Comparing two selections",
        lambda job: cached.run(
            job,
            compare,
            sides[0].coded,
            *(side.coded for side in sides),
            n_replicates=_REPLICATES,
            seed=_SEED,
            # Ordered classes are compared by the ordinal metric, as the first number of the page is.
            metric="ordinal" if sides[0].ordinal else None,
            seconds=sum(expected.of_resamples(side, _REPLICATES) for side in sides),
        ),
    )
    if found is None:
        return
    if words := _headline(found):
        st.markdown(words)
    how = (
        "Cases in both selections are resampled together."
        if found[0].paired
        else "The selections have no cases in common."
    )
    st.caption(f"Intervals are based on {_REPLICATES:,} resamples of the cases (seed {_SEED}). {how}")
    frame = pd.DataFrame([_row(one, names) for one in found])
    shown, pictures = columns.with_pictures(frame, ("difference", "ci_low", "ci_high", "95% interval"), difference=True)
    st.dataframe(
        shown,
        hide_index=True,
        column_config=columns.numbers(names[0], f"{names[1]} ", "P(first larger)")
        | columns.fine("difference", "se")
        | columns.ends()
        | columns.counts("cases, first", "cases, second")
        | pictures,
        key="selections_table",
    )
    widgets.download(frame, "Differences", "differences", "differences")


def _headline(found: Sequence[Difference]) -> str:
    """Return α of both sides with their difference; empty if they have none."""
    alpha = next(one for one in found if one.first[0] == KRIPPENDORFF_ALPHA)
    if alpha.value is None or alpha.ci_low is None or alpha.ci_high is None:
        return ""
    nearest = min(alpha.ci_low, alpha.ci_high, key=abs)
    differ = alpha.ci_low > 0 or alpha.ci_high < 0
    clear = "clearly differ" if differ else "do not clearly differ"
    # A clear difference is readable: neither two equal values nor an interval from 0.00.
    digits = next((n for n in range(2, _MOST_DIGITS) if not differ or _apart(alpha, nearest, n)), _MOST_DIGITS)
    metric = "Ordinal α" if alpha.first[1] == "ordinal metric" else "α"
    return (
        f"**{metric} is {number(alpha.first_value, digits)} in the first selection and "
        f"{number(alpha.second_value, digits)} in the second. The selections {clear}: difference "
        f"{with_interval(alpha.value, alpha.ci_low, alpha.ci_high, digits)}.**"
    )


def _apart(found: Difference, nearest: float, digits: int) -> bool:
    """Return True if both values read differently in so many digits, and the nearest end not as 0."""
    first, second, end, none = (number(one, digits) for one in (found.first_value, found.second_value, nearest, 0))
    return first != second and end != none


def _row(one: Difference, names: tuple[str, str]) -> dict:
    return {
        "coefficient": titles.title_with(*one.first),
        names[0]: one.first_value,
        f"{names[1]} ": one.second_value,
        "difference": one.value,
        "se": one.se,
        "ci_low": one.ci_low,
        "ci_high": one.ci_high,
        "P(first larger)": one.p_first_larger,
        "cases, first": one.n_first,
        "cases, second": one.n_second,
        "note": one.note,
    }


def _bootstrapped(view: Dataset) -> BootstrapResult | None:
    return job_progress.result_of(
        (view.content_digest, "bootstrap", _REPLICATES, _SEED),
        "Bootstrap",
        lambda job: cached.run(
            job,
            bootstrap,
            view.coded,
            view.coded,
            n_replicates=_REPLICATES,
            seed=_SEED,
            seconds=expected.of_resamples(view, _REPLICATES),
        ),
        of=view,
    )


def _coefficients(result: BootstrapResult) -> None:
    able = [place for place, one in enumerate(result.coefficients) if one.value is not None]
    if len(able) < 2:
        st.write("Not available: fewer than two coefficients could be computed.")
        return
    names = [titles.title_of(one) for one in result.coefficients]
    left, right = st.columns(2)
    first = left.selectbox("First coefficient", able, format_func=names.__getitem__, key="coefficient_first")
    second = right.selectbox(
        "Second coefficient", able, index=len(able) - 1, format_func=names.__getitem__, key="coefficient_second"
    )
    if first != second:
        found = difference(result, first, second)
        st.markdown(
            f"**{markdown(names[first])} minus {markdown(names[second])} is "
            f"{with_interval(found.value, found.ci_low, found.ci_high)}**, based on {_REPLICATES:,} paired resamples."
        )
    frame = pd.DataFrame(
        {
            "coefficient": names,
            "value": [one.value for one in result.coefficients],
            "bootstrap se": [one.se for one in result.coefficients],
            "ci_low": [one.ci_low for one in result.coefficients],
            "ci_high": [one.ci_high for one in result.coefficients],
            "cases": [one.n_cases for one in result.coefficients],
            "note": [one.note for one in result.coefficients],
        }
    )
    st.caption(
        "These are percentile intervals of the bootstrap. The intervals under “Coefficients” come from formulas."
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config=columns.numbers("value")
        | columns.fine("bootstrap se")
        | columns.ends()
        | columns.counts("cases"),
        key="bootstrap_table",
    )
    widgets.download(frame, "Bootstrap", "bootstrap", "bootstrap_download")
