"""Embeds each text once: vectors are committed as they arrive, so that a killed run loses at most a few."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ragx.chunking import normalise, readable, windows
from ragx.config.settings import Graph
from ragx.graph import Texts, vector_matrix
from ragx.indexing.ingest import embedding_id
from ragx.store import Statement, Store, statements
from ragx.types import Embedder, Progress

_INDEX = statements("index")

_COMMIT_TEXTS = 256
_COMMIT_SECONDS = 2.0
_READ_CHUNKS = 256

SAMPLE = 200
LEAST_SAMPLE = 20
QUANTILE = 0.01

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|(?<=[。！？])")


def embed_chunks(store: Store, embedder: Embedder, progress: Progress) -> int:
    """Gives each text its vector, where it has none yet; returns how many were computed."""
    missing = store.rows(_INDEX.missing_embeddings)
    progress.stage("embedding", len(missing), "texts")
    ids = [row[0] for row in missing]
    texts = (text for _, text in _texts(store, [row[1] for row in missing]))
    return _embed(store, embedder, ids, _prefixed(embedder.doc_prefix, texts), progress)


def embed_subchunks(store: Store, embedder: Embedder, settings: Graph, progress: Progress) -> int:
    """Cuts chunks into sub-chunks, where edges are made of them, and gives each its vector; returns how many.

    Their vectors lie apart from those that queries look at, and go with the last chunk that has them.
    """
    store.run(_INDEX.drop_subchunks)
    if settings.edge_source == "subchunk":
        uncut = [row[0] for row in store.rows(_INDEX.uncut_chunks)]
        for start in range(0, len(uncut), _READ_CHUNKS):
            rows = [
                {"chunk_id": chunk_id, "ordinal": at, "text": window, "embedding_id": window_id}
                for chunk_id, text in _texts(store, uncut[start : start + _READ_CHUNKS])
                for at, window in enumerate(windows(text, embedder.counter, settings.subchunk_size_tokens))
                for window_id in [embedding_id(embedder, embedder.doc_prefix, window)]
            ]
            store.load(_INDEX.add_subchunks, pa.Table.from_pylist(rows))
    missing = store.rows(_INDEX.missing_subchunk_embeddings)
    computed = 0
    if missing:
        progress.stage("embedding sub-chunks", len(missing), "texts")
        texts = _prefixed(embedder.doc_prefix, (text for _, text in missing))
        ids = [row[0] for row in missing]
        computed = _embed(store, embedder, ids, texts, progress, _INDEX.add_subchunk_embeddings)
    store.run(_INDEX.drop_dead_subchunk_embeddings)
    return computed


@dataclass(frozen=True)
class OwnSentences:
    """Sentences of the corpus, embedded as queries: the ids of their vectors, and how many were computed."""

    ids: tuple[int, ...]
    computed: int


def embed_own_sentences(store: Store, embedder: Embedder, progress: Progress) -> OwnSentences:
    """One sentence from each of the chunks with the smallest ids; none where the corpus is too small to tell."""
    if store.value(_INDEX.count_chunks) < LEAST_SAMPLE:
        return OwnSentences((), 0)
    window = embedder.window - embedder.counter.count(embedder.query_prefix)
    by_id: dict[int, str] = {}
    for text, kind in store.rows(_INDEX.sample_texts, sample=SAMPLE):
        sentence = embedder.counter.clip(_sentence(normalise(readable(text, kind))), window)
        by_id[embedding_id(embedder, embedder.query_prefix, sentence)] = sentence
    known = {row[0] for row in store.rows(_INDEX.known_embeddings, ids=list(by_id))}
    wanted = [sentence_id for sentence_id in by_id if sentence_id not in known]
    progress.stage("measuring", len(wanted), "texts")
    sentences = (by_id[sentence_id] for sentence_id in wanted)
    computed = _embed(store, embedder, wanted, _prefixed(embedder.query_prefix, sentences), progress)
    return OwnSentences(tuple(sorted(by_id)), computed)


def second_best_cosine(store: Store, texts: Texts, sentences: OwnSentences) -> float | None:
    """How near the corpus's own sentences come to it: the 1 % quantile of each one's second best cosine.

    The best is the chunk that the sentence stands in. None where the corpus is too small to tell.
    """
    if len(sentences.ids) < LEAST_SAMPLE or len(texts.ids) < LEAST_SAMPLE:
        return None
    table = store.run(_INDEX.embeddings_by_id, ids=list(sentences.ids)).to_arrow_table()
    queries = vector_matrix(table, texts.vectors.shape[1])
    second = [np.partition(texts.vectors @ query, -2)[-2] for query in queries]
    return round(float(np.quantile(second, QUANTILE)), 6)


def _sentence(text: str) -> str:
    """A sentence from the middle of the text, of 4 to 40 words where there is one."""
    parts = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    fitting = [part for part in parts if 4 <= len(part.split()) <= 40] or parts
    return fitting[len(fitting) // 2]


def _texts(store: Store, chunk_ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    """The chunks with their texts as a model sees them, in order, a few hundred in memory at a time."""
    for start in range(0, len(chunk_ids), _READ_CHUNKS):
        part = chunk_ids[start : start + _READ_CHUNKS]
        texts = {row[0]: row[1:] for row in store.rows(_INDEX.read_texts, chunk_ids=part)}
        yield from ((chunk_id, normalise(readable(*texts[chunk_id]))) for chunk_id in part)


def _prefixed(prefix: str, texts: Iterator[str]) -> Iterator[str]:
    return (prefix + text for text in texts)


def _embed(
    store: Store,
    embedder: Embedder,
    ids: Sequence[int],
    texts: Iterator[str],
    progress: Progress,
    add: Statement = _INDEX.add_embeddings,
) -> int:
    """Commits a vector for each id, in batches; what a failure interrupts is committed before it is reported."""
    waiting: list[NDArray[np.float32]] = []
    done = 0
    since = time.monotonic()

    def commit() -> None:
        nonlocal done, since
        if waiting:
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate(waiting)), embedder.dimension)
            mine = pa.array(ids[done : done + len(waiting)], pa.int64())
            store.load(add, pa.table({"id": mine, "vector": vectors}))
            done += len(waiting)
            waiting.clear()
        since = time.monotonic()

    try:
        for vector in embedder.embed(texts):
            waiting.append(vector)
            progress.advance(1)
            if len(waiting) >= _COMMIT_TEXTS or time.monotonic() - since > _COMMIT_SECONDS:
                commit()
    finally:
        commit()
    return done
