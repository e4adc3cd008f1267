"""What pages still compile after a first start. Run: python tests/benchmarks/compiled.py [PAGE ...] [--own].

Every page is opened on every sample, without a browser; a line for each kernel that is then called with types of which
a first start has compiled no version, and who called it first. With ``--own`` only the parts that the page waits for
are compiled before. Target: none, but where a person asks for more than what a page opens with.
"""

import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

PAGES = ("home", "cases", "review", "reliability", "agreement", "models", "raters", "ai_rater", "report")


def of_page(page: str, *, own: bool) -> None:
    """Print what a page of every sample compiles."""
    import pytest
    from numba.core.dispatcher import Dispatcher

    from core import warmup
    from core.ingest.samples import SAMPLES
    from core.runtime.first_start import PARTS
    from pages.shared.cache import datasets
    from pages.shared.shell.first_start import _NEEDS
    from tests.pages.opened import at, note_runs, settle

    warmup.warm_up(_NEEDS[page] if own else PARTS)
    asked = Dispatcher.compile

    def compiled(self, signature):
        of_ours = [frame for frame in traceback.extract_stack() if frame.filename.startswith((f"{ROOT}/core", "core"))]
        if self.py_func.__module__.startswith("core."):
            by = f"{Path(of_ours[-2].filename).name}:{of_ours[-2].lineno}" if len(of_ours) > 1 else "?"
            print(f"{page} of {sample}: {self.py_func.__module__}.{self.py_func.__name__}, by {by}", flush=True)
        return asked(self, signature)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "_load_kernels", datasets._keep_for_good)
        patch.setattr(Dispatcher, "compile", compiled)
        note_runs(patch)
        for sample in (one.name for one in SAMPLES):
            settle(at(page, sample).run())


def main(asked: list[str]) -> None:
    """One process for each page: what one has called, the next would find."""
    own = "--own" in asked
    pages = [page for page in asked if not page.startswith("--")] or PAGES
    if "--here" in asked:
        of_page(pages[0], own=own)
        return
    for page in pages:
        with tempfile.TemporaryDirectory() as home:
            told = {**os.environ, "PLURALITY_HOME": home, "PLURALITY_UNASKED_CASES": "100"}
            command = [sys.executable, "-m", "tests.benchmarks.compiled", page, "--here", *["--own"] * own]
            done = subprocess.run(command, env=told, capture_output=True, text=True, cwd=ROOT)
            lines = done.stdout.splitlines()
            print(f"{page}: {len(lines)} compiled", *lines, sep="\n  ", flush=True)
            if done.returncode:
                print(done.stderr[-2000:])


if __name__ == "__main__":
    from core.settings import one_thread_a_library, prepare_numba_cache

    one_thread_a_library()
    prepare_numba_cache()
    main(sys.argv[1:])
