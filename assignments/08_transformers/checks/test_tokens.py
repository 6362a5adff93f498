"""Visible checks of part 1: byte-pair encoding, patches and windows, one sentence of the lecture each.

A student's merges are replayed (`support.text`), since of several most frequent pairs any may be merged. Tokenizers
get merges that the reference has trained, so that a mistake in training costs once. Checks of special tokens, streams
and the like compare what ids stand for (`support.ids`), so that a wrong order of merges costs once. Everything is
exact: tokens are moved about, never computed with.

A special token is named everywhere but in 1.1i and 1.2i, and training is asked for no more merges than every legal
choice leaves pairs that occur twice, but for 1.1h: so whoever fails only without special tokens, or only at the last
pair, loses those checks and no others.
"""

import numpy
import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.numbers import assert_same
from support.ids import assert_ids, assert_text, assert_units, draw_text, ids_of
from support.text import assert_merged_within_words, assert_trained, assert_vocabulary

WORDS = ("low", "lower", "lowest", "newest", "newer", "wide", "widest", "slow", "slowest", "the", "then", "other")
SENTENCE = "the slower the newer, then the other is lowest; a low owl knows the widest wheel. "
END = "<|endoftext|>"


def running_text(cases, length):
    """Words with spaces between them."""
    return draw_text(cases, [word + " " for word in WORDS], length)


@number("1.1a")
@weight(1.5)
@pytest.mark.read("handout 1.1")
def test_most_frequent_pair_is_merged(student, cases):
    """Training slices text into subwords: it merges the most frequent pair of neighbours, again and again"""
    for text, merges in [("low low lower", 2), (SENTENCE * 2, 12), (running_text(cases, 60), 25), ("ab ac " * 150, 2)]:
        assert_trained(student.train_bpe(text, 257 + merges, [END]), text, 257 + merges, [END])


@number("1.1b")
@weight(0.5)
@pytest.mark.read("handout 1.1")
def test_vocabulary_is_bytes_special_tokens_merges(student, cases):
    """Every byte is a token, so any text can be written; special tokens and merges come on top"""
    for special_tokens in ([END], ["<b>", "<a>"], ["|", "<long>", "«конец»", "<a>"]):
        got = student.train_bpe(SENTENCE * 2, 256 + len(special_tokens) + 9, special_tokens)
        assert_vocabulary(got, special_tokens)


@number("1.1c")
@weight(1)
@pytest.mark.read("handout 1.1")
def test_no_merge_across_pre_tokens(student, cases):
    """Words are units before subwords are: no merge reaches from one pre-token into the next"""
    words = " it's he's she's, who's 3 42 x7 ... ?!\n\n  end" * 2
    for text, merges in [(" a b a b a b a b", 2), (words, 24), (running_text(cases, 20) * 2, 12)]:
        assert_merged_within_words(student.train_bpe(text, 257 + merges, [END]), text, 257 + merges, [END])


@number("1.1d")
@weight(0.5)
@pytest.mark.read("handout 1.1")
def test_special_tokens_take_no_part_in_training(student, cases):
    """A special token is one unit from the start: training counts no pair in it or across it"""
    for text, special_tokens, merges in [
        ("ab<|x|>ba<|x|>" * 2 + "ab<|x|>", ["<|x|>"], 2),
        (f"low{END}low{END}{END}lower{END}lower{END}west{END}west", [END], 7),
        (f"<s>{SENTENCE}{END}<s>{SENTENCE}{END}", ("<s>", END), 37),
    ]:
        size = 256 + len(special_tokens) + merges
        assert_merged_within_words(student.train_bpe(text, size, special_tokens), text, size, special_tokens)


@number("1.2a")
@weight(1)
@pytest.mark.read("handout 1.2")
def test_encoding_joins_by_rank(student, reference, cases):
    """Encoding repeats training: in each pre-token the pair that was merged first is joined first"""
    for alphabet, merges in [("ab", 6), ("abc", 12), ("the ow", 25)]:
        vocab, ranked = reference.train_bpe(draw_text(cases, alphabet, 200), 257 + merges, [END])
        tokenizer, oracle = student.Tokenizer(vocab, ranked, [END]), reference.Tokenizer(vocab, ranked, [END])
        for length in (1, 2, 3, 5, 8, 13, 40, 120, 1200):  # the last without a space, as genes and links are
            text = draw_text(cases, alphabet, length)
            assert_ids(tokenizer.encode(text), oracle.encode(text), vocab)
    _, ranked = reference.train_bpe(draw_text(cases, "abc", 200), 257 + 12, [END])
    first = [(bytes([a]), bytes([b])) for a in range(0x80, 0xC0) for b in range(0x80, 0xC0)]  # none is in the text
    merges = [*first, *ranked]  # as many as in practice
    tokens = [*(bytes([byte]) for byte in range(256)), END.encode(), *(left + right for left, right in merges)]
    vocab = dict(enumerate(tokens))
    tokenizer, oracle = student.Tokenizer(vocab, merges, [END]), reference.Tokenizer(vocab, merges, [END])
    text = draw_text(cases, "abc", 120)
    assert_ids(tokenizer.encode(text), oracle.encode(text), vocab)


@number("1.2b")
@weight(1)
@pytest.mark.read("handout 1.2")
def test_decoding_gives_the_text_back(student, reference, cases):
    """Tokens hold all of a text: decoding gives it back, characters that training never saw included"""
    vocab, merges = reference.train_bpe(SENTENCE, 290, [END])
    tokenizer, another = student.Tokenizer(vocab, merges, [END]), student.Tokenizer(vocab, merges, [END])
    assert_ids(tokenizer.encode(""), [], vocab)
    spaces = "it's  two   spaces\r\n\r\n\tand lines \n"
    texts = (
        "",
        "a",
        "Жук, 你好, 🙂!",
        spaces,
        "cafe\u0301 ﬁ ² ",
        "\ufeffthe\x00\u2028\rend\ufffd",
        f"the{END}{END} end",
    )
    encoded = [tokenizer.encode(text) for text in texts]
    for text, ids in zip(texts, encoded, strict=True):  # tokens hold the text, not the tokenizer that made them
        assert_text(tokenizer.decode(ids), text)
        assert_text(another.decode(ids), text)


@number("1.2d")
@weight(0.5)
@pytest.mark.read("handout 1.2")
def test_decoding_what_a_model_gives(student, reference, cases):
    """What a model puts out can be decoded: ids in a list, a tuple, an array or a tensor"""
    vocab, merges = reference.train_bpe(SENTENCE, 280, [END])
    tokenizer, text = student.Tokenizer(vocab, merges, [END]), f"slow wheels{END}"
    ids = reference.Tokenizer(vocab, merges, [END]).encode(text)
    arrays = (numpy.array(ids), numpy.array(ids, dtype=numpy.uint16), torch.tensor(ids), torch.tensor(ids).int())
    for given in (ids, tuple(ids), *arrays):
        assert_text(tokenizer.decode(given), text)
        assert_text(tokenizer.decode(given[:0]), "")
        assert_text(tokenizer.decode(given[::2]), reference.Tokenizer(vocab, merges, [END]).decode(ids[::2]))


@number("1.2f")
@weight(0.5)
@pytest.mark.read("handout 1.2")
def test_special_token_is_one_id(student, reference, cases):
    """A special token is one id and never split, wherever it stands and whatever stands beside it"""
    special_tokens = [END, "<s>"]
    vocab, merges = reference.train_bpe(SENTENCE, 280, special_tokens)
    tokenizer, oracle = (
        student.Tokenizer(vocab, merges, special_tokens),
        reference.Tokenizer(vocab, merges, special_tokens),
    )
    for text in (END, f"the{END}low", f"{END}{END}the", f" {END} low<s>", f"<s>{SENTENCE}{END}<s>{END}"):
        assert_units(tokenizer.encode(text), oracle.encode(text), vocab, special_tokens)


@number("1.3a")
@weight(0.5)
@pytest.mark.read("handout 1.3")
def test_items_are_encoded_one_by_one(student, reference, cases):
    """A text that never ends can be encoded: each item by itself, and none before its ids are asked for"""
    vocab, merges = reference.train_bpe(SENTENCE, 280, [END])
    tokenizer, oracle = student.Tokenizer(vocab, merges, [END]), reference.Tokenizer(vocab, merges, [END])
    items = ["the lo", "west", "", "newer", " ", "other", "low", "slow"]
    expected = []
    for place, item in enumerate(items):
        ids = ids_of(tokenizer.encode(item))
        assert_units(ids, oracle.encode(item), vocab)
        expected += [(id, place + 1) for id in ids]
    with student.stream(tokenizer.encode_iterable, items=items) as stream:
        assert_lazy(stream, 0, 0)
        for place, (id, needed) in enumerate(expected):
            assert_ids(stream.take(1), [id], vocab, f"id {place} of the stream")
            assert_lazy(stream, place + 1, needed)
        assert_ids(stream.take(1), [], vocab, "what comes after the last id")


def assert_lazy(stream, ids, needed):
    """One item more than needed may have been taken: who looks ahead is lazy still."""
    assert stream.pulled <= needed + 1, (
        f"for {ids} ids {needed} of the items are needed, but encode_iterable had taken {stream.pulled} of them by then"
    )


@number("1.4a")
@weight(0.75)
@pytest.mark.read("handout 1.4")
def test_patches_are_squares_of_the_image(student, reference, cases):
    """A patch is a square of the image: its pixels row by row, the channels of a pixel side by side"""
    for shape, patch in [((1, 1, 2, 4), 2), ((1, 3, 4, 6), 2), ((2, 5, 9, 6), 3)]:
        images = numbered(*shape)
        assert_same(student.patchify(images, patch), reference.patchify(images, patch), "patches")


@number("1.4c")
@weight(0.5)
@pytest.mark.read("handout 1.4")
def test_patches_put_together_are_the_image(student, reference, cases):
    """Nothing is lost in patches: put together they are the image again"""
    for shape, patch in [((1, 1, 2, 4), 2), ((2, 5, 9, 6), 3), ((2, 3, 4, 10), 1)]:
        images = numbered(*shape)
        got = student.unpatchify(reference.patchify(images, patch), patch, *shape[2:])
        assert_same(got, images, "images")


@number("1.4e")
@weight(0.75)
@pytest.mark.read("handout 1.4")
def test_windows_slide_over_the_series(student, reference, cases):
    """A time series becomes windows: `length` times each, one every `stride` times"""
    for shape, length, stride in [((1, 6, 1), 3, 2), ((2, 10, 3), 4, 2), ((2, 11, 3), 5, 3)]:
        series = numbered(*shape)
        assert_same(student.windows(series, length, stride), reference.windows(series, length, stride), "windows")


def numbered(*shape):
    """A tensor whose entries count up: each number says where it comes from."""
    return torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)
