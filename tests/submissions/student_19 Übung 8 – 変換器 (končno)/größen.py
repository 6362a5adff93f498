"""Hilfsfunktionen"""


def größte(x, dim):
    return x.amax(dim, keepdim=True)
