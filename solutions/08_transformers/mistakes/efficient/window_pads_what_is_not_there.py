"""Keys and values get window - 1 rows in front, however few tokens there are: a window larger than n takes its memory."""

CAUGHT_BY = ["5.3b"]

_slide = sliding_window_attention


def sliding_window_attention(q, k, v, window):
    k, v = (torch.nn.functional.pad(each, (0, 0, window - 1, 0)) for each in (k, v))
    return _slide(q, k[..., window - 1 :, :], v[..., window - 1 :, :], window)
