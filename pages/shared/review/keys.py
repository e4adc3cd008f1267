"""Keys of a review: each presses the button that shows it, in order, and on no case but that which was on screen."""

from pathlib import Path

import streamlit as st

from pages.shared.cache import visit
from pages.shared.review import presses

_SCRIPT = f"<script>{Path(__file__).with_name('keys.js').read_text(encoding='utf-8')}</script>"
_LATE = "Your key press was ignored, because the case had already changed. Check this case and press again."
_LOST = "A key press failed, and later key presses were ignored. Check this case and press again."
# The field of the name is gone once the name is taken, and the browser would go on at the top of the page.
_LEAD_ON = """<i class="review-named"></i><script>{
  const clock = setInterval(() => {
    const button = document.querySelector("[data-testid=stMain] [data-testid=stBaseButton-primary]");
    const ready = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" && button;
    if (!ready && document.querySelector(".review-named")) return;
    clearInterval(clock);
    if (ready && document.activeElement === document.body) button.focus();
  }, 50);
  for (const act of ["keydown", "pointerdown"])
    window.addEventListener(act, () => clearInterval(clock), { capture: true, once: true });
}</script>"""
# On a touch screen, and where there is no room, no key is named: neither on buttons nor in sentences (`hint`).
STYLE = """
.st-key-review_bar .stMarkdownColoredText, .st-key-review_how .stMarkdownColoredText { color: inherit !important; }
:is([class*="st-key-find-"], [class*="st-key-score-"]) label p::after { content: " (key /)"; }
@media (max-width: 640px), (pointer: coarse) {
  .st-key-review_shortcuts, .stMainBlockContainer [aria-label^="Shortcut"],
  .st-key-review_bar [aria-label^="Shortcut"], .st-key-review_bar .stMarkdownColoredText,
  .st-key-review_how .stMarkdownColoredText { display: none; }
  :is([class*="st-key-find-"], [class*="st-key-score-"]) label p::after { content: none; }
}
[data-testid="stElementContainer"]:has(.review-drawn, .review-named, .review-late:empty) { display: none; }
.review-late { margin: 0; padding: 0.6rem 0.9rem; border-radius: 0.5rem; background: rgba(255, 75, 75, 0.12); }
"""


def hint(keys: str) -> str:
    """Return keys in markdown after a word, for the bar and for how a review goes; a touch screen does not show them.

    No other coloured text is in these two places.
    """
    return f":gray[ ({keys})]"


def heading(words: str, place: int) -> None:
    """Draw the heading of a case, by whose place in the session's queue the listener identifies the case on screen."""
    st.title(words, anchor=f"review-case-{place}")


def listen() -> None:
    """Draw the listener, and its message if a key came too late."""
    st.html(_SCRIPT, unsafe_allow_javascript=True)
    st.html(f'<p class="review-late" role="alert" data-late="{_LATE}" data-lost="{_LOST}"></p>')


def lead_on() -> None:
    """Move the focus to the first main button once it is there, unless the user has moved on already."""
    st.html(_LEAD_ON, unsafe_allow_javascript=True)


def drawn() -> None:
    """Say in the page that every button of this run is there, how many presses are answered, and what keys mean."""
    presses.drawn()
    visit.review_runs += 1
    several = str(visit.flag["review_several"]).lower()
    st.html(
        f'<i class="review-drawn" data-run="{visit.review_runs}" data-presses="{presses.n_noted()}" '
        f'data-several="{several}"></i>'
    )
