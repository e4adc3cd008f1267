"""The process of a server: its memory, and a fork of it that serves and is started again when it is killed."""

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

MOST, WITHIN = 10, 30.0  # children killed within so many seconds: whoever started this process is to look at it
_M_ARENA_MAX = -8  # of glibc's malloc.h
_TO_END = (signal.SIGTERM, signal.SIGINT)
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def limit_arenas() -> None:
    """Let all threads of a server share one heap, unless the environment says otherwise.

    What a thread has given back to a heap of its own serves no other, and of each heap some is held between what is in
    use. That a heap is for one thread at a time was not to be seen in the time of pages and of draws.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def trim() -> None:
    """Return to the system what is free in the heaps, also between what is in use."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def restart_on_exit(work: Callable[[], object]) -> int:
    """Have a child do some work, and another one wherever a signal ended it that was not sent to this process.

    SIGTERM and SIGINT are handed on to the child. On Linux the child is killed where this process is.

    Parameters
    ----------
    work : callable
        Called in the child, whose end it is where it returns. No thread may be under way in this process.

    Returns
    -------
    int
        With which the last child ended: its exit code, or below zero the signal.

    Raises
    ------
    NotApplicableError
        On a system that does not fork.
    """
    if not hasattr(os, "fork"):
        raise NotApplicableError("This system does not fork processes. Start the dashboard by streamlit run app.py.")
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
    """Process id of a child that works."""
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
    """Have this child killed with its parent, or what is begun in its place would find the port taken."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        raise SystemExit(1)


def _followed(child: int, told: int) -> tuple[bool, int]:
    """Whether somebody asked that it ends, and with which code it did."""
    asked = False
    while True:
        number = os.read(told, 1)[0]
        if number != signal.SIGCHLD:
            asked = True
            os.kill(child, number)
        elif (code := _ended(child)) is not None:
            return asked, code


def _ended(child: int) -> int | None:
    """With which code a child ended; waits for all that did: the first process of a container inherits some."""
    code = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            code = os.waitstatus_to_exitcode(ended[1]) if ended[0] == child else code
    return code
