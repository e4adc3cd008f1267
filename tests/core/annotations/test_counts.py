"""Counts of annotations: who annotated which case, however often."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.annotations.counts import rater_case_pairs, raters_per_case
from core.annotations.dataset import Dataset


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=30))
def test_who_annotated_what_counts_once(annotations):
    annotations.sort(key=lambda pair: pair[0])
    case, rater = (np.array([pair[place] for pair in annotations], np.int64) for place in (0, 1))
    names = [[f"{kind}{n}" for n in range(size)] for kind, size in (("case", 5), ("rater", 4), ("class", 2))]
    dataset = Dataset.from_classes("made", *names, case, rater, np.zeros(case.size, np.int64))
    found = list(zip(*(codes.tolist() for codes in rater_case_pairs(dataset)), strict=True))
    assert found == sorted(set(annotations))
    assert raters_per_case(dataset).tolist() == [len({b for a, b in annotations if a == one}) for one in range(5)]
    assert raters_per_case(dataset) is raters_per_case(dataset) and not raters_per_case(dataset).flags.writeable
