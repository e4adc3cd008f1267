import pytest

from core.figures import effects, theme
from tests.golden import screens


@pytest.fixture(autouse=True)
def _checked(request):
    """What figures are made of is what plotly takes."""
    request.getfixturevalue("checked_figures")


@pytest.fixture(autouse=True)
def _as_recorded(request, _checked, monkeypatch):
    """Each figure that a test draws says, at each place and in each size, what is recorded: ``--record-screens``."""
    made, drawn = theme.unchecked, []

    def noted(data, layout):
        drawn.append(figure := made(data, layout))
        return figure

    monkeypatch.setattr(theme, "unchecked", noted)
    effects.effects_diagram.cache_clear()  # drawn once by whichever test came first
    yield
    lines = list(dict.fromkeys(screens.digest_of([figure]) for figure in drawn))
    screens.assert_recorded(request, f"figures/{request.path.stem}", request.node.name, lines)
