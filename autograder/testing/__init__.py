"""What check authors import, as one imports from `numpy.testing`: each module asserts one kind of property.

A failing assertion raises `mismatch.Mismatch`. Nothing in here knows pytest, the proxy or the worker: what a
student's function gave arrives as plain data.
"""
