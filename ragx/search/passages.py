"""Whole passages for a budget of tokens: the best chunks in full, joined where they touch, no byte of a file twice."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ragx.files import lines_of
from ragx.search.readable import readable_text
from ragx.store import Store, statements
from ragx.types import Hit

_PASSAGES = statements("passages")

_LINE_END = re.compile(r"\r\n|\r|\n")
_CODECS = {
    "utf-8": "utf-8",
    "utf-8-bom": "utf-8",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "latin-1",
}
"""The codec in which a text has as many bytes as the file, by files.encoding; a mixture has none."""


# Past more, what still fits is short rather than good.
_MISFITS = 3


@dataclass(frozen=True)
class Passage:
    """Adjacent chunks of a file as one text; `score` is its best chunk's, `truncated`: the budget ended before it."""

    file: str
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    headings: tuple[str, ...]
    score: float
    tokens: int
    text: str
    stale: bool
    chunk_ids: tuple[int, ...]
    truncated: bool = False


@dataclass(frozen=True)
class Measured:
    """A hit, how many of the budget's tokens it takes, and the encoding of its file as `files.encoding` has it."""

    hit: Hit
    tokens: int
    encoding: str


def passages(store: Store, hits: Sequence[Hit], budget: int) -> tuple[Passage, ...]:
    """The best of `hits` (best first) that fit into `budget` tokens together, as passages, best first.

    Tokens are the embedding model's; of a chunk that overlaps with another only the new bytes count, and a copy of a
    text is left out. A few that do not fit are passed over. The very first is there in any case: if it is larger than
    the budget, up to the last line end that fits.
    """
    rows = store.rows(_PASSAGES.measure_chunks, chunk_ids=[hit.chunk_id for hit in hits])
    known = {chunk_id: described for chunk_id, *described in rows}
    chosen = fill([Measured(hit, *known[hit.chunk_id]) for hit in hits], budget)
    return tuple(replace(passage, text=readable_text(passage.text, passage.file)) for passage in chosen)


def fill(ranked: Sequence[Measured], budget: int) -> tuple[Passage, ...]:
    """The same for hits whose lengths are known."""
    if ranked and ranked[0].tokens > budget:
        return (_cut(ranked[0], budget),)
    chosen: list[Measured] = []
    texts: set[str] = set()
    left, misfits = budget, 0
    for measured in ranked:
        if measured.hit.text in texts:
            continue
        tokens = _new_tokens(measured, chosen)
        if tokens > left:
            misfits += 1
            if misfits > _MISFITS:
                break
            continue
        chosen.append(replace(measured, tokens=tokens))
        texts.add(measured.hit.text)
        left -= tokens
    return tuple(sorted(_merged(chosen), key=lambda passage: (-passage.score, passage.file, passage.byte_start)))


def _new_tokens(measured: Measured, chosen: Iterable[Measured]) -> int:
    """The tokens of those bytes that are not chosen yet."""
    hit = measured.hit
    if hit.readable:
        return measured.tokens
    fresh, at = 0, hit.byte_start
    there = sorted((other.hit.byte_start, other.hit.byte_end) for other in chosen if other.hit.file == hit.file)
    for start, end in there:
        fresh += max(0, min(start, hit.byte_end) - at)
        at = max(at, end)
    fresh += max(0, hit.byte_end - at)
    return math.ceil(measured.tokens * fresh / max(1, hit.byte_end - hit.byte_start))


def _merged(chosen: Iterable[Measured]) -> list[Passage]:
    """Of markup only the readable text is there, which has no place in the file: it is not joined."""
    merged: list[Passage] = []
    bytewise = False
    for measured in sorted(chosen, key=lambda each: (each.hit.file, each.hit.byte_start, each.hit.byte_end)):
        passage = _passage(measured)
        before = merged[-1] if bytewise and merged[-1].file == passage.file and not measured.hit.readable else None
        bytewise = not measured.hit.readable
        text = _joined(before, passage, _CODECS.get(measured.encoding, "")) if before else None
        if before is None or text is None:
            merged.append(passage)
            continue
        merged[-1] = replace(
            before,
            line_end=max(before.line_end, passage.line_end),
            byte_end=max(before.byte_end, passage.byte_end),
            score=max(before.score, passage.score),
            tokens=before.tokens + passage.tokens,
            text=text,
            chunk_ids=(*before.chunk_ids, *passage.chunk_ids),
        )
    return merged


def _passage(measured: Measured) -> Passage:
    hit = measured.hit
    return Passage(
        file=hit.file,
        line_start=hit.line_start,
        line_end=hit.line_end,
        byte_start=hit.byte_start,
        byte_end=hit.byte_end,
        headings=hit.headings,
        score=hit.score,
        tokens=measured.tokens,
        text=hit.shown,
        stale=hit.stale,
        chunk_ids=(hit.chunk_id,),
    )


def _joined(before: Passage, after: Passage, codec: str) -> str | None:
    """The text of both, if nothing but line ends is between them."""
    gap = after.byte_start - before.byte_end
    if after.byte_end <= before.byte_end:
        return before.text
    if gap > 0:
        between = _line_ends(before, after, gap, codec or "utf-8")
        return None if between is None else before.text + between + after.text
    rest = _beyond(before.text, after.text, -gap, codec)
    return None if rest is None else before.text + rest


def _line_ends(before: Passage, after: Passage, gap: int, codec: str) -> str | None:
    """The `gap` bytes between two chunks, if line ends such as theirs are all that fits."""
    seen = set(_LINE_END.findall(before.text)) | set(_LINE_END.findall(after.text)) or {"\n"}
    candidates = (end * (after.line_start - before.line_end) for end in sorted(seen))
    return next((ends for ends in candidates if len(ends.encode(codec)) == gap), None)


def _beyond(before: str, after: str, overlap: int, codec: str) -> str | None:
    """The rest of `after` behind its first `overlap` bytes, with which `before` ends."""
    if codec:
        head = after.encode(codec)[:overlap].decode(codec, "replace")
        return after[len(head) :] if before.endswith(head) else None
    lengths = range(min(overlap, len(after)), 0, -1)
    return next((after[length:] for length in lengths if before.endswith(after[:length])), None)


def _cut(measured: Measured, budget: int) -> Passage:
    """The beginning of a passage that fits, in whole lines if there is one, else in whole words."""
    whole = _passage(measured)
    fits = max(1, len(whole.text) * budget // measured.tokens)
    text = ""
    for line in lines_of(whole.text):
        if len(text) + len(line) > fits:
            break
        text += line
    if not text.strip():
        text = whole.text[:fits]
        text = text.rpartition(" ")[0] or text
    tokens = min(budget, math.ceil(measured.tokens * len(text) / len(whole.text)))
    if measured.hit.readable:
        return replace(whole, tokens=tokens, text=text, truncated=True)
    size = len(text.encode(_CODECS.get(measured.encoding, "utf-8")))
    return replace(
        whole,
        line_end=whole.line_start + max(0, len(lines_of(text)) - 1),
        byte_end=min(whole.byte_end, whole.byte_start + size),
        tokens=tokens,
        text=text,
        truncated=True,
    )
