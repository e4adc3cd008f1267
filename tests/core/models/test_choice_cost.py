"""Estimated time and memory of choosing a model, and what is refused before it is begun."""

import pytest

from core.errors import LimitError
from core.models import choice_cost
from core.models.choice_cost import check_cost, seconds_to_choose, seconds_to_score
from core.models.choose import choose
from tests.core.models.rows import random_rows


def wide(build, n_classes):
    """Thirty cases by five raters, with many more classes than are named."""
    return build(random_rows(1, 30, 5, 3), n_classes)


def test_many_classes_are_refused_before_anything_is_fitted_and_the_vote_opens(build):
    dataset, told = wide(build, 1500), []
    with pytest.raises(
        LimitError,
        match=r"about 4 minutes and 0.5 GB with 1,500 classes. Choose the model by name to fit it without "
        r"a score, or merge",
    ):
        check_cost(dataset)
    assert seconds_to_choose(dataset) == 0
    found = choose(dataset, progress=told.append)
    assert found.chosen == "smoothed-vote" and told[-1] == 1
    models = [each for each in found.standings if not each.by_vote]
    assert all(
        each.fit is None and each.excluded.startswith("Could not score this model: it would take about 4 min")
        for each in models
    )
    assert found.reason.startswith(
        "Smoothed vote is shown first because no rater model can be used (One coin: could not score this model: it "
        "would"
    )


def test_usual_data_are_not_refused_and_the_estimate_grows_with_classes_and_annotations(build, monkeypatch):
    small, large = build(random_rows(1), 3), build(random_rows(1, 200), 3)
    check_cost(small)
    assert 0 < seconds_to_score(small) < seconds_to_score(large) < 1
    assert seconds_to_score(wide(build, 200)) > 3 * seconds_to_score(wide(build, 100))
    assert seconds_to_choose(small) == pytest.approx(7 * seconds_to_score(small))
    monkeypatch.setattr(choice_cost, "MOST_BYTES", 100)
    with pytest.raises(LimitError, match=r"0\.0 GB"):
        check_cost(small)
