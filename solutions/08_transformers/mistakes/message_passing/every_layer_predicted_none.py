""""none" stands for every layer, whatever it cannot know."""

CAUGHT_BY = ["4.7b", "4.7c"]

SYMMETRIES = dict.fromkeys(SYMMETRIES, "none")
