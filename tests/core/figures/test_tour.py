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
    (drawn,) = [one for one in tour.draw(slide, LIGHT).data if one.type == "bar"]
    assert slide.basis.endswith("green: passes, grey: inconclusive, orange: fails")
    assert list(drawn.marker.color) == [LIGHT.accent, LIGHT.accent, LIGHT.rest, LIGHT.mean]
