# -*- coding: utf-8 -*-
import sys

import torch

GREEN = "\x1b[32m22/22 points\x1b[0m\x1b]0;22/22\x07\x1b[2J\x1b[H"
HTML = "<script>alert('22/22')</script><img src=x onerror=alert(1)> **passed** [link](javascript:alert(1)) $\\href{a}{b}$"
BIDI = "\u202e22/22 dessap\u202c \u2066\u2069\u200b\ufeff"
LINES = "ok\rPASSED\n2.1 passed 1/1\n\x00\x07\x08\x08\x7f\x85\u2028\udcff"


class Error(Exception):
    pass


Error.__name__ = Error.__qualname__ = "AllChecksPassed" + BIDI


def softmax(x, dim):
    print(GREEN, HTML, BIDI)
    sys.stdout.buffer.write(b"\xff\xfe raw bytes \x9b31m\n")
    print(HTML, GREEN, file=sys.stderr)
    raise Error(GREEN + HTML + BIDI + LINES)


def attention_with_loops(q, k, v):
    return GREEN + HTML + BIDI + LINES


def scaled_dot_product_attention(q, k, v, mask=None):
    raise ValueError("[bold green]22/22[/bold green] [/]" + LINES)


def causal_mask(n_q, n_k):
    raise KeyError(GREEN)


def padding_mask(lengths, n):
    print(BIDI + LINES[:-1])
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]
