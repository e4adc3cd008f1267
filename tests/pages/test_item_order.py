"""The tab with the items of paired comparisons in order, where there are comparisons."""

import numpy as np
import pytest

from tests.pages.opened import at, kept, opened, settle, words

HEAD = "model_a,model_b,winner,judge"


@pytest.fixture
def arena():
    """Address of 400 comparisons of four models by six judges; one model has a name to escape."""
    rng, names = np.random.default_rng(8), ("alpha", "*bravo*", "charlie", "delta")
    strength = np.array([1.5, 0.5, -0.5, -1.5])
    rows = []
    for place in range(400):
        a, b = rng.choice(4, 2, replace=False)
        odds = np.exp((strength[a] - strength[b]) / 2)
        word = rng.choice(["model_a", "tie", "model_b"], p=np.array([odds, 0.5, 1 / odds]) / (odds + 0.5 + 1 / odds))
        rows.append(f"{names[a]},{names[b]},{word},judge {place % 6}")
    return kept("\n".join([HEAD, *rows, ""]), "arena")


def order_tab(address):
    app = at("cases", address)
    app.session_state["cases_tabs"] = "Items in order"
    return settle(app.run())


def test_the_items_are_in_order_with_pairs_and_raters(arena):
    app = order_tab(arena)
    said = words(app)
    assert "alpha is the strongest item" in said
    assert "*bravo*" in said or any("*bravo*" in str(table.value) for table in app.dataframe)
    tables = [list(table.value.columns) for table in app.dataframe]
    assert any("best" in columns for columns in tables) and any("above" in columns for columns in tables)
    assert any("zeta" in columns for columns in tables)


def test_the_cases_are_still_there(arena):
    app = opened("cases", arena)
    assert [tab.label for tab in app.tabs][:2] == ["Cases", "Items in order"]
    assert "alpha | charlie" in "".join(str(table.value) for table in app.dataframe) + words(app)


def test_other_data_have_no_such_tab():
    app = opened("cases", "caries")
    assert "Items in order" not in [tab.label for tab in app.tabs]


@pytest.mark.parametrize("page", ["home", "agreement", "models", "raters", "labels", "report", "reliability", "review"])
def test_every_page_opens_on_comparisons(arena, page):
    app = opened(page, arena)
    assert not app.exception and "no longer on this computer" not in words(app)
