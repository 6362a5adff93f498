"""Hidden checks of part 4: what calls refuse and leave behind, and what the lecture says of the four layers.

The checks of properties (who listens to whom, depth, linearity, relabelling, symmetry) run the student's own
`aggregate` on the student's own weights, anchored by the textbook's layer; of attention they ask no scale, so that a
wrong one costs its own check and not these. Bounds as in the visible checks.
"""

import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.devices import assert_keeps_device
from autograder.testing.exceptions import must_raise
from autograder.testing.gradients import assert_gradients, vjp
from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import assert_close, assert_same, attention_bounds, rounding
from autograder.testing.purity import assert_pure
from autograder.testing.symmetry import assert_equivariant
from support import layers, message_passing
from support.message_passing import aggregate_bound, assert_listens, assert_works, weights_of
from support.permutations import all_orders, assert_predicted, commuting

EXACT = 1e-6
QUOTIENT = 8 * rounding(torch.float32)

LAYERS = {
    "dense": lambda student, cases: message_passing.dense(student, cases, 12, 2, 3),
    "conv_zeros": lambda student, cases: message_passing.convolution(student, cases, 13, 3, "zeros", 2, 3),
    "conv_circular": lambda student, cases: message_passing.convolution(student, cases, 12, 3, "circular", 2, 3),
    "graph": lambda student, cases: message_passing.graph(
        student, cases, message_passing.draw_graph(cases, 11, directed=True), False, "row", 2, 3
    ),
    "attention": lambda student, cases: message_passing.attention(student, cases, 13, 4, 2, 3),
}


@number("4.1b")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 4.1")
def test_aggregate_broadcasts_and_learns(student, reference, cases):
    """One set of weights for a batch, or one for each of its members; gradients reach tokens, weights and values"""
    sizes = [((), (2,), 6, 5), ((2,), (2,), 6, 5), ((3,), (2, 1), 6, 5), ((2, 3), (3,), 6, 5), ((2, 3), (), 2, 5)]
    ones = [((1,), (1,), 1, 1), ((2,), (2,), 1, 3), ((1,), (), 3, 1), ((3, 1), (1, 1), 2, 4)]
    for dtype in (torch.float32, torch.float64):
        for x_leading, leading, heads, n in (*sizes, *ones):
            x = cases.tensor(*x_leading, 4, n, dtype=dtype).mT
            weights = cases.tensor(*leading, heads, n, 2 * n, dtype=dtype)[..., ::2]
            values = cases.tensor(7, 4, heads, dtype=dtype).permute(2, 1, 0)  # as the kernel of a convolution comes
            _assert_aggregate(student, reference, cases, (x, weights, values), then=(2 * x, weights.mT, values))
            _assert_aggregate(student, reference, cases, (x, weights), then=(2 * x, weights.mT))
    x, weights, values = cases.tensor(2, 5, 4), cases.tensor(6, 5, 5), cases.tensor(6, 4, 7)
    for frozen in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        _assert_aggregate(student, reference, cases, (x, weights, values), frozen=frozen)
    every = cases.tensor(4).expand(2, 5, 4), cases.tensor(5, 5).expand(6, 5, 5), cases.tensor(4, 7).expand(6, 4, 7)
    expected = reference.aggregate(*(value.double() for value in every))
    assert_close(student.aggregate(*every), expected, "out", within=aggregate_bound(*every), dtype=x.dtype)
    assert_keeps_device(student, student.aggregate, x, weights, values)
    assert_keeps_device(student, student.aggregate, x, weights)


def _assert_aggregate(student, reference, cases, args, **how):
    """The result, what is left of the arguments, and the gradients are the reference's."""
    wide = tuple(value.double() for value in args)
    seen = student.observe(student.aggregate, *args)
    expected = reference.aggregate(*wide)
    values = args[2] if len(args) == 3 else torch.eye(args[0].shape[-1]).expand(args[1].shape[-3], -1, -1)
    within = aggregate_bound(args[0], args[1], values)
    assert_close(seen.value, expected, "out", within=within, dtype=args[0].dtype)
    assert_pure(seen, args)
    cotangent = cases.tensor(*expected.mT.shape, dtype=args[0].dtype).mT
    got = student.vjp(student.aggregate, args, (cotangent,), **how)
    assert_same_gradients(
        got.args, reference.aggregate, args, cotangent, ("x", "weights", "values"), how.get("frozen", ())
    )
    assert_cotangent_kept(got)


def assert_same_gradients(got, function, args, cotangent, names, frozen=()):
    """The gradients of all arguments that are not frozen are those of the reference's function."""
    wide = vjp(function, tuple(value.double() for value in args), (cotangent.double(),))
    own = vjp(function, args, (cotangent,))
    learn = [place for place in range(len(args)) if place not in frozen]
    assert_gradients(*({names[place]: gradients[place] for place in learn} for gradients in (got, wide.args, own.args)))


def assert_cotangent_kept(got):
    """The backward pass leaves what it is given as it was."""
    if got.cotangents_changed:
        raise Mismatch("gradient of the result", "as it was before the backward pass", "other numbers")


@number("4.3c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 4.3")
def test_kernel_has_a_middle(student, reference):
    """A kernel has a middle, so an even size is an error; a kernel may be longer than the line"""
    for n, size, padding in [
        (2, 5, "zeros"),
        (1, 3, "zeros"),
        (1, 5, "zeros"),
        (2, 9, "circular"),
        (300, 3, "circular"),
    ]:
        expected = reference.conv_weights(n, size, padding).double()
        assert_close(student.conv_weights(n, size, padding), expected, "weights", within=EXACT, dtype=torch.float32)
    for size in (2, 4, 0, 6):
        for padding in ("zeros", "circular"):
            why = f"a kernel of size {size} has no middle"
            must_raise(ValueError, student.conv_weights, 5, size, padding, because=why)
    for padding in ("reflect", "zero", "", "Circular"):
        for n, size in ((5, 3), (5, 1), (1, 1)):
            must_raise(ValueError, student.conv_weights, n, size, padding, because="padding is 'zeros' or 'circular'")


@number("4.4c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 4.4")
def test_what_is_no_graph_is_an_error(student, cases):
    """What is no adjacency matrix of zeros and ones is an error, and so is the symmetric norm of a directed graph"""
    undirected, directed = (message_passing.draw_graph(cases, n, directed=n == 6) for n in (5, 6))
    for norm in ("sym", "row"):
        weights = weights_of(student.graph_weights(undirected, False, norm), (1, 5, 5), undirected.dtype)
        assert_same(weights != 0, undirected.bool().unsqueeze(0), "where weights are not 0")
    weights_of(student.graph_weights(directed, False, "row"), (1, 6, 6), directed.dtype)
    assert_same(
        weights_of(student.graph_weights(directed.T, False, "row"), (1, 6, 6), directed.dtype) != 0,
        directed.T.bool().unsqueeze(0),
        "where weights are not 0",
    )
    calls = [(self_loops, norm) for self_loops in (False, True) for norm in ("row", "sym")]
    for self_loops, norm in calls:
        for entry in (2.0, 0.5, -1.0, math.nan):
            weighted = undirected.clone()
            weighted[0, 1] = weighted[1, 0] = entry
            why = f"an entry of {entry:g} is neither 0 nor 1"
            must_raise(ValueError, student.graph_weights, weighted, self_loops, norm, because=why)
        loop = undirected.clone()
        loop[2, 2] = 1.0
        why = "node 2 has a loop, which only self_loops may add"
        must_raise(ValueError, student.graph_weights, loop, self_loops, norm, because=why)
        for no_matrix in (undirected[:4], undirected[:, :4], undirected[None], undirected[0]):
            why = f"A of shape {tuple(no_matrix.shape)} is not square"
            must_raise(ValueError, student.graph_weights, no_matrix, self_loops, norm, because=why)
        for kind in (torch.int64, torch.bool):
            must_raise(ValueError, student.graph_weights, undirected.to(kind), self_loops, norm, because=f"A is {kind}")
    why = "the symmetric norm needs an undirected graph"
    for one_way in (directed, torch.eye(5)[[1, 2, 3, 4, 0]]):  # a ring, whose nodes have one sender and one receiver
        must_raise(ValueError, student.graph_weights, one_way, True, "sym", because=why)
        must_raise(ValueError, student.graph_weights, one_way, False, "sym", because=why)
    for norm in ("mean", "", "Sym"):
        must_raise(ValueError, student.graph_weights, undirected, True, norm, because="norm is 'row' or 'sym'")


@number("4.5b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.parametrize("maker", ["mlp_weights", "conv_weights", "graph_row", "graph_sym", "attention_weights"])
@pytest.mark.read("handout 4.5")
def test_what_makes_weights_learns_and_leaves_no_trace(student, reference, cases, maker):
    """What makes the weights learns: gradients reach dense matrix, queries and keys, and nothing given is changed"""
    names = {"mlp_weights": ("W",), "attention_weights": ("q", "k")}.get(maker, ())
    for name, args, within in _calls_of(maker, cases):
        function, maker_of_theirs = getattr(reference, name), getattr(student, name)
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        expected = function(*(arg.double() if isinstance(arg, torch.Tensor) else arg for arg in args)).double()
        seen = student.observe(maker_of_theirs, *args)
        assert_close(seen.value, expected, "weights", within=within, dtype=tensors[0].dtype if tensors else None)
        assert_pure(seen, args)
        if tensors:
            assert_keeps_device(student, maker_of_theirs, *args)
        if not names or float(args[0].abs().max()) > 20:  # shifts and graphs learn nothing; loud scores almost nothing
            continue
        cotangent = cases.tensor(*expected.mT.shape, dtype=args[0].dtype).mT
        for frozen in ((), (0,), (1,))[: 1 if len(args) == 1 else 3]:
            then = tuple(2 * arg for arg in args)
            got = student.vjp(maker_of_theirs, args, (cotangent,), frozen=frozen, then=then)
            assert_same_gradients(got.args, function, args, cotangent, names, frozen)
            assert_cotangent_kept(got)


def _calls_of(maker, cases):
    """Calls of one maker: (name, arguments, what the weights may err), in both dtypes, one of them transposed."""
    for dtype in (torch.float32, torch.float64):
        if maker == "mlp_weights":
            for W in (cases.tensor(4, 4, dtype=dtype), cases.tensor(5, 5, dtype=dtype).mT):
                yield maker, (W,), EXACT * float(W.abs().max())
        elif maker == "conv_weights":
            yield maker, (6, 3, "circular"), EXACT
        elif maker == "attention_weights":
            q, k = cases.tensor(2, 3, 5, 7, dtype=dtype), cases.tensor(2, 3, 7, 5, dtype=dtype).mT
            yield maker, (q, k), attention_bounds(q, k, k)[1]
            q, k = 12 * cases.tensor(2, 5, 7, dtype=dtype), cases.tensor(2, 5, 7, dtype=dtype)  # exp of 200 is infinite
            yield maker, (q, 12 * k), attention_bounds(q, 12 * k, k)[1]
        else:
            A = message_passing.draw_graph(cases, 5, directed=False).to(dtype)
            for graph in (A, A.mT):
                for self_loops in (True, False):
                    yield "graph_weights", (graph, self_loops, maker.removeprefix("graph_")), QUOTIENT


@number("4.6b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.read("handout 4.6")
def test_who_is_a_neighbour(student, cases, layer):
    """Who is a neighbour: an output moves exactly when a token moves that its layer listens to"""
    operator = LAYERS[layer](student, cases)
    n, d_in = operator.sees.shape[0], operator.values.shape[1]
    x = cases.tensor(n, d_in, scale=0.5)
    assert_works(operator, x, student, cases)
    moved = x.repeat(1 + n, 1, 1)
    for j in range(n):
        moved[1 + j, j] += torch.tensor([1.0, -1.5])
    out = operator(moved)
    assert_listens(weights_of(out, (1 + n, n, operator.values.shape[2]), x.dtype), operator.sees)


@number("4.6c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 4.6")
def test_far_is_deep_for_a_convolution_and_one_step_for_attention(student, cases):
    """The ends of a line of n tokens see each other after ceil(2(n - 1) / (size - 1)) convolutions, or one attention

    Stays though 4.1a and 4.3a fail with it: it is what the lecture says of long range, tried on a stack of layers.
    """
    for n, size in [(5, 3), (6, 5), (8, 3), (9, 5)]:
        given = weights_of(student.conv_weights(n, size, "zeros"), (size, n, n), torch.float32)
        kernel = cases.uniform(2, 2, size, low=0.5, high=1.5)  # positive: nothing cancels on the way
        values, x = kernel.permute(2, 1, 0), torch.zeros(n, 2)
        x[0] = 1.0
        deep = math.ceil(2 * (n - 1) / (size - 1))
        for depth in range(1, deep + 1):
            expected = layers.convolution(x.double(), kernel.double(), "zeros")
            within = aggregate_bound(x, given, values)
            got = student.aggregate(x, given, values)
            assert_close(got, expected, f"out of layer {depth}", within=within, dtype=x.dtype)
            x = got
            arrived = float(x[-1].abs().min()) > 1e-3 * float(x.abs().max())
            if arrived != (depth == deep):
                happens = "nothing" if depth < deep else "something of token 0"
                raise Mismatch(f"the last token after {depth} convolutions", happens, f"out[-1] = {x[-1].tolist()}")
    operator = message_passing.attention(student, cases, 8, 3, 4, 5)
    x = cases.tensor(8, 4, scale=0.5)
    before = assert_works(operator, x, student, cases)
    x[0] += 1.0
    after = weights_of(operator(x), (8, 5), x.dtype)
    if float((after - before)[-1].abs().max()) < 1e-4 * float(before.abs().max()):
        raise Mismatch("the last token after one attention", "another output, since token 0 changed", "the same")


@number("4.6d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.read("handout 4.6")
def test_fixed_weights_are_linear_and_attention_is_not(student, cases, layer):
    """Weights that are fixed make a linear layer; weights that the data makes do not

    Stays though 4.1a or 4.5a fail with it: it is what sets attention apart from the other three in the lecture.
    """
    operator = LAYERS[layer](student, cases)
    shape = operator.sees.shape[0], operator.values.shape[1]
    x, y = cases.tensor(*shape), cases.tensor(*shape)
    both = 2.0 * x - 3.0 * y
    of_x, of_y, of_both = (assert_works(operator, given, student, cases) for given in (x, y, both))
    difference = float((of_both - (2.0 * of_x - 3.0 * of_y)).abs().max())
    rounded = 2 * operator.within(x) + 3 * operator.within(y) + operator.within(both)
    if not operator.from_data and difference > rounded:
        raise Mismatch("f(2 x - 3 y)", "2 f(x) - 3 f(y)", f"f(2 x - 3 y) differs by {difference:.2g}")
    if operator.from_data and difference < 1e-2 * float(of_both.abs().max()):
        hint = "the weights do not follow the queries and keys"
        raise Mismatch("f(2 x - 3 y)", "no linear function of x and y", "2 f(x) - 3 f(y)", hint)


@number("4.7a")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 4.7")
def test_names_of_nodes_mean_nothing(student, cases):
    """Relabelling the graph and its tokens together only relabels the outputs: names of nodes mean nothing"""
    for n, norm in [(4, "row"), (6, "row"), (5, "sym")]:
        A = message_passing.draw_graph(cases, n, directed=norm == "row")
        order, x, values = cases.permutation(n), cases.tensor(n, 3), cases.tensor(1, 3, 5)
        weights = weights_of(student.graph_weights(A, False, norm), (1, n, n), x.dtype)
        assert_same(weights != 0, A.bool().unsqueeze(0), "where weights are not 0")
        out, within = student.aggregate(x, weights, values), aggregate_bound(x, weights, values)
        expected = layers.summed_over_heads(x.double(), weights.double(), values.double())
        assert_close(out, expected, "out", within=within, dtype=x.dtype)
        relabelled = weights_of(student.graph_weights(A[order][:, order], False, norm), (1, n, n), x.dtype)
        after = student.aggregate(x[order], relabelled, values)
        under = "relabelling graph and tokens"
        assert_equivariant(out, after, order, -2, "out", under=under, within=4 * within)


def rotate(projected):
    """RoPE for positions 0 .. n - 1: (..., n, 4), two pairs of features, at frequencies 1 and 1/100."""
    angles = torch.arange(projected.shape[-2])[:, None] * torch.tensor([1.0, 0.01])
    turned = torch.view_as_complex(projected.unflatten(-1, (2, 2)).contiguous()) * torch.polar(
        torch.ones_like(angles), angles
    )
    return torch.view_as_real(turned).flatten(-2)


def sinusoidal_code():
    """(5, 4): sin p, cos p, sin p/100, cos p/100."""
    angles = torch.arange(5)[:, None] * torch.tensor([1.0, 0.01])
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


@number("4.7c")
@weight(1)
@visibility("hidden")
@pytest.mark.parametrize("layer", ["attention_sinusoidal", "attention_learned", "attention_rotary", "attention_causal"])
@pytest.mark.read("handout 4.7")
def test_position_takes_the_symmetry_away(student, cases, layer):
    """What a code or a causal mask does to attention's symmetry: predicted by you, tried on your own layer"""
    turn = rotate if layer == "attention_rotary" else lambda projected: projected
    mask = torch.ones(5, 5).tril().bool() if layer == "attention_causal" else None
    operator = message_passing.attention(student, cases, 5, 3, 4, 6, turn=turn, mask=mask)
    code = {"attention_sinusoidal": sinusoidal_code(), "attention_learned": cases.tensor(5, 4)}.get(layer, 0.0)
    x, orders = cases.tensor(5, 4), all_orders(5)
    assert_works(operator, x, student, cases)
    blind = message_passing.attention(student, cases, 5, 3, 4, 6)  # what is taken away must have been there
    commutes = commuting(weights_of(blind(x[orders]), (120, 5, 6), x.dtype), orders)
    assert_predicted(student.SYMMETRIES, "attention", commutes, orders)
    out = operator(x[orders] + code)
    commutes = commuting(weights_of(out, (120, 5, 6), x.dtype), orders)
    assert_predicted(student.SYMMETRIES, layer, commutes, orders)
