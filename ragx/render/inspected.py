"""What `inspect` and `similar` show a person: places that can be opened, and ids that can be passed on."""

from collections.abc import Iterator, Sequence

from ragx.files import lines_of
from ragx.inspection import Community, Edge, Entry, FileLinks, FileView, GraphPath, Likeness, Link, Pair
from ragx.render.snippet import clipped
from ragx.render.terminal import View, visible
from ragx.render.text import counted

_INDENT = "  "
_LONGEST_PREVIEW = 60
_LONGEST_LINE = 400
_WITHOUT_DIRECTION = ("similar", "tag")


def preview(entry: Entry) -> str:
    """What a chunk is about in a few words: its innermost heading, else its first line."""
    if entry.headings:
        return entry.headings[-1]
    return next((line.strip() for line in entry.text.splitlines() if line.strip()), "")


def chunk_text(entry: Entry, edges: Sequence[Edge], view: View) -> str:
    """Where it stands, what is known of it, its text, and its edges."""
    lines = [_place(entry, view)]
    if entry.headings:
        lines.append(_INDENT + view.dim(" > ".join(visible(heading) for heading in entry.headings)))
    lines += [f"{_INDENT}{fact}" for fact in _facts(entry)]
    lines += ["", *(f"{_INDENT * 2}{_line(line)}".rstrip() for line in lines_of(entry.text)), ""]
    lines.append("edges" if edges else "no edges")
    lines += [_INDENT + _edge(edge, view) for edge in edges]
    return "\n".join(lines)


def file_text(file: FileView, view: View) -> str:
    """The file, and a line a chunk."""
    facts = [file.kind, *([file.language] * bool(file.language)), f"{file.size:,} bytes"]
    facts.append(f"skipped: {file.skipped}" if file.skipped else counted(len(file.chunks), "chunk"))
    lines = [view.place(file.path), f"{_INDENT}{visible(', '.join(facts))}"]
    if file.title:
        lines.append(f"{_INDENT}{visible(file.title)}")
    lines += [
        f"{_INDENT}{chunk.line_start}-{chunk.line_end}  {chunk.chunk_id}  {counted(chunk.token_count, 'token')}  "
        f"{view.dim(_preview(chunk))}"
        for chunk in file.chunks
    ]
    return "\n".join(lines)


def neighbors_text(edges: Sequence[Edge], view: View) -> str:
    """An edge a line."""
    return "\n".join(_edge(edge, view) for edge in edges)


def links_text(found: FileLinks, view: View) -> str:
    """A link a line: where it stands, its kind, what is written, and where that leads."""
    lines = [view.place(found.path), "links" if found.links else "no links"]
    lines += [f"{_INDENT}{link.line}  {_link(link, view)}" for link in found.links]
    lines.append("backlinks" if found.backlinks else "no backlinks")
    lines += [f"{_INDENT}{view.place(link.file)}:{link.line}  {_link(link, view)}" for link in found.backlinks]
    return "\n".join(lines)


def communities_text(found: Sequence[Community], view: View) -> str:
    """A few lines a community."""
    return "\n".join("\n".join(_community(community, view)) for community in found)


def community_text(found: Community, members: Sequence[Entry], view: View) -> str:
    """The community, and a chunk a line."""
    return "\n".join([*_community(found, view), *(_INDENT + _entry(entry, view) for entry in members)])


def path_text(found: GraphPath, view: View) -> str:
    """A chunk a line, each with the edge that leads to it, and the product of the weights."""
    steps = (f"{visible(edge.kind)} {edge.weight:.2f} {_arrow(edge)} {_chunk(edge.to, view)}" for edge in found.edges)
    lines = [_chunk(found.start, view), *(_INDENT + step for step in steps)]
    return "\n".join([*lines, f"strength {found.strength:.2f}, {counted(len(found.edges), 'edge')}"])


def similar_text(found: Sequence[Likeness], view: View) -> str:
    """A chunk a line, with its cosine."""
    return "\n".join(f"{likeness.cosine:.2f}  {_entry(likeness.chunk, view)}" for likeness in found)


def similar_files_text(found: Sequence[Likeness], view: View) -> str:
    """A path a line, and nothing else where the reader is a program."""
    return "\n".join(
        view.place(likeness.chunk.file) + (f"  {view.dim(f'{likeness.cosine:.2f}')}" if view.terminal else "")
        for likeness in found
    )


def duplicates_text(pairs: Sequence[Pair], view: View) -> str:
    """A pair a line: the cosine, or `same` for identical texts, and both places."""
    return "\n".join(
        f"{'same' if pair.identical else f'{pair.cosine:.2f}'}  {_place(pair.first, view)}  {_place(pair.second, view)}"
        f"  {view.dim(_preview(pair.first))}".rstrip()
        for pair in pairs
    )


def _community(found: Community, view: View) -> Iterator[str]:
    size = view.dim(f"{counted(found.size, 'chunk')} in {counted(found.file_count, 'file')}")
    yield f"{found.number}  {visible(found.title or found.name) or 'no name'}  {size}"
    if found.summary:
        yield f"{_INDENT}about    {visible(found.summary)}"
    yield f"{_INDENT}terms    {visible(', '.join(found.terms))}".rstrip()
    yield f"{_INDENT}central  {_entry(found.central, view)}"
    more = ", ..." if found.file_count > len(found.files) else ""
    yield f"{_INDENT}files    {', '.join(f'{view.place(path)} {chunks:,}' for path, chunks in found.files)}{more}"


def _facts(entry: Entry) -> Iterator[str]:
    yield f"chunk {entry.chunk_id}, number {entry.ordinal} in the file, {visible(entry.kind)}"
    language = f", language {entry.language}" if entry.language else ""
    yield f"{counted(entry.token_count, 'token')}, bytes {entry.byte_start} to {entry.byte_end}{language}"
    yield "in no community" if entry.community is None else f"in community {entry.community}"


def _edge(edge: Edge, view: View) -> str:
    return f"{edge.weight:.2f} {visible(edge.kind)} {_arrow(edge)} {_entry(edge.to, view)}"


def _arrow(edge: Edge) -> str:
    if edge.kind in _WITHOUT_DIRECTION:
        return "--"
    return "->" if edge.outward else "<-"


def _link(link: Link, view: View) -> str:
    written = visible(f"{link.target}{'#' if link.heading else ''}{link.heading}")
    if link.to:
        lines = "" if link.to.chunk_id is None else f":{link.to.line_start}-{link.to.line_end}"
        leads = f"  -> {view.place(link.to.file)}{lines}"
    elif link.unresolved:
        leads = "  unresolved"
    else:
        leads = "" if link.kind == "tag" else "  outside the corpus"
    return f"{visible(link.kind)}  {written}{leads}"


def _entry(entry: Entry, view: View) -> str:
    return f"{_chunk(entry, view)}  {view.dim(_preview(entry))}".rstrip()


def _chunk(entry: Entry, view: View) -> str:
    return f"{_place(entry, view)}  {entry.chunk_id}"


def _place(entry: Entry, view: View) -> str:
    return f"{view.place(entry.file)}:{entry.line_start}-{entry.line_end}"


def _preview(entry: Entry) -> str:
    return clipped(visible(preview(entry)), _LONGEST_PREVIEW)


def _line(line: str) -> str:
    return clipped(visible(line.rstrip("\r\n").expandtabs(4)), _LONGEST_LINE)
