"""The longest special token is looked for in the whole text first: they are found from left to right."""

CAUGHT_BY = ["1.1e", "1.2g"]

def cut_out(special_tokens, text):
    pieces = [text]
    for special in sorted(special_tokens, key=len, reverse=True):
        cut = []
        for place, piece in enumerate(pieces):
            if place % 2:
                cut.append(piece)
                continue
            first, *others = piece.split(special)
            cut.append(first)
            for other in others:
                cut += [special, other]
        pieces = cut
    return pieces
