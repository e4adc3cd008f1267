"""The version that stands beside every number and in every cache key."""

__version__ = "0.1.0"
