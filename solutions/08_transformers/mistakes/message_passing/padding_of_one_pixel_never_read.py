"""The word for the padding is only read where a position falls off the line."""

CAUGHT_BY = ["4.3c"]

_conv_weights = conv_weights


def conv_weights(n, size, padding):
    return _conv_weights(n, size, "zeros" if size == 1 else padding)
