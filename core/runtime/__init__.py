"""How work is run and its results are kept: threads, child processes, other computers, jobs, caches, kernels."""
