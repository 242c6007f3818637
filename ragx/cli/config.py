"""`ragx config`: shows the settings in force and changes one, refusing what the table does not allow."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ragx.cli import consent
from ragx.cli.common import Directory, Json, Quiet, emit_json, here, no_corpus, settings_in_force, show_help, talk
from ragx.config import (
    MACHINE_FILE,
    PROJECT_FILE,
    SETTINGS,
    Loaded,
    allow_setting,
    find_root,
    machine_file,
    parse_value,
    project_file,
    set_value,
)
from ragx.config.load import check_place, lookup, values_in
from ragx.config.settings import SECTIONS
from ragx.config.toml import to_json, to_toml
from ragx.errors import ConfigError
from ragx.render.terminal import visible

commands = typer.Typer(help="Show and change settings.", rich_markup_mode=None)
EFFECTS = {
    "full": "ragx index --full",
    "files": "ragx index",
    "graph": "ragx index",
    "vectors": "ragx index",
}


@commands.callback(invoke_without_command=True)
def config(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        show_help(context)


@commands.command("get")
def get_setting(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A setting (graph.k) or a section (graph).")],
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Print the value in force."""
    names = [name for name in SETTINGS if name.startswith(f"{key}.")] if key in SECTIONS else [lookup(key).name]
    loaded = settings_in_force(directory)
    if json or key in SECTIONS:
        _print(loaded, names, json)
    else:
        value = to_json(_value(loaded, key))
        print(visible(value if isinstance(value, str) else to_toml(value)))


@commands.command("set", context_settings={"ignore_unknown_options": True})
def set_setting(
    key: Annotated[str, typer.Argument(metavar="KEY", help="A setting, such as graph.k.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help='Its new value; a list as ["a", "b"] or a,b.')],
    machine: Annotated[
        bool, typer.Option("--global", help=f"Change {MACHINE_FILE} instead of {PROJECT_FILE}.")
    ] = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Change a setting; comments and order of the file survive."""
    row = lookup(key)
    parsed = parse_value(key, value)
    check_place(row, machine=machine)
    rc = machine_file()
    overriding = {} if machine or rc is None else values_in(rc, machine=True)
    path = rc if machine else _project_file(directory)
    if path is None:
        raise ConfigError(f"HOME is not set, so there is no {MACHINE_FILE}")
    set_value(path, key, parsed, private=machine)
    talk(f"{key} = {to_toml(parsed)} in {path}")
    if not machine:
        _allow(path.parent, key, parsed)
    if key in overriding and overriding[key] != parsed:
        talk(f"warning: {MACHINE_FILE} sets {key} = {to_toml(overriding[key])}, which overrides it")
    if effect := EFFECTS.get(row.rule.effect):
        talk(f"takes effect with: {effect}")


@commands.command("list")
def list_settings(json: Json = False, directory: Directory = None, quiet: Quiet = False) -> None:
    """Print every setting in force and where it comes from."""
    _print(settings_in_force(directory), list(SETTINGS), json)


def _allow(corpus: Path, key: str, value: object) -> None:
    """What the user sets, they allow. Where that cannot be noted, the setting stands, and will be asked about."""
    try:
        consent.report(allow_setting(corpus, key, value))
    except ConfigError as error:
        talk(f"warning: {error.message}" + (f"; {error.hint}" if error.hint else ""))


def _project_file(directory: Directory) -> Path:
    root = find_root(here(directory))
    if root is None or not os.path.lexists(root / PROJECT_FILE):
        raise no_corpus()
    return project_file(root)


def _value(loaded: Loaded, name: str) -> object:
    row = SETTINGS[name]
    return getattr(getattr(loaded.config, row.section), row.key)


def _print(loaded: Loaded, names: list[str], json: bool) -> None:
    if json:
        settings = {name: {"value": to_json(_value(loaded, name)), "source": loaded.sources[name]} for name in names}
        emit_json({"schema": "ragx.config.v1", "settings": settings})
        return
    for name in names:
        print(visible(f"{name} = {to_toml(_value(loaded, name))}  # {loaded.sources[name]}"))


def register(app: typer.Typer) -> None:
    """Adds the group `config` to the command line."""
    app.add_typer(commands, name="config")
