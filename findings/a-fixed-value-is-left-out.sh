#!/usr/bin/env bash
# What: google-genai 3.6.1 translates a tool of an MCP server (mcp 2.3.0) into the form of its interface. The schema has a `const`, a bound, a map
#   of texts and a reference to itself.
# Guess: what the interface's form cannot say is said in another way: `const` as an `enum` of one value; or the tool is refused.
# Seen: `{"const": "circle"}` becomes a property without type and value; `exclusiveMinimum` and the type of the map's values are gone; the recursion ends
#   after one level. No error and no warning.
# Why it matters: servers write tagged choices with `const`, so the model has to guess the one value that the server accepts. What a schema says
#   only by such words should also stand in a description.
# Exit: 0 as stated, 1 the behaviour changed, 2 the packages could not be installed.
set -u
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
{ python3 -m venv venv && venv/bin/pip install -q --disable-pip-version-check google-genai==3.6.1 mcp==2.3.0; } >install.log 2>&1 ||
  { tail -n 5 install.log; echo "could not install"; exit 2; }

cat >ask.py <<'PY'
import sys
from google.genai import _mcp_utils
from mcp.types import Tool
schema = {"type": "object", "required": ["shape", "size"], "properties": {
    "shape": {"const": "circle"}, "size": {"type": "integer", "exclusiveMinimum": 0},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}}, "parts": {"$ref": "#/$defs/Parts"}},
    "$defs": {"Parts": {"type": "object", "properties": {"parts": {"type": "array", "items": {"$ref": "#/$defs/Parts"}}}}}}
tool = Tool(name="draw", description="Draw.", input_schema=schema)
declared = _mcp_utils.mcp_to_gemini_tools([tool])[0].function_declarations[0].parameters.model_dump(exclude_none=True, mode="json")
print("written: ", schema["properties"])
print("expected: the same in other words")
print("seen:    ", declared["properties"])
sys.exit(declared["properties"] != {"shape": {}, "size": {"type": "INTEGER"}, "labels": {"type": "OBJECT"},
                                    "parts": {"type": "OBJECT", "properties": {"parts": {"type": "ARRAY"}}}})
PY
echo "version:  google-genai 3.6.1, mcp 2.3.0"
timeout 100 venv/bin/python ask.py 2>ask.log || { tail -n 3 ask.log; echo "changed"; exit 1; }
