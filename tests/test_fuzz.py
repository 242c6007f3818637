"""Any bytes, text, query, settings and answer of a server: a right result or the one error that is meant for it.

`pytest --hypothesis-profile=long tests/test_fuzz.py` tries twenty times as much.
"""

import json
import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragx.chunking import READERS, SECTIONERS, chunk, normalise, readable, title_of
from ragx.config import load
from ragx.config.settings import SETTINGS
from ragx.errors import ConfigError, UsageError
from ragx.files import NotText, decode
from ragx.links import references
from ragx.models.vectors import Refused, parse, vectors_in
from ragx.render.documents import query_document
from ragx.search import Options, Searcher
from ragx.text import query_terms
from tests.cases import FILES, WORDS_ALONE, asked
from tests.corpora import build, corpus, searcher_of
from tests.counters import WORDS
from tests.notes import NOTES
from tests.rendered import valid
from tests.test_chunk_bytes import read_as
from tests.test_sectioners import HARD, PIECES
from tests.test_terms import TEXTS

EXAMPLES = settings().max_examples

LINKS = (
    "[a](b.md)", "[[a|b]]", "![](<a b>)", "[a]: b\n", "<http://a>", "#tag ", "`a`_", ":ref:`a`", "link:a[b]",
    "[[f][g]]", '<a href="b">', "import a\n", "from . import b\n", "use a::{b, c};\n", "title: [a\n", "+++\n",
    "tags: [a, b]\n",
)  # fmt: skip
texts = st.lists(st.sampled_from([*PIECES, *HARD, *LINKS]) | st.text(max_size=4), max_size=40).map("".join)
encoded = st.builds(
    lambda mark, text, codec: mark + text.encode(codec, "surrogatepass" if codec != "latin-1" else "replace"),
    st.sampled_from([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\x1f\x8b"]),
    texts | st.text(st.characters(exclude_categories=())),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "latin-1"]),
)
spoilt = st.builds(
    lambda data, at, junk, drop: data[:at] + junk + data[at + drop :],
    encoded | st.sampled_from(list(FILES.values())), st.integers(0, 2000), st.binary(max_size=4), st.integers(0, 9),
)  # fmt: skip
kinds = st.sampled_from(sorted({*SECTIONERS, *READERS, "unheard of"}))


# Files


@given(spoilt | st.binary(max_size=300))
def test_any_bytes_are_a_text_that_leads_back_to_them_or_none(data: bytes) -> None:
    try:
        document = decode(data)
    except NotText as refusal:
        assert refusal.reason and len(refusal.reason) < 60
        return
    document.text.encode()
    assert "\0" not in document.text
    offsets = document.byte_offsets(range(len(document.text) + 1))
    assert all(one < two for one, two in pairwise(offsets)) and offsets[-1] == len(data)
    for at in {0, len(document.text) // 2}:
        piece = document.text[at : at + 20]
        assert read_as(data[offsets[at] : offsets[at + len(piece)]], document.encoding) == piece


@given(texts, kinds, st.integers(8, 60), st.sampled_from([0.0, 0.15, 0.5]))
def test_any_text_of_any_kind_is_cut_titled_linked_and_read(text: str, kind: str, size: int, overlap: float) -> None:
    spans = chunk(text, kind, WORDS, size, overlap)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(one.start < two.start and one.end < two.end for one, two in pairwise(spans))
    for span in spans:
        readable(text[span.start : span.end], kind)
        assert len(text[span.start : span.end]) == 1 or WORDS.count(normalise(text[span.start : span.end])) <= size
    assert "\n" not in title_of(text, kind)
    assert all(0 <= reference.start <= len(text) for reference in references(text, kind))


# Queries


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    root = corpus(tmp_path_factory.mktemp("corpus"), asked() | NOTES)
    build(root)
    yield from searcher_of(root)


def check(searcher: Searcher, query: str, **stages: bool) -> None:
    try:
        answer = searcher.search(query, Options(top=5, explain=True, **stages))
    except UsageError:
        assert not query.strip()
        return
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)
    assert len(scores) <= 5 and (scores or not answer.relevant)
    valid(json.loads(json.dumps(query_document(answer, searcher.config), allow_nan=False)))


@given(query=TEXTS)
def test_any_query_is_answered_by_its_words(searcher: Searcher, query: str) -> None:
    check(searcher, query, **WORDS_ALONE)


@settings(max_examples=EXAMPLES // 2)
@given(query=TEXTS)
def test_any_query_is_answered_by_words_vectors_and_graph(searcher: Searcher, query: str) -> None:
    check(searcher, query, rerank=False)


@settings(max_examples=EXAMPLES // 10)
@given(query=TEXTS)
def test_any_query_is_answered_by_all_stages(searcher: Searcher, query: str) -> None:
    check(searcher, query)


@given(data=st.data(), path=st.sampled_from(sorted(NOTES)))
def test_any_words_of_a_note_find_it(searcher: Searcher, data: st.DataObject, path: str) -> None:
    words = NOTES[path].split()
    start = data.draw(st.integers(0, len(words) - 1))
    query = " ".join(words[start : start + data.draw(st.integers(1, 4))])
    assume(query_terms(query, searcher.languages))
    answer = searcher.search(query, Options(top=1000, fold=False, **WORDS_ALONE))
    assert path in [file.file for file in answer.files]


# Settings

VALUES = st.sampled_from([
    "1", "-1", "0.5", "1e400", "nan", "-inf", "true", "auto", '"auto"', '""', "[]", '["a", 1]', "{}", "1979-05-27",
    "[[1]]", '"onnx"', '"openai"', '"*.md"', '["../**"]', '["!"]', '["a\\u0000b"]', "9" * 400, "0x_1", '"""\n"""',
    "'", "{a = 1}",
])  # fmt: skip
NAMES = st.sampled_from([*SETTINGS, *(row.key for row in SETTINGS.values()), "unknown", "graph.k.k", '"a\\nb"', "''"])
SECTIONS = st.sampled_from([*sorted({row.section for row in SETTINGS.values()}), "nothing", "graph.k", "", "[graph]"])
toml = st.lists(
    st.builds("{} = {}\n".format, NAMES, VALUES | st.text(max_size=5))
    | st.builds("[{}]\n".format, SECTIONS)
    | st.text("[]{}=\"'.,#\n\r\t\\a1\0é\ufeff", max_size=6),
    max_size=8,
).map("".join)


@given(content=toml.map(str.encode) | st.binary(max_size=40), machine=st.booleans())
def test_any_settings_are_loaded_or_refused_by_the_name_of_their_file(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, machine: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "settings"
    folder.mkdir(exist_ok=True)
    names = {"ragx.toml": b"" if machine else content, ".ragxrc": content if machine else b""}
    for name, data in names.items():
        (folder / name).write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        try:
            loaded = load(folder)
        except ConfigError as error:
            assert str(folder) in error.message or "~/.ragxrc" in error.message
            return
    for row in SETTINGS.values():
        value = getattr(getattr(loaded.config, row.section), row.key)
        if type(value) in (int, float):
            assert (row.rule.low is None or row.rule.low <= value) and (row.rule.high is None or value <= row.rule.high)


# Answers of embedding servers

numbers = st.floats(width=64) | st.integers() | st.sampled_from([10**400, -0.0, 1e-160, 1e308])
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["data", "index", "embedding", "a"]), inner)
    ),
    max_leaves=12,
)
entries = st.fixed_dictionaries(
    {"embedding": st.lists(numbers, min_size=2, max_size=4) | anything}, optional={"index": anything}
)


@given(
    st.fixed_dictionaries({"data": st.lists(entries | anything, max_size=4) | anything}) | anything,
    st.integers(1, 4),
    st.none() | st.integers(2, 4),
)
def test_any_answer_is_whole_or_refused(answer: Any, count: int, dimension: int | None) -> None:
    try:
        vectors = vectors_in(answer, count, dimension)
    except Refused as refusal:
        assert "\n" not in str(refusal) and len(str(refusal)) < 200
        return
    assert len(vectors) == count and len({vector.size for vector in vectors}) == 1
    assert dimension in (None, vectors[0].size)
    assert all(math.isclose(np.linalg.norm(vector.astype(float)), 1, abs_tol=1e-5) for vector in vectors)


@given(st.permutations(range(4)), st.lists(st.floats(-1e300, 1e300), min_size=4, max_size=4), st.booleans())
def test_vectors_are_put_in_order_whatever_their_length(order: list[int], lengths: list[float], indexed: bool) -> None:
    assume(all(abs(length) > 1e-300 for length in lengths))
    sent = {place: [length if axis == place else 0.0 for axis in range(4)] for place, length in enumerate(lengths)}
    data = [{"index": place, "embedding": sent[place]} for place in order]
    if not indexed:
        data = [{"embedding": sent[place]} for place in range(4)]
    vectors = vectors_in({"data": data}, 4, None)
    assert np.array_equal(np.array(vectors), np.diag(np.sign(lengths)).astype(np.float32))


@given(st.binary(max_size=80) | anything.map(lambda value: json.dumps(value).encode()) | texts.map(str.encode))
def test_any_body_is_json_or_refused_in_one_line(body: bytes) -> None:
    try:
        parse(body)
    except Refused as refusal:
        assert "\n" not in str(refusal)
