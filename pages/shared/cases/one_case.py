"""One case on screen: what the raters said, what the truth could be, how risky it is, and what classifiers guess."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import RISK_LEVELS, Dataset
from core.certainty.explain import why
from core.certainty.top_sets import OTHERS, most_plausible
from core.figures import cases as figures
from core.figures.theme import class_colours
from core.order import highest_first
from core.plausibility.protocol import PlausibilityModel
from core.reducers.metrics import score_case
from core.reducers.risk import level_masses
from core.text import (
    as_name,
    html_text,
    markdown,
    number,
    percent,
    percent_range,
    plotly,
    plural,
    probability,
    shorten,
    simulated,
)
from pages.shared.cache import cases as cached_cases
from pages.shared.cache import datasets as cached
from pages.shared.cases import class_scale, label_table
from pages.shared.cases import content as case_facts
from pages.shared.kit import columns, plausibility_models, trusted_raters, widgets
from pages.shared.kit import style as look

MOST_LINES = 8
_PLAUSIBLE = 0.2  # a class whose line goes beyond
TOP = 3


def show(dataset: Dataset, view: Dataset, case: int, model: PlausibilityModel, reliability: float, classifiers) -> None:
    """The whole case. ``view`` is what the model eats: the dataset itself, or single classes made from it."""
    theme = look.theme()
    case_facts.show(dataset, dataset.cases[case])
    draws, quantiles, result, risk, point = _draws(view, model, case, reliability)
    by_mean = highest_first(quantiles.mean[:-1])
    ranked = [int(draws.classes[place]) for place in by_mean]
    colours = class_colours(ranked, view.n_classes, theme)
    if dataset.kind != "score":
        told = view if dataset.kind == "set" else dataset  # of sets, what is said of the label
        st.markdown(markdown(f"{why(told, case, len(view.annotations_of(case)))}{_doubted(told, case)}"))
    _summary(result, risk, view.n_classes)
    if dataset.kind == "set":
        label_table.show(dataset, case, model, reliability)
    left, right = st.columns(2, gap="small")
    with left.container(border=True):
        st.markdown("**What the raters said**")
        widgets.chips(dataset, dataset.annotations_of(case), colours, st.session_state.get("hide_names", False))
    if class_scale.is_for(model):
        with right:
            class_scale.show(view, case, model, reliability, colours)
    else:
        with left.container(border=True):
            _bars(view, draws, quantiles, point, by_mean, colours, theme)
        with right.container(border=True):
            _simplex(view, case, draws, by_mean, theme, result.leading(0))
    if risk is not None:
        with right.container(border=True):
            _risk_triangle(view, draws, risk, theme)
    if classifiers:
        with left.container(border=True):
            _classifiers(view, case, draws, classifiers, colours)
    with st.expander("The models side by side"):
        _models(dataset, case, model, reliability)
    if not class_scale.is_for(model):  # the scale has its own: draws of it are whole classes
        with st.expander("The plausibilities as a table"):
            _table(view, quantiles, by_mean)


def annotations(dataset: Dataset, view: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """What the raters said, without the rest."""
    _, quantiles, *_ = found = _draws(view, model, case, reliability)
    by_mean = highest_first(quantiles.mean[:-1])
    colours = class_colours([int(found[0].classes[place]) for place in by_mean], view.n_classes, look.theme())
    with st.container(border=True):
        sets = dataset.kind == "set"  # the table of labels says how they split
        said = "" if sets else f": {markdown(why(dataset, case, len(view.annotations_of(case))))}"
        st.markdown(f"**What the raters said**{said}")
        widgets.chips(dataset, dataset.annotations_of(case), colours, st.session_state.get("hide_names", False))


def said_by_machines(dataset: Dataset, case: int, machines: Sequence[str]) -> None:
    """What raters said who are machines and count for nothing here; nothing where they were silent.

    Parameters
    ----------
    dataset : Dataset
        With the machines.
    case : int
    machines : sequence of str
    """
    codes = {dataset.raters.index(name) for name in machines if name in dataset.raters}
    theirs = [place for place in dataset.annotations_of(case) if dataset.rater[place] in codes]
    if theirs:
        with st.container(border=True):
            st.markdown("**What machines said**, who do not count here")
            widgets.chips(dataset, theirs, {}, False)


def plausibilities(view: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    """How plausible each class is, without the rest."""
    theme = look.theme()
    draws, quantiles, result, risk, point = _draws(view, model, case, reliability)
    by_mean = highest_first(quantiles.mean[:-1])
    colours = class_colours([int(draws.classes[place]) for place in by_mean], view.n_classes, theme)
    if class_scale.is_for(model):
        class_scale.show(view, case, model, reliability, colours)
        return
    with st.container(border=True):
        _bars(view, draws, quantiles, point, by_mean, colours, theme)
        _summary(result, risk, view.n_classes)


def certainty_of_case(view: Dataset, model: PlausibilityModel, case: int, reliability: float):
    """Certainty of one case, for the heading."""
    return _draws(view, model, case, reliability)[2]


def _draws(view: Dataset, model: PlausibilityModel, case: int, reliability: float):
    return cached.case_draws(
        view, model, case, reliability=reliability, n_draws=plausibility_models.N_DRAWS, seed=plausibility_models.SEED
    )


def _doubted(dataset: Dataset, case: int) -> str:
    """A sentence on raters of the case who name the majority class clearly less often than their peers."""
    if not dataset.raters_identified:
        return ""
    single, _ = cached.class_view(dataset, None)
    if not single.n_annotations:
        return ""
    found = cached_cases.named_below_peers(single)
    hidden = st.session_state.get("hide_names", False)
    names: dict[int, str] = {}
    for place, annotation in enumerate(dataset.annotations_of(case), 1):
        rater = int(dataset.rater[annotation])
        if found.named[rater] and rater not in names:
            who = f"rater {place}" if hidden else dataset.raters[rater]
            of = f"{percent(found.own[rater])} of {plural(int(found.n[rater]), 'annotation')}"
            names[rater] = f"{who} ({of}, their peers {percent(found.peers[rater])})"
    if not names:
        return ""
    these = "this rater names" if len(names) == 1 else "these raters name"
    return f" Over all cases {these} the majority class less often than their peers: {', '.join(names.values())}."


def _summary(result, risk, n_classes: int) -> None:
    certainty = [float(columns.short_of_certain(result.certainty[0, 0])), *result.certainty[0, 1:]]
    sets = [
        f"top-{top + 1} {simulated(certainty[top], float(result.se[0, top]))}"
        for top in range(min(result.certainty.shape[1], max(n_classes - 1, 1)))  # all classes together are certain
        if np.isfinite(result.certainty[0, top])
    ]
    words = f"Certainty of the first places: {', '.join(sets)}"
    if risk is not None:
        level = RISK_LEVELS[risk.level[0]]
        words += (
            f" · risk {level} {simulated(float(risk.summed[0]), float(risk.summed_se[0]))}"
            f" (of the top-1 class {simulated(float(risk.of_top1[0]), float(risk.of_top1_se[0]))})"
            f" · expected risk {number(risk.expected[0])} of 2"
        )
    st.caption(words, help=widgets.explained("risk" if risk is not None else "annotation certainty"))


def _bars(view: Dataset, draws, quantiles, point, by_mean: np.ndarray, colours: dict[int, str], theme) -> None:
    lines = _in_order(view, draws, by_mean[:MOST_LINES])
    names = [view.classes[draws.classes[place]] for place in lines]
    line_colours = [colours.get(int(draws.classes[place]), theme.rest) for place in lines]
    values = draws.share[:, lines]
    bars = np.array([point.get(int(draws.classes[place]), 0.0) for place in lines])
    mean, low, high = quantiles.mean[lines], quantiles.quantile[0][lines], quantiles.quantile[2][lines]
    beyond = by_mean[MOST_LINES:]
    outside = draws.rest + draws.share[:, beyond].sum(axis=1)
    n_outside = draws.n_rest + len(beyond)
    if n_outside:
        names.append(f"{n_outside:,} other classes together" if n_outside > 1 else "the other class")
        line_colours.append(theme.rest)
        values = np.column_stack([values, outside])
        bars = np.append(bars, max(0.0, 1 - bars.sum()))
        mean = np.append(mean, outside.mean())
        low, high = np.append(low, np.quantile(outside, 0.025)), np.append(high, np.quantile(outside, 0.975))
    likely = int((quantiles.quantile[2][lines] > _PLAUSIBLE).sum())
    others = bool(n_outside) and bool(high[-1] > _PLAUSIBLE)
    likely += others and n_outside == 1
    title = {0: "No class stands out", 1: "One class stays plausible"}.get(likely, f"{likely} classes stay plausible")
    if likely and others and n_outside > 1:  # of those together it is not known which
        title = f"At least {title[0].lower()}{title[1:]}"
    widgets.plot(
        figures.plausibility_bars(names, bars, mean, low, high, values, line_colours, theme, title),
        "bars",
        "Plausibility of each class: bar is the point estimate, dots are draws, the line holds 95 percent",
    )
    st.caption(
        "Bar: point estimate · dots: draws · line: 95% of draws, tick at their mean · stays plausible: line beyond "
        f"{number(_PLAUSIBLE, 1)}",
        help=widgets.explained("plausibility"),
    )


def _in_order(view: Dataset, draws, places: np.ndarray) -> list[int]:
    """Places in the order of the classes where they are declared to have one; else as they are."""
    order = list(places)
    return sorted(order, key=lambda place: int(draws.classes[place])) if view.ordinal else order


def _simplex(view: Dataset, case: int, draws, by_mean: np.ndarray, theme, leading: tuple[int, ...] = (-1,)) -> None:
    """Which classes may be called the most plausible is ``leading``, as the worklist says it."""
    top = leading[0]
    by_mean = np.array(_in_order(view, draws, by_mean), np.int64) if draws.classes.size < TOP else by_mean
    names = {int(draws.classes[place]): view.classes[draws.classes[place]] for place in by_mean}
    if not names or len(names) + draws.n_rest == 1:
        st.caption("There is one class only, or no annotation that can be used: nothing to show on a triangle.")
        return
    if len(names) < TOP:
        _few_corners(view, draws, by_mean, names, theme)
        return
    default = sorted(names, key=lambda code: code != top)[:TOP]  # the one that the worklist names is never left out
    key = f"corners-{view.digest}-{case}"
    # What nobody has chosen follows the draws, as at another trust.
    if key not in st.session_state or f"{key}-chosen" not in st.session_state:
        st.session_state[key] = default
    chosen = st.multiselect(
        "Corners of the triangle",
        list(names),
        format_func=lambda code: shorten(names[code], 40),
        max_selections=TOP,
        key=key,
        on_change=st.session_state.__setitem__,
        args=(f"{key}-chosen", True),
        help=widgets.explained("region"),
    )
    corners = chosen if len(chosen) == TOP else default
    if view.ordinal:  # the lowest stands at the left, the highest at the right, the middle one on top
        low, middle, high = sorted(corners)
        corners = [middle, low, high]
    if len(chosen) != TOP:
        st.caption("Choose three corners; until then the three most plausible are shown.")
    places = [int(np.flatnonzero(draws.classes == code)[0]) for code in corners]
    outside = 1 - float(draws.share[:, places].sum(axis=1).mean())
    shown, alone = [names[code] for code in corners], len(leading) == 1
    _triangle(view, shown, draws.share[:, places], outside, theme, names.get(top), alone)


def _few_corners(view: Dataset, draws, by_mean: np.ndarray, names: dict[int, str], theme) -> None:
    listed = list(names.values())
    if len(names) == 2 and draws.n_rest:
        corners = np.column_stack([draws.share[:, list(by_mean)], draws.rest])
        _triangle(view, [*listed, OTHERS], corners, 0.0, theme)
        return
    share = draws.share[:, by_mean[0]]
    other = listed[1] if len(names) == 2 else OTHERS
    if len(names) == 1 and draws.n_rest == 1:
        other = next(name for code, name in enumerate(view.classes) if code not in names)
    low, high = np.quantile(share, [0.025, 0.975])
    title = f"{plotly(as_name(shorten(listed[0], 14)))}: {percent_range(low, high)} plausible"
    widgets.plot(
        figures.interval((listed[0], other), share, theme, title), "simplex", "Draws of the plausibility of two classes"
    )


def _triangle(
    view: Dataset, names: list[str], corners: np.ndarray, outside: float, theme, top: str | None = None,
    alone: bool = True,
) -> None:  # fmt: skip
    """The draws on a triangle; ``top`` is the class that the worklist names, of all classes, alone or with others."""
    corners = corners / corners.sum(axis=1, keepdims=True)
    leading = (corners.argmax(axis=1)[:, None] == np.arange(3)).mean(axis=0)
    best = int(np.argmax(leading))
    name = plotly(as_name(shorten(names[best], 22)))
    apart = leading[best] - leading
    level = apart <= 2 * np.sqrt((leading[best] + leading - apart**2) / len(corners))
    tied = [names[k] for k in highest_first(leading) if level[k]]
    if outside > 0.005 and len(tied) > 1 and (top not in names or top in tied):
        title = "Near tie of all three"
        if len(tied) == 2:
            title = f"Near tie: {', '.join(plotly(as_name(shorten(name, 16))) for name in tied)}"
    elif outside > 0.005 and not alone:
        title = "No class surely comes first"
    elif outside > 0.005 and top in names:
        title = f"{plotly(as_name(shorten(top, 22)))} is the most plausible class"
    elif outside > 0.005:  # of what is renormalised no share of draws is said: it is not the case's certainty
        title = f"{name} is the most plausible of these three"
    else:
        title = f"{name} leads in {'nearly all' if leading[best] >= 0.995 else f'{percent(leading[best])} of'} draws"
    order = [1, 2, 0]
    corners = corners[:, order]
    widgets.plot(
        figures.triangle([names[k] for k in order], corners, cached.region(view, corners), theme, title),
        "simplex",
        "Draws of the plausibilities on a triangle, their mean, and the region that holds 95 percent",
    )
    rest = f" · {percent(outside)} of plausibility lies on classes that are no corner" if outside > 0.005 else ""
    st.caption(f"Dots: draws, renormalised to the corners · cross: mean · shaded: 95% region{rest}")


def _risk_triangle(view: Dataset, draws, risk, theme) -> None:
    mass, _ = level_masses(draws, view.class_risk)
    mass = np.maximum(mass, 1e-12)
    mass /= mass.sum(axis=1, keepdims=True)
    level = int(risk.level[0])
    title = f"Risk: most likely {RISK_LEVELS[level]} ({probability(risk.summed[0])} of draws)"
    order = [0, 2, 1]
    names = [RISK_LEVELS[k] for k in order]
    figure = figures.triangle(
        names, mass[:, order], cached.region(view, mass[:, order]), theme, title, colour=theme.risk[level]
    )
    widgets.plot(figure, "risk", "Draws of the plausibility of low, medium and high risk, with the 95 percent region")


def _classifiers(view: Dataset, case: int, draws, classifiers, colours: dict[int, str]) -> None:
    st.markdown(f"**Classifiers**, {TOP} best guesses", help=widgets.explained("classifier set"))
    theme = look.theme()
    lines = []
    for predictions in classifiers:
        entries = slice(predictions.ptr[case], predictions.ptr[case + 1])
        name = html_text(predictions.name)
        if entries.start == entries.stop:
            lines.append(
                f'<div class="chips"><span class="who">{name}</span><span class="note">no prediction</span></div>'
            )
            continue
        codes, groups = predictions.class_code[entries], predictions.group[entries]
        p = float(score_case(draws, codes, groups, TOP)[1].mean())
        error = float(np.sqrt(p * (1 - p) / draws.ess))
        chips = "".join(
            f'<span class="block first" style="--chip:{colours.get(int(code), theme.rest)}">'
            f"<span>{html_text(view.classes[code])}</span></span>"
            for code in codes[:TOP]
        )
        value = f"<b>{simulated(p, error)}</b>"
        lines.append(f'<div class="chips"><span class="who">{name}</span><span>{value}</span>{chips}</div>')
    st.html("".join(lines))
    st.caption("Beside each name: the probability, under this model and trust, that the set holds the truth.")


def _models(dataset: Dataset, case: int, model: PlausibilityModel, reliability: float) -> None:
    rows = []
    for name in plausibility_models.offered(dataset):
        own = name == model.name
        other = model if own else plausibility_models.method(name).make()
        gamma = reliability if own else other.default_reliability
        eaten = plausibility_models.data_for(name, dataset, quietly=True)
        other = trusted_raters.in_hand(eaten, other)
        if other is None:
            continue
        draws, quantiles, result, *_ = _draws(eaten, other, case, gamma)
        leading = result.leading(0)
        by_mean = [int(draws.classes[place]) for place in highest_first(quantiles.mean[:-1])]
        beside = next((code for code in by_mean if code not in leading), None)
        rows.append(
            {
                "model": plausibility_models.method(name).title,
                "γ": gamma,
                "most plausible": most_plausible(result, 0, eaten.classes),
                "certainty": result.certainty[0, 0],
                "± error": result.se[0, 0],
                "mean plausibility": float(quantiles.mean[[*draws.classes.tolist(), -1].index(leading[0])]),
                "next": "" if beside is None else eaten.classes[beside],
                "other classes": float(quantiles.mean[-1]),
            }
        )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        column_config=columns.numbers("certainty", "mean plausibility", "other classes") | columns.fine("± error"),
        key="models_side_by_side",
    )
    st.caption(markdown("Each at its default reliability, the chosen one at the slider's."))


def _table(view: Dataset, quantiles, by_mean: np.ndarray) -> None:
    places = [*by_mean, len(quantiles.mean) - 1]
    frame = pd.DataFrame(
        {
            "class": [view.classes[code] if code >= 0 else OTHERS for code in quantiles.class_code[places]],
            "mean": quantiles.mean[places],
            "ci_low": quantiles.quantile[0][places],
            "median": quantiles.quantile[1][places],
            "ci_high": quantiles.quantile[2][places],
        }
    )
    st.dataframe(
        frame, hide_index=True, column_config=columns.numbers("mean", "median") | columns.ends(), key="plausibilities"
    )
    widgets.download(frame, "Plausibilities", "plausibilities", "plausibilities")
