import pytest

from core.ingest.samples import load_sample
from core.raters.monitoring import monitor
from core.raters.to_act_on import raters_to_act_on


@pytest.fixture(scope="session")
def skin():
    """First choices of the skin sample."""
    return load_sample("skin").as_classes()[0]


@pytest.fixture(scope="session")
def skin_table(skin):
    return monitor(skin)


@pytest.fixture(scope="session")
def skin_act(skin_table):
    return raters_to_act_on(skin_table)
