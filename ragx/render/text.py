"""Query results as a person reads them: where, then the passage around the query's words; a pipe gets no escapes."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from ragx.render.lines import bold, numbered
from ragx.render.snippet import ELLIPSIS, clipped, snippet, wanted_terms
from ragx.render.terminal import View, visible
from ragx.types import Answer, CommunityHit, Copy, Expansion, FileHit, Hit, Source, Stage, Step, Written

_INDENT = "  "
_SNIPPET_INDENT = "    "
_BETWEEN_HEADINGS = " > "
_PLACES = 3
_LEAST_CHANGE = 0.005


def query_text(answer: Answer, view: View, *, explain: bool) -> str:
    """One block of lines a hit; with `explain` what its score is made of, and at the end which stages ran."""
    wanted = wanted_terms(answer.terms, sorted({hit.language for hit in answer.hits}))
    blocks = ["\n".join(_hit(hit, answer, wanted, view, explain)) for hit in answer.hits]
    if explain:
        blocks.append("\n".join([*_stages(answer.stages), *_wordings(answer.expansion)]))
    return "\n\n".join(blocks)


def files_text(answer: Answer, top: int, view: View) -> str:
    """A path a line, and nothing else where the reader is a program."""
    return "\n".join(
        f"{view.place(file.file)}{_score(file, view)}" if view.terminal else view.place(file.file)
        for file in answer.files[:top]
    )


def global_text(answer: Answer, found: Sequence[CommunityHit], view: View) -> str:
    """A block a community: its name, its terms, and where its best chunks stand, each with the line that says most.

    Where a chat model answered, its answer stands there instead.
    """
    if answer.written:
        return written_text(answer.written, view)
    wanted = wanted_terms(answer.terms, sorted({hit.language for community in found for hit in community.hits}))
    return "\n\n".join("\n".join(_community(community, wanted, view)) for community in found)


def written_text(written: Written, view: View) -> str:
    """The answer in words, line by line, and at the end the places that it cites."""
    lines = [visible(line.rstrip()) for line in written.text.splitlines()]
    if not written.supported:
        return "\n".join([*lines, "", "unsupported: it cites no passage"])
    places = (f"{_INDENT}[{source.number}] {_place(source, view)}" for source in written.sources)
    return "\n".join([*lines, "", "sources", *places])


def counted(number: int, noun: str) -> str:
    """`1 file`, `1,186 files`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _hit(hit: Hit, answer: Answer, wanted: frozenset[str], view: View, explain: bool) -> Iterator[str]:
    yield f"{_place(hit, view)}{_score(hit, view)}"
    if hit.headings:
        yield _INDENT + view.dim(_heading_path(hit.headings, view.width - len(_INDENT)))
    yield from (_SNIPPET_INDENT + row for row in _passage(hit, wanted, view))
    if hit.also_in:
        yield _INDENT + view.dim(_also_in(hit.also_in, view))
    if explain:
        yield from (_INDENT + line for line in _parts(hit, answer))
        for trace in hit.traces:
            yield f"{_INDENT}{trace.part:<4} {trace.share:.0%} from {_way(trace.steps, view)}"


def _community(community: CommunityHit, wanted: frozenset[str], view: View) -> Iterator[str]:
    facts = f"{community.score:z.2f}  community {community.number}, {counted(community.size, 'chunk')}"
    yield f"{visible(community.title or community.name) or 'no name'}  {view.dim(facts)}"
    if community.summary:
        yield _INDENT + visible(community.summary)
    if community.terms:
        yield _INDENT + view.dim(clipped(visible(", ".join(community.terms)), view.width - len(_INDENT)))
    for hit in community.hits:
        yield f"{_INDENT}{_place(hit, view)}{_score(hit, view)}"
        if hit.headings:
            yield _SNIPPET_INDENT + view.dim(_heading_path(hit.headings, view.width - len(_SNIPPET_INDENT)))
        yield from (_SNIPPET_INDENT + row for row in _passage(hit, wanted, view)[:1])


def _passage(hit: Hit, wanted: frozenset[str], view: View) -> list[str]:
    """All lines of the chunk where a context goes with them, else the few with the query's words."""
    if hit.context is not None:
        return numbered(hit, hit.context, wanted, view)
    width = view.width - len(_SNIPPET_INDENT)
    prose = hit.kind == "section"
    rows = snippet(hit.shown, hit.language, wanted, width, headings=hit.headings, prose=prose)
    return ["".join(bold(piece, view) for piece in row) for row in rows]


def _score(ranked: Hit | FileHit, view: View) -> str:
    return f"  {view.dim(f'{ranked.score:z.2f}')}{'  stale' if ranked.stale else ''}"


def _also_in(copies: Sequence[Copy], view: View) -> str:
    """The first few places, and how many more there are."""
    places = [_place(copy, view) for copy in copies[:_PLACES]]
    if left := len(copies) - len(places):
        places.append(f"{left:,} more")
    return f"also in {', '.join(places)}"


def _place(at: Hit | Step | Copy | Source, view: View) -> str:
    return f"{view.place(at.file)}:{at.line_start}-{at.line_end}"


def _heading_path(headings: Sequence[str], width: int) -> str:
    """The path, shortened where it does not fit: the outer headings go first, then the end of the last one."""
    shown = [visible(heading) for heading in headings]
    path = _BETWEEN_HEADINGS.join(shown)
    while cell_len(path) > width and len(shown) > 1:
        shown = shown[1:]
        path = _BETWEEN_HEADINGS.join([ELLIPSIS, *shown])
    return clipped(path, width)


def _parts(hit: Hit, answer: Answer) -> Iterator[str]:
    parts = hit.parts
    yield f"cosine  {_or_none(parts.cosine, 3)}  (in the vector leg {_or_none(parts.vector, 2)})"
    yield f"BM25    {_or_none(parts.bm25, 2)}  (in the keyword leg {_or_none(parts.lexical, 2)})"
    yield _weighed("fused", parts.fused, answer)
    yield _weighed("heat", parts.heat, answer)
    yield _weighed("link", parts.link, answer)
    if parts.second is not None:
        yield _weighed("second", parts.second, answer)
    rerank = _weighed("rerank", parts.rerank, answer)
    yield rerank if parts.logit is None else f"{rerank}  (logit {parts.logit:.2f})"
    yield from _bounded(hit, answer)


def _bounded(hit: Hit, answer: Answer) -> Iterator[str]:
    """Why a score is not the sum of its parts, where it is not (search.sql, rank)."""
    weighed = sum(weight * (getattr(hit.parts, name) or 0.0) for name, weight in answer.weights.items())
    change = hit.score - weighed
    if abs(change) < _LEAST_CHANGE:
        return
    why = "first by words and vectors, so it stays first" if change > 0 else "behind what the cross-encoder read"
    yield f"bound   {change:+.2f}  ({why})"


def _weighed(name: str, part: float | None, answer: Answer) -> str:
    weight = answer.weights.get(name, 0.0)
    if part is None:
        return f"{name:<6}  none"
    return f"{name:<6}  {part:.2f} x {weight:.2f} = {part * weight:.2f}"


def _or_none(value: float | None, decimals: int) -> str:
    return "none" if value is None else f"{value:.{decimals}f}"


def _way(trace: Sequence[Step], view: View) -> str:
    """`seed -> kind weight -> chunk`, as often as the heat went on."""
    way = _place(trace[0], view)
    for step in trace[1:]:
        edge = visible(step.kind or "edge") + ("" if step.weight is None else f" {step.weight:.2f}")
        way += f" -> {edge} -> {_place(step, view)}"
    return way


def _wordings(expansion: Expansion) -> Iterator[str]:
    """What was searched for besides the query."""
    if expansion.variants:
        yield "variants"
        yield from (_INDENT + visible(variant) for variant in expansion.variants)
    if expansion.passage:
        yield "passage"
        yield _INDENT + visible(expansion.passage)


def _stages(stages: Sequence[Stage]) -> Iterator[str]:
    yield "stages"
    width = max((len(stage.name) for stage in stages), default=0)
    for stage in stages:
        did = stage.detail if stage.ran else f"did not run: {stage.detail}"
        yield f"{_INDENT}{stage.name:<{width}}  {visible(did)}"
