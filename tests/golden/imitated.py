"""Some commands and a page as they are on an imitated processor: ``python -m tests.golden.imitated OUT``.

What a page is made of is drawn in this process, and each line and each answer is written to OUT, a file of JSON, to be
compared with the records by who started it. `imitation` are the variables of the environment that make libraries
compute as on another processor; they have to be set before the process starts.
"""

import json
import os
import platform
import sys
import tempfile
from pathlib import Path

COMMANDS = ("agreement caries", "fit dawid-skene caries, intervals", "certainty dirichlet caries")
DATA, PAGE = "caries", "agreement"


def imitation() -> dict[str, str]:
    """Variables that make kernels, numpy, linear algebra and libm compute as on the oldest processor of this kind."""
    from numpy._core import _multiarray_umath as compiled

    found = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    if present := [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(name)]:
        found["NPY_DISABLE_CPU_FEATURES"] = " ".join(present)
    if platform.machine().lower() in ("x86_64", "amd64"):
        found["OPENBLAS_CORETYPE"] = "Nehalem"
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        found["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F"
    return found


def main(out: Path) -> None:
    """Write the answers of the commands and the lines of the page."""
    from tests.golden import screens
    from tests.golden.commands import commands
    from tests.golden.make import answer_of
    from tests.pages.opened import at, at_rest, done, note_runs

    answers = {}
    for name in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            answers[name] = answer_of(commands()[name], Path(folder))
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.runtime.first_start.compiled", lambda: True)  # as in all tests of pages
        note_runs(patch)
        lines = screens.shown(at_rest(done(at(PAGE, DATA).run())))
    out.write_text(json.dumps({"answers": answers, "lines": lines}), encoding="utf-8")


if __name__ == "__main__":
    from core.settings import one_thread_a_library, prepare_numba_cache

    one_thread_a_library()
    prepare_numba_cache()  # before the home folder is changed, as in the tests
    with tempfile.TemporaryDirectory() as home:
        os.environ["PLURALITY_HOME"] = home
        main(Path(sys.argv[1]))
