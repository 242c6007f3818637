"""Ranks a query under many settings, digit for digit as `query` would, and runs no stage twice on the same inputs."""

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.config import Config
from ragx.errors import ModelError
from ragx.evaluation.candidates import Legs
from ragx.evaluation.queries import Item, Passage, hit_ranks, only_files
from ragx.search import Options, Searcher
from ragx.search.results import rank_files
from ragx.store import Store, check_complete, statements
from ragx.text import query_terms
from ragx.types import Reranker, Stage

_EVALUATION = statements("evaluation")


@dataclass(frozen=True)
class Ranking:
    """All candidates of a query, best first, as `Searcher.rank` gives them, and how they came about.

    `cpu_ms` is what the query costs in a process that has loaded its models: stages that were not run again count what
    they cost when they were.
    """

    hits: tuple[tuple[Any, ...], ...]
    stages: tuple[Stage, ...]
    cpu_ms: float


@dataclass(frozen=True)
class _Held:
    """What a stage left in the session's tables: from which inputs, with what outcome, at which cost."""

    inputs: Hashable
    stage: Stage
    seconds: float


class Session:
    """An open index with its models, on which queries are tried; use one at a time on a connection.

    The models are those of `config`; whatever else a query's stages read may differ from one ranking to the next.
    IndexUnusable: the index is not complete.
    """

    def __init__(self, store: Store, config: Config, warn: Callable[[str], None], *, root: Path | None = None) -> None:
        check_complete(store)
        self.config = config
        self.root = root or Path()
        self.searcher = Searcher(store, config, _once(warn), root=root)
        self.passages = {
            chunk_id: Passage(file, line_start, line_end, tuple(headings))
            for chunk_id, file, line_start, line_end, headings in store.rows(_EVALUATION.list_passages)
        }
        self._held: dict[str, _Held] = {}
        self._memory: _Memory | None = None

    def load(self, options: Options) -> str:
        """Loads the models that a query with `options` needs; says why one cannot be had, or ""."""
        wanted = self.config.rerank.enabled if options.rerank is None else options.rerank
        models = self.searcher.models
        try:
            # Models open with their first run, which no query must pay for.
            if options.vector and models.embedder is None:
                next(models.load_embedder().embed(["a"]))
            if wanted and self._memory is None:
                reranker = models.load_reranker()
                reranker.score("a", ["a"])
                models.reranker = self._memory = _Memory(reranker)
        except ModelError as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
        return ""

    def trial(self, query: str) -> "Trial":
        """The query on this index."""
        return Trial(self, query)

    def hit_ranks(self, items: Sequence[Item], hits: Sequence[tuple[Any, ...]], depth: int) -> tuple[int, ...]:
        """The ranks of `items` among the files, as `--files-only` has them; among passages where one is a line.

        A hit begins with chunk id, file and score and ends with the headings.
        """
        files = only_files(items)
        chunk_ids = [file.chunk_ids[0] for file in rank_files(hits)] if files else [hit[0] for hit in hits]
        return hit_ranks(items, (self.passages[chunk_id] for chunk_id in chunk_ids), depth)

    def run(self, name: str, inputs: Hashable, stage: Callable[[], Stage]) -> _Held:
        """Runs a stage, unless what it made of these inputs still stands in the session's tables."""
        held = self._held.get(name)
        if held is None or held.inputs != inputs:
            # Whatever happens within, what the tables hold is not what they held.
            self._held.pop(name, None)
            saved = self._memory.saved if self._memory else 0.0
            started = time.process_time()
            outcome = stage()
            seconds = time.process_time() - started
            if self._memory:
                seconds += self._memory.saved - saved
            held = self._held[name] = _Held(inputs, outcome, seconds)
        return held


class Trial:
    """One query, ranked under any settings; settings that differ in late stages only are cheapest one after the other.

    On 994 chunks, CPU ms a ranking: 11 where only weights differ, 45 from the graph on, 65 from fusion on.
    """

    def __init__(self, session: Session, query: str) -> None:
        self.query = query
        self._session = session

    def rank(self, config: Config, options: Options) -> Ranking:
        """What `Searcher.search` ranks with these settings and `options`, all vectors scanned; it takes no filters."""
        query, run, searcher = self.query, self._session.run, self._session.searcher
        expansion = run(
            "expansion",
            (query, options.expand, config.expansion),
            lambda: searcher.expand(query, config, options),
        )
        vector, keyword = self._run_legs(config, options)
        fusion = run(
            "fusion",
            (vector.inputs, keyword.inputs, config.fusion),
            lambda: searcher.fuse(config),
        )
        graph = run(
            "graph",
            # It makes room for the second search too.
            (
                fusion.inputs,
                options.graph,
                options.hops,
                config.traversal,
                config.graph,
                options.deep,
                config.query.second,
            ),
            lambda: searcher.spread(config, options),
        )
        second = run(
            "second",
            (graph.inputs,),
            lambda: searcher.search_again(query, config, options),
        )
        rerank = run(
            "rerank",
            (second.inputs, options.rerank, config.rerank),
            lambda: searcher.rerank(query, config, options),
        )
        ran = (expansion, vector, keyword, fusion, graph, second, rerank)
        stages = tuple(held.stage for held in ran)
        started = time.process_time()
        hits = tuple(searcher.rank(searcher.weights(config, stages)))
        seconds = time.process_time() - started + sum(held.seconds for held in ran)
        return Ranking(hits, stages, 1000 * seconds)

    def legs(self, chunk_ids: NDArray[np.int64]) -> Legs:
        """What both legs say under the session's settings of all chunks, whose ids these are, ascending."""
        self._run_legs(self._session.config, Options())
        searcher = self._session.searcher
        found = searcher.store.run(_EVALUATION.list_cosines).fetchnumpy()
        cosines = np.full(len(chunk_ids), np.nan, np.float32)
        cosines[np.searchsorted(chunk_ids, found["chunk_id"])] = found["cosine"]
        found = searcher.store.run(_EVALUATION.list_keyword_scores).fetchnumpy()
        return Legs(cosines, np.searchsorted(chunk_ids, found["chunk_id"]), found["bm25"], searcher.legs.coverage)

    def _run_legs(self, config: Config, options: Options) -> tuple[_Held, _Held]:
        query, run, searcher = self.query, self._session.run, self._session.searcher
        vector = run(
            "vector",
            (query, options.vector),
            # All, since other settings may ask for any chunk's cosine.
            lambda: searcher.legs.run_vector(query, config, replace(options, hnsw=False)),
        )
        keyword = run(
            "keyword",
            (query, options.lexical, config.keyword),
            lambda: searcher.legs.run_keyword(query, query_terms(query, searcher.languages), config, options),
        )
        return vector, keyword


class _Memory:
    """A cross-encoder that reads each pair once (types.Reranker); `saved`: CPU seconds of the pairs it did not read."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._known: dict[tuple[str, str], tuple[float, float]] = {}
        self.model = reranker.model
        self.languages = reranker.languages
        self.saved = 0.0

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        new = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        self.saved += sum(self._known[query, text][1] for text in texts if (query, text) in self._known)
        started = time.process_time()
        logits = self._reranker.score(query, new)
        each = (time.process_time() - started) / max(1, len(new))
        self._known |= {(query, text): (logit, each) for text, logit in zip(new, logits, strict=True)}
        return [self._known[query, text][0] for text in texts]


def _once(warn: Callable[[str], None]) -> Callable[[str], None]:
    """Warns of the same thing once, not with every query."""
    said: set[str] = set()

    def warn_once(message: str) -> None:
        if message not in said:
            said.add(message)
            warn(message)

    return warn_once
