"""Write the pages of the documentation that repeat what the program says of itself.

Run: python docs/make_reference.py
"""

import os.path
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import click  # noqa: E402 - found next to the package only once the folder is known

from core.agreement.coefficient_methods import CoefficientMethod  # noqa: E402
from core.command_line import _cli  # noqa: E402
from core.glossary import GLOSSARY  # noqa: E402
from core.ingest.formats.detect import formats  # noqa: E402
from core.methods import AS_IS, BY_LABEL, FIRST_BLOCK, THRESHOLD, Computation, Method, Model, methods  # noqa: E402
from core.models.rater_methods import RaterModelMethod  # noqa: E402
from core.plausibility.protocol import PlausibilityMethod  # noqa: E402

PAGES = ROOT / "docs" / "pages"
_TITLES = {
    CoefficientMethod: "Coefficients of agreement",
    RaterModelMethod: "Rater models",
    PlausibilityMethod: "Plausibility models",
    Computation: "Other analyses",
}
_RATER_MODEL = (
    "Each case has one true class. Given this class, raters annotate independently. If raters share mistakes, probabilities are "
    "too high, and a β below 1 lowers them. The accuracy of a rater does not change over time."
)
_ASSUMPTIONS = {  # of methods whose declaration has none
    "majority": "All raters are equally accurate, and most annotations of a case are correct.",
    "smoothed-vote": "All raters are equally accurate. The true class is the one that most raters like these would choose.",
    "ordinal": f"{_RATER_MODEL} The classes are ordered, and larger mistakes are rarer.",
    "gaussian": "The scores of a case are normal around its mean, and all raters are alike.",
    "ordinal-truth": "Each case has one true class on an ordered scale, and raters vary around it independently.",
    "mixture-plackett-luce": "Raters differ only in how often their ranking reflects the case.",
    "pairs": "Two raters are compared only on cases that both annotated, so different pairs may have different cases.",
}
_OF_FAMILY = {
    "rater model": _RATER_MODEL,
    "plausibility": (
        "Each case has a distribution over classes. Its annotations are independent draws from it, and all raters are alike. "
        "The reliability γ is how much each annotation counts."
    ),
}
_MOST_TESTS = 3
_USED = {
    AS_IS: "used directly",
    FIRST_BLOCK: "reduced to their first choice. Annotations with a tied first choice are left out",
    THRESHOLD: "split into two classes by a threshold that you set",
    BY_LABEL: "used label by label, as present or absent",
}
_KINDS = {"class": "single classes", "ranking": "rankings", "set": "sets of labels", "score": "scores"}


def pages() -> dict[str, str]:
    """Text of each page by its path below the folder of pages."""
    found = {
        "reference/commands.md": commands(),
        "reference/formats.md": readers(),
        "reference/glossary.md": glossary(),
    }
    tests = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "core").rglob("test_*.py"))}
    for family, title in _TITLES.items():
        groups = alike(family)
        found[f"methods/{family.family.replace(' ', '_')}.md"] = family_page(title, groups)
        found |= {f"methods/{name}.md": method_page(group, tests) for name, group in groups.items()}
    return found


def alike(family: type[Method]) -> dict[str, list[Method]]:
    """Methods of a family by the name of their page: those that are described by the same words share one."""
    groups: dict[str, list[Method]] = {}
    for method in (one for one in methods(family).values() if one.family == family.family):
        groups.setdefault(method.exactly, []).append(method)
    return {_start([method.name for method in group]): group for group in groups.values()}


def _start(names: Sequence[str]) -> str:
    """What all names begin with."""
    return names[0] if len(names) == 1 else os.path.commonprefix(names).rstrip("-_ (,")


def commands() -> str:
    """Help of every command."""
    lines = [
        "# Command line",
        "",
        "Run each command with `python -m core` from the folder of the program. Results are JSON, or CSV with `--csv`.",
        "Messages go to standard error. The exit status is 0. If the input cannot be used, it is 2 and the command prints one line.",
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
            "be compressed or zipped. You can open several files together. Plurality uses every row, or lists it with its line and",
            "the reason why it was left out.",
            "",
            *listed,
            "",
            "A gold file needs a case column and a class column. A file of predictions is a table or JSON Lines. It has one row",
            "per case with a probability per class, or one row per case, class and probability. In JSON Lines, the",
            'probabilities may be nested: `{"case": "a", "probs": {"cat": 0.9, "dog": 0.1}}`.',
            "",
        ]
    )


def glossary() -> str:
    """Terms, each in a plain and in an exact sentence."""
    lines = ["# Glossary", ""]
    for name, term in sorted(GLOSSARY.items(), key=lambda entry: entry[0].casefold()):
        lines += [f"## {name[0].upper()}{name[1:]}", "", term.plainly, "", term.exactly, ""]
    return "\n".join(lines)


def family_page(title: str, groups: dict[str, list[Method]]) -> str:
    """Methods of a family, each with a link to its page."""
    lines = [f"# {title}", "", "| Method | What it answers |", "|---|---|"]
    for name, group in groups.items():
        lines.append(f"| [{_start([one.title for one in group])}]({name}.md) | {group[0].plainly} |")
    return "\n".join([*lines, ""])


def assumed(method: Method) -> str:
    """Return what a coefficient assumes."""
    return method.assumes if isinstance(method, CoefficientMethod) else ""


def method_page(group: Sequence[Method], tests: dict[Path, str]) -> str:
    """One method, or several that share their formula."""
    method = group[0]
    lines = [f"# {_start([one.title for one in group])}", ""]
    if len(group) == 1:
        lines += [method.plainly, ""]
    else:
        lines += ["| Method | Name on the command line | Summary |", "|---|---|---|"]
        lines += [
            f"| {one.title} | `{one.name}` | {one.plainly} {_capital(assumed(one))}".strip() + " |" for one in group
        ]
        lines.append("")
    lines += ["## Formula", "", method.exactly, ""]
    assumes = (
        _ASSUMPTIONS.get(method.name) or _OF_FAMILY.get(method.family) or ("" if len(group) > 1 else assumed(method))
    )
    if assumes:
        lines += ["## Assumptions", "", _capital(assumes), ""]
    lines += ["## Data and options", "", *_taken(method)]
    if method.sources:
        lines += ["## Sources", "", *(f"- {source}" for source in method.sources), ""]
    return "\n".join([*lines, "## How it is tested", "", *_tested(method, tests), ""])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _taken(method: Method) -> Iterator[str]:
    if method.takes:
        yield from (
            f"- {_capital(_KINDS[kind])} are {_USED.get(how, f'used {how}')}." for kind, how in method.takes.items()
        )
        yield ""
    options = [
        option
        for option in (method.options if isinstance(method, Model) else ())
        if option.on_command or option.on_page
    ]
    if options:
        yield from ("| Option | Meaning | Default |", "|---|---|---|")
        for option in options:
            default = "from the data" if option.default is None else option.default
            yield f"| `{option.name}` | {_capital(option.help)} | {default} |".replace("\n", " ")
        yield ""


def _tested(method: Method, tests: dict[Path, str]) -> Iterator[str]:
    """Tests that name the function or class of the method most often."""
    made = getattr(method.make, "func", method.make)
    named = re.compile(rf"\b({made.__name__}|{re.escape(made.__module__)})\b")
    folder = ROOT / "tests" / "core" / made.__module__.split(".")[1]
    mentions = {path: len(named.findall(text)) for path, text in tests.items() if folder in path.parents}
    for path in sorted((path for path, n in mentions.items() if n), key=lambda path: -mentions[path])[:_MOST_TESTS]:
        yield f"- `{path.relative_to(ROOT).as_posix()}`"


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        path = PAGES / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
