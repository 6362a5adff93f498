"""Nothing keeps the root away from 0, so a row of zeros becomes 0 / 0; add eps to the mean square, inside the root."""

# A known mistake: only the definitions that differ from the reference. The docstring above is what a student reads
# whose code gives what this gives. `softmark validate` proves that each check named here fails on it.
CAUGHT_BY = ["1.1b"]


def rms_norm(x, eps=1e-6):
    return x / x.square().mean(dim=-1, keepdim=True).sqrt()
