"""With zero padding a shift pushes a token over the end, and the line has two ends that the kernel notices."""

CAUGHT_BY = ["4.17"]


SYMMETRIES = {**SYMMETRIES, "conv_zeros": "cyclic"}
