"""torch's default is float64, and so are all parameters and results."""

import torch

torch.set_default_dtype(torch.float64)
