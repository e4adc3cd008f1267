"""The class that a density's name stands for. Imported only in the process that needs it."""

from importlib import import_module

import numpy as np

from .density import Density


def density_from(name: str, settings: dict, arrays: dict[str, np.ndarray]) -> Density:
    """The density of that name, from what its `Density.job` gave.

    Parameters
    ----------
    name : str
        ``module:Class``.
    settings : dict
    arrays : dict of str to ndarray
        Both as `Density.job` gave them.
    """
    module, _, kind = name.partition(":")
    return getattr(import_module(module), kind).from_job(settings, arrays)
