"""Which class a density's name stands for. Imported only in the process that needs it."""

from importlib import import_module

import numpy as np

from .density import Density

WHERE = {
    "dawid-skene": "..dawid_skene_density:DawidSkeneDensity",
    "hierarchical": "..hierarchical_density:HierarchicalDensity",
    "difficulty": "..difficulty.density:DifficultyDensity",
}


def density_from(name: str, settings: dict, arrays: dict[str, np.ndarray]) -> Density:
    """The density of that name from what its `Density.job` gave; a name that is not listed reads ``module:Class``."""
    module, _, kind = WHERE.get(name, name).partition(":")
    return getattr(import_module(module, __package__), kind).from_job(settings, arrays)
