"""Run work and keep its results: threads, child processes, other computers, jobs, caches and kernels."""
