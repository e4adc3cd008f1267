"""The text format of iMRMC, from a generator and from its authors.

``imrmc_example.imrmc`` is the test input of iMRMC (https://github.com/DIDSR/iMRMC), made by employees of the Food and
Drug Administration and dedicated to the public domain (CC0 1.0).
"""

from pathlib import Path

import numpy as np
import pytest

from core.errors import InputError
from core.studies.imrmc import read_rows
from core.studies.study import study_from_rows
from tests.core.studies.worlds import as_imrmc, roe_metz, study_of

EXAMPLE = Path(__file__).with_name("imrmc_example.imrmc")
HEAD = b"Any front matter\nBEGIN DATA:\n"


def test_what_is_written_is_read_back():
    scores, truth = roe_metz(np.random.default_rng(1), 3, 15)
    scores[0, 1, :4], truth[14] = np.nan, -1
    study = study_of(scores, truth)
    found = study_from_rows(*read_rows(as_imrmc(study)))
    assert (found.modalities, found.readers) == (study.modalities, study.readers)
    order = [found.cases.index(case) for case in study.cases]
    np.testing.assert_array_equal(found.scores[:, :, order], study.scores)
    np.testing.assert_array_equal(found.truth[order], study.truth)


def test_the_file_of_its_authors_is_read():
    found = study_from_rows(*read_rows(EXAMPLE.read_bytes()))
    assert (found.modalities, len(found.readers), len(found.cases)) == (("testA", "testB"), 5, 80)
    assert not np.isnan(found.scores).any() and found.truth.sum() == 40
    assert found.scores[1, 4, found.cases.index("posCase40")] == 2.5737


def test_marks_blanks_quotes_and_line_ends_do_not_matter():
    text = 'Title\r\n begin data: \r\ntruth, c1 ,TRUTH,1\r\n\r\n"r,1",c1,m,2\r\n'
    found = study_from_rows(*read_rows(b"\xef\xbb\xbf" + text.encode()))
    assert (found.readers, found.cases, found.truth.tolist()) == (("r,1",), ("c1",), [1])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"truth,c1,truth,1\n", "BEGIN DATA"),
        (HEAD + b"truth,c1,truth,1\nr,c1,m\n", "Line 4: Could not read a line: it has 3 fields, expected 4"),
        (HEAD + b"truth,c1,truth,1\nr,c1,m,high\n", 'Line 4: Could not read the score "high"'),
        (HEAD + b"truth,c1,truth,2\n", "Line 3: Could not read the truth of case c1"),
        (HEAD + b"truth,c1,truth,1\ntruth,c1,truth,0\n", "Line 4: Could not read the truth of case c1"),
        (HEAD + b"r,c1,m,1\n", "the file has no truth rows"),
        (HEAD + b"truth,c1,truth,1\n", "no readings"),
        (b"\xff\xfeB\x00", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_line(data, words):
    with pytest.raises(InputError, match=words):
        study_from_rows(*read_rows(data))
