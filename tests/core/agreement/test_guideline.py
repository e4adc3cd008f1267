"""Pairs of classes that raters confuse: shares by loops, planted confusions, and mergers."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.agreement.coefficients import agreement_table
from core.agreement.guideline import information, merge_classes, merged_joint, review_guideline
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.specific import specific_agreement
from core.analyses.blocks import Selector, Slot, Words
from core.analyses.guideline import GUIDELINE, large_groups, lead, truth_of
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.raters.groups import RaterFacts
from tests.core.agreement.guideline_simulated import in_groups, simulated


def reviewed(dataset, **how):
    return review_guideline(dataset, truth_of(dataset), **{"n_resamples": 40, **how})


def pair_of(found, first, second):
    return next(one for one in found.pairs if (one.first, one.second) == (first, second))


def coincidences(dataset):
    """Off-diagonal coincidences by loops over every two annotations of a case."""
    found = {}
    for case in range(dataset.n_cases):
        said = dataset.answer[dataset.case_ptr[case] : dataset.case_ptr[case + 1]].tolist()
        for a, b in combinations(said, 2):
            if a != b:
                key = tuple(sorted((a, b)))
                found[key] = found.get(key, 0) + 2 / (len(said) - 1)
    return found


def both_guidelines(everybody):
    """Cases of a first guideline, and from day 50 of another one under which the classes A and B are confused less."""
    one, two = simulated(6), simulated(7, everybody=everybody)
    day = 50 * 86_400
    parts = [one.select(until=day), two.select(since=day)]
    cases = [f"{side} {name}" for side, part in enumerate(parts) for name in part.cases]
    rows = [np.concatenate([getattr(part, name) for part in parts]) for name in ("rater", "answer", "time")]
    of_case = np.concatenate([parts[0].case_of_annotation, parts[1].case_of_annotation + parts[0].n_cases])
    return Dataset.from_classes("both", cases, one.raters, one.classes, of_case, *rows)


def thinned(dataset, seed=0):
    """Some annotations gone, so that cases differ in size."""
    kept = np.random.default_rng(seed).random(dataset.n_annotations) < 0.7
    return Dataset.from_classes(
        "thin", dataset.cases, dataset.raters, dataset.classes, dataset.case_of_annotation[kept], dataset.rater[kept],
        dataset.answer[kept],
    )  # fmt: skip


def test_shares_of_disagreement_are_those_of_loops_and_add_up_to_1():
    dataset = thinned(simulated(3))
    found, loops = reviewed(dataset), coincidences(dataset)
    assert sum(one.share.value for one in found.pairs) == pytest.approx(1)
    for one in found.pairs:
        key = dataset.classes.index(one.first), dataset.classes.index(one.second)
        assert one.share.value == pytest.approx(loops[key] / sum(loops.values()))
        assert one.share.low <= one.share.value <= one.share.high


def test_alpha_of_a_merger_and_of_two_classes_is_krippendorffs():
    dataset = thinned(simulated(4))
    for one in reviewed(dataset).pairs[:3]:
        merged = krippendorff_alpha(class_counts(merge_classes(dataset, one.first, one.second)))
        assert one.alpha_merged == pytest.approx(merged.value)
        kept = np.isin(dataset.answer, [dataset.classes.index(name) for name in (one.first, one.second)])
        of_two = Dataset.from_classes(
            "two", dataset.cases, dataset.raters, dataset.classes, dataset.case_of_annotation[kept],
            dataset.rater[kept], dataset.answer[kept],
        )  # fmt: skip
        assert one.told_apart == pytest.approx(krippendorff_alpha(class_counts(of_two)).value)


def test_information_and_its_loss_are_those_of_loops():
    joint = np.random.default_rng(0).random((1, 4, 4))

    def slow(table):
        p = table / table.sum()
        rows, columns = p.sum(axis=1), p.sum(axis=0)
        cells = [(i, j) for i in range(len(p)) for j in range(len(p))]
        return sum(p[i, j] * np.log(p[i, j] / rows[i] / columns[j]) for i, j in cells)

    assert information(joint)[0] == pytest.approx(slow(joint[0]))
    merged = np.zeros((3, 3))
    for i, j in np.ndindex(4, 4):
        merged[{3: 1}.get(i, i), {3: 1}.get(j, j)] += joint[0, i, j]
    assert merged_joint(joint, 1, 3)[0] == pytest.approx(merged)
    assert 0 <= information(merged_joint(joint, 1, 3))[0] <= information(joint)[0]


@pytest.mark.parametrize("n_raters", [3, 5, 8])
def test_what_everybody_confuses_and_what_one_rater_does_are_told_apart(n_raters):
    """At least 90% of simulated sets."""
    right = 0
    for seed in range(30):
        found = reviewed(simulated(seed, n_raters=n_raters), n_resamples=20)
        everybody, one = pair_of(found, "A", "B"), pair_of(found, "C", "D")
        right += everybody.who == "everybody" and one.who == "one rater" and one.raters == ("R0",)
    assert right >= 27


def test_advice_follows_who_confuses_and_what_is_lost():
    found = reviewed(simulated(1))
    assert pair_of(found, "A", "B").advice in ("merge", "rewrite")
    assert pair_of(found, "C", "D").advice == "train"
    assert all(one.advice == "none" for one in found.pairs if "E" in (one.first, one.second))
    words = "".join(part if isinstance(part, str) else part.text for part in lead(found))
    assert words.startswith("Confusion between “A” and “B” accounts for") and "is not due to a single rater" in words


def test_ordered_classes_merge_only_with_neighbours():
    dataset = simulated(1, everybody=0.5)
    assert pair_of(reviewed(dataset), "A", "B").advice == "merge"
    apart = replace(
        dataset, classes=tuple("ACBDE"), answer=np.array([0, 2, 1, 3, 4], np.int32)[dataset.answer],
        gold=None, ordinal=True,
    )  # fmt: skip
    assert pair_of(reviewed(apart), "A", "B").advice == "rewrite"
    with pytest.raises(InputError, match="only with their neighbours"):
        merge_classes(apart, "A", "B")


def test_nothing_is_advised_where_raters_do_not_agree_beyond_chance():
    rng = np.random.default_rng(0)
    case, rater = np.indices((80, 4))
    noise = Dataset.from_classes(
        "noise", [f"c{i}" for i in range(80)], list("abcd"), list("xyz"), case.ravel(), rater.ravel(),
        rng.integers(0, 3, 320),
    )  # fmt: skip
    found = reviewed(noise)
    assert found.by_chance and {one.advice for one in found.pairs} == {"none"} and not found.broad
    assert "not clearly better than chance" in str(lead(found)[-1])


def test_two_raters_leave_unknown_who_confuses():
    assert {one.who for one in reviewed(simulated(2, n_raters=2)).pairs} == {"unknown"}


def test_cases_shown_have_both_classes():
    dataset = simulated(5)
    pair = pair_of(reviewed(dataset), "A", "B")
    assert len(pair.cases) == 5
    for name in pair.cases:
        case = dataset.cases.index(name)
        said = dataset.answer[dataset.case_ptr[case] : dataset.case_ptr[case + 1]]
        assert {0, 1} <= set(said.tolist())


def test_before_and_after_are_the_disagreement_of_each_side():
    """The second half is annotated without the confusion of A and B."""
    day = 50 * 86_400
    one, both = simulated(6), both_guidelines(everybody=0.0)
    before = one.select(until=day)
    pair = pair_of(reviewed(both, since=day), "A", "B")
    loops = coincidences(before)[0, 1] / before.n_annotations
    assert pair.before.value == pytest.approx(loops)
    assert pair.change.value == pytest.approx(pair.after.value - pair.before.value) and pair.change.high < 0
    with pytest.raises(NotApplicableError, match="no dates"):
        reviewed(replace(both, time=None), since=day)


def test_a_version_of_the_guideline_is_compared_as_a_date_is():
    day = 50 * 86_400
    both = both_guidelines(everybody=0.0)
    versions = tuple("v2" if name.startswith("1") else "v1" for name in both.cases)
    by_date, by_version = reviewed(both, since=day), reviewed(replace(both, case_group=versions), version="v2")
    assert [one.change for one in by_version.pairs] == [one.change for one in by_date.pairs]
    assert by_version.changes == by_date.changes
    with pytest.raises(InputError, match="Use one of v1, v2"):
        reviewed(replace(both, case_group=versions), version="v3")
    with pytest.raises(NotApplicableError, match="no groups"):
        reviewed(both, version="v2")
    part = GUIDELINE.parts[0].with_options(version="v2")
    dataset = replace(both, case_group=versions)
    plain = " ".join(b.plain for b in part.blocks(part.answer(dataset), dataset) if isinstance(b, Words))
    assert "of annotation pairs in versions other than v2, and on" in plain


def test_agreement_on_each_class_before_and_after_is_specific_agreement():
    day = 50 * 86_400
    both = both_guidelines(everybody=0.0)
    whole, *classes = reviewed(both, since=day).changes
    for side, part in (("before", both.select(until=day)), ("after", both.select(since=day))):
        for one, other in zip(classes, specific_agreement(part), strict=True):
            assert getattr(one, side).value == pytest.approx(other.value)
        assert getattr(whole, side).value == pytest.approx(agreement_table(class_counts(part))[0].value)
    clear = {one.name for one in classes if one.change.low > 0 or one.change.high < 0}
    assert {"A", "B"} <= clear and whole.change.low > 0
    assert not reviewed(both).changes


def test_classes_that_only_one_group_confuses_are_said_to_be_so():
    for seed in range(20):
        dataset, groups = in_groups(seed, 0.02)
        pair = pair_of(reviewed(dataset, groups=groups), "A", "B")
        assert (pair.who, pair.group, pair.raters, pair.advice) == ("one group", "region: north", (), "train")
        assert pair_of(reviewed(dataset), "A", "B").who != "one group"
    found = reviewed(dataset, groups=groups)
    assert "Without raters with region: north, this disagreement falls by half or more." in Words(lead(found)).plain


def test_no_group_is_named_for_what_everybody_confuses():
    named = 0
    for seed in range(40):
        dataset, _ = in_groups(seed, 0.35)
        rng = np.random.default_rng(seed)
        groups = {f"fact: {k}": rng.permutation(20) < 10 for k in range(4)}
        named += sum(one.who == "one group" for one in reviewed(dataset, groups=groups).pairs)
    assert named <= 2


def test_groups_of_fewer_than_eight_raters_are_not_looked_at():
    facts = RaterFacts(("region",), (("north",) * 8 + ("south",) * 7 + ("",) * 5,))
    assert not large_groups(facts)
    facts = RaterFacts(("region",), (("north",) * 8 + ("south",) * 8 + ("",) * 4,))
    assert list(large_groups(facts)) == ["region: north", "region: south"]


def test_a_merger_moves_annotations_gold_and_names():
    dataset = simulated(8)
    merged = merge_classes(dataset, "D", "B")
    assert merged.classes == ("A", "B / D", "C", "E")
    assert merged.n_annotations == dataset.n_annotations and merged.digest != dataset.digest
    names = [merged.classes[code] for code in merged.answer]
    before = [{"B": "B / D", "D": "B / D"}.get(dataset.classes[code], dataset.classes[code]) for code in dataset.answer]
    assert names == before
    assert [merged.classes[code] for code in merged.gold[:20]] == [
        {"B": "B / D", "D": "B / D"}.get(dataset.classes[code], dataset.classes[code]) for code in dataset.gold[:20]
    ]
    assert merge_classes(dataset, "A", "B", "either").classes[0] == "either"
    for first, second, name, words in (
        ("A", "X", "", "Unknown class 'X'"),
        ("A", "A", "", "with itself"),
        ("A", "B", "E", "already"),
    ):
        with pytest.raises(InputError, match=words):
            merge_classes(dataset, first, second, name)
    percent = agreement_table(class_counts(merged))[0].value
    assert percent >= agreement_table(class_counts(dataset))[0].value


def test_what_cannot_be_reviewed_is_refused_in_words():
    case = np.arange(4)
    alone = Dataset.from_classes("one", list("abcd"), ["r"], ["x", "y"], case, case * 0, case % 2)
    with pytest.raises(NotApplicableError, match="no case has two annotations"):
        review_guideline(alone, np.full((4, 2), 0.5))
    both = Dataset.from_classes(
        "with itself", list("ab"), ["r", "s"], ["x", "y"], [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]
    )
    with pytest.raises(NotApplicableError, match="never disagree"):
        review_guideline(both, np.full((2, 2), 0.5))


def test_each_pair_shows_who_confuses_it_what_a_merger_does_and_its_votes():
    dataset, (part,) = simulated(1), GUIDELINE.parts
    found = part.answer(dataset)
    (selector,) = (block for block in part.blocks(found, dataset) if isinstance(block, Selector))
    for place, pair in enumerate(found.pairs):
        words, *_, grid, slot = selector.then(place)
        assert f"α is {pair.alpha_merged:.2f} instead of {found.alpha:.2f}." in words.plain
        assert isinstance(slot, Slot) and slot.about == (pair.first, pair.second)
        assert grid.table["case"].tolist() == list(pair.cases)
        for case, votes in zip(pair.cases, grid.table["annotations"], strict=True):
            at = dataset.cases.index(case)
            said = dataset.answer[dataset.case_ptr[at] : dataset.case_ptr[at + 1]]
            counts = {name: int((said == code).sum()) for code, name in enumerate(dataset.classes)}
            assert {part.split(" × ")[1]: int(part.split(" × ")[0]) for part in votes.split(", ")} == {
                name: n for name, n in counts.items() if n
            }
    one = next(place for place, pair in enumerate(found.pairs) if pair.who == "one rater")
    assert selector.then(one)[0].plain.startswith("These classes are confused mostly by R0. If the classes are merged")


def test_before_and_after_are_said_as_a_change_only_if_it_is_clear():
    better = both_guidelines(everybody=0.0)
    same = both_guidelines(everybody=0.35)
    day = 50 * 86_400
    for dataset, wanted in ((better, "1970 on; difference: −"), (same, "1970 on; no clear difference: ")):
        part = GUIDELINE.parts[0].with_options(since=day)
        found = part.answer(dataset)
        (selector,) = (block for block in part.blocks(found, dataset) if isinstance(block, Selector))
        place = [(one.first, one.second) for one in found.pairs].index(("A", "B"))
        assert wanted in selector.then(place)[1].plain and "20 Feb 1970" in selector.then(place)[1].plain
    part = GUIDELINE.parts[0].with_options(since=10**9)
    (selector,) = (block for block in part.blocks(part.answer(same), same) if isinstance(block, Selector))
    assert "one of the two groups has no cases" in selector.then(0)[1].plain


def test_a_class_that_everybody_confuses_with_several_is_named_to_be_split():
    found = replace(reviewed(simulated(1)), broad=("E",))
    assert Words(lead(found)).plain.endswith(
        " Split or describe more clearly: E, which all raters confuse with more than one other class."
    )
    assert "Split" not in Words(lead(reviewed(simulated(1)))).plain
