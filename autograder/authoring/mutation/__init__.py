"""Small changes of a reference solution, made by machine: what tests the checks, and what makes mistakes of them.

`operators` and `statements` say what can be changed, `mutants` finds and names every change of a source, `trial`
grades them.
"""
