"""Styles of our own, and the colours of the theme that the reader has chosen."""

import streamlit as st

from core.figures.theme import DARK, LIGHT, Theme

# A material icon would be fetched from a host of fonts: the icon of the browser's tab is drawn here.
ICON = (
    '<svg viewBox="0 0 24 24" fill="none" stroke="#0F766E" stroke-width="2.2" stroke-linejoin="round">'
    '<path d="M12 3 21 8 12 13 3 8Z" fill="#0F766E"/><path d="M3 12.5 12 17.5 21 12.5M3 17 12 22 21 17"/></svg>'
)
# Streamlit's own words on a lost connection ask for a command in a terminal.
AWAY = (
    "Plurality is not responding: it is restarting, or the network is down. Confirmed reviews are saved. This page "
    "reconnects automatically. If it does not, reload it."
)
_LOST = (  # the body of a dialog that is none of ours, while the page says that it connects
    'body:has([data-testid="stConnectionStatus"]) [data-testid="stDialog"]:not(:has([data-testid="stVerticalBlock"])) '
    "[role=dialog] > h2 + div"
)
_STYLE = """
<style>
[data-testid="stHeader"] { height: 2.6rem; min-height: 2.6rem; }
@media (min-width: 641px) { [data-testid="stHeader"] { background: transparent; } }
.stMainBlockContainer { padding: 2.2rem 2.6rem 3rem; max-width: 1560px; }
[data-testid="stSidebarHeader"] { height: 2.6rem; margin-bottom: 0; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
[data-testid="stSidebarUserContent"] [data-testid="stVerticalBlock"] { gap: 0.1rem; }
[data-testid="stMetricValue"] { font-size: 2rem; font-weight: 600; line-height: 1.2; padding-bottom: 0;
  font-variant-numeric: tabular-nums; }
[data-testid="stMetricLabel"] * { white-space: normal !important; overflow: visible; }
h1 { font-size: 1.7rem !important; line-height: 1.25 !important; padding: 0.2rem 0 0.7rem !important;
  text-wrap: balance; }
h2 { font-size: 1.25rem !important; } h3 { font-size: 1.05rem !important; padding-top: 0.2rem !important; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 0.78; }
.st-key-other_theme { display: none; }
.st-key-story_bar { border-color: var(--st-primary-color, #0F766E); padding-top: 0.6rem; padding-bottom: 0.6rem;
  gap: 0.35rem; }
.st-key-story_bar [data-testid="stMarkdownContainer"], .st-key-story_bar [data-testid="stMarkdownContainer"] p {
  margin-bottom: 0; }
.chips { display: flex; flex-wrap: wrap; gap: 0.3rem; align-items: center; margin: 0.1rem 0 0.45rem; line-height: 1.5; }
.chips .who { min-width: 3.4rem; font-size: 0.86rem; opacity: 0.75; overflow-wrap: anywhere; }
.chips .who summary { cursor: pointer; }
.chips .count { min-width: 1.9rem; text-align: right; font-weight: 600; font-variant-numeric: tabular-nums; }
.chips .share { flex: 0 0 4.5rem; height: 0.5rem; background: rgba(128,140,140,.18); border-radius: 0.25rem; }
.chips .share span { display: block; height: 100%; border-radius: 0.25rem; background: rgba(128,140,140,.75); }
.chips .block { display: inline-flex; flex-wrap: wrap; border-radius: 0.4rem; border: 1px solid rgba(128,140,140,.45);
  overflow: hidden; font-size: 0.9rem; }
.chips .block.first { border-color: var(--chip); background: color-mix(in srgb, var(--chip) 12%, transparent); }
.chips .block span { padding: 0.06rem 0.5rem; flex: auto; margin: -1px 0 0 -1px;
  border: 1px dashed rgba(128,140,140,.65); border-width: 1px 0 0 1px; }
.chips .next { display: inline-flex; gap: 0.3rem; }
.chips .then { opacity: 0.7; padding: 0 0.05rem; }
.chips .note { font-size: 0.82rem; opacity: 0.7; }
.questions { margin: 0.2rem 0 !important; padding: 0 !important; }
.questions dt { font-weight: 600; } .questions dd { margin: 0 0 0.4rem !important; opacity: 0.78; font-size: 0.92rem; }
.st-key-no_figure { display: none; }
[data-testid="stButtonGroup"] > div:last-child > button { min-height: 2.5rem; }
.st-key-data_bar { border-bottom: 1px solid rgba(128,140,140,.25); padding-bottom: 0.35rem; row-gap: 0.1rem; }
.st-key-data_bar [data-testid="stMarkdownContainer"], .st-key-data_bar [data-testid="stMarkdownContainer"] p {
  margin-bottom: 0; }
.st-key-data_bar > [data-testid="stLayoutWrapper"]:has(> .st-key-data_actions) {
  flex: 1 0 auto; width: max-content; max-width: 100%; }
.st-key-data_actions { row-gap: 0; }
.figure-title { font-weight: 600; font-size: 0.95rem; line-height: 1.35; overflow-wrap: anywhere; }
[data-testid="stElementContainer"]:has(.figure-title) { margin-bottom: calc(-2.6rem - 8px); }
[data-testid="stFullScreenFrame"]:not(:has([aria-label="Close fullscreen"])) .g-gtitle { display: none; }
[data-testid="stFullScreenFrame"] { width: round(down, 100%, 1px); }
.gamma-marks { position: relative; height: 1rem; margin: -1.7rem 0.4rem 0; font-size: 0.8rem; line-height: 1; }
.gamma-marks span { position: absolute; transform: translateX(-50%); cursor: help; }
.gamma-legend { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; font-size: 0.82rem; line-height: 1.35; }
.gamma-legend > span { white-space: nowrap; cursor: help; opacity: 0.85; }
.gamma-marks .gold, .gamma-legend .gold { color: #B7791F; }
.gamma-marks .readers, .gamma-legend .readers { color: #2B8CC4; }
.gamma-marks .beta, .gamma-legend .beta { color: #D55E00; }
[data-testid="stSidebarContent"] { display: flex; flex-direction: column; }
[data-testid="stSidebarUserContent"] { margin-top: auto; padding-bottom: 1.2rem; }
.legend { list-style: none; margin: 0.35rem 0 0.5rem !important; padding: 0 !important; font-size: 0.84rem;
  line-height: 1.5; }
.legend li { display: flex; align-items: baseline; gap: 0.45rem; margin: 0 !important; }
.legend span { flex: none; width: 0.6rem; height: 0.6rem; border-radius: 0.15rem; background: var(--chip); }
@media (max-height: 860px) { .legend { display: none; } }
[data-testid="stSidebarNavLink"] { min-height: 1.7rem !important; line-height: 1.6rem !important; margin: 0 !important;
  padding-top: 0.05rem !important; padding-bottom: 0.05rem !important; }
[data-testid="stSidebarNavItems"] li { margin: 1px 0 !important; }
[data-testid="stSidebarNavItems"] > div { margin-top: 0.3rem !important; }
[data-testid="stNavSectionHeader"] { margin: 0.25rem 0 0.1rem !important; padding: 0 0.5rem !important; font-size:
  0.74rem; min-height: 1.2rem; }
[data-testid="stRadioOption"]:not([data-selected]) > div > div:first-child {
  box-shadow: inset 0 0 0 1.5px rgba(118,132,132,.95); }
@@LOST@@ > * { display: none; }
@@LOST@@::after { content: "@@AWAY@@"; }
@media (min-width: 641px) {
  [data-testid="stSidebar"]:not([aria-expanded="false"]) { width: 13.5rem !important; min-width: 13.5rem !important; }
  [data-testid="stSidebarContent"] { width: 13.5rem !important; }
  [data-testid="stColumn"] [data-testid="stMetricLabel"] { min-height: 2.4rem; align-items: end; }
}
@media (min-width: 641px) and (max-width: 1400px) {
  .stMainBlockContainer { padding-left: 1.8rem; padding-right: 1.8rem; }
}
@media (min-width: 641px) and (max-width: 1000px) {
  [data-testid="stHorizontalBlock"] { flex-wrap: wrap; }
  [data-testid="stColumn"] { min-width: 14rem; }
}
@media (max-width: 1000px) {
  [data-testid="stHorizontalBlock"]:has(> [data-testid="stColumn"]) { row-gap: 1rem; }
  .st-key-panes > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] {
    min-width: 100%; }
  .st-key-panes > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
    flex-direction: column-reverse; flex-wrap: nowrap; }
  .st-key-panes > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] > [data-testid="stColumn"] {
    min-width: 100%; }
}
@media (max-width: 640px) {
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; padding-top: 3rem; }
  h1 { font-size: 1.35rem !important; }
  [data-testid="stElementContainer"]:has(> [data-testid="stSpace"]):has(+ [data-testid="stLayoutWrapper"]) {
    display: none; }
  [data-testid="stButtonGroup"] > div:last-child { flex-wrap: wrap; }
}
@media (pointer: coarse) {
  [data-testid="stApp"] button, [data-testid="stApp"] [role="tab"], [data-testid="stPageLink-NavLink"],
  [data-testid="stLinkButton"] a, [data-testid="stSidebarNavLink"], [role="dialog"] button,
  [data-testid="stPopoverBody"] button, [data-testid="stCheckbox"] label, [data-testid="stRadio"] label,
  [data-testid="stExpander"] summary, .chips .who summary,
  [data-testid="stSelectbox"] input, [data-testid="stTextInputField"] {
    min-height: 44px !important; }
  [data-testid="stApp"] button, [role="dialog"] button { min-width: 44px; }
  [data-testid="stPageLink-NavLink"], [data-testid="stCheckbox"] label, [data-testid="stRadio"] label,
  [data-testid="stSidebarNavLink"] { align-items: center; }
  button[aria-label^="Help for"] { margin: -12px -6px; justify-content: center; }
  button[aria-label^="Help for"] svg { width: 20px; height: 20px; }
  [data-testid="stHeader"], [data-testid="stSidebarHeader"] { height: 3rem; min-height: 3rem; }
  .modebar-container { display: none; }
}
</style>
""".replace("@@LOST@@", _LOST).replace("@@AWAY@@", AWAY)


# Streamlit writes white on its primary colour; on the light teal of the dark theme that cannot be read.
_STYLE_ON_DARK = """
<style>
[data-testid^="stBaseButton-primary"]:not(:disabled), [data-testid="stPopoverButton"][kind="primary"],
[data-testid="stMultiSelectTagsContainer"] [data-tag] * { color: #0B1414; }
</style>
"""

# A computer that goes dark in the evening recolours the page by itself, but not the figures, which were drawn for the
# other ground: the page is run again.
_WATCH = """
<script>
if (!window.watchedGround) {
  const ground = () => {
    const app = document.querySelector("[data-testid=stApp]");
    return app ? getComputedStyle(app).backgroundColor : window.watchedGround;
  };
  window.watchedGround = ground();
  const look = () => setTimeout(() => {
    const now = ground();
    if (now === window.watchedGround) return;
    window.watchedGround = now;
    document.querySelector(".st-key-other_theme button")?.click();
  }, 300);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
  const app = document.querySelector("[data-testid=stApp]");
  if (app) new MutationObserver(look).observe(app, { attributes: true, attributeFilter: ["class"] });
}
</script>
"""


def apply() -> None:
    """Styles of our own; as few as the design needs."""
    st.html(_STYLE + (_STYLE_ON_DARK if theme() is DARK else ""))
    with st.container(key="other_theme"):
        st.button("Switch theme", key="drawn_in_theme")
        st.html(_WATCH, unsafe_allow_javascript=True)


def theme() -> Theme:
    """Colours of the theme that the reader has chosen."""
    return DARK if st.context.theme.type == "dark" else LIGHT
