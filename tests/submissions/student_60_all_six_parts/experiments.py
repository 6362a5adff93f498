"""Part 6: what a code of the position buys, measured.

The smallest question about order: does A come before B, among fillers? A Transformer of two blocks is trained on it at
lengths 6 to 16, five times: without a code, without a code but causal, with a sinusoidal, a learned and a rotary one.
Then it is asked at lengths that it never saw. The codes themselves are part 3's; run this file to train, which takes
a minute or two:

    python experiments.py

It writes order_<arm>.safetensors beside itself: hand these five files in. The checks judge them on data of their own.
No checkpoint is read here, and nothing needs a GPU.

Source: Xiong et al., On Layer Normalization in the Transformer Architecture, 2020 (arXiv:2002.04745) for pre-norm.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from positions import LearnedPositions, rope, sinusoidal
from torch import Tensor, nn
from torch.nn import functional as F

A, B = 0, 1
SYMBOLS = 12  # A, B and ten fillers
TRAINED_LENGTHS = range(6, 17)
D_MODEL, HEADS, BLOCKS, MAX_LEN = 32, 4, 2, 64
STEPS, BATCH, LEARNING_RATE = 300, 128, 3e-3
ARMS = {
    "none": ("none", False),
    "none_causal": ("none", True),
    "sinusoidal": ("sinusoidal", False),
    "learned": ("learned", False),
    "rope": ("rope", False),
}
"""The arms of the experiment by name: which code of the position, and whether attention is causal."""


def draw_sequences(count: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw sequences of symbols with one A and one B each, and say which of the two comes first.

    Args:
        count: number of sequences.
        length: symbols in each, at least 2.
        seed: of a generator of its own: the same seed gives the same sequences, and no other random numbers are drawn.

    Returns:
        tokens: (count, length), int64. A (0) and B (1) once in each row, at two different places, any two equally
            likely in either order; everywhere else fillers, 2 .. SYMBOLS - 1, equally likely.
        labels: (count,), int64: 1 where A comes before B, 0 where it comes after.

    Example: the row [5, 0, 7, 7, 1, 2] has label 1.
    """
    # BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(B + 1, SYMBOLS, (count, length), generator=generator)
    # The first two places of a random order of all places are two different ones, any two equally likely.
    places = torch.rand(count, length, generator=generator).argsort(dim=1)[:, :2]
    tokens.scatter_(1, places, torch.tensor([A, B]).expand(count, 2))
    return tokens, (places[:, 0] < places[:, 1]).long()
    # END SOLUTION


class SelfAttention(nn.Module):
    """Multi-head self-attention, as in part 2. Library attention is welcome here.

    Args:
        d_model: width of the tokens, divisible by `heads`.
        heads: number of heads, each of width d_model // heads.
        rotary: turn queries and keys, head by head, with part 3's `rope`.
    """

    def __init__(self, d_model: int, heads: int, rotary: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.rotary = rotary
        # The checks load parameters by these names, which are those of part 2.
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """Let every token look at every other.

        Args:
            x: (B, n, d_model).
            mask: boolean (n, n), True means may attend; each query may attend to something.
            positions: integers (n,), for rotary attention only; None: 0 .. n - 1.

        Returns:
            (B, n, d_model).
        """
        # BEGIN SOLUTION
        q, k, v = (
            project(x).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        if self.rotary:
            positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
            q, k = rope(q, positions), rope(k, positions)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(-3, -2).flatten(-2))
        # END SOLUTION


class Block(nn.Module):
    """One layer of a Transformer, pre-norm: what is added to a token was computed from normalised tokens.

    x + attention(norm(x)) first, then the same with the feed-forward network, which sees each token by itself.

    Args:
        d_model: width of the tokens, divisible by `heads`.
        heads: number of heads.
        rotary: attention turns queries and keys by their positions.

    Source: Xiong et al., 2020, section 3, figure 1 (b).
    """

    def __init__(self, d_model: int, heads: int, rotary: bool = False) -> None:
        super().__init__()
        # The checks load parameters by these names.
        self.attention_norm = nn.LayerNorm(d_model)
        self.attention = SelfAttention(d_model, heads, rotary)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x: Tensor, mask: Tensor | None = None, positions: Tensor | None = None) -> Tensor:
        """One round of looking at the others, one of thinking alone.

        Args:
            x: (B, n, d_model).
            mask: boolean (n, n), for attention.
            positions: integers (n,), for attention.

        Returns:
            (B, n, d_model).

        Example: with `attention.out_proj` and the last layer of `feed_forward` all zeros, the result is `x`.
        """
        # BEGIN SOLUTION
        x = x + self.attention(self.attention_norm(x), mask, positions)
        return x + self.feed_forward(self.feed_forward_norm(x))
        # END SOLUTION


class OrderModel(nn.Module):
    """Reads a sequence of symbols and says whether A comes before B.

    Args:
        position: the code of the position: "none", "sinusoidal" or "learned" (added to the embedded symbols, once), or
            "rope" (in the attention of every block).
        causal: tokens may attend to themselves and to what comes before them, and not to what comes after.
    """

    def __init__(self, position: str, causal: bool) -> None:
        super().__init__()
        self.position = position
        self.causal = causal
        # The checks load parameters by these names.
        self.embedding = nn.Embedding(SYMBOLS, D_MODEL)
        if position == "learned":
            self.code = LearnedPositions(MAX_LEN, D_MODEL)
        self.blocks = nn.ModuleList(Block(D_MODEL, HEADS, rotary=position == "rope") for _ in range(BLOCKS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, 2)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Embed, add the code if there is one to add, go through the blocks, normalise, average over tokens, decide.

        Args:
            tokens: (B, n) integers in 0 .. SYMBOLS - 1.
            positions: integers (n,), where the tokens stand; None: 0 .. n - 1. Which token is earlier, for `causal`,
                is a question of the order in `tokens` alone.

        Returns:
            (B, 2): logits. The second speaks for "A comes before B".
        """
        # BEGIN SOLUTION
        n = tokens.shape[-1]
        positions = torch.arange(n, device=tokens.device) if positions is None else positions
        x = self.embedding(tokens)
        if self.position == "sinusoidal":
            x = x + sinusoidal(positions, D_MODEL).to(x)
        elif self.position == "learned":
            x = x + self.code(positions)
        mask = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril() if self.causal else None
        for block in self.blocks:
            x = block(x, mask, positions)
        return self.head(self.norm(x).mean(dim=-2))
        # END SOLUTION


def train(position: str, causal: bool, steps: int = STEPS, seed: int = 0) -> dict[str, Tensor]:
    """Train an OrderModel on sequences of the trained lengths; the same arguments give the same numbers.

    AdamW with LEARNING_RATE on the cross entropy. Each step draws a length from TRAINED_LENGTHS and BATCH fresh
    sequences of that length.

    Args:
        position: as in `OrderModel`.
        causal: as in `OrderModel`.
        steps: updates; 0 gives the model as it was initialised.
        seed: decides every random number, those of the initialisation included.

    Returns:
        The state_dict of the trained model.
    """
    # BEGIN SOLUTION
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = OrderModel(position, causal)
        lengths = torch.randint(TRAINED_LENGTHS.start, TRAINED_LENGTHS.stop, (steps,)).tolist()
        seeds = torch.randint(2**62, (steps,)).tolist()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step, (length, batch_seed) in enumerate(zip(lengths, seeds, strict=True), start=1):
        tokens, labels = draw_sequences(BATCH, length, batch_seed)
        loss = F.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show_progress(step, steps, loss.item())
    return model.state_dict()
    # END SOLUTION


def show_progress(step: int, steps: int, loss: float) -> None:
    """A bar that grows from left to right, with the loss behind it. Written at every twentieth of the way."""
    if step % math.ceil(steps / 20) == 0 or step == steps:
        done = round(20 * step / steps)
        print(f"\r  [{'#' * done}{'.' * (20 - done)}] {step}/{steps}  loss {loss:.3f}", end="", flush=True)
        if step == steps:
            print()


@torch.no_grad()
def accuracy(model: nn.Module, length: int, count: int = 1000, seed: int = 1_000_000) -> float:
    """The fraction of fresh sequences of one length that a model answers rightly."""
    tokens, labels = draw_sequences(count, length, seed)
    return (model(tokens).argmax(dim=-1) == labels).float().mean().item()


def main() -> None:
    """Train every arm, save its weights beside this file, and print how well it does at each length."""
    from safetensors.torch import save_file

    torch.set_num_threads(1)  # small products gain nothing from more, and sums are then added in one order
    lengths = (6, 16, 24, 32, 64)
    table = [f"{'accuracy at length':20}" + "".join(f"{length:>7}" for length in lengths)]
    for arm, (position, causal) in ARMS.items():
        print(f"{arm}:")
        weights = train(position, causal)
        save_file(weights, Path(__file__).with_name(f"order_{arm}.safetensors"))
        model = OrderModel(position, causal)
        model.load_state_dict(weights)
        table.append(f"{arm:20}" + "".join(f"{accuracy(model, length):7.2f}" for length in lengths))
    print("\n".join(table))


if __name__ == "__main__":
    main()


"""Attention by hand with einsum, heads as a fifth letter, and a mask of large negative numbers."""

import torch


class SelfAttention(SelfAttention):
    def forward(self, x, mask=None, positions=None):
        b, n, d = x.shape
        q, k, v = (p(x).view(b, n, self.heads, -1) for p in (self.q_proj, self.k_proj, self.v_proj))
        if self.rotary:
            positions = torch.arange(n) if positions is None else positions
            q, k = (rope(each.transpose(1, 2), positions).transpose(1, 2) for each in (q, k))
        scores = torch.einsum("bihd,bjhd->bhij", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), -1e9)
        return self.out_proj(torch.einsum("bhij,bjhd->bihd", scores.softmax(-1), v).reshape(b, n, d))
