"""What the exceptions that students meet most often mean, in a sentence each.

A message is recognised by the words that torch and Python use. No sentence repeats the message, so each may be shown
for a hidden check, too.
"""

from __future__ import annotations

import re

from autograder.results import ImportFailed, Raised, Reason

_MEMORY = (
    "Your code asked for more memory than a check may use. Look for a tensor, or for a list of numbers in the source, "
    "that is larger than it needs to be."
)
_ALONE = (
    "Checks run without a network and in one process: downloads, multiprocessing, subprocess and DataLoader workers do "
    "not work here. Compute it in your function itself; threads are fine."
)
_FILES = (
    "A check may read what you handed in and the installed libraries, and write files only into the current folder "
    "and with tempfile."
)
_OUT_OF_MEMORY = r"allocate memory|not enough memory|out of memory"
_BY_MESSAGE: tuple[tuple[str, str], ...] = (
    (_OUT_OF_MEMORY, _MEMORY),
    (
        r"\[Errno 1\] Operation not permitted|failure in name resolution|Name or service not known"
        r"|\[Errno 13\] Permission denied(?!:)",  # the locks of multiprocessing; a file would be named
        _ALONE,
    ),
    (r"\[Errno 13\] Permission denied:|\[Errno 30\] Read-only file system", _FILES),
    (r"\[Errno 27\] File too large", "It writes a larger file than a check may."),
    (
        r"does not require grad and does not have a grad_fn|appears to not have been used in the graph",
        "The graph of gradients is cut. Look for detach(), .data, no_grad(), item(), numpy() and tensors made anew.",
    ),
    (
        r"leaf [Vv]ariable that requires grad is being used in an in-place|modified by an inplace operation",
        "An in-place operation (x -= ..., x[...] = ..., x.mul_()) changes a tensor that gradients still need.",
    ),
    (
        r"cannot be converted to type \S*(Half|BFloat16)\S* without overflow",
        "A constant is too large for half precision. Use torch.finfo(x.dtype).min or -inf, not a number such as -1e9.",
    ),
    (
        r"cannot be converted to type .* without overflow",
        "A constant is too large for the dtype of the tensor, such as torch.finfo(torch.float64).max for float32.",
    ),
    (
        r"same dtype|expected scalar type|same data type",
        "Two tensors of different dtypes meet. Look which one has another dtype than the input, and where it was made: "
        "here, or in a function that this one calls.",
    ),
    (
        r"view size is not compatible",
        "view() needs a tensor whose memory is in order, which transpose() undoes. Use reshape().",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "A tensor of several values has no single truth value. Ask `if mask is not None`, not `if mask`.",
    ),
    (
        r"(not enough|too many) values to unpack|number of dimensions in the tensor input does not match"
        r"|Expected 1-D argument",
        "A fixed number of axes is asked for, and there are more or fewer: count from the end (shape[-2:], "
        "transpose(-2, -1)) and leave the leading axes alone.",
    ),
    (
        r"arg is an empty sequence|Expected reduction dim to be specified|iterable argument is empty",
        "The largest or smallest of nothing is asked for: an empty input, or one in which nothing is left.",
    ),
    (
        r"must match the size of tensor b|first two dimensions of batch2",
        "The shapes of two tensors do not fit: axes are lined up from the last one on. Look for one that needs an axis "
        "of length 1 (unsqueeze), is exchanged with another, or comes from another tensor.",
    ),
    (
        r"maximum size for tensor at dimension",
        "unfold needs an axis at least as long as its window: a short input needs an answer of its own, or padding.",
    ),
    (
        r"is invalid for input of size|multiply up to the size|cannot reshape tensor of 0 elements",
        "A reshape does not fit the number of entries: sizes that do not divide, or a -1 for an empty tensor.",
    ),
    (
        r"returned an invalid gradient at index",
        "backward() returns one gradient for each argument of forward(), in that order, each of the argument's shape.",
    ),
    (
        r"Dimension out of range",
        "An axis is named that the tensor does not have. Count axes from the end (dim=-1): there may be no batch axis.",
    ),
    (
        r"'NoneType' object",
        "Something is None that should not be. Look for an optional argument (mask=None), and for a missing return.",
    ),
    (
        r"not compiled with CUDA|NVIDIA driver|[Nn]o CUDA|support for mps|from the '(MPS|CUDA)' backend",
        "A GPU is asked for (.cuda(), device='cuda', device='mps'), and there is none where it is checked. Make "
        "tensors on the device of the input (device=x.device).",
    ),
    (
        r"can't convert .* device type tensor|Expected all tensors to be on the same device",
        "Two tensors on different devices meet. Make new tensors on the device of the input (device=x.device).",
    ),
)
_BY_KIND = {
    "RecursionError": "A function calls itself without an end.",
    "MemoryError": _MEMORY,
    "ModuleNotFoundError": "A module is imported that is not there: submissions may use what the handout lists.",
    "BdbQuit": "breakpoint() needs a terminal: run `softmark check --in-process`, and take it out before handing in.",
    "EOFError": "input() waits for somebody to type, and nobody is there: take the value as an argument.",
    "SyntaxError": "Python cannot read this line. If your own Python can, it is newer than the one that checks here.",
    "SystemExit": "exit() or sys.exit() was called: a function has to return its result.",
    "KeyboardInterrupt": "A KeyboardInterrupt was raised by your own code: a function has to return its result.",
}


def what_it_means(reason: Reason | None) -> str:
    """The sentence for what student code raised, in a call or on import; "" for any other exception."""
    if isinstance(reason, ImportFailed):
        reason = reason.why
    if not isinstance(reason, Raised):
        return ""
    for pattern, sentence in _BY_MESSAGE:
        if re.search(pattern, reason.message[:2000]):
            return sentence
    return next((_BY_KIND[kind] for kind in reason.kinds if kind in _BY_KIND), "")


def is_out_of_memory(reason: Reason | None) -> bool:
    """Whether student code raised because memory ran out."""
    if not isinstance(reason, Raised) or not reason.kinds:
        return False
    return reason.kinds[0] == "MemoryError" or bool(re.search(_OUT_OF_MEMORY, reason.message[:2000]))
