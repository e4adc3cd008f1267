"""Sections to one HTML file that needs no network: figures and their engine inside, light and dark, printable."""

import json

import numpy as np
import pandas as pd
from plotly.offline import get_plotlyjs

from ..figures.theme import DARK, LIGHT
from ..text import html_text
from .blocks import Block, Figure, Grid, Section, Words

_SHORT = 24
_STYLE = """
:root { --ink: #1B2626; --quiet: #5B6767; --paper: #FFFFFF; --soft: #F4F6F6; --line: #DDE3E3; --accent: #0F766E; }
:root.dark { --ink: #E6EEEE; --quiet: #A3B1B1; --paper: #101717; --soft: #172020; --line: #2A3636; --accent: #2DD4BF; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 'Source Sans 3', 'Source Sans Pro', 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .4rem 0; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .5rem; padding-top: .8rem; border-top: 1px solid var(--line); }
p { max-width: 48rem; margin: .5rem 0; overflow-wrap: anywhere; }
p.lead { font-size: 1.12rem; font-weight: 600; } p.note, caption, footer { color: var(--quiet); font-size: .9rem; }
pre { background: var(--soft); padding: .7rem .9rem; border-radius: .4rem; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: .85rem; }
nav a { color: var(--accent); margin-right: 1rem; text-decoration: none; } nav a:hover { text-decoration: underline; }
.figure { width: 100%; margin: .8rem 0; }
.wide { overflow-x: auto; margin: .8rem 0; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; min-width: 40%; }
caption { text-align: left; caption-side: top; padding-bottom: .3rem; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: break-word; max-width: 30rem; }
th { font-weight: 600; } td.n, th.n { text-align: right; } td.n, td.s { white-space: nowrap; }
button.theme { float: right; border: 1px solid var(--line); background: var(--soft); color: var(--ink);
  border-radius: .4rem; padding: .25rem .7rem; cursor: pointer; font: inherit; font-size: .85rem; }
@media print { button.theme, nav { display: none; } h2 { break-after: avoid; } .figure, tr { break-inside: avoid; }
  main { max-width: none; padding: 0; } }
"""

_SCRIPT = """
(function () {
  const root = document.documentElement, asked = matchMedia('(prefers-color-scheme: dark)');
  let chosen = null;
  const dark = () => chosen === null ? asked.matches : chosen;
  function draw(asDark) {
    root.classList.toggle('dark', asDark);
    document.querySelectorAll('.figure').forEach(function (place) {
      const both = JSON.parse(document.getElementById(place.dataset.source).textContent);
      const one = asDark ? both.dark : both.light;
      one.layout.autosize = true;
      Plotly.react(place, one.data, one.layout,
        { responsive: true, displaylogo: false, modeBarButtons: [['toImage']] });
    });
  }
  document.querySelector('button.theme').addEventListener('click', function () { chosen = !dark(); draw(dark()); });
  asked.addEventListener('change', function () { draw(dark()); });
  addEventListener('beforeprint', function () { draw(false); });
  addEventListener('afterprint', function () { draw(dark()); });
  draw(dark());
})();
"""


def to_html(title: str, sections: list[Section], footer: str) -> bytes:
    """The whole file.

    Parameters
    ----------
    title, footer : str
        Plain text.
    sections : list of Section
    """
    drawn: list[str] = []
    body = []
    for section in sections:
        body.append(f'<section id="{html_text(section.key)}"><h2>{html_text(section.title)}</h2>')
        body += [_block(block, drawn) for block in section.blocks]
        body.append("</section>")
    links = "".join(f'<a href="#{html_text(section.key)}">{html_text(section.title)}</a>' for section in sections)
    figures = "".join(
        f'<script type="application/json" id="figure-{place}">{text}</script>' for place, text in enumerate(drawn)
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html_text(title)}</title><style>{_STYLE}</style></head><body><main>"
        f'<button class="theme" type="button">Light or dark</button><h1>{html_text(title)}</h1><nav>{links}</nav>'
        f"{''.join(body)}<footer><p>{html_text(footer)}</p></footer></main>"
        f"{figures}<script>{get_plotlyjs()}</script><script>{_SCRIPT}</script></body></html>"
    ).encode()


def _block(block: Block, drawn: list[str]) -> str:
    if isinstance(block, Words):
        if block.kind == "code":
            lines = "\n".join(html_text(line) for line in block.text.split("\n"))
            return f"<pre>{lines}</pre>"
        return f'<p class="{html_text(block.kind)}">{html_text(block.text)}</p>'
    if isinstance(block, Figure):
        both = {name: block.draw(theme).to_plotly_json() for name, theme in (("light", LIGHT), ("dark", DARK))}
        drawn.append(_for_script(both))
        height = both["light"]["layout"].get("height", 320)
        return (
            f'<div class="figure" role="img" aria-label="{html_text(block.alt)}" '
            f'data-source="figure-{len(drawn) - 1}" style="height:{int(height)}px"></div>'
        )
    return _table(block)


def _for_script(value: object) -> str:
    from plotly.utils import PlotlyJSONEncoder

    # "</script>" in somebody's text would end the element.
    return json.dumps(value, cls=PlotlyJSONEncoder, separators=(",", ":")).replace("<", "\\u003c")


def _table(grid: Grid) -> str:
    table = grid.table.iloc[: grid.most]
    caption = grid.caption
    if len(grid.table) > grid.most:
        caption += f" The first {grid.most} of {len(grid.table):,}."
    numeric = [pd.api.types.is_numeric_dtype(table.iloc[:, place]) for place in range(table.shape[1])]
    mark = [' class="n"' if is_number else "" for is_number in numeric]
    head = "".join(f"<th{m}>{html_text(name)}</th>" for m, name in zip(mark, table.columns, strict=True))
    rows = "".join(
        "<tr>" + "".join(_cell(value, m) for m, value in zip(mark, row, strict=True)) + "</tr>"
        for row in table.itertuples(index=False, name=None)
    )
    return (
        f'<div class="wide"><table><caption>{html_text(caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(value: object, mark: str) -> str:
    if value is None or (isinstance(value, float | np.floating) and not np.isfinite(value)):
        text = "–"
    elif isinstance(value, float | np.floating):
        text = f"{value:.3f}"
    elif isinstance(value, int | np.integer) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = html_text(value)
        mark = mark or (' class="s"' if len(text) <= _SHORT else "")
    return f"<td{mark}>{text}</td>"
