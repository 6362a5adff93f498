"""A heap without holes: what a worker allocates lies together, and not on a page of the fork server's for each object.

After the libraries are loaded, some thousands of small free blocks are scattered over the heap. A worker that is given
them copies a page each; without them it grows at the end. (Of 1,250 pages that a worker's start and first import
copied, 200 were of that kind.) Only for the GNU C library; elsewhere it does nothing.
"""

from __future__ import annotations

import ctypes

_SIZES = (*(1 << power for power in range(15, 7, -1)), *range(128, 0, -16))
_AT_ONCE = 50
_MOST = 1_000  # rounds for one size: never reached where the heap is as described


class _Info(ctypes.Structure):
    """struct mallinfo2 of malloc.h, as far as it is needed: bytes in all, free bytes, those of them at the end."""

    _fields_ = (
        ("arena", ctypes.c_size_t),
        ("_", ctypes.c_size_t * 7),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    )


def fill_holes() -> int:
    """Take every free block but the last, for good. Returns the bytes of holes that are left."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        return 0
    libc.mallinfo2.restype = _Info
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    for size in _SIZES:
        for _ in range(_MOST):
            before = libc.mallinfo2()
            for _ in range(_AT_ONCE):
                libc.malloc(size - 8)  # 8 bytes of each block are the allocator's
            after = libc.mallinfo2()
            if after.keepcost < before.keepcost or after.arena > before.arena:
                break  # there was no hole of this size any more
    left = libc.mallinfo2()
    return left.fordblks - left.keepcost
