"""The padding is ignored: with circular padding the plane is a torus."""

CAUGHT_BY = ["4.8a"]


def conv2d_weights(height, width, padding):
    if padding not in ("zeros", "circular"):
        raise ValueError("padding is 'zeros' or 'circular'")
    weights = torch.zeros(9, height * width, height * width)
    for r in range(height):
        for c in range(width):
            for a in range(3):
                for b in range(3):
                    row, column = r + a - 1, c + b - 1
                    if padding == "circular":
                        pass
                    if 0 <= row < height and 0 <= column < width:
                        weights[3 * a + b, r * width + c, row * width + column] = 1.0
    return weights
