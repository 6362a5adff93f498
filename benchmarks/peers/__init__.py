"""The same six checks by Softmark, gradescope-utils, pytest, otter and nbgrader: seconds a submission.

Each has a clean environment, and all are measured in turns: a round grades with each at one and at two at a time. Only
Softmark keeps student code out of the process that decides. `python -m benchmarks.peers` alone takes ten minutes.
"""
