"""The samples are what their cards and their sources say."""

from runpy import run_path

import numpy as np
import pytest

from core.certainty.top_sets import annotation_certainty
from core.errors import NotFoundError
from core.evaluation.predictions import read_predictions
from core.ingest.formats.tables import open_table
from core.ingest.samples import SAMPLE_FOLDER, SAMPLES, load_sample, read_sample, sample_predictions
from core.plausibility.dirichlet import DirichletCounts

KNOWN = {
    "skin": ("ranking", 400, 12, 1877),
    "dermatology": ("ranking", 3, 6, 12),
    "caries": ("class", 3869, 5, 19_345),
    "anaesthesia": ("class", 45, 5, 315),
    "knees": ("class", 260, 8, 1043),
    "street": ("set", 200, 8, 800),
    "essays": ("score", 160, 9, 648),
    "replies": ("class", 900, 8, 3235),
    "toy": ("class", 43, 10, 430),
    "pictures": ("class", 200, 102, 10_200),
}
DIGESTS = {
    "skin": "71ab800cf704ab2ad3e47af41900fc52",
    "dermatology": "e48eb347105da533356f2ab1d42aa28a",
    "caries": "e52b97bafbe6028db4fcd7691b825ffe",
    "anaesthesia": "e4b6779c62ca56b1c8338ffbe488458a",
    "knees": "c50525d5f145b13ac71cbca8c8979fbe",
    "street": "febc5ba807279e5642bab1b1e4bd01c4",
    "essays": "0af5aadac6b6237ff6ab0a319674444c",
    "replies": "c1ababe1b7214c4dd2adafc6ff6d0e14",
    "toy": "8665cde34a55c02a396f646b821420b6",
    "pictures": "c80e011c6d6b44964b7043ae0b1bfd60",
}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_has_the_digest_under_which_its_reviews_are_kept(sample):
    reading = read_sample(sample.name)
    assert (reading.dataset.digest, reading.earlier) == (DIGESTS[sample.name], ())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_has_the_size_of_its_source(sample):
    dataset = load_sample(sample.name)
    assert (dataset.kind, dataset.n_cases, dataset.n_raters, dataset.n_annotations) == KNOWN[sample.name]
    assert f"{dataset.n_cases:,}" in sample.size
    assert dataset.name == sample.title


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_row_of_a_sample_is_dropped(sample):
    report = read_sample(sample.name).report
    assert report.dropped == ()
    assert report.n_kept == report.n_rows


def test_side_tables_of_a_sample_come_with_it():
    skin = load_sample("skin")
    assert skin.class_risk.min() >= 0
    assert len(skin.class_risk) == skin.n_classes == 60
    assert len(skin.case_group) == 400
    assert skin.time is not None
    assert not load_sample("dermatology").raters_identified


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_card_speaks_of_gold_only_if_the_data_have_it_and_never_of_truth(sample):
    said = f"{sample.shows} {sample.answers}".replace("the paper on uncertain ground truth", "")
    assert "truth" not in said
    assert ("gold" in said) <= (load_sample(sample.name).gold_of_cases() is not None)


def test_the_order_of_classes_is_declared_where_it_means_something():
    knees = load_sample("knees")
    assert knees.ordinal and knees.classes == tuple(f"grade {grade}" for grade in range(5))
    assert not load_sample("anaesthesia").ordinal


def test_machines_of_a_sample_are_told_by_its_file():
    assert read_sample("replies").machines == (("lyra-1", "Lyra", "1"), ("lyra-2", "Lyra", "2"))
    assert read_sample("caries").machines == ()


def test_repeated_readings_in_a_sample_are_kept():
    assert read_sample("anaesthesia").report.n_repeats == 90


def test_a_sample_that_does_not_exist_is_not_found():
    with pytest.raises(NotFoundError, match="skin, dermatology, caries, anaesthesia, knees, street, essays"):
        load_sample("../skin")


def test_toy_cases_behave_as_the_paper_says_of_its_figure_2():
    """Stutz et al. (2023): low for (ii) at every γ, rising with γ for (iii); (i) is crisp."""
    toy = load_sample("toy").select(cases=["(i)", "(ii)", "(iii)"])
    rng, found = np.random.default_rng(1), {}
    for reliability in (0.3, 1.0, 3.0, 10.0):
        found[reliability] = annotation_certainty(DirichletCounts(1.0), toy, reliability=reliability).certainty[:, 0]
        for case, counts in enumerate(((10, 0, 0), (2, 4, 4), (0, 3, 7))):
            leads = rng.dirichlet(reliability * np.array(counts) + 1.0, 100_000).argmax(axis=1)
            assert found[reliability][case] == pytest.approx(np.bincount(leads).max() / 100_000, abs=0.06)
    crisp, ambiguous, rising = np.array(list(found.values())).T
    assert crisp.min() > 0.8 and ambiguous.max() < 0.6 and crisp[-1] > 0.99
    assert (np.diff(rising) > 0).all() and rising[0] < 0.7 and rising[-1] > 0.95


def test_pictures_have_the_shape_of_cifar_10h_and_classifiers_that_only_probabilities_tell_apart():
    dataset = load_sample("pictures")
    assert set(np.diff(dataset.case_ptr)) == {51} and set(np.bincount(dataset.rater)) == {100}
    found = read_predictions(open_table(sample_predictions("pictures")), dataset, "pictures")
    shares = class_shares(dataset)
    right, entropy = {}, {}
    for one in found:
        score = np.zeros_like(shares)
        score[np.repeat(np.arange(200), np.diff(one.ptr)), one.class_code] = np.maximum(one.score, 5e-4)
        right[one.name] = (score.argmax(axis=1) == shares.argmax(axis=1)).mean()
        entropy[one.name] = -(shares * np.log(score / score.sum(axis=1, keepdims=True))).sum(axis=1).mean()
    assert abs(right["one label"] - right["all labels"]) < 0.05
    assert entropy["one label"] > entropy["all labels"] + 0.15


def class_shares(dataset):
    counts = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(counts, (dataset.case_of_annotation, dataset.answer), 1)
    return counts / counts.sum(axis=1, keepdims=True)


def test_pictures_are_those_that_their_script_writes(tmp_path):
    script = SAMPLE_FOLDER / "make_pictures.py"
    copy = tmp_path / script.name
    copy.write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    run_path(str(copy), run_name="__main__")
    for path in (tmp_path / "pictures").iterdir():
        assert path.read_bytes() == (SAMPLE_FOLDER / "pictures" / path.name).read_bytes()
