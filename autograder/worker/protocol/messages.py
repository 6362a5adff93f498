"""The messages that pass between the grader and a worker: what can be asked, and what can be answered.

Values (`Value`) are Python data: None, bool, int, float, str, bytes, torch.Tensor, numpy arrays, sets, ranges, slices,
devices, and lists, tuples and dicts of them; `HandleRef` names an object that lives in the worker. Requests may hold
generators, named tuples, dataclasses, `Target`, `Known`, `Source` and `CallbackRef` as well. How they become bytes is
`wire`'s business; how they are carried out is `executor`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union

Value = Any


@dataclass(frozen=True)
class HandleRef:
    """An object of the student's that stays in the worker (an instance of one of their classes)."""

    id: int
    type_name: str = ""


@dataclass(frozen=True)
class Target:
    """What is called: `handle is None` names a top-level name of `module`; otherwise a method of that object.

    The empty name with a handle is the object itself (`m(x)`). A name may have dots: `Value.from_list`. As an argument
    it stands for what it names.
    """

    name: str
    module: str = ""
    handle: int | None = None


@dataclass(frozen=True)
class Known:
    """A function or class of a library, by its module and name."""

    module: str
    name: str


@dataclass(frozen=True)
class Source:
    """A function of the check's, to be defined in the worker."""

    name: str
    text: str


@dataclass(frozen=True)
class CallbackRef:
    """A function of the check's that stays in the grader: to call it is to ask for it (`CalledBack`)."""

    number: int


# ------------------------------------------------------------------ requests


@dataclass(frozen=True)
class Load:
    """Import one part (a module of the submission). Answered by `Loaded` or `Raised`.

    `forbidden` is what the part's manifest forbids: in a worker it is not there from then on.
    """

    module: str
    forbidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class Look:
    """What is `target`? Answered by `Found`, `Returned` (plain data) or `Missing`."""

    target: Target


@dataclass(frozen=True)
class Call:
    """Call `target`. `keep` says that the result stays in the worker and a HandleRef comes back."""

    target: Target
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict[str, Value])
    keep: bool = False


@dataclass(frozen=True)
class Observe:
    """Call `target` and say what else the call changed. Answered by `Observed`."""

    target: Target
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True)
class Vjp:
    """Call `target`, then pull `cotangents` back. Answered by `Gradients`, or `Misfit`.

    Every floating-point tensor in `args` and `kwargs` is made a leaf that requires grad, except those at the positions
    `frozen` of `args`. `cotangents` matches the floating-point tensors of the result in order (a None among them: that
    output takes no part). `then`, if not empty, are the arguments of a second call, made before the backward pass.
    """

    target: Target
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    cotangents: tuple[Value, ...]
    frozen: tuple[int, ...] = ()
    then: tuple[Value, ...] = ()


@dataclass(frozen=True)
class OpenStream:
    """Call `target` with an iterator that the worker makes itself as its last positional argument.

    The iterator yields `items`. With `count` it yields that many: item i is `items[i % len(items)]`, a string, with
    the number i after it, made when it is asked for. What the call returns is iterated over by `Advance`. With
    `memory_bytes` the worker may take that much more memory than it has now, until the stream is released.
    Answered by `Streamed`.
    """

    target: Target
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    items: tuple[Value, ...]
    count: int = 0
    memory_bytes: int = 0


@dataclass(frozen=True)
class Advance:
    """Take at most `most` further outputs of a stream, which `target` gave. Answered by `Streamed`."""

    target: Target
    stream: int
    most: int


@dataclass(frozen=True)
class Measure:
    """Call `target` under the allocation model. Answered by `Measured`, `Unmeasured` or `Misfit`.

    `tensors` says (index, shape, dtype) of those tensors that the worker makes itself; `args` has None in their place.
    With `cotangents` the inputs require gradients and the cotangents are pulled back; `grad` pulls back ones. `fake`:
    on tensors without content. `most_operations` ends the try (0: no budget).
    """

    target: Target
    args: tuple[Value, ...]
    tensors: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict[str, Value])
    cotangents: tuple[Value, ...] = ()
    grad: bool = False
    fake: bool = False
    most_operations: int = 0
    device: str = "cpu"


@dataclass(frozen=True)
class Operate:
    """Apply the operation `name`, one of `executor.OPERATIONS`, to `args`. Answered as a `Call` is."""

    name: str
    args: tuple[Value, ...]


@dataclass(frozen=True)
class Resume:
    """What a callback gave. Answered by what answers the request that called it, or by the next `CalledBack`."""

    value: Value


@dataclass(frozen=True)
class Release:
    """Forget the object (or end the stream) behind a handle. Answered by `Returned(None)`."""

    handle: int


Request = Union[Load, Look, Call, Observe, Vjp, OpenStream, Advance, Measure, Operate, Resume, Release]

# ------------------------------------------------------------------ replies


@dataclass(frozen=True)
class Ready:
    """Sent once, unasked: the layers are on, student code may come. What dies before it is the grader's fault."""


@dataclass(frozen=True)
class Loaded:
    """The part is imported. `kinds` names its functions and classes, which saves a `Look` for each.

    It is the same in every check: a worker is not told which names its check will look up.
    """

    kinds: dict[str, str]


@dataclass(frozen=True)
class Returned:
    """The call came back with data, or with a `HandleRef`. `objects` says that there are some inside of the data."""

    value: Value
    objects: bool = False


@dataclass(frozen=True)
class CalledBack:
    """Student code has called the callback `number`; the request goes on with a `Resume`."""

    number: int
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


@dataclass(frozen=True)
class Found:
    """The name exists: `kind` is "function", "class" or "object"."""

    kind: str


@dataclass(frozen=True)
class Missing:
    """No such name. `near` are names that are there and look like it."""

    name: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True)
class Raised:
    """Student code raised. `kinds` are the names in the exception's type's MRO, most special first.

    `frames` is a rendered traceback of the student's own frames; nothing of ours. `stub` says that a function of theirs
    does nothing but raise NotImplementedError.
    """

    kinds: tuple[str, ...]
    message: str
    frames: str = ""
    stub: bool = False


@dataclass(frozen=True)
class Unreadable:
    """The result (or a part of it) is of no kind that can be passed on. `where` is a path such as "[1]" or "".

    `reason` is said where the type alone does not explain it: too large, nested too deeply, not dense.
    """

    type_name: str
    where: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Misfit:
    """The result cannot be pulled back from: it has another shape, or another number of tensors. `reason` says so."""

    reason: str


@dataclass(frozen=True)
class Observed:
    """A result, the arguments as they are after the call, and which global states it changed.

    `changed` holds names among "torch random state", "numpy random state", "python random state", "default dtype",
    "grad mode", "thread count".
    """

    value: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gradients:
    """Outputs (detached) and gradients: None where none flows.

    `args` and `kwargs` mirror those of the request, each floating-point tensor replaced by its gradient, anything
    else by None. `parameters` holds those of a module's parameters by name, where the target belongs to a module.
    `cotangents_changed` says that the backward pass wrote into the cotangents.
    """

    value: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    parameters: dict[str, Value]
    cotangents_changed: bool = False


@dataclass(frozen=True)
class Streamed:
    """Outputs of a stream, a list of as many as were asked for or of those that were left.

    `pulled` is how many items have been taken from the iterator since the stream was opened; `done` says that no
    output is left.
    """

    stream: int
    value: Value
    pulled: int
    done: bool = False


@dataclass(frozen=True)
class Measured:
    """What the allocation model saw of one call. Bytes are those of tensors, inputs not counted.

    `peak` is the most at one time, `largest` that of the largest tensor, which `largest_operator` made in the line
    `largest_where` (empty where it was no line of the student's), `kept` what was alive after the forward pass.
    `operations` were dispatched, `elements` numbers they wrote, `products` multiply-adds of matrix products.
    `operators` are the names of all that ran. `value` is what the call gave and `args` are the gradients of its
    arguments, unless the worker made the inputs. `devices` are those of the result's tensors. `n` is the length,
    filled in by who asked.
    """

    peak: int
    largest: int
    largest_where: str
    largest_operator: str
    kept: int
    operations: int
    elements: int
    products: int
    operators: tuple[str, ...] = ()
    fake: bool = False
    n: int = 0
    value: Value = None
    args: tuple[Value, ...] = ()
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmeasured:
    """The call does not run on fake tensors, or not within the budget. No fault of anybody's."""

    reason: str


Reply = Union[
    Ready,
    Loaded,
    Returned,
    CalledBack,
    Found,
    Missing,
    Raised,
    Unreadable,
    Misfit,
    Observed,
    Gradients,
    Streamed,
    Measured,
    Unmeasured,
]
