"""Annotations that do not fit into memory: partitions of cases on disk, and what is computed of them one by one.

Rows are scattered by their case (`scatter`), each partition is read as any file is (`build`), and what is asked is
summed over partitions in a fixed order: the numbers are those of the data in memory.
"""
