"""The gradient that backward is given is scaled in place; others may still need it."""

CAUGHT_BY = ["5.2g"]


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_out):
        gradients = super(FlashAttention, FlashAttention).backward(ctx, grad_out)
        with torch.no_grad():
            grad_out *= 1.0 / math.sqrt(ctx.saved_tensors[0].shape[-1])
        return gradients
