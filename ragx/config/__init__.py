"""The settings in force, from the table in `settings`, a corpus's ragx.toml and ~/.ragxrc."""

from ragx.config.built import check_built_with
from ragx.config.edit import initial_toml, parse_value, set_value, vouch
from ragx.config.load import MACHINE_FILE, PROJECT_FILE, Loaded, Source, find_root, index_dir, load, machine_file
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
    "check_built_with",
    "find_root",
    "index_dir",
    "initial_toml",
    "load",
    "machine_file",
    "parse_value",
    "server",
    "set_value",
    "settings_with_effect",
    "vouch",
]
