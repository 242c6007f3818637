"""ragx indexes a tree of files into one DuckDB file and answers questions from it."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragx.api import connect, search
    from ragx.errors import RagxError

__version__ = "0.1.0"
__all__ = ["RagxError", "__version__", "connect", "search"]

_HOMES = {"connect": "ragx.api", "search": "ragx.api", "RagxError": "ragx.errors"}


class _Package(ModuleType):
    """This package: `ragx.search` is the function, also after a module of the package `ragx.search` was imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Python binds a package's modules to their names in it.
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        # DuckDB and Arrow take ten times as long to load as the command line.
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__})


sys.modules[__name__].__class__ = _Package
