"""Imports of all modules that pages need, before the first page is requested."""

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path

from pages.shared.cache import datasets


def load() -> None:
    """Import all modules of pages, and load their kernels if they are compiled."""
    load_modules()
    datasets.load_early()


def load_modules(rooms: Sequence[str] = ()) -> None:
    """Import the modules of pages.

    Parameters
    ----------
    rooms : sequence of str, optional
        Folders of ``pages/shared`` whose modules are imported; all by default.
    """
    for module in pkgutil.walk_packages([str(Path(__file__).parents[1])], f"{__package__.rpartition('.')[0]}."):
        if not rooms or module.name.split(".")[2] in rooms:
            importlib.import_module(module.name)
