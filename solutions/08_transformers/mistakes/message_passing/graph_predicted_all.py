"""With A held fixed only those permutations of the tokens are harmless that leave A as it is; any permutation is only when A is relabelled as well."""

CAUGHT_BY = ["4.7b"]


SYMMETRIES = {**SYMMETRIES, "graph": "all"}
