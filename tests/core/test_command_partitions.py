"""Commands with ``--partitions`` answer what they answer in memory."""

import json

import pytest

from core.command_line import main
from core.commands import partitioned
from core.ingest.samples import read_sample

NOT_THE_SAME = {"seconds", "digest", "partitions", "n_dropped", "name", "n_cases_scored"}
IN_MEMORY_ALONE = {"uncertain", "more_raters"}  # they need the largest panel of all partitions


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The sample of caries as Parquet."""
    path = tmp_path_factory.mktemp("file") / "caries.parquet"
    read_sample("caries").dataset.to_frame().to_parquet(path, index=False)
    return path


def said(capsys, *arguments):
    assert main(list(map(str, arguments))) == 0
    return json.loads(capsys.readouterr().out)


def assert_alike(found, expected, where=""):
    """Equal trees, numbers to 1e-9."""
    if isinstance(expected, dict):
        assert found.keys() - NOT_THE_SAME == expected.keys() - NOT_THE_SAME, where
        for key in expected.keys() - NOT_THE_SAME:
            assert_alike(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-9), where
    else:
        assert found == expected, where


@pytest.mark.parametrize(
    "arguments",
    [
        ["describe", "FILE"],
        ["agreement", "FILE"],
        ["agreement", "FILE", "--weights", "linear", "--level", "0.9"],
        ["fit", "dawid-skene", "FILE", "--beta", "0.5", "--cases-out", "OUT"],
        ["choose", "FILE"],
        ["certainty", "dirichlet", "FILE", "--reliability", "2", "--draws", "20", "--top", "1", "--cases-out", "OUT"],
        ["sweep", "dirichlet", "FILE", "--reliabilities", "1,3", "--draws", "20", "--top", "2"],
    ],
    ids=" ".join,
)
def test_a_command_answers_what_it_answers_in_memory(path, tmp_path, capsys, arguments):
    tables, answers = [], []
    for number, more in enumerate(([], ["--partitions", "4"])):
        out = tmp_path / f"{number}.csv"
        answers.append(said(capsys, *[{"FILE": path, "OUT": out}.get(one, one) for one in arguments], *more))
        tables.append(sorted(out.read_bytes().splitlines()) if out.exists() else [])
    assert_alike(answers[1], {name: answers[0][name] for name in answers[0].keys() - IN_MEMORY_ALONE})
    assert answers[1]["partitions"] == 4 and len(tables[0]) == len(tables[1])
    for one, other in zip(*tables, strict=True):
        names = [line.split(b",")[0] for line in (one, other)]
        assert names[0] == names[1]


def test_data_that_do_not_fit_are_worked_on_in_partitions_without_being_asked(path, capsys, monkeypatch):
    monkeypatch.setattr(partitioned, "free_memory", lambda: 1000)
    assert main(["describe", str(path)]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["partitions"] == 1
    assert "too many for" in shown.err


def test_models_are_chosen_by_some_of_the_cases_where_there_are_too_many(path, capsys, monkeypatch):
    monkeypatch.setattr(partitioned, "MOST_CHOSEN_BY", 10_000)
    assert main(["choose", str(path), "--partitions", "4"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert 1_800 < found["n_cases_scored"] < 2_100
    assert f"scored on {found['n_cases_scored']:,} of 3,869 cases" in shown.err
    assert "annotations on these cases (3,870 on all cases)" in shown.err  # each of five dentists annotated each case


def test_what_partitions_do_not_take_is_refused(path, capsys):
    for more, why in (
        (["agreement", "FILE", "--ordinal"], "--ordinal"),
        (["fit", "auto", "FILE"], "auto"),
        (["fit", "dawid-skene", "FILE", "--intervals"], "--intervals"),
        (["fit", "glad", "FILE"], "not available for partitioned data"),
    ):
        assert main([*[str(path) if one == "FILE" else one for one in more], "--partitions", "2"]) == 2
        assert why in capsys.readouterr().err
    assert main(["describe", "caries", "--partitions", "2"]) == 2
