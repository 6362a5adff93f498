"""A causal mask gives every position another number of tokens to look at: it is a code of the position by itself."""

CAUGHT_BY = ["4.7c"]


SYMMETRIES = {**SYMMETRIES, "attention_causal": "all"}
