"""The qualification of an installation: it passes here, and fails for each thing that is planted wrong."""

import base64
import hashlib
import importlib.metadata
import json
from dataclasses import replace

import pytest

from core import qualify
from core.command_line import main
from core.qualify import Check, CheckGroup


def failed(checks):
    return [one.what for one in checks if one.passed is False]


def test_published_values_are_reproduced():
    group = qualify.check_published()
    assert failed(group.checks) == [] and len(group.checks) >= 20
    assert all(one.source for one in group.checks)
    assert {one.name for one in qualify.PUBLISHED} == set(qualify.published_numbers())


def test_a_wrong_published_value_fails():
    """The last printed digit of Fleiss' kappa is wrong by two."""
    wrong = [
        replace(one, value=one.value + 2e-7) if one.name == "Fleiss κ, 30 patients" else one
        for one in qualify.PUBLISHED
    ]
    assert failed(qualify.check_published(wrong).checks) == ["Fleiss κ, 30 patients"]


def test_a_wrong_coefficient_fails(monkeypatch):
    right = qualify.scott_pi
    monkeypatch.setattr(qualify, "scott_pi", lambda data: replace(right(data), value=right(data).value + 1e-6))
    assert failed(qualify.check_published().checks) == ["Scott π, two abstractors"]


def test_kernels_give_the_same_numbers_as_plain_python():
    assert failed(qualify.check_kernels().checks) == []


def test_a_kernel_that_differs_fails():
    found = list(qualify.compare_numbers({"a": 0.5, "b": 1.0, "c": 2.0}, {"a": 0.5, "b": 1.0 + 1e-7}))
    assert failed(found) == ["b", "c"]


@pytest.fixture
def wheel(tmp_path):
    """An installed package of two files."""
    package, about = tmp_path / "core", tmp_path / "plurality-9.dist-info"
    package.mkdir()
    about.mkdir()
    lines = ["plurality-9.dist-info/RECORD,,"]
    for name in ("__init__.py", "data.csv"):
        (package / name).write_bytes(name.encode())
        digest = base64.urlsafe_b64encode(hashlib.sha256(name.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"core/{name},sha256={digest},{len(name)}")
    (about / "RECORD").write_text("\n".join(lines))
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plurality\nVersion: 9\n")
    return importlib.metadata.PathDistribution(about)


def test_files_as_the_wheel_recorded_them_pass(wheel):
    (found,) = qualify.check_files(wheel)
    assert found.passed and found.expected == "2 files as recorded"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda folder: (folder / "data.csv").write_bytes(b"data.csw"), "core/data.csv"),
        (lambda folder: (folder / "data.csv").unlink(), "core/data.csv"),
        (lambda folder: (folder / "more.py").write_text(""), "core/more.py"),
    ],
    ids=["changed", "missing", "added"],
)
def test_a_file_that_is_not_as_recorded_fails(wheel, tmp_path, change, named):
    change(tmp_path / "core")
    whole, one = qualify.check_files(wheel)
    assert failed([whole, one]) == [whole.what, named]


def test_packages_are_compared_with_what_is_required_of_them():
    here = importlib.metadata.version("numpy")
    lines = ["# a comment", "", f"numpy=={here}  # why", "numpy<1", "no-such-package==1", 'gone==1; extra == "x"']
    found = list(qualify.check_packages(lines))
    assert [one.passed for one in found] == [True, False, False]
    assert found[2].found == "not installed"


def test_this_installation_has_the_packages_that_are_required():
    group = qualify.check_installation()
    assert failed(group.checks) == [] and len(group.checks) > 10
    assert group.checks[0].passed is None, "it runs from a folder"


def test_runs_that_differ_in_one_number_fail():
    first = {"value": 0.25, "rows": [{"a": 1}, {"a": 2}], "seconds": 1.0}
    second = json.loads(json.dumps(first)) | {"seconds": 2.0}
    assert qualify.compare_runs("fit", first, second).passed
    second["rows"][1]["a"] = 3
    found = qualify.compare_runs("fit", first, second)
    assert found.passed is False and found.found == "1 of 3 values differ"
    assert qualify.compare_runs("fit", "no raters", "no raters").passed is None
    assert qualify.compare_runs("fit", "no raters", first).passed is False


def test_a_file_of_which_nothing_can_be_computed_fails(monkeypatch):
    monkeypatch.setattr(qualify, "_answer", lambda arguments: "cannot be read")
    assert failed(qualify.check_repeated([["agreement", "x.csv"]]).checks) == ["Any command"]


def test_the_record_escapes_what_it_prints_and_has_lines_to_sign():
    groups = [CheckGroup("Repeated", "", (Check("<b>fit", "same", "2 differ", False, ""),))]
    text = qualify.to_html(groups, {"File": "<script>"}).decode()
    assert "1 check of 1 failed." in text and "&lt;b&gt;fit" in text and "<script>" not in text
    assert all(word in text for word in ("Name", "Date", "Signature", "FAILED"))


def test_the_command_runs_the_file_twice_with_its_options_and_ends_with_1_if_a_check_fails(
    tmp_path, monkeypatch, capsys
):
    file, out, seen = tmp_path / "own.csv", tmp_path / "record.html", []
    file.write_text("case,rater,class\na,x,1\na,y,2\nb,x,1\nb,y,1\n")

    def planted(commands, done):
        seen.extend(commands)
        return [CheckGroup("Repeated", "", (Check("agreement", "same", "differ", bool(len(seen) > 3)),))]

    monkeypatch.setattr(qualify, "qualify", planted)
    arguments = ["qualify", str(file), "--kind", "class", "--out", str(out)]
    assert main(arguments) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [row["check"] for row in answer["failed"]] == ["agreement"] and answer["ok"] is False
    assert [command[0] for command in seen] == ["agreement", "fit", "certainty"]
    assert all(command[-3:] == [str(file), "--kind", "class"] for command in seen)
    assert main(arguments) == 0 and "SHA-256 of the file" in out.read_text(encoding="utf-8")


def test_a_file_gives_the_same_numbers_twice(tmp_path):
    file = tmp_path / "own.csv"
    file.write_text("case,rater,class\na,x,1\na,y,2\nb,x,1\nb,y,1\nc,x,2\nc,y,2\n")
    (found,) = qualify.check_repeated([["agreement", str(file)]]).checks
    assert found.passed and found.found.endswith("values, all the same")
