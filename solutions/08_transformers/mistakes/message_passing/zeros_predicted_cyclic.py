"""With zero padding a shift pushes a token over the end, and the line has two ends that the kernel notices."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "conv_zeros": "cyclic"}
