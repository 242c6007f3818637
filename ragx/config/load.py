"""Reads the settings: every value that leaves here has a known name, its type, and lies in its range."""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args

from ragx.config.settings import MACHINE_ONLY_SECTIONS, MACHINE_SECTIONS, SECTIONS, SETTINGS, Config, Origin, Setting
from ragx.config.toml import AUTO, to_toml
from ragx.errors import ConfigError
from ragx.parsing import from_toml

PROJECT_FILE: Literal["ragx.toml"] = "ragx.toml"
MACHINE_FILE: Literal["~/.ragxrc"] = "~/.ragxrc"
Source = Literal["default", "ragx.toml", "~/.ragxrc"]
_VARIABLE = re.compile(r"(?:[A-Za-z_]\w*)?", re.ASCII)
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Loaded:
    """The settings in force, where each comes from, and what the user should hear about them."""

    config: Config
    root: Path | None
    warnings: tuple[str, ...]
    sources: dict[str, Source]


def find_root(start: Path) -> Path | None:
    """The nearest folder, upward from `start`, with a ragx.toml; where none has one, the nearest with an index."""
    here = Path(os.path.realpath(start))
    folders = (here, *here.parents)
    for mark in (PROJECT_FILE, os.path.join(".ragx", "index.duckdb")):
        for folder in folders:
            if os.path.lexists(folder / mark):
                return folder
    return None


def project_file(root: Path) -> Path:
    """The ragx.toml of a corpus, there or not; ConfigError where it leads to a file of somebody else."""
    return _inside(root, PROJECT_FILE, "put a file in its place")


def _inside(root: Path, name: str, remedy: str) -> Path:
    # A link may have come with the repository, to have a file of its user written to.
    path, top = root / name, os.path.realpath(root)
    if path.is_symlink() and os.path.commonpath([top, os.path.realpath(path)]) != top:
        raise ConfigError(f"{path} is a symbolic link out of the corpus", remedy)
    return path


def home() -> str:
    """The user's home folder; "" where the environment names none."""
    return os.environ.get("HOME") or os.environ.get("USERPROFILE") or ""


def machine_file() -> Path | None:
    """`~/.ragxrc`; None where the environment names no home."""
    return Path(folder, ".ragxrc") if (folder := home()) else None


def index_dir(root: Path, config: Config) -> Path:
    """The folder of a corpus's index: `RAGX_DIR`, a subfolder of `[index] path` named after the corpus, or `.ragx`."""
    if override := os.environ.get("RAGX_DIR"):
        return Path(os.path.abspath(os.path.expanduser(override)))
    if not config.index.path:
        return _inside(root, ".ragx", "remove it, or name another folder in the environment variable RAGX_DIR")
    # One setting serves all corpora of the machine: without a name of its own, one index would replace another.
    import hashlib

    digest = hashlib.blake2b(os.fsencode(root), digest_size=5).hexdigest()
    place = os.path.join(home(), os.path.expanduser(config.index.path))
    return Path(os.path.abspath(place), f"{root.name or 'root'}-{digest}")


def load(root: Path | None) -> Loaded:
    """Defaults < the ragx.toml in `root` < ~/.ragxrc. ConfigError names the file, the key and the value."""
    project = values_in(project_file(root), machine=False) if root is not None else {}
    rc = machine_file()
    machine = values_in(rc, machine=True) if rc is not None else {}
    warnings = tuple(
        f"{MACHINE_FILE} sets {name} = {to_toml(value)}, which overrides {to_toml(project[name])} in {PROJECT_FILE}"
        for name, value in machine.items()
        if name in project and project[name] != value
    )
    sources: dict[str, Source] = dict.fromkeys(SETTINGS, "default")
    sources |= dict.fromkeys(project, PROJECT_FILE)
    sources |= dict.fromkeys(machine, MACHINE_FILE)
    return Loaded(_config(project, machine, root or Path()), root, warnings, sources)


def _config(project: Mapping[str, Any], machine: Mapping[str, Any], root: Path) -> Config:
    sections = {}
    for name, section in SECTIONS.items():
        own = _keys(machine, name)
        keys = _keys(project, name) | own
        extra = {}
        if any(key.name == "origin" for key in fields(section)):
            extra["origin"] = Origin(frozenset(keys), frozenset(keys.keys() - own.keys()), root)
        sections[name] = section(**keys, **extra)
    return Config(**sections)


def _keys(values: Mapping[str, Any], section: str) -> dict[str, Any]:
    return {SETTINGS[name].key: value for name, value in values.items() if SETTINGS[name].section == section}


def read_text(path: Path) -> str:
    """The file's text without a byte order mark, lines ending in `\\n`; empty where there is no such file."""
    if not os.path.lexists(path):
        return ""
    try:
        # A pipe would block for ever.
        if path.is_dir() or path.is_fifo():
            raise ConfigError(f"{path} is not a file")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ConfigError(f"{path} is larger than {_MOST_BYTES:,} bytes")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8: byte {error.start} cannot be decoded") from error


def parse(path: Path, text: str) -> dict[str, Any]:
    """The TOML tables of `text`; ConfigError with the line and column of what is malformed."""
    try:
        return from_toml(text)
    except tomllib.TOMLDecodeError as error:
        reason, line, column = str(error), text.count("\n") + 1, len(text) - text.rfind("\n")
        if place := re.search(r" \(at line (\d+), column (\d+)\)$", reason):
            reason, line, column = reason[: place.start()], int(place[1]), int(place[2])
        reason = reason.removesuffix(" (at end of document)")
        raise ConfigError(f"{path}, line {line}, column {column}: malformed TOML: {reason}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: malformed TOML: {error}") from error


def values_in(path: Path, *, machine: bool) -> dict[str, Any]:
    """What a settings file sets, by name, checked; `machine` tells ~/.ragxrc from ragx.toml."""
    values = {}
    where = f"{path}: "
    for section, table in parse(path, read_text(path)).items():
        if section not in SECTIONS:
            raise unknown(f"[{section}]" if isinstance(table, dict) else section, where)
        if not isinstance(table, dict):
            raise ConfigError(f"{where}{section} = {to_toml(table, 60)}: expected a section [{section}]")
        for key, value in table.items():
            row = lookup(f"{section}.{key}", where)
            check_place(row, machine=machine, where=where)
            values[row.name] = accept(row, value, where)
    return values


def check_place(row: Setting, *, machine: bool, where: str = "") -> None:
    """Refuses a setting that its file may not hold."""
    if machine and row.section not in MACHINE_SECTIONS:
        sections = ", ".join(f"[{section}]" for section in MACHINE_SECTIONS)
        raise ConfigError(
            f"{where}{row.name} belongs to a corpus: {MACHINE_FILE} holds only {sections}",
            f"ragx config set {row.name} VALUE",
        )
    if not machine and row.section in MACHINE_ONLY_SECTIONS:
        raise ConfigError(
            f"{where}{row.name} belongs to the machine, not to a corpus",
            f"ragx config set --global {row.name} VALUE",
        )


def lookup(name: str, where: str = "") -> Setting:
    """The table's row of that name; ConfigError with the nearest known name."""
    if name not in SETTINGS:
        raise unknown(name, where)
    return SETTINGS[name]


def unknown(name: str, where: str = "") -> ConfigError:
    """The error for a name that no setting or section has, with the likeliest one that was meant."""
    if name.startswith("["):
        sections = [f"[{section}]" for section in SECTIONS]
        near = difflib.get_close_matches(name, sections, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sections)}"
        return ConfigError(f"{where}unknown section {name}", hint)
    # A right key in a wrong section is likelier than a wrong key in the right one.
    twins = [row.name for row in SETTINGS.values() if row.key == name.rpartition(".")[2]]
    near = difflib.get_close_matches(name, twins or SETTINGS, 1, cutoff=0 if twins else 0.6)
    return ConfigError(f"{where}unknown setting {name}", f"did you mean {near[0]}?" if near else "ragx config list")


def takes_auto(row: Setting) -> bool:
    """Whether the word "auto" (None) leaves the value to the model's catalogue row or the preset."""
    return NoneType in get_args(row.type)


def value_type(row: Setting) -> Any:
    """bool, int, float, str or `tuple[str, ...]`: the type without its `| None`."""
    return next(kind for kind in get_args(row.type) if kind is not NoneType) if takes_auto(row) else row.type


def allowed(row: Setting) -> str:
    """The values that a setting takes, in words."""
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    words = names.get(value_type(row), "a list of strings")
    if row.rule.choices:
        words = "one of " + ", ".join(row.rule.choices)
    if row.rule.low is not None and row.rule.high is not None:
        words += f" from {row.rule.low:.12g} to {row.rule.high:.12g}"
    return f'{words}, or "{AUTO}"' if takes_auto(row) else words


def accept(row: Setting, value: Any, where: str = "") -> Any:
    """The value as the Config holds it; ConfigError says what is allowed."""
    if value == AUTO and takes_auto(row):
        return None
    kind = value_type(row)
    if row.key == "api_key_env" and isinstance(value, str) and not _VARIABLE.fullmatch(value):
        # Not shown: it may be the key itself.
        raise ConfigError(
            f"{where}{row.name} is not the name of an environment variable; the key itself never stands in a file",
            f"ragx config set {row.name} NAME",
        )
    if isinstance(value, list) and kind == tuple[str, ...] and all(isinstance(item, str) for item in value):
        return tuple(value)
    # bool is a subclass of int, and `true` is no number; an int is as good as a float.
    if type(value) is kind or (kind is float and type(value) is int):
        low, high, choices = row.rule.low, row.rule.high, row.rule.choices
        inside = (low is None or low <= value) and (high is None or value <= high)
        if inside and (not choices or value in choices):
            return kind(value)
    raise ConfigError(f"{where}{row.name} = {to_toml(value, 60)}: expected {allowed(row)}")
