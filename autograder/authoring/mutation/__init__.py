"""Small changes of a reference solution, made by machine: what tests the checks, and what makes mistakes of them.

`expression_changes` and `statement_changes` say what can be changed, `mutants` finds and names every change of a
source, `trial` grades them.
"""
