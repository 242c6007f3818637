"""What an index holds, and how far the files have moved on since: reads, never writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragx.config import Config, index_dir
from ragx.indexing.languages import unread_languages
from ragx.indexing.plan import known_files, make_plan
from ragx.store import FINISH, INCOMPLETE, is_complete, open_index, statements
from ragx.types import Skipped

_STATUS = statements("status")
_INDEX = statements("index")


@dataclass(frozen=True)
class Drift:
    """Paths that the next `index` would add, read again and forget."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]


@dataclass(frozen=True)
class LastRun:
    """When the index was published, how long each stage took, and the run in numbers."""

    finished: datetime
    seconds: dict[str, float]
    counts: dict[str, int]


@dataclass(frozen=True)
class Status:
    """An index in numbers. `languages`: chunks by ISO 639-1 code, most first; "" is for those that cannot be told.

    `complete`: not the keywords only, of a first run that has not come to its end.
    """

    root: Path
    index: Path
    ragx_version: str
    complete: bool
    embedding_model: str
    dimension: int
    rerank_model: str | None
    files: int
    chunks: int
    texts: int
    links: int
    unresolved_links: int
    edges: int
    communities: int
    languages: dict[str, int]
    size_bytes: int
    last_run: LastRun
    skipped: tuple[Skipped, ...]
    drift: Drift
    warnings: tuple[str, ...]


def status(root: Path, config: Config) -> Status:
    """The published index of `root` beside the files as they are now; IndexMissing where there is none."""
    folder = index_dir(root, config)
    with open_index(folder) as store:
        meta, complete = store.meta(), is_complete(store)
        ((files, chunks, texts, links, unresolved_links, edges, communities),) = store.rows(_STATUS.count_rows)
        languages = dict(store.rows(_INDEX.count_languages))
        known = known_files(store)
        size_bytes = store.path.stat().st_size
    unread = unread_languages(languages, meta["embedder"]["model"], meta["embedder"]["languages"])
    plan = make_plan(root, config.corpus, folder, known, meta["scanned_ns"])
    return Status(
        root=root,
        index=store.path,
        ragx_version=meta["ragx_version"],
        complete=complete,
        embedding_model=meta["embedder"]["model"],
        dimension=meta["embedder"]["dimension"],
        rerank_model=config.rerank.model if config.rerank.enabled else None,
        files=files,
        chunks=chunks,
        texts=texts,
        links=links,
        unresolved_links=unresolved_links,
        edges=edges,
        communities=communities,
        languages=languages,
        size_bytes=size_bytes,
        last_run=_last_run(meta["last_run"]),
        skipped=plan.skipped,
        drift=Drift(
            new=tuple(stat.path for stat in plan.added),
            changed=tuple(stat.path for stat in plan.changed),
            deleted=plan.removed,
        ),
        warnings=(*([] if complete else [f"{INCOMPLETE}; {FINISH}"]), *([unread] if unread else [])),
    )


def _last_run(noted: Mapping[str, Any]) -> LastRun:
    counts = {name: value for name, value in noted.items() if name not in ("finished_ns", "seconds")}
    return LastRun(datetime.fromtimestamp(noted["finished_ns"] / 1e9, UTC), dict(noted["seconds"]), counts)
