"""The page on reader studies: files, the truth, measures, downloads, and what it says without them."""

import numpy as np
import pytest

from core.analyses.study import STUDY, analyse
from core.annotations.dataset import Dataset
from core.belongings import add_study, studies_of
from core.ingest.read_files import Reading
from core.people import Person
from core.studies.files import as_dataset, read_study
from pages.shared.cache import datasets as cached
from tests.core.studies.test_files import file_of, table
from tests.core.studies.worlds import opinions, roe_metz, study_of
from tests.pages.opened import at, opened, settle


def made(words=("0", "1"), shifts=(0.5, 2.5), truth_in_file=True):
    scores, truth = roe_metz(np.random.default_rng(3), 4, 60, shifts)
    study = study_of(np.clip(np.rint(scores) + 2, 1, 5), truth)
    names = ("reader", "case", "modality", "score", "truth" if truth_in_file else "")
    return study, file_of(table(study, names, words))


def page_with(content, dataset):
    cached.registry().add(Reading(dataset, None))
    add_study(dataset.digest, "trial.csv", content)
    return opened("reader_study", dataset.digest)


def texts(page):
    return " ".join(str(one.value) for one in (*page.title, *page.markdown, *page.caption, *page.info, *page.error))


def panel_of(study, seed=1):
    given = opinions(np.random.default_rng(seed), study.truth, (0.85, 0.9, 0.9))
    case, rater = np.meshgrid(np.arange(len(study.cases)), np.arange(3), indexing="ij")
    return Dataset.from_classes(
        "panel", study.cases, ("P1", "P2", "P3"), ("no", "yes"), case.ravel(), rater.ravel(), given.T.ravel()
    )


def test_a_study_is_analysed_as_the_library_does():
    study, content = made()
    page = page_with(content, as_dataset(study, "trial"))
    assert not page.exception
    assert page.title[0].value == "AUC is higher with M2 than with M1"
    found = analyse(study, STUDY.parts[0].resolve()).analysis.taken.differences[0]
    table_shown = page.dataframe[0].value
    assert table_shown["value"].iloc[0] == pytest.approx(found.value)


def test_equal_modalities_are_not_said_to_differ():
    study, content = made(shifts=(1.2, 1.2))
    page = page_with(content, as_dataset(study, "equal"))
    assert page.title[0].value == "M1 and M2 do not clearly differ in AUC"


def test_sensitivity_asks_for_the_score_and_takes_it():
    study, content = made()
    page = page_with(content, as_dataset(study, "by threshold"))
    page.segmented_control(key="study_measure").set_value("sensitivity").run()
    assert "Choose the lowest score that counts as positive" in texts(page)
    page.selectbox(key=f"study_threshold-{study.digest}").set_value(4.0).run()
    assert page.title[0].value == "Sensitivity is higher with M2 than with M1"


def test_the_raters_of_the_open_data_are_the_panel():
    study, content = made(truth_in_file=False)
    page = page_with(content, panel_of(study))
    assert not page.exception and "are corrected for the panel's errors" in texts(page)
    assert "These estimates take the panel's majority as the truth" in texts(page)


def test_the_truth_of_the_files_comes_first_and_the_panel_can_be_chosen():
    study, content = made()
    page = page_with(content, panel_of(study, 2))
    assert "corrected for the panel's errors." not in texts(page)
    page = settle(page.segmented_control(key="study_truth").set_value("panel").run())
    assert "are corrected for the panel's errors" in texts(page)


def test_an_unclear_condition_is_asked_for_once():
    study, content = made(words=("adenoma", "polyp"))
    page = page_with(content, as_dataset(study, "unclear"))
    assert "Choose the class that means “condition present”" in texts(page)
    page.selectbox(key="study_positive").set_value("polyp").run()
    assert page.title[0].value == "AUC is higher with M2 than with M1"


def test_without_a_truth_it_says_what_to_add():
    study, content = made(truth_in_file=False)
    page = page_with(content, as_dataset(study, "no truth"))
    assert (
        "The true class of the cases is unknown. Add a table with the columns case and truth, or open the "
        "annotations of a panel (two classes) and add the study to them."
    ) in texts(page)


def test_a_file_that_is_no_study_is_said():
    study, _ = made()
    page = page_with(b"a,b\n1,2\n", as_dataset(study, "no study"))
    assert "no case column" in texts(page) and not page.exception


def test_without_a_study_it_asks_for_files():
    page = opened("reader_study", "caries")
    assert "Add files to compare modalities" in texts(page) and not page.exception


def test_a_reviewer_has_no_file_read_that_they_may_not_add(as_):
    as_(Person("cem@clinic.example", "reviewer", 2e9))
    page = settle(at("reader_study").run())
    assert not page.file_uploader and "ask a manager to add a study" in texts(page)
    as_(Person("ann@clinic.example", "manager", 2e9))
    assert settle(at("reader_study").run()).file_uploader


def test_files_can_be_removed():
    study, content = made()
    dataset = as_dataset(study, "removed")
    page = page_with(content, dataset)
    page.button(key="no_study").click().run()
    assert studies_of(dataset.digest) == {} and "No reader study yet" in texts(page)


def test_the_next_study_follows_the_difference_to_find():
    study, content = made()
    page = page_with(content, as_dataset(study, "next"))
    page.session_state["study_tabs"] = "Next study"
    page.run()
    first = page.dataframe[0].value["n_cases"].fillna(10**9).tolist()
    page.number_input(key="study_effect").set_value(0.3).run()
    second = page.dataframe[0].value["n_cases"].fillna(10**9).tolist()
    assert all(b <= a for a, b in zip(first, second, strict=True))
    assert first != second


def test_in_a_presentation_readers_have_no_names():
    study, content = made()
    page = page_with(content, as_dataset(study, "presented"))
    page.session_state["presenting"] = 1
    page.session_state["study_tabs"] = "Readers"
    page.run()
    shown = set(page.dataframe[0].value["reader"])
    assert shown == {"Reader 1", "Reader 2", "Reader 3", "Reader 4"} and not shown & set(study.readers)


def test_the_command_gives_the_study_again():
    study, content = made()
    page = page_with(content, as_dataset(study, "command"))
    assert any("python -m core study trial.csv" in one.value for one in page.code)
    assert read_study([("trial.csv", content)]).study.digest == study.digest
