"""The files of a corpus: which they are, their bytes, their text and their kind."""

from ragx.files.decode import Document, NotText, decode
from ragx.files.discover import Discovery, discover
from ragx.files.kinds import kind_of
from ragx.files.lines import line_starts, lines_of
from ragx.files.reading import FileUnreadable, content_hash, read, same_bytes, stat_of

__all__ = [
    "Discovery",
    "Document",
    "FileUnreadable",
    "NotText",
    "content_hash",
    "decode",
    "discover",
    "kind_of",
    "line_starts",
    "lines_of",
    "read",
    "same_bytes",
    "stat_of",
]
