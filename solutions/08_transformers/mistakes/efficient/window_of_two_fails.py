"""A window of exactly 2 keys gives the query's own value alone."""

CAUGHT_BY = ["5.3a"]

of_any_width = sliding_window_attention


def sliding_window_attention(q, k, v, window):
    return of_any_width(q, k, v, 1 if window == 2 else window)
