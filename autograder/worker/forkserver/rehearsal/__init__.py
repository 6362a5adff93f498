"""A few calls as workers get them, carried out in the fork server before any fork.

What Python and torch make ready at the first use (specialised byte code, tables of operators, buffers) is then there
for every worker, and no longer a copy of its own: a sixth of what a short worker costs. Nothing is rehearsed that would
leave a thread behind, of which a fork knows nothing: no backward pass, and all of it on one thread. It is tried in a
process of its own first.
"""

from __future__ import annotations

import os

import torch

from ...executor import Executor
from ...loader import Loader
from ...protocol.messages import Call, Load, Look, Observe, Raised, Request, Target
from ...protocol.wire import decode_request, encode, ticket_of
from ..processes import threads

_TIMES = 10  # Python specialises code that has run eight times


def rehearse() -> bool:
    """Carry the calls out here, if a copy of this process comes through with one thread. Returns whether they were."""
    copy = os.fork()
    if copy == 0:
        try:
            _carry_out()
            os._exit(0 if threads() == 1 else 1)
        except BaseException:
            os._exit(2)
    came_through = os.waitpid(copy, 0)[1] == 0
    if came_through:
        _carry_out()
    return came_through


def _carry_out() -> None:
    loader = Loader(os.path.dirname(__file__), ["part"])
    executor = Executor(loader)
    with loader.installed():
        for _ in range(_TIMES):
            for request in _requests():
                frame = bytearray().join(encode(request, 1))
                ticket_of(frame)
                reply = executor.carry_out(decode_request(frame))
                if isinstance(reply, Raised):
                    raise RuntimeError(reply.message)
                bytearray().join(encode(reply))


def _requests() -> list[Request]:
    attention, softmax, tokens = (Target(name, "part") for name in ("attention", "softmax", "tokens"))
    requests: list[Request] = [
        Load("part"),
        Look(tokens),
        Call(tokens, ("text", [1, 2])),
    ]
    for dtype in (torch.float32, torch.float64):
        q = torch.zeros(2, 3, 5, dtype=dtype)
        requests += [Call(attention, (q, q), {"v": q}), Observe(softmax, (q,))]
    return requests
