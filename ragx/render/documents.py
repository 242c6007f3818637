"""The JSON documents of the command line: each is valid under its schema in `ragx/schemas`, and none holds a NaN."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragx.config import Config
from ragx.files import lines_of
from ragx.render.graphemes import boundary
from ragx.types import Answer, CommunityHit, Hit, IndexReport, Lines, Skipped, Stage, Trace, Written

if TYPE_CHECKING:
    # A query does not pay for what only indexing and diagnosis import.
    from ragx.diagnosis import Status

Document = dict[str, Any]

_DECIMALS = 6
_PARTS = ("vector", "lexical", "fused", "heat", "link", "second", "rerank")


def query_document(answer: Answer, config: Config) -> Document:
    """`ragx.query.v1`: one result a chunk, best first, its text cut to `query.max_chunk_chars`."""
    return {
        **_head("ragx.query.v1", answer),
        "weights": {name: _number(weight) for name, weight in answer.weights.items()},
        "results": [_result(hit, config.query.max_chunk_chars) for hit in answer.hits],
    }


def _head(schema: str, answer: Answer) -> Document:
    """What every document about a question begins with."""
    return {
        "schema": schema,
        "query": answer.query,
        "variants": [answer.query, *answer.expansion.variants],
        **({"passage": answer.expansion.passage} if answer.expansion.passage else {}),
        "relevant": answer.relevant,
        "stages": _stages(answer.stages),
    }


def files_document(answer: Answer, top: int) -> Document:
    """`ragx.files.v1`: the best `top` files with the ids of their chunks, best first."""
    return {
        **_head("ragx.files.v1", answer),
        "files": [
            {
                "file": file.file,
                "score": _number(file.score) or 0.0,
                "chunk_ids": list(file.chunk_ids),
                "stale": bool(file.stale),
            }
            for file in answer.files[:top]
        ],
    }


def global_document(answer: Answer, found: Sequence[CommunityHit], config: Config) -> Document:
    """`ragx.global.v1`: communities of the graph, best first, each with its best chunks as results of a query.

    `answer` is there where a chat model answered.
    """
    return {
        **_head("ragx.global.v1", answer),
        **({"answer": _written(answer.written)} if answer.written else {}),
        "communities": [
            {
                "community_id": community.number,
                "name": community.name,
                "title": community.title,
                "summary": community.summary,
                "terms": list(community.terms),
                "size": community.size,
                "content_hash": community.content_hash,
                "score": _number(community.score) or 0.0,
                "results": [_result(hit, config.query.max_chunk_chars) for hit in community.hits],
            }
            for community in found
        ],
    }


def _written(written: Written) -> Document:
    return {
        "text": written.text,
        "supported": written.supported,
        "sources": [asdict(source) for source in written.sources],
    }


def index_document(report: IndexReport, *, name_files: bool = False) -> Document:
    """`ragx.index.v1`: the run in numbers, and with `name_files` the paths behind them."""
    document: Document = {
        "schema": "ragx.index.v1",
        "path": report.path,
        "changed": report.changed,
        "dry_run": report.dry_run,
        "full": report.full,
        **report.counts(),
        "skipped": count_reasons(report.files.skipped),
        "warnings": list(report.warnings),
        "seconds": {stage: _number(seconds) for stage, seconds in report.seconds.items()},
    }
    if name_files:
        document |= {
            "added_files": list(report.files.added),
            "changed_files": list(report.files.changed),
            "removed_files": list(report.files.removed),
            "skipped_files": [asdict(skipped) for skipped in report.files.skipped],
        }
    return document


def status_document(status: "Status", *, pending: bool = False) -> Document:
    """`ragx.status.v1`: the index in numbers and how many files have moved on, with `pending` also which."""
    drift = asdict(status.drift)
    document: Document = {
        "schema": "ragx.status.v1",
        "root": str(status.root),
        "index": str(status.index),
        "ragx_version": status.ragx_version,
        "complete": status.complete,
        "embedding_model": status.embedding_model,
        "dimension": status.dimension,
        "rerank_model": status.rerank_model,
        "files": status.files,
        "skipped": len(status.skipped),
        "chunks": status.chunks,
        "texts": status.texts,
        "links": status.links,
        "unresolved_links": status.unresolved_links,
        "edges": status.edges,
        "communities": status.communities,
        "languages": status.languages,
        "size_bytes": status.size_bytes,
        "last_run": {
            "finished": status.last_run.finished.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": {stage: _number(seconds) for stage, seconds in status.last_run.seconds.items()},
            "counts": status.last_run.counts,
        },
        "drift": {kind: len(paths) for kind, paths in drift.items()},
        "warnings": list(status.warnings),
    }
    if pending:
        document["pending"] = {kind: list(paths) for kind, paths in drift.items()}
    return document


def count_reasons(skipped: Iterable[Skipped]) -> dict[str, int]:
    """How many paths were skipped for which reason, most first."""
    counts = Counter(entry.reason for entry in skipped)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _stages(stages: Sequence[Stage]) -> list[Document]:
    return [asdict(stage) for stage in stages]


def _result(hit: Hit, most: int) -> Document:
    parts = hit.parts
    text = hit.shown[: boundary(hit.shown, most)]
    result: Document = {
        "chunk_id": hit.chunk_id,
        "file": hit.file,
        "line_start": hit.line_start,
        "line_end": hit.line_end,
        "byte_start": hit.byte_start,
        "byte_end": hit.byte_end,
        "kind": hit.kind,
        "headings": list(hit.headings),
        "language": hit.language,
        "score": _number(hit.score) or 0.0,
        "breakdown": {name: _number(getattr(parts, name)) for name in _PARTS},
        "cosine": _number(parts.cosine),
        "bm25": _number(parts.bm25),
        "logit": _number(parts.logit),
        "text": text,
        "truncated": len(text) < len(hit.shown),
        "stale": hit.stale,
        "also_in": [asdict(copy) | {"cosine": _number(copy.cosine)} for copy in hit.also_in],
    }
    if hit.context is not None:
        result["context"] = {side: _lines(getattr(hit.context, side), most) for side in ("before", "after")}
    if hit.traces:
        result["explain"] = [_explain(trace) for trace in hit.traces]
    return result


def _lines(lines: Lines | None, most: int) -> Document | None:
    if lines is None:
        return None
    text = "".join(_cut(line, most) for line in lines_of(lines.text))
    return {
        "line_start": lines.line_start,
        "line_end": lines.line_end,
        "text": text,
        "truncated": len(text) < len(lines.text),
    }


def _cut(line: str, most: int) -> str:
    """A line with its end, cut between them."""
    bare = line.rstrip("\r\n")
    return bare[: boundary(bare, most)] + line[len(bare) :]


def _explain(trace: Trace) -> Document:
    *_, parent, last = trace.steps
    return {
        "part": trace.part,
        "share": _number(trace.share),
        "seed": trace.steps[0].chunk_id,
        "parent": parent.chunk_id,
        "edge_kind": last.kind,
        "edge_weight": _number(last.weight),
        "hop": len(trace.steps) - 1,
        "path": [asdict(step) | {"weight": _number(step.weight)} for step in trace.steps],
    }


def _number(value: float | None) -> float | None:
    """Rounded; null for what is no number. Adding zero makes a negative zero a plain one."""
    return round(float(value), _DECIMALS) + 0.0 if value is not None and math.isfinite(value) else None
