"""Threads of numerical libraries."""

#: environment of a process that computes with one thread; more would compete with other processes for the cores
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
