"""Reads, cuts and tokenises files into rows; a file that cannot be read or is no text is skipped, never an error."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from ragx.chunking import chunk, normalise, readable, title_of
from ragx.config.settings import Chunking
from ragx.files import Document, FileUnreadable, NotText, content_hash, decode, kind_of, line_starts, read
from ragx.links import aliases, references
from ragx.store import Store, statements
from ragx.store.ids import stable_id, text_hash
from ragx.text import detect, terms
from ragx.types import Embedder, FileStat, Progress, Skipped, Span

_INDEX = statements("index")
_KEYWORD = statements("keyword")
_LINK = statements("links")

ROOT = ""
_BATCH_CHUNKS = 2_000

_FILES = pa.schema(
    [
        ("id", pa.int64()), ("root", pa.string()), ("path", pa.string()), ("size", pa.int64()),
        ("mtime_ns", pa.int64()), ("ctime_ns", pa.int64()), ("inode", pa.uint64()), ("content_hash", pa.string()),
        ("kind", pa.string()), ("language", pa.string()), ("title", pa.string()), ("encoding", pa.string()),
        ("skipped", pa.string()), ("aliases", pa.list_(pa.string())),
    ]
)  # fmt: skip
_CHUNKS = pa.schema(
    [
        ("id", pa.int64()), ("file_id", pa.int64()), ("ordinal", pa.int32()), ("kind", pa.string()),
        ("headings", pa.list_(pa.string())), ("text", pa.string()), ("text_hash", pa.string()),
        ("byte_start", pa.int64()), ("byte_end", pa.int64()), ("line_start", pa.int32()), ("line_end", pa.int32()),
        ("token_count", pa.int32()), ("term_count", pa.int32()), ("language", pa.string()),
        ("embedding_id", pa.int64()),
    ]
)  # fmt: skip

_LINKS = pa.schema(
    [
        ("chunk_id", pa.int64()), ("kind", pa.string()), ("target", pa.string()), ("heading", pa.string()),
        ("line", pa.int32()),
    ]
)  # fmt: skip


@dataclass
class _Batch:
    """Rows that wait to be written together."""

    files: list[dict[str, Any]] = field(default_factory=list)
    chunks: list[dict[str, Any]] = field(default_factory=list)
    postings: dict[str, list[int]] = field(default_factory=lambda: {"term_id": [], "chunk_id": [], "tf": []})
    forms: set[tuple[str, str]] = field(default_factory=set)
    links: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Ingested:
    """What became of the files; `texts` counts distinct ones."""

    chunks: int
    texts: int
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]


def file_id(path: str) -> int:
    return stable_id(ROOT, path)


def embedding_id(embedder: Embedder, prefix: str, text: str) -> int:
    """The id of the vector that this model gives to `prefix` and `text`, line ends being all the same."""
    return stable_id(embedder.fingerprint, prefix, normalise(text))


def create_staging(store: Store) -> None:
    """Tables in which postings wait for `settle_terms`."""
    store.run(_KEYWORD.create_staging)
    store.run(_KEYWORD.create_form_staging)
    store.run(_KEYWORD.create_touched_terms)


def drop_files(store: Store, paths: Iterable[str]) -> None:
    """Forgets files, their chunks and postings."""
    ids = pa.table({"id": pa.array([file_id(path) for path in paths], pa.int64())})
    with store.transaction():
        for statement in (
            _KEYWORD.touch_dropped_terms, _KEYWORD.drop_postings, _LINK.drop_links, _INDEX.drop_chunks,
            _INDEX.drop_files,
        ):  # fmt: skip
            store.load(statement, ids)


def touch_files(store: Store, stats: Sequence[FileStat]) -> None:
    """Notes new times and inodes of files whose bytes are the same."""
    rows = {
        "id": pa.array([file_id(stat.path) for stat in stats], pa.int64()),
        "mtime_ns": pa.array([stat.mtime_ns for stat in stats], pa.int64()),
        "ctime_ns": pa.array([stat.ctime_ns for stat in stats], pa.int64()),
        "inode": pa.array([stat.inode for stat in stats], pa.uint64()),
    }
    store.load(_INDEX.touch_files, pa.table(rows))


def ingest(
    store: Store, root: Path, stats: Sequence[FileStat], chunking: Chunking, embedder: Embedder, progress: Progress
) -> Ingested:
    """Adds files with their chunks, and stages their postings. Holds one batch of rows in memory."""
    skipped: list[Skipped] = []
    warnings: list[str] = []
    texts: set[int] = set()
    written = 0
    batch = _Batch()
    progress.stage("reading", len(stats), "files")
    for stat in stats:
        try:
            data = read(root, stat.path)
        except FileUnreadable as error:
            skipped.append(Skipped(stat.path, str(error)))
            progress.advance(1)
            continue
        try:
            document = decode(data)
        except NotText as error:
            skipped.append(Skipped(stat.path, str(error)))
            batch.files.append(_file_row(stat, data, skipped=str(error)))
        else:
            if document.warning:
                warnings.append(f"{stat.path}: {document.warning}")
            _add(batch, stat, data, document, chunking, embedder)
        if len(batch.chunks) >= _BATCH_CHUNKS:
            written += len(batch.chunks)
            texts.update(row["embedding_id"] for row in batch.chunks)
            _write(store, batch)
            batch = _Batch()
        progress.advance(1)
    written += len(batch.chunks)
    texts.update(row["embedding_id"] for row in batch.chunks)
    _write(store, batch)
    return Ingested(written, len(texts), tuple(skipped), tuple(warnings))


def settle_terms(store: Store) -> None:
    """Adds the staged postings in the order of their terms and brings the dictionary up to date."""
    with store.transaction():
        for statement in (
            _KEYWORD.touch_new_terms, _KEYWORD.add_postings, _KEYWORD.create_changed_terms, _KEYWORD.drop_terms,
            _KEYWORD.add_terms, _KEYWORD.add_forms, _KEYWORD.drop_forms,
        ):  # fmt: skip
            store.run(statement)


def _add(
    batch: _Batch, stat: FileStat, data: bytes, document: Document, chunking: Chunking, embedder: Embedder
) -> None:
    kind = kind_of(stat.path)
    text = document.text
    size = min(chunking.size_tokens, embedder.window - embedder.counter.count(embedder.doc_prefix))
    spans = chunk(text, kind, embedder.counter, size, chunking.overlap)
    title = title_of(text, kind)
    languages: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    ends = sorted({end for span in spans for end in (span.start, span.end)})
    byte_at = dict(zip(ends, document.byte_offsets(ends), strict=True))
    starts = line_starts(text)
    for ordinal, span in enumerate(spans):
        body = text[span.start : span.end]
        digest = text_hash(normalise(body))
        chunk_id = stable_id(ROOT, stat.path, digest, str(seen[digest]))
        seen[digest] += 1
        read = readable(body, kind)
        language = detect(read)
        languages[language] += len(read)
        context = [*span.headings, PurePosixPath(stat.path).stem]
        if title and title not in context:
            context.append(title)
        found = [*terms(read, language), *terms("\n".join(context), language)]
        for term, count in Counter(term.term for term in found).items():
            batch.postings["term_id"].append(stable_id(term))
            batch.postings["chunk_id"].append(chunk_id)
            batch.postings["tf"].append(count)
        batch.forms.update((term.form, term.term) for term in found)
        batch.chunks.append(
            {
                "id": chunk_id,
                "file_id": file_id(stat.path),
                "ordinal": ordinal,
                "kind": span.kind,
                "headings": list(span.headings),
                "text": body,
                "text_hash": digest,
                "byte_start": byte_at[span.start],
                "byte_end": byte_at[span.end],
                "line_start": bisect_right(starts, span.start),
                "line_end": bisect_right(starts, span.end - 1),
                "token_count": embedder.counter.count(normalise(read)),
                "term_count": len(found),
                "language": language,
                "embedding_id": embedding_id(embedder, embedder.doc_prefix, read),
            }
        )
    if spans:
        batch.links += _link_rows(text, kind, spans, [row["id"] for row in batch.chunks[-len(spans) :]], starts)
    language = min(languages, key=lambda code: (-languages[code], code), default="")
    row = _file_row(stat, data, kind=kind, language=language, title=title, encoding=document.encoding)
    batch.files.append(row | {"aliases": aliases(normalise(text)) if kind == "markdown" else []})


def _link_rows(
    text: str, kind: str, spans: Sequence[Span], chunk_ids: Sequence[int], line_starts: Sequence[int]
) -> list[dict[str, Any]]:
    """The references of a file, each in the last chunk that holds it, and there once."""
    first_characters = [span.start for span in spans]
    rows: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for reference in references(text, kind):
        chunk_id = chunk_ids[max(0, bisect_right(first_characters, reference.start) - 1)]
        line = bisect_right(line_starts, reference.start)
        key = (chunk_id, reference.kind, reference.target, reference.heading)
        rows.setdefault(key, dict(zip(_LINKS.names, (*key, line), strict=True)))
    return list(rows.values())


def _file_row(stat: FileStat, data: bytes, **known: str) -> dict[str, Any]:
    return {
        "id": file_id(stat.path),
        "root": ROOT,
        "path": stat.path,
        "size": stat.size,
        "mtime_ns": stat.mtime_ns,
        "ctime_ns": stat.ctime_ns,
        "inode": stat.inode,
        "content_hash": content_hash(data),
        **dict.fromkeys(("kind", "language", "title", "encoding", "skipped"), ""),
        "aliases": [],
        **known,
    }


def _write(store: Store, batch: _Batch) -> None:
    if not batch.files:
        return
    forms = sorted(batch.forms)
    postings = pa.table(
        {
            "term_id": pa.array(batch.postings["term_id"], pa.int64()),
            "chunk_id": pa.array(batch.postings["chunk_id"], pa.int64()),
            "tf": pa.array(batch.postings["tf"], pa.int32()),
        }
    )
    spellings = pa.table(
        {
            "form": pa.array([form for form, _ in forms], pa.string()),
            "term": pa.array([term for _, term in forms], pa.string()),
            "term_id": pa.array([stable_id(term) for _, term in forms], pa.int64()),
        }
    )
    with store.transaction():
        store.load(_INDEX.add_files, pa.Table.from_pylist(batch.files, _FILES))
        store.load(_INDEX.add_chunks, pa.Table.from_pylist(batch.chunks, _CHUNKS))
        store.load(_KEYWORD.stage_postings, postings)
        store.load(_KEYWORD.stage_forms, spellings)
        store.load(_LINK.add_links, pa.Table.from_pylist(batch.links, _LINKS))
