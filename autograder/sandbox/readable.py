"""placeholder"""


def probe(server):
    pass
