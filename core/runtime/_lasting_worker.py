"""Worker process of `core.runtime.workers`: reads calls as JSON lines, and reports their progress and results."""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections import OrderedDict
from pathlib import Path
from typing import Any

from ..annotations.dataset import Dataset
from ..errors import InputError, PluralityError
from .chunks import CancelToken
from .encoding import from_bytes, kind_of, to_bytes
from .processes import limit_memory, stand_back
from .workers import NO_DATA, error_as, read_dataset

MOST_DATA = 2
_BEAT = 0.2


class _Calls:
    """Calls that this worker is computing."""

    def __init__(self) -> None:
        self.lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # libraries may print, so their output goes to the errors
        self.tokens: dict[str, CancelToken] = {}
        self.told: dict[str, list] = {}
        self.saying, self.reading = threading.RLock(), threading.Lock()
        self.data: OrderedDict[str, Dataset] = OrderedDict()

    def say(self, **message: Any) -> None:
        """Write one line to the parent; ignore a missing parent, because the end of the input ends this process."""
        with self.saying:
            self.lines.write(json.dumps(message, default=str) + "\n")
            self.lines.flush()

    def beat(self) -> None:
        """Report regularly that this process is alive, and the progress of its calls."""
        while True:
            time.sleep(_BEAT)
            with self.saying:
                told, self.told = self.told, {}
                for call in told:
                    self.say(call=call, told=told[call])
                if not told:
                    self.say()

    def do(self, call: str, data: str, asked: str, given: str, most: int | None = None) -> None:
        """Compute one call to its end; with ``most`` the process may take that many bytes more than it has."""
        token = self.tokens[call]
        failed = PluralityError if most is None else InputError  # the same file would fail in the same way

        def tell(*words: Any) -> None:
            self.told[call] = [word if isinstance(word, str) else float(word) for word in words]

        try:
            dataset = self._dataset(Path(data)) if data else NO_DATA
            if most is not None:
                limit_memory(most)
            name, arguments, options = from_bytes(Path(asked).read_bytes(), dataset)
            result = kind_of(name)(*arguments, **options, token=token, progress=tell)
            token.check()
            Path(given).write_bytes(to_bytes(result, dataset, compress=False))
            answer: dict[str, Any] = {}
        except PluralityError as error:
            answer = {"error": error_as(error)}
        except MemoryError:
            words = "Could not compute: there is not enough memory. Use fewer draws, raters or cases, and try again."
            if most is not None:
                words = "Could not read the file: there is not enough memory. Open only part of it."
            answer = {"error": error_as(failed(words))}
        except BaseException as error:  # a panic of a compiled library is no Exception, and the caller waits
            traceback.print_exc()
            words = f"Could not compute: {type(error).__name__} ({error}). Please report this."
            if most is not None:
                words = f"Could not read the file ({type(error).__name__}: {error}). Save it as CSV or Parquet."
            answer = {"error": error_as(failed(words))}
        self.tokens.pop(call)
        with self.saying:
            if (told := self.told.pop(call, None)) is not None:  # since the last beat
                self.say(call=call, told=told)
            self.say(call=call, **answer)

    def _dataset(self, path: Path) -> Dataset:
        with self.reading:
            found = self.data.pop(path.name, None) or read_dataset(path.read_bytes())
            self.data[path.name] = found
            while len(self.data) > MOST_DATA:
                self.data.popitem(last=False)
            return found


def _load(parts: list[str]) -> None:
    """Load kernels, so that the first call does not have to."""
    from ..warmup import warm_up

    warm_up(parts)


def _prepare(calls: _Calls, name: str) -> None:
    """Have a function load what the calls need, and report when it is done."""
    try:
        kind_of(name)()
    finally:
        calls.say(prepared=True)


def main(*, near: bool) -> None:
    """Take calls until the input ends, as it does with the parent; keep normal priority if somebody waits ``near``."""
    if not near:
        stand_back()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches the parent, which then ends the input
    calls = _Calls()
    threading.Thread(target=calls.beat, daemon=True).start()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "load" in message:
            threading.Thread(target=_load, args=(message["load"],), daemon=True).start()
            continue
        if "prepare" in message:
            threading.Thread(target=_prepare, args=(calls, message["prepare"]), daemon=True).start()
            continue
        if "cancel" in message:
            if (token := calls.tokens.get(message["cancel"])) is not None:
                token.cancel()
            continue
        calls.tokens[message["call"]] = CancelToken(message.pop("priority"))
        threading.Thread(target=calls.do, kwargs=message, daemon=True).start()
    os._exit(0)


if __name__ == "__main__":
    main(near=sys.argv[1:] == ["near"])
