import pytest

from core import story
from core.figures import tour
from core.figures.theme import DARK, LIGHT


@pytest.mark.parametrize("number", range(len(story.STEPS)))
def test_every_slide_has_its_values_on_the_axis_of_its_label(number):
    """The rest of the figure is as recorded."""
    _, slide = story._shipped()[number]
    for theme in (LIGHT, DARK):
        layout = tour.draw(slide, theme).layout
        titles = {(axis.title.text or "").replace("<br>", " ") for axis in (layout.xaxis, layout.yaxis)}
        assert slide.axis in titles


def test_an_ai_rater_has_the_colour_of_its_outcome():
    """Not that of those that pass, if the cases do not decide."""
    _, slide = story._shipped()[-1]
    colours = {"passes": LIGHT.accent, "fails": LIGHT.mean, "inconclusive": LIGHT.rest}
    (drawn,) = [one for one in tour.draw(slide, LIGHT).data if one.type == "bar"]
    outcomes = [mark.label.split(" · ")[1] for mark in slide.marks]
    assert outcomes == ["passes", "passes", "inconclusive", "fails"]
    assert list(drawn.marker.color) == [colours[name] for name in outcomes]
