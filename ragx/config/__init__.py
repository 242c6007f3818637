"""The settings in force, from the table in `settings`, a corpus's ragx.toml and ~/.ragxrc."""

from ragx.config.address import is_local
from ragx.config.built import check_built_with
from ragx.config.consent import allow, allow_setting, model_folder, model_wish, require
from ragx.config.edit import initial_toml, parse_value, set_value
from ragx.config.load import (
    MACHINE_FILE,
    PROJECT_FILE,
    Loaded,
    Source,
    find_root,
    index_dir,
    load,
    machine_file,
    project_file,
)
from ragx.config.servers import Server, server
from ragx.config.settings import SETTINGS, Config, Setting, settings_with_effect

__all__ = [
    "MACHINE_FILE",
    "PROJECT_FILE",
    "SETTINGS",
    "Config",
    "Loaded",
    "Server",
    "Setting",
    "Source",
    "allow",
    "allow_setting",
    "check_built_with",
    "find_root",
    "index_dir",
    "initial_toml",
    "is_local",
    "load",
    "machine_file",
    "model_folder",
    "model_wish",
    "parse_value",
    "project_file",
    "require",
    "server",
    "set_value",
    "settings_with_effect",
]
