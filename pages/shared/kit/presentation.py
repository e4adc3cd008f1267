"""Presentation mode: larger type, no controls, raters without names. For a room that looks at one screen."""

from collections.abc import Collection
from dataclasses import replace

import streamlit as st

from core.ingest.read_files import Reading
from core.machines.marks import Machine
from pages.shared.cache import story as cached_story
from pages.shared.cache import visit

SCALE = 1.4
PAGES = ("home", "agreement", "models", "raters", "cases", "reliability")
SHOWN = (*PAGES, "ai_rater")  # the last step of the story; of most data it has nothing to show
_STYLE = """
<style>
html { font-size: max(20px, 1.25vw) !important; }
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"], [data-testid="stToolbar"] { display: none; }
.stMainBlockContainer { max-width: none; padding-top: 1.2rem; padding-bottom: 5.5rem; }
.stMainBlockContainer > [data-testid="stVerticalBlock"] { gap: 0.5rem; }
.stMainBlockContainer :is([data-testid="stButton"], [data-testid="stButtonGroup"], [data-testid="stCheckbox"],
  [data-testid="stDateInput"], [data-testid="stDownloadButton"], [data-testid="stExpander"],
  [data-testid="stFileUploader"], [data-testid="stLinkButton"], [data-testid="stMultiSelect"],
  [data-testid="stNumberInput"], [data-testid="stPopover"], [data-testid="stRadio"], [data-testid="stSelectbox"],
  [data-testid="stSlider"], [data-testid="stTextArea"], [data-testid="stTextInput"], [data-testid="stTooltipIcon"],
  [data-testid="stElementToolbar"], .gamma-marks, .gamma-legend, .modebar-container
  ):not(.st-key-presentation_bar *) { display: none; }
.st-key-slide h1 { font-size: clamp(1.6rem, 2.92vw, 4rem) !important; line-height: 1.15 !important;
  padding: 0 !important; margin: 0.5rem 0 0; }
.st-key-slide [data-testid="stCaptionContainer"] p { margin: 0; }
.st-key-slide_figure, .st-key-slide_figure > * { height: 60vh !important; }
.st-key-presentation_bar { position: fixed; left: 0; right: 0; bottom: 0; z-index: 100; padding: 0.3rem 2.6rem;
  background: var(--plurality-bar); border-top: 1px solid rgba(128,140,140,.35); }
@media (max-width: 640px) { html { font-size: 17px !important; } .st-key-presentation_bar { padding: 0.2rem 0.6rem; } }
</style>
"""
_BY_KEYS = "Space or →: next, ←: back."
# The keys of a presenter's remote press the buttons of the bar: those of the story, or of the pages.
_KEYS = """
<script>
if (!window.presentationKeys) {
  window.presentationKeys = true;
  document.addEventListener("keydown", (event) => {
    const bar = document.querySelector(".st-key-presentation_bar");
    if (!bar || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select")) return;
    const on = [" ", "ArrowRight", "PageDown"].includes(event.key);
    if (!on && !["ArrowLeft", "PageUp"].includes(event.key)) return;
    if (event.key === " " && event.target.closest("button")) return;
    let button = bar.querySelector(`.st-key-story_${on ? "next" : "back"} button`);
    const pages = [...bar.querySelectorAll("[class*='st-key-present-'] button")];
    if (pages.length) {
      const at = pages.findIndex((page) => page.dataset.testid === "stBaseButton-primary");
      button = pages[at + (on ? 1 : -1)];
    }
    if (button) { event.preventDefault(); button.click(); }
  });
  let shown = location.pathname;
  new MutationObserver(() => { // a page opens at its top, however far the one before was scrolled
    const opened = location.pathname !== shown && document.querySelector(".st-key-presentation_bar");
    shown = location.pathname;
    if (opened) document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
  }).observe(document.body, { childList: true, subtree: true });
}
</script>
"""


def on() -> bool:
    """Return True if this session is a presentation."""
    return bool(visit.presenting)


def veiled(reading: Reading | None, machines: tuple[str, ...] = ()) -> Reading | None:
    """Return the dataset as it may be shown: in a presentation, raters and ``machines`` have no names."""
    return reading if reading is None or not on() else cached_story.without_names(reading, machines)


def veiled_names(machines: tuple[str, ...], veiled: Collection[str]) -> dict[str, str]:
    """Return numbered names for AI raters from files in a presentation; those in ``veiled`` have numbers already."""
    added = [name for name in machines if name not in veiled] if on() else []
    return {name: f"AI rater {number}" for number, name in enumerate(added, len(veiled) + 1)}


def veiled_families(machines: tuple[Machine, ...]) -> tuple[Machine, ...]:
    """Machines as they may be shown: in a presentation what they are of has a number for a name."""
    families = list(dict.fromkeys(one.family for one in machines if one.family)) if on() else []
    return tuple(
        replace(one, family=f"Family {families.index(one.family) + 1}") if one.family in families else one
        for one in machines
    )


def style(paper: str) -> None:
    """Draw the style by which a presentation hides and enlarges elements."""
    st.html(_STYLE.replace("var(--plurality-bar)", paper))
    st.html(_KEYS, unsafe_allow_javascript=True)


def bar(page: str, story_moves) -> None:
    """Draw a presenter's controls: the pages, or the steps of the story, and the end of the presentation.

    Parameters
    ----------
    page : str
        Name of the page on screen.
    story_moves : callable
        Draws the buttons of the story.
    """
    with st.container(horizontal=True, horizontal_alignment="distribute", key="presentation_bar"):
        if visit.story is not None:
            with st.container(horizontal=True, width="content", gap="small"):
                story_moves()
        else:
            with st.container(horizontal=True, width="content", gap="small"):
                for name in PAGES:
                    st.button(
                        name.capitalize(),
                        type="primary" if name == page else "tertiary",
                        on_click=visit.set,
                        kwargs={"go_to": name},
                        key=f"present-{name}",
                    )
        st.button(
            "End presentation", icon=":material/close:", type="tertiary", on_click=visit.drop,
            args=("presenting",), key="stop_presenting", help=_BY_KEYS,
        )  # fmt: skip


def button() -> None:
    """Begins a presentation."""
    st.button(
        "Present", icon=":material/slideshow:", type="tertiary", on_click=visit.set, kwargs={"presenting": 1},
        key="start_presenting", help=_BY_KEYS,
    )  # fmt: skip
