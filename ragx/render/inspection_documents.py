"""The JSON documents of `inspect` and `similar`: each is valid under its schema in `ragx/schemas`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ragx.inspection import Community, Edge, Entry, FileLinks, FileView, GraphPath, Likeness, Pair, Target
from ragx.render.graphemes import boundary

Document = dict[str, Any]

_DECIMALS = 6
_PREVIEW = 200


def chunk_document(entry: Entry, edges: Sequence[Edge]) -> Document:
    """`ragx.inspect.chunk.v1`: a chunk with its whole text and its edges, strongest first."""
    return {
        "schema": "ragx.inspect.chunk.v1",
        "id": entry.chunk_id,
        "file": entry.file,
        "ordinal": entry.ordinal,
        **_lines(entry),
        "byte_start": entry.byte_start,
        "byte_end": entry.byte_end,
        "kind": entry.kind,
        "headings": list(entry.headings),
        "language": entry.language,
        "token_count": entry.token_count,
        "community": entry.community,
        "text": entry.text,
        "edges": [_edge(edge) for edge in edges],
    }


def file_document(file: FileView) -> Document:
    """`ragx.inspect.file.v1`: a file and its chunks in order."""
    return {
        "schema": "ragx.inspect.file.v1",
        "path": file.path,
        "size": file.size,
        "content_hash": file.content_hash,
        "kind": file.kind,
        "language": file.language,
        "title": file.title,
        "encoding": file.encoding,
        "skipped": file.skipped,
        "chunk_count": len(file.chunks),
        "chunks": [
            _brief(chunk)
            | {
                "byte_start": chunk.byte_start,
                "byte_end": chunk.byte_end,
                "kind": chunk.kind,
                "token_count": chunk.token_count,
                "community": chunk.community,
            }
            for chunk in file.chunks
        ],
    }


def neighbors_document(entry: Entry, edges: Sequence[Edge]) -> Document:
    """`ragx.inspect.neighbors.v1`: the chunks that a chunk has edges to, strongest first."""
    return {
        "schema": "ragx.inspect.neighbors.v1",
        "id": entry.chunk_id,
        "file": entry.file,
        **_lines(entry),
        "neighbors": [_edge(edge) | _preview(edge.to) for edge in edges],
    }


def links_document(found: FileLinks) -> Document:
    """`ragx.inspect.links.v1`: the links in a file and those of other files that lead to it, by place."""
    return {
        "schema": "ragx.inspect.links.v1",
        "file": found.path,
        "links": [asdict(link) for link in found.links],
        "backlinks": [asdict(link) for link in found.backlinks],
    }


def communities_document(found: Sequence[Community]) -> Document:
    """`ragx.inspect.communities.v1`: all communities, largest first."""
    return {
        "schema": "ragx.inspect.communities.v1",
        "count": len(found),
        "communities": [_community(community) for community in found],
    }


def community_document(found: Community, members: Sequence[Entry]) -> Document:
    """`ragx.inspect.community.v1`: a community and its chunks, those that hold it together most first."""
    return {
        "schema": "ragx.inspect.community.v1",
        **_community(found),
        "members": [_brief(entry) for entry in members],
    }


def path_document(source: Target, target: Target, found: GraphPath | None) -> Document:
    """`ragx.inspect.path.v1`: the strongest path, or no step where there is none."""
    return {
        "schema": "ragx.inspect.path.v1",
        "from": _target(source),
        "to": _target(target),
        "strength": _number(found.strength) if found else None,
        "steps": [_step(found.start, None), *(_step(edge.to, edge) for edge in found.edges)] if found else [],
    }


def similar_document(target: Target, found: Sequence[Likeness]) -> Document:
    """`ragx.similar.v1`: chunks, nearest first."""
    return {
        "schema": "ragx.similar.v1",
        "of": _target(target),
        "results": [
            {"cosine": _number(likeness.cosine), **_chunk(likeness.chunk), "to": _to(likeness.to)} for likeness in found
        ],
    }


def similar_files_document(target: Target, found: Sequence[Likeness]) -> Document:
    """`ragx.similar.v1` with files, each by its nearest chunk."""
    return {
        "schema": "ragx.similar.v1",
        "of": _target(target),
        "files": [
            {
                "file": likeness.chunk.file,
                "cosine": _number(likeness.cosine),
                "chunk_id": likeness.chunk.chunk_id,
                "to": _to(likeness.to),
            }
            for likeness in found
        ],
    }


def duplicates_document(pairs: Sequence[Pair]) -> Document:
    """`ragx.similar.v1` with pairs of chunks, identical ones first."""
    return {
        "schema": "ragx.similar.v1",
        "of": None,
        "pairs": [
            {
                "cosine": _number(pair.cosine),
                "identical": pair.identical,
                "first": _chunk(pair.first),
                "second": _chunk(pair.second),
            }
            for pair in pairs
        ],
    }


def _community(found: Community) -> Document:
    return {
        "community_id": found.number,
        "name": found.name,
        "title": found.title,
        "summary": found.summary,
        "terms": list(found.terms),
        "size": found.size,
        "central": _brief(found.central),
        "content_hash": found.content_hash,
        "file_count": found.file_count,
        "files": [{"file": path, "chunks": chunks} for path, chunks in found.files],
    }


def _edge(edge: Edge) -> Document:
    to = edge.to
    return {"id": to.chunk_id, **_led(edge), "file": to.file, **_lines(to)}


def _led(edge: Edge) -> Document:
    return {"kind": edge.kind, "weight": _number(edge.weight), "outward": edge.outward}


def _step(at: Entry, edge: Edge | None) -> Document:
    led = _led(edge) if edge else {"kind": None, "weight": None, "outward": None}
    return {"chunk_id": at.chunk_id, "file": at.file, **_lines(at), **led}


def _brief(entry: Entry) -> Document:
    return {"id": entry.chunk_id, "file": entry.file, **_lines(entry), **_preview(entry)}


def _chunk(entry: Entry) -> Document:
    """As results of a query name their chunk."""
    places = {"byte_start": entry.byte_start, "byte_end": entry.byte_end}
    return {"chunk_id": entry.chunk_id, "file": entry.file, **_lines(entry), **places, **_preview(entry)}


def _preview(entry: Entry) -> Document:
    text = entry.text.strip()
    return {"headings": list(entry.headings), "preview": text[: boundary(text, _PREVIEW)]}


def _lines(entry: Entry) -> Document:
    return {"line_start": entry.line_start, "line_end": entry.line_end}


def _target(target: Target) -> Document:
    return {"file": target.file, "chunk_id": target.chunk_id}


def _to(entry: Entry) -> Document:
    return {"chunk_id": entry.chunk_id, **_lines(entry)}


def _number(value: float) -> float:
    return round(float(value), _DECIMALS) + 0.0
