import pytest

from core.ingest.samples import load_sample
from core.raters.flagged_raters import flag_raters
from core.raters.monitoring import monitor


@pytest.fixture(scope="session")
def skin():
    """First choices of the skin sample."""
    return load_sample("skin").as_classes()[0]


@pytest.fixture(scope="session")
def skin_table(skin):
    return monitor(skin)


@pytest.fixture(scope="session")
def skin_act(skin_table):
    return flag_raters(skin_table)
