"""Passages for a reader with a budget: the text as it is in the file, but for what would drive a terminal."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ragx.files import lines_of
from ragx.render.terminal import View, visible
from ragx.search.passages import Passage
from ragx.types import Answer

_DECIMALS = 6


def passages_document(answer: Answer, found: Sequence[Passage], budget: int) -> dict[str, Any]:
    """`ragx.passages.v1`: whole passages, best first, `tokens` of them in all."""
    return {
        "schema": "ragx.passages.v1",
        "query": answer.query,
        "budget": budget,
        "tokens": sum(passage.tokens for passage in found),
        "relevant": answer.relevant,
        "stages": [asdict(stage) for stage in answer.stages],
        "passages": [
            {
                "file": passage.file,
                "line_start": passage.line_start,
                "line_end": passage.line_end,
                "byte_start": passage.byte_start,
                "byte_end": passage.byte_end,
                "chunk_ids": list(passage.chunk_ids),
                "headings": list(passage.headings),
                "score": round(passage.score, _DECIMALS) + 0.0,
                "tokens": passage.tokens,
                "text": passage.text,
                "truncated": passage.truncated,
                "stale": passage.stale,
            }
            for passage in found
        ],
    }


def passages_text(found: Sequence[Passage], view: View) -> str:
    """A line that says where, the passage, and a blank line between two."""
    return "\n\n".join(f"{_head(passage, view)}\n{_body(passage.text)}" for passage in found)


def _head(passage: Passage, view: View) -> str:
    marks = "  truncated" * passage.truncated + "  stale" * passage.stale
    return f"{view.place(passage.file)}:{passage.line_start}-{passage.line_end}{marks}"


def _body(text: str) -> str:
    """The lines with their tabs, which mean something in code."""
    lines = (line.rstrip("\r\n") for line in lines_of(text))
    return "\n".join("\t".join(visible(part) for part in line.split("\t")) for line in lines)
