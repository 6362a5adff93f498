"""What is returned was copied before training."""

CAUGHT_BY = ["6.4a"]

import torch
from torch.nn import functional as F


def train(position, causal, steps=STEPS, seed=0):
    torch.manual_seed(seed)
    model = OrderModel(position, causal)
    initial = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    for step in range(steps):
        length = TRAINED_LENGTHS[int(torch.randint(len(TRAINED_LENGTHS), ()))]
        tokens, labels = draw_sequences(BATCH, length, int(torch.randint(2**62, ())))
        loss = F.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        show_progress(step + 1, steps, loss.item())
    return initial
