"""Visible checks of part 4: what each maker of weights makes, and that one operator is all four layers.

Weights are compared with the reference's, exact ones up to 1e-6 and others by a rounding bound. Layers are compared
with the textbook's, index by index in float64 (`support.layers`), and what they may err is counted in roundings
(`message_passing.aggregate_bound`). The checks of whole layers run your own `aggregate` on your own weights.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.exceptions import must_raise
from autograder.testing.numbers import assert_close, attention_bounds, rounding
from support import layers, message_passing
from support.message_passing import aggregate_bound, assert_is_layer, assert_works, weights_of
from support.permutations import all_orders, assert_not_one_for_all, assert_predicted, commuting

EXACT = 1e-6  # zeros and ones
QUOTIENT = 8 * rounding(torch.float32)  # entries of at most 1, a root and a quotient of small integers

FORK = torch.tensor([[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 0, 1, 0]])

LAYERS = {
    "dense": lambda student, cases: message_passing.dense(student, cases, 4, 2, 3),
    "conv_zeros": lambda student, cases: message_passing.convolution(student, cases, 6, 3, "zeros", 4, 5),
    "conv_circular": lambda student, cases: message_passing.convolution(student, cases, 7, 3, "circular", 4, 5),
    "graph_row": lambda student, cases: message_passing.graph(
        student, cases, message_passing.draw_graph(cases, 5, directed=True), False, "row", 4, 3
    ),
    "graph_sym": lambda student, cases: message_passing.graph(
        student, cases, message_passing.draw_graph(cases, 6, directed=False), True, "sym", 4, 3
    ),
    "attention": lambda student, cases: message_passing.attention(student, cases, 5, 3, 6, 4),
}

FIVE_TOKENS = {
    "dense": lambda student, cases, A: message_passing.dense(student, cases, 5, 2, 3),
    "conv_zeros": lambda student, cases, A: message_passing.convolution(student, cases, 5, 3, "zeros", 2, 4),
    "conv_circular": lambda student, cases, A: message_passing.convolution(student, cases, 5, 3, "circular", 2, 4),
    "graph": lambda student, cases, A: message_passing.graph(student, cases, A, False, "row", 2, 4),
    "attention": lambda student, cases, A: message_passing.attention(student, cases, 5, 3, 2, 4),
}


@number("4.1a")
@weight(1.5)
@pytest.mark.read("handout 4.1")
def test_aggregate_is_the_sum_over_heads(student, reference, cases):
    """One operator: each head gathers by its weights and maps by its values, and the heads add up"""
    for leading, heads, n, d_in, d_out in [
        ((), 1, 2, 1, 1),
        ((), 1, 3, 2, 4),
        ((), 3, 4, 2, 5),
        ((2,), 3, 5, 4, 7),
        ((2, 3), 4, 5, 6, 7),
    ]:
        for dtype in (torch.float32, torch.float64):
            x, weights = cases.tensor(*leading, n, d_in, dtype=dtype), cases.tensor(heads, n, n, dtype=dtype)
            values, identity = cases.tensor(heads, d_in, d_out, dtype=dtype), torch.eye(d_in).expand(heads, d_in, d_in)
            expected = reference.aggregate(x.double(), weights.double(), values.double())
            got = student.aggregate(x, weights, values)
            assert_close(got, expected, "out", within=aggregate_bound(x, weights, values), dtype=dtype)
            got = student.aggregate(x, weights)
            expected = reference.aggregate(x.double(), weights.double())
            assert_close(got, expected, "out", within=aggregate_bound(x, weights, identity), dtype=dtype)


@number("4.2a")
@weight(0.5)
@pytest.mark.read("handout 4.2")
def test_dense_layer_has_everyone_as_a_neighbour(student, reference, cases):
    """In a dense layer everyone is a neighbour: one head, whose weights are the layer's matrix"""
    for n, dtype in [(2, torch.float32), (1, torch.float32), (5, torch.float32), (4, torch.float64)]:
        W = cases.tensor(n, n, dtype=dtype)
        got = student.mlp_weights(W)
        within = EXACT * float(W.abs().max())
        assert_close(got, reference.mlp_weights(W.double()), "weights", within=within, dtype=dtype)


@number("4.3a")
@weight(1)
@pytest.mark.read("handout 4.3")
def test_convolution_is_a_shift_for_each_offset(student, reference):
    """A convolution is one shift of the line for each offset of its kernel, and beyond the ends there is nothing"""
    for n, size in [(3, 3), (4, 1), (1, 1), (5, 3), (6, 5), (9, 7)]:
        got = student.conv_weights(n, size, "zeros")
        assert_close(got, reference.conv_weights(n, size, "zeros").double(), "weights", within=EXACT)


@number("4.3b")
@weight(1)
@pytest.mark.read("handout 4.3")
def test_circular_convolution_lives_on_a_ring(student, reference):
    """With circular padding the line is a ring: what leaves at one end comes in at the other"""
    for n, size in [(3, 3), (4, 1), (1, 1), (5, 3), (6, 5), (3, 5), (9, 7), (2, 7)]:
        got = student.conv_weights(n, size, "circular")
        assert_close(got, reference.conv_weights(n, size, "circular").double(), "weights", within=EXACT)


@number("4.4a")
@weight(1)
@pytest.mark.read("handout 4.4")
def test_node_takes_the_mean_of_those_that_send_to_it(student, reference, cases):
    """A graph says who is a neighbour: a node takes the mean of those that send to it, and zero where nobody does"""
    star = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    graphs = [(star, False), (torch.zeros(1, 1), False), (torch.zeros(2, 2), True)]
    for n, self_loops, dtype in [(4, True, torch.float32), (5, False, torch.float32), (6, True, torch.float64)]:
        A = message_passing.draw_graph(cases, n, directed=True)
        A[-1] = 0.0  # the last node may send, but nobody sends to it
        graphs.append((A.to(dtype), self_loops))
    for A, self_loops in graphs:
        expected = reference.graph_weights(A.double(), self_loops, "row")
        got = student.graph_weights(A, self_loops, "row")
        assert_close(got, expected, "weights", within=QUOTIENT, dtype=A.dtype)
    by_default = student.graph_weights(star, False)
    expected = reference.graph_weights(star.double(), False, "row")
    assert_close(by_default, expected, "weights", within=QUOTIENT, dtype=star.dtype)


@number("4.4b")
@weight(1)
@pytest.mark.read("handout 4.4")
def test_symmetric_norm_knows_both_degrees(student, reference, cases):
    """The symmetric norm divides an edge by the roots of the degrees at both its ends, as Kipf and Welling do"""
    line = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    graphs = [(line, False), (torch.zeros(1, 1), False), (torch.zeros(2, 2), True)]
    for n, self_loops, dtype in [(4, True, torch.float32), (5, False, torch.float32), (6, True, torch.float64)]:
        A = torch.zeros(n, n)
        A[:-1, :-1] = message_passing.draw_graph(cases, n - 1, directed=False)  # the last node is isolated
        graphs.append((A.to(dtype), self_loops))
    for A, self_loops in graphs:
        expected = reference.graph_weights(A.double(), self_loops, "sym")
        got = student.graph_weights(A, self_loops, "sym")
        assert_close(got, expected, "weights", within=QUOTIENT, dtype=A.dtype)


@number("4.5a")
@weight(1)
@pytest.mark.read("handout 4.5")
def test_attention_makes_its_weights_from_the_data(student, reference, cases):
    """Attention makes its weights from the data: in each head softmax over the keys of <query, key> / sqrt(d_k)"""
    for shape in [(1, 1, 2), (1, 3, 2), (2, 4, 3), (2, 3, 5, 7), (1, 6, 4), (2, 1, 3, 4, 6)]:
        for dtype in (torch.float32, torch.float64):
            q, k = cases.tensor(*shape, dtype=dtype), cases.tensor(*shape, dtype=dtype)
            expected = reference.attention_weights(q.double(), k.double())
            _, within = attention_bounds(q, k, k)
            assert_close(student.attention_weights(q, k), expected, "weights", within=within, dtype=dtype)


@number("4.6a")
@weight(1.5)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.read("handout 4.6")
def test_one_operator_is_all_four_layers(student, cases, layer):
    """Dense layer, convolution, graph layer and attention are one operator: only the weights differ

    Stays though the checks of weights and of the operator fail with it, one or the other: it is the sentence of the
    lecture, and the only place where a student sees the operator give what each textbook layer gives.
    """
    operator = LAYERS[layer](student, cases)
    n, d_in = operator.sees.shape[0], operator.values.shape[1]
    assert_is_layer(operator, cases.tensor(n, d_in))
    assert_is_layer(operator, cases.tensor(2, n, d_in))


@number("4.7b")
@weight(1)
@pytest.mark.parametrize("layer", FIVE_TOKENS)
@pytest.mark.read("handout 4.7")
def test_symmetry_of_each_layer_was_predicted(student, cases, layer):
    """What a layer does not know is its symmetry: five of your nine predictions, tried on your own layers in all orders

    The other four are 4.7c's. One word for all layers earns nothing, though it is right for some.
    """
    assert_not_one_for_all(student.SYMMETRIES, FIVE_TOKENS)
    order = cases.permutation(5)
    A = FORK.float()[order][:, order]
    operator = FIVE_TOKENS[layer](student, cases, A)
    x, orders = cases.tensor(5, 2), all_orders(5)
    assert_works(operator, x, student, cases)
    out = operator(x[orders])
    commutes = commuting(weights_of(out, (120, 5, operator.values.shape[2]), x.dtype), orders)
    assert_predicted(student.SYMMETRIES, layer, commutes, orders, A if layer == "graph" else None)


@number("4.8a")
@weight(0)
@pytest.mark.read("handout 4.8")
def test_convolution_in_the_plane(student, reference, cases):
    """Bonus: in the plane a 3 x 3 kernel is nine shifts, and the layer is still the same operator"""
    for height, width, padding in [
        (1, 3, "zeros"),
        (2, 3, "zeros"),
        (3, 4, "circular"),
        (5, 4, "zeros"),
        (5, 3, "circular"),
    ]:
        weights = student.conv2d_weights(height, width, padding)
        expected = reference.conv2d_weights(height, width, padding).double()
        assert_close(weights, expected, "weights", within=EXACT)
        x, kernel = cases.tensor(2, height * width, 2), cases.tensor(4, 2, 3, 3)
        values = kernel.flatten(2).permute(2, 1, 0)
        expected = layers.convolution_in_the_plane(x.double(), kernel.double(), height, width, padding)
        within = aggregate_bound(x, weights, values)
        assert_close(student.aggregate(x, weights.float(), values), expected, "out", within=within, dtype=x.dtype)
    must_raise(ValueError, student.conv2d_weights, 3, 4, "reflect", because="padding is 'zeros' or 'circular'")
