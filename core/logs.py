"""Log of a server as lines of JSON, without the content of cases and without names (``PLURALITY_LOG=json``).

Entries of this project are kinds, counts and times, field by field. Entries of libraries and errors are reduced to the
place in the program and the class of the error, without the message, which may contain annotations.
"""

import json
import logging
import sys
import traceback

from .text import utc

LOGGER = "plurality"
_FIELDS = "plurality_fields"
_FRAMES = 6


class JsonLines(logging.Formatter):
    """Formatter that writes one line of JSON per record: time, level, origin, and fields without content of data."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        told: dict[str, object] = {
            "at": utc(record.created).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "from": record.name,
        }
        fields = getattr(record, _FIELDS, None)
        told |= fields if fields is not None else {"where": f"{record.module}:{record.lineno}"}
        if record.exc_info and record.exc_info[1] is not None:
            told |= places_of(record.exc_info[1])
        return json.dumps(told, ensure_ascii=True)


def places_of(error: BaseException) -> dict[str, object]:
    """Return the class of an error and the innermost places in the program that it passed, without its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{'/'.join(frame.filename.replace(chr(92), '/').split('/')[-3:])}:{frame.lineno}" for frame in frames]
    return {"error": type(error).__name__, "places": places}


def log(event: str, **fields: str | float | None) -> None:
    """Log an event of this project.

    Parameters
    ----------
    event : str
        Kind of the event.
    **fields
        Numbers, and words of the program: never content of data or names.
    """
    logging.getLogger(LOGGER).info(event, extra={_FIELDS: {"event": event, **fields}})


def log_warning(event: str, **fields: str | float | None) -> None:
    """Log an event that administrators should see; if no handler is set up, write its kind to standard error."""
    logging.getLogger(LOGGER).warning(event, extra={_FIELDS: {"event": event, **fields}})


def log_error(event: str, error: BaseException) -> None:
    """Log that something failed: the class of the error and its place, without its message."""
    logging.getLogger(LOGGER).error(event, extra={_FIELDS: {"event": event, **places_of(error)}})


def begin() -> logging.Handler:
    """Send all log records to standard error as lines of JSON; return the handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    own = logging.getLogger(LOGGER)
    own.setLevel(logging.INFO)
    logging.captureWarnings(capture=True)
    return handler
