"""Each chunk of queries adds to the gradient of the values; here the last one overwrote the others (dV = in place of +=)."""

CAUGHT_BY = ["5.2b"]

import math

import torch


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool) -> Tensor:
        n_q, n_k = q.shape[-2], k.shape[-2]
        out = v.new_empty(*q.shape[:-1], v.shape[-1])
        log_total = q.new_empty(*q.shape[:-1], 1)
        offset = n_k - n_q if causal else None
        for start, stop in chunks_of(n_q, chunk):
            n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
            out[..., start:stop, :], log_total[..., start:stop, :] = attend_in_chunks(
                q[..., start:stop, :], k, v, chunk, start, offset, n_seen
            )
        ctx.save_for_backward(q, k, v, out, log_total)
        ctx.chunk, ctx.causal = chunk, causal
        return out
    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, log_total = ctx.saved_tensors
        n_q, n_k = q.shape[-2], k.shape[-2]
        offset = n_k - n_q if ctx.causal else None
        scale = 1.0 / math.sqrt(q.shape[-1])
        row_sum = (grad_out * out).sum(dim=-1, keepdim=True)
        grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start, stop in chunks_of(n_q, ctx.chunk):
            queries = (..., slice(start, stop), slice(None))
            n_seen = last_key(stop - 1, n_q, n_k) if ctx.causal else n_k
            for first, last in chunks_of(n_seen, ctx.chunk):
                keys = (..., slice(first, last), slice(None))
                weights = (scores_of(q[queries], k[keys], start, first, offset) - log_total[queries]).exp()
                grad_v[keys] = weights.transpose(-2, -1) @ grad_out[queries]
                grad_weights = grad_out[queries] @ v[keys].transpose(-2, -1)
                grad_scores = weights * (grad_weights - row_sum[queries]) * scale
                grad_q[queries] += grad_scores @ k[keys]
                grad_k[keys] += grad_scores.transpose(-2, -1) @ q[queries]
        return grad_q, grad_k, grad_v, None, None
