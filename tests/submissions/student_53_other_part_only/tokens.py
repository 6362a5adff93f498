"""Part 1: tokens"""


def windows(series, length, stride):
    return series.unfold(1, length, stride).transpose(2, 3).flatten(2)
