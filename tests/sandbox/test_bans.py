"""What a part forbids is refused in its worker, however it is called; what it does not forbid goes on."""

from __future__ import annotations

import pytest

from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.bans import LEFT_OUT
from autograder.worker.protocol.messages import Load, Loaded, Raised, Returned
from tests.sandbox.conftest import LIMITS, Workers, call

FORBIDDEN = ("library attention", "torch.softmax", "torch.nn.functional.gelu", "import other except other.allowed")
PART = """
import torch, other
import other as renamed
from concurrent.futures import ThreadPoolExecutor
from other import used as imported
from torch.nn.attention.flex_attention import flex_attention
F, nn = torch.nn.functional, torch.nn
held, gelu = torch.softmax, F.gelu
x = torch.randn(1, 3, 4, 5)
mha = nn.MultiheadAttention(5, 1)
scripted = torch.jit.script(nn.Softmax(-1))
nested = torch.nested.nested_tensor([x[0], x[0]])
jagged = torch.nested.nested_tensor([x[0, 0], x[0, 1]], layout=torch.jagged)
attention = F.scaled_dot_product_attention
same = torch.allclose(torch.softmax(x, -1), x.exp() / x.exp().sum(-1, keepdim=True))  # costs nothing
flex_attention(x, x, x), mha(x[0], x[0], x[0]), gelu(x), other.used()
try:
    kernel = torch.library.get_kernel("aten::_softmax", "CPU")
except RuntimeError as error:
    kernel = None

def tried(expression):
    return type(eval(expression)).__name__

def uses(): return other.used()
def uses_renamed(): return renamed.inner.used()
def uses_imported(): return imported()
def imports():
    from other import used
    return used()
class Class:
    def uses(self): return other.used()
    @property
    def uses_too(self): return other.used()
    def without(self): return 3
class Derived(other.Class): pass
def allowed(): return other.allowed()
"""
OTHER = """
import sys
def used(): return 3
allowed = used
class Class: pass
inner = sys.modules[__name__]
"""
REFUSED = (
    "torch.softmax(x, -1)",
    "held(x, -1)",
    "F.softmax(x, -1)",
    "x.softmax(-1)",
    "nn.Softmax(-1)(x)",
    "scripted(x)",
    "torch.softmax(x, -1, out=torch.empty(1, 3, 4, 5))",
    "torch.special.softmax(x, -1)",
    "torch.sparse.softmax(x.to_sparse(), -1)",
    "torch.masked.softmax(x, -1)",
    "x.double().requires_grad_().softmax(-1)",
    "x.half().softmax(-1)",
    "torch._softmax(x, -1, False)",
    "torch.vmap(lambda y: torch.softmax(y, -1))(x)",
    "torch.func.grad(lambda y: torch.vmap(lambda z: z.softmax(-1).square().sum())(y).sum())(x)",
    "torch.func.jvp(lambda y: torch.softmax(y, -1), (x,), (x,))",
    "torch.func.functionalize(lambda y: torch.softmax(y, -1))(x)",
    "torch.jit.trace(lambda y: torch.softmax(y, -1), x)(x)",
    "torch.softmax(nested, -1)",
    "torch.softmax(jagged, -1)",
    "torch.ops.aten.softmax.int.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), x, -1)",
    "torch._C._dispatch_call_boxed(torch._C._dispatch_find_schema_or_throw('aten::_softmax', ''), x, -1, False)",
    "torch.library.get_kernel('aten::_softmax', 'CPU')",
    "list(ThreadPoolExecutor(1).map(lambda i: torch.softmax(x, -1), [1]))",
    "attention(x, x, x)",
    "attention(nested, nested, nested)",
    "torch.vmap(attention)(x, x, x)",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(x, x, x)",
    "torch.ops.aten._scaled_dot_product_attention_math(x, x, x)",
    "mha(x[0], x[0], x[0])",
    "nn.MultiheadAttention(5, 1)",
    "F.multi_head_attention_forward(*[None] * 12)",
    "nn.TransformerEncoderLayer(5, 1)",
    "flex_attention(x, x, x)",
    "torch.ops.higher_order.flex_attention(x, x, x, None, None, None)",
    "gelu(x)",
    "nn.GELU()(x)",
    "uses()",
    "uses_renamed()",
    "uses_imported()",
    "imported()",
    "imports()",
    "Class().uses()",
    "Class().uses_too",
    "Derived()",
)
ALLOWED = (
    "x @ x.mT",
    "x.exp() / x.exp().sum(-1, keepdim=True)",
    "torch.log_softmax(x, -1)",
    "F.cross_entropy(x[0, 0], torch.tensor([0, 1, 2, 3]))",
    "F.relu(nn.Linear(5, 5)(x))",
    "F.conv1d(x[0], torch.ones(2, 4, 2))",
    "allowed()",
    "Class().without()",
    "same or 1 / 0",
    "kernel is None or 1 / 0",
)


@pytest.fixture
def worker(workers: Workers) -> RemoteWorker:
    started = workers.start(PART, LIMITS, other__py=OTHER)
    assert isinstance(started.request(Load("part", FORBIDDEN), cpu_seconds=30, wall_seconds=90), Loaded)
    return started


def test_what_is_forbidden_is_refused_however_it_is_called(worker: RemoteWorker) -> None:
    replies = {expression: call(worker, "tried", expression) for expression in REFUSED}
    assert [
        what for what, reply in replies.items() if not (isinstance(reply, Raised) and LEFT_OUT in reply.message)
    ] == []


def test_what_is_not_forbidden_goes_on(worker: RemoteWorker) -> None:
    replies = {expression: call(worker, "tried", expression) for expression in ALLOWED}
    assert [(what, reply) for what, reply in replies.items() if not isinstance(reply, Returned)] == []


def test_a_module_that_is_left_out_is_told_with_its_line(worker: RemoteWorker) -> None:
    reply = call(worker, "tried", "uses()")
    assert isinstance(reply, Raised)
    line = PART.splitlines().index("def uses(): return other.used()") + 1
    assert reply.message == f"other.used (line {line}) {LEFT_OUT}"
