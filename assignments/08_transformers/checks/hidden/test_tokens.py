"""Hidden checks of part 1: runs, scripts, ends, orders, what is no text, and what memory a stream may take.

Oracles as in the visible checks: the student's merges replayed, and the reference with merges of its own training.
"""

import itertools

import numpy
import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.devices import assert_keeps_device
from autograder.testing.exceptions import must_raise
from autograder.testing.gradients import assert_gradients, vjp
from autograder.testing.numbers import assert_same, assert_shape, assert_tensor
from autograder.testing.purity import assert_pure
from support.ids import assert_ids, assert_text, assert_units, draw_text
from support.text import assert_merged_within_words, assert_trained, assert_vocabulary

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
    for text, special_tokens, merges in [
        ("<s>abba <s>abba <s>baab ab" * 2, ["<s>", "<s>ab"], 4),
        ("x.y xzy x.y xzy xzy", ["x.y"], 3),
        ("a|b ab ab (c cc cc", ["a|b", "(c"], 4),
        ("abcde xabcde " * 2, ["ab", "bcd"], 3),
        (" ёж ёжик ёжик" * 2, ["ёж", "й"], 3),
    ]:
        size = 256 + len(special_tokens) + merges
        seen = student.observe(student.train_bpe, text, size, special_tokens)
        assert_merged_within_words(seen.value, text, size, special_tokens)
        assert_pure(seen, (text, size, special_tokens))


@number("1.1f")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_runs_of_one_token(student, cases):
    """In a run of equal tokens pairs overlap when they are counted, and not when they are merged"""
    for text, merges in (
        (" aaaaaa bb xbb ybb zbb" * 2, 12),
        (" aaax aaay aaaz" * 2, 6),
        (" aaaw aaaaax aaaaaaay baz" * 2, 13),
        (" " + draw_text(cases, "aab", 60) + (" " + draw_text(cases, "aaab", 80)) * 2, 8),
        (" " + "a" * 300 + "b" * 270, 8),
    ):
        assert_trained(student.train_bpe(text, 257 + merges, [END]), text, 257 + merges, [END])


@number("1.1g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_training_on_any_script(student, cases):
    """Bytes serve every script: merges make characters of bytes, and words of characters"""
    for text, merges in [(" 你好你好 你们" * 2, 11), (" жжж жук" * 2, 8), (draw_text(cases, SCRIPTS, 30) * 2, 60)]:
        assert_merged_within_words(student.train_bpe(text, 257 + merges, [END]), text, 257 + merges, [END])


@number("1.1h")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_training_ends(student, cases):
    """Training ends when the vocabulary is full or no pair is left, and not before"""
    for text, size, special_tokens in [
        ("ab", 400, [END]),
        ("low low lower", 400, [END]),
        ("", 300, [END]),
        (f"{END}a{END}b", 300, [END]),
        (SENTENCE, 257, [END]),
        (SENTENCE, 258, [END]),
        ("aab bc abbb", 400, [END]),
    ]:
        got = student.train_bpe(text, size, special_tokens)
        assert_merged_within_words(got, text, size, special_tokens)
    for text, size, special_tokens in [(SENTENCE, 256, [END]), ("", 257, [END, "<s>"]), (SENTENCE, 0, [END])]:
        why = f"256 bytes and {len(special_tokens)} special tokens do not fit into {size} ids"
        must_raise(ValueError, student.train_bpe, text, size, special_tokens, because=why)


@number("1.1i")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_training_without_special_tokens(student, cases):
    """There may be no special tokens: nothing is cut out of the text then, and every merge counts from id 256 on"""
    for text, size, given in [("low low lower", 258, ([],)), (SENTENCE * 2, 264, ()), (SENTENCE * 2, 264, ((),))]:
        got = student.train_bpe(text, size, *given)
        assert_merged_within_words(got, text, size, [])
        assert_vocabulary(got, [])
    assert_vocabulary(student.train_bpe(SENTENCE, 256, []), [])
    must_raise(ValueError, student.train_bpe, SENTENCE, 255, [], because="256 bytes do not fit into 255 ids")
    for text in ("the \ud83d owl", "\udc00", "the \ud83d\ude42 owl", f"owl{END}\udfff"):
        for size in (300, 257):  # room for merges, and for none
            must_raise(ValueError, student.train_bpe, text, size, [END], because="half a surrogate pair is no text")


@number("1.2c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_bytes_that_are_no_text(student, reference, cases):
    """Ids are bytes, and not every row of bytes is text: what is none is decoded to U+FFFD, and the rest is kept"""
    vocab, merges = reference.train_bpe("ж你🙂" * 3, 262, [END])
    tokenizer, oracle = student.Tokenizer(vocab, merges, [END]), reference.Tokenizer(vocab, merges, [END])
    for ids in (
        [0xFF],
        [97, 0xD0, 98],
        [0xD0, 0xB6, 0xE4, 0xBD],
        list("你".encode()),
        list(range(200, 262)),
        [0xD0, 256],
    ):
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
    large = {(1 << 17) * (280 - number): token for number, token in vocab.items()}
    for given in (shuffled, vocab, large):
        seen = student.observe(student.Tokenizer, given, merges, [END])
        assert_pure(seen, (given, merges, [END]))
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
    every = ["<s>", "<s><s>", "<|a|>", "a.b", END, "ab", "bcd", "е\u0308ж", "ж "]
    vocab, merges = reference.train_bpe("  owl" * 9, 268, every)
    for named in (every, ["<s>", "a.b", "bcd"], ("ab", "bcd", END), []):
        tokenizer, oracle = student.Tokenizer(vocab, merges, named), reference.Tokenizer(vocab, merges, named)
        for text in (
            *("<s><s><s>the", "a.baxb<|a|>a a|b", f"owl{END}knows<s>", "<|end|> <<s>>", "<S>"),
            *("abcd abcbcd ababcdab", "е\u0308ж ёж ж е\u0308жж  ", f"owl  <s>  owl {END}  owl  "),
        ):
            ids = tokenizer.encode(text)
            assert_units(ids, oracle.encode(text), vocab, every)
            assert_text(tokenizer.decode(ids), text)


@number("1.2h")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_what_cannot_be_encoded_or_decoded(student, reference, cases):
    """What no id or no text stands for is an error, and never left out in silence"""
    vocab, merges = reference.train_bpe(SENTENCE, 280, [END])
    tokenizer = student.Tokenizer(vocab, merges, [END])
    ids = reference.Tokenizer(vocab, merges, [END]).encode("the owl")
    assert_text(tokenizer.decode(ids), "the owl")
    for wrong in (280, -1, -280, 1 << 40):
        for given in ([*ids, wrong], (wrong,), torch.tensor([wrong, *ids]), numpy.array([*ids, wrong])):
            must_raise(LookupError, tokenizer.decode, given, because=f"vocab has no id {wrong}")
    gaps = {number: token for number, token in vocab.items() if number != 270}
    must_raise(LookupError, student.Tokenizer(gaps, merges[:12], [END]).decode, [270], because="vocab has no id 270")
    assert_units(tokenizer.encode("the owl"), ids, vocab)
    for text in ("the \ud83d owl", "\udc00", f"owl{END}\udfff", "the \ud83d\ude42 owl"):
        must_raise(ValueError, tokenizer.encode, text, because="half a surrogate pair is no text")
    assert_text(tokenizer.decode(tokenizer.encode("the owl")), "the owl")


@number("1.2i")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_encoding_without_special_tokens(student, reference, cases):
    """Where no special token is named there is none: all of a text is ordinary, whatever the vocabulary holds"""
    for special_tokens in ([], [END, "<|pad|>", "end", " stop", "!?"]):
        vocab, merges = reference.train_bpe(SENTENCE, 280, special_tokens)
        oracle = reference.Tokenizer(vocab, merges)
        for given in ((), ([],), ((),)):
            tokenizer = student.Tokenizer(vocab, merges, *given)
            for text in ("", "the owl", f"owl{END}the <|pad|>", "<|endoftext|", "end stop!?", "the end"):
                ids = tokenizer.encode(text)
                assert_units(ids, oracle.encode(text), vocab, [END, "<|pad|>", "end", " stop", "!?"])
                assert_text(tokenizer.decode(ids), text)
            assert_ids(tokenizer.encode("the the"), oracle.encode("the the"), vocab)


@number("1.2j")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.2")
def test_encoding_any_script(student, reference, cases):
    """Bytes serve every script: pre-tokens are cut between characters, and pairs are joined across bytes of one"""
    vocab, merges = reference.train_bpe(draw_text(cases, SCRIPTS, 60), 400, [END])
    tokenizer, oracle = student.Tokenizer(vocab, merges, [END]), reference.Tokenizer(vocab, merges, [END])
    for text in ("naïve", " été", draw_text(cases, SCRIPTS, 5), draw_text(cases, SCRIPTS, 40), "мир\u3000你好🙂"):
        ids = tokenizer.encode(text)
        assert_ids(ids, oracle.encode(text), vocab)
        assert_text(tokenizer.decode(ids), text)


@number("1.3b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.timeout(20)
@pytest.mark.read("handout 1.3")
def test_memory_of_a_stream(student, reference, cases):
    """However long a stream is, encoding it takes the memory of its longest item

    Long texts first, of which nothing but special tokens repeats; then short pre-tokens that are all different: a cache
    of them needs 250 bytes an entry at least.
    """
    page = "<|" + "page" * 1024 + "|>"
    vocab, merges = reference.train_bpe("the owl", 260, [page])
    tokenizer, oracle = student.Tokenizer(vocab, merges, [page]), reference.Tokenizer(vocab, merges, [page])
    item, count = page * 16 + "the owl", 1000
    with student.stream(tokenizer.encode_iterable, items=[item], count=2) as stream:
        assert_units(stream.take(1000), oracle.encode(f"{item}0{item}1"), vocab, [page])
    each = oracle.encode(item)
    expected = [id for i in range(count) for id in (*each, *str(i).encode())]  # no merge has a digit
    ids = []
    with student.stream(tokenizer.encode_iterable, items=[item], count=count, memory_mb=32) as stream:
        while not stream.done and len(ids) < 4 * len(expected):
            ids += stream.take(1000)
    assert_units(ids, expected, vocab, [page])
    words = ["".join(letters) for letters in itertools.product("abcdfgijkmnpqrsuvxyz", repeat=4)]
    texts = [" ".join(words[first : first + 13_000]) for first in range(0, len(words), 13_000)]
    expected = list("".join(texts).encode())  # no merge has these letters
    ids = []
    with student.stream(tokenizer.encode_iterable, items=texts, memory_mb=32) as stream:
        while not stream.done and len(ids) < 4 * len(expected):
            ids += stream.take(10_000)
    assert_units(ids, expected, vocab, [page])


@number("1.4b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_patches_of_any_size(student, reference, cases):
    """A patch may be one pixel or the whole image, and an image need not be square"""
    for shape, patch in [((3, 1, 4, 5), 1), ((2, 1, 5, 5), 5), ((1, 1, 2, 2), 2), ((1, 2, 20, 300), 10)]:
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
    for height, width, patch in ((5, 6, 2), (4, 7, 2), (3, 3, 2), (2, 4, 4), (4, 2, 4), (2, 3, 7), (6, 6, 4)):
        why = f"{patch} does not divide both {height} and {width}"
        must_raise(ValueError, student.patchify, numbered(2, 3, height, width), patch, because=why)
        must_raise(ValueError, student.unpatchify, patches, patch, height, width, because=why)


@number("1.4f")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_windows_at_the_end(student, reference, cases):
    """Every window is full: what fills none at the end is dropped, and a series that fills none is an error"""
    for shape, length, stride in [((2, 9, 1), 4, 2), ((2, 7, 1), 2, 5), ((1, 5, 1), 5, 3), ((3, 4, 1), 1, 1)]:
        series = numbered(*shape, dtype=torch.float64)
        assert_same(student.windows(series, length, stride), reference.windows(series, length, stride), "windows")
    for times, length, stride in [(3, 4, 2), (1, 2, 1), (4, 9, 5), (0, 1, 1)]:
        why = f"{times} times hold no window of {length}"
        must_raise(ValueError, student.windows, numbered(2, times, 5), length, stride, because=why)


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


@number("1.4h")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 1.4")
def test_cutting_passes_gradients_on(student, reference, cases):
    """What is cut can be learned from: gradients flow through, and how the numbers lie in memory plays no part"""
    for name, shape, more in (
        ("patchify", (2, 3, 4, 6), (2,)),
        ("unpatchify", (2, 6, 12), (2, 4, 6)),
        ("windows", (2, 9, 3), (4, 2)),
    ):
        transposed = cases.tensor(*reversed(shape)).permute(*reversed(range(len(shape))))
        strided = cases.tensor(*shape[:-1], 2 * shape[-1])[..., ::2]
        for given in (transposed, strided, cases.tensor(*shape[1:]).expand(*shape), strided.double()):
            args = (given, *more)
            expected = getattr(reference, name)(*args)
            assert_same(getattr(student, name)(*args), expected, name)
            assert_keeps_device(student, getattr(student, name), *args)
            if 0 in given.stride():  # nobody learns an expanded tensor
                continue
            cotangent = cases.tensor(*expected.shape, dtype=given.dtype)
            got = student.vjp(getattr(student, name), args, (cotangent,))
            oracle = vjp(getattr(reference, name), args, (cotangent,))
            what = f"the argument of {name}"
            assert_gradients({what: got.args[0]}, {what: oracle.args[0].double()}, {what: oracle.args[0]})
