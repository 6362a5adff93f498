"""The untrusted side: what runs in the fork server and in the workers forked from it.

This package is copied to a folder of its own and started there as `softmark_worker`; it imports nothing else of
`autograder`. It holds no secret. Read in this order: `protocol.messages`, `protocol.wire`, `loader`, `executor`,
`child`, `forkserver.server`.
"""
