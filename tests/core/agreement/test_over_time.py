"""Windows of time: which case stands where, and that each window is the coefficient of its cases."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from core.agreement.coefficients import fleiss_kappa, percent_agreement
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.over_time import DAY, over_time, period_for
from core.agreement.probability import spa
from core.annotations.dataset import MISSING_TIME, Dataset
from core.errors import InputError, NotApplicableError
from tests.core.kinds import as_scores

BY_NAME = {
    "spa": spa,
    "percent": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "krippendorff_alpha": krippendorff_alpha,
}


def seconds(*date):
    return int(datetime(*date, tzinfo=UTC).timestamp())


def dated(rows, n_classes=3):
    """A dataset from rows of (case, class, time)."""
    case, answer, time = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    rater = np.array([int((case[:n] == case[n]).sum()) for n in range(len(case))])
    names = [f"c{i}" for i in range(case.max() + 1)], [f"r{i}" for i in range(rater.max() + 1)]
    return Dataset.from_classes("dated", *names, [f"k{i}" for i in range(n_classes)], case, rater, answer, time)


def random_dated(seed, n_cases=120, days=300):
    rng = np.random.default_rng(seed)
    begin = seconds(2021, 1, 1) + rng.integers(0, days * DAY, n_cases)
    return [
        (case, int(rng.integers(3)), int(begin[case] + place * rng.integers(0, 90 * DAY)))
        for case in range(n_cases)
        for place in range(rng.integers(1, 5))
    ]


def earliest(rows):
    first = {}
    for case, _, time in rows:
        if time != MISSING_TIME:
            first[case] = min(time, first.get(case, time))
    return first


@pytest.mark.parametrize("by", ["week", "month", "quarter", "year", "cases"])
def test_every_window_is_the_coefficient_of_the_cases_that_began_in_it(by):
    rows = random_dated(1)
    dataset, first = dated(rows), earliest(rows)
    found = over_time(dataset, by, n_windows=7, coefficients=tuple(BY_NAME), level=0.9)
    assert found.by == by and found.n_undated == 0
    assert sum(window.n_cases for window in found.windows) == 120
    for window in found.windows:
        members = [case for case, time in first.items() if window.start <= time <= window.stop]
        assert window.n_cases == len(members)
        part = dataset.select(cases=[f"c{case}" for case in members])
        assert window.coefficients == tuple(one(part, level=0.9) for one in BY_NAME.values())


def test_calendar_periods_are_those_of_the_calendar():
    days = {(2020, 12, 31): "w0", (2021, 1, 1): "w0", (2021, 1, 3): "w0", (2021, 1, 4): "w1", (2021, 4, 1): "w2"}
    rows = [(case, 0, seconds(*day) + shift) for case, day in enumerate(days) for shift in (0, DAY - 1)]
    labels = {by: [w.label for w in over_time(dated(rows), by).windows] for by in ("week", "month", "quarter", "year")}
    assert labels["week"] == ["2020-12-28", "2021-01-04", "2021-03-29"]
    assert labels["month"] == ["2020-12", "2021-01", "2021-04"]
    assert labels["quarter"] == ["2020 Q4", "2021 Q1", "2021 Q2"]
    assert labels["year"] == ["2020", "2021"]
    assert [w.n_cases for w in over_time(dated(rows), "week").windows] == [3, 1, 1]


def test_times_before_1970_have_their_periods_too():
    rows = [(0, 0, seconds(1969, 12, 31)), (1, 0, seconds(1968, 2, 1))]
    assert [w.label for w in over_time(dated(rows), "quarter").windows] == ["1968 Q1", "1969 Q4"]
    assert [w.label for w in over_time(dated(rows), "week").windows] == ["1968-01-29", "1969-12-29"]


@pytest.mark.parametrize(
    ("days", "period"), [(0, "week"), (200, "week"), (201, "month"), (1000, "quarter"), (10_000, "year")]
)
def test_the_period_suits_the_span(days, period):
    assert period_for(days * DAY) == period
    rows = [(0, 0, 0), (1, 0, days * DAY)]
    assert over_time(dated(rows)).by == period


def test_windows_of_cases_hold_about_equally_many_and_never_part_cases_of_one_time():
    rows = [(case, 0, 10 * case) for case in range(100)]
    assert [w.n_cases for w in over_time(dated(rows), "cases", n_windows=8).windows] == [12, 13] * 4
    tied = [(case, 0, 10 * (case // 40)) for case in range(100)]
    found = over_time(dated(tied), "cases", n_windows=8).windows
    assert [w.n_cases for w in found] == [40, 40, 20]
    assert found[0].label == "1970-01-01 to 1970-01-01"


def test_unknown_times_are_passed_over_and_cases_without_any_are_counted():
    rows = [(0, 0, MISSING_TIME), (0, 1, seconds(2021, 5, 4)), (1, 0, MISSING_TIME), (2, 0, seconds(2021, 6, 1))]
    found = over_time(dated(rows), "month")
    assert found.n_undated == 1
    assert [(w.label, w.n_cases) for w in found.windows] == [("2021-05", 1), ("2021-06", 1)]
    assert found.windows[0].coefficients[0].value == 0
    assert found.windows[1].coefficients[0].value is None


def test_the_order_of_cases_and_raters_in_the_file_does_not_matter():
    rows = random_dated(3)
    shuffled = [rows[n] for n in np.random.default_rng(0).permutation(len(rows))]
    assert over_time(dated(rows)).windows == over_time(dated(shuffled)).windows


def test_data_without_dates_or_of_another_kind_are_refused():
    dataset = dated(random_dated(0))
    with pytest.raises(InputError, match="no dates"):
        over_time(replace(dataset, time=None))
    with pytest.raises(InputError, match="no dates"):
        over_time(dated([(0, 0, MISSING_TIME)]))
    with pytest.raises(InputError, match="at least 1"):
        over_time(dataset, "cases", n_windows=0)
    with pytest.raises(NotApplicableError, match="not single classes"):
        over_time(as_scores(dataset))
    for wrong in ({"by": "decade"}, {"coefficients": ("conger_kappa",)}):
        with pytest.raises(ValueError, match=r"decade|conger"):
            over_time(dataset, **wrong)
