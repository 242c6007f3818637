"""Ranks a query under hundreds of settings, digit for digit as `query` would, without a statement for each.

The legs of a query are run once and kept, and so is what the cross-encoder said. What they mean under other settings is
worked out in memory: a setting of the stages costs a millisecond or two for a query, a weight of the score a tenth.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.config import Config
from ragx.evaluation.candidates import FirstStage, Floats, Legs, first_stage
from ragx.evaluation.heat import Chunks, Graph
from ragx.evaluation.session import Session
from ragx.models import reranker_row
from ragx.store import statements
from ragx.types import Stage

_EVALUATION = statements("evaluation")

_GRAPH = Stage("graph", True, "")


@dataclass(frozen=True)
class _Found:
    """What the stages found for a query under some settings; no weight of the score matters to it."""

    first: FirstStage
    read: Chunks
    logits: Floats
    stages: tuple[Stage, ...]


class Sweep:
    """The queries of a session, whose models are loaded, ranked under any settings but those of `keyword`.

    All stages run that a query runs unless it is asked for more: no second search, no chat model.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._store = session.searcher.store
        self._chunk_ids = np.array(sorted(session.passages), np.int64)
        self.kinds = frozenset(kind for (kind,) in self._store.rows(_EVALUATION.list_kinds))
        """The kinds of edges that the graph has."""
        self._graphs: dict[Any, Graph] = {}
        self._legs: dict[str, Legs] = {}
        self._found: dict[tuple[str, Config], _Found] = {}
        self._texts: dict[int, tuple[Any, ...]] = {}

    def hits(self, query: str, config: Config) -> list[tuple[Any, ...]]:
        """All candidates, best first: chunk id, file, score and headings."""
        key = query, replace(config, scoring=self._session.config.scoring)
        if key not in self._found:
            self._found[key] = self._find(query, config)
        found = self._found[key]
        weights = self._session.searcher.weights(config, found.stages, found.first.linked)
        chunks, scores = found.first.rank(weights, found.read, found.logits)
        passages = self._session.passages
        ranked = zip(self._chunk_ids[chunks].tolist(), scores.tolist(), strict=True)
        return [(chunk_id, (at := passages[chunk_id]).file, score, at.headings) for chunk_id, score in ranked]

    def _find(self, query: str, config: Config) -> _Found:
        if query not in self._legs:
            self._legs[query] = self._session.trial(query).legs(self._chunk_ids)
        first = first_stage(self._legs[query], config.fusion, self._graph(config))
        if not config.rerank.enabled:
            return _Found(first, np.empty(0, np.int64), np.empty(0), (_GRAPH,))
        row = reranker_row(config.rerank, self._session.root)
        read = first.shortlist(config.rerank.depth or row.depth)
        texts = self._read_texts(self._chunk_ids[first.chunks[read]])
        stage, logits = self._session.searcher.read(query, row, texts)
        return _Found(first, read[: len(logits)], np.array(logits, np.float64), (_GRAPH, stage))

    def _graph(self, config: Config) -> Graph:
        key = config.traversal, config.graph
        if key not in self._graphs:
            parameters = self._session.searcher.heat.prepare(config, None, scoped=False)
            self._graphs[key] = Graph(self._store, parameters, self._chunk_ids)
        return self._graphs[key]

    def _read_texts(self, chunk_ids: NDArray[np.int64]) -> list[tuple[Any, ...]]:
        wanted: list[int] = chunk_ids.tolist()
        if new := [chunk_id for chunk_id in wanted if chunk_id not in self._texts]:
            rows = self._store.rows(_EVALUATION.list_texts, chunk_ids=new)
            self._texts |= {chunk_id: tuple(text) for chunk_id, *text in rows}
        return [self._texts[chunk_id] for chunk_id in wanted]
