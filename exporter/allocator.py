"""The C library's allocator, told to keep what a scrape frees.

A page is some hundred kilobytes. By default such blocks are mapped from the kernel and given back
each time, and the page faults of the next scrape cost a tenth of its time.
"""

import ctypes

_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_KEPT_BYTES = 16 * 2**20


def keep_freed_memory() -> None:
    """Raise glibc's thresholds (mallopt(3)); other C libraries are left as they are."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
