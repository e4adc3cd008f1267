"""All that pages need, before the first one is asked for."""

import importlib
import pkgutil
from pathlib import Path

from pages.shared.cache import datasets


def load() -> None:
    """Import all modules of pages, and have their kernels, where they are compiled."""
    load_modules()
    datasets.load_early()


def load_modules() -> None:
    """Import all modules of pages."""
    for module in pkgutil.walk_packages([str(Path(__file__).parents[1])], f"{__package__.rpartition('.')[0]}."):
        importlib.import_module(module.name)
