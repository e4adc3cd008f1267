"""Write the pages of the documentation that repeat what the program says of itself.

Run: python docs/make_reference.py
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import click  # noqa: E402 - found next to the package only once the folder is known

from core.command_line import _cli  # noqa: E402
from core.glossary import GLOSSARY  # noqa: E402
from core.ingest.formats.detect import formats  # noqa: E402
from core.methods import Method, methods  # noqa: E402

PAGES = ROOT / "docs" / "pages"
_TITLES = {
    "coefficient": "Coefficients of agreement",
    "rater model": "Rater models",
    "plausibility": "Plausibility models",
    "analysis": "Other analyses",
}
_KINDS = {"class": "single classes", "ranking": "rankings", "set": "sets of labels", "score": "scores"}


def pages() -> dict[str, str]:
    """Text of each page by its path below the folder of pages."""
    found = {"reference/commands.md": commands(), "reference/formats.md": readers(), "reference/glossary.md": glossary()}
    for family, title in _TITLES.items():
        found[f"methods/{family.replace(' ', '_')}.md"] = family_page(family, title)
    return found


def commands() -> str:
    """Help of every command."""
    lines = [
        "# Command line",
        "",
        "Run each command with `python -m core` from the folder of the program. Results are JSON, or CSV with `--csv`.",
        "Messages go to standard error. The exit status is 0, or 2 with one line if the input cannot be used.",
        "",
    ]
    program = _cli()
    context = click.Context(program, info_name="python -m core")
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        shown = click.Context(command, info_name=f"python -m core {name}", terminal_width=96, max_content_width=96)
        lines += [f"## {name}", "", "```text", command.get_help(shown).strip(), "```", ""]
    return "\n".join(lines)


def readers() -> str:
    """Formats that are recognised."""
    listed = [f"- {title}" for title in formats().values()]
    return "\n".join(
        [
            "# File formats",
            "",
            "Plurality recognises these formats by their content. Tables may be CSV, TSV, Excel, Parquet or Feather, and may",
            "be compressed or zipped. Several files can be opened together. Every row is used, or listed with its line and the",
            "reason why it was left out.",
            "",
            *listed,
            "",
            "A file of gold needs a case and a class. A file of predictions has one row per case with a probability per class,",
            "or one row per case, class and probability.",
            "",
        ]
    )


def glossary() -> str:
    """Terms, each in a plain and in an exact sentence."""
    lines = ["# Glossary", ""]
    for name, term in sorted(GLOSSARY.items(), key=lambda entry: entry[0].casefold()):
        lines += [f"## {name[0].upper()}{name[1:]}", "", term.plainly, "", term.exactly, ""]
    return "\n".join(lines)


def family_page(family: str, title: str) -> str:
    """Methods of a family."""
    lines = [f"# {title}", ""]
    for method in sorted(methods(family).values(), key=lambda one: one.title):
        lines += [f"## {method.title}", "", *_described(method)]
    return "\n".join(lines)


def meaning(option) -> str:
    """Return the label of an option and what it means; the meaning alone if it begins with the same word."""
    help = option.help[:1].upper() + option.help[1:]
    same = help.split()[0].lower() == option.label.split()[0].lower()
    return help if same else f"{option.label}: {option.help}"


def _described(method: Method) -> Iterator[str]:
    yield from (method.plainly, "", method.exactly, "")
    if method.takes:
        yield "Takes " + "; ".join(f"{_KINDS[kind]} {how}" for kind, how in method.takes.items()) + "."
        yield ""
    options = [option for option in method.options if option.on_command or option.on_page]
    if options:
        yield from ("| Option | Meaning | Default |", "|---|---|---|")
        for option in options:
            default = "by the data" if option.default is None else option.default
            yield f"| `{option.name}` | {meaning(option)} | {default} |".replace("\n", " ")
        yield ""
    if method.sources:
        yield from ("Sources: " + "; ".join(method.sources) + ".", "")


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
