"""Writes values as TOML, so that what is printed can be pasted into a settings file."""

import json
from typing import Any

AUTO = "auto"
"""How None is written: the model's catalogue row or the preset decides."""


def to_toml(value: Any, width: int | None = None) -> str:
    """A value on one line as TOML writes it, cut after `width` characters."""
    if value is None:
        text = f'"{AUTO}"'
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        # JSON's escapes are TOML's, except that TOML wants DEL escaped as well.
        text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(to_toml(item) for item in value) + "]"
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key} = {to_toml(item)}" for key, item in value.items()) + "}"
    else:
        text = str(value)
    return text if width is None or len(text) <= width else text[: width - 3] + "..."


def to_json(value: Any) -> Any:
    """A value as JSON carries it: lists for tuples, the word "auto" for None."""
    return list(value) if isinstance(value, tuple) else AUTO if value is None else value
