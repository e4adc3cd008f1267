"""The picture of a model says what is on and spells the tag."""

from itertools import pairwise

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
        ("ABD", "logit−1(αj − βi)"),
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


LETTERS = {"guessing": "A", "discrimination": "B", "difficulty": "C", "bias": "D", "ability": "E"}


def boxes(figure):
    """Boxes of the picture by the words inside them: place, look, and the letter that stands in them."""
    notes, found = figure.layout.annotations, {}
    for shape in figure.layout.shapes:
        inside = [n for n in notes if n.text and shape.x0 <= n.x <= shape.x1 and shape.y0 <= n.y <= shape.y1]
        words = [note for note in inside if note.x == shape.x0 and note.xanchor == "left"]
        if len(words) == 1 and shape.line.dash is not None:
            letters = [note.text for note in inside if note.xanchor == "right" and note.x == shape.x1]
            found[words[0].text] = (shape, letters)
    return found


@pytest.mark.parametrize("tag", ["Full", "AB", "CD", "ABC", "ABDE"])
def test_each_box_is_filled_where_its_effect_is_on_and_has_its_own_letter_where_it_is_off(tag):
    on = switches(tag)
    found = boxes(effects_diagram(on, tag, LIGHT, ""))
    assert len(found) == 6 and found["True class z ~ π"][0].line.dash == "solid" and not found["True class z ~ π"][1]
    here = {
        "bias": ("Bias: α<sup>sens</sup> ≠ α<sup>spec</sup>", "No bias"),
        "ability": ("Ability: α differs", "Raters alike"),
        "difficulty": ("Difficulty β", "No difficulty"),
        "discrimination": ("Discrimination δ", "No discrimination"),
        "guessing": ("Guessing λ", "No guessing"),
    }
    for name, (present, absent) in here.items():
        shape, letters = found[present if getattr(on, name) else absent]
        assert letters == ([] if getattr(on, name) else [f"<b>{LETTERS[name]}</b>"])
        assert shape.line.dash == ("solid" if getattr(on, name) else "dash")
        assert shape.line.color == (LIGHT.accent if getattr(on, name) else LIGHT.rest)
        assert (shape.fillcolor == "rgba(0,0,0,0)") != getattr(on, name)


def test_effects_of_raters_stand_in_one_plate_and_those_of_cases_and_the_truth_in_the_other():
    figure = effects_diagram(switches("Full"), "Full", LIGHT, "")
    plates = [shape for shape in figure.layout.shapes if shape.line.dash is None and shape.y1 == 1]
    titles = {note.text: note for note in figure.layout.annotations if note.text.startswith("each")}
    raters, cases = sorted(plates, key=lambda plate: plate.x0)
    assert (titles["each rater"].x, titles["each case"].x) == (raters.x0, cases.x0)
    assert 0 <= raters.x0 < raters.x1 < cases.x0 < cases.x1 <= 1
    places = {words.split()[0].strip(":"): shape for words, (shape, _) in boxes(figure).items()}
    for name, shape in places.items():
        plate = raters if name in ("Bias", "Ability") else cases
        assert plate.x0 < shape.x0 < shape.x1 < plate.x1 and plate.y0 < shape.y0 < shape.y1 < plate.y1
    ordered = sorted(places.values(), key=lambda shape: (shape.x0, shape.y0))
    for lower, upper in pairwise(ordered):
        assert lower.x0 != upper.x0 or lower.y1 <= upper.y0  # no box lies on another


def test_the_hover_stands_on_the_box_of_its_effect():
    figure = effects_diagram(switches("AC"), "AC", LIGHT, "")
    shapes = {words: shape for words, (shape, _) in boxes(figure).items()}
    points = figure.data[0]
    for x, y, text in zip(points.x, points.y, points.customdata, strict=True):
        name = text.split(":")[0].split(",")[0].split()[0]
        over = [words for words, s in shapes.items() if s.x0 < x < s.x1 and s.y0 < y < s.y1]
        if name == "Probability":
            assert not over and (x, y) == (0.5, 0.2)
        else:
            assert len(over) == 1 and name.lower() in over[0].lower()


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ("Full", "nothing is left out"),
        ("A", "without guessing"),
        ("AB", "without guessing and discrimination"),
        ("ABC", "without guessing, discrimination and difficulty"),
        ("BD", "without discrimination and bias"),
        ("ABCDE", "without guessing, discrimination, difficulty, bias and differences between raters"),
    ],
)
def test_below_the_tag_stands_what_it_is_without(tag, said):
    notes = effects_diagram(switches(tag), tag, LIGHT, "").layout.annotations
    texts = [note.text for note in notes]
    assert {note.x for note in notes[-3:]} == {0.5}  # formula, tag and words are one below the other
    assert said in texts and f"P(right) = {formula(switches(tag))}" in texts
