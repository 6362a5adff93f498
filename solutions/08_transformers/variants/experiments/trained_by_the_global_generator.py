"""Training seeds the global generator, draws lengths as it goes, and copies the weights to a plain dict."""

import random

import torch
from torch.nn import functional as F


def train(position, causal, steps=STEPS, seed=0):
    torch.manual_seed(seed)
    lengths = random.Random(seed)
    model = OrderModel(position, causal).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        tokens, labels = draw_sequences(BATCH, lengths.choice(TRAINED_LENGTHS), seed * steps + step)
        loss = F.nll_loss(model(tokens).log_softmax(-1), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: {loss:.3f}")
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
