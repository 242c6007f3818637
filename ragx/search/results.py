"""What a ranking becomes for whoever reads it: hits with their places, texts and traces, and files."""

from collections.abc import Sequence
from typing import Any

from ragx.search.readable import readable_text
from ragx.store import Store, statements
from ragx.types import FileHit, Hit, Parts, Step

_SEARCH = statements("search")


def describe(store: Store, ranked: Sequence[tuple[Any, ...]], *, explain: bool) -> tuple[Hit, ...]:
    """Ranked chunks (rows of `rank`) with their places and texts, and with `explain` the way on which heat came."""
    chunk_ids = [row[0] for row in ranked]
    described = {row[0]: row[1:] for row in store.rows(_SEARCH.describe_chunks, chunk_ids=chunk_ids)}
    traces = _traces(store, chunk_ids) if explain else {}
    hits = []
    for chunk_id, file, score, *parts in ranked:
        kind, headings, language, byte_start, byte_end, line_start, line_end, text = described[chunk_id]
        hits.append(
            Hit(
                chunk_id=chunk_id,
                file=file,
                score=score,
                parts=Parts(*parts),
                kind=kind,
                headings=tuple(headings),
                language=language,
                byte_start=byte_start,
                byte_end=byte_end,
                line_start=line_start,
                line_end=line_end,
                text=text,
                readable=read if (read := readable_text(text, file)) != text else "",
                trace=traces.get(chunk_id, ()),
            )
        )
    return tuple(hits)


def _traces(store: Store, chunk_ids: Sequence[int]) -> dict[int, tuple[Step, ...]]:
    paths: dict[int, list[int]] = dict(store.rows(_SEARCH.heat_paths, chunk_ids=chunk_ids))
    passed = sorted({chunk_id for path in paths.values() for chunk_id in path})
    places = {row[0]: row[1:] for row in store.rows(_SEARCH.locate_chunks, chunk_ids=passed)}
    edges = {row[:2]: row[2:] for row in store.rows(_SEARCH.edges_between, chunk_ids=passed)}
    return {
        chunk_id: tuple(
            Step(at, *places[at], *edges.get((before, at), (None, None)))
            for before, at in zip([None, *path[:-1]], path, strict=True)
        )
        for chunk_id, path in paths.items()
    }


def rank_files(ranked: Sequence[tuple[Any, ...]]) -> tuple[FileHit, ...]:
    """Files in the order of their best chunks, each with the score of that chunk."""
    chunks: dict[str, list[tuple[float, int]]] = {}
    for chunk_id, file, score, *_ in ranked:
        chunks.setdefault(file, []).append((score, chunk_id))
    return tuple(FileHit(file, found[0][0], tuple(chunk_id for _, chunk_id in found)) for file, found in chunks.items())
