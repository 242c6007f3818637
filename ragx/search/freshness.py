"""Holds an answer against the files as they are now: what changed is stale, and no context is of something else."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ragx.files import (
    Document,
    FileUnreadable,
    NotText,
    content_hash,
    decode,
    line_starts,
    read,
    same_bytes,
    stat_of,
)
from ragx.store import Store, statements
from ragx.types import Answer, Context, FileStat, Hit, Lines

_SEARCH = statements("search")


@dataclass(frozen=True)
class Files:
    """The files of an index: below `root`, and as they were listed at `scanned_ns`.

    One that grew beyond `largest` bytes has changed, and is not read to find out how.
    """

    store: Store
    root: Path
    scanned_ns: int
    largest: int


@dataclass(frozen=True)
class _Page:
    """A file's text and where its lines start."""

    document: Document
    starts: Sequence[int]


@dataclass(frozen=True)
class _Seen:
    """What a file turned out to be; `page` is None where it was not or could not be read."""

    stale: bool
    page: _Page | None = None


def compare(answer: Answer, files: Files, top: int, before: int, after: int) -> Answer:
    """The answer with the stale among its hits and its `top` files marked, and so many lines around each hit.

    A hit whose chunk is not in its place any more has no lines around it: they would be those of something else.
    """
    wanted = before > 0 or after > 0
    to_read = {hit.file for hit in answer.hits} if wanted else set()
    to_see = to_read | {hit.file for hit in answer.hits} | {file.file for file in answer.files[:top]}
    seen = {
        path: _look(files, FileStat(path, *stat), digest, reads=path in to_read)
        for path, *stat, digest in files.store.rows(_SEARCH.file_stats, paths=sorted(to_see))
    }
    return replace(
        answer,
        hits=tuple(
            replace(
                hit,
                stale=seen[hit.file].stale,
                context=_context(hit, seen[hit.file].page, before, after) if wanted else None,
            )
            for hit in answer.hits
        ),
        files=tuple(replace(file, stale=seen[file.file].stale) if file.file in seen else file for file in answer.files),
    )


def _look(files: Files, before: FileStat, digest: str, *, reads: bool) -> _Seen:
    try:
        now = stat_of(files.root, before.path)
        if not reads or (now.size != before.size and now.size > files.largest):
            return _Seen(not same_bytes(files.root, now, before, digest, files.scanned_ns))
        data = read(files.root, before.path)
    except FileUnreadable:
        return _Seen(stale=True)
    stale = content_hash(data) != digest
    try:
        document = decode(data)
    except NotText:
        return _Seen(stale)
    return _Seen(stale, _Page(document, line_starts(document.text)))


def _context(hit: Hit, page: _Page | None, before: int, after: int) -> Context:
    if page is None or not _stands(hit, page):
        return Context(None, None)
    last = len(page.starts) - (page.starts[-1] == len(page.document.text))
    return Context(
        _lines(page, max(1, hit.line_start - before), hit.line_start - 1),
        _lines(page, hit.line_end + 1, min(last, hit.line_end + after)),
    )


def _stands(hit: Hit, page: _Page) -> bool:
    """Whether the chunk still is what stands at its bytes and in its lines."""
    document = page.document
    if hit.line_start > len(page.starts):
        return False
    line = page.starts[hit.line_start - 1 : hit.line_start + 1]
    places = range(line[0], line[1] if len(line) > 1 else len(document.text))
    start = line[0] + bisect_left(places, hit.byte_start, key=lambda char: document.byte_offsets([char])[0])
    end = start + len(hit.text)
    return (
        document.text.startswith(hit.text, start)
        and document.byte_offsets([start, end]) == [hit.byte_start, hit.byte_end]
        and bisect_right(page.starts, start) == hit.line_start
    )


def _lines(page: _Page, first: int, last: int) -> Lines | None:
    if last < first:
        return None
    end = page.starts[last] if last < len(page.starts) else len(page.document.text)
    return Lines(first, last, page.document.text[page.starts[first - 1] : end])
