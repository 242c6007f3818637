"""What a reader sees of a chunk, at no cost for files that are no markup."""

from ragx.files.kinds import MARKUP_KINDS, kind_of


def readable_text(text: str, path: str) -> str:
    """The text of a chunk of the file at `path`, of HTML and notebooks without what is around it."""
    kind = kind_of(path)
    if kind not in MARKUP_KINDS:
        return text
    # Most queries find no markup and need not load what reads files.
    from ragx.chunking import readable

    return readable(text, kind)
