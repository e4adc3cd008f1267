"""Sentences and tables on the order of items, on data where they are true and on data where they must not appear."""

import numpy as np
import pandas as pd
import pytest

from core import read
from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.bootstrap import bootstrap
from core.agreement.by_rater import by_rater
from core.agreement.coefficients import FLEISS_KAPPA
from core.agreement.differences import compare
from core.agreement.krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from core.agreement.pairs import pair_matrix
from core.agreement.specific import specific_agreement
from core.analyses.agreement import AGREEMENT
from core.analyses.blocks import Finding, Grid, Words
from core.analyses.comparisons import ORDER, agreement_on_pairs, lead, lead_of_raters
from core.analyses.models import MODELS
from core.analyses.raters import RATERS
from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.annotations.paired_items import COMPARED, NAMED_FIRST, PairedItems
from tests.core.models.test_comparisons import simulated
from tests.golden.screens import assert_recorded, digest_of

CLEAR = np.linspace(2, -2, 5)


def answered(dataset, name="items"):
    """The result, its blocks, and all words in them."""
    part = ORDER.part(name)
    assert part.applicable(dataset).possible
    found = part.answer(dataset)
    blocks = part.blocks(found, dataset)
    said = " ".join(str(getattr(one.text, "text", one.text)) if isinstance(one, Finding) else one.plain
                    for one in blocks if isinstance(one, Words | Finding))  # fmt: skip
    return found, blocks, said


def made(rows, head="winner,loser,rater"):
    return read("\n".join([head, *rows, ""]).encode()).dataset


def test_a_clear_order_is_called_clear():
    _, _, said = answered(simulated(1, 4_000, CLEAR, np.ones(6)))
    assert "item 0 is the strongest item (probability over 99%)" in said
    assert "Each item is clearly stronger than the next one." in said
    assert "Raters prefer the item shown" not in said and "groups of items" not in said


def test_noise_has_no_strongest_item_and_names_the_neighbours():
    found, _, said = answered(simulated(2, 300, np.zeros(5), np.ones(6)))
    assert said.startswith("No item is clearly the strongest: ")
    assert "items are not clearly stronger than the next one: " in said
    assert f"Together, the {found.fit.n_orders:,} most probable orders have a probability of 90%." in said


@pytest.mark.parametrize(("side", "which"), [(0.6, "first"), (-0.6, "second")])
def test_the_side_shown_first_is_said_when_it_matters(side, which):
    _, _, said = answered(simulated(3, 3_000, CLEAR, np.ones(6), side=side))
    assert f"Raters prefer the item shown {which}: between two equal items, they choose it in" in said


def test_a_rater_who_reverses_the_order_and_one_at_random_are_named():
    dataset = simulated(4, 6_000, CLEAR, [1.2, 1.2, 1.2, 1.2, -1.2, 0.0])
    found, _, said = answered(dataset, "raters")
    assert "rater 4 prefers the weaker items: check whether their annotations were swapped." in said
    assert "1 of 6 raters does not clearly prefer the stronger items: rater 5." in said
    table = ORDER.part("raters").frame(found, dataset)
    assert table["rater"].iloc[0] == "rater 4" and table["followed"].iloc[0] < 0.3 < table["followed"].iloc[-1]
    assert table["n"].sum() == dataset.n_annotations


def test_raters_who_prefer_the_stronger_items_are_not_named():
    found, *_ = answered(simulated(5, 4_000, CLEAR, np.ones(5)), "raters")
    assert lead_of_raters(found) == ["All raters clearly prefer the stronger items."]


def test_nobody_clearly_prefers_stronger_items_in_noise():
    for seed in range(5):
        found, *_ = answered(simulated(seed, 60, np.zeros(4), np.ones(4)), "raters")
        assert "All raters clearly prefer the stronger items." not in lead_of_raters(found)


def test_a_rater_with_one_comparison_does_not_clearly_prefer_the_stronger_items():
    rows = [f"{a},{b},{rater}" for a, b in ("ab", "ac", "bc", "ad", "bd", "cd") for rater in "rst" for _ in range(3)]
    _, _, said = answered(made([*rows, "a,d,once"]), "raters")
    assert said.startswith("1 of 4 raters does not clearly prefer the stronger items: once.")


def test_groups_that_no_comparison_connects_are_not_ordered():
    dataset = made(["a,b,r"] * 4 + ["b,a,s"] + ["c,d,r"] * 4 + ["d,c,s"])
    found, _, said = answered(dataset)
    assert "".join(map(str, lead(found))).startswith("Cannot order all items: ")
    assert "No comparisons connect the 2 groups of items" in said and "is the strongest" not in said
    assert len(ORDER.part("pairs").frame(found, dataset)) == 2
    assert list(ORDER.part("items").frame(found, dataset)["place"]) == [1, 2, 1, 2]


def test_few_comparisons_per_rater_are_cautioned():
    for n, few in ((40, True), (400, False)):
        _, _, said = answered(simulated(8, n, CLEAR, np.ones(6)))
        assert ("probabilities over 90% can be about 4 points too high" in said) == few


def test_two_items_have_no_circular_triads():
    _, _, said = answered(made(["a,b,r", "a,b,s", "b,a,t"]))
    assert "Cannot count circular triads: no three items were all compared with each other." in said


def test_preferences_in_a_circle_are_counted():
    rows = [row for rater in "rst" for row in (f"a,b,{rater}", f"b,c,{rater}", f"c,a,{rater}")]
    found, _, said = answered(made(rows))
    assert "Circular triads in all preferences combined: 1 of 1 (100%; 25% expected by chance, p = 1.000)" in said
    assert all(one.zeta == 0 for one in found.triads)


def test_agreement_on_pairs_does_not_depend_on_names():
    dataset = simulated(6, 800, CLEAR, np.ones(6))
    pairs = dataset.pairs.of_case.copy()
    pairs[[1, 3, 4]] = pairs[[1, 3, 4], ::-1]
    turned = Dataset(
        "turned", "class", dataset.cases, dataset.raters, COMPARED, dataset.case_ptr, dataset.rater,
        np.where(np.isin(dataset.case_of_annotation, [1, 3, 4]), 2 - dataset.answer, dataset.answer), ordinal=True,
        pairs=PairedItems(dataset.pairs.items, pairs),
    )  # fmt: skip
    assert agreement_on_pairs(turned) == pytest.approx(agreement_on_pairs(dataset), abs=1e-12)
    tables = [coefficients_for(each).coefficients for each in (dataset, turned)]
    for one, other in zip(*tables, strict=True):
        ours, theirs = ((each.value, each.ci_low, each.ci_high, each.n_cases) for each in (one, other))
        assert ours == pytest.approx(theirs, abs=1e-12), one.name
    assert agreement_on_pairs(dataset) == pytest.approx((tables[0][-1].value, *ours[1:3]), abs=1e-12)
    for name in (FLEISS_KAPPA, KRIPPENDORFF_ALPHA):
        without = [by_rater(each, name) for each in (dataset, turned)]
        assert without[0].without == pytest.approx(without[1].without, abs=1e-12)
        assert without[0].overall.value == pytest.approx(without[1].overall.value, abs=1e-12)
        assert without[0].each == without[1].each and without[0].n_cases_without == without[1].n_cases_without
    values = [pair_matrix(each, KRIPPENDORFF_ALPHA).value for each in (dataset, turned)]
    np.testing.assert_allclose(*values, atol=1e-12)
    assert krippendorff_alpha(turned, metric="ordinal").value != pytest.approx(
        krippendorff_alpha(dataset, metric="ordinal").value, abs=0.01
    )


def rows_of(n=160):
    """Positions of two items and a rater, and which side was preferred."""
    rng, strength, a = np.random.default_rng(3), np.linspace(1, -1, 6), np.linspace(0.5, 1.5, 5)
    found = []
    for _ in range(n):
        (i, j), rater = rng.choice(6, 2, replace=False), rng.integers(5)
        chance = np.exp(np.array([0.5, 0.0, -0.5]) * a[rater] * (strength[i] - strength[j])) * [1, 0.5, 1]
        found.append((i, j, rater, ["a", "tie", "b"][rng.choice(3, p=chance / chance.sum())]))
    return found


def named(rows, items, raters):
    text = [f"{items[i]},{items[j]},{winner},{raters[rater]}" for i, j, rater, winner in rows]
    return made(text, "model_a,model_b,winner,judge")


def numbers(dataset, items, raters):
    """All numbers that names must not change, with the names put back."""
    told = {f"{items[i]} | {items[j]}": (min(i, j), max(i, j)) for i in range(6) for j in range(6)}
    back = {name: place for names in (items, raters) for place, name in enumerate(names)}
    found = []
    for analysis in (ORDER, AGREEMENT):
        for part in analysis.parts:
            if part.applicable(dataset).possible and part.name != "pairs":
                frame = part.frame(part.answer(dataset), dataset).select_dtypes("number")
                key = part.frame(part.answer(dataset), dataset).iloc[:, 0].map(lambda x: told.get(x, back.get(x, x)))
                found.append(frame.set_index(key.astype(str)).sort_index(kind="stable").to_numpy(float))
    drawn = bootstrap(dataset, n_replicates=50)
    found.append(np.array([(one.value, one.se, one.ci_low, one.ci_high) for one in drawn.coefficients]))
    halves = (dataset.select(raters=[raters[rater] for rater in part]) for part in ((0, 1, 2), (2, 3, 4)))
    found.append(np.array([(one.value, one.se, one.ci_low) for one in compare(*halves, n_replicates=50)]))
    return found


@pytest.mark.parametrize("seed", [1, 2])
def test_names_of_items_and_raters_and_the_order_of_rows_change_no_number(seed):
    rng, rows = np.random.default_rng(seed), rows_of()
    items, raters = list("abcdef"), ["r1", "r2", "r3", "r4", "r5"]
    base = numbers(named(rows, items, raters), items, raters)
    other = [items[k] for k in rng.permutation(6)], [raters[k] for k in rng.permutation(5)]
    turned = numbers(named([rows[k] for k in rng.permutation(len(rows))], *other), *other)
    for one, two in zip(base, turned, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)


@pytest.mark.parametrize("analysis", [MODELS, RATERS])
def test_rater_models_say_that_they_depend_on_names_of_pairs_only(analysis):
    other = made([f"{k},{r},{'xy'[k % 2]}" for k in range(9) for r in "rst"], "case,rater,class")
    for dataset in (named(rows_of(), list("abcdef"), ["r1", "r2", "r3", "r4", "r5"]), other):
        part = analysis.parts[0] if analysis is RATERS else analysis.part("summary")
        shown = part.blocks(part.answer(dataset), dataset)
        assert any(one.plain == NAMED_FIRST for one in shown if isinstance(one, Words)) == dataset.compares


def test_resamples_of_pairs_are_the_coefficients_of_the_resampled_pairs():
    """Values on the data are those of the table, and errors those of pairs that count in both orders."""
    dataset = named(rows_of(), list("abcdef"), ["r1", "r2", "r3", "r4", "r5"])
    table = {(one.name, one.weights): one.value for one in coefficients_for(dataset).coefficients}
    for one in bootstrap(dataset, n_replicates=200).coefficients:
        if (one.name, one.weights) in table:
            assert one.value == pytest.approx(table[one.name, one.weights], abs=1e-9), one.name
    either, _, same = specific_agreement(dataset)
    counts = class_counts(dataset)
    dense = np.zeros((counts.n_cases, 3))
    dense[np.repeat(np.arange(counts.n_cases), np.diff(counts.ptr)), counts.class_code] = counts.count
    ends, n = dense[:, [0, 2]], dense.sum(axis=1)
    assert either == same and either.value == pytest.approx((ends * (ends - 1)).sum() / (ends.sum(1) * (n - 1)).sum())


def test_the_interval_of_agreement_on_pairs_is_as_wide_as_repeated_data_are():
    found = [agreement_on_pairs(simulated(seed, 150, np.linspace(1, -1, 9), np.ones(8))) for seed in range(150)]
    value, low, high = np.array(found).T
    half = 1.96 * value.std(ddof=1)
    assert np.median(high - low) / 2 == pytest.approx(half, rel=0.35)


def test_tables_have_the_columns_of_their_blocks_and_all_is_as_recorded(request):
    dataset, lines = simulated(7, 400, CLEAR, np.ones(4)), []
    for part in ORDER.parts:
        found, blocks, _ = answered(dataset, part.name)
        frame = part.frame(found, dataset)
        (grid,) = [one for one in blocks if isinstance(one, Grid)]
        pd.testing.assert_frame_equal(grid.table, frame)
        assert [column.name for column in grid.columns] == list(frame)
        lines.append(digest_of(blocks))
    assert_recorded(request, "parts/order", "a clear order", lines)
    pairs = ORDER.part("pairs").frame(found, dataset)
    assert len(pairs) == 10 and (pairs["above"] >= 0.5).all()
    assert (pairs["won"] + pairs["tied"] + pairs["lost"] == pairs["n"]).all() and pairs["n"].sum() == 400


def test_other_data_and_raters_without_names_are_refused_with_a_reason():
    plain = made(["1,a,x", "1,b,y"], "case,rater,class")
    assert ORDER.parts[0].applicable(plain).reason == "the cases are not pairs of items"
    anonymous = made(["a,b", "b,a"], "winner,loser")
    assert ORDER.parts[0].applicable(anonymous).possible
    assert ORDER.part("raters").applicable(anonymous).reason == "the annotations are anonymous"
    assert ORDER.part("raters").applicable(made(["a,b,r", "b,a,r"])).reason == "there is only one rater"


@pytest.mark.parametrize(
    "rows",
    [["a,b,r"], ["a,b,r", "b,c,r", "c,d,s"], [f"a{i},a{i + 1},r{i}" for i in range(30)], ["a,b,r"] * 50],
)
def test_awkward_data_are_answered_in_full(rows):
    dataset = made(rows)
    for part in ORDER.parts:
        if part.applicable(dataset).possible:
            found, _, said = answered(dataset, part.name)
            assert "nan" not in said and np.isfinite(part.frame(found, dataset).iloc[:, 2:5].to_numpy(float)).any()
