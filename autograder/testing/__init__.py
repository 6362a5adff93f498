"""What check authors import, as one imports from `numpy.testing`: each module asserts one kind of property.

A failing assertion raises `mismatch.Mismatch`. The values that a student's function returned arrive as plain data.
"""
