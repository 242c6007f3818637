"""Tokens as a model sees them: nothing cut, nothing padded, no special token read out of a text."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from ragx.errors import ModelError

PIECE = 1 << 18
"""Characters that are counted at once: an encoding takes some 200 bytes a token, and a file may have any size."""


def load_tokenizer(path: Path) -> Tokenizer:
    """The tokeniser of a tokenizer.json; ModelError where it is none."""
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{path} is not a tokeniser: {reason}", "export the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # `[SEP]` in a text is five characters that somebody wrote, not the end of it.
    tokenizer.encode_special_tokens = True
    return tokenizer


class Counter:
    """Counts tokens as the model of `tokenizer` does (types.TokenCounter)."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def starts(self, text: str) -> NDArray[np.int64]:
        """The character offsets at which the text's tokens start, ascending; tokens within a character share one."""
        parts = [
            np.fromiter((start for start, _ in encoding.offsets), np.int64, len(encoding)) + base
            for base, encoding in self._encodings(text)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def count(self, text: str) -> int:
        """How many tokens the model sees for this text, special tokens not counted."""
        return sum(len(encoding) for _, encoding in self._encodings(text))

    def clip(self, text: str, tokens: int) -> str:
        """The longest beginning of `text`, cut between two tokens, that has at most `tokens` of them."""
        # Most vocabularies split a beginning as they split the whole; where one does not, a second cut is needed.
        while len(starts := self.starts(text)) > tokens:
            text = text[: min(int(starts[tokens]), len(text) - 1)]
        return text

    def _encodings(self, text: str) -> Iterator[tuple[int, Encoding]]:
        start = 0
        while start < len(text):
            end = _piece_end(text, start)
            yield start, self._tokenizer.encode(text[start:end], add_special_tokens=False)
            start = end


def _piece_end(text: str, start: int) -> int:
    end = start + PIECE
    if end >= len(text):
        return len(text)
    for blank in "\n ":
        if (cut := text.rfind(blank, start, end)) > start:
            return cut
    return end
