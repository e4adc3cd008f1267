"""The numbers of every command on the samples are those recorded: a changed number is a decision.

To record them anew after a decision: ``python -m tests.golden.make``.
"""

import copy
import json
import re

import pytest

from core.analyses.base import declared_modules
from core.command_line import main
from tests.golden.commands import commands
from tests.golden.compare import MOST_SE, Rule, compact, differences, spread_of
from tests.golden.make import NUMBERS, answer_of, file_of, kept, rule_of

COMMANDS = commands()
MOST_BYTES = 2_000_000


def recorded(name: str) -> dict:
    return json.loads(file_of(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_numbers_are_those_recorded(name, tmp_path):
    command, old = COMMANDS[name], recorded(name)
    assert old["command"] == list(command.arguments), "Record the numbers anew: python -m tests.golden.make"
    lines = differences(kept(old), answer_of(command, tmp_path), rule_of(command, old))
    shown = "\n".join(lines[:20])
    remedy = "Where that is right: python -m tests.golden.make"
    assert not lines, f"{len(lines)} numbers of '{name}' have changed:\n{shown}\n{remedy}"


def test_every_file_has_its_command_and_all_are_small():
    files = {path.name: path.stat().st_size for path in NUMBERS.iterdir()}
    assert set(files) == {file_of(name).name for name in COMMANDS}
    assert sum(files.values()) < MOST_BYTES


# They keep reviews and data safe, or write files of a server, and compute nothing.
OF_THE_STORE = {"access", "sign", "backup", "deploy", "erase", "people", "qualify", "restore", "upgrade", "verify"}


def test_every_command_and_every_model_has_its_numbers(capsys):
    for arguments, place, start in (
        (["--help"], 0, None),
        (["fit", "no-such-model", "caries"], 1, r"choose from|one of"),
        (["certainty", "no-such-model", "caries", "--reliability", "1"], 1, r"choose from|one of"),
        (["sweep", "no-such-model", "caries", "--reliabilities", "1"], 1, r"choose from|one of"),
    ):
        assert main(arguments) == (0 if start is None else 2)
        output = capsys.readouterr()
        if start is None:
            known = set(re.findall(r"(?m)^ {2,4}([a-z]+)(?: {2,}\S|$)", output.out))
        else:
            known = set(re.findall(r"[a-z]+(?:-[a-z]+)*", re.split(start, output.err.split("(see")[0])[1]))
        if place == 0:
            known -= OF_THE_STORE | set(declared_modules())  # whose tests hold their numbers
        assert len(known) >= 3
        assert known == {one.arguments[place] for one in COMMANDS.values() if place == 0 or one.name == arguments[0]}


# The comparison itself: what it must see, and what it must not.

ANSWER = {
    "model": "a",
    "n": 12,
    "converged": True,
    "mean": 0.731,
    "large": -812.5,
    "none": None,
    "classes": ["x", "y"],
    "raters": [{"rater": "R1", "accuracy": 0.9}, {"rater": "R2", "accuracy": 0.6}],
    "confusion": [[((7 * i + 3 * j) % 11) / 10 for j in range(8)] for i in range(8)],
    "names": [f"case {i}" for i in range(60)],
}
PLACES = ("mean", "large", "raters[1].accuracy", "confusion[5][6]")


def changed(place: str, change) -> dict:
    """The answer with one entry as ``change`` makes it."""
    answer = copy.deepcopy(ANSWER)
    *way, last = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", place)]
    inner = answer
    for step in way:
        inner = inner[step]
    inner[last] = change(inner[last])
    return answer


def lines(found: dict, rule: Rule, expected: dict = ANSWER, **more) -> list[str]:
    return differences(compact(expected), compact(found), rule, **more)


@pytest.mark.parametrize("kind", ["closed", "iterative"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_number_that_is_off_by_1e_4_of_itself_is_found(kind, place, sign):
    found = lines(changed(place, lambda value: value * (1 + sign * 1e-4)), Rule(kind))
    assert found
    assert all(line.startswith(place.split("[5]")[0]) for line in found)


@pytest.mark.parametrize(("kind", "unseen", "seen"), [("closed", 3e-9, 3e-8), ("iterative", 3e-6, 3e-5)])
@pytest.mark.parametrize("place", PLACES[:3])
def test_rounding_is_no_change(kind, unseen, seen, place):
    assert not lines(changed(place, lambda value: value * (1 + unseen)), Rule(kind))
    assert lines(changed(place, lambda value: value * (1 + seen)), Rule(kind))


def test_the_line_names_the_place_the_recorded_number_and_the_one_found():
    (line,) = lines(changed("raters[1].accuracy", lambda value: 0.7), Rule("iterative"))
    assert line.startswith("raters[1].accuracy: 0.6 is recorded, 0.7 found: 0.1 apart, 7e-06 allowed")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("n", 13, "n: 12 is recorded, 13 found"),
        ("n", 12.0, "n: 12 is recorded, 12.0 found"),
        ("model", "b", "model: 'a' is recorded, 'b' found"),
        ("converged", False, "converged: True is recorded, False found"),
        ("converged", 1, "converged: True is recorded, 1 found"),
        ("none", 0.0, "none: None is recorded, 0.0 found"),
        ("mean", None, "mean: 0.731 is recorded, None found"),
        ("classes[0]", "z", "classes[0]: 'x' is recorded, 'z' found"),
        ("names[59]", "case 60", "names.sha256"),
        ("confusion[7][7]", None, "confusion.n_null: 0 is recorded, 1 found"),
    ],
)
@pytest.mark.parametrize("rule", [Rule("closed"), Rule("iterative"), Rule("closed", {}, 12)])
def test_counts_text_and_kinds_must_be_the_same(place, value, words, rule):
    found = lines(changed(place, lambda _: value), rule)
    assert any(line.startswith(words) for line in found), found


def test_a_key_that_is_gone_is_a_difference_and_a_new_one_is_not():
    less = copy.deepcopy(ANSWER)
    del less["raters"][0]["accuracy"]
    assert lines(less, Rule("closed")) == ["raters[0].accuracy: 0.9 is recorded, the key is gone"]
    assert lines(ANSWER, Rule("closed"), expected=less) == []
    assert lines(ANSWER, Rule("closed"), expected=less, new_keys=False) == ["raters[0]: the key 'accuracy' is new"]


@pytest.mark.parametrize("change", [lambda value: value[:-1], lambda value: [*value, value[-1]]])
@pytest.mark.parametrize("place", ["raters", "classes", "confusion", "names"])
def test_a_list_of_another_length_is_a_difference(place, change):
    assert lines(changed(place, change), Rule("iterative"))


def test_entries_of_a_long_list_that_change_places_are_found():
    def swap(rows):
        rows[5], rows[6] = rows[6], rows[5]
        return rows

    found = lines(changed("confusion", swap), Rule("iterative"))
    assert [line.split(":")[0] for line in found] == ["confusion.wave"]


def test_the_numbers_of_a_chain_are_within_their_error():
    rule = Rule("closed", {"mean": (0.73, 0.01), "model": None}, 12)
    near, far = (changed("mean", lambda value, k=k: 0.73 + k * MOST_SE * 0.01) for k in (0.95, 1.1))
    assert not lines(near, rule)
    assert lines(far, rule)
    assert lines(changed("large", lambda value: value * (1 + 1e-7)), rule)
    assert not lines(ANSWER, Rule("closed", {"mean": (0.9, 0.0)}, 12))  # that of this seed alone


def test_words_with_the_numbers_of_a_chain_are_the_same_words():
    rule, said = Rule("closed", {"model": None}, 12), changed("model", lambda _: "R-hat 1.10 for rater 2")
    assert not lines(changed("model", lambda _: "R-hat 1.09 for rater 2"), rule, expected=said)
    assert lines(changed("model", lambda _: "R-hat 1.09 for case 2"), rule, expected=said)


def test_the_numbers_that_move_with_the_seed_are_measured():
    others = [compact(changed("mean", lambda value, k=k: value + k / 100)) for k in range(-2, 3)]
    assert spread_of(compact(ANSWER), [compact(ANSWER)] * 5) == {}
    assert list(spread_of(compact(ANSWER), others)) == ["mean"]
    assert spread_of(compact(ANSWER), others)["mean"] == pytest.approx((0.731, 0.015811388))
    gone = [{key: value for key, value in one.items() if key != "n"} for one in others]
    assert spread_of(compact(ANSWER), gone)["n"] is None


def test_a_number_that_is_not_finite_is_not_recorded():
    with pytest.raises(ValueError, match="not a number of JSON"):
        compact({"mean": float("nan")})
