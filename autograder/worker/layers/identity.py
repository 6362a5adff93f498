"""The identity: a user and group id that no other process has, no other groups, no capabilities.

It does nothing where the fork server has no ids to give (an ordinary user). Which id is free is the fork server's
business.
"""

from __future__ import annotations

import os

from ..confinement import Placement


def put_on(placement: Placement) -> None:
    """Become the worker's user. Raises `OSError`."""
    os.umask(0o077)
    uid = placement.uid
    if uid is None:
        return
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if os.getresuid() != (uid, uid, uid) or os.getresgid() != (uid, uid, uid) or os.getgroups():
        raise PermissionError(f"the user id is {os.getresuid()} where {uid} was set")
