"""The shifts come from numpy in float64; they should be float32."""

CAUGHT_BY = ["4.3c"]

_conv_weights = conv_weights


def conv_weights(n, size, padding):
    return _conv_weights(n, size, padding).double()
