"""Turns a file's bytes into text that any database takes, and keeps the way back from characters to bytes exact."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

BINARY = "binary"
CONTROLS = "binary: too many control characters"
UTF32 = "UTF-32"
ODD_UTF16 = "UTF-16 with an odd number of bytes"
BROKEN_UTF16 = "binary: too much that is no UTF-16"

# \a to \r and ESC occur in terminal logs, and \b in formatted manual pages.
_TEXT_CONTROLS = frozenset({*range(0x07, 0x0E), 0x1B})
_CONTROL_BYTES = bytes(byte for byte in (*range(0x01, 0x20), 0x7F) if byte not in _TEXT_CONTROLS)
_CONTROL = re.compile("[" + re.escape(_CONTROL_BYTES.decode("ascii")) + "]")

# Python decodes a byte that is no UTF-8 to U+DC00 + byte ("surrogateescape").
_ESCAPED = re.compile("[\udc80-\udcff]")
# The control characters of Latin-1, but for the quotation marks, dashes, dots and signs of Windows-1252.
_ESCAPED_CONTROL = re.compile("[\udc81\udc83\udc86-\udc8a\udc8c-\udc90\udc98\udc9a\udc9c-\udc9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")

_CONTROL_SHARE = 12
"""More than one control character in so many is noise: random bytes have one in 6, random bytes over 0x7f one in 9."""


class NotText(Exception):
    """Bytes that are no text; `reason` is a short constant phrase, fit for `Skipped`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Document:
    """A file's text: no byte order mark, line ends as they are, no lone surrogates; `warning` is "" or a sentence."""

    text: str
    encoding: str
    warning: str
    _raw: str = field(repr=False)
    _codec: str = field(repr=False)
    _bom: int = field(repr=False)

    def byte_offsets(self, chars: Sequence[int]) -> list[int]:
        """Where the characters at these ascending offsets into `text` start in the file's bytes, the mark counted."""
        if chars and (chars[0] < 0 or chars[-1] > len(self._raw)):
            raise ValueError(f"character offsets {chars[0]} to {chars[-1]} of a text of {len(self._raw)}")
        if self._codec == "utf-8" and self._raw.isascii():
            return [self._bom + char for char in chars]
        offsets = []
        before, offset = 0, self._bom
        for char in chars:
            if char < before:
                raise ValueError(f"character offset {char} after {before}")
            offset += len(self._raw[before:char].encode(self._codec, "surrogateescape"))
            before = char
            offsets.append(offset)
        return offsets


def decode(data: bytes) -> Document:
    """The text of a file in UTF-8, UTF-16 with a mark, or Latin-1; NotText for anything else."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise NotText(UTF32)
    if data.startswith(codecs.BOM_UTF16_LE):
        return _utf16(data, "utf-16-le")
    if data.startswith(codecs.BOM_UTF16_BE):
        return _utf16(data, "utf-16-be")
    return _utf8(data)


def _utf8(data: bytes) -> Document:
    if b"\0" in data:
        raise NotText(BINARY)
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    body = data[bom:]
    controls = len(body) - len(body.translate(None, _CONTROL_BYTES))
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        return _utf8_with_latin1(body, bom, controls, error.start)
    if _too_many(controls, len(text), _CONTROL_SHARE):
        raise NotText(CONTROLS)
    return Document(text, "utf-8-bom" if bom else "utf-8", "", text, "utf-8", bom)


def _utf8_with_latin1(body: bytes, bom: int, controls: int, first: int) -> Document:
    """Reads each byte outside valid UTF-8 as Latin-1: right for a Latin-1 file, and one bad byte spoils no other."""
    raw = body.decode("utf-8", "surrogateescape")
    if _too_many(controls + len(_ESCAPED_CONTROL.findall(raw)), len(raw), _CONTROL_SHARE):
        raise NotText(CONTROLS)
    escaped = len(_ESCAPED.findall(raw))
    line = body.count(b"\n", 0, first) + 1
    warning = f"read as Latin-1: {_count(escaped, 'byte')} not UTF-8, the first in line {line}"
    if len(raw) == len(body):
        return Document(body.decode("latin-1"), "latin-1", warning, raw, "utf-8", bom)
    text = _ESCAPED.sub(lambda match: chr(ord(match[0]) - 0xDC00), raw)
    return Document(text, "utf-8+latin-1", warning, raw, "utf-8", bom)


def _utf16(data: bytes, codec: str) -> Document:
    if len(data) % 2:
        raise NotText(ODD_UTF16)
    raw = data[2:].decode(codec, "surrogatepass")
    if "\0" in raw:
        raise NotText(BINARY)
    if _too_many(len(_CONTROL.findall(raw)), len(raw), _CONTROL_SHARE):
        raise NotText(CONTROLS)
    # One 16-bit unit in 32 of noise is half of a pair; a text has none but by accident.
    text, lone = _SURROGATE.subn("\ufffd", raw)
    if _too_many(lone, len(raw), 100):
        raise NotText(BROKEN_UTF16)
    warning = f"read as U+FFFD: {_count(lone, 'lone surrogate')} not UTF-16" if lone else ""
    return Document(text, codec, warning, text, codec, 2)


def _too_many(bad: int, length: int, share: int) -> bool:
    """More than one in `share`, and more than a few that a short text may hold."""
    return bad > 8 and bad * share > length


def _count(number: int, noun: str) -> str:
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"
