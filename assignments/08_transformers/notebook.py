# %% [markdown]
# # Tokens, attention, positions: the road in pictures
#
# This notebook goes along the handout (`README.md` beside it) and draws what your code does. **There is nothing to
# hand in here and nothing to write**, apart from guesses where it asks for them: you complete the `.py` files, and
# come back to look.
#
# Start it in the folder of those files. Where a function is still missing, the step says which one it is and goes on.
# When you have written it, save the file and run the cell again; the notebook loads it anew. To see all, choose
# *Run All*: about half a minute.

# %%
# %load_ext autoreload
# %autoreload 2
import torch
from given import pictures
from given.step import NotYet, step

torch.set_num_threads(1)

# %% [markdown]
# ## 1 Tokens
#
# Text, images, time series: slice them into units, and one architecture reads them all.
#
# Byte-pair encoding begins with single bytes and joins the most frequent pair of neighbours, again and again. The `ï`
# is two bytes, and stays two tokens until a merge joins them. Look at where merges do *not* go: over a space they never
# do, since pre-tokens are cut first.

# %%
import tokens

TRAINED_ON = """A tokenizer slices text into tokens, and the tokens are what a model reads. The slices that come often
become tokens of their own: first pairs of letters, then endings, then words. What is rare stays in pieces. A model
reads the pieces all the same, since every byte is a token, too. The slower the training, the longer the tokens."""
SENTENCE = "the naïve tokenizer slices the rarest words into pieces"
GERMAN = "die seltensten Wörter werden vom Zerleger in viele kleine Stücke zerlegt"


def tokenizer_after(merges):
    """A tokenizer with these merges and no special tokens."""
    units = [bytes([byte]) for byte in range(256)] + [first + second for first, second in merges]
    return tokens.Tokenizer(dict(enumerate(units)), merges, []), units


def shown(unit):
    """A token as text where it is text, else as hexadecimal bytes."""
    return unit.decode() if unit.decode(errors="ignore") else unit.hex().upper()


with step(
    "Figure 1. The same sentence after more and more merges (left; what is no text by itself is written in "
    "hexadecimal), and how many bytes a token holds (right). Merges serve the language that they were trained on."
):
    _, merges = tokens.train_bpe(TRAINED_ON, 256 + 140, [])
    rows = {}
    for count in (0, 10, 40, len(merges)):
        tokenizer, units = tokenizer_after(merges[:count])
        rows[f"{count} merges"] = [shown(units[id]).replace(" ", "␣") for id in tokenizer.encode(SENTENCE)]
    saved = {"the text of the training": TRAINED_ON, "this sentence": SENTENCE, "one in German": GERMAN}
    for name, text in saved.items():
        at = range(0, len(merges) + 1, 10)
        lengths = [len(tokenizer_after(merges[:count])[0].encode(text)) for count in at]
        saved[name] = {count: len(text.encode()) / length for count, length in zip(at, lengths, strict=True)}
    pictures.token_rows(rows, saved)

# %% [markdown]
# An image becomes patches, row by row; a series becomes windows. In the picture each patch has been put together again
# with `unpatchify`: what looks like a patch of the image is one.

# %%
down, across = torch.meshgrid(torch.linspace(0, 1, 18), torch.linspace(0, 1, 30), indexing="ij")
circle = (((down - 0.5) ** 2 + (1.6 * (across - 0.62)) ** 2) < 0.13).float()
image = torch.stack((0.25 + 0.6 * circle, 0.3 + 0.45 * across - 0.1 * circle, 0.75 - 0.5 * down))
time = torch.arange(60)
series = (time * 0.35).sin() + 0.4 * (time * 1.3).sin()

with step("Figure 2. Three kinds of data, one idea: what a model gets is a row of tokens, numbered in their order."):
    patches = tokens.patchify(image[None], 6)
    pieces = [tokens.unpatchify(patches[:, [i]], 6, 6, 6)[0] for i in range(patches.shape[1])]
    windows = tokens.windows(series[None, :, None], 16, 11)[0]
    pictures.patches_and_windows(image, pieces, 6, series, windows, 16, 11)

# %% [markdown]
# ## 2 Attention
#
# Each token asks, each token answers, and softmax makes weights of how well the two match. In the next picture
# queries and keys are the same vectors, one for each word, drawn at random: so a word matches itself, wherever it
# stands. The three masks say who may be asked.

# %%
import attention

WORDS = ["the", "owl", "saw", "the", "mouse", "and", "the", "mouse", "saw", "the", "owl"]
n, d = len(WORDS), 16
drawn = torch.randn(len(set(WORDS)), d, generator=torch.Generator().manual_seed(3))
embedded = drawn[[sorted(set(WORDS)).index(word) for word in WORDS]]

with step(
    "Figure 3. Attention maps: row i holds the weights with which token i looks at the others, and sums to 1. With a "
    "mask they are shared among those who may be asked; the last three words count as padding."
):
    causal = attention.causal_mask(n, n)
    padding = attention.padding_mask(torch.tensor([n - 3]), n)[0]
    masks = {"no mask": None, "causal": causal, "padding": padding, "causal and padding": causal & padding}
    maps = {
        name: attention.scaled_dot_product_attention(embedded, embedded, embedded, mask)[1]
        for name, mask in masks.items()
    }
    pictures.heatmaps(maps, WORDS, WORDS, ("query", "key"), bar="weight")

# %% [markdown]
# Why divide by $\sqrt{d_k}$? The inner product of two random vectors of $d_k$ numbers has a spread of $\sqrt{d_k}$.
# Undivided, scores get large, softmax picks one key, and nothing else has a say. Worse: there is hardly a gradient
# left, since moving a score changes no weight any more.

# %%
with step(
    "Figure 4. Sixteen random keys, and the mean over 400 queries. Without the root the largest weight goes to 1 "
    "as d_k grows, and what a small change of a score can do to the weights goes to 0."
):
    generator = torch.Generator().manual_seed(0)
    largest, slope = {"divided": {}, "not divided": {}}, {"divided": {}, "not divided": {}}
    for d_k in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024):
        q, k = torch.randn(400, d_k, generator=generator), torch.randn(16, d_k, generator=generator)
        for name, scores in {"divided": q @ k.T / d_k**0.5, "not divided": q @ k.T}.items():
            weights = attention.softmax(scores, -1)
            largest[name][d_k] = float(weights.amax(-1).mean())
            slope[name][d_k] = float((weights * (1 - weights)).sum(-1).mean())
    panels = {"the largest weight": largest, "how much weights yield: sum of p (1 - p)": slope}
    pictures.curves(panels, ("between 0 and 1", "d_k"), log="x")[0].set_ylim(0, 1.02)

# %% [markdown]
# And what does attention *not* know? Shuffle the tokens, and the outputs come shuffled, nothing else. (What if you gave
# it a causal mask? Guess, and try it: `layer(x, mask=...)`.)

# %%
order = torch.randperm(n, generator=torch.Generator().manual_seed(1))
shuffled = [WORDS[i] for i in order]

with step(
    "Figure 5. Permutation equivariance. The outputs of multi-head attention for the words, for the same words in "
    "another order, and the difference of the two once the first are put in that order as well: nothing but rounding."
):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = attention.MultiHeadAttention(d, 4)
    with torch.no_grad():
        before, after = layer(embedded)[0], layer(embedded[order])[0]
    difference = before[order] - after
    panels = {
        "words in order": before,
        "words shuffled": after,
        f"difference: at most {float(difference.abs().max()):.0e}": difference,
    }
    pictures.heatmaps(panels, [WORDS, shuffled, shuffled], (), ("", "feature"), signed=True, bar="output")

# %% [markdown]
# ## 3 Positions
#
# The sinusoidal code is a table that nobody has to store: sines and cosines from fast to slow. The inner product of two
# codes depends on their distance only: that picture has the same numbers along each diagonal. And one matrix
# $R(k)$ takes the code of every position to that of the position $k$ further on. It is found here from codes near 0
# and from codes near 100,000, by least squares.

# %%
import positions

with step(
    "Figure 6. The sinusoidal code. Above: positions 0 to 159, feature by feature, from fast to slow. Below: inner "
    "products of these codes, and R(7), fitted to the codes of 0 .. 199 and to those of 100,000 .. 100,199 (base 50): "
    "the same rotations, pair by pair."
):
    table, fitted = positions.sinusoidal(torch.arange(160), 32), {}
    for start in (0, 100_000):
        places = start + torch.arange(200)
        here, there = (positions.sinusoidal(p, 8, 50.0).double() for p in (places, places + 7))
        fitted[f"R(7), fitted from {start:,} on"] = torch.linalg.lstsq(here, there).solution.T
    pictures.code_of_positions(table, table @ table.T, fitted)

# %% [markdown]
# RoPE adds nothing. It turns each pair of features of queries and keys by the position, and what is left in an inner
# product is the difference of the two positions. Compare with a code that is added: there the scores depend on where
# the two stand, too.

# %%
with step(
    "Figure 7. RoPE. Above: three pairs of one vector, turned at positions 0 to 8, the first pair fastest. Below: the "
    "inner product of a query and a key against their distance, for queries at four positions. With RoPE all four are "
    "one curve."
):
    vector = torch.tensor([1.0, 0.0]).repeat(4)
    turned = positions.rope(vector.expand(9, 8), torch.arange(9), 100.0)
    pairs = {f"pair {i}: features {2 * i} and {2 * i + 1}": turned[:, 2 * i : 2 * i + 2] for i in range(3)}
    q, k = torch.randn(2, 16, generator=torch.Generator().manual_seed(5))
    distances = torch.arange(-24, 25)
    products = {"RoPE: queries and keys turned": {}, "sinusoidal code added to both": {}}
    for m in (0, 40, 1000, 100_000):
        at, where = torch.tensor([m]), m - distances
        by_rope = positions.rope(k.expand(49, 16), where, 100.0) @ positions.rope(q[None], at, 100.0)[0]
        added = (k + positions.sinusoidal(where, 16, 100.0)) @ (q + positions.sinusoidal(at, 16, 100.0)[0])
        for title, values in zip(products, (by_rope, added), strict=True):
            products[title][f"query at {m:,}"] = pictures.as_points(distances, values)
    pictures.turned_pairs(pairs, products)

# %% [markdown]
# ## 4 One family
#
# Dense layer, convolution, graph layer, attention: each is a matrix that says how much of token $j$ token $i$ gathers.
# What differs is who is a neighbour, and what makes the weights. Only attention has another matrix for another input.

# %%
import message_passing

TOKENS, WIDTH = 10, 8
generator = torch.Generator().manual_seed(4)
x, other_x = torch.randn(2, TOKENS, WIDTH, generator=generator)
W = torch.randn(TOKENS, TOKENS, generator=generator)
to_q, to_k = 1.6 * torch.randn(2, 1, WIDTH, WIDTH, generator=generator) / WIDTH**0.5
kernel = torch.tensor([0.5, 1.0, -0.7])
edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 6), (6, 7), (6, 8), (8, 9), (7, 9)]
A = torch.zeros(TOKENS, TOKENS)
for i, j in edges:
    A[i, j] = A[j, i] = 1.0

with step(
    "Figure 8. Who gathers how much from whom. A convolution is shown with one channel, its heads (one for each "
    "offset) added up with the kernel 0.5, 1, -0.7; the graph has self-loops and the row norm; attention has one head."
):
    zeros, circular = (message_passing.conv_weights(TOKENS, 3, padding) for padding in ("zeros", "circular"))
    neighbours = {
        "dense": message_passing.mlp_weights(W)[0] / 3,
        "convolution, zeros": (kernel[:, None, None] * zeros).sum(0),
        "convolution, circular": (kernel[:, None, None] * circular).sum(0),
        "graph": message_passing.graph_weights(A, True, "row")[0],
        "attention, one input": message_passing.attention_weights(x @ to_q, x @ to_k)[0],
        "attention, another input": message_passing.attention_weights(other_x @ to_q, other_x @ to_k)[0],
    }
    labels = ("token that gathers", "token gathered from")
    pictures.heatmaps(neighbours, (), (), labels, signed=True, bar="weight", in_a_row=3)

# %% [markdown]
# How far does one layer see? Put layers upon one another and ask which tokens the *last* one has heard of. A
# convolution of size 3 comes one token further with each layer; attention has heard of everyone after the first.

# %%
with step(
    "Figure 9. What the last of 24 tokens holds of each token, layer by layer (weights of each layer all alike, and "
    "each row divided by its largest number). Far is deep for a convolution, and one step for attention."
):
    reach = {}
    same = torch.zeros(1, 24, 4)
    for title, weights in {
        "convolution of size 3": message_passing.conv_weights(24, 3, "zeros"),
        "convolution of size 7": message_passing.conv_weights(24, 7, "zeros"),
        "attention": message_passing.attention_weights(same, same),
    }.items():
        held, rows = torch.eye(24), []
        for _ in range(10):
            held = message_passing.aggregate(held, weights)
            rows.append(held[-1] / held[-1].max())
        reach[title] = torch.stack(rows).sqrt()
    depth = [str(layers) for layers in range(1, 11)]
    pictures.heatmaps(reach, depth, (), ("layers", "token"), bar="root of the share", in_a_row=3, size=3.4)

# %% [markdown]
# What a layer does not know is its symmetry. **Predict first**: fill in `SYMMETRIES` in `message_passing.py`. Then this
# cell tries all 120 orders of five tokens on your layers.

# %%
from itertools import permutations

import positions

FORK = torch.tensor([[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 0, 1, 0]]).float()
generator = torch.Generator().manual_seed(9)
five, code = torch.randn(2, 5, 4, dtype=torch.float64, generator=generator)
V3, Q, K = torch.randn(3, 3, 4, 4, dtype=torch.float64, generator=generator)


def of_attention(x, added=0.0, turn=None, causal=False):
    """Three heads of attention, with a code added, queries and keys turned, or the future cut off."""
    q, k = ((x + added).unsqueeze(-3) @ each for each in (Q, K))
    if turn is not None:
        q, k = turn(q), turn(k)
    weights = message_passing.attention_weights(q, k)
    if causal:
        weights = weights.tril() / weights.tril().sum(-1, keepdim=True)
    return message_passing.aggregate(x, weights, V3)


def of_fixed(weights):
    """A layer with these weights, whatever the input is."""
    return lambda x: message_passing.aggregate(x, weights.double(), V3[: len(weights)])


with step(
    "Figure 10. With how many of the 120 orders of five tokens each of your layers commutes, and what you predicted. "
    "(A group and its number are not the same, but here no two groups that matter have the same size.)"
):
    predicted = message_passing.SYMMETRIES
    unknown = [layer for layer, group in predicted.items() if group == "?"]
    if unknown:
        raise NotYet(
            f"Predict before you measure: `SYMMETRIES` in `message_passing.py` still has a ? for {unknown[0]} "
            f"({len(unknown)} of {len(predicted)} in all). Exercise 4.7 of the handout."
        )
    layers = {
        "dense": of_fixed(message_passing.mlp_weights(torch.randn(5, 5, generator=generator))),
        "conv_zeros": of_fixed(message_passing.conv_weights(5, 3, "zeros")),
        "conv_circular": of_fixed(message_passing.conv_weights(5, 3, "circular")),
        "graph": of_fixed(message_passing.graph_weights(FORK, False)),
        "attention": of_attention,
        "attention_sinusoidal": lambda x: of_attention(x, positions.sinusoidal(torch.arange(5), 4)),
        "attention_learned": lambda x: of_attention(x, code),
        "attention_rotary": lambda x: of_attention(x, turn=lambda q: positions.rope(q, torch.arange(5))),
        "attention_causal": lambda x: of_attention(x, causal=True),
    }
    orders = [list(order) for order in permutations(range(5))]
    automorphisms = sum(torch.equal(FORK[order][:, order], FORK) for order in orders)
    sizes = {"none": 1, "cyclic": 5, "automorphisms": automorphisms, "all": 120}
    counted = {
        name: sum(torch.allclose(layer(five[order]), layer(five)[order], atol=1e-5) for order in orders)
        for name, layer in layers.items()
    }
    said = {name: (group, sizes.get(group, 0)) for name, group in predicted.items()}
    pictures.symmetries(counted, said)

# %% [markdown]
# ## 5 Efficient attention
#
# The n x n scores are what long sequences run out of. Left: forward alone. Right: with the backward pass. Look at
# `chunked_attention` in both. Forward it stays with the straight line; in training autograd keeps every chunk of
# weights, and n x n numbers in chunks are n x n numbers. `flash_attention` computes them a second time instead.

# %%
import efficient
from given.memory import on_a_gpu, peaks

CHUNK = 256
SHORT, LONG = [512, 1024, 2048, 4096], [512, 1024, 4096, 16384, 65536]
COMPARED = {
    "part 2, all at once": (lambda q, k, v: attention.scaled_dot_product_attention(q, k, v)[0], LONG),
    "chunked": (lambda q, k, v: efficient.chunked_attention(q, k, v, CHUNK), SHORT),
    "flash": (lambda q, k, v: efficient.flash_attention(q, k, v, CHUNK), SHORT),
    "sliding window": (lambda q, k, v: efficient.sliding_window_attention(q, k, v, CHUNK), SHORT),
}
STYLES = {
    "part 2, all at once": {"color": "0.35", "marker": "^"},
    "chunked": {"color": "C0", "marker": "s"},
    "flash": {"color": "C3", "marker": "o", "markersize": 9, "markerfacecolor": "none"},
    "sliding window": {"color": "C2", "marker": "v"},
}

with step(
    "Figure 11. Memory at the peak against length. One head of width 64, chunks and window of 256. Dotted: growth with "
    "the length, and with its square. Numbers are bytes of tensors, the same on every machine; of part 2 those "
    "beyond 1,024 are counted without being held. Chunked and flash look flat at first: one chunk of 256 x 256 scores "
    "weighs as much as 1,024 rows of the output, and from there on the straight line takes over."
):
    memory = {
        title: {
            name: peaks(call, lengths, 64, training, real_until=1024 if lengths is LONG else 4096)
            for name, (call, lengths) in COMPARED.items()
        }
        for title, training in (("forward", False), ("training: forward and backward", True))
    }
    for axis in pictures.curves(memory, ("MiB at the peak", "length n"), STYLES, log="xy", width=5):
        pictures.guides(axis, [512, 65536], {"n": 0.3, "n²": 1.6})

# %% [markdown]
# On a GPU the same curves are real, and they end: attention with all scores runs out of memory first. Where does it on
# yours? 65,536 squared numbers of float32 are 16 GiB.

# %%
ON_A_GPU = {
    "part 2, all at once": lambda q, k, v: attention.scaled_dot_product_attention(q, k, v)[0],
    "chunked": lambda q, k, v: efficient.chunked_attention(q, k, v, 1024),
    "flash": lambda q, k, v: efficient.flash_attention(q, k, v, 1024),
    "torch's own": torch.nn.functional.scaled_dot_product_attention,
}

with step(
    "On a GPU. Memory at the peak and time of one call in training, against length. "
    "A curve ends where the card is full."
):
    runs = {name: on_a_gpu(call, [2**power for power in range(11, 17)], 64, True) for name, call in ON_A_GPU.items()}
    measured_on_gpu = {
        "MiB at the peak": {name: sizes for name, (sizes, _) in runs.items()},
        "milliseconds": {name: times for name, (_, times) in runs.items()},
    }
    pictures.curves(measured_on_gpu, ("", "length n"), {**STYLES, "torch's own": {"color": "C4"}}, log="xy", width=5)

# %% [markdown]
# ## 6 What a code of the position buys
#
# Does A come before B? Train first (`python experiments.py`, a minute or two). But **before you look**: what do you
# expect each arm to reach at length 32, when it was trained at lengths 6 to 16? Write it down here, 0.5 for guessing
# and 1.0 for always right; the picture will show it as a cross.

# %%
PREDICTED_AT_32 = {"none": None, "none_causal": None, "sinusoidal": None, "learned": None, "rope": None}

# %%
import json
from pathlib import Path

import experiments
from safetensors.torch import load_file

measured = json.loads(Path("given/measured.json").read_text())
by_length = measured["order"]


def trained(arm):
    """Your model of one arm, with the weights that you saved."""
    file = Path(f"order_{arm}.safetensors")
    if not file.is_file():
        raise NotYet(f"There is no `{file}` yet: train with `python experiments.py` (handout, exercise 6.4).")
    model = experiments.OrderModel(*experiments.ARMS[arm])
    model.load_state_dict(load_file(file), strict=False)
    return model


with step(
    "Figure 12. Accuracy against length. Symbols: your weights. Dashed, with a shade from the least to the greatest: "
    "what ten seeds gave with the reference. Crosses: your predictions. Without a code a model guesses, and yet a "
    "causal mask is enough; beyond the trained lengths the codes that are added fall off, whatever formula made them."
):
    lengths = [6, 11, 16, 20, 24, 32, 48, 64]
    yours = {}
    for arm, (name, _, _) in pictures.ARMS.items():
        model = trained(arm)
        yours[name] = {length: experiments.accuracy(model, length, 400) for length in lengths}
    marks = {name: {"color": colour, "marker": mark, "linestyle": ""} for name, colour, mark in pictures.ARMS.values()}
    axis = pictures.curves({"does A come before B?": yours}, ("accuracy", "length"), marks, width=7.5)[0]
    for arm, (_, colour, _) in pictures.ARMS.items():
        pictures.band(axis, by_length["lengths"], by_length[arm]["accuracy"], colour)
        if PREDICTED_AT_32[arm] is not None:
            axis.plot(32, PREDICTED_AT_32[arm], marker="x", color=colour, markersize=11, markeredgewidth=2.5)
    pictures.band(axis, by_length["lengths"], by_length["rope_causal"]["accuracy"], "C4")
    axis.plot([], [], color="C4", linestyle="--", label="RoPE, causal (no arm of yours)")
    pictures.mark_trained(axis, 6, 16)
    axis.legend(fontsize=8, loc="lower left", bbox_to_anchor=(1, 0.3))

# %% [markdown]
# How they learn. Without a code the loss never leaves $\log 2 = 0.69$, which is what guessing costs. The symbols are a
# short training of one arm on this machine, now.

# %%
with step(
    "Figure 13. Loss against step, mean and range over ten seeds (steps in groups of five), and the first 60 steps of "
    "one arm as your `train` does them here. Guessing costs log 2."
):
    now, show = {}, experiments.show_progress
    experiments.show_progress = lambda step, steps, loss: now.update({step: loss})
    try:
        experiments.train("none", True, steps=60)
    finally:
        experiments.show_progress = show
    if not now:
        raise NotYet("Your `train` does not call `show_progress(step, steps, loss)`, so there is no loss to draw.")
    style = {"yours, no code, causal": {"color": "C2", "marker": "s", "linestyle": "", "markersize": 3}}
    axis = pictures.curves({"loss in training": {"yours, no code, causal": now}}, ("loss", "step"), style, width=7)[0]
    steps = [(i + 0.6) * by_length["every"] for i in range(len(by_length["none"]["loss"]["mean"]))]
    for arm, (_, colour, _) in pictures.ARMS.items():
        pictures.band(axis, steps, by_length[arm]["loss"], colour)
    for name, colour, _ in pictures.ARMS.values():
        axis.plot([], [], color=colour, linestyle="--", label=name)
    axis.legend(fontsize=8, loc="upper right", bbox_to_anchor=(1.33, 1))

# %% [markdown]
# What does a trained model look at? Its weights go by the names of part 2, so your `MultiHeadAttention` can show the
# maps. Read a row: whom does this token ask?

# %%
LINE = ["f", "c", "A", "g", "g", "e", "B", "d", "f"]
symbols = torch.tensor([["AB".index(s) if s in "AB" else 2 + ord(s) - ord("c") for s in LINE]])

with step(
    "Figure 14. The four heads of the first block of the causal arm without a code. The line has A before B. Each head "
    "shares its weights among the tokens so far."
):
    model, seen = trained("none_causal"), {}
    block = model.blocks[0]
    block.attention.register_forward_pre_hook(lambda _, given: seen.update(x=given[0]))
    with torch.no_grad():
        model(symbols)
        layer = attention.MultiHeadAttention(32, 4)
        layer.load_state_dict(block.attention.state_dict(), strict=False)
        _, weights = layer(seen["x"], mask=attention.causal_mask(len(LINE), len(LINE)))
    maps = {f"head {head}": weights[0, head] for head in range(4)}
    pictures.heatmaps(maps, LINE, LINE, ("query", "key"), bar="weight")

# %% [markdown]
# ## What a weak bias costs
#
# One network, and only its neighbours differ. A and B stand side by side somewhere on a line; which is on the left?
# Where they stand does not matter. A convolution is built so, and learns it from some dozens of lines. The others have
# to find it out. This trains twelve small networks with your `aggregate`.

# %%
from given import data_efficiency

with step(
    "Figure 15. Accuracy against the number of samples. Symbols: one seed, now, with your code. Dashed, with a shade: "
    "ten seeds. All get there in the end: a weak inductive bias costs samples, and takes away nothing that could be "
    "learned. RoPE gives attention a part of the bias back: it knows distances, and need not learn them place by place."
):
    colours = dict(zip(data_efficiency.KINDS, ("C2", "C3", "C0", "C1"), strict=True))
    few = {
        kind: {count: data_efficiency.accuracy_after(kind, count, 0) for count in (64, 256, 1024)}
        for kind in data_efficiency.KINDS
    }
    style = {kind: {"color": colour, "marker": "o", "linestyle": ""} for kind, colour in colours.items()}
    title = "which of two neighbours is on the left?"
    axis = pictures.curves({title: few}, ("accuracy", "samples to learn from"), style, log="x", width=7.5)[0]
    for kind, colour in colours.items():
        pictures.band(axis, measured["samples"]["counts"], measured["samples"][kind], colour)
    axis.legend(fontsize=8, loc="lower left", bbox_to_anchor=(1, 0.35))

# %% [markdown]
# Two things that the picture does not say. Which of the weak biases is the hungriest depends on the task: on this one
# a dense layer, whose weights for each pair of places are free from the start, needs fewer samples than attention,
# which has to make such weights out of a learned code. And it is one small task: take it as an example of what the
# lecture says, not as its proof.
