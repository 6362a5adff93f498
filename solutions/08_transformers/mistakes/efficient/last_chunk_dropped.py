"""The last chunk is shorter where the chunk does not divide n; it was left out."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def chunks_of(n, chunk):
    chunk = min(chunk, n)
    return [(start, start + chunk) for start in range(0, n - chunk + 1, chunk)] if n else []
