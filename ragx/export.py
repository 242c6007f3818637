"""An index as Parquet files with a manifest: whole or not at all, the same bytes for the same index."""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ragx.errors import UsageError
from ragx.parsing import from_json
from ragx.store import Statement, Store, check_complete, open_index, room_in, statements

if TYPE_CHECKING:
    import pyarrow as pa

_EXPORT = statements("export")

SCHEMA = "ragx.export.v1"
MANIFEST = "manifest.json"
TABLES = {
    "files": _EXPORT.export_files,
    "chunks": _EXPORT.export_chunks,
    "embeddings": _EXPORT.export_embeddings,
    "edges": _EXPORT.export_edges,
    "links": _EXPORT.export_links,
    "communities": _EXPORT.export_communities,
    "community_labels": _EXPORT.export_community_labels,
}

# 384 float32 a row make 30 MB of it.
BATCH_ROWS = 20_000


def export(
    index_dir: Path,
    target: Path,
    *,
    tables: Sequence[str] = tuple(TABLES),
    text: bool = True,
    force: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Writes `tables` of the published index in `index_dir` to the folder `target`; returns its manifest.

    UsageError: something is in the way; with `force` an earlier export is not, and is replaced.
    IndexUnusable: the index is not complete.
    """
    _check_target(target, force=force)
    aside = target.with_name(f"{target.name}.tmp-{os.getpid()}")
    try:
        with room_in(target.parent), open_index(index_dir) as store:
            check_complete(store)
            aside.mkdir(parents=True)
            manifest = _manifest(store)
            for name in TABLES:
                if name in tables:
                    progress(name)
                    statement = TABLES[name] if text or name != "chunks" else _EXPORT.export_chunks_without_text
                    manifest["tables"][name] = _write_table(store, statement, aside / f"{name}.parquet")
            (aside / MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        _put(aside, target)
    except OSError as error:
        if not isinstance(error, (PermissionError, FileNotFoundError, NotADirectoryError)):
            raise
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return manifest


def write_parquet(reader: "pa.RecordBatchReader", sink: "str | IO[bytes]") -> int:
    """Writes the batches as they come, zstd-compressed; returns the number of rows."""
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(sink, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _write_table(store: Store, statement: Statement, path: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    rows = write_parquet(store.run(statement).to_arrow_reader(BATCH_ROWS), str(path))
    columns = {field.name: str(field.type) for field in pq.read_schema(path)}
    return {"file": path.name, "rows": rows, "columns": columns}


def _manifest(store: Store) -> dict[str, Any]:
    meta = store.meta()
    embedder = meta["embedder"]
    return {
        "schema": SCHEMA,
        "ragx_version": meta["ragx_version"],
        "index_schema": meta["schema"],
        "model": embedder["model"],
        "fingerprint": embedder["fingerprint"],
        "dimension": embedder["dimension"],
        "doc_prefix": embedder["doc_prefix"],
        "query_prefix": embedder["query_prefix"],
        "settings": meta["full_settings"] | meta["graph_settings"],
        "tables": {},
    }


def _check_target(target: Path, *, force: bool) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise UsageError(f"{target} is no folder")
    found = {entry.name for entry in target.iterdir()} if target.exists() else set()
    if not found:
        return
    if not _is_export(target):
        raise UsageError(f"{target} is not empty and holds no export of ragx", "choose another folder")
    if foreign := sorted(found - {MANIFEST, *(f"{name}.parquet" for name in TABLES)}):
        raise UsageError(f"{target / foreign[0]} is not part of the export there", "choose another folder")
    if not force:
        raise UsageError(f"{target} holds an export already", "replace it with --force")


def _is_export(folder: Path) -> bool:
    try:
        manifest = from_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and str(manifest.get("schema", "")).startswith("ragx.export.")


def _put(aside: Path, target: Path) -> None:
    """Puts the new folder in the place of an old or empty one; the old one is whole until then."""
    if not target.exists():
        os.replace(aside, target)
        return
    old = target.with_name(f"{target.name}.old-{os.getpid()}")
    os.replace(target, old)
    try:
        os.replace(aside, target)
    except BaseException:
        os.replace(old, target)
        raise
    shutil.rmtree(old)
