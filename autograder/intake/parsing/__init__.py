"""Parsing of students' Python, in a process of its own: a parser can be made to crash, hang or fill memory.

Imports nothing but the standard library and itself, so that it starts in milliseconds and holds nothing. It parses and
compiles; it never runs what it compiles.
"""
