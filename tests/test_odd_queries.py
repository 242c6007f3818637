"""The program on odd queries: whatever is typed finds what says it, and what says nothing is about nothing."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragx.search import Options, Searcher
from tests.cases import NOTHING, QUERIES, WORDS_ALONE, asked
from tests.corpora import build, corpus, searcher_of, write
from tests.test_cli_query import Corpus

FUNCTION_WORDS = ("AND", "OR NOT")


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Corpus(tmp_path_factory.mktemp("queries"))
    write(made.root, {"ragx.toml": "", **asked()})
    assert made.ragx("index")[0] == 0
    return made


@pytest.fixture(scope="module")
def on_queries(queries: Corpus) -> Iterator[Searcher]:
    yield from searcher_of(queries.root)


@pytest.mark.parametrize("number", range(len(QUERIES)), ids=QUERIES)
def test_what_is_typed_finds_the_note_that_says_it(on_queries: Searcher, number: int) -> None:
    query, note = QUERIES[number], f"{number:02}.md"
    words = on_queries.search(query, Options(top=1, **WORDS_ALONE))
    assert [hit.file for hit in words.hits] == [note]
    answer = on_queries.search(query, Options(top=1 + (query in (*FUNCTION_WORDS, "::")), fold=False))
    assert note in [hit.file for hit in answer.hits]
    # Function words alone tell nothing of what a text is about, though they are found.
    assert answer.relevant is words.relevant is (query not in FUNCTION_WORDS)


@pytest.mark.parametrize("query", NOTHING[:5] + NOTHING[6:])
def test_signs_alone_are_about_nothing_however_near_their_vector(on_queries: Searcher, query: str) -> None:
    # In a small mixed corpus the level below which nothing is relevant is low, and signs came out above it.
    answer = on_queries.search(query, Options())
    assert (answer.hits, answer.relevant) == ((), False)
    assert "no letter or digit" in next(stage.detail for stage in answer.stages if stage.name == "vector")


def test_signs_that_no_note_has_say_so_at_the_command_line(queries: Corpus) -> None:
    assert queries.ragx("query", "(((") == (1, "", "nothing found in 39 chunks\n")
    assert queries.ragx("query", "--", "---") == (1, "", "nothing found in 39 chunks\n")
    code, out, _ = queries.ragx("query", "::", "--files-only", "--top", "2")
    assert (code, sorted(out.split())) == (0, ["06.md", "07.md"])


@pytest.mark.parametrize("query", ["the of and", "to be or not to be", "is it in the", "und der die das"])
def test_function_words_alone_are_about_nothing(on_queries: Searcher, query: str) -> None:
    assert not on_queries.search(query, Options()).relevant


def test_function_words_that_are_a_quotation_are_relevant(tmp_path: Path) -> None:
    root = corpus(tmp_path, asked() | {"hamlet.md": b"To be, or not to be, that is the question.\n"})
    build(root)
    for searcher in searcher_of(root):
        answer = searcher.search("to be or not to be", Options())
        assert (answer.hits[0].file, answer.relevant) == ("hamlet.md", True)


@pytest.mark.parametrize("text", ["x", "quick brown fox ", "%", "検索", "::", "a_b-c.d/", "' OR 1=1 --", "😀", "\n"])
def test_ten_kilobytes_are_answered_in_seconds(on_queries: Searcher, text: str) -> None:
    began = time.monotonic()
    answer = on_queries.search("log " + text * (10_240 // len(text.encode())), Options())
    assert time.monotonic() - began < 10
    assert answer.hits


def test_a_query_of_signs_takes_nothing_from_the_query_before(tmp_path: Path) -> None:
    # What the vector index had found for the query before would have been fetched for this one.
    root = corpus(tmp_path, {f"{number}.md": f"Number {number} of many :: notes.\n" for number in range(150)})
    write(root, {"ragx.toml": '[vectors]\nhnsw = "always"\n'})
    build(root)
    for searcher in searcher_of(root):
        options = Options(rerank=False, hnsw=True)
        assert searcher.search("number 7", options).stages[1].detail == "vector index"
        signs = searcher.search("::", options)
        assert signs.hits and all(hit.parts.cosine is None for hit in signs.hits)
