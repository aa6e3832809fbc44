"""The C library's allocator, told to keep what a scrape frees, once for all threads.

A page is some hundred kilobytes. By default such blocks are mapped from the kernel and given back
each time, and the page faults of the next scrape cost a tenth of its time. Threads would each keep
memory of their own, which doubles the whole; they never allocate at once, as Python runs one.
"""

import ctypes

_ARENA_MAX = -8
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_KEPT_BYTES = 16 * 2**20


def keep_freed_memory() -> None:
    """Set glibc's limits (mallopt(3)); other C libraries are left as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
        mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
