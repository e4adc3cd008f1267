"""A classifier as evidence on Models, and that it counts nowhere where it is judged."""

import numpy as np
import pytest

from core.belongings import add_predictions
from core.library import keep
from tests.core.machines.conftest import simulated
from tests.pages.opened import opened, settle, words


@pytest.fixture
def address():
    data = simulated(8, [0.7] * 4, [0.8], n_cases=120, n_classes=2, present=1.0)
    people = data.select(raters=data.raters[:4])
    keep(people)
    own = np.flatnonzero(data.rater == 4)
    rows = [f"{data.cases[data.case_of_annotation[a]]},{data.classes[data.answer[a]]},0.8" for a in own]
    add_predictions(people.digest, "net", "\n".join(["case,class,score", *rows]).encode())
    return people.digest


def test_a_classifier_counts_on_models_and_not_where_it_is_judged(address):
    app = opened("models", address)
    before = words(app)
    assert "Classifier to use as evidence" not in before and "is not counted" not in before
    box = next(one for one in app.selectbox if one.key == "model_evidence")
    app = settle(box.select("net").run())
    said = words(app)
    assert "net is not used as evidence: Average of models was fitted without expectation-maximisation" in said
    assert "as evidence" not in app.title[0].value
    assert not any("--evidence" in one.value for one in app.code)
    app = settle(app.switch_page("pages/reliability.py").run())
    assert "is used as evidence on the Models page" not in words(app), "it counts in no average"
    app = settle(app.switch_page("pages/models.py").run())
    app = settle(app.multiselect(key="models_chosen").set_value(["dawid-skene"]).run())
    said = words(app)
    assert "net is used as evidence with weight 1.0" in said and "cannot be detected" in said
    assert "with net as evidence" in app.title[0].value
    assert any("--evidence net=PREDICTIONS" in one.value for one in app.code)
    app = settle(app.switch_page("pages/reliability.py").run())
    assert "as evidence. This page does not, because" in words(app)
    app = settle(app.switch_page("pages/models.py").run())
    assert "net is used as evidence" in words(app)
