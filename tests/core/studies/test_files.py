"""Files of reader studies: columns by name, several files, truths, panels, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from core.annotations.dataset import Dataset
from core.errors import InputError, LimitError
from core.studies.files import as_dataset, condition_of, read_study, truth_of
from core.studies.study import study_from_rows
from tests.core.studies.worlds import as_imrmc, opinions, roe_metz, study_of


@pytest.fixture(scope="module")
def study():
    """Three readers, two modalities, 20 cases of scores 1 to 5."""
    scores, truth = roe_metz(np.random.default_rng(1), 3, 20)
    return study_of(np.clip(np.rint(scores) + 2, 1, 5), truth)


def table(study, names=("reader", "case", "modality", "score", "truth"), words=("0", "1")):
    """The long table of a study; a name that is empty is no column."""
    rows = [
        (reader, case, modality, f"{study.scores[m, r, c]:g}", words[study.truth[c]])
        for m, modality in enumerate(study.modalities)
        for r, reader in enumerate(study.readers)
        for c, case in enumerate(study.cases)
    ]
    return pd.DataFrame(rows, columns=list("abcde")).set_axis(names, axis=1).drop(columns="", errors="ignore")


def file_of(frame):
    return frame.to_csv(index=False).encode()


def same(one, other):
    return one.digest == other.digest


def test_read_study_recognises_columns_by_name(study):
    for names in (
        ("reader", "case", "modality", "score", "truth"),
        ("Radiologist", "Patient_ID", "Treatment", "Rating", "Gold standard"),
    ):
        found = read_study([("a.csv", file_of(table(study, names)))])
        assert same(found.study, study) and not found.choices
        assert all(name.lower() in found.notes[0].lower() for name in names)
    own = table(study, ("who", "which", "how", "what", "is"))
    found = read_study(
        [("a.csv", file_of(own))],
        columns={"reader": "who", "case": "which", "modality": "how", "score": "what", "truth": "is"},
    )
    assert same(found.study, study)


def test_a_file_of_imrmc_and_a_table_give_the_same_study(study):
    assert same(read_study([("a.imrmc", as_imrmc(study))]).study, read_study([("a.csv", file_of(table(study)))]).study)


def test_files_without_a_column_are_of_what_they_are_called(study):
    whole, files = table(study), []
    for (reader, modality), part in whole.groupby(["reader", "modality"], sort=False):
        files.append((f"{modality}.csv", reader, file_of(part.drop(columns="modality"))))
    by_modality = [(name, content) for name, _, content in files]
    assert same(read_study(by_modality).study, read_study([("all.csv", file_of(whole))]).study)
    by_reader = [
        (f"{reader}.csv", file_of(part.drop(columns="reader"))) for reader, part in whole.groupby("reader", sort=False)
    ]
    found = read_study(by_reader)
    assert found.study.readers == study.readers
    np.testing.assert_array_equal(found.study.scores, study.scores)


def test_a_table_of_truths_among_the_files_or_beside_them_counts(study):
    readings = table(study, ("reader", "case", "modality", "score", ""))
    truth = table(study)[["case", "truth"]].drop_duplicates()
    assert same(read_study([("a.csv", file_of(readings)), ("truth.csv", file_of(truth))]).study, study)
    known = truth_of("truth.csv", file_of(truth.set_axis(["case", "status"], axis=1)))
    assert same(read_study([("a.csv", file_of(readings))], truth=known).study, study)
    assert read_study([("a.csv", file_of(readings))]).study.truth is None


@pytest.mark.parametrize(
    ("names", "condition"),
    [
        (("0", "1"), "1"),
        (("benign", "malignant"), "malignant"),
        (("No", "Yes"), "Yes"),
        (("1", "positive"), ""),
        (("adenoma", "polyp"), ""),
        (("1", "2", "3"), ""),
        (("1",), "1"),
    ],
)
def test_the_condition_is_known_by_its_name_alone_if_only_one_class_can_be_it(names, condition):
    assert condition_of(names) == condition


def test_an_unclear_condition_is_asked_for(study):
    content = file_of(table(study, words=("adenoma", "polyp")))
    found = read_study([("a.csv", content)])
    assert found.choices == ("adenoma", "polyp") and found.study.truth is None
    assert same(read_study([("a.csv", content)], positive="polyp").study, study)
    with pytest.raises(InputError, match="Could not use class 'x'"):
        read_study([("a.csv", content)], positive="x")


def test_ordered_classes_are_scores_by_their_place(study):
    words = ["never", "rarely", "sometimes", "often", "always"]
    frame = table(study)
    frame["score"] = [words[int(score) - 1] for score in frame["score"]]
    found = read_study([("a.csv", file_of(frame))])
    np.testing.assert_array_equal(found.study.scores, study.scores - study.scores.min())
    assert any("never, rarely" in note for note in found.notes)


def test_a_panel_gives_opinions_in_place_of_a_truth(study):
    given = opinions(np.random.default_rng(2), study.truth, (0.8, 0.9))
    case, rater = np.meshgrid(np.arange(20), np.arange(2), indexing="ij")
    panel = Dataset.from_classes(
        "panel", study.cases, ("P1", "P2"), ("no", "yes"), case.ravel(), rater.ravel(), given.T.ravel()
    )
    found = read_study([("a.csv", file_of(table(study)))], panel=panel)
    np.testing.assert_array_equal(found.study.panel, given)
    assert found.study.truth is None
    with pytest.raises(InputError, match="Could not use the panel"):
        read_study([("a.csv", file_of(table(study)))], panel=_others(panel))


def _others(panel):
    from dataclasses import replace

    return replace(panel, cases=tuple(f"other {name}" for name in panel.cases))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"reader,case,modality\na,1,x\n", "no score column"),
        (b"reader,score,modality\na,1,x\n", "no case column"),
        (b"reader,case,modality,score\na,1,x,good\nb,1,x,7\n", "the score 'good': it is not a number"),
        (b"reader,case,modality,score,truth\na,1,x,3,1\nb,1,x,4,0\n", "its truth is given as both '1' and '0'"),
        (b"reader,case,modality,score\na,1,x,3\na,1,x,4\n", "scored case 1 twice"),
        (b"case,truth\n1,0\n", "it has no rows"),
    ],
)
def test_what_is_no_study_is_refused_with_what_is_missing(content, words):
    with pytest.raises(InputError, match=words):
        read_study([("a.csv", content)])


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="the column 'x'"):
        read_study([("a.csv", b"reader,case,score\na,1,2\n")], columns={"modality": "x"})
    with pytest.raises(InputError, match="column role: 'y'"):
        read_study([("a.csv", b"reader,case,score\na,1,2\n")], columns={"y": "case"})


def test_readers_cases_and_modalities_that_make_too_many_scores_are_refused():
    rows = [(f"r{place}", f"c{place}", f"m{place}", 1.0) for place in range(300)]
    with pytest.raises(LimitError, match="27,000,000 scores"):
        study_from_rows(rows)


def test_readings_without_a_score_are_left_out_and_counted(study):
    frame = table(study)
    frame.loc[3, "score"] = ""
    found = read_study([("a.csv", file_of(frame))])
    assert np.isnan(found.study.scores).sum() == 1 and any("1 row without" in note for note in found.notes)


def test_readings_are_a_dataset_of_scores(study):
    found = as_dataset(study, "trial")
    assert found.kind == "score" and found.n_annotations == study.scores.size
    assert found.raters == tuple(f"{who} · {where}" for where in study.modalities for who in study.readers)
    place = found.raters.index("R2 · M2")
    np.testing.assert_array_equal(np.sort(found.score[found.rater == place]), np.sort(study.scores[1, 1]))


def test_the_only_other_column_of_readings_is_the_score(study):
    own = table(study, ("reader", "patient", "modality", "BI-RADS", ""))
    truths = table(study, ("", "patient", "", "", "truth")).drop_duplicates()
    found = read_study([("a.csv", file_of(own)), ("b.csv", file_of(truths))])
    assert same(found.study, study) and "“BI-RADS” as score" in found.notes[0]
    with pytest.raises(InputError, match=r"other columns: “BI-RADS” and “site”.*--column score=NAME"):
        read_study([("a.csv", file_of(own.assign(site="north")))])
    with pytest.raises(InputError, match="no score column"):  # a truth of another name is no reading
        read_study([("b.csv", file_of(truths.rename(columns={"truth": "pathology"})))])
