"""Which model opens, and whether its sentence is true."""

from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled, NotApplicableError
from core.ingest.read_files import read
from core.methods import method_named
from core.models import choose as module
from core.models import held_out as held_out_module
from core.models.catalogue import fit_request
from core.models.choose import MAJORITY, Standing, choose
from core.models.held_out import HeldOut, HeldOutData
from core.models.rater_methods import RaterModelMethod
from core.models.tempering import tempered, truth_beta, truth_doubt
from core.runtime.chunks import CancelToken
from tests.core.models.rows import random_rows, simulated


def first_of(choice):
    """Title of the rater model with the best score."""
    return next(each.candidate.title for each in choice.standings if not each.by_vote)


SHARP = np.full((6, 3, 3), 0.1) + 0.7 * np.eye(3)
BLUNT = np.full((9, 3, 3), 0.2) + 0.4 * np.eye(3)  # of eight annotations hardly ever all are alike


def names(choice):
    return [each.candidate.name for each in choice.standings]


def test_the_best_held_out_score_opens_and_the_table_is_in_its_order(build):
    dataset = build(simulated(1, 300, SHARP, (0.5, 0.3, 0.2), 4)[0], 3)
    found = choose(dataset, cases=True)
    assert set(names(found)) == {
        "one-coin",
        "class-conditional",
        "dawid-skene",
        "dawid-skene-empirical",
        "tap",
        "glad",
        "nominal-difficulty",
        "majority",
        "smoothed-vote",
    }
    scores = [each.held.score for each in found.standings]
    assert scores == sorted(scores, reverse=True)
    first = next(each for each in found.standings if not each.excluded)
    able = [each for each in found.standings if not each.excluded and first.held.difference(each.held)[0] <= max(
        1e-6, first.held.difference(each.held)[1])]  # fmt: skip
    assert found.best.n_parameters == min(each.n_parameters for each in able)
    assert found.best.diff == 0 and found.best.diff_se == 0
    for each in found.standings:
        assert each.diff == pytest.approx(each.held.score - found.best.held.score)
        if not each.by_vote:
            hard = "difficulty" in {effect.name for effect in each.fit.effects}
            uneven = hard and each.fit.parameters["spread"][0] >= 0.25
            excess = min(each.held.least_beta / each.independent, 1) if each.independent else 0
            shown = truth_beta(each.held.middle_beta, case_effect=uneven, excess=excess)
            assert each.beta == shown == each.fit.beta
            assert each.held.middle_beta == pytest.approx((each.held.beta + each.held.fullest_beta) / 2)
            assert each.doubt == truth_doubt(each.held.beta, excess=excess)
            assert each.independent is None or each is found.best
            assert hard == (each.held.case_score is None) or np.isfinite(each.held.case_score).all()
    able = [each for each in found.standings if "em" in each.candidate.ways]
    quick = max((each.held for each in able), key=lambda held: held.score)
    assert found.dependence == quick.fullest_beta >= quick.beta
    assert found.best.candidate.title in found.reason and "1,200 held-out annotations best" in found.reason
    near = [each.candidate.title for each in found.standings[1:] if each.within_one_se and not each.excluded]
    tail = found.reason.partition(");")[2]
    assert all((title in tail) for title in near) and bool(near) == bool(tail)


def test_models_that_are_scored_already_are_not_scored_again_and_all_is_the_same(build, monkeypatch):
    dataset = build(simulated(1, 60, SHARP, (0.5, 0.3, 0.2), 4)[0], 3)
    whole, first = choose(dataset, seed=2), choose(dataset, seed=2, difficulty=False)
    standing, scored = module.standing_of, []

    def noted(data, dataset, candidate, *rest):
        scored.append(candidate.name)
        return standing(data, dataset, candidate, *rest)

    monkeypatch.setattr(module, "standing_of", noted)
    both = choose(dataset, seed=2, known=first)
    assert scored == ["glad", "nominal-difficulty"] and not {*scored} & {*names(first)}
    assert first.dependence == both.dependence
    assert (both.chosen, both.reason) == (whole.chosen, whole.reason)
    assert choose(dataset, difficulty=False, independent=False).best.independent is None
    assert both.to_frame().equals(whole.to_frame())
    for one, other in zip(both.standings, whole.standings, strict=True):
        assert one.fit.to_frame().equals(other.fit.to_frame())


def many_classes(build, n_classes=16, n_raters=12):
    """800 cases by independent raters."""
    confusion = np.full((n_raters, n_classes, n_classes), 0.3 / (n_classes - 1))
    confusion[:, np.arange(n_classes), np.arange(n_classes)] = 0.7
    rows = simulated(2, 800, confusion, np.full(n_classes, 1 / n_classes), 4)[0]
    return build(rows, n_classes)


def test_what_few_annotations_do_to_beta_is_not_taken_for_dependence(build, monkeypatch):
    """Dawid-Skene alone, which has 2,895 parameters for 3,200 annotations."""
    dataset = many_classes(build)
    monkeypatch.setattr(
        module, "candidates_of", lambda data, difficulty: [method_named(RaterModelMethod, "dawid-skene")]
    )
    best = choose(dataset).best
    assert best.held.middle_beta < 0.8 and best.independent < 0.8
    excess = min(best.held.least_beta / best.independent, 1)
    assert best.beta == truth_beta(best.held.middle_beta, excess=excess) > truth_beta(best.held.middle_beta)
    assert best.doubt == truth_doubt(best.held.beta, excess=excess) < truth_doubt(best.held.beta)
    assert best.fit.class_probability == pytest.approx(
        fit_request(best.request(), dataset).fit.class_probability, abs=1e-12
    )


def test_only_what_opens_stands_beside_independent_raters(build, monkeypatch):
    """What opened among fewer candidates has its plain β again where another one opens among all."""
    dataset = build(simulated(1, 60, SHARP, (0.5, 0.3, 0.2), 4)[0], 3)
    monkeypatch.setattr(module, "independent_beta", lambda *given: 0.3)
    monkeypatch.setattr(module, "_simplest_of_the_best", lambda able, few: able[-1])
    first = choose(dataset, difficulty=False)
    whole, both = choose(dataset), choose(dataset, known=first)
    assert first.best.independent == 0.3 and first.chosen != whole.chosen == both.chosen == "nominal-difficulty"
    assert both.to_frame().equals(whole.to_frame())
    for one, other in zip(both.standings, whole.standings, strict=True):
        assert one.independent == other.independent and (one.independent is None or one is both.best)
        assert np.array_equal(one.fit.class_probability, other.fit.class_probability)


def test_where_no_model_by_em_can_open_one_with_difficulty_still_may(build, monkeypatch):
    dataset = build(simulated(3, 40, np.full((6, 2, 2), 0.2) + 0.6 * np.eye(2), (0.5, 0.5), 3)[0], 2)
    whole = choose(dataset)
    em = {one.candidate.name for one in whole.standings if "em" in one.candidate.ways}
    run_away = module._run_away
    monkeypatch.setattr(module, "_run_away", lambda data, fit: "Away." if fit.model in em else run_away(data, fit))
    first = choose(dataset, difficulty=False)
    assert first.best.candidate.name == "smoothed-vote"
    assert first.reason == f"Smoothed vote is shown first because no rater model can be used ({first_of(first)}: away)."
    both, alone = choose(dataset, known=first), choose(dataset)
    assert both.chosen == alone.chosen and both.chosen.startswith("difficulty")
    assert both.to_frame().equals(alone.to_frame())


def test_two_classes_have_no_class_conditional_and_have_difficulty_models(build):
    confusion = np.full((5, 2, 2), 0.2) + 0.6 * np.eye(2)
    dataset = build(simulated(1, 40, confusion, (0.6, 0.4), 4)[0], 2)
    found = choose(dataset)
    assert not {"class-conditional", "glad", "nominal-difficulty"} & set(names(found))
    assert {"difficulty-AB", "difficulty-ABC"} < set(names(found))
    assert "difficulty-AB" not in names(choose(dataset, difficulty=False))


def test_the_chosen_model_is_fitted_as_the_table_says(build):
    dataset = build(simulated(1, 100, SHARP, (0.5, 0.3, 0.2), 4)[0], 3)
    found = choose(dataset)
    fitted = fit_request(found.request(), dataset)
    assert fitted.fit.class_probability == pytest.approx(found.best.fit.class_probability, abs=1e-12)
    gold = np.full(100, -1, np.int32)
    gold[3] = 1
    known = fit_request(found.request(use_gold=True), replace(dataset, gold=gold))
    assert known.fit.class_probability[3].tolist() == [0, 1, 0]


def test_a_model_whose_prevalence_is_tempered_is_fitted_so_everywhere(build, monkeypatch):
    monkeypatch.setattr(held_out_module, "better_tempering", lambda plain, both: both)
    crowd = simulated(1, 100, SHARP, (0.8, 0.1, 0.1), 4)[0]
    dataset = build([(c, 2 * r + twin, a) for c, r, a in crowd for twin in (0, 1)], 3)
    found = choose(dataset, difficulty=False)
    assert found.best.shown_at == {"beta": found.best.beta, "doubt": found.best.doubt, "temper_prevalence": True}
    assert found.best.beta < 1
    fit = fit_request(found.request(), dataset).fit
    assert fit.class_probability == pytest.approx(found.best.fit.class_probability, abs=1e-12)
    plain = tempered(fit, dataset, fit.beta, doubt=found.best.doubt, temper_prevalence=False)
    assert np.abs(fit.class_probability - plain.class_probability).max() > 1e-3
    told = found.to_frame("models").set_index("model")["temper_prevalence"]
    assert told[found.chosen] and not told["majority"]


def test_gold_does_not_choose(build):
    rows, truth = simulated(1, 100, SHARP, (0.5, 0.3, 0.2), 4)
    dataset = build(rows, 3)
    plain, other = choose(dataset), choose(replace(dataset, gold=truth.astype(np.int32)))
    assert plain.reason == other.reason
    assert [each.held.score for each in plain.standings] == [each.held.score for each in other.standings]


def test_where_nothing_can_be_estimated_the_vote_opens_and_says_so(build):
    found = choose(build([(0, 0, 0), (1, 1, 1), (2, 0, 1)], 2))
    assert found.chosen == "majority" and found.n_hidden == 0
    assert found.reason.startswith(
        "Majority vote is shown first because no rater model can be estimated. Cannot determine"
    )
    assert all(each.held is None and each.excluded for each in found.standings if each.candidate is not MAJORITY)
    assert "no case has two annotations" in found.reason
    pairs = choose(build([(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 1, 0)], 2))
    assert pairs.chosen == "majority" and pairs.reason.endswith("left after some are held out.")
    with pytest.raises(NotApplicableError):
        choose(read(b"case,rater,rank,class\n1,ann,1,x\n1,ann,2,y\n1,bob,1,y\n").dataset)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)],
        [(case, rater, 0) for case in range(20) for rater in range(3)],
        [(case, rater, case % 2) for case in range(20) for rater in range(3)],
        [
            (case, rater, int(np.random.default_rng([case, rater]).integers(2)))
            for case in range(40)
            for rater in range(3)
        ],
        [(0, 0, 0), (0, 1, 1)],
    ],
    ids=["two cases", "one class", "unanimous", "noise", "one case"],
)
def test_small_and_degenerate_data_open_with_finite_numbers_and_a_reason(rows, build):
    found = choose(build(rows, 2))
    best = found.best
    assert not best.excluded
    assert found.reason.endswith(".") and ",." not in found.reason and ".." not in found.reason
    few = found.n_hidden < 30 and found.chosen != "majority"
    assert ("hardly enough to compare models." in found.reason) == few
    assert np.isfinite(best.fit.class_probability).all()
    for each in found.standings:
        if each.held is not None:
            assert np.isfinite([each.held.score, each.held.se, each.diff, each.diff_se]).all()


def test_a_common_class_may_open_where_the_annotations_agree_that_it_is_common(build):
    """Two classes, prevalence 0.99: named by 0.985 of annotations, so nothing has run away."""
    rng = np.random.default_rng(0)
    truth = (rng.random(600) < 0.01).astype(int)
    rows = [(c, r, int(truth[c] if rng.random() < 0.995 else 1 - truth[c])) for c in range(600) for r in range(3)]
    found = choose(build(rows, 2))
    assert not found.best.excluded and found.chosen != "majority"
    assert found.best.fit.prevalence[0] > 0.97


def test_a_model_that_loses_a_class_which_raters_name_opens_only_where_all_others_do(build, monkeypatch):
    dataset = build(simulated(1, 60, BLUNT, (0.5, 0.3, 0.2), 8)[0], 3)
    plain = choose(dataset, difficulty=False)
    share = np.bincount(dataset.answer, minlength=3) / dataset.n_annotations
    keep, losing = module.fit_request, {plain.chosen}

    def loses(asked, *arguments, **options):
        found = keep(asked, *arguments, **options)
        if asked.model not in losing:
            return found
        return replace(found, fit=replace(found.fit, prevalence=np.array([0.6, 0.3995, 0.0005])))

    monkeypatch.setattr(module, "fit_request", loses)
    found = choose(dataset, difficulty=False)
    out = next(each for each in found.standings if each.candidate.name == plain.chosen)
    assert found.chosen != plain.chosen
    assert f"assigns no case to a class that accounts for {share[2]:.0%}" in out.excluded
    losing |= {each.candidate.name for each in plain.standings if not each.by_vote}
    assert choose(dataset, difficulty=False).chosen == plain.chosen
    rare = build([(c, r, a) for c, r, a in simulated(1, 60, SHARP, (0.5, 0.5, 0), 4)[0] if a < 2] + [(0, 6, 2)], 3)
    losing.clear()
    losing.add("one-coin")  # of 180 annotations one names the class: too few to miss it
    assert all("no case is" not in each.excluded for each in choose(rare).standings)


def test_a_prevalence_that_runs_to_one_class_while_annotations_are_mixed_cannot_open(build, monkeypatch):
    dataset = build(simulated(1, 60, BLUNT, (0.5, 0.3, 0.2), 8)[0], 3)
    plain = choose(dataset)
    keep = module.fit_request

    def runs_away(asked, *arguments, **options):
        found = keep(asked, *arguments, **options)
        if asked.model != plain.best.candidate.name:
            return found
        return replace(found, fit=replace(found.fit, prevalence=np.array([1.0, 0.0, 0.0])))

    monkeypatch.setattr(module, "fit_request", runs_away)
    found = choose(dataset)
    out = [each for each in found.standings if each.candidate.name == plain.best.candidate.name]
    assert all("estimates a prevalence of nearly 100% for a class" in each.excluded for each in out)
    assert found.chosen not in {each.candidate.name for each in out}


def ranked(n_sets, *scored):
    """Which of two models opens: Dawid-Skene with 9 parameters or one coin with 3."""
    held = HeldOut(np.array([[-1.0], [-2.0], [-1.5]]), np.array([1, 1, 1]), np.ones(1))
    data = HeldOutData(None, (), n_sets, held.n_of_case, np.zeros(3, np.int8), np.arange(2))
    pair = zip(("dawid-skene", "one-coin"), (9, 3), scored, strict=True)
    return module._ranked(
        None,
        [
            Standing(
                method_named(RaterModelMethod, name), n, replace(held, by_case=held.by_case + np.array(apart)[:, None])
            )
            for name, n, apart in pair
        ],
        data,
        0,
        replace(held, by_case=held.by_case - 1),
    )


def test_equal_scores_open_with_fewer_parameters():
    found = ranked(1, [0, 0, 0], [-1e-7] * 3)
    assert found.chosen == "one-coin"
    assert "as well as Dawid-Skene" in found.reason
    assert ranked(1, [0, 0, 0], [-1e-4] * 3).chosen == "dawid-skene"
    assert ranked(4, [0, 0, 0], [-1e-4] * 3).chosen == "dawid-skene"  # always behind: the difference has no error


def test_where_little_is_held_out_scores_within_one_standard_error_open_with_fewer_parameters():
    behind = [-0.3, 0.25, -0.1]  # -0.05 ± 0.13 on average
    found = ranked(4, [0, 0, 0], behind)
    assert found.chosen == "one-coin" and found.best.diff == 0
    assert found.standings[0].candidate.name == "dawid-skene" and found.standings[0].diff > 0
    assert found.reason.startswith(
        "One coin predicts 3 held-out annotations as well as Dawid-Skene to within one standard error (−1.550 and "
        "−1.500 nats per annotation) and does not have more parameters."
    )
    assert ranked(1, [0, 0, 0], behind).chosen == "dawid-skene"
    assert ranked(4, behind, [0, 0, 0]).chosen == "one-coin"
    assert ranked(4, [0, 0, 0], [-0.3, 0.05, -0.2]).chosen == "dawid-skene"


def test_raters_who_copy_are_counted_by_families():
    alike = "agree more often than independent raters would, as if they copied each other"
    assert module._together((), 1200) == ""
    assert module._together((("a", "b", "c"),), 1200) == (
        f" 3 of 1,200 raters {alike}. Each of them was predicted without the others."
    )
    assert module._together((("a", "b", "c"), ("d", "e")), 7) == (
        f" 5 of 7 raters, in 2 groups, {alike}. Each rater was predicted without the rest of their group."
    )


def test_work_can_be_cancelled_and_tells_how_far_it_is(build):
    token, told = CancelToken(), []

    def progress(share):
        told.append(share)
        if share > 0.3:
            token.cancel()

    with pytest.raises(Cancelled):
        choose(build(random_rows(1), 3), token=token, progress=progress)
    assert told == sorted(told) and 0.3 < told[-1] < 0.5
