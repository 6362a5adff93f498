"""The six checks of `benchmarks/small` for graders that hand a check the submission itself. It needs torch alone."""

import torch

SIZES = (  # those of autograder.testing.cases
    ((), 3, 1, 2, 5),
    ((), 1, 2, 3, 4),
    ((1,), 4, 3, 2, 5),
    ((), 5, 7, 11, 13),
    ((2,), 5, 7, 11, 13),
    ((2, 3), 5, 7, 11, 13),
)
_GENERATOR = torch.Generator().manual_seed(6)


def softmax_is_the_formula(student, reference):
    for shape in [(3,), (2, 5), (2, 3, 5)]:
        x = _tensor(*shape)
        _close(student.softmax(x, -1), reference.softmax(x.double(), -1))


def softmax_along_another_axis(student, reference):
    x = _tensor(2, 3, 5)
    _close(student.softmax(x, 1), reference.softmax(x.double(), 1))


def softmax_of_large_scores(student, reference):
    x = _tensor(3, 5) * 1e4
    _close(student.softmax(x, 1), reference.softmax(x.double(), 1))


def attention_is_the_formula(student, reference):
    for leading, n_q, n_k, d_k, d_v in SIZES:
        q, k, v = _tensor(*leading, n_q, d_k), _tensor(*leading, n_k, d_k), _tensor(*leading, n_k, d_v)
        _close(student.attention(q, k, v), reference.attention(q.double(), k.double(), v.double()))


def attention_forgets_the_order_of_keys(student, reference):
    q, k, v = _tensor(5, 11), _tensor(7, 11), _tensor(7, 13)
    order = torch.randperm(7, generator=_GENERATOR)
    _close(student.attention(q, k[order], v[order]), reference.attention(q.double(), k.double(), v.double()))


def attention_keeps_its_dtype(student, reference):
    q, k, v = (_tensor(*shape).double() for shape in [(5, 11), (7, 11), (7, 13)])
    got = student.attention(q, k, v)
    assert got.dtype == torch.float64
    _close(got, reference.attention(q, k, v))


CHECKS = (
    softmax_is_the_formula,
    softmax_along_another_axis,
    softmax_of_large_scores,
    attention_is_the_formula,
    attention_forgets_the_order_of_keys,
    attention_keeps_its_dtype,
)


def _tensor(*shape):
    return torch.randn(*shape, generator=_GENERATOR)


def _close(got, expected):
    assert got.shape == expected.shape
    assert float((got.double() - expected).abs().max()) < 1e-5
