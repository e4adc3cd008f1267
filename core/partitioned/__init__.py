"""Annotations that do not fit into memory: partitions of cases on disk, and computations on one at a time.

Rows are scattered by their case (`scatter`), each partition is read as any file is (`build`), and results are summed
over partitions in a fixed order. The numbers equal those of the data in memory.
"""
