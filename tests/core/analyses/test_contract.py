"""Every part of every analysis, on every sample: options, table and blocks belong together."""

from dataclasses import fields

import pytest

from core.analyses.agreement import AGREEMENT
from core.analyses.blocks import Download, Figure, Grid, OnPage, Remark, Strong, Words
from core.errors import InputError, PluralityError
from core.figures.theme import DARK, LIGHT
from core.ingest.samples import SAMPLES, load_sample
from core.report.page import printed

ANALYSES = (AGREEMENT,)
PARTS = [(analysis, part) for analysis in ANALYSES for part in analysis.parts]


def views(dataset):
    """The data as they are, and as single classes where they are none."""
    split = {"score": float(dataset.score.mean()) if dataset.kind == "score" else None}
    label = dataset.classes[0] if dataset.kind == "set" else None
    return dataset if dataset.kind == "class" else dataset.as_classes(split.get(dataset.kind, label))[0]


def every(blocks):
    """Blocks with all that they hold."""
    for block in blocks:
        yield block
        for stack in getattr(block, "stacks", ()):
            yield from every(stack.blocks)
        yield from every(getattr(block, "blocks", ()))
        if hasattr(block, "then"):
            yield from every(block.then(*(one.values[one.first] for one in block.controls)))


@pytest.mark.parametrize("sample", [sample.name for sample in SAMPLES])
@pytest.mark.parametrize(("analysis", "part"), PARTS, ids=lambda one: one.name)
def test_every_part_of_every_sample_has_a_table_and_can_be_drawn_and_printed(analysis, part, sample):
    """What a page lets somebody take away is the table that the command line gives."""
    whole = load_sample(sample)
    for dataset in {id(one): one for one in (whole, views(whole))}.values():
        if part.name != analysis.parts[0].name and dataset.kind != "class":
            continue
        verdict = part.applicable(dataset)
        if not verdict.possible:
            assert verdict.reason
            continue
        try:
            found = part.answer(dataset)
        except PluralityError as error:
            assert str(error)
            continue
        frame, blocks = part.frame(found, dataset), part.blocks(found, dataset)
        taken = [block for block in every(blocks) if isinstance(block, Download)]
        assert len(taken) == 1 and taken[0].table.equals(frame) and len(frame)
        keys = [block.key for block in every(blocks) if isinstance(block, Figure | Grid)]
        assert all(keys) and len(keys) == len(set(keys))
        for block in every(blocks):
            if isinstance(block, Grid):
                assert set(block.columns and [one.name for one in block.columns]) <= set(frame.columns)
                for column in block.columns:
                    assert {column.low, column.high} - {""} <= set(frame.columns)
            if isinstance(block, Figure):
                assert block.alt and block.draw(LIGHT).layout.title.text == block.draw(DARK).layout.title.text
        assert all(isinstance(block, Words | Figure | Grid) for block in printed(blocks))
        assert not any(
            "click" in block.plain or "Choose" in block.plain for block in printed(blocks) if isinstance(block, Words)
        )


@pytest.mark.parametrize(("analysis", "part"), PARTS, ids=lambda one: one.name)
def test_options_are_checked_by_what_is_said_of_them(analysis, part):
    with pytest.raises(InputError, match="has no option 'colour'"):
        part.resolve(colour="blue")
    for field in fields(part.options):
        option = field.metadata.get("option")
        if option is not None:
            with pytest.raises(InputError, match=option.label):
                part.resolve(**{field.name: "nonsense" if option.choices else 7})
            for choice in option.choices:
                assert getattr(part.resolve(**{field.name: choice}), field.name) == choice
                assert option.titles(choice)
    assert part.resolve() == part.options()


def test_words_are_plain_on_paper_and_say_nothing_of_the_page():
    words = Words((Strong("To quote:"), " α", OnPage("; choose a row"), Remark("few cases")))
    assert words.plain == "To quote: αfew cases."
