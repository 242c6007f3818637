"""Cuts programs and data files into definitions, with their comments and decorators, and groups of small statements.

A boundary depends on the lines around it only, so that an edit in one function moves no other chunk.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragx.chunking.grammar import Grammar
from ragx.chunking.outline import Outline, Statement
from ragx.chunking.sections import Section, Sectioner

OWN_LINES = 8
"""A definition of as many lines is a section of its own."""

GROUP_LINES = 25
"""Smaller statements are gathered until they have as many lines."""

WHOLE_LINES = 50
"""A type of more lines is cut into its members, and so is whatever else holds several definitions."""

TINY_LINES = 4
"""What is left over between definitions goes with the one below, or else above, if it has no more lines."""

_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class _Piece:
    """The lines from `start` up to the next piece, and the names that they are defined under."""

    start: int
    path: tuple[str, ...]


def code_sectioner(grammar: Grammar) -> Sectioner:
    """A sectioner for the language: sections of kind "code" whose headings are the names of types and functions."""

    def sections(text: str) -> list[Section]:
        outline = Outline(text, grammar)
        count = len(outline.lines)
        level = outline.level(0, count, -1)
        if level is None:
            return [Section(0, len(text), "code")]
        pieces = _Cutter(outline).cut(
            0, count, outline.statements(0, count, level), level, (), within_type=grammar.declares
        )
        starts = [0, *(outline.lines[piece.start].start for piece in pieces[1:]), len(text)]
        return [
            Section(start, end, "code", piece.path)
            for piece, start, end in zip(pieces, starts, starts[1:], strict=False)
        ]

    return sections


class _Cutter:
    """Cuts an outline, one level of it after the other."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline

    def cut(
        self,
        start: int,
        end: int,
        statements: Sequence[Statement],
        level: int,
        path: tuple[str, ...],
        *,
        within_type: bool,
        depth: int = 0,
    ) -> list[_Piece]:
        """The pieces of the lines `[start, end)`, the first of which may be the head of what they are the body of."""
        pieces: list[_Piece] = []
        group: list[Statement] = []
        if not statements or statements[0].start > start:
            group = [Statement(start, start, statements[0].start if statements else end)]

        def close(*, before_own: bool) -> int | None:
            """Makes the group a piece. A tiny one goes to the piece after it, from where it says, or the one before."""
            if not group:
                return None
            first, last = group[0], group[-1]
            alone = len(group) == 1 and (depth == 0 or first.start > start)
            group.clear()
            if self._outline.weight(first.start, last.end) <= TINY_LINES:
                if before_own:
                    return first.start
                if pieces:
                    return None
            names = self._outline.definition(first, within_type=within_type) if alone else None
            pieces.append(_Piece(first.start, path + names.path if names else path))
            return None

        for statement in statements:
            own = self._own(statement, level, path, within_type=within_type, depth=depth)
            if own:
                taken = close(before_own=True)
                pieces += own if taken is None else [replace(own[0], start=taken), *own[1:]]
                continue
            group.append(statement)
            if self._outline.weight(group[0].start, statement.end) >= GROUP_LINES:
                close(before_own=False)
        close(before_own=False)
        return pieces

    def _own(
        self, statement: Statement, level: int, path: tuple[str, ...], *, within_type: bool, depth: int
    ) -> list[_Piece]:
        """The pieces of a statement that is large enough to be no part of a group."""
        outline = self._outline
        weight = outline.weight(statement.start, statement.end)
        if weight < OWN_LINES:
            return []
        definition = outline.definition(statement, within_type=within_type)
        if not definition and weight < GROUP_LINES:
            return []
        inner = path + definition.path if definition else path
        is_type = definition is not None and definition.is_type
        if depth == _DEEPEST or (weight <= WHOLE_LINES and not is_type):
            return [_Piece(statement.start, inner)]
        below = outline.level(statement.head + 1, statement.end, level)
        members = [] if below is None else outline.statements(statement.head + 1, statement.end, below)
        large = [one for one in members if outline.weight(one.start, one.end) >= OWN_LINES]
        if below is None:
            return [_Piece(statement.start, inner)]
        if weight <= WHOLE_LINES:
            # Named after the class too where a module or namespace holds just one.
            held = outline.definition(large[0], within_type=True) if len(large) == 1 else None
            wraps = held and held.is_type and self._own(large[0], below, inner, within_type=True, depth=depth + 1)
            return [_Piece(statement.start, wraps[0].path if wraps else inner)]
        defined = [one for one in large if outline.definition(one, within_type=False)]
        if not is_type and len(defined) < 2:
            return [_Piece(statement.start, inner)]
        return self.cut(statement.start, statement.end, members, below, inner, within_type=is_type, depth=depth + 1)
