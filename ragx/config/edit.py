"""Changes settings files so that comments, order, file mode and every other value survive."""

import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ragx.config.load import accept, allowed, lookup, parse, read_text, takes_auto, value_type
from ragx.config.settings import MACHINE_ONLY_SECTIONS, SETTINGS, Config, Setting
from ragx.config.toml import AUTO, to_json, to_toml
from ragx.errors import ConfigError
from ragx.parsing import from_toml

_HEAD = """\
# Settings of this corpus; commit this file. A line that is commented out shows a default:
# remove its "# " to change it, or run: ragx config set NAME VALUE
"""


def parse_value(name: str, text: str) -> Any:
    """The value that `text` means on a command line; a list is a TOML array or separated by commas."""
    row = lookup(name)
    kind = value_type(row)
    text = text if kind is str else text.strip()
    if text == AUTO and takes_auto(row):
        return None
    value: Any = text
    try:
        if kind is bool:
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif kind is int or kind is float:
            value = kind(text)
        elif kind is not str and text.startswith("["):
            value = from_toml(f"value = {text}")["value"]
        elif kind is not str:
            value = [item for part in text.split(",") if (item := part.strip())]
    except ValueError:
        pass  # the text itself is then refused, with the words for what is allowed
    return accept(row, value)


def set_value(path: Path, name: str, value: Any, *, private: bool = False) -> None:
    """Sets one setting in a file, which is made if need be (`private`: readable by its owner only)."""
    import tomlkit

    row = lookup(name)
    text = read_text(path)
    section = parse(path, text).get(row.section, {})
    if not isinstance(section, dict):
        raise ConfigError(f"{path}: {row.section} = {to_toml(section, 60)}: expected a section [{row.section}]")
    document = tomlkit.parse(text if row.key in section else _uncommented(text, row))
    if row.section not in document:
        document[row.section] = tomlkit.table()
    table: Any = document[row.section]
    if row.key in table:
        table[row.key] = to_json(value)
    else:
        _append(table, row.key, to_json(value), last=row.section == list(document)[-1])
    write(path, tomlkit.dumps(document), private=private)


def _uncommented(text: str, row: Setting) -> str:
    """The text with the commented default of a setting made live, so that its new value stands under its comment."""
    for match in re.finditer(rf"^# ({row.key} = .*(?:\n#  .*)*(?:\n# \]$)?)", text, re.MULTILINE):
        live = re.sub(r"^# ", "", match[0], flags=re.MULTILINE)
        candidate = text[: match.start()] + live + text[match.end() :]
        try:
            if row.key in from_toml(candidate).get(row.section, {}):
                return candidate
        except ValueError:
            continue
    return text


def _append(table: Any, key: str, value: Any, *, last: bool) -> None:
    """Adds a key at the end of a table, before a comment right above the next table's header, which belongs to that."""
    from tomlkit.items import Comment, Whitespace

    body = getattr(getattr(table, "value", None), "body", [])
    start = len(body)
    while start and isinstance(body[start - 1][1], Comment):
        start -= 1
    tail: list[Any] = []
    if not last and start and isinstance(body[start - 1][1], Whitespace):
        tail = body[start:]
        del body[start:]
    table[key] = value
    body.extend(tail)


def write(path: Path, text: str, *, private: bool = False) -> None:
    """Replaces a file in one step, through symlinks, keeping its mode and its line ends."""
    target = Path(os.path.realpath(path))
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        old = target.stat() if target.exists() else None
        crlf = old is not None and b"\r\n" in target.read_bytes()
        data = (text.replace("\n", "\r\n") if crlf else text).encode()
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                os.chmod(partial, old.st_mode & 0o7777)
            os.replace(partial, target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error


def initial_toml(values: Mapping[str, Any] | None = None) -> str:
    """A ragx.toml with every setting commented out at its default, so that later, better defaults reach its corpus.

    `values` are written as live lines."""
    values = values or {}
    parts = [_HEAD]
    for section in fields(Config):
        if section.name in MACHINE_ONLY_SECTIONS:
            continue
        about = (getattr(section.type, "__doc__", None) or "").strip()
        parts.append(f"\n# {about}\n[{section.name}]\n")
        for row in (row for row in SETTINGS.values() if row.section == section.name):
            parts.append(f"# {row.rule.help} [{allowed(row)}]\n")
            lines = _assignment(row, values.get(row.name, row.default))
            parts.append((lines if row.name in values else textwrap.indent(lines, "# ")) + "\n")
    return "".join(parts)


def _assignment(row: Setting, value: Any) -> str:
    line = f"{row.key} = {to_toml(value)}"
    if len(line) <= 100 or not isinstance(value, tuple):
        return line
    lines = [f"{row.key} = [", " "]
    for item in value:
        if len(lines[-1]) + len(to_toml(item)) > 97:
            lines.append(" ")
        lines[-1] += f" {to_toml(item)},"
    return "\n".join((*lines, "]"))
