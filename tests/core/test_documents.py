"""What the documents say of the project is so: the list of layers, every path, and every public name."""

import re
import tomllib
from pathlib import Path

import pytest

from core.version import __version__
from tests.core.test_architecture import LAYERS

ROOT = Path(__file__).resolve().parents[2]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_layers_of_the_architecture_are_those_that_its_test_holds():
    section = text_of("ARCHITECTURE.md").split("## Layers")[1].split("\n## ")[0]
    bands = [line.split("|")[2] for line in section.splitlines() if line.startswith("| ")][1:]
    named = [name for band in bands for name in re.findall(r"`([\w.]+)`", band)]
    assert named == [name for names in LAYERS for name in names]


def test_the_architecture_fits_on_two_pages():
    assert len(text_of("ARCHITECTURE.md").split()) <= 1_000


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/pages/project/benchmarks.md"])
def test_every_path_that_a_document_names_is_there(name):
    """Paths without a placeholder, from the project's folder or from the folder that the text is about."""
    quoted = re.findall(r"`([\w./-]+)`", text_of(name))
    paths = [one for one in quoted if one.endswith((".py", ".md", ".yaml", ".lock", "/")) or one.startswith("tests/")]
    assert len(paths) >= 10
    below = [path.as_posix() for folder in ("core", "pages", "tests") for path in (ROOT / folder).rglob("*.py")]
    missing = [one for one in paths if not (ROOT / one).exists() and not any(p.endswith(f"/{one}") for p in below)]
    assert missing == []


PAGES = sorted({path.stem for path in (ROOT / "pages").glob("*.py")} - {"documentation"})


@pytest.mark.parametrize("page", PAGES)
def test_the_page_on_a_page_of_the_app_says_what_it_answers_what_can_mislead_and_has_questions(page):
    text = text_of(f"docs/pages/app/{page}.md")
    assert re.search(r"^# .+\n\n\*\*[^*]+\?\*\*$", text, re.M)
    assert re.search(r"^\*\*What can mislead\.\*\* \S", text, re.M)
    assert re.search(r"^\*\*Questions\.\*\* \*[^*]+\?\* \S", text, re.M)


@pytest.mark.parametrize("document", ["threat_model", "asvs"])
def test_every_test_that_a_document_on_security_names_is_there(document):
    text = text_of(f"docs/pages/operate/{document}.md")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 15
    assert [(file, name) for file, name in named if f"def {name}(" not in text_of(file)] == []
    assert [file for file in re.findall(r"`(tests/[\w/]+\.py)`", text) if not (ROOT / file).is_file()] == []


def test_every_requirement_of_the_first_level_is_gone_through_once():
    """The numbers of OWASP ASVS 5.0.0, level 1: so many in each section."""
    sections = {
        "1.2": 5, "1.3": 2, "1.5": 1, "2.1": 1, "2.2": 2, "2.3": 1, "3.2": 2, "3.3": 1, "3.4": 2, "3.5": 3, "4.1": 1,
        "4.4": 1, "5.2": 2, "5.3": 2, "6.1": 1, "6.2": 8, "6.3": 2, "6.4": 2, "7.2": 4, "7.4": 2, "8.1": 1, "8.2": 2,
        "8.3": 1, "9.1": 3, "9.2": 1, "10.4": 5, "11.3": 2, "11.4": 1, "12.1": 1, "12.2": 2, "13.4": 1, "14.2": 1,
        "14.3": 1, "15.1": 1, "15.2": 1, "15.3": 1,
    }  # fmt: skip
    wanted = [f"{section}.{place}" for section, n in sections.items() for place in range(1, n + 1)]
    found = []
    for first, last in re.findall(
        r"(?m)^\| (\d+\.\d+\.\d+)(?: to (\d+\.\d+\.\d+))? \|", text_of("docs/pages/operate/asvs.md")
    ):
        section, _, place = first.rpartition(".")
        end = int((last or first).rpartition(".")[2])
        found += [f"{section}.{number}" for number in range(int(place), end + 1)]
    assert found == wanted and len(found) == 70


def test_every_function_that_the_architecture_names_in_a_module_is_defined_there():
    for module, name in re.findall(r"`([\w/]+\.py): (\w+)`", text_of("ARCHITECTURE.md")):
        (path,) = [one for one in (ROOT / "core").rglob("*.py") if one.as_posix().endswith(f"/{module}")]
        assert re.search(rf"^(?:def|class) {name}\b", path.read_text(encoding="utf-8"), re.M), f"{module}: {name}"
    methods = re.findall(r"`([\w/]+\.py): (\w+)\.(\w+)`", text_of("ARCHITECTURE.md"))
    assert methods
    for module, kind, name in methods:
        (path,) = [one for one in (ROOT / "core").rglob("*.py") if one.as_posix().endswith(f"/{module}")]
        text = path.read_text(encoding="utf-8")
        assert f"class {kind}" in text and f"    def {name}(" in text


def pins(name):
    """Package to the versions that a file pins; a lock may have one for each version of Python."""
    found = {}
    for package, version in re.findall(r"^([\w.-]+)(?:\[\w+\])?==([\w.+-]+)", text_of(name), re.M):
        found.setdefault(package.lower().replace("_", "-"), set()).add(version)
    return found


EXTRAS = ("sampler", "cluster", "team")
LISTS = ("requirements.txt", *(f"requirements/{extra}.txt" for extra in EXTRAS))


LOCKS = {"requirements.lock": LISTS, "tests/requirements.lock": ("tests/requirements.txt",)}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_every_pin_with_hashes_and_names_no_registry(name):
    files = LOCKS[name]
    lock, wanted = pins(name), {package: one for file in files for package, one in pins(file).items()}
    assert len(wanted) >= 10
    assert {package: lock.get(package) for package in wanted} == wanted
    text = text_of(name)
    for entry in re.split(r"^(?=[\w-]+==)", text, flags=re.M)[1:]:
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    assert not re.search(r"://|--(?:extra-)?index|--find-links", text)
    compiled = "#    uv pip compile --universal --generate-hashes --python-version 3.11"
    assert f"{compiled} {' '.join(files)} -o {name}" in text


def test_the_files_of_requirements_are_the_extras_of_the_wheel_and_the_tests_install_all_of_them():
    extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(EXTRAS) == set(extras) - {"word"}
    assert {f"-r ../{file}" for file in LISTS} <= set(text_of("tests/requirements.txt").splitlines())
    for extra in ("sampler", "cluster"):  # sign-in, the other part of team, is the dashboard's
        assert {re.match(r"[\w-]+", one)[0] for one in extras[extra]} == set(pins(f"requirements/{extra}.txt"))


def test_both_locks_have_the_same_versions():
    app, tests = pins("requirements.lock"), pins("tests/requirements.lock")
    assert {package: tests.get(package) for package in app} == app


def versions_of(changelog):
    """Bullets of each version, the newest first."""
    parts = re.split(r"^## (\S+) \(.+\)$", changelog, flags=re.M)[1:]
    return {version: re.findall(r"^- (.+)$", text, re.M) for version, text in zip(parts[::2], parts[1::2], strict=True)}


def test_the_changelog_begins_with_this_version_and_each_has_at_most_forty_entries_of_twenty_words():
    versions = versions_of(text_of("CHANGELOG.md"))
    assert next(iter(versions)) == __version__
    assert {version: len(entries) for version, entries in versions.items() if len(entries) > 40} == {}
    assert [one for entries in versions.values() for one in entries if len(one.split()) > 20] == []


def test_citation_and_recipe_have_the_version_and_what_the_wheel_needs():
    (date,) = re.findall(rf"^## {re.escape(__version__)} \((\S+)\)$", text_of("CHANGELOG.md"), re.M)
    assert f"\nversion: {__version__}\ndate-released: {date}\n" in text_of("CITATION.cff")
    recipe = text_of("recipe/meta.yaml")
    assert f'{{% set version = "{__version__}" %}}' in recipe
    needed = tomllib.loads(text_of("pyproject.toml"))["project"]["dependencies"]
    run = recipe.split("  run:\n")[1].split("\n\n")[0]
    assert [line.strip(" -").replace(" ", "") for line in run.splitlines()[1:]] == needed


def test_every_source_that_the_paper_cites_is_in_its_list_and_the_other_way_round():
    cited = set(re.findall(r"@([\w-]+)", text_of("paper/paper.md").split("---", 2)[2]))
    assert cited == set(re.findall(r"(?m)^@\w+\{([\w-]+),", text_of("paper/paper.bib")))


def test_every_fragment_of_the_changelog_has_a_known_type_and_at_most_twenty_words():
    known = {one["directory"] for one in tomllib.loads(text_of("pyproject.toml"))["tool"]["towncrier"]["type"]}
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    for path in fragments:
        name, kind, end = path.name.rsplit(".", 2)
        assert name.startswith("+") and kind in known and end == "md", path.name
        assert 0 < len(path.read_text(encoding="utf-8").split()) <= 20, path.name


MEASURED = re.compile(r"\d[\d.,]*[ \n](?:GB|MB|bytes|seconds|minutes|milliseconds|nanoseconds|processor seconds)\b")
MADE = ("methods", "threat_model", "asvs", "commands", "glossary")  # by the program, or with a test on every line


def without_a_command(text):
    """Numbers of sections that name no script of the benchmarks and no measurement of disk space."""
    scripts = "|".join(path.stem for path in (ROOT / "tests" / "benchmarks").rglob("*.py"))
    command = re.compile(rf"`[^`]*(?:\b(?:{scripts})\.py\b|du -sm )[^`]*`")
    sections = re.split(r"(?m)^#+ ", text)
    return [one for section in sections if not command.search(section) for one in MEASURED.findall(section)]


@pytest.mark.parametrize(
    "page",
    [
        name
        for path in [ROOT / "README.md", *sorted((ROOT / "docs" / "pages").rglob("*.md"))]
        if not any(part in (name := path.relative_to(ROOT).as_posix()) for part in MADE)
    ],
)
def test_every_measured_number_is_in_a_section_that_names_its_command(page):
    assert without_a_command(text_of(page)) == []


def test_a_number_without_a_command_is_found():
    assert without_a_command("# Speed\n\nIt takes 3.5 seconds.\n\n# Disk\n\n2 MB (`du -sm .venv`)\n") == ["3.5 seconds"]
