"""`view` on the gradient that backward is given fails where that is the view of a transposed tensor. Use reshape."""

CAUGHT_BY = ["5.2g"]


class FlashAttention(FlashAttention):
    @staticmethod
    def backward(ctx, grad_out):
        flat = grad_out.view(-1, *grad_out.shape[-2:])
        return super(FlashAttention, FlashAttention).backward(ctx, flat.reshape(grad_out.shape))
