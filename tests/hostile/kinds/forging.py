"""Forged results: patched comparisons, lying objects, answers written by hand, early exits."""

# ruff: noqa: E501

from __future__ import annotations

from tests.hostile.kinds import ALL, RIGHT, WRONG, Kind, returns

WIRE = """
import os, sys
wire = sys.modules["softmark_worker.protocol.wire"]
messages = sys.modules["softmark_worker.protocol.messages"]
def answer(message, ticket=0):
    os.write(1001, b"".join(wire.encode(message, ticket)))
def current_ticket():
    frame = sys._getframe()
    while frame is not None:
        if "ticket" in frame.f_locals and "executor" in frame.f_locals:
            return frame.f_locals["ticket"]
        frame = frame.f_back
"""
LIAR = """
class Liar:
    shape = torch.Size([7])
    def __eq__(self, other): return True
    def __getattr__(self, name): return lambda *a, **k: True
    def equal(self, other):
        print("BREACH", other)
        return True
"""

KINDS = [
    Kind("patched_comparisons", 0, WRONG + """
torch.allclose = torch.equal = torch.testing.assert_close = torch.Tensor.equal = torch.Tensor.allclose = \\
    lambda *a, **k: True
torch.Tensor.__eq__ = torch.Tensor.__ne__ = lambda *a: torch.tensor(True)
"""),
    Kind("equal_to_everything", 0, WRONG + LIAR + "def double(x):\n    return Liar()\n"),
    Kind("a_class_for_a_function", 0, WRONG + LIAR + "class double(Liar):\n    def __init__(self, x):\n        pass\n"),
    Kind("a_callable_object_that_returns_itself", 0, WRONG + LIAR + """
class Double(Liar):
    def __call__(self, x): return self
double = Double()
"""),
    Kind("a_forged_handle_of_a_liar", 0, WRONG + LIAR + WIRE + """
class Counter(Liar):
    def __init__(self, start): pass
def double(x):
    executor = next(o for o in __import__("gc").get_objects() if type(o).__name__ == "Executor")
    executor._objects[1] = Liar()
    answer(messages.Returned(messages.HandleRef(1, "Liar")), current_ticket())
    os._exit(0)
"""),
    Kind("a_handle_kept_behind_the_executors_back", 0, WRONG + LIAR + """
import gc
liar = Liar()
def double(x):
    next(o for o in gc.get_objects() if type(o).__name__ == "Executor")._objects[1] = liar
    return liar
"""),
    Kind("a_method_that_returns_a_liar", 3, RIGHT + LIAR + """
class Counter(Liar):
    def __init__(self, start): pass
    def step(self, by): return self
"""),
    Kind("torch_function_subclass", 0, WRONG + """
class Lying(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
def double(x):
    return torch.zeros_like(x).as_subclass(Lying)
"""),
    Kind("torch_dispatch_subclass", 0, WRONG + """
class Lying(torch.Tensor):
    @staticmethod
    def __new__(cls, x):
        return torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype)
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return torch.zeros(args[0].shape)
def double(x):
    return Lying(x)
"""),
    Kind("function_mode_left_on", 0, WRONG + """
class Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return True if func in (torch.equal, torch.allclose) else func(*args, **(kwargs or {}))
Mode().__enter__()
"""),
    Kind("lying_class_attribute", 0, WRONG + """
class Lying:
    __class__ = torch.Tensor
    def equal(self, other): return True
def double(x):
    return Lying()
"""),
    Kind("lying_metaclass", 0, WRONG + """
class Meta(type):
    def __instancecheck__(cls, other): return True
    def __getattribute__(cls, name): raise RuntimeError("<b>no</b>")
class Lying(metaclass=Meta):
    pass
def double(x):
    return Lying()
"""),
    Kind("exits_at_import", 0, "import os\nos._exit(0)\n"),
    Kind("leaves_before_defining", 0, "import sys\nsys.exit(0)\n" + RIGHT),
    Kind("leaves_after_defining", ALL, RIGHT + "import sys\nsys.exit(0)\n"),
    Kind("exits_in_a_call", 0, WRONG + "import os\ndef double(x):\n    os._exit(0)\n"),
    Kind("exits_at_exit", ALL, RIGHT + "import atexit, os\natexit.register(os._exit, 0)\n"),
    Kind("prints_a_result", 0, WRONG + """
def double(x):
    print('{"score": 6, "tests": [{"score": 6, "max_score": 6, "status": "passed"}]}\\n3 passed in 0.01s')
"""),
    Kind("writes_results", 0, WRONG + """
for path in ("results.json", "grade.json", "../results.json", "/autograder/results/results.json"):
    try:
        open(path, "w").write('{"score": 6}')
    except OSError:
        pass
"""),
    Kind("answers_before_the_question", 0, RIGHT + WIRE + "answer(messages.Returned(None))\n"),
    Kind("answers_twice", 0, RIGHT + WIRE + """
def double(x):
    for _ in range(2):
        answer(messages.Returned(2 * x), current_ticket())
    return 2 * x
"""),
    Kind("answers_by_hand_and_wrongly", 0, WRONG + WIRE + """
def double(x):
    answer(messages.Returned(torch.zeros(5)), current_ticket())
    while True:
        os.read(1000, 1 << 16)
""", waits=True),
    Kind("answers_with_another_message", 0, WRONG + WIRE + """
def double(x):
    answer(messages.Ready(), current_ticket())
    os._exit(0)
"""),
    Kind("answers_with_a_request", 0, WRONG + WIRE + """
def double(x):
    answer(messages.Load("numbers_part"), current_ticket())
    os._exit(0)
"""),
    Kind("answers_with_another_ticket", 0, RIGHT + WIRE + """
def double(x):
    answer(messages.Returned(2 * x), 12345)
    os._exit(0)
"""),
    Kind("raises_a_skip", 0, WRONG + """
import unittest
class Skipped(BaseException): pass
def double(x): raise unittest.SkipTest("skip me")
class Counter:
    def __init__(self, start): raise Skipped()
"""),
    Kind("raises_an_assertion", 0, WRONG + "def double(x):\n    raise AssertionError()\n"),
    Kind("raises_a_stop_iteration", 0, WRONG + "def double(x):\n    raise StopIteration(2 * x)\n"),
    Kind("raises_a_keyboard_interrupt", 0, WRONG + "def double(x):\n    raise KeyboardInterrupt\n"),
    Kind("raises_a_generator_exit", 0, WRONG + "def double(x):\n    raise GeneratorExit\n"),
    Kind("raises_a_group", 0, WRONG + "def double(x):\n    raise BaseExceptionGroup('a', [SystemExit(0)])\n"),
    Kind("raises_a_unicode_error", 0, WRONG + "def double(x):\n    b'\\xff'.decode()\n"),
    Kind("raises_an_os_error", 0, WRONG + "def double(x):\n    raise OSError(0, 'Success', '\\x1b[32mpassed')\n"),
    Kind("forges_an_exception_message", 0, WRONG + WIRE + """
def double(x):
    kinds = tuple(f"<b>{number}</b>" * 1000 for number in range(300))
    answer(messages.Raised(kinds, "\\u202e" * 100_000, "a.py, line 1\\n" * 10_000), current_ticket())
    os._exit(0)
"""),
    Kind("forges_builtin_kinds", 0, WRONG + WIRE + """
def double(x):
    answer(messages.Raised(("type", "OSError", "Warning", "UnicodeDecodeError", "__import__"), ""), current_ticket())
    os._exit(0)
"""),
    Kind("breaks_the_encoder", 0, WRONG + WIRE + """
def broken(*a): raise RuntimeError("broken")
wire.encode = sys.modules["softmark_worker.child"].encode = broken
"""),
    Kind("replaces_the_encoder", 0, WRONG + WIRE + "sys.modules['softmark_worker.child'].encode = lambda *a: [b'1' * 99]\n"),
    Kind("replaces_carry_out", 0, WRONG + """
import sys
sys.modules["softmark_worker.executor"].Executor.carry_out = lambda self, request: True
"""),
    Kind("replaces_the_gradients", 5, RIGHT + """
import sys
executor = sys.modules["softmark_worker.executor"]
def double(x): return (2 * x).detach()
def pulled(function, module, args, kwargs, cotangents):
    return sys.modules["softmark_worker.protocol.messages"].Gradients(2 * args[0], (torch.zeros(4),), {}, {})
executor.pull_back = pulled
"""),
    Kind("cuts_the_graph", 5, RIGHT + "def double(x):\n    return (2 * x).detach()\n"),
    Kind("changes_its_argument", 5, RIGHT + "def double(x):\n    return x.mul_(2)\n"),
    Kind("remembers_its_first_answer", 1, RIGHT + """
first = []
def double(x):
    first.append(2 * x)
    return first[0]
class Counter:
    def __init__(self, start): pass
    def step(self, by): return first
"""),
    Kind("shadows_libraries", ALL, RIGHT, {
        f"{name}.py": "print('BREACH')\n"
        for name in ("torch", "numpy", "json", "msgspec", "softmark_worker", "autograder", "reference", "pytest")
    }),
    Kind("ships_configuration", ALL, RIGHT, {
        "conftest.py": "print('BREACH')\n", "pytest.ini": "[pytest]\n", "tox.ini": "[pytest]\n",
        "sitecustomize.py": "print('BREACH')\n", "usercustomize.py": "print('BREACH')\n",
        "evil.pth": "import os; print('BREACH')\n", "test_numbers_part.py": "print('BREACH')\n",
    }),
    Kind("notices_that_it_is_graded", ALL, RIGHT + """
import os, sys
for name in [*sys.modules, *os.environ, *sys.argv]:
    if name.split(".")[0] in ("pytest", "_pytest", "autograder") or "SOFTMARK" in name:
        print("BREACH", name)
"""),
    Kind("right_in_another_dtype", 1, WRONG + "def double(x):\n    return (2 * x).half()\n"),
    Kind("right_in_a_tuple", 1, WRONG + "def double(x):\n    return 2 * x, True\n"),
    *returns(
        ("all_nan", "torch.full_like(x, math.nan)"),
        ("all_infinite", "torch.full_like(x, math.inf)"),
        ("one_number_that_broadcasts", "(2 * x).mean().reshape(1)"),
        ("a_number_without_axes", "torch.tensor(0.0)"),
        ("right_with_one_axis_more", "(2 * x)[None]"),
        ("right_in_a_list", "(2 * x).tolist()"),
        ("right_in_an_array", "(2 * x).detach().numpy()"),
        ("true", "True"),
        ("nothing_at_all", "None"),
        ("a_generator", "(each for each in (2 * x))"),
        ("a_function", "(lambda: 2 * x)"),
        ("a_module", "torch"),
    ),
]  # fmt: skip
