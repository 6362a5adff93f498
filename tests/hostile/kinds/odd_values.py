"""Odd results and odd exceptions: what might break decoding, judging, diagnosing or rendering."""

# ruff: noqa: E501

from __future__ import annotations

from tests.hostile.kinds import ALL, RIGHT, WRONG, Kind, returns
from tests.hostile.kinds.forging import WIRE

FRAME = (
    WIRE
    + """
import msgspec, struct
def frame(header, payload=b""):
    header = header if isinstance(header, bytes) else msgspec.msgpack.encode(header)
    body = header + bytes(-(24 + len(header)) % 16) + payload
    os.write(1001, struct.pack("<QQQ", len(body), len(header), current_ticket()) + body)
    os._exit(0)
"""
)


def frames(*headers: tuple[str, str]) -> list[Kind]:
    """Answers written byte by byte: the expression is the header of the frame."""
    return [Kind(name, 0, WRONG + FRAME + f"def double(x):\n    frame({header})\n") for name, header in headers]


KINDS = [
    *returns(
        ("huge_integer", "10 ** 5000"),
        ("very_huge_negative_integer", "-(1 << 2_000_000)"),
        ("list_of_huge_integers", "[10 ** 5000, {'a': 10 ** 5000}]"),
        ("dict_with_a_huge_key", "{10 ** 5000: 10 ** 5000}"),
        ("huge_float", "1e308 * 10"),
        ("nan_payload", "torch.tensor([0x7FF4DEADBEEF0001]).view(torch.float64).to(x.dtype).expand(x.shape)"),
        ("complex_number", "complex(math.nan, math.inf)"),
        ("complex_tensor", "(2 * x).to(torch.complex64).conj()"),
        ("bool_tensor", "x > 0"),
        ("uint64_tensor", "torch.full(x.shape, 2 ** 64 - 1, dtype=torch.uint64)"),
        ("float8_tensor", "(2 * x).to(torch.float8_e4m3fn)"),
        ("sparse_tensor", "(2 * x).to_sparse()"),
        ("csr_tensor", "(2 * x).reshape(1, -1).to_sparse_csr()"),
        ("meta_tensor", "(2 * x).to('meta')"),
        ("quantised_tensor", "torch.quantize_per_tensor(2 * x.detach(), 0.1, 0, torch.qint8)"),
        ("nested_tensor", "torch.nested.nested_tensor([2 * x, x])"),
        ("tensor_of_many_axes", "(2 * x).reshape([1] * 63 + [-1])"),
        ("empty_tensor_of_huge_shape", "torch.empty(0, 1 << 31, 1 << 20)"),
        ("expanded_to_terabytes", "torch.zeros(1).expand(1 << 40)"),
        ("tensor_just_too_large", "torch.zeros((1 << 24) + 1)"),
        ("tensor_of_60_megabytes", "torch.zeros(15_000_000)"),
        ("nested_31_deep", "[" * 31 + "x" + "]" * 31),
        ("nested_too_deeply", "[" * 60 + "x" + "]" * 60),
        ("holds_itself", "(lambda l: l.append(l) or l)([])"),
        ("millions_of_integers", "[0] * 4_000_000"),
        ("millions_of_nans", "torch.full((5_000_000, 3), math.nan)"),
        ("nans_along_dozens_of_axes", "torch.full([1] * 40 + [1 << 23], math.nan, dtype=torch.float16)"),
        ("millions_of_halves", "torch.zeros(33_000_000, dtype=torch.float16)"),
        ("a_million_nones", "[None] * 900_000"),
        ("a_million_dicts", "[{}] * 300_000"),
        ("lone_surrogate", "'\\ud800' * 10"),
        ("dict_with_surrogate_keys", "{'\\ud800': '\\udfff', b'\\xff': 1}"),
        ("enormous_string", "'\\x00' * 20_000_000"),
        ("enormous_wide_string", "chr(0x10FFFF) * 8_000_000"),
        ("many_lines", "'\\n'.join(f'{i % 7}abc{i % 11}' * 9 for i in range(9000))"),
        ("enormous_bytes", "b'\\xff' * 20_000_000"),
        ("markup", "'<script>alert(1)</script>\\x1b[32mpassed\\x1b[0m\\u202e[bold]'"),
        ("set_of_tensors", "{x}"),
        ("dict_subclass", "collections.defaultdict(list, a=x)"),
        ("dict_that_lies", "type('D', (dict,), {'items': lambda self: [(1, 2)] * 9, '__len__': lambda self: -1})(a=1)"),
        ("list_that_lies", "type('L', (list,), {'__iter__': lambda self: iter(int, 1), '__len__': lambda s: 1 << 62})()"),
        ("tuple_that_lies", "type('T', (tuple,), {'__iter__': lambda self: iter(int, 1)})((x, x))"),
        ("str_that_lies", "type('S', (str,), {'__str__': lambda self: 1, 'encode': lambda *a: 1})('a' * 9000)"),
        ("int_that_lies", "type('I', (int,), {'__index__': lambda self: 'no', '__eq__': lambda *a: True})(3)"),
        ("float_that_lies", "type('F', (float,), {'__float__': lambda self: 'no'})(3)"),
        ("named_tuple", "collections.namedtuple('double', 'equal shape')(True, (7,))"),
        ("enumeration", "enum.IntEnum('E', 'a b').a"),
        ("decimal", "decimal.Decimal('NaN')"),
        ("fraction", "fractions.Fraction(2, 3)"),
        ("date", "datetime.datetime.now()"),
        ("ellipsis", "..."),
        ("not_implemented", "NotImplemented"),
        ("an_exception", "ValueError('x')"),
        ("a_type", "type(x)"),
        ("a_dtype", "torch.qint8"),
        ("object_array", "numpy.array([None, x.tolist()], dtype=object)"),
        ("structured_array", "numpy.zeros(3, dtype=[('a', 'f4'), ('b', 'O')])"),
        ("string_array", "numpy.array(['<b>'] * 3)"),
        ("array_of_dates", "numpy.array(['NaT'], dtype='datetime64[D]')"),
        ("masked_array", "numpy.ma.masked_array([1.0, 2.0], mask=[0, 1])"),
        ("long_double", "numpy.longdouble(1) / 3"),
        ("memory_view", "memoryview(b'abc')"),
        ("weak_reference", "__import__('weakref').ref(x)"),
        ("type_with_a_forged_name", "type('<b>\\x1b[31m\\u202e' * 9000, (), {})()"),
        ("type_with_surrogates", "type('\\ud800', (), {})()"),
    ),
    Kind("beside_the_end_of_memory", 0, WRONG + """
import ctypes
def double(x):
    return torch.frombuffer((ctypes.c_char * (1 << 40)).from_address(64), dtype=torch.float32, count=5)
"""),
    Kind("changes_its_result_while_it_is_packed", 0, WRONG + """
import threading
def double(x):
    out = torch.zeros(3, 3)
    def change():
        while True:
            out.resize_(1).resize_(9)
    threading.Thread(target=change, daemon=True).start()
    return out
"""),
    Kind("message_that_cannot_be_made", 0, WRONG + """
class Odd(Exception):
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__
def double(x): raise Odd(x)
"""),
    Kind("message_without_an_end", 0, WRONG + """
def double(x): raise ValueError("<b>\\x1b[2J\\u202e\\ud800" * 1_000_000)
"""),
    Kind("message_that_is_no_string", 0, WRONG + """
class Odd(Exception):
    def __str__(self): return type("S", (str,), {"__getitem__": lambda *a: 1, "encode": lambda *a: 1})("x")
def double(x): raise Odd
"""),
    Kind("exception_of_a_forged_type", 0, WRONG + """
class Meta(type):
    def mro(cls): return [cls, ValueError, Exception, BaseException, object]
    __module__ = property(lambda self: 1 / 0)
Odd = Meta("ValueError" * 500, (ValueError,), {"__module__": 3})
def double(x): raise Odd
"""),
    Kind("exception_with_forged_frames", 0, WRONG + """
def double(x):
    code = compile("1 / 0", __file__.replace("numbers_part", "<b>CHECK" + "ED</b>"), "exec")
    exec(code.replace(co_name="<script>", co_firstlineno=2 ** 31 - 1))
"""),
    Kind("group_of_exceptions", 0, WRONG + "def double(x):\n    raise ExceptionGroup('a', [ValueError(x)])\n"),
    Kind("exception_chain_in_a_circle", 0, WRONG + """
def double(x):
    a, b = ValueError("a"), ValueError("b")
    a.__cause__, b.__cause__ = b, a
    a.__context__ = a
    raise a
"""),
    Kind("deep_recursion", 0, WRONG + "def double(x):\n    return double(x)\n"),
    Kind("recursion_into_the_stacks_end", 0, WRONG + """
import sys
sys.setrecursionlimit(2 ** 31 - 1)
class R:
    def __getattr__(self, name): return getattr(self, name + "a")
def double(x): return [R().a for _ in range(9)] and repr(make())
def make():
    l = []
    for _ in range(10 ** 6): l = [l]
    return l
"""),
    Kind("forged_syntax_error", 0, WRONG + """
def double(x): raise SyntaxError("m" * 9999, (__file__, 10 ** 30, -5, "text", 1, 1))
"""),
    Kind("source_that_does_not_parse", 0, "def double(x):\n  return (\n"),
    Kind("source_of_deep_brackets", 0, "x = " + "(" * 5000 + ")" * 5000 + "\n" + RIGHT),
    Kind("source_of_many_operators", 0, "x = " + "-" * 100_000 + "1\n" + RIGHT),
    Kind("source_with_another_encoding", ALL, "# coding: latin-1\n# ÿ\n" + RIGHT),
    Kind("starred_names", 0, "double = 3\nCounter = torch = None\n"),
    Kind("property_that_raises", 0, """
import sys
class Module(type(sys)):
    @property
    def double(self): raise AttributeError("<b>")
    def __dir__(self): return [1, None, "doubl"]
sys.modules[__name__].__class__ = Module
"""),
    Kind("module_replaced_by_an_object", 0, """
import sys
class Anything:
    def __getattr__(self, name): return self
    def __call__(self, *a): return self
sys.modules[__name__] = Anything()
"""),
    *frames(
        ("header_that_is_nothing", "b''"),
        ("header_of_garbage", "b'\\xc1' * 1000"),
        ("header_of_deep_nesting", "b'\\x91' * 1_000_000"),
        ("tensor_of_unknown_dtype", "['Returned', ['T', 'object', [3]]]"),
        ("tensor_of_negative_size", "['Returned', ['T', 'float32', [-1, -5]]]"),
        ("tensor_without_its_bytes", "['Returned', ['T', 'float32', [1 << 40]]]"),
        ("empty_tensor_of_many_axes", "['Returned', ['T', 'float32', [0] * 64]]"),
        ("empty_tensor_of_overflowing_shape", "['Returned', ['T', 'float32', [0, 1 << 47, 1 << 47]]]"),
        ("integer_without_digits", "['Returned', ['i', '']]"),
        ("integer_of_a_million_digits", "['Returned', ['i', 'f' * 1_000_000]]"),
        ("text_that_is_no_text", "['Returned', ['u', b'\\xff\\xfe']]"),
        ("keys_that_cannot_be_keys", "['Returned', ['d', [['l', []]], [1]]]"),
        ("handle_with_an_endless_name", "['Returned', ['h', 7, '<b>' * 300_000]]"),
        ("list_of_a_million_handles", "['Returned', ['l', [['h', 1, '']] * 150_000]]"),
    ),
    Kind("keys_that_collide", 0, WRONG + FRAME + """
def double(x):
    keys = [["t", [-1 - (n >> bit & 1) for bit in range(15)]] for n in range(1 << 15)]
    frame(["Returned", ["d", keys, [1] * len(keys)]])
"""),
]  # fmt: skip
