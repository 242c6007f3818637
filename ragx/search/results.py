"""What a ranking becomes for whoever reads it: hits with their places, texts and traces, and files."""

from collections.abc import Sequence
from itertools import pairwise
from operator import mul
from typing import Any

from ragx.search.folding import Group
from ragx.search.readable import readable_text
from ragx.store import Store, statements
from ragx.types import Copy, FileHit, Hit, Parts, Step, Trace

_GRAPH = statements("graph")
_HEAT = statements("heat")
_SEARCH = statements("search")

_SECTION_WEIGHTS = (1.0, 0.3, 0.09)


def describe(store: Store, groups: Sequence[Group], *, explain: bool) -> tuple[Hit, ...]:
    """The best of each group with its place and text, and with `explain` the way on which heat came to it."""
    chunk_ids = [group.best[0] for group in groups]
    copies = _copies(store, groups)
    described = {row[0]: row[1:] for row in store.rows(_SEARCH.describe_chunks, chunk_ids=chunk_ids)}
    traces = _traces(store, chunk_ids) if explain else {}
    hits = []
    for chunk_id, file, score, *parts, headings in (group.best for group in groups):
        kind, language, byte_start, byte_end, line_start, line_end, text = described[chunk_id]
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
                traces=traces.get(chunk_id, ()),
                also_in=copies.get(chunk_id, ()),
            )
        )
    return tuple(hits)


def _copies(store: Store, groups: Sequence[Group]) -> dict[int, tuple[Copy, ...]]:
    """What is folded under the best of a group, by the id of that."""
    folded = [chunk_id for group in groups for chunk_id, _ in group.copies]
    rows = store.rows(_SEARCH.locate_chunks, chunk_ids=folded) if folded else []
    places: dict[int, tuple[str, int, int]] = {row[0]: row[1:] for row in rows}
    return {
        group.best[0]: tuple(Copy(chunk_id, *places[chunk_id], cosine) for chunk_id, cosine in group.copies)
        for group in groups
    }


def _traces(store: Store, chunk_ids: Sequence[int]) -> dict[int, tuple[Trace, ...]]:
    ways = store.rows(_HEAT.heat_paths, chunk_ids=chunk_ids)
    passed = sorted({chunk_id for _, _, path, _, _ in ways for chunk_id in path})
    places: dict[int, tuple[Any, ...]] = {
        row[0]: row[1:] for row in store.rows(_SEARCH.locate_chunks, chunk_ids=passed)
    }
    weights = {row[:3]: row[3] for row in store.rows(_GRAPH.edges_between, chunk_ids=passed)}
    traces: dict[int, tuple[Trace, ...]] = {}
    for chunk_id, part, path, kinds, share in ways:
        ends = zip(pairwise(path), kinds, strict=True)
        edges: list[tuple[Any, ...]] = [(None, None), *((kind, weights.get((*pair, kind))) for pair, kind in ends)]
        steps = (Step(at, *places[at], *edge) for at, edge in zip(path, edges, strict=True))
        traces[chunk_id] = (*traces.get(chunk_id, ()), Trace(part, share, tuple(steps)))
    return traces


def rank_files(ranked: Sequence[tuple[Any, ...]]) -> tuple[FileHit, ...]:
    """Files by the scores of their best three sections, each weighing 0.3 of the one before; ties by the best chunk.

    Of the chunks under the same headings the best counts: how often a section is cut tells nothing about its file.
    """
    chunks: dict[str, list[int]] = {}
    sections: dict[str, dict[tuple[str, ...], float]] = {}
    for chunk_id, file, score, *_, headings in ranked:
        chunks.setdefault(file, []).append(chunk_id)
        sections.setdefault(file, {}).setdefault(tuple(headings), score)
    files = (
        FileHit(file, sum(map(mul, _SECTION_WEIGHTS, scores.values())), tuple(chunks[file]))
        for file, scores in sections.items()
    )
    return tuple(sorted(files, key=lambda hit: -hit.score))
