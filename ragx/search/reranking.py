"""What the cross-encoder is given to read, and whether it can read it."""

from collections.abc import Sequence


def passage(headings: Sequence[str], text: str) -> str:
    """What the cross-encoder reads of a chunk."""
    return "\n".join([" > ".join(headings), text]) if headings else text


def foreign_language(readable: frozenset[str], query: str, passages: Sequence[str]) -> str:
    """The language that keeps a model of `readable` languages from judging: the query's, or that of most passages."""
    if not readable:
        return ""
    if query and query not in readable:
        return query
    foreign = [language for language in passages if language and language not in readable]
    return max(set(foreign), key=foreign.count) if len(foreign) * 2 > len(passages) else ""
