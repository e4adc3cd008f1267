"""The class that a density's name stands for. Imported only in the process that needs it."""

from importlib import import_module

import numpy as np

from .density import Density


def density_from(name: str, settings: dict, arrays: dict[str, np.ndarray]) -> Density:
    """The density of that name, ``module:Class``, from what its `Density.job` gave."""
    module, _, kind = name.partition(":")
    return getattr(import_module(module), kind).from_job(settings, arrays)
