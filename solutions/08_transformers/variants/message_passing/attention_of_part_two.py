"""The softmax of part 2, with exp and sum, and a scale held in float32; predictions are written into the dict one by one."""

import torch

print("part 4")


def softmax(x, dim):
    powers = torch.exp(x - torch.amax(x, dim=dim, keepdim=True))
    return powers / torch.sum(powers, dim=dim, keepdim=True)


def attention_weights(q, k):
    scale = torch.rsqrt(torch.tensor(float(q.size(-1))))
    return softmax(torch.matmul(q, k.transpose(-1, -2)) * scale.to(q.dtype), -1)


def mlp_weights(W):
    heads = W.view(1, W.size(0), W.size(1))
    return heads.expand(1, -1, -1)


predictions = dict(SYMMETRIES)
SYMMETRIES = {}
for layer in predictions:
    SYMMETRIES[layer] = predictions[layer]
