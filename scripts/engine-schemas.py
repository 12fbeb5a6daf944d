#!/usr/bin/env python3
"""Writes the schemas that `satchel export` is tested against, out of clones of the engines' repositories.

    scripts/engine-schemas.py AGENTGATEWAY TOOLHIVE COMPOSE_SPEC

Each is the path of a git clone; tags are read from it, no working tree is needed. What is only for readers (descriptions,
examples) is left out, and so is what the exported files cannot reach. Needs PyYAML.
"""

import json
import pathlib
import subprocess
import sys

import yaml

TARGET = pathlib.Path(__file__).parent.parent / "crates/satchel-core/src/export/schemas"
AGENTGATEWAY, TOOLHIVE = "v1.4.1", "v0.44.0"
KINDS = {"MCPServer": "mcpservers", "MCPServerEntry": "mcpserverentries", "MCPGroup": "mcpgroups"}
CRD = "deploy/charts/operator-crds/files/crds/toolhive.stacklok.dev_{}.yaml"
FOR_READERS = {"description", "examples", "example", "title", "markdownDescription", "deprecated"}


def show(clone, revision, path):
    return subprocess.run(["git", "-C", clone, "show", f"{revision}:{path}"], check=True, capture_output=True).stdout.decode()


def without_words(schema, names=False):
    """`names`: the keys are names of properties, not words of the schema language."""
    if isinstance(schema, list):
        return [without_words(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {"properties", "patternProperties", "$defs", "definitions"}
    return {
        key: without_words(part, not names and key in inner)
        for key, part in schema.items()
        if names or key not in FOR_READERS
    }


def references(schema):
    if isinstance(schema, list):
        return {name for part in schema for name in references(part)}
    if not isinstance(schema, dict):
        return set()
    own = {schema["$ref"].split("/")[-1]} if isinstance(schema.get("$ref"), str) else set()
    return own | {name for part in schema.values() for name in references(part)}


def agentgateway(clone):
    schema = without_words(json.loads(show(clone, AGENTGATEWAY, "schema/config.json")))
    definitions = schema.pop("$defs")
    # The exported file has this one key; the schema of all others is large.
    schema["properties"] = {"mcp": schema["properties"]["mcp"]}
    known, open_ = {}, references(schema)
    while open_:
        name = open_.pop()
        known[name] = definitions[name]
        open_ |= references(definitions[name]) - known.keys()
    return {**schema, "additionalProperties": False, "$defs": dict(sorted(known.items()))}


def strict(schema):
    """As the API server is asked to judge with --validate=strict: what is unknown is refused."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: strict(part) for key, part in schema.items() if not key.startswith("x-kubernetes-validations")}
    if schema.get("type") == "object" and "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    return schema


def toolhive(clone):
    kinds = {}
    for kind, plural in KINDS.items():
        crd = yaml.safe_load(show(clone, TOOLHIVE, CRD.format(plural)))
        version = next(one for one in crd["spec"]["versions"] if one["name"] == "v1beta1")
        schema = strict(without_words(version["schema"]["openAPIV3Schema"]))
        schema["properties"].pop("status", None)
        # Of Kubernetes itself, whose schema is not part of this one.
        schema["properties"]["metadata"] = {"type": "object"}
        kinds[kind] = schema
    return kinds


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    TARGET.mkdir(exist_ok=True)
    compose = without_words(json.loads(show(sys.argv[3], "HEAD", "schema/compose-spec.json")))
    for name, schema in [
        ("agentgateway", agentgateway(sys.argv[1])),
        ("toolhive", toolhive(sys.argv[2])),
        ("compose", compose),
    ]:
        (TARGET / f"{name}.json").write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
