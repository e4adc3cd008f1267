import pytest


@pytest.fixture(autouse=True)
def _checked(request):
    """What figures are made of is what plotly takes."""
    request.getfixturevalue("checked_figures")
