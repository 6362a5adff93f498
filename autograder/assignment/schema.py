"""The JSON Schema of `assignment.toml`, for editors, and the same in words, for sentences about a fault.

Taplo, Even Better TOML and Tombi read it through a first line `#:schema ../assignment.schema.json`. It is made from the
types in `manifest`; what no schema can say (two parts of one name, the name of a module of Python's) the loader alone
refuses. It validates nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

SCHEMA_FILE = "assignment.schema.json"
DIRECTIVE = f"#:schema ../{SCHEMA_FILE}"
"""The first line of an `assignment.toml`: the schema lies beside the assignments."""

TOML_DATE_TIME = "toml-date-time"
"""Marks a date with a time, which some editors take for a string and others for a type of its own: no type is named."""

_NULL = {"type": "null"}


def editor_schema(schema: dict[str, Any]) -> bytes:
    """The content of `assignments/assignment.schema.json`, from `schema_of_manifest()`: indented JSON, a final newline.

    Draft 7, and of it only what draft 4 has, too: editors differ in what they read.
    """
    schema = _for_editors(schema)
    definitions = schema.pop("$defs")
    root = definitions.pop("Manifest")
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **root,
        "title": "Softmark assignment",
        "definitions": definitions,
    }
    return (json.dumps(schema, indent=1, ensure_ascii=False) + "\n").encode()


def write_schema(folder: Path, schema: dict[str, Any]) -> bool:
    """Write the schema beside the assignments in `folder`, and say whether the file changed."""
    path, content = folder / SCHEMA_FILE, editor_schema(schema)
    if path.is_file() and path.read_bytes() == content:
        return False
    path.write_bytes(content)
    return True


def node_at(schema: dict[str, Any], steps: Sequence[str]) -> dict[str, Any]:
    """The part of a schema that describes a value: `["part", "0", "points"]`. Empty where it does not say."""
    node = _resolved(schema, schema)
    for step in steps:
        if step.isdigit() and "items" in node:
            node = _resolved(node["items"], schema)
        else:
            named: Any = node.get("properties", {}).get(step) or node.get("additionalProperties")
            node = _resolved(named or {}, schema)
    return node


def expectation(node: dict[str, Any]) -> str:
    """What a value must be, in words: "a number of at least 0 and of at most 100 (what is counted)"."""
    if "enum" in node:
        what = "one of " + ", ".join(json.dumps(value) for value in node["enum"])
    elif "pattern" in node and node.get("format") != TOML_DATE_TIME:  # every other pattern is that of a name
        what = "a name as Python has them, of letters, digits and _"
    else:
        what = _KINDS.get(node.get("format", node.get("type", "")), "something else")
    if node.get("minLength") or node.get("minItems"):
        what += " that is not empty"
    bounds = [f"{words} {_number(node[bound])}" for bound, words in _BOUNDS.items() if bound in node]
    if bounds:
        what += " " + " and ".join(bounds)
    description = str(node.get("description", "")).split("\n")[0].rstrip(".")
    return f"{what} ({description})" if description else what


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


_KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "a text",
    "array": "a list",
    "object": "a table",
    TOML_DATE_TIME: "a date with a time",
}
_BOUNDS = {"minimum": "of at least", "maximum": "of at most"}


def _resolved(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """A node without references and without the null that TOML does not have; its own words win."""
    alternatives = [each for each in node.get("anyOf", []) if each != _NULL]
    if len(alternatives) == 1:
        node = {**alternatives[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    if "$ref" in node:
        target = schema["$defs"][node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def _for_editors(node: Any) -> Any:
    """A schema without null, which TOML does not have; with `definitions`; with no word beside a reference, which
    draft 7 would pass over.
    """
    if isinstance(node, list):
        return [_for_editors(each) for each in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    table = cast("dict[str, Any]", node)
    alternatives = [each for each in table.get("anyOf", []) if each != _NULL]
    if "anyOf" in table and len(alternatives) == 1:
        table = {key: value for key, value in table.items() if key not in ("anyOf", "default")} | alternatives[0]
    table = {key: _for_editors(value) for key, value in table.items() if (key, value) != ("required", [])}
    if table.get("format") == TOML_DATE_TIME:
        del table["format"], table["type"]
        table["not"] = {"type": ["array", "boolean", "number", "object"]}
    if "$ref" in table:
        reference = {"$ref": table.pop("$ref").replace("#/$defs/", "#/definitions/")}
        return {**table, "allOf": [reference]} if table else reference
    return table
