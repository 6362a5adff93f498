"""What confines a worker, one module a layer; `child` puts them on in the order of `LAYERS`.

Each has `put_on(placement)`, which confines the calling process for good or raises. The two that not every machine
has, `landlock` and `seccomp`, also say by `prepare` whether this one has them. Which layers are wanted is decided,
and that they hold is proved, on the trusted side.
"""

from __future__ import annotations

from . import identity, landlock, privileges, resources, seccomp

LAYERS = (identity.put_on, resources.put_on, privileges.put_on, landlock.put_on, seccomp.put_on)
