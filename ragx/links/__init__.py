"""Explicit links: what a file's text refers to, and which file of the corpus each reference means."""

from collections.abc import Callable
from dataclasses import replace

from ragx.chunking import normalise, original_offset
from ragx.links.imports import go, importer, javascript, python, rust
from ragx.links.markdown import aliases, markdown
from ragx.links.markup import asciidoc, html, org, restructuredtext
from ragx.links.reference import IMPORT, LINK, TAG, WIKILINK, Reference
from ragx.links.resolve import Corpus, Named

__all__ = ["IMPORT", "LINK", "TAG", "VERSION", "WIKILINK", "Corpus", "Named", "Reference", "aliases", "references"]

VERSION = 4
"""Changes whenever the same text could get other references."""

READERS: dict[str, Callable[[str], list[Reference]]] = {
    "markdown": markdown,
    "html": html,
    "rst": restructuredtext,
    "asciidoc": asciidoc,
    "org": org,
    "python": importer("python", python),
    **dict.fromkeys(("javascript", "typescript", "vue", "svelte"), importer("typescript", javascript)),
    "go": importer("go", go),
    "rust": importer("rust", rust),
}


def references(text: str, kind: str) -> list[Reference]:
    """The references in a text, ascending; what stands in fences, comments and strings is none."""
    reader = READERS.get(kind)
    found = sorted(reader(normalise(text)), key=lambda one: one.start) if reader else []
    original = original_offset(text) if found else None
    return [replace(one, start=original(one.start)) for one in found] if original else []
