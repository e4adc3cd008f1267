"""A process of a server for a team, there again at once. Run: ``python -m pages.shared.shell.server OPTION …``.

The options are those of ``streamlit run app.py``. What pages need, modules and kernels, is loaded once, by a process
that serves nobody; its child serves, and where that is killed, as one is that takes more memory than there is, the next
one begins with all of it loaded. For systems that fork.
"""

import logging
import sys
from collections.abc import Sequence
from functools import partial

from streamlit.logger import get_logger
from streamlit.web import cli

from core.runtime.supervisor import limit_arenas
from core.settings import one_thread_a_library

# It says of each function that keeps what it gives that no server runs yet.
_SAYS = get_logger("streamlit.runtime.caching.cache_data_api")


def main(options: Sequence[str]) -> None:
    """Load all, then keep a child that serves."""
    one_thread_a_library()
    limit_arenas()
    from core.runtime.chunks import rest
    from core.runtime.supervisor import restart_on_exit
    from pages.shared.cache import operations

    operations.begin()
    usual = _SAYS.level
    _SAYS.setLevel(logging.ERROR)
    from pages.shared.shell.loading import load  # with what the level is for

    load()
    _SAYS.setLevel(usual)
    rest()
    code = restart_on_exit(partial(cli.main, ["run", "app.py", *options]))
    raise SystemExit(code if code >= 0 else 128 - code)  # of a signal as shells say it


if __name__ == "__main__":
    main(sys.argv[1:])
