#!/usr/bin/env python3
"""Writes the tables of keys in docs/ from the JSON schemas of `etendue schema`.

    python3 scripts/keys.py            # rewrites the tables between the marks <!-- keys: KIND --> and <!-- end -->
    python3 scripts/keys.py --check    # fails if a table is not that of the schema

The program is target/debug/etendue unless ETENDUE names another. Needs CPython 3.10 or later and nothing else.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PROGRAM = Path(os.environ.get("ETENDUE", TARGET / "debug" / "etendue"))
MARKED = re.compile(r"(<!-- keys: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.S)


def schema_of(kind: str) -> dict:
    """The schema of a kind of file."""
    done = subprocess.run([PROGRAM, "schema", kind], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def first_paragraph(text: str | None) -> str:
    """A description in one line, without examples."""
    paragraph = (text or "").split("```")[0].split("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def referenced(schema: dict) -> str | None:
    """Name of the definition that a schema refers to, directly, as an element or as an option."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    inner = [*schema.get("anyOf", []), *schema.get("oneOf", []), *schema.get("allOf", [])]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    return next((name for part in inner if (name := referenced(part))), None)


def type_of(schema: dict, kinds: dict) -> str:
    """Type of a value in the words of TOML."""
    name = referenced(schema)
    types = schema.get("type", [])
    types = [kind for kind in ([types] if isinstance(types, str) else types) if kind != "null"]
    if "array" in types and isinstance(schema.get("items"), dict):
        many = "tables" if name else type_of({**schema["items"], "minimum": None}, kinds)
        size = f"{schema['minItems']} " if schema.get("minItems") == schema.get("maxItems") and "minItems" in schema else ""
        return f"[{name}](#{name.lower()}), list" if name else f"list of {size}{many}s{range_of(schema['items'])}"
    if name and values_of(kinds[name]):
        return ", ".join(f"`{value}`" for value in values_of(kinds[name]))
    if name and name != "Spectral" and not rows_of(kinds[name], kinds):
        return " or ".join(type_of(part, kinds) for part in kinds[name].get("anyOf", [])) or "value"
    if name:
        return f"[{name}](#{name.lower()})" + (" by name" if "object" in types else "")
    return (" or ".join(types) or "value") + range_of(schema)


def range_of(schema: dict) -> str:
    """Range of a number that has its own; others have those of their unit (docs/validation/robustness.md)."""
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None or most is None or least == -most or (least, most) == (0, 1e9):
        return ""
    return f", {least:g} to {most:g}"


def values_of(schema: dict) -> list[str]:
    """The values of a choice of names."""
    constants = [part["const"] for part in schema.get("oneOf", []) if "const" in part]
    return constants or schema.get("enum", [])


def rows_of(schema: dict, kinds: dict) -> list[str]:
    """Rows of the table of one definition."""
    properties = dict(schema.get("properties", {}))
    required = set(schema.get("required", []))
    for choice in [*schema.get("oneOf", []), *schema.get("anyOf", [])]:
        for key, value in choice.get("properties", {}).items():
            properties[key] = {**value, "description": choice.get("description") or value.get("description")}
    rows = []
    for key, value in properties.items():
        text = first_paragraph(value.get("description"))
        default = value.get("default")
        if default not in (None, "", {}, []) and "Default" not in text:
            text += f" Default: {json.dumps(default)}."
        shown = f"**`{key}`**" if key in required else f"`{key}`"
        rows.append(f"| {shown} | {type_of(value, kinds)} | {text} |")
    return rows


def tables(kind: str) -> str:
    """All tables of a kind of file."""
    schema = schema_of(kind)
    kinds = schema.get("$defs", {})
    parts = []
    for name, part in [("The file", schema), *kinds.items()]:
        rows = rows_of(part, kinds)
        if rows:
            parts.append(f"### {name}\n\n{first_paragraph(part.get('description'))}\n\n| key | value | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
        elif name == "Spectral":
            parts.append(f"### {name}\n\n{first_paragraph(part.get('description'))}\n")
    return "\n" + "\n".join(parts) + "\n"


def main() -> int:
    """Rewrites or checks the pages."""
    stale = []
    for page in sorted((ROOT / "docs").glob("*.md")):
        old = page.read_text()
        new = MARKED.sub(lambda match: match[1] + tables(match[2]) + match[4], old)
        if new == old:
            continue
        stale.append(page.relative_to(ROOT))
        if "--check" not in sys.argv:
            page.write_text(new)
    for page in stale:
        print(f"{page}: {'stale: run python3 scripts/keys.py' if '--check' in sys.argv else 'written'}")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
