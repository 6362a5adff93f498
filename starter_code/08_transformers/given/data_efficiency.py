"""What a weak inductive bias costs: one network, four kinds of neighbours, few samples. Nothing to write here.

The task does not care where things stand: somewhere on a line of fillers A and B are neighbours; which is on the left?
The network is the same each time, one layer of part 4's `aggregate` with three heads, and only the weights of its
heads are made differently. A convolution knows from the start that neighbours matter and that places do not.
Attention with a learned code, and a dense layer, have to learn it for each place. With RoPE attention knows distances,
but not that near ones matter.

It runs your `message_passing.py`, and for one kind your `rope`.
"""

from __future__ import annotations

import torch
from message_passing import aggregate, attention_weights, conv_weights, mlp_weights
from positions import rope
from torch import Tensor, nn
from torch.nn import functional as F

KINDS = ("convolution", "attention, RoPE", "dense", "attention, learned code")
PLACES, SYMBOLS, WIDTH, HEADS = 16, 12, 24, 3
STEPS, BATCH, LEARNING_RATE = 300, 64, 3e-3
TESTED = 2000


def draw(count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Lines of fillers (2 .. SYMBOLS - 1) with A (0) and B (1) side by side; the label is 1 where A is on the left."""
    tokens = torch.randint(2, SYMBOLS, (count, PLACES), generator=generator)
    left = torch.randint(PLACES - 1, (count,), generator=generator)
    labels = torch.randint(2, (count,), generator=generator)
    rows = torch.arange(count)
    tokens[rows, left], tokens[rows, left + 1] = 1 - labels, labels
    return tokens, labels


class Layer(nn.Module):
    """Gather by the weights of the kind, map by the values: `aggregate` with three heads."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.values = nn.Parameter(torch.randn(HEADS, WIDTH, WIDTH) / (HEADS * WIDTH) ** 0.5)
        if kind == "convolution":
            self.register_buffer("shifts", conv_weights(PLACES, HEADS, "zeros"))
        elif kind == "dense":
            self.dense = nn.Parameter(torch.randn(HEADS, PLACES, PLACES) / PLACES**0.5)
        else:
            self.query, self.key = (nn.Parameter(torch.randn(HEADS, WIDTH, 16) / WIDTH**0.5) for _ in range(2))

    def weights(self, x: Tensor) -> Tensor:
        """(HEADS, n, n), and for attention one such for each sequence of the batch."""
        if self.kind == "convolution":
            return self.shifts
        if self.kind == "dense":
            return torch.cat([mlp_weights(head) for head in self.dense])
        q, k = x.unsqueeze(-3) @ self.query, x.unsqueeze(-3) @ self.key
        if self.kind == "attention, RoPE":
            q, k = rope(q, torch.arange(PLACES)), rope(k, torch.arange(PLACES))
        return attention_weights(q, k)

    def forward(self, x: Tensor) -> Tensor:
        return aggregate(x, self.weights(x), self.values)


class Network(nn.Module):
    """Embed, one layer beside a short cut, average over the tokens, decide."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(SYMBOLS, WIDTH)
        self.code = nn.Parameter(torch.randn(PLACES, WIDTH)) if kind == "attention, learned code" else None
        self.norm = nn.LayerNorm(WIDTH)
        self.layer = Layer(kind)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        if self.code is not None:
            x = x + self.code
        x = x + F.gelu(self.layer(self.norm(x)))
        return self.head(x.mean(dim=-2))


def accuracy_after(kind: str, samples: int, seed: int) -> float:
    """The fraction of TESTED fresh lines answered rightly after STEPS updates on so many samples.

    Args:
        kind: one of KINDS.
        samples: how many lines there are to learn from; batches of BATCH are drawn from these.
        seed: of samples, initialisation and batches. The lines for the test are always the same.
    """
    generator = torch.Generator().manual_seed(seed)
    tokens, labels = draw(samples, generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Network(kind)
    fit = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, fused=True)
    for _ in range(STEPS):
        batch = torch.randint(samples, (BATCH,), generator=generator)
        fit.zero_grad()
        F.cross_entropy(network(tokens[batch]), labels[batch]).backward()
        fit.step()
    fresh, expected = draw(TESTED, torch.Generator().manual_seed(1_000_000))
    with torch.no_grad():
        return (network(fresh).argmax(dim=-1) == expected).double().mean().item()
