"""What a worker may answer: which replies fit which request, and how long their texts may be.

A forged reply may be of any kind and hold a megabyte of text.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.worker.protocol import messages
from autograder.worker.protocol.messages import Raised, Reply, Request, Returned

_MOST_NAMES = 1000  # of a part

ANSWERS: dict[type[Request], tuple[type[Reply], ...]] = {
    messages.Load: (messages.Loaded, Raised),
    messages.Look: (Returned, messages.Found, messages.Missing, Raised),
    messages.Call: (Returned, messages.Missing, messages.Unreadable, Raised),
    messages.Observe: (messages.Observed, messages.Missing, messages.Unreadable, Raised),
    messages.Vjp: (messages.Gradients, messages.Misfit, messages.Missing, messages.Unreadable, Raised),
    messages.OpenStream: (messages.Streamed, messages.Missing, messages.Unreadable, Raised),
    messages.Advance: (messages.Streamed, messages.Missing, messages.Unreadable, Raised),
    messages.Measure: (
        messages.Measured,
        messages.Unmeasured,
        messages.Misfit,
        messages.Missing,
        messages.Unreadable,
        Raised,
    ),
    messages.Release: (Returned,),
}


def bounded(reply: Reply) -> Reply:
    """Texts cut to what a worker of ours sends: a forged reply may hold a megabyte."""
    if isinstance(reply, Raised):
        kinds = tuple(kind[:200] for kind in reply.kinds[:20])
        return Raised(kinds, reply.message[:2000], reply.frames[:6000], reply.stub)
    if isinstance(reply, messages.Missing):
        return messages.Missing(reply.name[:200], tuple(name[:200] for name in reply.near[:3]))
    if isinstance(reply, messages.Unreadable):
        return messages.Unreadable(reply.type_name[:200], reply.where[:200], reply.reason[:200])
    if isinstance(reply, messages.Misfit):
        return messages.Misfit(reply.reason[:200])
    if isinstance(reply, messages.Measured):
        texts = {name: getattr(reply, name)[:200] for name in ("largest_where", "largest_operator")}
        operators, devices = (tuple(x[:200] for x in each[:400]) for each in (reply.operators, reply.devices))
        return replace(reply, **texts, operators=operators, devices=devices)
    if isinstance(reply, messages.Unmeasured):
        return messages.Unmeasured(reply.reason[:200])
    if isinstance(reply, messages.Found):
        return messages.Found(reply.kind if reply.kind in ("function", "class", "object") else "object")
    if isinstance(reply, messages.Loaded):
        known = [each for each in reply.kinds.items() if each[1] in ("function", "class")]
        return messages.Loaded(dict(known[:_MOST_NAMES]))
    return reply
