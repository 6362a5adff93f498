"""What can be changed in a statement: dropped, its condition turned round, its branches exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.authoring.mutation.source_text import Edit, SourceText


def changes_of_statement(text: SourceText, node: ast.stmt, bound: set[str]) -> Iterator[Edit]:
    """The changes of one statement, those inside its parts left out.

    `bound` are the names that have a value before it: what gives a name its first one is not dropped.
    """
    sentence = _what_is_missing(node, bound)
    if sentence:
        yield text.instead(node, "dropped statement", "pass", *sentence)
    if isinstance(node, ast.If):
        turned = f"not {text.whole(node.test)}"
        yield text.instead(
            node.test, "condition", turned, "condition_turned_round", "a condition is the wrong way round."
        )
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        stop = text.stop(node.items[-1].optional_vars or node.items[-1].context_expr)
        if all(item.optional_vars is None for item in node.items):
            yield Edit(
                "dropped statement", text.start(node), stop, "if True", "without_context", "a `with` is missing."
            )
    elif isinstance(node, ast.AugAssign):
        start, stop = text.stop(node.target), text.start(node.value)
        sentence = "a value is replaced where something should be added to it or taken from it."
        yield Edit("operator", start, stop, " = ", "replaced_not_updated", sentence)


def _what_is_missing(node: ast.stmt, bound: set[str]) -> tuple[str, str] | None:
    """Of a statement that can be left out: for the file's name, and the sentence."""
    if isinstance(node, ast.If) and not node.orelse and all(isinstance(each, ast.Raise) for each in node.body):
        return "check_missing", "wrong arguments are not refused."
    if isinstance(node, ast.If) and not node.orelse:
        return "case_missing", "a special case is missing."
    if isinstance(node, ast.AugAssign):
        return "update_missing", "an update of a value is missing."
    if isinstance(node, ast.Assign) and _is_again(node.targets, bound):
        return "step_missing", "a step is missing."
    if isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        return "step_missing", "a step is missing."
    if isinstance(node, (ast.Break, ast.Continue, ast.Delete)):
        return "step_missing", "a step is missing."
    return None


def _is_again(targets: list[ast.expr], bound: set[str]) -> bool:
    """Whether everything that is assigned had a value before."""
    names = [each for target in targets for each in ast.walk(target) if isinstance(each, (ast.Name, ast.Attribute))]
    stored = [each for each in names if isinstance(each.ctx, ast.Store)]
    return all(isinstance(each, ast.Name) and each.id in bound for each in stored)
