"""Child process ``python -m core.runtime._worker FOLDER``, which writes JSON lines to standard output."""

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np

from ..errors import Cancelled, PluralityError
from .files import load_arrays
from .processes import FOLDER_PREFIX, WorkerError, full_disk_words, stand_back

STOPPED = 3
_HEARTBEAT = 0.2
_LAST_CHANCE = 2.0


class Watch:
    """Cancel flag and progress of the work in this child process."""

    def __init__(self) -> None:
        self.done = 0
        self._stop = threading.Event()

    @property
    def cancelled(self) -> bool:
        """True once the parent asked to stop or has ended."""
        return self._stop.is_set()

    def stop(self, *_) -> None:
        """Ask the work to stop; also used as the handler of a signal."""
        self._stop.set()


def main(folder: Path) -> None:
    """Do the job in ``folder`` and leave its result there."""
    # Libraries may print, so their output goes to the errors, and only lines of the protocol to the parent.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    watch, lock = Watch(), threading.Lock()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches the parent, which then ends the input
    signal.signal(signal.SIGTERM, watch.stop)

    def say(**message) -> None:
        try:
            with lock:
                lines.write(json.dumps(message) + "\n")
                lines.flush()
        except (OSError, ValueError):  # the parent is gone
            watch.stop()

    def beat() -> None:
        while not watch.cancelled:
            say(done=watch.done)
            time.sleep(_HEARTBEAT)

    def listen() -> None:
        while os.read(0, 4096):
            pass
        watch.stop()
        time.sleep(_LAST_CHANCE)  # the work stops by itself, unless it hangs
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(STOPPED)

    for task in (beat, listen):
        threading.Thread(target=task, daemon=True).start()
    code = 1
    try:
        _work(folder, watch)
        say(done=watch.done, finished=True)
        code = 0
    except Cancelled:
        shutil.rmtree(folder, ignore_errors=True)
        code = STOPPED
    except PluralityError as error:
        say(error=str(error))
    except MemoryError:
        say(error="Could not compute: there is not enough memory. Use fewer draws, raters or cases, and try again.")
    except Exception as error:
        say(error=f"Could not compute: {type(error).__name__} ({error}). Please report this.")
        with contextlib.suppress(OSError):
            traceback.print_exc()
            sys.stderr.flush()
    os._exit(code)  # without cleanup, because a sampler's thread may still run


def _work(folder: Path, watch: Watch) -> None:
    from ..models.nuts.child import draw_all

    settings = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    result = draw_all(settings, load_arrays(folder / "arrays.npz"), watch)
    unfinished = folder / "unfinished.npz"
    try:
        np.savez(unfinished, allow_pickle=False, **result)
        os.replace(unfinished, folder / "result.npz")
    except OSError as error:
        raise WorkerError(full_disk_words("the result", error)) from error


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not place.name.startswith(FOLDER_PREFIX):  # the folder is deleted when the parent goes
        sys.exit("Could not start: only the dashboard can start this program.")
    stand_back()
    main(place)
