"""References of Markdown: inline and by label, wikilinks and embeds, HTML links, and those of the front matter."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

from ragx.chunking.blocks import blocks
from ragx.chunking.frontmatter import front_matter_end, front_matter_list
from ragx.links.reference import LINK, TAG, WIKILINK, Reference

_ANY = re.compile(r"\]\(|\[\[|\]:|<a\b", re.IGNORECASE)
_HIDDEN = re.compile(
    r"(?<!`)(`+)(?!`)(?:[^`\n]|(?!\1(?!`))`|\n(?!\s*\n))*?(?<!`)\1(?!`)|<!--[\s\S]*?(?:-->|\Z)|%%[^\n]*?%%"
)
_PLAIN = r"(?:[^\s()<\\]++|\\[()<]?+)*+"
_DESTINATION = rf"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>{_PLAIN}(?:\((?:[^\s()\\]++|\\[()]?+)*+\){_PLAIN})*+))"
# A sign after a backslash means itself (CommonMark); two backslashes begin the name of a server.
_ESCAPED = re.compile(r"\\([!-/:-@\[\]^_`{-~])")
_TITLE = r"""(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?"""
_INLINE = re.compile(rf"(?<!\\)\]\(\s*+{_DESTINATION}{_TITLE}\s*\)")
_DEFINITION = re.compile(
    rf"^ {{0,3}}\[(?P<label>(?!\^)[^\[\]]{{1,300}})\]:[ \t]*\n?[ \t]*{_DESTINATION}{_TITLE}[ \t]*$", re.MULTILINE
)
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\](?:\[\]|(?![(:\[\]]))|\]\[([^\[\]\n]{1,300})\]")
_WIKILINK = re.compile(r"(?<!\\)\[\[([^\[\]|\n]{1,300}?)(?:\\?\|[^\[\]\n]*)?\]\]")
HREF = r"""<a\s[^<>]{0,500}?(?<![\w-])href\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
_HREF = re.compile(HREF, re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//|\\\\", re.IGNORECASE)
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|tiff?|mp[34]|webm|ogg|wav|mov|pdf)$", re.IGNORECASE)


def markdown(text: str) -> list[Reference]:
    """The references of a Markdown text whose line ends are all `\\n`."""
    end = front_matter_end(text)
    found = list(_front_matter(text[:end])) if end else []
    if not _ANY.search(text, end):
        return found
    body = _without_verbatim(text, end)
    for match in _INLINE.finditer(body):
        found += link(match.start(), _destination(match))
    found += _labelled(body)
    for match in _WIKILINK.finditer(body):
        found += wikilink(match.start(), match[1])
    for match in _HREF.finditer(body):
        found += link(match.start(), match[1] or match[2] or match[3] or "")
    return found


def aliases(text: str) -> list[str]:
    """The other names that the front matter gives to its file."""
    end = front_matter_end(text)
    return [name for key in ("aliases", "alias") for name in front_matter_list(text[:end], key)] if end else []


def link(start: int, destination: str) -> Iterator[Reference]:
    """The reference to a path of the corpus, if the destination is one and not an address or a picture."""
    destination = unescape(destination.strip())
    if _SCHEME.match(destination):
        return
    path, _, anchor = destination.partition("#")
    path = unquote(path.partition("?")[0])
    if (path or anchor) and not _IMAGE.search(path):
        yield Reference(start, LINK, path, unquote(anchor))


def wikilink(start: int, written: str) -> Iterator[Reference]:
    """The reference to a note by its name."""
    name, _, heading = written.partition("#")
    name = name.strip()
    if (name or heading) and not _IMAGE.search(name):
        yield Reference(start, WIKILINK, name, heading.rpartition("#")[2].strip())


def _front_matter(matter: str) -> Iterator[Reference]:
    for related in front_matter_list(matter, "related"):
        wiki = _WIKILINK.search(related)
        inline = _INLINE.search(related)
        if wiki:
            yield from wikilink(0, wiki[1])
        elif inline or "/" in related or related.endswith(".md"):
            yield from link(0, _destination(inline) if inline else related)
        else:
            yield from wikilink(0, related)
    for tag in front_matter_list(matter, "tags"):
        if name := tag.lstrip("#").strip():
            yield Reference(0, TAG, name)


def _labelled(body: str) -> Iterator[Reference]:
    """Links by reference, each where its label is used."""
    definitions: dict[str, str] = {}
    for match in _DEFINITION.finditer(body):
        definitions.setdefault(_label(match["label"]), _destination(match))
    if not definitions:
        return
    for match in _LABEL.finditer(body):
        destination = definitions.get(_label(match[1] or match[2]))
        if destination is not None:
            yield from link(match.start(), destination)


def _label(written: str) -> str:
    return " ".join(written.split()).casefold()


def _destination(match: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", match["angled"] if match["angled"] is not None else match["bare"])


def _without_verbatim(text: str, body: int) -> str:
    """The text as long as before, blanks for front matter, fences, code and comments."""
    pieces = [" " * body]
    at = body
    for start, end in blocks(text[body:]).fences:
        pieces += [text[at : start + body], blank(text[start + body : end + body])]
        at = end + body
    pieces.append(text[at:])
    return _HIDDEN.sub(lambda match: blank(match[0]), "".join(pieces))


def blank(text: str) -> str:
    """Blanks in the place of all but line ends."""
    return "\n".join(" " * len(line) for line in text.split("\n"))
