"""Diagram of a difficulty model: its effects, and the tag that they spell."""

from functools import cache
from typing import Any

import plotly.graph_objects as go

from ..models.difficulty.names import Switches
from ..text import listed, plotly
from .theme import Theme, figure_of, scatter, with_opacity

# Field of `Switches`, letter without it, what it is when on and when off, why.
_RATER_EFFECTS = (
    ("bias", "D", "Bias: α<sup>sens</sup> ≠ α<sup>spec</sup>", "No bias", "a rater may lean towards one class"),
    ("ability", "E", "Ability: α differs", "Raters alike", "some raters are more accurate than others"),
)
_CASE_EFFECTS = (
    ("difficulty", "C", "Difficulty β", "No difficulty", "every rater makes more errors on hard cases"),
    (
        "discrimination",
        "B",
        "Discrimination δ",
        "No discrimination",
        "the difference between accurate and inaccurate raters varies by case",
    ),
    ("guessing", "A", "Guessing λ", "No guessing", "some cases can be annotated correctly by guessing"),
)


@cache  # the page of models draws it in every run
def effects_diagram(on: Switches, tag: str, theme: Theme, title: str) -> go.Figure:
    """Draw the effects of a difficulty model as boxes that lead to an annotation, and the tag that they spell.

    After figure 1 of Han et al. Filled boxes are on; dashed ones are off and add their letter to the tag.

    Parameters
    ----------
    on : Switches
        Effects that the model has.
    tag : str
    theme : Theme
    title : str
    """
    plates = [_plate(theme, (0.0, 0.48), "each rater"), _plate(theme, (0.52, 1.0), "each case")]
    boxes = [_box(theme, (0.55, 0.97), 0.845, "True class z ~ π", "", True)]
    hover = [(0.76, 0.845, "True class z of the case (unknown); prevalence π: how often z is positive")]
    for effects, span, top in ((_RATER_EFFECTS, (0.03, 0.45), 0.765), (_CASE_EFFECTS, (0.55, 0.97), 0.725)):
        for row, (name, letter, present, absent, why) in enumerate(effects):
            switched = getattr(on, name)
            height = top - row * (0.16 if effects is _RATER_EFFECTS else 0.12)
            boxes.append(
                _box(theme, span, height, present if switched else absent, "" if switched else letter, switched)
            )
            state = "on" if switched else f"off, letter {letter}"
            hover.append((sum(span) / 2, height, f"{name.capitalize()}, {state}: {why}"))
    hover.append((0.5, 0.2, "Probability of a correct annotation, given the effects that are switched on"))
    spelled = "nothing is left out" if tag == "Full" else f"without {_listed(on)}"
    result = {"type": "rect", "x0": 0.08, "x1": 0.92, "y0": 0.135, "y1": 0.265, "layer": "below"}
    points = scatter(
        x=[point[0] for point in hover],
        y=[point[1] for point in hover],
        mode="markers",
        marker={"size": 34, "opacity": 0},
        customdata=[point[2] for point in hover],
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
    )
    return figure_of(
        theme,
        [points],
        title,
        400,
        xaxis={"visible": False, "range": [0, 1]},
        yaxis={"visible": False, "range": [-0.06, 1.0]},
        shapes=[
            *(shape for shape, _ in (*plates, *boxes)),
            {**result, "line": {"color": theme.ink, "width": 1.6}},
        ],
        annotations=[
            *(words for _, texts in (*plates, *boxes) for words in texts),
            *_arrows(theme),
            _text(0.5, 0.2, f"P(right) = {formula(on)}", theme.ink, 14),
            _text(0.5, 0.055, f"<b>{plotly(tag)}</b>", theme.accent, 22),
            _text(0.5, -0.02, spelled, theme.quiet, 12),
        ],
    )


def formula(on: Switches) -> str:
    """Return the formula of the probability of a correct annotation, with only the effects that are on."""
    alpha = "α" + ("<sub>j</sub>" if on.ability else "") + ("<sup>z</sup>" if on.bias else "")
    if on.difficulty and not (on.bias or on.ability):  # raters without any parameter of their own
        alpha = ""
    inside = (f"{alpha} − β<sub>i</sub>" if alpha else "−β<sub>i</sub>") if on.difficulty else alpha
    if on.discrimination:
        inside = f"δ<sub>i</sub> ({inside})" if on.difficulty else f"δ<sub>i</sub> {inside}"
    right = f"logit<sup>−1</sup>({inside})"
    return f"λ<sub>i</sub> + (1 − λ<sub>i</sub>) {right}" if on.guessing else right


def _listed(on: Switches) -> str:
    names = [name for name, *_ in (*reversed(_CASE_EFFECTS), *_RATER_EFFECTS) if not getattr(on, name)]
    names = ["differences between raters" if name == "ability" else name for name in names]
    return listed(names)


def _arrows(theme: Theme) -> list[dict]:
    """Draw arrows from each plate to the probability below."""
    place, to = {"xref": "x", "yref": "y", "axref": "x", "ayref": "y", "y": 0.27, "ay": 0.415}, theme.quiet
    return [
        {**place, "x": 0.5 + (x - 0.5) * 0.35, "ax": x, "text": "", "arrowhead": 2, "arrowwidth": 2, "arrowcolor": to}
        for x in (0.24, 0.76)
    ]


def _plate(theme: Theme, span: tuple[float, float], text: str) -> tuple[dict, list[dict]]:
    """Return the frame of a repeated part: its shape, and its words in the upper left corner."""
    shape = {"type": "rect", "x0": span[0], "x1": span[1], "y0": 0.42, "y1": 1.0, "layer": "below"}
    words = _text(span[0], 1.0, text, theme.quiet, 12, xanchor="left", yanchor="top", xshift=6, yshift=-3)
    return {**shape, "line": {"color": theme.rest, "width": 1.2}}, [words]


def _box(
    theme: Theme, span: tuple[float, float], y: float, text: str, letter: str, filled: bool
) -> tuple[dict, list[dict]]:
    """Return the box of an effect: its shape, its name, and the letter that it adds to the tag."""
    shape = {"type": "rect", "x0": span[0], "x1": span[1], "y0": y - 0.047, "y1": y + 0.047, "layer": "below"}
    line = {"color": theme.accent if filled else theme.rest, "width": 1.6, "dash": "solid" if filled else "dash"}
    words = [_text(span[0], y, text, theme.ink if filled else theme.quiet, 13, xanchor="left", xshift=6)]
    if letter:
        words.append(_text(span[1], y, f"<b>{letter}</b>", theme.mean, 14, xanchor="right", xshift=-6))
    fill = with_opacity(theme.accent, 0.22) if filled else "rgba(0,0,0,0)"
    return {**shape, "fillcolor": fill, "line": line}, words


def _text(x: float, y: float, text: str, colour: str, size: int, **place: Any) -> dict:
    return {"x": x, "y": y, "text": text, "showarrow": False, "font": {"size": size, "color": colour}, **place}
