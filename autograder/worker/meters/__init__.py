"""Meters that run beside student code, in the worker. What they say explains; it proves nothing, since that code could
have changed them. What decides is read from outside (`sandbox.account`)."""
