"""Thirty cases reviewed by keyboard beside heavy work. Run: python tests/benchmarks/review_keys.py [MILLISECONDS].

One browser has the pages of the sample of skin diagnoses computed, with another rater left out each time; a second one
reviews thirty cases of small data blind: a class, record, keep, a key each 350 ms whatever the page shows by then.
Lost is a case that is no opinion in the record in the end; misdirected one whose opinion is another class than that of
a key that fell while the page showed the case, blind. What the page showed is noted in the page itself, as each key
fell. Also told: keys that were refused, how soon after a key the page showed what follows from it, and how long the
heavy work went on. Target: none lost, none misdirected.
"""

import json
import os
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright

from core.ingest.read_files import read
from core.ingest.samples import read_sample
from core.library import keep
from core.review.store import ReviewStore
from core.runtime.first_start import Preparation
from tests.browser.reviewing import FRUIT, arrive, fruit_rows, sign, step
from tests.browser.server import CHROMIUM_FLAGS, ROOT, Dashboard, find_chromium
from tests.browser.steps import settled

N_CASES, PACE = 30, 350
PAGES = ("cases", "reliability", "models", "raters")


_SEEN = """(() => {
  window.seen = [];
  const now = (key) => {
    const words = [...document.querySelectorAll(".stMain p")].map((one) => one.textContent);
    const late = document.querySelector(".review-late");
    const name = document.querySelector("h1")?.textContent.replace("Case ", "");
    const keep = document.querySelector("[class*='st-key-send-keep-']");
    return {
      key,
      at: performance.now(),
      case: name,
      blind: !(keep && [...keep.classList].some((one) => one.endsWith("-" + name))),
      opinion: words.find((one) => one.startsWith("Your opinion: ")) || "",
      late: !key && !!late?.textContent,
    };
  };
  addEventListener("keydown", ({ key, isTrusted }) => isTrusted && key !== "Control" && seen.push(now(key)), true);
  let last = "";
  new MutationObserver(() => {
    const one = now(""), words = JSON.stringify({ ...one, at: 0 });
    if (words !== last) seen.push(one);
    last = words;
  }).observe(document, { subtree: true, childList: true, characterData: true });
})()"""


def heavy(url: str, ended: threading.Event, begun: list[str]) -> None:
    """Another person's browser: page after page of data that nobody has looked at."""
    raters = list(read_sample("skin").dataset.raters)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        page = browser.new_page()
        for place in range(len(raters)):
            rest = json.dumps({"raters": raters[:place] + raters[place + 1 :]})
            for name in PAGES:
                page.goto(f"{url}/{name}?data=skin&select={rest}")
                begun.append(name)
                for _ in range(20):
                    if ended.is_set():
                        browser.close()
                        return
                    page.wait_for_timeout(200)


def main(pace: int) -> None:
    """Review, and compare the record with what was pressed."""
    Preparation().wait()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLURALITY_HOME"] = home
        rows = fruit_rows("q", N_CASES)
        dataset = read("\n".join(["case,rater,class", *rows]).encode(), name="quick").dataset
        keep(dataset)
        dashboard = Dashboard(Path(home)).start()
        ended, begun = threading.Event(), []
        other = threading.Thread(target=heavy, args=(dashboard.url, ended, begun))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
            context = browser.new_context(viewport={"width": 1280, "height": 720})
            context.add_init_script(path=ROOT / "tests" / "browser" / "runs.js")
            context.add_init_script(_SEEN)
            page = context.new_page()
            page.goto(f"{dashboard.url}/review?data={dataset.digest}")
            sign(page, "Ada")
            page.locator(".st-key-session_size").get_by_text(str(N_CASES), exact=True).click()
            settled(page)
            step(page, "Start with", f"Ada · 0 of {N_CASES}")
            arrive(page)
            other.start()
            time.sleep(3.0)
            began = time.monotonic()
            for place in range(N_CASES):
                for key in (str(place % len(FRUIT) + 1), "Control+Enter", "k"):
                    page.keyboard.press(key)
                    page.wait_for_timeout(pace)
            seconds = time.monotonic() - began
            page.wait_for_timeout(3_000)
            ended.set()
            seen = page.evaluate("window.seen")
            browser.close()
        other.join()
        dashboard.stop()
        store = ReviewStore()
        said = {one.case_id: one.opinion.words() for one in store.trail(dataset.digest) if one.kind == "opinion"}
        store.close()
    begun_at = next(place for place, one in enumerate(seen) if one["case"] in dataset.cases)
    seen = seen[begun_at:]
    keys = [one for one in seen if one["key"]]
    meant = {one["case"]: FRUIT[int(one["key"]) - 1] for one in keys if one["key"].isdigit() and one["blind"]}
    wrong = [case for case, name in said.items() if meant.get(case) != name]
    for case in wrong:
        print(f"{case}: {meant.get(case, 'nothing')} was pressed, {said[case]} is recorded")
    waits = [_until_seen(seen, place) for place, one in enumerate(seen) if one["key"]]
    refused = sum(now["late"] > before["late"] for before, now in pairwise(seen))
    waits = sorted(1_000 if wait is None else wait for wait in waits)
    print(
        f"{N_CASES} cases in {seconds:.1f} s beside {len(begun)} heavy pages ({', '.join(begun)}): "
        f"{N_CASES - len(said)} lost, {len(wrong)} misdirected, {refused} refused; "
        f"{len(keys)} keys, seen after {waits[len(waits) // 2]:.0f} ms, longest {waits[-1]:.0f}; "
        f"load {os.getloadavg()[0]:.1f}"
    )


def _until_seen(seen: list[dict], place: int) -> float | None:
    """Milliseconds from a key until the page says what it did; None where it never did."""
    key = seen[place]
    after = (one["at"] - key["at"] for one in seen[place:] if not one["key"] and _said(one) != _said(key))
    return next(after, None)


def _said(one: dict) -> tuple:
    return one["case"], one["blind"], one["opinion"]


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else PACE)
