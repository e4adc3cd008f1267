from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.order import FITTED
from core.raters.flagged_raters import flag_raters
from core.raters.monitoring import monitor
from core.raters.report_card import report_card
from tests.core.raters.raters_simulated import simulated


def texts(value):
    """Every string anywhere in a result."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts(getattr(value, field.name))
    elif isinstance(value, dict):
        yield from texts(tuple(value) + tuple(value.values()))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        yield from (str(one) for one in value.ravel())


@pytest.mark.parametrize("place", [0, 3, 6])
def test_no_other_rater_is_named_anywhere(skin_table, place):
    """Names that occur nowhere else, so that each can be looked for in every text of the result."""
    names = tuple(f"Dr Secret {i}." for i in range(12))
    dataset = replace(skin_table.panel.dataset, raters=names)
    table = monitor(dataset)
    every = list(texts(report_card(table, flag_raters(table), names[place])))
    assert names[place] in every
    for other in names[:place] + names[place + 1 :]:
        assert not any(other in text for text in every)


def test_the_card_of_the_drifting_rater_tells_what_there_is_to_tell(skin, skin_table, skin_act):
    card = report_card(skin_table, skin_act, "R04")
    assert card.n_annotations == 170 and card.n_raters == 12
    assert [title for title, _ in card.flags] == ["Became less accurate over time"]
    assert card.over_time.alarm is not None
    assert card.n_differences == len(card.differences) or len(card.differences) == 50
    assert card.accuracy[1] < card.accuracy[0] < card.accuracy[2]
    for one in card.differences:
        assert one.answer != one.others and one.sure >= 0.9
        case = skin.case_index(one.case)
        given = [skin.classes[skin.answer[a]] for a in skin.annotations_of(case) if skin.rater[a] != 3]
        assert (one.n_others, one.n_agree) == (len(given), given.count(one.others))


def test_own_and_pooled_answers_add_up_and_carry_intervals(skin_table, skin_act):
    card = report_card(skin_table, skin_act, "R07")
    assert card.own.n.sum() == pytest.approx(card.n_judged)
    assert card.pool.n.sum() + card.own.n.sum() == pytest.approx(skin_table.panel.judged.sum())
    for answers in (card.own, card.pool):
        met = answers.n > 1e-6
        np.testing.assert_allclose(answers.share[met].sum(axis=1), 1)
        assert (answers.low[met] <= answers.share[met] + 1e-12).all()
        assert (answers.share[met] <= answers.high[met] + 1e-12).all()
        assert np.isnan(answers.share[~met]).all()


def test_the_surest_differences_come_first_and_as_many_as_asked_for(skin_table, skin_act):
    card = report_card(skin_table, skin_act, "R04", most=5)
    sure = [round(one.sure, FITTED) for one in card.differences]
    assert len(sure) == 5 and sure == sorted(sure, reverse=True) and card.n_differences > 5


def test_without_times_the_card_says_why_nothing_is_followed():
    data, _ = simulated(1, [0.8] * 4, n_cases=40, times=False)
    table = monitor(data)
    card = report_card(table, flag_raters(table), "r2")
    assert card.over_time is None and "no dates" in card.why_not_over_time
    assert card.seconds is None and all(one.time is None for one in card.differences)


def test_one_annotation_makes_a_card():
    data = Dataset.from_classes("x", ["a"], ["r"], ["k", "l"], [0], [0], [1])
    table = monitor(data)
    card = report_card(table, flag_raters(table), "r")
    assert card.accuracy is None and card.pool_accuracy is None and card.differences == ()


def test_a_rater_that_is_not_there_is_not_found(skin_table, skin_act):
    with pytest.raises(NotFoundError, match="R99"):
        report_card(skin_table, skin_act, "R99")
