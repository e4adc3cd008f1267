"""Ask the search of the built documentation what newcomers ask first, and print where the answer is.

Run: python docs/ask_search.py [FOLDER OF THE BUILT SITE]

Exit status 1 if an answer is not among the first three pages.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, find_chromium

# Written down before anybody looked for the answers; each with the pages that answer it.
QUESTIONS = {
    "how do I install": ("start/install",),
    "does it work on windows": ("start/install", "faq"),
    "which file formats": ("reference/formats", "faq"),
    "what columns does my csv need": ("start/first_file", "faq", "reference/formats"),
    "is my data uploaded to the internet": ("faq", "operate/threat_model", "index"),
    "missing annotations": ("app/upload", "start/first_file", "faq"),
    "what is kappa": ("faq", "explanation/kappa_and_ac1", "methods/coefficient"),
    "which coefficient should I report": ("faq", "app/agreement"),
    "what is gamma": ("explanation/reliability", "faq"),
    "what does certainty mean": ("faq", "app/cases"),
    "find bad raters": ("app/raters", "guides/annotation_managers", "faq"),
    "compare two classifiers": ("app/reliability", "guides/ml_teams", "python/classifier"),
    "export labels for training": ("app/labels", "howto/soft_labels", "python/training"),
    "jupyter notebook": ("notebooks/index", "python/index"),
    "add ground truth": ("howto/gold", "faq"),
    "use an LLM as annotator": ("howto/ai_raters", "app/ai_rater", "faq"),
    "how many annotations per case": ("faq", "howto/without_gold", "guides/annotation_managers"),
    "login for a team": ("operate/team", "operate/deploy", "faq"),
    "how do I cite": ("faq",),
    "update to a new version": ("start/install", "operate/operations", "faq"),
    "delete my data": ("faq", "start/first_file", "operate/operations"),
    "licence": ("faq", "index"),
    "hide names of raters": ("faq", "howto/present"),
    "out of memory": ("operate/large_data", "faq"),
}


def answers(page: Page, question: str) -> list[str]:
    """Return the first three pages that the search finds."""
    page.get_by_placeholder("Search").fill(question)
    page.keyboard.press("End")  # it looks again when a key is released
    found = page.locator(".md-search-result__list > .md-search-result__item > a")
    expect(page.locator(".md-search-result__meta")).not_to_contain_text("Initializing")
    page.wait_for_timeout(800)
    names = dict.fromkeys(link.get_attribute("href").split("#")[0].split("?")[0] for link in found.all()[:12])
    return [name.rpartition("site/")[2].removesuffix(".html") for name in names][:3]


def main(folder: Path) -> int:
    """Ask every question; return how many were not answered."""
    missed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        page = browser.new_page()
        page.goto((folder / "index.html").as_uri())
        for question, pages in QUESTIONS.items():
            found = answers(page, question)
            missed += not set(found) & set(pages)
            print("found " if set(found) & set(pages) else "MISSED", question, "→", ", ".join(found))
        browser.close()
    print(f"{len(QUESTIONS) - missed} of {len(QUESTIONS)} answered within the first three pages")
    return missed


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(bool(main(Path(sys.argv[1]).resolve())))
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)], cwd=ROOT, check=True)
        sys.exit(bool(main(site)))
