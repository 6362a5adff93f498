"""What confines a worker, one module a layer; `child` puts them on in the order of `LAYERS`.

Each has `put_on(placement)`, which confines the calling process for good or raises. Which layers are wanted is
decided, and that they hold is proved, on the trusted side.
"""

from __future__ import annotations

from . import identity, privileges, resources

LAYERS = (identity.put_on, resources.put_on, privileges.put_on)
