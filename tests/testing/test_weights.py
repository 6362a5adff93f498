"""Weights that were handed in are read strictly: every fault is a sentence about the file, and nothing runs."""

from __future__ import annotations

import pickle

import pytest
import torch
from safetensors.torch import save
from torch import Tensor

from autograder.testing.mismatch import Mismatch
from autograder.testing.weights import LARGEST, read_weights

LIKE = {"proj.weight": torch.zeros(2, 3), "proj.bias": torch.zeros(2)}
GOOD = {"proj.weight": torch.arange(6.0).reshape(2, 3), "proj.bias": torch.ones(2)}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_tensors_come_back_by_name_in_float32(dtype: torch.dtype) -> None:
    read = read_weights(save({name: value.to(dtype) for name, value in GOOD.items()}), "w.safetensors", LIKE)
    assert {name: value.dtype for name, value in read.items()} == dict.fromkeys(LIKE, torch.float32)
    assert all(torch.equal(read[name], GOOD[name]) for name in LIKE)


def test_what_the_model_does_not_have_is_left_out() -> None:
    data = save({**GOOD, "a.mask": torch.ones(4, dtype=torch.bool)})
    assert list(read_weights(data, "w.safetensors", LIKE)) == list(LIKE)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"proj.bias": torch.ones(3)}, r"proj.bias: expected shape \(2,\), got shape \(3,\)"),
        ({"proj.bias": torch.ones(2, dtype=torch.int64)}, "floating-point numbers, got int64"),
        ({"proj.bias": torch.tensor([1.0, float("nan")])}, "NaN or infinity"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(changed: dict[str, Tensor], sentence: str) -> None:
    with pytest.raises(Mismatch, match=sentence):
        read_weights(save({**GOOD, **changed}), "w.safetensors", LIKE)


def test_a_missing_tensor_is_named_with_those_that_are_there() -> None:
    with pytest.raises(Mismatch, match=r"proj.weight, as in the starter, got these names: module.proj.bias"):
        read_weights(save({"module.proj.bias": torch.ones(2)}), "w.safetensors", LIKE)


def test_a_missing_file_is_one_sentence() -> None:
    with pytest.raises(Mismatch, match=r"w\.safetensors: expected a file of this name"):
        read_weights(None, "w.safetensors", LIKE)


class Explodes:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("it was unpickled",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"short",
        save(GOOD)[:-1],
        save(GOOD)[:40],
        save(GOOD) + b"more",
        (1 << 62).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"[]",
        (64).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'.ljust(64),
        (80).to_bytes(8, "little") + b'{"a":{"dtype":"F9","shape":[1],"data_offsets":[0,4]}}'.ljust(80) + b"0000",
        pickle.dumps(Explodes()),
        b"\xff" * 100,
    ],
    ids=range(11),
)
def test_what_is_no_safetensors_file_is_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(Mismatch, match="safetensors"):
        read_weights(data, "w.safetensors", LIKE)


def test_a_file_that_is_too_large_is_not_parsed() -> None:
    with pytest.raises(Mismatch, match="at most 16 MB"):
        read_weights(bytes(LARGEST + 1), "w.safetensors", LIKE)
