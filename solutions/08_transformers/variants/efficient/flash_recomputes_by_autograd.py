"""The backward pass runs the forward of one chunk of queries again under autograd, and pulls back through it."""

import math

import torch


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, chunk, causal):
        ctx.save_for_backward(q, k, v)
        ctx.chunk, ctx.causal = chunk, causal
        return chunked_attention(q, k, v, chunk, causal)

    @staticmethod
    def backward(ctx, grad_out):
        q, k, v = (tensor.detach() for tensor in ctx.saved_tensors)
        n_q, n_k = q.shape[-2], k.shape[-2]
        grads = [torch.zeros_like(tensor) for tensor in (q, k, v)]
        k, v = k.requires_grad_(), v.requires_grad_()
        for start, stop in chunks_of(n_q, ctx.chunk):
            block = q[..., start:stop, :].clone().requires_grad_()
            n_seen = last_key(stop - 1, n_q, n_k) if ctx.causal else n_k
            offset = n_k - n_q if ctx.causal else None
            with torch.enable_grad():
                out, _ = attend_in_chunks(block, k, v, ctx.chunk, start, offset, n_seen)
            if not out.requires_grad:
                continue
            found = torch.autograd.grad(out, (block, k, v), grad_out[..., start:stop, :], allow_unused=True)
            for grad, part in zip((grads[0][..., start:stop, :], grads[1], grads[2]), found):
                if part is not None:
                    grad += part
        return (*grads, None, None)
