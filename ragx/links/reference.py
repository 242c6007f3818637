"""What a file says of another one, as it is written there."""

from dataclasses import dataclass

LINK = "link"
WIKILINK = "wikilink"
IMPORT = "import"
TAG = "tag"


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference at character `start` of a text.

    `target` is a path (kind "link"), the name of a note ("wikilink"), a module ("import") or a tag ("tag"), in the
    spelling of the file; `heading` is the part of the target that is meant: a heading, its anchor, or `^block`.
    """

    start: int
    kind: str
    target: str
    heading: str = ""
