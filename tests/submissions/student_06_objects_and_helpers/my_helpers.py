"""My own small library, because I like things tidy."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

SETTINGS = json.loads((Path(__file__).parent / "settings.json").read_text())


class Softmax:
    """A callable, so that it can be configured."""

    def __call__(self, x, dim):
        shifted = x - x.max(dim, keepdim=True)[0]
        return shifted.exp().div(shifted.exp().sum(dim, keepdim=True))


@dataclass(frozen=True)
class Scores:
    q: torch.Tensor
    k: torch.Tensor

    @property
    def scaled(self):
        return self.q.matmul(self.k.transpose(-2, -1)).mul(math.pow(self.k.shape[-1], SETTINGS["scale_exponent"]))

    def under(self, mask):
        return self.scaled if mask is None else self.scaled.masked_fill(mask.logical_not(), self.lowest)

    @property
    def lowest(self):
        return torch.finfo(self.q.dtype).min


class Heads(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def split(self, x):
        return torch.stack(x.chunk(self.count, dim=-1), dim=-3)

    def merge(self, x):
        return torch.cat(x.unbind(-3), dim=-1)
