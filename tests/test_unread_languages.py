"""A corpus that the model does not read is said to be one, with what mends it."""

from pathlib import Path

import pytest

from ragx import diagnosis
from ragx.indexing.languages import unread_languages
from tests.corpora import build, corpus, settings_of

GERMAN = "Der Hund schläft in der Küche, und die Katze liegt auf dem Dach, weil es dort warm ist.\n"
ENGLISH = "The dog sleeps in the kitchen, and the cat is on the roof because it is warm there.\n"


@pytest.mark.parametrize(
    ("chunks", "readable", "codes"),
    [
        ({"en": 90, "de": 10}, {"en"}, "(de)"),
        ({"en": 80, "de": 5, "fr": 15}, {"en"}, "(fr, de)"),
        ({"en": 91, "de": 9}, {"en"}, ""),
        ({"": 99, "en": 1}, {"en"}, ""),
        ({"de": 100}, set(), ""),
        ({}, {"en"}, ""),
    ],
)
def test_a_tenth_is_worth_a_warning(chunks: dict[str, int], readable: set[str], codes: str) -> None:
    said = unread_languages(chunks, "model", readable)
    assert codes in said
    assert bool(said) == bool(codes)


def test_index_and_status_say_it(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": GERMAN, "b.md": ENGLISH})
    (said,) = build(root).warnings
    assert said.startswith("50% of the chunks are in a language that bge-small-en-v1.5 does not read (de)")
    assert "ragx config set embeddings.model" in said
    assert diagnosis.status(root, settings_of(root)).warnings == (said,)
