"""Parent process of a server: limits its memory, and forks a child that serves and is restarted if it is killed."""

import ctypes
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from ..errors import NotApplicableError
from ..logs import log_warning

MOST, WITHIN = 10, 30.0  # killed children within so many seconds, after which the server stops trying
_M_ARENA_MAX = -8  # of glibc's malloc.h
_TO_END = (signal.SIGTERM, signal.SIGINT)
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def limit_arenas() -> None:
    """Let all threads of a server share one heap, unless the environment sets another number.

    Memory that a thread has returned to a heap of its own is not available to other threads, and each heap has unused
    gaps. Having one heap per thread made no measurable difference to the time of pages and draws.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def trim() -> None:
    """Return free memory of the heaps to the system, also gaps between blocks in use."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def restart_on_exit(work: Callable[[], object]) -> int:
    """Run work in a child process, and restart it whenever a signal ends it that was not sent to this process.

    SIGTERM and SIGINT are passed on to the child. On Linux the child is killed if this process is killed.

    Parameters
    ----------
    work : callable
        Function called in the child, which ends when it returns. No thread may be running in this process.

    Returns
    -------
    int
        Exit code of the last child, or the negative number of the signal that ended it.

    Raises
    ------
    NotApplicableError
        The system has no fork.
    """
    if not hasattr(os, "fork"):
        raise NotApplicableError("This system cannot fork processes. Start the dashboard with: streamlit run app.py")
    told, tells = os.pipe()
    os.set_blocking(tells, False)
    signal.set_wakeup_fd(tells)
    for number in (*_TO_END, signal.SIGCHLD):
        signal.signal(number, lambda number, frame: None)  # the pipe says it, whichever thread was interrupted
    killed: deque[float] = deque(maxlen=MOST)
    while True:
        asked, code = _followed(_begun(work, told, tells), told)
        killed.append(time.monotonic())
        if asked or code >= 0 or (len(killed) == MOST and killed[-1] - killed[0] < WITHIN):
            return code
        log_warning("process_killed", signal=-code)


def _begun(work: Callable[[], object], told: int, tells: int) -> int:
    """Start a child that does the work, and return its process id."""
    parent = os.getpid()
    child = os.fork()
    if child:
        return child
    signal.set_wakeup_fd(-1)
    for number in (*_TO_END, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    os.close(told)
    os.close(tells)
    code = 1
    try:
        _end_with(parent)
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:  # nothing of the parent's is run at the child's end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_with(parent: int) -> None:
    """Have this child killed with its parent; otherwise the next server would find the port in use."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


def _followed(child: int, told: int) -> tuple[bool, int]:
    """Return whether somebody asked the child to end, and its exit code."""
    asked = False
    while True:
        number = os.read(told, 1)[0]
        if number != signal.SIGCHLD:
            asked = True
            os.kill(child, number)
        elif (code := _ended(child)) is not None:
            return asked, code


def _ended(child: int) -> int | None:
    """Return the exit code of a child, if it ended; wait for all that did, as a container's first process must."""
    code = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(ended[1]) if ended[0] == child else code
    return code
