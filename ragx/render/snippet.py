"""The few rows of a chunk in which most of a query's words stand, cut to the reader's width and harmless to show."""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rich.cells import cell_len

from ragx.render.graphemes import clusters
from ragx.render.terminal import visible
from ragx.text import is_stop_word, terms

ROWS = 3
_WHOLE_ROWS = 4
_FULL = 0.8
ELLIPSIS = "…"

# Scripts written without spaces, where a query's word stands anywhere in a run, and Hangul with its glued particles.
_UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3041-\u30ff"
    r"\u3105-\u31bf\u31f0-\u31ff\u3400-\u9fff\ua000-\ua48c\ua960-\ua97f\uac00-\ud7fb\uf900-\ufaff"
    r"\U00016fe0-\U0001b16f\U00020000-\U000323af"
)
# `\w` lacks what may stand inside a word: soft hyphens, joiners, accents, vowel signs.
_INNER = (
    r"\u00ad\u200c\u200d\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u0670\u06d6-\u06ed"
    r"\u0900-\u0963\u0966-\u0dff"
)
_RULE = re.compile(r"\W*(\W)\1\1+\W*")
# Of prose, a line that opens with none of the signs of a list, table or heading, and with no number of a list.
_GOES_ON = re.compile(r"(?!\w{1,3}[.)]\s)(?:[^\W_]|[(\[\"'`“‘«])")


def _pattern(word: str, before: str = "") -> re.Pattern[str]:
    """Cuts as the tokeniser does, but says where: joined names, signs."""
    return re.compile(
        rf"{before}\.?(?:{word})+(?:(?:[-./@+'’]|::)(?:{word})+)*(?:\+\+(?:\d\d)?|#)?|[!&*+\-/:<=>?|~]{{2,}}|[^\s\w]"
    )


_ASCII = _pattern(r"\w")
_PART = re.compile(rf"[\w{_INNER}]+")


# Compiled when the first text needs it.
@lru_cache
def _unicode() -> re.Pattern[str]:
    return _pattern(rf"(?![{_UNSPACED}])[\w{_INNER}]", f"(?P<run>[{_UNSPACED}]+)|")


@dataclass(frozen=True)
class Piece:
    """A part of a row; `marked`: a word of the query, perhaps inflected."""

    text: str
    marked: bool = False


@dataclass(frozen=True)
class Match:
    """A word of the query in a text, and the term that both share."""

    start: int
    end: int
    term: str


@dataclass(frozen=True)
class _Row:
    """The characters `[start, end)` of a line."""

    line: int
    start: int
    end: int


def wanted_terms(query_terms: Set[str], languages: Sequence[str]) -> frozenset[str]:
    """The terms worth marking: not the function words, unless the query has nothing else."""
    content = frozenset(term for term in query_terms if not is_stop_word(term, languages))
    return content or frozenset(query_terms)


def matches(text: str, language: str, wanted: Set[str]) -> list[Match]:
    """The places of wanted terms, in order, not overlapping. Of a joined name only the parts asked for are marked."""
    return list(_matches(text, language, wanted)) if wanted else []


def snippet(
    text: str, language: str, wanted: Set[str], width: int, *, headings: Sequence[str] = (), prose: bool = True
) -> list[tuple[Piece, ...]]:
    """At most four rows of at most `width` cells around the densest cluster of wanted terms, else the beginning.

    `headings` are shown already, and not again. Lines of `prose` that do not fit are broken anew as paragraphs.
    """
    titles = frozenset(heading.strip() for heading in headings)
    lines = _lines(text, titles, width, prose) or _lines(text, None, width, prose)
    found = [matches(line, language, wanted) for line in lines]
    rows = [row for number, line in enumerate(lines) for row in _wrap(number, line, width)]
    window = _densest(rows, found)
    pieces = [_pieces(row, lines[row.line], found[row.line]) for row in window]
    if window and window[0].start > 0:
        pieces[0] = (Piece(ELLIPSIS), *pieces[0])
    if window and window[-1].end < len(lines[window[-1].line]):
        pieces[-1] = (*pieces[-1], Piece(ELLIPSIS))
    return pieces


def marked(line: str, language: str, wanted: Set[str]) -> tuple[Piece, ...]:
    """A whole line with the wanted terms marked."""
    return _pieces(_Row(0, 0, len(line)), line, matches(line, language, wanted))


def clipped(text: str, width: int) -> str:
    """The text, or as much of its beginning as fits, and an ellipsis."""
    if cell_len(text) <= width:
        return text
    kept = ""
    room = width - cell_len(ELLIPSIS)
    for cluster in clusters(text):
        if cell_len(kept) + cell_len(cluster) > room:
            break
        kept += cluster
    return kept + ELLIPSIS


def _matches(text: str, language: str, wanted: Set[str]) -> Iterator[Match]:
    for surface in (_ASCII if text.isascii() else _unicode()).finditer(text):
        found = [term.term for term in terms(surface[0], language)]
        shared = next((term for term in found if term in wanted), None)
        if shared is None:
            continue
        start, end = surface.span()
        if surface.lastgroup == "run":
            yield from _pairs(text, start, end, language, wanted)
        elif found[0] in wanted:
            yield Match(start, end, found[0])
        else:
            parts = list(_parts(text, start, end, language, wanted))
            yield from parts or [Match(start, end, shared)]


def _parts(text: str, start: int, end: int, language: str, wanted: Set[str]) -> Iterator[Match]:
    for part in _PART.finditer(text, start, end):
        shared = next((term.term for term in terms(part[0], language) if term.term in wanted), None)
        if shared is not None:
            yield Match(*part.span(), shared)


def _pairs(text: str, start: int, end: int, language: str, wanted: Set[str]) -> Iterator[Match]:
    """The stretches of a run without spaces whose signs or pairs of signs are wanted."""
    hits = []
    for at in range(start, end):
        # The last term of a pair is the pair itself, that of a lone sign the sign.
        for to in (at + 2, at + 1):
            term = terms(text[at:to], language)[-1:]
            if to <= end and term and term[0].term in wanted:
                hits.append(Match(at, to, term[0].term))
                break
    while hits:
        first = last = hits.pop(0)
        while hits and hits[0].start <= last.end:
            last = hits.pop(0)
        yield Match(first.start, last.end, first.term)


def _lines(text: str, titles: Set[str] | None, width: int, prose: bool) -> list[str]:
    """The lines with something to read, without their common indent; with `titles`, these and mere rules left out."""
    lines: list[str] = []
    goes_on = False
    for source in text.splitlines():
        line = source.expandtabs(4).rstrip()
        if not line or (titles is not None and (line.strip(" #=*") in titles or _RULE.fullmatch(line))):
            goes_on = False
            continue
        if goes_on and _GOES_ON.match(bare := line.lstrip()):
            lines[-1] += f" {bare}"
        else:
            lines.append(line)
        goes_on = prose and len(line) > _FULL * width
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    return [visible(_unindented(line[indent:], width // 3)) for line in lines]


def _unindented(line: str, deepest: int) -> str:
    bare = line.lstrip()
    return line[max(0, len(line) - len(bare) - deepest) :]


def _wrap(number: int, line: str, width: int) -> list[_Row]:
    """The rows of a line: one if it fits, else broken after spaces, leaving room for an ellipsis at both ends."""
    if cell_len(line) <= width:
        return [_Row(number, 0, len(line))]
    room = width - 2 * cell_len(ELLIPSIS)
    breaks = [0]
    at = used = after_space = 0
    for cluster in clusters(line):
        size = cell_len(cluster)
        if used + size > room and cluster != " ":
            # A break in the first half of a row would leave it nearly empty.
            start = breaks[-1]
            breaks.append(after_space if after_space - start > (at - start) / 2 else at)
            used = cell_len(line[breaks[-1] : at])
        at += len(cluster)
        used += size
        if cluster == " ":
            after_space = at
    return [_Row(number, start, end) for start, end in pairwise([*breaks, len(line)]) if line[start:end].strip()]


def _densest(rows: Sequence[_Row], found: Sequence[Sequence[Match]]) -> Sequence[_Row]:
    """The rows in a row with most distinct terms, then most matches; the matches in their middle, then the earliest."""
    if len(rows) <= _WHOLE_ROWS:
        return rows
    held = [
        [match.term for match in found[row.line] if match.start < row.end and match.end > row.start] for row in rows
    ]

    def worth(first: int) -> tuple[int, int, float]:
        window = held[first : first + ROWS]
        places = [at for at, terms_of_row in enumerate(window) for _ in terms_of_row]
        off = abs(sum(places) / len(places) - (ROWS - 1) / 2) if places else 0.0
        return len({term for row in window for term in row}), len(places), -off

    best = max(range(len(rows) - ROWS + 1), key=worth)
    return rows[best : best + ROWS]


def _pieces(row: _Row, line: str, found: Sequence[Match]) -> tuple[Piece, ...]:
    pieces = []
    at = row.start
    for match in found:
        start, end = max(match.start, at), min(match.end, row.end)
        if start < end:
            pieces += [Piece(line[at:start]), Piece(line[start:end], True)]
            at = end
    pieces.append(Piece(line[at : row.end].rstrip()))
    return tuple(piece for piece in pieces if piece.text)
