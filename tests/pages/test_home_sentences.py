"""Sentences that only pages make, each on data where it is true and on data where it must not appear.

Said exactly where an independent count of the annotations says so; the data are those of the sentences of the library.
"""

import re

import numpy as np
import pytest
from scipy.stats import binomtest

from core.agreement.coefficient_methods import any_coefficient
from core.analyses.agreement import AGREEMENT
from core.analyses.cases.certainty import certainty_of_cases
from core.analyses.reliability.certainty import over_trust
from core.annotations.counts import raters_per_case
from core.evaluation.sweep_table import reliability_sweep
from core.plausibility.protocol import offered
from core.text import percent
from core.thresholds import UNCERTAIN_BELOW
from pages.shared.cache import analyses
from pages.shared.cache import home as cached_home
from pages.shared.home import doors, numbers
from tests.core.test_sentences import DATA, pairs_of

NAMES = [name for name in DATA if name != "crowd with gold"]


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    data = DATA[request.param]
    model = offered(data)[0].make()
    return request.param, data, certainty_of_cases(model, data, reliability=1.0, n_draws=200)


def test_home_says_that_raters_agree_on_everything_and_that_every_case_is_certain_only_where_it_is_so(case):
    _, data, certain = case
    same, total = pairs_of(data)
    found = analyses.result(AGREEMENT.part("coefficients"), data) if any_coefficient(data).possible else None
    said = numbers.sentence(data, found, certain)
    value, n_each = certain.certainty.certainty[:, 0], raters_per_case(data)
    unanimous = certain.shares.reach
    below = int(((value < UNCERTAIN_BELOW) & (n_each > 1)).sum()) if unanimous >= UNCERTAIN_BELOW else 0
    assert ("agree on everything" in said) == (total > 0 and same == total)
    assert "100%" not in said
    assert ("over 99%" in said) == (0 < same < total and round(100 * same / total) == 100)
    assert ("no case was annotated twice" in said) == (total == 0)
    if total:
        assert ("no case is uncertain" in said) == (unanimous >= UNCERTAIN_BELOW and below == 0)
        assert ("certainty cannot reach 90%" in said) == (unanimous < UNCERTAIN_BELOW)
        assert ("one annotation" in said) == (unanimous >= UNCERTAIN_BELOW and bool((n_each == 1).any()))
        assert bool(re.search(r"(?<!no case )\b(is|are) uncertain", said)) == (below > 0)
        assert (f"{below:,} of {data.n_cases:,} cases" in said) == (0 < below < data.n_cases)


def test_one_case_is_called_the_most_ambiguous_only_where_no_other_is_as_ambiguous(case):
    _, _, certain = case
    value = np.round(certain.certainty.certainty[~certain.shares.single, 0], 2)
    said = doors.least_certain(certain)
    assert said.startswith("No case has two annotations") == (not len(value))
    if not len(value):
        return
    n_least = int((value == value.min()).sum())
    assert (said.startswith("Most ambiguous: ") and " cases," not in said) <= (n_least == 1)
    assert said.startswith("All ") >= (n_least == len(value) > 1)


def test_a_class_is_called_the_commonest_only_where_no_other_is_as_common(case):
    _, data, _ = case
    shares = cached_home.vote_shares(data)
    first, second, *_ = sorted((*(share.value for share in shares), 0.0), reverse=True)
    said = doors.commonest(data, shares)
    assert said.startswith("Most common by majority vote: ") <= (first > second)
    assert said == "No class is clearly the most common by majority vote" or first > second
    n = shares[0].n
    clear = binomtest(round(first * n), round((first + second) * n)).pvalue <= 0.05
    assert said.startswith("Most common") == (clear or len(shares) == 1)


def test_certainty_is_said_to_rise_or_fall_only_beyond_its_monte_carlo_error(case):
    _, data, _ = case
    model = offered(data)[0].make()
    sweep = reliability_sweep(model, data, (0.5, 1.0, 3.0), n_draws=200)
    means = [result.mean() for result in sweep.certainty]
    said = over_trust(sweep)
    moved = abs(means[-1] - means[0]) > 0.02
    assert (" rises from " in said or " falls from " in said) or not moved
    assert (" rises from " in said) <= (means[-1] > means[0])
    assert ("at every γ" in said) == (len({percent(mean) for mean in means}) == 1)
    sure = [bool((result.certainty[:, 0] >= 0.9).all()) for result in sweep.certainty]
    assert ("; no case is below 90%" in said) == all(sure)
    assert (", every case reaches " in said) == (sure[-1] and not all(sure))
    assert (" below 90%" in said.replace("; no case is below 90%", "")) == (not sure[-1])
