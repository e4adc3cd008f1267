"""Density classes by name, imported only in the process that needs them."""

from importlib import import_module

import numpy as np

from .density import Density


def density_from(name: str, settings: dict, arrays: dict[str, np.ndarray]) -> Density:
    """Build the density of a name from the result of its `Density.job`.

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
