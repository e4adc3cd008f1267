"""What is said of a reader study: on data where it must hold, and where it must not."""

import numpy as np
import pytest

from core.analyses.blocks import Figure, Grid, Words
from core.analyses.study import STUDY, _size, analyse, headline, lead, table_of_modalities
from core.figures.theme import LIGHT
from core.studies.analysis import StudyOptions, compute, interval_for_these_readers
from core.studies.imrmc import read_rows
from core.studies.study import ReadingStudy, study_from_rows
from tests.core.analyses.test_contract import check
from tests.core.studies.worlds import opinions, roe_metz, study_of


def world(kind):
    """A study with what is known of its truth."""
    rng = np.random.default_rng(5)
    shifts = {"equal": (1.2, 1.2), "three": (0.3, 0.3, 2.5)}.get(kind, (0.3, 2.5))
    scores, truth = roe_metz(rng, 4, 120, shifts)
    if kind == "missing":
        scores[0, 1, ::3] = np.nan
    if kind == "perfect":
        scores = np.tile(truth, (2, 4, 1)).astype(float)
    panel = opinions(rng, truth, (0.85, 0.85, 0.85)) if kind == "panel" else None
    return study_of(scores, None if kind == "panel" else truth, panel)


KINDS = ("equal", "clear", "three", "missing", "perfect", "panel")


@pytest.fixture(scope="module", params=KINDS)
def analysed(request):
    study = world(request.param)
    options = STUDY.parts[0].with_options(draws=50).resolve()
    return request.param, study, analyse(study, options)


@pytest.mark.parametrize("name", [part.name for part in STUDY.parts])
def test_every_part_has_a_table_and_can_be_drawn_and_printed(analysed, name):
    _, study, needed = analysed
    part = STUDY.part(name)
    options = part.with_options(draws=50).resolve()
    found = part.answer(study, options, needed)
    check(part, part.frame(found, study, options), part.blocks(found, study, options))


def test_the_sentence_says_what_the_interval_says(analysed):
    kind, _, needed = analysed
    words = Words(lead(needed)).plain
    best = needed.analysis.in_doubt or needed.analysis.taken
    assert ("do not clearly differ" in words) == (kind in ("equal", "three"))
    assert ("Cannot determine whether" in words) == (kind == "perfect")
    assert ("is higher with M2 than with M1" in words) == (kind in ("clear", "missing", "panel"))
    if kind == "three":
        assert words.startswith(
            "2 of 3 pairs of modalities clearly differ in AUC (after Holm's correction for 3 tests)."
        )
    if kind in ("clear", "missing"):
        (one,) = best.differences
        assert one.high < 0 and headline(needed) == "AUC is higher with M2 than with M1"
    assert ("clearly differ" in headline(needed)) == (kind not in ("clear", "missing", "panel"))


def test_both_ways_of_knowing_the_truth_are_said_and_in_the_table(analysed):
    kind, study, needed = analysed
    part = STUDY.parts[0]
    options = part.with_options(draws=50).resolve()
    said = " ".join(block.plain for block in part.blocks(needed, study, options) if isinstance(block, Words))
    truths = set(table_of_modalities(needed, study, options)["truth"])
    for tab in STUDY.parts[:2]:
        (grid,) = (block for block in tab.blocks(needed, study, options) if isinstance(block, Grid))
        assert [column.hidden for column in grid.columns if column.name == "truth"] == [len(truths) == 1]
    if kind == "panel":
        assert (
            said.startswith("These estimates are corrected for the panel's errors. ")
            and "These estimates take the panel's majority as the truth, as is common. " in said
        )
        assert truths == {"panel, corrected for its errors", "majority of the panel"}
    else:
        assert "corrected for the panel's errors" not in said and "majority" not in said and truths == {"known truth"}


def test_a_part_gives_the_numbers_of_the_analysis():
    study = world("clear")
    options = STUDY.parts[0].with_options(threshold=1.0).resolve(measure="sensitivity")
    found = analyse(study, options)
    plain = compute(study, StudyOptions("sensitivity", 1.0))
    assert found.analysis.taken.differences == plain.taken.differences
    assert "points (95% interval" in Words(lead(found)).plain and headline(found).startswith("Sensitivity is higher")


def test_readers_who_do_better_are_counted():
    study = world("clear")
    part = STUDY.part("readers")
    found = part.answer(study)
    words = next(block.plain for block in part.blocks(found, study) if isinstance(block, Words))
    value = {(one.modality, one.reader): one.value for one in found.analysis.taken.readers}
    better = sum(value["M2", reader] > value["M1", reader] for reader in study.readers)
    assert words.endswith(f"{better} of 4 readers {'performs' if better == 1 else 'perform'} better in M2.")


def test_the_area_below_the_curve_of_a_panel_is_that_with_its_doubt():
    """Each case counts on both sides by its probability: the mean over draws, up to their Monte Carlo error."""
    study = world("panel")
    options = STUDY.part("roc").with_options(draws=200).resolve()
    needed = analyse(study, options)
    curves = STUDY.part("roc").answer(study, options, needed)
    for modality in needed.analysis.in_doubt.modalities:
        x, y = np.array(
            [(one.false_positive, one.sensitivity) for one in curves.average if one.modality == modality.modality]
        ).T
        assert np.trapezoid(y, x) == pytest.approx(modality.value, abs=0.02)


def test_more_readers_are_advised_only_if_cases_do_not_help():
    study = world("clear")
    part = STUDY.part("size")
    for effect, words in ((0.4, "A study with 4 readers and "), (0.001, "are too few to detect")):
        options = part.resolve(effect=effect)
        found = part.answer(study, options)
        said = next(block.plain for block in part.blocks(found, study, options) if isinstance(block, Words))
        one = next(size for size in found[0].sizes if size.n_readers == 4)
        assert (one.n_cases is None) == ("too few" in words)
        assert words in said or (one.n_cases is None and "however many cases" in said)


def test_an_unusable_study_is_refused_with_the_reason():
    study = world("clear")
    applicable = STUDY.parts[0].applicable
    unknown = ReadingStudy(study.scores, study.modalities, study.readers, study.cases)
    assert not applicable(unknown).possible and "add the truth" in applicable(unknown).reason
    one = ReadingStudy(study.scores[:1], study.modalities[:1], study.readers, study.cases, study.truth)
    assert applicable(one).reason == "the study has only one modality, M1"
    none = ReadingStudy(study.scores, study.modalities, study.readers, study.cases, np.ones(120, np.int8))
    assert "no case without the condition" in applicable(none).reason


def test_the_example_of_imrmc_gives_a_sentence_to_send_on(request):
    path = request.path.parents[1] / "studies" / "imrmc_example.imrmc"
    study = study_from_rows(*read_rows(path.read_bytes()))
    found = analyse(study, STUDY.parts[0].resolve())
    assert "and testA do not clearly differ in AUC" in Words(lead(found)).plain


def test_few_readers_are_given_the_result_for_themselves_and_many_are_not(analysed):
    kind, _, needed = analysed
    assert "only, on similar cases" not in Words(lead(needed)).plain
    if kind == "clear":
        study = world(kind)
        two = ReadingStudy(study.scores[:, :2], study.modalities, study.readers[:2], study.cases, study.truth, None)
        few = analyse(two, STUDY.parts[0].resolve())
        low, high = interval_for_these_readers(few.analysis.taken)
        words, value = Words(lead(few)).plain, -few.analysis.taken.differences[0].value
        assert f"For these 2 readers only, on similar cases: difference {value:.3f}" in words
        assert words.endswith(f"({-high:.3f} to {-low:.3f}).")


def test_the_figure_subtracts_as_the_sentence_does(analysed):
    _, study, needed = analysed
    part = STUDY.part("modalities")
    (figure,) = [one for one in part.blocks(needed, study, part.resolve()) if isinstance(one, Figure)]
    best = needed.analysis.in_doubt or needed.analysis.taken
    values = [x for trace in figure.draw(LIGHT).data for x in trace.x]
    assert values[: len(best.differences)] == [abs(one.value) for one in best.differences]


def test_no_size_is_stated_if_nothing_varies(analysed):
    kind, study, needed = analysed
    part = STUDY.part("size")
    found = part.answer(study, part.with_options(draws=50).resolve(), needed)
    said = Words(_size(found, study, part.resolve())).plain
    assert ("Cannot determine the size" in said) == (kind == "perfect") == (not found)
