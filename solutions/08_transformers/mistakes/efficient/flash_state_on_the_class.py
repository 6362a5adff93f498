"""What backward needs is kept on the class, so that a second call overwrites it before the backward pass of the first."""

CAUGHT_BY = ["5.2g"]


class FlashAttention(FlashAttention):
    kept = {}

    @staticmethod
    def forward(ctx, q, k, v, chunk, causal):
        out = super(FlashAttention, FlashAttention).forward(ctx, q, k, v, chunk, causal)
        FlashAttention.kept["causal"] = causal
        return out

    @staticmethod
    def backward(ctx, grad_out):
        ctx.causal = FlashAttention.kept["causal"]
        return super(FlashAttention, FlashAttention).backward(ctx, grad_out)
