"""What an index was built with must still hold when it is used."""

from collections.abc import Mapping
from typing import Any

from ragx.config.settings import Config, settings_with_effect
from ragx.errors import ConfigError


def check_built_with(built: Mapping[str, Any], config: Config, section: str = "") -> None:
    """ConfigError where a setting (of `section`, if named) that needs `index --full` differs from the index's."""
    for name, value in settings_with_effect(config, "full").items():
        if name.startswith(section) and name in built and built[name] != value:
            before = _shown(built[name])
            raise ConfigError(
                f"{name} is {_shown(value)}, but the index was built with {before}",
                f"build it anew: ragx index --full, or go back: ragx config set {name} {before}",
            )


def _shown(value: Any) -> str:
    return "auto" if value is None else str(value) or '""'
