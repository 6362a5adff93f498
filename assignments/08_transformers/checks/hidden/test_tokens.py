"""Hidden checks of part 1: runs, scripts, ends, orders, what is no text, and what memory a stream may take.

Oracles as in the visible checks: the student's merges replayed, and the reference with merges of its own training.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.exceptions import must_raise
from autograder.testing.numbers import assert_same, assert_shape, assert_tensor
from autograder.testing.purity import assert_pure
from support.ids import assert_ids, assert_text, assert_units, draw_text
from support.text import assert_merged_within_words, assert_trained

SENTENCE = "an owl knows the slowest wheel, and the wheel knows the owl; who else? "
SCRIPTS = (
    "привет мир ",
    "你好,世界。",
    "नमस्ते दुनिया ",
    "שלום ",
    "👩‍👧‍👦🙂 ",
    "e\u0301té naïve ",
    "١٢٣ ",
    "\u3000\u00a0",
)
END = "<|endoftext|>"


def numbered(*shape, dtype=torch.float32):
    """A tensor whose entries count up: each number says where it comes from."""
    return torch.arange(1, 1 + torch.Size(shape).numel(), dtype=dtype).reshape(shape)


@number("1.1e")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_special_tokens_that_overlap(student, cases):
    """Of two special tokens that could stand at one place the longer one does, and none is a pattern"""
    for text, special_tokens in [
        ("<s>abba <s>abba <s>baab ab", ["<s>", "<s>ab"]),
        ("x.y xzy x.y xzy xzy", ["x.y"]),
        ("a|b ab ab (c cc cc", ["a|b", "(c"]),
    ]:
        assert_merged_within_words(student.train_bpe(text, 500, special_tokens), text, 500, special_tokens)


@number("1.1f")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_runs_of_one_token(student, cases):
    """In a run of equal tokens pairs overlap when they are counted, and not when they are merged"""
    for text in (
        "aaaaaa bb xbb ybb zbb",
        "aaax aaay aaaz",
        "aaaw aaaaax aaaaaaay baz",
        draw_text(cases, "aab", 60),
        draw_text(cases, "aaab", 80),
    ):
        assert_trained(student.train_bpe(text, 256 + 14, []), text, 256 + 14, [])


@number("1.1g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_training_on_any_script(student, cases):
    """Bytes serve every script: merges make characters of bytes, and words of characters"""
    for text in ("你好你好 你们", "ж" * 3 + " жук", draw_text(cases, SCRIPTS, 30)):
        assert_merged_within_words(student.train_bpe(text, 600, []), text, 600, [])


@number("1.1h")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_training_ends(student, cases):
    """Training ends when the vocabulary is full or no pair is left, and not before"""
    for text, size, special_tokens in [
        ("ab", 400, [END]),
        ("low low lower", 400, []),
        ("", 300, [END]),
        (f"{END}a{END}b", 300, [END]),
        (SENTENCE, 257, [END]),
        (SENTENCE, 258, [END]),
        ("aab bc abbb", 400, []),
    ]:
        got = student.train_bpe(text, size, special_tokens)
        assert_merged_within_words(got, text, size, special_tokens)
    why = "256 bytes and a special token do not fit into 256 ids"
    must_raise(ValueError, student.train_bpe, SENTENCE, 256, [END], because=why)


@number("1.2c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_bytes_that_are_no_text(student, reference, cases):
    """Ids are bytes, and not every row of bytes is text: what is none is decoded to U+FFFD, and the rest is kept"""
    vocab, merges = reference.train_bpe("ж你🙂" * 3, 262, [])
    tokenizer, oracle = student.Tokenizer(vocab, merges, []), reference.Tokenizer(vocab, merges, [])
    for ids in ([0xFF], [97, 0xD0, 98], [0xD0, 0xB6, 0xE4, 0xBD], list("你".encode()), list(range(200, 262))):
        assert_text(tokenizer.decode(ids), oracle.decode(ids))


@number("1.2e")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_ids_come_from_the_vocabulary(student, reference, cases):
    """A tokenizer takes its ids from its own vocabulary, whatever their order and whoever else encodes"""
    vocab, merges = reference.train_bpe(draw_text(cases, "abc ", 300), 280, [END])
    order = cases.permutation(280).tolist()
    shuffled = {7 + 3 * order[number]: token for number, token in vocab.items()}
    for given in (shuffled, vocab):
        tokenizer, oracle = student.Tokenizer(given, merges, [END]), reference.Tokenizer(given, merges, [END])
        for text in ("abc", f"{END}a{draw_text(cases, 'abc ', 60)}b"):
            ids = tokenizer.encode(text)
            assert_ids(ids, oracle.encode(text), given)
            assert_text(tokenizer.decode(ids), text)


@number("1.2g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_which_special_token(student, reference, cases):
    """The longest special token wins, none is a pattern, and text that only looks like one is ordinary text"""
    every = ["<s>", "<s><s>", "<|a|>", "a.b", END]
    vocab, merges = reference.train_bpe(SENTENCE, 290, every)
    for registered in (every, ["<s>", "a.b"], []):
        tokenizer, oracle = student.Tokenizer(vocab, merges, registered), reference.Tokenizer(vocab, merges, registered)
        for text in ("<s><s><s>the", "a.baxb<|a|>a a|b", f"owl{END}knows<s>", "<|end|> <<s>>"):
            assert_units(tokenizer.encode(text), oracle.encode(text), vocab, registered)


@number("1.2h")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_what_cannot_be_encoded_or_decoded(student, reference, cases):
    """What no id or no text stands for is an error, and never left out in silence"""
    vocab, merges = reference.train_bpe(SENTENCE, 280, [])
    tokenizer, ids = student.Tokenizer(vocab, merges, []), reference.Tokenizer(vocab, merges, []).encode("the owl")
    assert_text(tokenizer.decode(ids), "the owl")
    for wrong in (280, -1):
        must_raise(LookupError, tokenizer.decode, [*ids, wrong], because=f"vocab has no id {wrong}")
    assert_units(tokenizer.encode("the owl"), ids, vocab)
    must_raise(ValueError, tokenizer.encode, "the \ud83d owl", because="half a surrogate pair is no text")


@number("1.3b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.3")
def test_memory_of_a_stream(student, reference, cases):
    """However long a stream is, encoding it takes the memory of its longest item"""
    page = "<|" + "page" * 1024 + "|>"
    vocab, merges = reference.train_bpe("the owl", 260, [page])
    tokenizer, oracle = student.Tokenizer(vocab, merges, [page]), reference.Tokenizer(vocab, merges, [page])
    item, count = page * 16 + "the owl", 1000
    with student.stream(tokenizer.encode_iterable, items=[item], count=2) as stream:
        assert_units(stream.take(1000), oracle.encode(f"{item}0{item}1"), vocab, [page])
    expected = [id for i in range(count) for id in oracle.encode(f"{item}{i}")]
    ids = []
    with student.stream(tokenizer.encode_iterable, items=[item], count=count, memory_mb=32) as stream:
        while not stream.done and len(ids) < 4 * len(expected):
            ids += stream.take(1000)
    assert_units(ids, expected, vocab, [page])


@number("1.4b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_patches_of_any_size(student, reference, cases):
    """A patch may be one pixel or the whole image, and an image need not be square"""
    for shape, patch in [((3, 1, 4, 5), 1), ((2, 1, 5, 5), 5), ((1, 1, 2, 2), 2)]:
        images = numbered(*shape, dtype=torch.float64)
        assert_same(student.patchify(images, patch), reference.patchify(images, patch), "patches")


@number("1.4d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_patches_that_do_not_fit(student, reference, cases):
    """An image that patches do not tile is an error: nothing is cut off in silence"""
    pixels = numbered(2, 1, 1, 2)
    assert_same(student.patchify(pixels, 1), pixels.reshape(2, 2, 1), "patches")
    assert_same(student.unpatchify(pixels.reshape(2, 2, 1), 1, 1, 2), pixels, "images")
    patches = reference.patchify(numbered(2, 3, 4, 6), 2)
    for height, width in ((5, 6), (4, 7), (3, 3)):
        why = f"2 does not divide both {height} and {width}"
        must_raise(ValueError, student.patchify, numbered(2, 3, height, width), 2, because=why)
        must_raise(ValueError, student.unpatchify, patches, 2, height, width, because=why)


@number("1.4f")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_windows_at_the_end(student, reference, cases):
    """Every window is full: what fills none at the end is dropped, and a series that fills none is an error"""
    for shape, length, stride in [((2, 9, 1), 4, 2), ((2, 7, 1), 2, 5), ((1, 5, 1), 5, 3), ((3, 4, 1), 1, 1)]:
        series = numbered(*shape, dtype=torch.float64)
        assert_same(student.windows(series, length, stride), reference.windows(series, length, stride), "windows")
    must_raise(ValueError, student.windows, numbered(2, 3, 5), 4, 2, because="3 times hold no window of 4")


@number("1.4g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_cutting_leaves_the_data_alone(student, reference, cases):
    """Cutting moves numbers and changes none, and leaves images and series as they were"""
    images, series = cases.tensor(2, 3, 4, 6), cases.tensor(2, 12, 3)
    patches = reference.patchify(images, 2)
    for name, args, shape in (
        ("patchify", (images, 2), (2, 6, 12)),
        ("unpatchify", (patches, 2, 4, 6), (2, 3, 4, 6)),
        ("windows", (series, 4, 4), (2, 3, 12)),
    ):
        for dtype in (torch.float32, torch.float64):
            given = (args[0].to(dtype), *args[1:])
            seen = student.observe(getattr(student, name), *given)
            assert_shape(assert_tensor(seen.value, name), shape, name)
            assert_same(seen.value.flatten().sort().values, given[0].flatten().sort().values, f"numbers of {name}")
            assert_pure(seen, given)
