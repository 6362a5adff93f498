"""Every step trains at length 16."""

CAUGHT_BY = ["6.4b"]

import torch
from torch.nn import functional as F


def train(position, causal, steps=STEPS, seed=0):
    torch.manual_seed(seed)
    model = OrderModel(position, causal)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        length = int(torch.randint(16, 17, ()))
        tokens, labels = draw_sequences(BATCH, length, int(torch.randint(2**62, ())))
        loss = F.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show_progress(step + 1, steps, loss.item())
    return model.state_dict()
