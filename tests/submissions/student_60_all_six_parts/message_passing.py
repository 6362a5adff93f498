"""Part 4: message passing: one operator, and the four layers that it is.

A token gathers what its neighbours have, each with a weight, and a matrix maps what was gathered. Do it with several
heads and add them up:

    aggregate(x) = sum over heads h of  W_h x V_h

W_h (n, n) says who listens to whom, V_h (d_in, d_out) what is done with what is heard. Dense layer, convolution, graph
layer and attention differ in who is a neighbour and in what makes the weights, and in nothing else; each function
below makes the weights of one of them, always with an axis for the heads. Biases and the nonlinearity between two
layers act on each token by itself, and are left out.

Source: Battaglia et al., Relational inductive biases, deep learning, and graph networks, 2018 (arXiv:1806.01261).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

# Your predictions. A layer commutes with a permutation when permuting the rows of x permutes the rows of the result
# and does nothing else. Which is the LARGEST group of permutations that each layer commutes with? Parameters, A and
# positions stay as they are; only the rows of x move. Parameters are generic, and a kernel has 3 <= size < n.
#
#   "none"            only the identity
#   "cyclic"          the n cyclic shifts
#   "automorphisms"   the permutations that leave A as it is (A is the graph's; nothing else has an A)
#   "all"             all n! permutations
SYMMETRIES = {
    # BEGIN SOLUTION
    # STARTER: "dense": "?",  # mlp_weights
    # STARTER: "conv_zeros": "?",  # conv_weights(n, size, "zeros")
    # STARTER: "conv_circular": "?",  # conv_weights(n, size, "circular")
    # STARTER: "graph": "?",  # graph_weights
    # STARTER: "attention": "?",  # attention_weights, queries and keys from x
    # STARTER: "attention_sinusoidal": "?",  # ... with a sinusoidal code added to x
    # STARTER: "attention_learned": "?",  # ... with a learned code added to x
    # STARTER: "attention_rotary": "?",  # ... with queries and keys rotated by their positions
    # STARTER: "attention_causal": "?",  # ... without a code, under a causal mask
    "dense": "none",  # every token has a column of its own
    "conv_zeros": "none",  # a shift pushes a token over the end
    "conv_circular": "cyclic",  # a ring has no end, but it has a direction
    "graph": "automorphisms",  # whoever has the same neighbours may be exchanged with them
    "attention": "all",  # it sees a set
    "attention_sinusoidal": "none",
    "attention_learned": "none",
    "attention_rotary": "none",  # differences of positions are as telling as positions
    "attention_causal": "none",  # the number of tokens that one may see is a position
    # END SOLUTION
}


def aggregate(x: Tensor, weights: Tensor, values: Tensor | None = None) -> Tensor:
    """The sum over heads of W_h x V_h: gather by the weights, map by the values, add up.

    Args:
        x: tokens (..., n, d_in).
        weights: (..., heads, n, n); weights[..., h, i, j] is how much of token j token i gathers in head h.
        values: (heads, d_in, d_out), one matrix for each head; None: the identity for all of them.

    Returns:
        (..., n, d_out). The leading axes of `x` and `weights` broadcast, so that one set of weights serves a batch.

    Example: x = [[1.], [10.]] and one head [[0., 1.], [0.5, 0.5]] give [[10.], [5.5]]; with values [[[2.]]] twice
    that.
    """
    # BEGIN SOLUTION
    gathered = weights @ x.unsqueeze(-3)  # (..., heads, n, d_in)
    if values is not None:
        gathered = gathered @ values  # (..., heads, n, d_out)
    return gathered.sum(dim=-3)
    # END SOLUTION


def mlp_weights(W: Tensor) -> Tensor:
    """A dense layer over the tokens: everyone is a neighbour, and each pair has a fixed weight of its own.

    Args:
        W: (n, n), the `weight` of nn.Linear(n, n): output i takes W[i, j] of input j.

    Returns:
        (1, n, n): one head.

    Example: mlp_weights([[1., 2.], [3., 4.]]) is [[[1., 2.], [3., 4.]]].
    """
    # BEGIN SOLUTION
    return W.unsqueeze(-3)
    # END SOLUTION


def conv_weights(n: int, size: int, padding: str) -> Tensor:
    """A convolution along a line: neighbours are near, and an offset has the same weight everywhere.

    With values = weight.permute(2, 1, 0), where `weight` (d_out, d_in, size) is that of nn.Conv1d, `aggregate` is
    nn.Conv1d(d_in, d_out, size, padding=size // 2, padding_mode=padding, bias=False) on (n, d_in), not (d_in, n).

    Args:
        n: number of tokens.
        size: of the kernel, odd. It may be larger than n.
        padding: "zeros": beyond the ends there is nothing; "circular": the last token is followed by the first.

    Returns:
        (size, n, n), float32, zeros and ones: one head for each offset. Head h lets position i read position
        i + h - size // 2. (So it is a cross-correlation, as in every deep-learning library.)

    Raises:
        ValueError: when `size` is even, or when `padding` is neither of the two.

    Example: conv_weights(3, 3, "zeros")[0] is [[0, 0, 0], [1, 0, 0], [0, 1, 0]]: position i reads position i - 1, and
    position 0 nothing. With "circular" its first row is [0, 0, 1].
    """
    # BEGIN SOLUTION
    if size % 2 == 0:
        raise ValueError(f"a kernel of size {size} has no middle: the size must be odd")
    if padding not in ("zeros", "circular"):
        raise ValueError(f"padding is 'zeros' or 'circular', not {padding!r}")
    positions = torch.arange(n)
    offsets = torch.arange(size) - size // 2
    read = positions[:, None] + offsets[:, None, None]  # (size, n, 1): what position i reads in head h
    if padding == "circular":
        read = read % n
    return (read == positions).float()
    # END SOLUTION


def graph_weights(A: Tensor, self_loops: bool, norm: str = "row") -> Tensor:
    """A layer on a graph: neighbours are those who send to a node, and their number decides the weights.

    Args:
        A: (n, n), 0 or 1, floating-point, zero diagonal. A[i, j] = 1 means that j sends to i.
        self_loops: let each node send to itself too, before anything is counted.
        norm: "row": A[i, j] / deg(i), the mean over those who send to i; "sym": A[i, j] / sqrt(deg(i) deg(j)). deg(i)
            is the number of nodes that send to i.

    Returns:
        (1, n, n), one head, in the dtype of `A`. A node to which nobody sends has a row of zeros.

    Raises:
        ValueError: when `A` is not square, has other entries than 0 and 1, or a loop on its diagonal; when `norm` is
            neither of the two; when `norm` is "sym" and A is not symmetric.

    Source: "sym" with self-loops: Kipf and Welling, 2017, equation 2 (arXiv:1609.02907); "row" without: the mean
    aggregator of Hamilton et al., GraphSAGE, 2017, section 3.3 (arXiv:1706.02216).

    Example: nodes 1 and 2 send to node 0, and nobody sends to them: the rows are [0, 0.5, 0.5], zeros and zeros; with
    self-loops [1/3, 1/3, 1/3], [0, 1, 0] and [0, 0, 1].
    """
    # BEGIN SOLUTION
    n = A.shape[-1]
    if A.shape != (n, n):
        raise ValueError(f"an adjacency matrix is square, and this one is {tuple(A.shape)}")
    if not ((A == 0) | (A == 1)).all() or A.diagonal().any():
        raise ValueError("an adjacency matrix holds 0 and 1, and 0 on its diagonal")
    if norm not in ("row", "sym"):
        raise ValueError(f"norm is 'row' or 'sym', not {norm!r}")
    if norm == "sym" and not torch.equal(A, A.T):
        raise ValueError("the symmetric norm is for undirected graphs, and this one has an edge in one direction only")
    if self_loops:
        A = A + torch.eye(n, dtype=A.dtype, device=A.device)
    # Where nobody sends the row holds zeros only: it may be divided by anything but 0.
    degrees = A.sum(dim=1, keepdim=True).clamp(min=1)
    weights = A / degrees if norm == "row" else A / (degrees * degrees.T).sqrt()
    return weights.unsqueeze(-3)
    # END SOLUTION


def attention_weights(q: Tensor, k: Tensor) -> Tensor:
    """Self-attention: everyone is a neighbour, and the data makes the weights.

    With values V_h O_h, where V_h (d_in, d_v) projects the tokens to the values of head h, and O_h (d_v, d_out) are
    the rows of the output projection that head h meets, `aggregate` is multi-head attention without its biases.

    Args:
        q: queries (..., heads, n, d_k).
        k: keys (..., heads, n, d_k).

    Returns:
        (..., heads, n, n): softmax over the keys of <query, key> / sqrt(d_k). Use what you like for it, torch.softmax
        included.

    Example: one head, q = [[[0.], [0.]]]: all scores are 0, so every weight is 1/2, whatever the keys are.
    """
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1)
    # END SOLUTION


def conv2d_weights(height: int, width: int, padding: str) -> Tensor:
    """Bonus: a 3 x 3 convolution in the plane.

    With values = weight.flatten(2).permute(2, 1, 0), where `weight` (d_out, d_in, 3, 3) is that of nn.Conv2d,
    `aggregate` is nn.Conv2d(d_in, d_out, 3, padding=1, padding_mode=padding, bias=False) on pixels as tokens.

    Args:
        height: rows of the image.
        width: columns of the image. The pixel in row r and column c is token r * width + c.
        padding: as in `conv_weights`.

    Returns:
        (9, height * width, height * width), float32, zeros and ones. Head 3 a + b lets pixel (r, c) read pixel
        (r + a - 1, c + b - 1).

    Raises:
        ValueError: when `padding` is neither "zeros" nor "circular".

    Example: one row of three pixels, height 1 and width 3: head 3 is conv_weights(3, 3, padding)[0], and so on to head
    5; with zeros the other six heads are 0 throughout, since there is no row above or below.
    """
    # BEGIN SOLUTION
    # A shift in the plane is one of the rows and one of the columns. With pixels in row-major order the matrix of the
    # two together is their Kronecker product.
    rows, columns = conv_weights(height, 3, padding), conv_weights(width, 3, padding)
    return torch.stack([torch.kron(row, column) for row in rows for column in columns])
    # END SOLUTION


"""The graph as a list of edges: degrees by index_add, weights by index_put."""

import torch


def graph_weights(A, self_loops, norm="row"):
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError("not square")
    if not A.is_floating_point():
        raise ValueError("not floating-point")
    if bool((A.double() * (A.double() - 1)).any()):
        raise ValueError("not 0 or 1")
    to, sender = A.nonzero(as_tuple=True)
    if bool((to == sender).any()):
        raise ValueError("loop")
    edges = {(int(i), int(j)) for i, j in zip(to, sender)}
    if norm == "sym":
        if any((j, i) not in edges for i, j in edges):
            raise ValueError("directed")
    elif norm != "row":
        raise ValueError("norm")
    n = A.shape[0]
    if self_loops:
        loops = torch.arange(n)
        to, sender = torch.cat((to, loops)), torch.cat((sender, loops))
    degree = torch.zeros(n).index_add(0, to, torch.ones(len(to)))
    strength = 1 / degree[to] if norm == "row" else torch.rsqrt(degree[to] * degree[sender])
    return torch.zeros(1, n, n, dtype=A.dtype).index_put((torch.zeros_like(to), to, sender), strength.to(A.dtype))
