"""DuckDB's vector index extension: an accelerator that is loaded from its wheel, and that everything works without."""

from importlib.util import find_spec
from pathlib import Path

import duckdb

from ragx.store.statements import statements
from ragx.store.store import Store

_VECTORS = statements("vectors")


def load_vss(store: Store) -> str:
    """Makes the connection read and write vector indexes; returns why not, with the remedies, or nothing."""
    wheel = _wheel()
    try:
        if wheel:
            store.connection.execute(f"LOAD '{str(wheel).replace(chr(39), chr(39) * 2)}'")
        else:
            store.connection.execute("INSTALL vss")
            store.connection.execute("LOAD vss")
    except duckdb.Error:
        version = duckdb.__version__
        return (
            f"the extension vss for DuckDB {version} cannot be loaded; "
            f"run: pip install duckdb-extension-vss=={version}, or: ragx config set vectors.hnsw never"
        )
    store.run(_VECTORS.allow_persistence)
    return ""


def _wheel() -> Path | None:
    """The extension for this very DuckDB, if the wheel is installed."""
    found = find_spec("duckdb_extension_vss")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0])
    path = folder / "extensions" / f"v{duckdb.__version__}" / "vss.duckdb_extension"
    return path if path.is_file() else None
