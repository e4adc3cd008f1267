"""The picture of a model says what is on and spells the tag."""

import pytest

from core.figures.effects import effects_diagram, formula
from core.figures.theme import DARK, LIGHT
from core.models.difficulty.names import TAGS, switches


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_letters_of_what_is_off_spell_the_tag(tag, theme):
    figure = effects_diagram(switches(tag), tag, theme, "")
    bold = [note.text for note in figure.layout.annotations if note.text.startswith("<b>")]
    letters = sorted(text[3] for text in bold if len(text) == 8 and text != f"<b>{tag}</b>")
    if len(tag) > 1:
        assert "".join(letters) == tag.replace("Full", "")
    assert f"<b>{tag}</b>" in bold
    dashed = [shape for shape in figure.layout.shapes if shape.line.dash == "dash"]
    assert len(dashed) == len(tag.replace("Full", ""))


def test_the_hover_says_of_each_effect_whether_it_is_on():
    said = list(effects_diagram(switches("AB"), "AB", LIGHT, "").data[0].customdata)
    assert sum(", on:" in text for text in said) == 3
    assert [text.split(":")[0] for text in said if ", off" in text] == [
        "Discrimination, off, letter B",
        "Guessing, off, letter A",
    ]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("Full", "λi + (1 − λi) logit−1(δi (αjz − βi))"),
        ("A", "logit−1(δi (αjz − βi))"),
        ("AB", "logit−1(αjz − βi)"),
        ("ABC", "logit−1(αjz)"),
        ("ABCD", "logit−1(αj)"),
        ("ABCE", "logit−1(αz)"),
        ("ABCDE", "logit−1(α)"),
        ("ABDE", "logit−1(−βi)"),
        ("AC", "logit−1(δi αjz)"),
        ("BC", "λi + (1 − λi) logit−1(αjz)"),
    ],
)
def test_the_formula_has_what_is_on_and_nothing_else(tag, expected):
    """Equations (2) to (6) of Han et al."""
    plain = formula(switches(tag))
    for mark in ("<sub>", "</sub>", "<sup>", "</sup>"):
        plain = plain.replace(mark, "")
    assert plain == expected
