"""A query, top to bottom: two legs, fusion, heat over the graph, cross-encoder, score."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragx.config import Config
from ragx.errors import IndexUnusable, ModelError, UsageError
from ragx.models import load_embedder, load_reranker, reranker_row
from ragx.search.freshness import Files, compare
from ragx.search.scope import set_scope
from ragx.search.weights import traversal_parameters, weights
from ragx.store import Store, statements
from ragx.store.ids import stable_id
from ragx.text import Term, detect, is_stop_word, query_terms
from ragx.types import Answer, Embedder, FileHit, Hit, Parts, Reranker, Stage, Step

_SEARCH = statements("search")
_KEYWORD = statements("keyword")

_FILE_CHUNKS = 3
_RARE_SHARE = 0.01
_RARE_LEAST = 3


@dataclass(frozen=True)
class Options:
    """Stages of a query to leave out, and what to return. `None` leaves a choice to the settings."""

    top: int | None = None
    graph: bool = True
    rerank: bool | None = None
    lexical: bool = True
    expand: bool | None = None
    hops: int | None = None
    explain: bool = False
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    before: int | None = None
    after: int | None = None


class Searcher:
    """Answers queries on one open index; models are loaded once, when the first query needs them.

    Without `root`, the folder of the corpus, no file is looked at: nothing is found stale, and no hit has a context.
    """

    def __init__(self, store: Store, config: Config, warn: Callable[[str], None], *, root: Path | None = None) -> None:
        self.store = store
        self.config = config
        self.warn = warn
        self.meta = store.meta()
        self.languages = [row[0] for row in store.rows(_KEYWORD.corpus_languages)]
        self._files = Files(store, root, self.meta["scanned_ns"], config.corpus.max_file_bytes) if root else None
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._scoped = False
        store.script("session")

    def search(self, query: str, options: Options) -> Answer:
        """The best chunks and files for `query`; stages that cannot run are skipped with a warning and named."""
        if not query.strip():
            raise UsageError("the query is empty", 'try: ragx query "how are backups made?"')
        self._scoped = set_scope(self.store, options.paths, options.kinds)
        for clear in (
            _SEARCH.clear_cosines, _SEARCH.clear_keyword_scores, _SEARCH.clear_pool, _SEARCH.clear_heat,
            _SEARCH.clear_logits,
        ):  # fmt: skip
            self.store.run(clear)
        tokens = query_terms(query, self.languages)
        stages = [
            self._expand(options),
            self._vector_leg(query),
            self._keyword_leg(tokens, options),
            self._fuse(),
            self._spread(options),
            self._rerank(query, options),
        ]
        ran = {stage.name for stage in stages if stage.ran}
        chosen = weights(self.config.scoring, self.config.rerank.model, rerank="rerank" in ran, graph="graph" in ran)
        ranked = self.store.rows(_SEARCH.rank, **asdict(chosen))
        top = self.config.query.top if options.top is None else options.top
        answer = Answer(
            query=query,
            hits=self._hits(ranked[:top], explain=options.explain),
            files=_files(ranked),
            stages=tuple(stages),
            weights={"rerank": chosen.alpha, "heat": chosen.beta, "fused": chosen.gamma},
            relevant=bool(ranked) and self._relevant(tokens),
            terms=frozenset(term.term for token in tokens for term in token),
        )
        if self._files is None:
            return answer
        lines = self.config.query.context_lines
        before, after = (lines if asked is None else asked for asked in (options.before, options.after))
        return compare(answer, self._files, top, before, after)

    def _expand(self, options: Options) -> Stage:
        wanted = self.config.expansion.enabled if options.expand is None else options.expand
        if not wanted:
            return Stage("expansion", False, "off")
        return self._skip("expansion", "no language model is set up")

    def _vector_leg(self, query: str) -> Stage:
        try:
            embedder = self._load_embedder()
        except ModelError as error:
            return self._skip("vector", f"{error.message}; {error.hint}")
        window = embedder.window - embedder.counter.count(embedder.query_prefix)
        text = embedder.query_prefix + embedder.counter.clip(query, window)
        vector = next(embedder.embed([text]))
        self.store.run(_SEARCH.scan_vectors, vector=str(vector.tolist()), scoped=self._scoped)
        return Stage("vector", True, "exact scan")

    def _keyword_leg(self, tokens: Sequence[Sequence[Term]], options: Options) -> Stage:
        if not options.lexical:
            return Stage("keyword", False, "off")
        pairs = [(number, stable_id(term.term)) for number, token in enumerate(tokens) for term in token]
        self.store.run(
            _SEARCH.score_keywords,
            tokens=[number for number, _ in pairs],
            term_ids=[term_id for _, term_id in pairs],
            k1=self.config.keyword.k1,
            b=self.config.keyword.b,
            scoped=self._scoped,
        )
        return Stage("keyword", True, "BM25")

    def _fuse(self) -> Stage:
        fusion = self.config.fusion
        self.store.run(
            _SEARCH.fuse,
            top=fusion.per_query_top,
            method=fusion.method,
            vector_weight=fusion.vector_weight,
            rrf_k=fusion.rrf_k,
        )
        return Stage("fusion", True, fusion.method)

    def _spread(self, options: Options) -> Stage:
        if not options.graph:
            return Stage("graph", False, "off")
        parameters = traversal_parameters(self.config.traversal, options.hops)
        parameters |= {"min_edge_sim": self.config.graph.min_edge_sim, "scoped": self._scoped}
        self.store.run(_SEARCH.spread_heat, **parameters)
        fusion = self.config.fusion
        self.store.run(_SEARCH.admit_heated, method=fusion.method, vector_weight=fusion.vector_weight)
        return Stage("graph", True, self.config.traversal.preset)

    def _rerank(self, query: str, options: Options) -> Stage:
        wanted = self.config.rerank.enabled if options.rerank is None else options.rerank
        if not wanted:
            return Stage("rerank", False, "off")
        row = reranker_row(self.config.rerank.model)
        depth = self.config.rerank.depth or row.depth
        shortlist = self.store.rows(_SEARCH.shortlist, depth=depth)
        foreign = _foreign(row.languages, detect(query), [language for *_, language in shortlist])
        if foreign:
            return Stage("rerank", False, f"{row.name} does not read {foreign}")
        if not shortlist:
            return Stage("rerank", False, "nothing to rerank")
        try:
            if self._reranker is None:
                self._reranker = load_reranker(self.config.rerank, announce=self.warn)
        except ModelError as error:
            return self._skip("rerank", f"{error.message}; {error.hint}")
        logits = self._reranker.score(query, [_passage(headings, text) for _, text, headings, _ in shortlist])
        self.store.run(_SEARCH.add_logits, chunk_ids=[row[0] for row in shortlist], logits=logits)
        return Stage("rerank", True, f"{row.name}, {len(shortlist)} passages")

    def _skip(self, stage: str, why: str) -> Stage:
        self.warn(f"{stage} skipped: {why}")
        return Stage(stage, False, why)

    def _load_embedder(self) -> Embedder:
        if self._embedder is None:
            embedder = load_embedder(self.config.embeddings, announce=self.warn)
            built = self.meta["embedder"]
            for key in ("model", "fingerprint", "doc_prefix", "query_prefix"):
                now = getattr(embedder, key)
                if built[key] != now:
                    raise IndexUnusable(
                        f"the index was built with {key} {built[key]!r}, but the settings give {now!r}",
                        "run: ragx index --full",
                    )
            self._embedder = embedder
        return self._embedder

    def _relevant(self, tokens: Sequence[Sequence[Term]]) -> bool:
        """Whether a rare term of the query occurs, or a chunk is as near to it as to the corpus's own sentences."""
        nearest, level = self.store.value(_SEARCH.best_cosine), self.meta.get("own_sentence_cosine")
        if nearest is not None and (level is None or nearest >= level):
            return True
        terms = [term for token in tokens for term in token if not is_stop_word(term.form, self.languages)]
        found = self.store.rows(_SEARCH.term_frequencies, term_ids=[stable_id(term.term) for term in terms])
        if nearest is None:
            return bool(found)
        return any(df <= max(_RARE_LEAST, _RARE_SHARE * chunk_count) for _, df, chunk_count in found)

    def _hits(self, ranked: Sequence[tuple[Any, ...]], *, explain: bool) -> tuple[Hit, ...]:
        chunk_ids = [row[0] for row in ranked]
        described = {row[0]: row[1:] for row in self.store.rows(_SEARCH.describe_chunks, chunk_ids=chunk_ids)}
        traces = self._traces(chunk_ids) if explain else {}
        hits = []
        for chunk_id, file, score, *parts in ranked:
            kind, headings, language, byte_start, byte_end, line_start, line_end, text = described[chunk_id]
            hits.append(
                Hit(
                    chunk_id=chunk_id,
                    file=file,
                    score=score,
                    parts=Parts(*parts),
                    kind=kind,
                    headings=tuple(headings),
                    language=language,
                    byte_start=byte_start,
                    byte_end=byte_end,
                    line_start=line_start,
                    line_end=line_end,
                    text=text,
                    trace=traces.get(chunk_id, ()),
                )
            )
        return tuple(hits)

    def _traces(self, chunk_ids: Sequence[int]) -> dict[int, tuple[Step, ...]]:
        paths: dict[int, list[int]] = dict(self.store.rows(_SEARCH.heat_paths, chunk_ids=chunk_ids))
        passed = sorted({chunk_id for path in paths.values() for chunk_id in path})
        places = {row[0]: row[1:] for row in self.store.rows(_SEARCH.locate_chunks, chunk_ids=passed)}
        edges = {row[:2]: row[2:] for row in self.store.rows(_SEARCH.edges_between, chunk_ids=passed)}
        return {
            chunk_id: tuple(
                Step(at, *places[at], *edges.get((before, at), (None, None)))
                for before, at in zip([None, *path[:-1]], path, strict=True)
            )
            for chunk_id, path in paths.items()
        }


def _passage(headings: Sequence[str], text: str) -> str:
    """What the cross-encoder reads of a chunk."""
    return "\n".join([" > ".join(headings), text]) if headings else text


def _foreign(readable: frozenset[str], query: str, passages: Sequence[str]) -> str:
    """The language that keeps a model of `readable` languages from judging: the query's, or that of most passages."""
    if not readable:
        return ""
    if query and query not in readable:
        return query
    foreign = [language for language in passages if language and language not in readable]
    return max(set(foreign), key=foreign.count) if len(foreign) * 2 > len(passages) else ""


def _files(ranked: Sequence[tuple[Any, ...]]) -> tuple[FileHit, ...]:
    """Files by the sum of their best three chunk scores, ties by path."""
    chunks: dict[str, list[tuple[float, int]]] = {}
    for chunk_id, file, score, *_ in ranked:
        chunks.setdefault(file, []).append((score, chunk_id))
    files = (
        FileHit(file, sum(score for score, _ in found[:_FILE_CHUNKS]), tuple(chunk_id for _, chunk_id in found))
        for file, found in chunks.items()
    )
    return tuple(sorted(files, key=lambda hit: (-hit.score, hit.file)))
